package hooks

import (
	"cmp"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	defaultBlockReason = "Blocked by hook"
	defaultStopReason  = "Stopped by hook"
)

// policyOf is what an event's final output means for the caller.
func policyOf(d Dialect, f firing, final *Output) Policy {
	if final == nil {
		return Policy{}
	}
	said := *final
	p := Policy{
		Stop:              said.Stops(),
		Decision:          decision(f.rule, said),
		SystemMessage:     said.SystemMessage(),
		SuppressOutput:    said.SuppressesOutput(),
		AdditionalContext: said.Context(),
	}
	blocked := f.rule.blocks && f.rule.blockedBy(said)
	p.Blocking = blocked || f.rule.stopBlocks && p.Stop
	switch {
	case blocked:
		p.Reason = cmp.Or(f.rule.reason(said), said.text("stopReason"), defaultBlockReason)
	case p.Stop:
		p.Reason = cmp.Or(said.StopReason(), defaultStopReason)
	}
	if f.rule.effects != nil {
		f.rule.effects(d, f, said, &p)
	}
	return p
}

// decision is the top-level decision unless a permission says more.
func decision(r rule, said Output) string {
	permission := said.specific().text("permissionDecision")
	if r.permissions && permission != "" && !said.Blocks() {
		return permission
	}
	return said.Decision()
}

// toolInputEffect is the input that the tool is to run with. Of a chain it has
// every hook's change.
func toolInputEffect(d Dialect, f firing, said Output, p *Policy) {
	given := f.given.object("tool_input")
	if f.chained && f.rule.chain != nil {
		if left := f.rule.chained(d, f.input, f.results).object("tool_input"); string(left.raw()) != string(given.raw()) {
			p.ToolInput = left.raw()
		}
		return
	}
	if changed, ok := parseObject(said.specific().get(d.inputField)); ok {
		p.ToolInput = d.applyInput(given, changed).raw()
	}
}

// beforeModelEffect is the answer that spares the model, or the request it is to
// get instead.
func beforeModelEffect(d Dialect, f firing, said Output, p *Policy) {
	if response, ok := responseFromHook(said.specific().get("llm_response")); ok {
		p.SyntheticResponse = response
	}
	changed, ok := parseObject(said.specific().get("llm_request"))
	if !ok {
		return
	}
	if f.chained {
		changed = f.rule.chained(d, f.input, f.results).object("llm_request")
	}
	p.ModifiedRequest = requestFromHook(changed, f.request)
}

// afterModelEffect is the response to use instead; a stop without one answers
// with the reason.
func afterModelEffect(_ Dialect, _ firing, said Output, p *Policy) {
	response, ok := responseFromHook(said.specific().get("llm_response"))
	switch {
	case ok:
		p.ModifiedResponse = response
	case p.Stop:
		p.ModifiedResponse = stopResponse(p.Reason)
	}
}

// selectionEffect is the tool configuration of the request; the tools themselves
// are never filtered.
func selectionEffect(_ Dialect, f firing, said Output, p *Policy) {
	request, _ := parseObject(f.request)
	config := request.object("config")
	for _, tools := range []object{config, request, f.given} {
		if tools.has("tools") && p.Tools == nil {
			p.Tools = tools.get("tools")
		}
	}
	if hookConfig, ok := parseObject(said.specific().get("toolConfig")); ok {
		p.ToolConfig = config.object("toolConfig").merged(toolConfigFromHook(hookConfig)).raw()
	}
}

// Said is a policy without what says nothing, for people and for tests.
type Said struct {
	Blocking          bool           `json:"blocking,omitzero"`
	Stop              bool           `json:"stop,omitzero"`
	Reason            string         `json:"reason,omitzero"`
	Decision          string         `json:"decision,omitzero"`
	SystemMessage     string         `json:"systemMessage,omitzero"`
	SuppressOutput    bool           `json:"suppressOutput,omitzero"`
	AdditionalContext string         `json:"additionalContext,omitzero"`
	ToolInput         jsontext.Value `json:"toolInput,omitzero"`
	SyntheticResponse jsontext.Value `json:"syntheticResponse,omitzero"`
	ModifiedRequest   jsontext.Value `json:"modifiedRequest,omitzero"`
	ModifiedResponse  jsontext.Value `json:"modifiedResponse,omitzero"`
	ToolConfig        jsontext.Value `json:"toolConfig,omitzero"`
	Tools             jsontext.Value `json:"tools,omitzero"`
}

// Said returns what the policy says.
func (p Policy) Said() Said { return Said(p) }
