package mcp

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/steps"
	"github.com/fsmtx/fsmtx/internal/visible"
)

// The inputs of the tools. The library derives their schemas from these types.
type (
	statusInput struct {
		Session string `json:"session,omitempty" jsonschema:"leave it out: the client's hook fills it in"`
	}
	startInput struct {
		Step    int64  `json:"step" jsonschema:"number of the step, as workflow_status shows it"`
		Session string `json:"session,omitempty" jsonschema:"leave it out: the client's hook fills it in"`
	}
	completeInput struct {
		startInput
		Values  map[string]any `json:"values,omitempty" jsonschema:"the values that workflow_status shows the step to set, by name: texts, numbers or booleans"`
		Outcome string         `json:"outcome,omitempty" jsonschema:"how the step ends, if workflow_status shows outcomes; what the person chose, if the person decides"`
		Note    string         `json:"note,omitempty" jsonschema:"what was done and how it was verified, in a sentence or two; kept as evidence"`
	}
	skipInput struct {
		startInput
		Because string `json:"because" jsonschema:"why the step cannot or need not be done; the person reads it"`
	}
)

const (
	inProgress = "in_progress"
	completed  = "completed"
)

// maxNote limits a note and a reason, in bytes.
const maxNote = 4000

// tools has the handlers. A refusal is an error of the tool and not of the protocol, so the
// model reads it and can act on it.
type tools struct {
	chooser
	questions
}

type result = *mcp.CallToolResult

func (t *tools) status(ctx context.Context, _ *mcp.CallToolRequest, in statusInput) (result, *Status, error) {
	f, note, err := t.choose(ctx, in.Session)
	if err != nil {
		return nil, nil, err
	}
	s, err := steps.Load(ctx, f.List.Dir)
	if err != nil {
		return nil, nil, err
	}
	status := statusOf(s, note)
	return nil, &status, nil
}

func (t *tools) start(ctx context.Context, r *mcp.CallToolRequest, in startInput) (result, any, error) {
	return t.update(ctx, r, in, steps.Update{Status: inProgress})
}

func (t *tools) complete(ctx context.Context, r *mcp.CallToolRequest, in completeInput) (result, any, error) {
	if err := fits("note", in.Note); err != nil {
		return nil, nil, err
	}
	return t.update(ctx, r, in.startInput, steps.Update{Status: completed, Note: in.Note, Outcome: strings.TrimSpace(in.Outcome), Values: valuesOf(r)})
}

// valuesOf returns the values in a call as the client spelled them: a number such as 1.10 would
// lose a digit if it were decoded.
func valuesOf(r *mcp.CallToolRequest) jsontext.Value {
	values := jsonx.Member(jsontext.Value(r.Params.Arguments), "values")
	if values.Kind() != '{' {
		return nil
	}
	return values
}

// fits returns an error if the text is too long.
func fits(name, text string) error {
	if len(text) > maxNote {
		return fmt.Errorf("%s has %d bytes; shorten it to %d", name, len(text), maxNote)
	}
	return nil
}

// stepCall is a call about one step.
type stepCall struct {
	*steps.Frame
	note      string
	step      *steps.Current
	undecided bool // a person decides how the step ends, and has not
}

// find finds the list and the step of a call.
func (t *tools) find(ctx context.Context, in startInput) (*stepCall, error) {
	f, note, err := t.choose(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	s, err := steps.Load(ctx, f.List.Dir)
	if err != nil {
		return nil, err
	}
	c := s.Step(in.Step)
	switch {
	case len(s.Steps) == 0:
		return nil, errors.New(strings.TrimSpace(note + " " + noWorkflow))
	case c == nil:
		return nil, fmt.Errorf("#%d is not a step of the workflow; its steps are %s", in.Step, names(s.Steps))
	case c.Gone():
		return nil, fmt.Errorf("%s is gone from the list and counts as done", c.Name())
	}
	return &stepCall{f, note, c, s.Undecided(c)}, nil
}

// update changes the status of a step if its gates allow that.
func (t *tools) update(ctx context.Context, r *mcp.CallToolRequest, in startInput, u steps.Update) (result, any, error) {
	o, err := t.find(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	u.Task, u.Use = strconv.FormatInt(in.Step, 10), useOf(r)
	if u.Status == completed && o.undecided {
		asked, err := t.letChoose(ctx, r, o)
		if asked != nil || err != nil {
			return asked, nil, err
		}
	}
	q := question{list: o.List.Dir, step: in.Step, to: u.Status}
	var v steps.Verdict
	if yes, answered := t.answer(r, q); answered && !o.undecided {
		v = o.Answered(context.WithoutCancel(ctx), u, yes)
	} else {
		stop := notify(ctx, r, o.step, u.Status)
		v = o.Update(ctx, u)
		stop()
	}
	switch {
	case v.Decision == steps.Ask && t.canAsk(r):
		return t.ask(q, v.Reason), nil, nil
	case v.Decision == steps.Ask:
		return nil, nil, visible.Lines(visible.Sprintf("%s needs the approval of a person, and this client cannot ask one:\n%s\nTell them. They can give it in a terminal outside the client: fsmtx step done %d --because \"...\"%s",
			o.step.Name(), visible.Lines(v.Reason), in.Step, o.sessionFlag()))
	case !v.Allowed():
		return nil, nil, visible.Lines(v.Reason)
	case v.Turn != nil:
		return o.next(ctx, v.Turn.Text+"\n\n")
	case v.Told != "":
		return o.next(ctx, v.Told+toThePerson(v))
	case u.Status == completed:
		return o.next(ctx, o.step.Name()+" is done."+toThePerson(v))
	}
	return o.next(ctx, o.step.Name()+" is in progress."+toThePerson(v))
}

// toThePerson asks the agent to pass on what the person has to know: the server cannot reach
// them.
func toThePerson(v steps.Verdict) string {
	if v.Trouble == "" {
		return ""
	}
	return " Tell the person: " + visible.Words(v.Trouble) + "."
}

// useOf returns the id that the client gave to the call, empty if it gave none (fact 91,
// client 2.1.329).
func useOf(r *mcp.CallToolRequest) string {
	use, _ := r.Params.Meta["claudecode/toolUseId"].(string)
	return use
}

func (c *stepCall) sessionFlag() string {
	if c.Session == "" {
		return ""
	}
	return " --session " + c.Session
}

// next returns an answer with a sentence and the present state of the workflow.
func (c *stepCall) next(ctx context.Context, sentence string) (result, any, error) {
	text := strings.TrimSpace(c.note + " " + sentence)
	if s, err := steps.Load(context.WithoutCancel(ctx), c.List.Dir); err == nil {
		text += " " + report(s)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
}

// notifyEvery is the interval of progress notifications.
const notifyEvery = 2 * time.Second

// notify sends progress notifications until stop is called, if the client has asked for
// them and a check is going to run.
func notify(ctx context.Context, r *mcp.CallToolRequest, c *steps.Current, status string) (stop func()) {
	token := r.Params.GetProgressToken()
	if token == nil || status != completed || c.Check == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		begun := time.Now()
		tick := time.NewTicker(notifyEvery)
		defer tick.Stop()
		for n := 1.0; ; n++ {
			message := visible.Sprintf("checking %s for %v: %s", c.Name(), time.Since(begun).Round(time.Second), c.Check.Run)
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Message: message, Progress: n})
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return func() { cancel(); <-ended }
}
