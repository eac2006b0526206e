package hooks

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The stable format is what hooks see of a model's request and response,
// whatever the model's library looks like: LLMRequest {model, messages, config,
// toolConfig} and LLMResponse {text, candidates, usageMetadata}. The caller's
// side is GenerateContent JSON. Only text crosses over; numbers keep their
// digits.

// requestToHook translates a request for hooks.
func requestToHook(request jsontext.Value) object {
	from, _ := parseObject(request)
	var to object
	if model := from.get("model"); model != nil {
		to = to.with("model", model)
	}
	to = to.with("messages", messagesOf(from.get("contents")))
	config := from.object("config")
	to = to.withObject("config", config.only("temperature", "maxOutputTokens", "topP", "topK"))
	if toolConfig := toolConfigToHook(config.object("toolConfig")); len(toolConfig.members) > 0 {
		to = to.withObject("toolConfig", toolConfig)
	}
	return to
}

// messagesOf returns the messages of contents: of each content with text, its
// role and its text.
func messagesOf(contents jsontext.Value) jsontext.Value {
	var messages []jsontext.Value
	for _, content := range contentsOf(contents) {
		if message, ok := messageOf(content); ok {
			messages = append(messages, message.raw())
		}
	}
	return list(messages)
}

// contentsOf returns the contents of a request, which may be a list, one content
// or a string.
func contentsOf(contents jsontext.Value) []jsontext.Value {
	if items, ok := arrayOf(contents); ok {
		return items
	}
	if contents == nil || contents.Kind() == 'n' {
		return nil
	}
	return []jsontext.Value{contents}
}

// messageOf returns a content's message and whether it has text at all.
func messageOf(content jsontext.Value) (object, bool) {
	if text, ok := stringOf(content); ok {
		return message("user", text), text != ""
	}
	from, ok := parseObject(content)
	if !ok {
		return object{}, false
	}
	role := from.text("role")
	if role != "model" && role != "system" {
		role = "user"
	}
	text := strings.Join(partTexts(from.get("parts")), "")
	return message(role, text), text != ""
}

func message(role, text string) object {
	return object{}.withText("role", role).withText("content", text)
}

// partTexts returns the texts of parts, a list of them or one.
func partTexts(parts jsontext.Value) []string {
	var found []string
	for _, part := range contentsOf(parts) {
		if text, ok := stringOf(part); ok {
			found = append(found, text)
			continue
		}
		o, _ := parseObject(part)
		if text, ok := stringOf(o.get("text")); ok {
			found = append(found, text)
		}
	}
	return found
}

// requestFromHook puts what a hook changed into the request it was made from.
// What the stable format cannot hold stays as it was.
func requestFromHook(changed object, base jsontext.Value) jsontext.Value {
	to, _ := parseObject(base)
	if model := changed.get("model"); model != nil && model.Kind() == '"' {
		to = to.with("model", model)
	}
	if messages, ok := arrayOf(changed.get("messages")); ok {
		to = to.with("contents", contentsFrom(messages, to.get("contents")))
	}
	config := to.object("config")
	if given, ok := parseObject(changed.get("config")); ok {
		config = config.merged(given.only(generationFields()...))
	}
	if toolConfig, ok := parseObject(changed.get("toolConfig")); ok {
		config = config.withObject("toolConfig", config.object("toolConfig").merged(toolConfigFromHook(toolConfig)))
	}
	if len(config.members) > 0 {
		to = to.withObject("config", config)
	}
	return to.raw()
}

// generationFields are the members of config that a hook may set.
func generationFields() []string {
	return []string{
		"temperature", "maxOutputTokens", "topP", "topK",
		"stopSequences", "candidateCount", "presencePenalty", "frequencyPenalty",
	}
}

// contentsFrom rebuilds contents from messages. As far as the messages are still
// those of the base, the base's contents are kept, with the images and calls
// among them that no message shows.
func contentsFrom(messages []jsontext.Value, base jsontext.Value) jsontext.Value {
	old := contentsOf(base)
	keep, used := unchanged(messages, old)
	var contents []jsontext.Value
	for _, content := range old[:keep] {
		if text, ok := stringOf(content); ok {
			content = contentOf(message("user", text))
		}
		contents = append(contents, content)
	}
	for _, m := range messages[used:] {
		o, _ := parseObject(m)
		contents = append(contents, contentOf(o))
	}
	return list(contents)
}

// unchanged returns how many of the old contents stay and how many messages they
// account for.
func unchanged(messages, old []jsontext.Value) (keep, used int) {
	for i, content := range old {
		had, isMessage := messageOf(content)
		switch {
		case !isMessage:
			continue
		case used == len(messages):
			return keep, used // the hook cut the rest off
		case !sameMessage(messages[used], had):
			return i, used // something else takes its place
		}
		used, keep = used+1, i+1
	}
	return len(old), used
}

func sameMessage(given jsontext.Value, had object) bool {
	o, _ := parseObject(given)
	return o.text("role") == had.text("role") && contentText(o.get("content")) == had.text("content")
}

// contentOf returns a message as a content with one part.
func contentOf(message object) jsontext.Value {
	part := object{}.withText("text", contentText(message.get("content")))
	return object{}.
		withText("role", cmp.Or(message.text("role"), "user")).
		with("parts", list([]jsontext.Value{part.raw()})).
		raw()
}

// contentText returns a message's content as text: a string, or a list of parts.
func contentText(content jsontext.Value) string {
	if content == nil || content.Kind() == '0' || content.Kind() == 't' || content.Kind() == 'f' || content.Kind() == 'n' {
		return string(content)
	}
	return strings.Join(partTexts(content), "")
}

// responseToHook translates a response for hooks.
func responseToHook(response jsontext.Value) object {
	from, _ := parseObject(response)
	var candidates []jsontext.Value
	var first string
	for i, c := range from.array("candidates") {
		candidate, _ := parseObject(c)
		texts := partTexts(candidate.object("content").get("parts"))
		if i == 0 {
			first = strings.Join(texts, "")
		}
		candidates = append(candidates, candidateToHook(candidate, texts).raw())
	}
	var to object
	if text := cmp.Or(from.text("text"), first); text != "" {
		to = to.withText("text", text)
	}
	to = to.with("candidates", list(candidates))
	if usage, ok := parseObject(from.get("usageMetadata")); ok {
		to = to.withObject("usageMetadata", usage.only("promptTokenCount", "candidatesTokenCount", "totalTokenCount"))
	}
	return to
}

func candidateToHook(candidate object, texts []string) object {
	content := object{}.
		withText("role", cmp.Or(candidate.object("content").text("role"), "model")).
		with("parts", listOfTexts(texts))
	to := object{}.withObject("content", content).merged(candidate.only("finishReason", "index"))
	if ratings, ok := arrayOf(candidate.get("safetyRatings")); ok {
		to = to.with("safetyRatings", list(withoutBlocked(ratings)))
	}
	return to
}

// withoutBlocked drops the verdict from safety ratings; the stable format has
// category and probability.
func withoutBlocked(ratings []jsontext.Value) []jsontext.Value {
	var simple []jsontext.Value
	for _, r := range ratings {
		rating, _ := parseObject(r)
		simple = append(simple, rating.only("category", "probability").raw())
	}
	return simple
}

// responseFromHook makes a response of what a hook gave, and reports whether it
// gave one: at least one candidate with a part.
func responseFromHook(given jsontext.Value) (jsontext.Value, bool) {
	from, _ := parseObject(given)
	var candidates []jsontext.Value
	usable := false
	for _, c := range from.array("candidates") {
		candidate, ok := parseObject(c)
		if !ok {
			continue
		}
		texts := partTexts(candidate.object("content").get("parts"))
		usable = usable || len(texts) > 0
		candidates = append(candidates, candidateFromHook(candidate, texts).raw())
	}
	to := from.only("text").with("candidates", list(candidates)).merged(from.only("usageMetadata"))
	return to.raw(), usable
}

func candidateFromHook(candidate object, texts []string) object {
	parts := make([]jsontext.Value, len(texts))
	for i, text := range texts {
		parts[i] = object{}.withText("text", text).raw()
	}
	content := object{}.
		withText("role", cmp.Or(candidate.object("content").text("role"), "model")).
		with("parts", list(parts))
	return object{}.withObject("content", content).merged(candidate.only("finishReason", "index", "safetyRatings"))
}

// stopResponse is the answer in place of a model's that was stopped.
func stopResponse(reason string) jsontext.Value {
	candidate := object{}.withText("finishReason", "STOP").with("index", jsontext.Value("0"))
	return object{}.with("candidates", list([]jsontext.Value{candidateFromHook(candidate, []string{reason}).raw()})).raw()
}

// toolConfigToHook translates {functionCallingConfig: {mode, allowedFunctionNames}}.
func toolConfigToHook(from object) object {
	return from.object("functionCallingConfig").only("mode", "allowedFunctionNames")
}

// toolConfigFromHook is its inverse; nothing in is nothing out.
func toolConfigFromHook(from object) object {
	inner := from.only("mode", "allowedFunctionNames")
	if len(inner.members) == 0 {
		return object{}
	}
	return object{}.withObject("functionCallingConfig", inner)
}
