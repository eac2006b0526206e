package hooks

import "github.com/go-json-experiment/json/jsontext"

// Names of the events that this package itself knows the meaning of.
const (
	BeforeTool          = "BeforeTool"
	AfterTool           = "AfterTool"
	BeforeModel         = "BeforeModel"
	AfterModel          = "AfterModel"
	BeforeToolSelection = "BeforeToolSelection"
)

// rule is all that is special about one event in one dialect.
type rule struct {
	name string

	// subject is the field of the input that a matcher is tested on; without
	// one, matchers are ignored.
	subject string

	// merge makes one output of what the hooks said.
	merge func([]HookResult) Output

	// chain changes the next hook's input by what this one said; nil if the
	// event has no chaining.
	chain func(d Dialect, input object, said Output) object

	// effects fills in what the output means for the caller beyond a decision.
	effects func(d Dialect, f firing, said Output, p *Policy)

	// blocks is whether a block decision is this event's to make.
	blocks bool

	// stopBlocks is whether continue:false blocks too.
	stopBlocks bool

	// permissions is whether hookSpecificOutput.permissionDecision counts.
	permissions bool

	// textIsContext is whether plain text of a hook is context for the model,
	// where the dialect does not make it a system message.
	textIsContext bool
}

// Input is what the caller knows of an event beside the session.
type Input struct {
	// Fields are the event's own fields, a JSON object: tool_name, tool_input,
	// tool_response, prompt, source … Anything else counts as {}. It is read only
	// if there are hooks for the event.
	Fields jsontext.Value

	// Request and Response are GenerateContent JSON, of model events only; where
	// they are nil, the fields sdk_request and sdk_response are. Hooks see them as
	// llm_request and llm_response in the stable format.
	Request, Response jsontext.Value
}

// read returns the fields, with the model's request and response apart.
func (in Input) read() (fields object, request, response jsontext.Value) {
	fields, _ = parseObject(in.Fields)
	request, response = in.Request, in.Response
	if request == nil {
		request = fields.get("sdk_request")
	}
	if response == nil {
		response = fields.get("sdk_response")
	}
	return fields.without("sdk_request", "sdk_response"), request, response
}

// Session is what every hook is told about the session.
type Session struct {
	ID             string // session_id
	Cwd            string // cwd, the hook's working directory
	Project        string // the project's directory where it is not Cwd
	TranscriptPath string // transcript_path, empty if none is known
}

// firing is one event on its way through the engine.
type firing struct {
	rule    rule
	session Session
	input   object         // what a hook gets on standard input
	request jsontext.Value // the request in the caller's format, nil if there is none
	given   object         // the event's own fields as they came in
	chained bool           // the hooks ran one after the other
	results []HookResult
}
