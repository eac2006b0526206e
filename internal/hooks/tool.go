package hooks

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// ToolResult is what a tool gave, and what becomes of it.
type ToolResult struct {
	LLMContent      string         `json:"llmContent"`    // for the model
	ReturnDisplay   string         `json:"returnDisplay"` // for the user
	Metadata        jsontext.Value `json:"metadata,omitzero"`
	Error           *ToolError     `json:"error,omitzero"`
	SuppressDisplay bool           `json:"suppressDisplay,omitzero"`
}

// ToolError is how a tool failed.
type ToolError struct {
	Message string `json:"message"`
}

// ToolRun is a tool's call from the first hook to the last.
type ToolRun struct {
	Result     ToolResult     `json:"result"`
	Executed   bool           `json:"executed"`
	Blocked    bool           `json:"blocked"` // it was not run, and is not to be tried again
	Stopped    bool           `json:"stopped"` // the agent is to stop
	StopReason string         `json:"stopReason,omitzero"`
	Input      jsontext.Value `json:"input"` // what it ran with
	Before     *Result        `json:"before"`
	After      *Result        `json:"after"` // nil if it did not run
}

// Tool runs a tool with an input, which a hook may have changed.
type Tool func(ctx context.Context, input jsontext.Value) (ToolResult, error)

// ExecuteTool fires the event before a tool, runs it unless a hook blocks or
// stops, fires the event after it and applies what the hooks said to the result.
func (e *Engine) ExecuteTool(ctx context.Context, name string, input jsontext.Value, run Tool) ToolRun {
	call := ToolRun{Input: orNull(input)}
	call.Before = e.Fire(ctx, e.toolEvents().before, toolInput(name, input))
	if policy := call.Before.Policy; policy.Blocking || policy.Stop {
		call.refuse(policy)
		return call
	}
	if changed := call.Before.Policy.ToolInput; changed != nil {
		call.Input = changed
	}
	call.execute(ctx, run)
	response := jsontext.Value(marshal(call.Result))
	call.After = e.Fire(ctx, e.toolEvents().after, afterTool(name, call.Input, response))
	if e != nil {
		e.apply(&call)
	}
	return call
}

// refuse makes the reason the result, so that the model learns of it.
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
	if c.Result.Error != nil && c.Result.LLMContent == "" {
		c.Result.LLMContent = fmt.Sprintf("Error: %s", c.Result.Error.Message)
	}
}

// apply puts the hooks' words into the result: context, then system messages,
// of the event before and of the one after. A hook that failed has no word here.
func (e *Engine) apply(c *ToolRun) {
	d := e.config.Dialect
	content := c.Result.LLMContent
	if after := c.After.Policy; after.Blocking {
		content = d.tool.blockedAfter(content, after.Reason)
	}
	for _, fired := range []struct {
		event  string
		result *Result
	}{{d.tool.before, c.Before}, {d.tool.after, c.After}} {
		content = e.annotate(content, d.rules[fired.event], fired.result.Results)
	}
	c.Result.LLMContent = content
	c.Result.SuppressDisplay = c.After.Policy.SuppressOutput
	c.Stopped = c.After.Policy.Stop
	if c.Stopped {
		c.StopReason = stopReason(c.After)
	}
}

func (e *Engine) annotate(content string, r rule, results []HookResult) string {
	final := aggregate(r, withoutFailures(results)).FinalOutput
	if final == nil {
		return content
	}
	if context := final.Context(); context != "" {
		content = join(content, e.config.Dialect.context(context))
	}
	if message := final.SystemMessage(); message != "" && e.config.Dialect.toModel {
		content = join(content, "[System] "+message)
	}
	return content
}

// stopReason is what a stopping hook said, else the policy's words for it.
func stopReason(r *Result) string {
	if r.Aggregated.FinalOutput != nil {
		if why := r.Aggregated.FinalOutput.StopReason(); why != "" {
			return why
		}
	}
	return defaultStopReason
}
