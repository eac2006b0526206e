package hooks

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
)

// The events that an agent fires around tools and models, each with what it can
// do with the answer.

// BeforeTool fires before a tool runs. The output is nil if no hook said
// anything.
func (e *Engine) BeforeTool(ctx context.Context, name string, input jsontext.Value) *Output {
	return e.Fire(ctx, e.toolEvents().before, toolInput(name, input)).Aggregated.FinalOutput
}

// AfterTool fires after a tool ran. The output is nil if no hook said anything.
func (e *Engine) AfterTool(ctx context.Context, name string, input, response jsontext.Value) *Output {
	return e.Fire(ctx, e.toolEvents().after, afterTool(name, input, response)).Aggregated.FinalOutput
}

// BeforeModelResult is what to do instead of, or with, a call of the model.
type BeforeModelResult struct {
	Blocked   bool
	Reason    string
	Synthetic jsontext.Value // the response to use, nil if there is none
	Modified  jsontext.Value // the request to send, nil for the original
}

// BeforeModel fires before a GenerateContent request is sent.
func (e *Engine) BeforeModel(ctx context.Context, request jsontext.Value) BeforeModelResult {
	p := e.Fire(ctx, BeforeModel, Input{Request: request}).Policy
	return BeforeModelResult{p.Blocking, p.Reason, p.SyntheticResponse, p.ModifiedRequest}
}

// AfterModelResult is the response to go on with.
type AfterModelResult struct {
	Response jsontext.Value // a hook's, or the original
}

// AfterModel fires once a model's response is complete, never for a part of it.
func (e *Engine) AfterModel(ctx context.Context, request, response jsontext.Value) AfterModelResult {
	p := e.Fire(ctx, AfterModel, Input{Request: request, Response: response}).Policy
	if p.ModifiedResponse != nil {
		response = p.ModifiedResponse
	}
	return AfterModelResult{response}
}

// ToolSelectionResult is the choice of tools that the model gets.
type ToolSelectionResult struct {
	ToolConfig jsontext.Value // nil to leave it as it is
	Tools      jsontext.Value // always the request's own
}

// BeforeToolSelection fires before a request with tools is sent.
func (e *Engine) BeforeToolSelection(ctx context.Context, request jsontext.Value) ToolSelectionResult {
	p := e.Fire(ctx, BeforeToolSelection, Input{Request: request}).Policy
	return ToolSelectionResult{p.ToolConfig, p.Tools}
}

func (e *Engine) toolEvents() toolEvents {
	if e == nil {
		return toolEvents{}
	}
	return e.config.Dialect.tool
}

func toolInput(name string, input jsontext.Value) Input {
	return Input{Fields: object{}.withText("tool_name", name).with("tool_input", orNull(input)).raw()}
}

func afterTool(name string, input, response jsontext.Value) Input {
	fields, _ := parseObject(toolInput(name, input).Fields)
	return Input{Fields: fields.with("tool_response", orNull(response)).raw()}
}

func orNull(v jsontext.Value) jsontext.Value {
	if len(v) == 0 {
		return jsontext.Value("null")
	}
	return v
}
