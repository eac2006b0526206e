package hooks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

const (
	defaultBlockReason = "Blocked by hook"
	defaultStopReason  = "Stopped by hook"
)

// policyOf returns what an event's final output means for the caller.
func policyOf(d dialect.Dialect, f firing, final *dialect.Output) Policy {
	if final == nil {
		return Policy{Verdict: dialect.Undecided}
	}
	out := *final
	p := Policy{
		Verdict:           verdictOf(f),
		Stop:              f.event.StoppedBy(out),
		Decision:          decision(f.event, out),
		SystemMessage:     out.SystemMessage(),
		SuppressOutput:    out.SuppressesOutput(),
		AdditionalContext: out.Context(),
	}
	blocked := f.event.Blocks && f.event.BlockedBy(out)
	p.Blocking = blocked || f.event.StopBlocks && p.Stop
	switch {
	case blocked:
		p.Reason = cmp.Or(f.event.Reason(out), out.Text("stopReason"), defaultBlockReason)
		if d.Answers.StopReason {
			p.Reason = cmp.Or(out.Text("stopReason"), p.Reason)
		}
	case p.Stop:
		p.Reason = cmp.Or(out.StopReason(), defaultStopReason)
	case p.Decision == dialect.Ask && d.Answers.AskReason:
		p.Reason = f.event.Reason(out)
	}
	specific := out.Specific()
	p.SessionTitle, p.TerminalSequence = specific.Text("sessionTitle"), out.Text("terminalSequence")
	if d.Answers.Escapes {
		p.AdditionalContext = strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(p.AdditionalContext)
	}
	if tail := specific.Get("tailToolCallRequest"); d.Answers.TailCalls && tail.Kind() == '{' {
		p.TailToolCall = tail
	}
	p.ClearContext = d.Answers.TailCalls && specific.IsTrue("clearContext")
	p.WatchPaths, p.Retry = specific.Strings("watchPaths"), specific.IsTrue("retry")
	if f.event.Action && p.Verdict == dialect.Allow {
		p.Content = specific.Get("content")
	}
	p.applyEffect(d, f, out)
	return p
}

// verdictOf returns the strictest verdict of the hooks. A text is no verdict, unless it is
// the reason of a block: the "allow" beside a system message was not the hook's.
func verdictOf(f firing) string {
	order := []string{dialect.Undecided, dialect.Allow, dialect.Ask, dialect.Defer, dialect.Deny}
	verdict := 0
	for _, r := range f.results {
		if r.Output == nil || r.Output.Object.Len() == 0 || r.fromText && !f.event.BlockedBy(*r.Output) {
			continue
		}
		if v := f.event.Verdict(*r.Output); v != dialect.Deny || f.event.Blocks {
			verdict = max(verdict, slices.Index(order, v))
		}
	}
	return order[verdict]
}

// decision returns the decision to report: a permission decision takes precedence over the
// field decision, unless that one blocks.
func decision(e dialect.Event, out dialect.Output) string {
	permission := out.Specific().Text("permissionDecision")
	switch {
	case e.Permissions && permission != "" && !out.Blocks():
		return permission
	case e.Behavior || e.Action || out.Decision() == "approve":
		if verdict := e.Verdict(out); verdict != dialect.Undecided {
			return verdict
		}
		return ""
	}
	return out.Decision()
}

func (p *Policy) applyEffect(d dialect.Dialect, f firing, out dialect.Output) {
	switch f.event.Effect {
	case dialect.ChangesToolInput:
		p.changeToolInput(d, f, out)
	case dialect.ChangesModelRequest:
		p.changeModelRequest(d, f, out)
	case dialect.ChangesModelResponse:
		p.changeModelResponse(out)
	case dialect.ChangesToolConfig:
		p.changeToolConfig(f, out)
	case dialect.ChangesToolOutput:
		p.changeToolOutput(d, f, out)
	case dialect.GrantsToolInput:
		if changed := out.Specific().Object("decision").Get("updatedInput"); p.Verdict == dialect.Allow && changed.Kind() == '{' {
			p.ToolInput = changed
		}
	}
}

// changeToolOutput sets what the model reads in place of the tool's result. A value that is no
// result of the tool is ignored, as the agent ignores it. Results of [Engine.ExecuteTool], which
// have llmContent, may be replaced by any value.
func (p *Policy) changeToolOutput(d dialect.Dialect, f firing, out dialect.Output) {
	changed, result := out.Specific().Get("updatedToolOutput"), f.fields.Get("tool_response")
	if mcp := out.Specific().Get("updatedMCPToolOutput"); mcp != nil && strings.HasPrefix(f.fields.Text("tool_name"), "mcp__") {
		changed = mcp
	}
	object, _ := jsonx.ParseObject(result)
	switch {
	case changed == nil:
	case object.Has("llmContent") || d.Around.Fits(f.fields.Text("tool_name"), result, changed):
		p.ToolOutput = changed
	default:
		p.ignored = "the changed output of the tool is ignored: it does not have the members of a result of " + f.fields.Text("tool_name")
	}
}

// changeToolInput sets the input that the tool gets. In a chain every hook may have changed
// it.
func (p *Policy) changeToolInput(d dialect.Dialect, f firing, out dialect.Output) {
	given := f.fields.Object("tool_input")
	if f.chained && f.event.Chain != dialect.NoChain {
		if final := chained(d, f.event.Chain, f.input, f.results).Object("tool_input"); string(final.Raw()) != string(given.Raw()) {
			p.ToolInput = final.Raw()
		}
		return
	}
	changed, ok := jsonx.ParseObject(out.Specific().Get(d.Answers.InputField))
	switch {
	case !ok:
	case d.Answers.InputReplaces:
		p.ToolInput = changed.Raw()
	default:
		p.ToolInput = given.Merged(changed).Raw()
	}
}

// changeModelRequest sets the answer that replaces the model's, and the request that
// the model gets.
func (p *Policy) changeModelRequest(d dialect.Dialect, f firing, out dialect.Output) {
	if response, ok := dialect.FromHookResponse(out.Specific().Get("llm_response")); ok {
		p.SyntheticResponse = response
	}
	changed, ok := jsonx.ParseObject(out.Specific().Get("llm_request"))
	if !ok {
		return
	}
	if f.chained {
		changed = chained(d, f.event.Chain, f.input, f.results).Object("llm_request")
	}
	p.ModifiedRequest = dialect.FromHookRequest(changed, f.request)
}

// changeModelResponse sets the response that replaces the model's. If a hook stops the agent
// and gives no response, the response is the reason.
func (p *Policy) changeModelResponse(out dialect.Output) {
	response, ok := dialect.FromHookResponse(out.Specific().Get("llm_response"))
	switch {
	case ok:
		p.ModifiedResponse = response
	case p.Stop:
		p.ModifiedResponse = dialect.StopResponse(p.Reason)
	}
}

// changeToolConfig sets the tool configuration of the request. It does not filter the list
// of tools.
func (p *Policy) changeToolConfig(f firing, out dialect.Output) {
	request, _ := jsonx.ParseObject(f.request)
	config := request.Object("config")
	for _, place := range []jsonx.Object{config, request, f.fields} {
		if place.Has("tools") && p.Tools == nil {
			p.Tools = place.Get("tools")
		}
	}
	if hookConfig, ok := jsonx.ParseObject(out.Specific().Get("toolConfig")); ok {
		p.ToolConfig = config.Object("toolConfig").Merged(dialect.FromHookToolConfig(hookConfig)).Raw()
	}
}
