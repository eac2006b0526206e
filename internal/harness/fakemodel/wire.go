package fakemodel

import (
	"bytes"
	"net/http"
	"strings"
)

// wire is the form in which a client talks to its model. Every form is read into a Request
// of the Messages API, so that scripts and tests do not depend on it.
type wire struct {
	read  func(path string, body []byte) (*Request, error)
	write func(a reply, stream bool, b *bytes.Buffer) (contentType string, err error)
}

// wireOf returns the form of a request by its path, nil if it is not for a model.
func wireOf(r *http.Request) *wire {
	if r.Method != http.MethodPost {
		return nil
	}
	switch path := r.URL.Path; {
	case path == "/v1/messages":
		return &wire{readMessages, reply.writeMessage}
	case strings.HasSuffix(path, "/chat/completions"):
		return &wire{readChat, reply.writeChat}
	case strings.HasSuffix(path, "/responses"):
		return &wire{readResponses, reply.writeResponse}
	case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
		return &wire{readGemini, reply.writeGemini}
	}
	return nil
}

func readMessages(_ string, body []byte) (*Request, error) { return parseRequest(body) }

// writeMessage writes the answer in the form of the Messages API.
func (a reply) writeMessage(stream bool, b *bytes.Buffer) (string, error) {
	if stream {
		return eventStream, a.stream(b)
	}
	return jsonText, a.whole(b)
}

const (
	jsonText    = "application/json"
	eventStream = "text/event-stream"
)
