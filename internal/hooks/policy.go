package hooks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/hooks/genai"
	"github.com/fsmtx/fsmtx/internal/hooks/js"
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
	said := *final
	p := Policy{
		Verdict:           verdictOf(f),
		Stop:              said.Stops() && !f.event.IgnoresStop,
		Decision:          decision(f.event, said),
		SystemMessage:     said.SystemMessage(),
		SuppressOutput:    said.SuppressesOutput(),
		AdditionalContext: said.Context(),
	}
	blocked := f.event.Blocks && f.event.BlockedBy(said)
	p.Blocking = blocked || f.event.StopBlocks && p.Stop
	switch {
	case blocked:
		p.Reason = cmp.Or(f.event.Reason(said), said.Text("stopReason"), defaultBlockReason)
		if d.Answers.StopReason {
			p.Reason = cmp.Or(said.Text("stopReason"), p.Reason)
		}
	case p.Stop:
		p.Reason = cmp.Or(said.StopReason(), defaultStopReason)
	case p.Decision == dialect.Ask && (d.Answers.Heard || d.Answers.Loose):
		p.Reason = f.event.Reason(said)
	}
	specific := said.Specific()
	p.SessionTitle, p.TerminalSequence = specific.Text("sessionTitle"), said.Text("terminalSequence")
	if d.Answers.Escapes {
		p.AdditionalContext = strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(p.AdditionalContext)
	}
	if tail := specific.Get("tailToolCallRequest"); d.Answers.Tail && tail.Kind() == '{' {
		p.TailToolCall = tail
	}
	p.ClearContext = d.Answers.Tail && specific.IsTrue("clearContext")
	p.WatchPaths, p.Retry = specific.Strings("watchPaths"), specific.IsTrue("retry")
	if f.event.Action && p.Verdict == dialect.Allow {
		p.Content = specific.Get("content")
	}
	p.applyEffect(d, f, said)
	return p
}

// verdictOf returns the strictest of what the hooks decided themselves. What a text
// stands for is not a decision.
func verdictOf(f firing) string {
	order := []string{dialect.Undecided, dialect.Allow, dialect.Ask, "defer", dialect.Deny}
	verdict := 0
	for _, r := range f.results {
		if r.Output == nil || r.Output.Object.Len() == 0 || r.text && !f.event.BlockedBy(*r.Output) {
			continue
		}
		if v := f.event.Verdict(*r.Output); v != dialect.Deny || f.event.Blocks {
			verdict = max(verdict, slices.Index(order, v))
		}
	}
	return order[verdict]
}

// decision returns the permission decision if it says more than the decision.
func decision(e dialect.Event, said dialect.Output) string {
	permission := said.Specific().Text("permissionDecision")
	switch {
	case e.Permissions && permission != "" && !said.Blocks():
		return permission
	case e.Behavior || e.Action || said.Decision() == "approve":
		if verdict := e.Verdict(said); verdict != dialect.Undecided {
			return verdict
		}
		return ""
	}
	return said.Decision()
}

func (p *Policy) applyEffect(d dialect.Dialect, f firing, said dialect.Output) {
	switch f.event.Effect {
	case dialect.ChangesToolInput:
		p.changeToolInput(d, f, said)
	case dialect.ChangesModelRequest:
		p.changeModelRequest(d, f, said)
	case dialect.ChangesModelResponse:
		p.changeModelResponse(said)
	case dialect.ChangesToolConfig:
		p.changeToolConfig(f, said)
	case dialect.ChangesToolOutput:
		p.changeToolOutput(f, said)
	}
}

// changeToolOutput sets what the model reads in place of the tool's result. A value of
// another type than the result is not used: the agent could not show it.
func (p *Policy) changeToolOutput(f firing, said dialect.Output) {
	changed, result := said.Specific().Get("updatedToolOutput"), f.given.Get("tool_response")
	if mcp := said.Specific().Get("updatedMCPToolOutput"); mcp != nil && strings.HasPrefix(f.given.Text("tool_name"), "mcp__") {
		changed = mcp
	}
	ours, _ := js.ParseObject(result)
	if changed != nil && (result == nil || result.Kind() == changed.Kind() || ours.Has("llmContent")) {
		p.ToolOutput = changed
	}
}

// changeToolInput sets the input that the tool gets. After a chain it has the changes
// of every hook.
func (p *Policy) changeToolInput(d dialect.Dialect, f firing, said dialect.Output) {
	given := f.given.Object("tool_input")
	if f.chained && f.event.Chain != dialect.NoChain {
		if left := chained(d, f.event.Chain, f.input, f.results).Object("tool_input"); string(left.Raw()) != string(given.Raw()) {
			p.ToolInput = left.Raw()
		}
		return
	}
	changed, ok := js.ParseObject(said.Specific().Get(d.Answers.InputField))
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
func (p *Policy) changeModelRequest(d dialect.Dialect, f firing, said dialect.Output) {
	if response, ok := genai.FromHookResponse(said.Specific().Get("llm_response")); ok {
		p.SyntheticResponse = response
	}
	changed, ok := js.ParseObject(said.Specific().Get("llm_request"))
	if !ok {
		return
	}
	if f.chained {
		changed = chained(d, f.event.Chain, f.input, f.results).Object("llm_request")
	}
	p.ModifiedRequest = genai.FromHookRequest(changed, f.request)
}

// changeModelResponse sets the response that replaces the model's. A stop without one
// answers with the reason.
func (p *Policy) changeModelResponse(said dialect.Output) {
	response, ok := genai.FromHookResponse(said.Specific().Get("llm_response"))
	switch {
	case ok:
		p.ModifiedResponse = response
	case p.Stop:
		p.ModifiedResponse = genai.StopResponse(p.Reason)
	}
}

// changeToolConfig sets the tool configuration of the request. The tools themselves
// are never filtered.
func (p *Policy) changeToolConfig(f firing, said dialect.Output) {
	request, _ := js.ParseObject(f.request)
	config := request.Object("config")
	for _, place := range []js.Object{config, request, f.given} {
		if place.Has("tools") && p.Tools == nil {
			p.Tools = place.Get("tools")
		}
	}
	if hookConfig, ok := js.ParseObject(said.Specific().Get("toolConfig")); ok {
		p.ToolConfig = config.Object("toolConfig").Merged(genai.FromHookToolConfig(hookConfig)).Raw()
	}
}

// Compact is a policy whose empty members are omitted from its JSON.
type Compact struct {
	Verdict           string         `json:"verdict,omitzero"`
	Blocking          bool           `json:"blocking,omitzero"`
	Stop              bool           `json:"stop,omitzero"`
	Reason            string         `json:"reason,omitzero"`
	Decision          string         `json:"decision,omitzero"`
	SystemMessage     string         `json:"systemMessage,omitzero"`
	SuppressOutput    bool           `json:"suppressOutput,omitzero"`
	AdditionalContext string         `json:"additionalContext,omitzero"`
	SessionTitle      string         `json:"sessionTitle,omitzero"`
	TerminalSequence  string         `json:"terminalSequence,omitzero"`
	WatchPaths        []string       `json:"watchPaths,omitzero"`
	Retry             bool           `json:"retry,omitzero"`
	TailToolCall      jsontext.Value `json:"tailToolCall,omitzero"`
	ClearContext      bool           `json:"clearContext,omitzero"`
	Content           jsontext.Value `json:"content,omitzero"`
	ToolInput         jsontext.Value `json:"toolInput,omitzero"`
	ToolOutput        jsontext.Value `json:"toolOutput,omitzero"`
	SyntheticResponse jsontext.Value `json:"syntheticResponse,omitzero"`
	ModifiedRequest   jsontext.Value `json:"modifiedRequest,omitzero"`
	ModifiedResponse  jsontext.Value `json:"modifiedResponse,omitzero"`
	ToolConfig        jsontext.Value `json:"toolConfig,omitzero"`
	Tools             jsontext.Value `json:"tools,omitzero"`
}

// Compact returns the policy for people and for tests.
func (p Policy) Compact() Compact { return Compact(p) }
