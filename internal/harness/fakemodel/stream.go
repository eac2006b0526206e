package fakemodel

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
)

// reply is an answer in the form of the API.
type reply struct {
	id     string
	model  string
	prefix string // of the calls' IDs
	blocks []Block
}

// usage returns made-up numbers: the client requires some.
func usage() args { return args{"input_tokens": 10, "output_tokens": 5} }

// stopReason tells the client to run tools or to stop.
func (a reply) stopReason() string {
	for _, b := range a.blocks {
		if b.ID != "" {
			return "tool_use"
		}
	}
	return "end_turn"
}

func (a reply) message(content []any, stop any) args {
	return args{
		"id": a.id, "type": "message", "role": "assistant", "model": a.model,
		"content": content, "stop_reason": stop, "stop_sequence": nil, "usage": usage(),
	}
}

// whole writes the answer as one JSON object.
func (a reply) whole(w io.Writer) error {
	content := []any{}
	for _, b := range a.blocks {
		if b.ID == "" {
			content = append(content, args{"type": "text", "text": b.Text})
			continue
		}
		content = append(content, args{"type": "tool_use", "id": a.prefix + b.ID, "name": b.Tool, "input": b.Input})
	}
	return json.MarshalWrite(w, a.message(content, a.stopReason()), json.Deterministic(true))
}

// stream writes the answer as server-sent events.
func (a reply) stream(w io.Writer) error {
	s := sender{w: w}
	s.send("message_start", args{"message": a.message([]any{}, nil)})
	for i, b := range a.blocks {
		a.streamBlock(&s, i, b)
	}
	s.send("message_delta", args{
		"delta": args{"stop_reason": a.stopReason(), "stop_sequence": nil}, "usage": usage(),
	})
	s.send("message_stop", args{})
	return s.err
}

// streamBlock starts an empty block and fills it with one delta: the client reads a
// call's input from deltas only.
func (a reply) streamBlock(s *sender, i int, b Block) {
	start := args{"type": "text", "text": ""}
	delta := args{"type": "text_delta", "text": b.Text}
	if b.ID != "" {
		input, err := json.Marshal(b.Input, json.Deterministic(true))
		if err != nil {
			s.err = fmt.Errorf("input of %s: %w", b.ID, err)
			return
		}
		start = args{"type": "tool_use", "id": a.prefix + b.ID, "name": b.Tool, "input": args{}}
		delta = args{"type": "input_json_delta", "partial_json": string(input)}
	}
	s.send("content_block_start", args{"index": i, "content_block": start})
	s.send("content_block_delta", args{"index": i, "delta": delta})
	s.send("content_block_stop", args{"index": i})
}

// sender writes events until one fails.
type sender struct {
	w   io.Writer
	err error
}

func (s *sender) send(event string, data args) {
	if s.err != nil {
		return
	}
	data["type"] = event
	line, err := json.Marshal(data, json.Deterministic(true))
	if err != nil {
		s.err = err
		return
	}
	_, s.err = fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", event, line)
}
