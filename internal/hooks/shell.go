package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ErrModel means that a command that stands for a model gave no response.
var ErrModel = errors.New("the model gave no response")

// Shell is a command that stands for a tool or a model: it gets the input, or the
// request, on standard input and answers on standard output.
type Shell struct {
	Command string   // for sh -c, unless Args are given
	Args    []string // a program and its arguments
	Cwd     string
	Environ []string // nil means this process's environment
}

// Tool runs the command as a tool.
func (s Shell) Tool() Tool { return s.tool }

// Model runs the command as a model. Its output is one response, or the chunks
// of a stream one after the other, in an array or as server-sent events.
func (s Shell) Model() Model { return s.model }

func (s Shell) run(ctx context.Context, stdin []byte) outcome {
	i := invocation{argv: s.Args, dir: s.Cwd, env: s.Environ, stdin: stdin, timeout: math.MaxInt64}
	if len(i.argv) == 0 {
		i.argv = []string{"/bin/sh", "-c", s.Command}
	}
	if i.env == nil {
		i.env = inherited()
	}
	return i.run(ctx)
}

func (s Shell) tool(ctx context.Context, input jsontext.Value) (ToolResult, error) {
	o := s.run(ctx, input)
	return ToolResult{LLMContent: o.stdout, ReturnDisplay: o.stdout}, o.trouble()
}

func (s Shell) model(ctx context.Context, request jsontext.Value) (jsontext.Value, error) {
	o := s.run(ctx, request)
	if err := o.trouble(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	chunks, err := chunksOf(o.stdout)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	return collect(chunks), nil
}

// trouble is how the command failed, nil if it did not.
func (o outcome) trouble() error {
	if o.success() {
		return nil
	}
	why := failure(HookResult{ExitCode: o.exitCode, Signal: o.signal, Stderr: o.stderr})
	if o.err != nil {
		why = o.err.Error()
	}
	return errors.New(why)
}

// chunksOf returns the JSON objects of a model's output.
func chunksOf(output string) ([]object, error) {
	dec := jsontext.NewDecoder(bytes.NewReader([]byte(withoutEventPrefix(output))), tolerant)
	var chunks []object
	for {
		value, err := dec.ReadValue()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("its output is no JSON: %w", err)
		}
		for _, item := range contentsOf(value.Clone()) {
			if chunk, ok := parseObject(item); ok {
				chunks = append(chunks, chunk)
			}
		}
	}
	if len(chunks) == 0 {
		return nil, errors.New("its output holds no response")
	}
	return chunks, nil
}

// withoutEventPrefix keeps the data of server-sent events, and anything else as
// it is.
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

// collect makes one response of the chunks of a stream: the parts of each
// candidate in order, of everything else what came last.
func collect(chunks []object) jsontext.Value {
	whole := chunks[0]
	if len(chunks) == 1 {
		return whole.raw()
	}
	candidates := map[string]object{}
	var order []string
	for _, chunk := range chunks {
		whole = whole.merged(chunk)
		for _, raw := range chunk.array("candidates") {
			candidate, _ := parseObject(raw)
			key := string(candidate.get("index"))
			if _, seen := candidates[key]; !seen {
				order = append(order, key)
			}
			candidates[key] = extend(candidates[key], candidate)
		}
	}
	all := make([]jsontext.Value, len(order))
	for i, key := range order {
		all[i] = candidates[key].raw()
	}
	return whole.with("candidates", list(all)).raw()
}

// extend adds the next chunk of a candidate.
func extend(candidate, next object) object {
	content := candidate.object("content").merged(next.object("content"))
	parts := append(candidate.object("content").array("parts"), next.object("content").array("parts")...)
	return candidate.merged(next).withObject("content", content.with("parts", list(joinTexts(parts))))
}

// joinTexts makes one part of neighbouring parts that are only text.
func joinTexts(parts []jsontext.Value) []jsontext.Value {
	var joined []jsontext.Value
	for _, raw := range parts {
		part, _ := parseObject(raw)
		if n := len(joined); n > 0 && isOnlyText(part) {
			if last, _ := parseObject(joined[n-1]); isOnlyText(last) {
				joined[n-1] = last.withText("text", last.text("text")+part.text("text")).raw()
				continue
			}
		}
		joined = append(joined, raw)
	}
	return joined
}

func isOnlyText(part object) bool {
	return len(part.members) == 1 && part.get("text").Kind() == '"'
}
