package hooks

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/hooks/js"
)

// Input is what the caller knows of an event, besides the session.
type Input struct {
	// Fields are the event's own fields, a JSON object: tool_name, tool_input, prompt
	// and so on. Any other value is read as {}. It is read only if the event has hooks.
	Fields jsontext.Value

	// Request and Response are GenerateContent JSON, of model events only. If they are
	// nil, the fields sdk_request and sdk_response are used. Hooks see them as
	// llm_request and llm_response in the hook format.
	Request, Response jsontext.Value
}

// read returns the fields, and the model's request and response.
func (in Input) read() (fields js.Object, request, response jsontext.Value) {
	fields, _ = js.ParseObject(in.Fields)
	request, response = in.Request, in.Response
	if request == nil {
		request = fields.Get("sdk_request")
	}
	if response == nil {
		response = fields.Get("sdk_response")
	}
	return fields.Without("sdk_request", "sdk_response"), request, response
}

// Session is what every hook is told about the session.
type Session struct {
	ID             string // session_id
	Cwd            string // cwd, also the hook's working directory
	Project        string // the project's directory, if it is not Cwd
	TranscriptPath string // transcript_path, empty if unknown
}

// firing is one event on its way through the engine.
type firing struct {
	event   dialect.Event
	session Session
	input   js.Object      // what hooks read on standard input
	given   js.Object      // the event's own fields
	request jsontext.Value // the model's request as GenerateContent JSON, nil if there is none
	chained bool           // the hooks ran one after the other
	results []HookResult
}
