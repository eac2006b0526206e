package dialect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Collect returns the response in a model's output. The output is one object, or the chunks of
// a stream: one after the other, in an array, or as server-sent events.
func Collect(output string) (jsontext.Value, error) {
	chunks, err := chunksOf(output)
	if err != nil {
		return nil, err
	}
	return join(chunks), nil
}

// chunksOf returns the chunks of a model's output, which are JSON objects.
func chunksOf(output string) ([]jsonx.Object, error) {
	dec := jsontext.NewDecoder(bytes.NewReader([]byte(withoutEventPrefix(output))), jsonx.Tolerant)
	var chunks []jsonx.Object
	for {
		value, err := dec.ReadValue()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("the output is not JSON: %w", err)
		}
		for _, item := range contentsOf(value.Clone()) {
			if chunk, ok := jsonx.ParseObject(item); ok {
				chunks = append(chunks, chunk)
			}
		}
	}
	if len(chunks) == 0 {
		return nil, errors.New("the output contains no response")
	}
	return chunks, nil
}

// withoutEventPrefix returns the data of server-sent events, and any other output
// unchanged.
func withoutEventPrefix(output string) string {
	if !strings.HasPrefix(strings.TrimSpace(output), "data:") {
		return output
	}
	var data strings.Builder
	for line := range strings.Lines(output) {
		if payload, ok := strings.CutPrefix(line, "data:"); ok && strings.TrimSpace(payload) != "[DONE]" {
			data.WriteString(payload)
		}
	}
	return data.String()
}

// join builds one response from the chunks of a stream. It joins the parts of each candidate
// in order, and uses the last value of every other member.
func join(chunks []jsonx.Object) jsontext.Value {
	whole := chunks[0]
	if len(chunks) == 1 {
		return whole.Raw()
	}
	candidates := map[string]jsonx.Object{}
	var order []string
	for _, chunk := range chunks {
		whole = whole.Merged(chunk)
		for _, raw := range chunk.Array("candidates") {
			candidate, _ := jsonx.ParseObject(raw)
			key := string(candidate.Get("index"))
			if _, seen := candidates[key]; !seen {
				order = append(order, key)
			}
			candidates[key] = extend(candidates[key], candidate)
		}
	}
	all := make([]jsontext.Value, len(order))
	for i, key := range order {
		all[i] = candidates[key].Raw()
	}
	return whole.With("candidates", jsonx.List(all)).Raw()
}

// extend appends the next chunk of a candidate.
func extend(candidate, next jsonx.Object) jsonx.Object {
	content := candidate.Object("content").Merged(next.Object("content"))
	parts := append(candidate.Object("content").Array("parts"), next.Object("content").Array("parts")...)
	return candidate.Merged(next).WithObject("content", content.With("parts", jsonx.List(joinTexts(parts))))
}

// joinTexts joins neighbouring parts that are only text.
func joinTexts(parts []jsontext.Value) []jsontext.Value {
	var joined []jsontext.Value
	for _, raw := range parts {
		part, _ := jsonx.ParseObject(raw)
		if n := len(joined); n > 0 && isOnlyText(part) {
			if last, _ := jsonx.ParseObject(joined[n-1]); isOnlyText(last) {
				joined[n-1] = last.WithText("text", last.Text("text")+part.Text("text")).Raw()
				continue
			}
		}
		joined = append(joined, raw)
	}
	return joined
}

func isOnlyText(part jsonx.Object) bool {
	return part.Len() == 1 && part.Get("text").Kind() == '"'
}
