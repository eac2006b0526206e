package fakemodel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// Record contains the requests and answers of one run.
type Record struct {
	prefix    string // of the calls' IDs
	exchanges []*Exchange
	others    []string // requests for other paths than those of the Messages API, as "METHOD /path"
	faults    []string
}

// Exchange is one request and its answer.
type Exchange struct {
	Kind    Kind
	Agent   string // the client's ID of the subagent; older clients send none
	Request *Request
	Bytes   int // of the request
	Answer  []Block
	Refused string // why there is no answer
}

// Result is what a tool returned to the model.
type Result struct {
	Text    string
	IsError bool
}

// Exchanges returns the exchanges of these kinds in order, all of them without a kind.
func (r Record) Exchanges(kinds ...Kind) []*Exchange {
	var found []*Exchange
	for _, x := range r.exchanges {
		if len(kinds) == 0 || slices.Contains(kinds, x.Kind) {
			found = append(found, x)
		}
	}
	return found
}

// Result returns the result of a call. It returns false if the model got none.
func (r Record) Result(id string) (Result, bool) {
	x := r.After(id)
	if x == nil {
		return Result{}, false
	}
	c, _ := x.Request.result(r.prefix + id)
	return Result{Text: c.Content.text(), IsError: c.IsError}, true
}

// After returns the exchange in which the model got the result of a call, with the
// output of hooks for that call, or nil.
func (r Record) After(id string) *Exchange {
	for _, x := range r.exchanges {
		if _, ok := x.Request.result(r.prefix + id); ok {
			return x
		}
	}
	return nil
}

// Name returns the test's name for a call from the client's ID of it. The ID of a call
// of another run is returned as it is.
func (r Record) Name(id string) string { return strings.TrimPrefix(id, r.prefix) }

// Faults returns the deviations from the script: requests beyond its end, turns that
// were not requested, and attempts to connect to other machines.
func (r Record) Faults() []string { return r.faults }

// String shows the run for a failing test: what was new in each exchange, with long
// texts cut.
func (r Record) String() string {
	var b strings.Builder
	for i, x := range r.exchanges {
		fmt.Fprintf(&b, "--- %d %s %s\n", i+1, x.Kind, x.Agent)
		fmt.Fprintf(&b, "%s\n", indent(cut(x.Request.News())))
		for _, block := range x.Answer {
			fmt.Fprintf(&b, "=> %s\n", cut(block.String()))
		}
		if x.Refused != "" {
			fmt.Fprintf(&b, "=> refused: %s\n", x.Refused)
		}
	}
	for _, o := range r.others {
		fmt.Fprintf(&b, "--- other: %s\n", o)
	}
	for _, f := range r.faults {
		fmt.Fprintf(&b, "--- fault: %s\n", f)
	}
	return b.String()
}

// fault records a fault once, however often the client repeats the request.
func (r *Record) fault(what string) {
	if !slices.Contains(r.faults, what) {
		r.faults = append(r.faults, what)
	}
}

func (r Record) clone() Record {
	c := Record{prefix: r.prefix, others: slices.Clone(r.others), faults: slices.Clone(r.faults)}
	for _, x := range r.exchanges {
		copied := *x
		c.exchanges = append(c.exchanges, &copied)
	}
	return c
}

// shown is the number of bytes of a text that String shows. The client's standing
// instructions are longer.
const shown = 1800

func cut(s string) string {
	if len(s) <= shown {
		return s
	}
	return s[:shown/3] + fmt.Sprintf("\n… %d bytes …\n", len(s)-shown) + s[len(s)-2*shown/3:]
}

func indent(s string) string { return "   " + strings.ReplaceAll(s, "\n", "\n   ") }

// refusal returns an error in the form of the API.
func refusal(why error) string {
	body, err := json.Marshal(args{
		"type":  "error",
		"error": args{"type": "invalid_request_error", "message": "fake model: " + why.Error()},
	})
	if err != nil {
		return `{"type": "error"}`
	}
	return string(body)
}
