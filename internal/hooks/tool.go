package hooks

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// ToolResult is the result of a tool.
type ToolResult struct {
	LLMContent      string         `json:"llmContent"`    // for the model
	ReturnDisplay   string         `json:"returnDisplay"` // for the user
	Metadata        jsontext.Value `json:"metadata,omitzero"`
	Error           *ToolError     `json:"error,omitzero"`
	SuppressDisplay bool           `json:"suppressDisplay,omitzero"`
}

// ToolError is why a tool failed.
type ToolError struct {
	Message string `json:"message"`
}

// ToolRun is the call of a tool with the hooks before and after it.
type ToolRun struct {
	Result     ToolResult     `json:"result"`
	Executed   bool           `json:"executed"`
	Blocked    bool           `json:"blocked"` // it did not run and must not be retried
	Stopped    bool           `json:"stopped"` // the agent must stop
	StopReason string         `json:"stopReason,omitzero"`
	Input      jsontext.Value `json:"input"` // the tool's input, as the hooks changed it
	Before     *Result        `json:"before"`
	After      *Result        `json:"after"` // nil if the tool did not run
}

// Tool runs a tool.
type Tool func(ctx context.Context, input jsontext.Value) (ToolResult, error)

// ExecuteTool fires the event before a tool, runs the tool unless a hook blocks or stops,
// fires the event after it, and applies the hooks' output to the tool's result.
func (e *Engine) ExecuteTool(ctx context.Context, name string, input jsontext.Value, run Tool) ToolRun {
	call := ToolRun{Input: orNull(input)}
	around := e.around()
	fields := jsonx.Object{}.WithText("tool_name", name).With("tool_input", call.Input)
	call.Before = e.Fire(ctx, around.BeforeTool, Input{Fields: fields.Raw()})
	if policy := call.Before.Policy; policy.Blocking || policy.Stop {
		call.refuse(policy)
		return call
	}
	if changed := call.Before.Policy.ToolInput; changed != nil {
		call.Input = changed
	}
	call.execute(ctx, run)
	fields = fields.With("tool_input", call.Input)
	after := around.AfterTool
	if around.AfterFailure != "" && call.Result.Error != nil {
		after, fields = around.AfterFailure, fields.WithText("error", call.Result.LLMContent)
	} else {
		fields = fields.With("tool_response", jsonx.Marshal(call.Result))
	}
	call.After = e.Fire(ctx, after, Input{Fields: fields.Raw()})
	if e != nil {
		e.apply(&call, after)
	}
	return call
}

func (e *Engine) around() dialect.Around {
	if e == nil {
		return dialect.Around{}
	}
	return e.config.Dialect.Around
}

// refuse makes the reason of a block or a stop the result, so that the model reads it.
func (c *ToolRun) refuse(p Policy) {
	c.Blocked, c.Stopped = p.Blocking, p.Stop
	if p.Stop {
		c.StopReason = stopReason(c.Before)
	}
	c.Result = ToolResult{LLMContent: p.Reason, ReturnDisplay: p.Reason, Error: &ToolError{p.Reason}}
}

func (c *ToolRun) execute(ctx context.Context, run Tool) {
	result, err := run(ctx, c.Input)
	c.Executed, c.Result = true, result
	if err != nil && result.Error == nil {
		c.Result.Error = &ToolError{err.Error()}
	}
	if c.Result.Error != nil { // the model needs both what the tool wrote and why it failed
		c.Result.LLMContent = lines([]string{strings.TrimRight(c.Result.LLMContent, "\n"), "Error: " + c.Result.Error.Message})
	}
}

// apply adds the output of the hooks before the tool, and of those of the event after it, to its result: context,
// then system messages. Failed hooks add nothing.
func (e *Engine) apply(c *ToolRun, after string) {
	if output := c.After.Policy.ToolOutput; output != nil {
		c.Result.LLMContent = outputText(output)
		c.Result.ReturnDisplay = c.Result.LLMContent
	}
	content := c.afterBlock(e.around())
	content = e.annotate(content, e.around().BeforeTool, c.Before)
	content = e.annotate(content, after, c.After)
	c.Result.LLMContent = content
	c.Result.SuppressDisplay = c.After.Policy.SuppressOutput
	c.Stopped = c.After.Policy.Stop
	if c.Stopped {
		c.StopReason = stopReason(c.After)
	}
}

// outputText returns the text of the value that a hook puts in place of a tool's result. It
// accepts the shapes of all tools' results: a hook may redact a secret, and its value must
// replace the result even if the shape is another tool's.
func outputText(output jsontext.Value) string {
	if text, isText := jsonx.String(output); isText {
		return text
	}
	o, _ := jsonx.ParseObject(output)
	if o.Has("llmContent") {
		return o.Text("llmContent")
	}
	if text := lines([]string{o.Text("stdout"), o.Text("stderr")}); o.Has("stdout") {
		return text
	}
	return string(output)
}

// afterBlock returns what the model reads if a hook after the tool blocks, and the tool's
// content if none does.
func (c *ToolRun) afterBlock(around dialect.Around) string {
	content, after := c.Result.LLMContent, c.After.Policy
	switch {
	case !after.Blocking:
	case around.BlockAfterTool == dialect.BlockHidesResult:
		return after.Reason
	case around.BlockAfterTool == dialect.BlockAddsReason:
		return appendParagraph(content, fmt.Sprintf(around.BlockFormat, after.Reason))
	}
	return content
}

// annotate appends the context and the system message of an event's hooks to the content.
func (e *Engine) annotate(content, event string, fired *Result) string {
	out := e.withoutFailures(event, fired)
	if context := out.Context(); context != "" {
		content = appendParagraph(content, fmt.Sprintf(e.around().ContextFormat, context))
	}
	if message := out.SystemMessage(); message != "" && e.around().MessagesToModel {
		content = appendParagraph(content, "[System] "+message)
	}
	return content
}

// stopReason returns why a hook stops the agent.
func stopReason(r *Result) string {
	if r.Aggregated.FinalOutput == nil {
		return defaultStopReason
	}
	return cmp.Or(r.Aggregated.FinalOutput.StopReason(), defaultStopReason)
}

func orNull(v jsontext.Value) jsontext.Value {
	if len(v) == 0 {
		return jsontext.Value("null")
	}
	return v
}
