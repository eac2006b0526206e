package hooks

import (
	"cmp"

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
		return Policy{}
	}
	said := *final
	p := Policy{
		Stop:              said.Stops(),
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
	case p.Stop:
		p.Reason = cmp.Or(said.StopReason(), defaultStopReason)
	}
	p.applyEffect(d, f, said)
	return p
}

// decision returns the permission decision if it says more than the decision.
func decision(e dialect.Event, said dialect.Output) string {
	permission := said.Specific().Text("permissionDecision")
	if e.Permissions && permission != "" && !said.Blocks() {
		return permission
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

// Compact returns the policy for people and for tests.
func (p Policy) Compact() Compact { return Compact(p) }
