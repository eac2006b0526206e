package dialect

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// ToHookRequest returns the hook format of a request.
func ToHookRequest(request jsontext.Value) jsonx.Object {
	from, _ := jsonx.ParseObject(request)
	var to jsonx.Object
	if model := from.Get("model"); model != nil {
		to = to.With("model", model)
	}
	to = to.With("messages", messagesOf(from.Get("contents")))
	config := from.Object("config")
	to = to.WithObject("config", config.Only("temperature", "maxOutputTokens", "topP", "topK"))
	if toolConfig := ToHookToolConfig(config.Object("toolConfig")); toolConfig.Len() > 0 {
		to = to.WithObject("toolConfig", toolConfig)
	}
	return to
}

// messagesOf returns one message, its role and text, for each content that has text.
func messagesOf(contents jsontext.Value) jsontext.Value {
	var messages []jsontext.Value
	for _, content := range contentsOf(contents) {
		if message, ok := messageOf(content); ok {
			messages = append(messages, message.Raw())
		}
	}
	return jsonx.List(messages)
}

// contentsOf returns contents as a list. In a request they may be a list, one content or a
// string.
func contentsOf(contents jsontext.Value) []jsontext.Value {
	if items, ok := jsonx.Array(contents); ok {
		return items
	}
	if contents == nil || contents.Kind() == 'n' {
		return nil
	}
	return []jsontext.Value{contents}
}

// messageOf returns the message of a content; ok is false if it has no text.
func messageOf(content jsontext.Value) (m jsonx.Object, ok bool) {
	if text, ok := jsonx.String(content); ok {
		return message("user", text), text != ""
	}
	from, ok := jsonx.ParseObject(content)
	if !ok {
		return jsonx.Object{}, false
	}
	role := from.Text("role")
	if role != "model" && role != "system" {
		role = "user"
	}
	text := strings.Join(partTexts(from.Get("parts")), "")
	return message(role, text), text != ""
}

func message(role, text string) jsonx.Object {
	return jsonx.Object{}.WithText("role", role).WithText("content", text)
}

// partTexts returns the texts of one part or a list of parts.
func partTexts(parts jsontext.Value) []string {
	var found []string
	for _, part := range contentsOf(parts) {
		if text, ok := jsonx.String(part); ok {
			found = append(found, text)
			continue
		}
		o, _ := jsonx.ParseObject(part)
		if text, ok := jsonx.String(o.Get("text")); ok {
			found = append(found, text)
		}
	}
	return found
}

// FromHookRequest applies a request in hook format, which a hook changed, to the request base
// from which it was made. What the hook format cannot express stays as in base.
func FromHookRequest(changed jsonx.Object, base jsontext.Value) jsontext.Value {
	to, _ := jsonx.ParseObject(base)
	if model := changed.Get("model"); model != nil && model.Kind() == '"' {
		to = to.With("model", model)
	}
	if messages, ok := jsonx.Array(changed.Get("messages")); ok {
		to = to.With("contents", contentsFrom(messages, to.Get("contents")))
	}
	config := to.Object("config")
	if given, ok := jsonx.ParseObject(changed.Get("config")); ok {
		config = config.Merged(given.Only(generationFields()...))
	}
	if toolConfig, ok := jsonx.ParseObject(changed.Get("toolConfig")); ok {
		config = config.WithObject("toolConfig", config.Object("toolConfig").Merged(FromHookToolConfig(toolConfig)))
	}
	if config.Len() > 0 {
		to = to.WithObject("config", config)
	}
	return to.Raw()
}

// generationFields returns the members of config that a hook may set.
func generationFields() []string {
	return []string{
		"temperature", "maxOutputTokens", "topP", "topK",
		"stopSequences", "candidateCount", "presencePenalty", "frequencyPenalty",
	}
}

// contentsFrom rebuilds contents from messages. Up to the first message that was changed, the
// contents of base are kept, with their images and function calls, which messages cannot
// express.
func contentsFrom(messages []jsontext.Value, base jsontext.Value) jsontext.Value {
	old := contentsOf(base)
	keep, used := unchanged(messages, old)
	var contents []jsontext.Value
	for _, content := range old[:keep] {
		if text, ok := jsonx.String(content); ok {
			content = contentOf(message("user", text))
		}
		contents = append(contents, content)
	}
	for _, m := range messages[used:] {
		o, _ := jsonx.ParseObject(m)
		contents = append(contents, contentOf(o))
	}
	return jsonx.List(contents)
}

// unchanged returns the number of old contents to keep, and the number of messages that
// represent them.
func unchanged(messages, old []jsontext.Value) (keep, used int) {
	for i, content := range old {
		message, isMessage := messageOf(content)
		switch {
		case !isMessage:
			continue
		case used == len(messages):
			return keep, used // the hook removed the rest
		case !sameMessage(messages[used], message):
			return i, used // the hook changed it
		}
		used, keep = used+1, i+1
	}
	return len(old), used
}

func sameMessage(changed jsontext.Value, original jsonx.Object) bool {
	o, _ := jsonx.ParseObject(changed)
	return o.Text("role") == original.Text("role") && contentText(o.Get("content")) == original.Text("content")
}

// contentOf returns the content of a message, with one part.
func contentOf(message jsonx.Object) jsontext.Value {
	part := jsonx.Object{}.WithText("text", contentText(message.Get("content")))
	return jsonx.Object{}.
		WithText("role", cmp.Or(message.Text("role"), "user")).
		With("parts", jsonx.List([]jsontext.Value{part.Raw()})).
		Raw()
}

// contentText returns the text of a message's content: a string or a list of parts.
func contentText(content jsontext.Value) string {
	if content == nil || content.Kind() == '0' || content.Kind() == 't' || content.Kind() == 'f' || content.Kind() == 'n' {
		return string(content)
	}
	return strings.Join(partTexts(content), "")
}

// ToHookToolConfig returns the hook format, {mode, allowedFunctionNames}, of
// {functionCallingConfig: {mode, allowedFunctionNames}}.
func ToHookToolConfig(from jsonx.Object) jsonx.Object {
	return from.Object("functionCallingConfig").Only("mode", "allowedFunctionNames")
}

// FromHookToolConfig is the inverse of ToHookToolConfig. {} becomes {}.
func FromHookToolConfig(from jsonx.Object) jsonx.Object {
	inner := from.Only("mode", "allowedFunctionNames")
	if inner.Len() == 0 {
		return jsonx.Object{}
	}
	return jsonx.Object{}.WithObject("functionCallingConfig", inner)
}
