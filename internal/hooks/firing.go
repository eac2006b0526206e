package hooks

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Input is an event as its caller gives it, without the session.
type Input struct {
	// Fields are the event's own fields, a JSON object: tool_name, tool_input, prompt
	// and so on. A value of another type is read as {}. Fields are parsed only if the
	// event has hooks.
	Fields jsontext.Value

	// Request and Response are those of a model event, in GenerateContent JSON. If they
	// are nil, the fields sdk_request and sdk_response are used. Hooks read them as
	// llm_request and llm_response in the hook format.
	Request, Response jsontext.Value
}

// read returns the fields, and the model's request and response.
func (in Input) read() (fields jsonx.Object, request, response jsontext.Value) {
	fields, _ = jsonx.ParseObject(in.Fields)
	request, response = in.Request, in.Response
	if request == nil {
		request = fields.Get("sdk_request")
	}
	if response == nil {
		response = fields.Get("sdk_response")
	}
	return fields.Without("sdk_request", "sdk_response"), request, response
}

// Session is the session that all hooks get.
type Session struct {
	ID             string // session_id
	Cwd            string // cwd, also the working directory of hooks
	Project        string // the project's directory, if it is not Cwd
	TranscriptPath string // transcript_path, empty if unknown
}

// firing is an event while its hooks run.
type firing struct {
	event   dialect.Event
	session Session
	input   jsonx.Object   // what hooks read on standard input
	fields  jsonx.Object   // the event's own fields
	request jsontext.Value // the model's request as GenerateContent JSON, nil if there is none
	chained bool           // the hooks run one after the other
	results []HookResult
}
