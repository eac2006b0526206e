package dialect

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// ToHookResponse returns the hook format of a response.
func ToHookResponse(response jsontext.Value) jsonx.Object {
	from, _ := jsonx.ParseObject(response)
	var candidates []jsontext.Value
	var first string
	for i, c := range from.Array("candidates") {
		candidate, _ := jsonx.ParseObject(c)
		texts := partTexts(candidate.Object("content").Get("parts"))
		if i == 0 {
			first = strings.Join(texts, "")
		}
		candidates = append(candidates, candidateToHook(candidate, texts).Raw())
	}
	var to jsonx.Object
	if text := cmp.Or(from.Text("text"), first); text != "" {
		to = to.WithText("text", text)
	}
	to = to.With("candidates", jsonx.List(candidates))
	if usage, ok := jsonx.ParseObject(from.Get("usageMetadata")); ok {
		to = to.WithObject("usageMetadata", usage.Only("promptTokenCount", "candidatesTokenCount", "totalTokenCount"))
	}
	return to
}

func candidateToHook(candidate jsonx.Object, texts []string) jsonx.Object {
	content := jsonx.Object{}.
		WithText("role", cmp.Or(candidate.Object("content").Text("role"), "model")).
		With("parts", jsonx.Strings(texts))
	to := jsonx.Object{}.WithObject("content", content).Merged(candidate.Only("finishReason", "index"))
	if ratings, ok := jsonx.Array(candidate.Get("safetyRatings")); ok {
		to = to.With("safetyRatings", jsonx.List(simpleRatings(ratings)))
	}
	return to
}

// simpleRatings reduces safety ratings to category and probability.
func simpleRatings(ratings []jsontext.Value) []jsontext.Value {
	var simple []jsontext.Value
	for _, r := range ratings {
		rating, _ := jsonx.ParseObject(r)
		simple = append(simple, rating.Only("category", "probability").Raw())
	}
	return simple
}

// FromHookResponse returns the response for one in hook format; ok is false if none of its
// candidates has a part.
func FromHookResponse(given jsontext.Value) (response jsontext.Value, ok bool) {
	from, _ := jsonx.ParseObject(given)
	var candidates []jsontext.Value
	for _, c := range from.Array("candidates") {
		candidate, isObject := jsonx.ParseObject(c)
		if !isObject {
			continue
		}
		texts := partTexts(candidate.Object("content").Get("parts"))
		ok = ok || len(texts) > 0
		candidates = append(candidates, candidateFromHook(candidate, texts).Raw())
	}
	to := from.Only("text").With("candidates", jsonx.List(candidates)).Merged(from.Only("usageMetadata"))
	return to.Raw(), ok
}

func candidateFromHook(candidate jsonx.Object, texts []string) jsonx.Object {
	parts := make([]jsontext.Value, len(texts))
	for i, text := range texts {
		parts[i] = jsonx.Object{}.WithText("text", text).Raw()
	}
	content := jsonx.Object{}.
		WithText("role", cmp.Or(candidate.Object("content").Text("role"), "model")).
		With("parts", jsonx.List(parts))
	return jsonx.Object{}.WithObject("content", content).Merged(candidate.Only("finishReason", "index", "safetyRatings"))
}

// StopResponse returns a response whose text is the reason, for use after a hook stopped the
// agent.
func StopResponse(reason string) jsontext.Value {
	candidate := jsonx.Object{}.WithText("finishReason", "STOP").With("index", jsontext.Value("0"))
	return jsonx.Object{}.With("candidates", jsonx.List([]jsontext.Value{candidateFromHook(candidate, []string{reason}).Raw()})).Raw()
}

// NoResponse returns a response without candidates, for a model that was not called.
func NoResponse() jsontext.Value { return jsontext.Value(`{"candidates":[]}`) }
