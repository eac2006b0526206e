package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// The inputs of the tools. The library derives their schemas from these types.
type (
	statusInput struct {
		Session string `json:"session,omitempty" jsonschema:"leave it out: the client's hook fills it in"`
	}
	startInput struct {
		Step    int64  `json:"step" jsonschema:"number of the step, as workflow_status shows it"`
		Session string `json:"session,omitempty" jsonschema:"leave it out: the client's hook fills it in"`
		Cwd     string `json:"cwd,omitempty" jsonschema:"leave it out, too"` // where the agent is, perhaps in a linked work tree
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

// byTools is how the server's texts name what the agent can do.
var byTools = progress.Way{Kind: progress.Tools}

// way returns how the texts name what the agent can do in a list.
func (t *tools) way(r *mcp.CallToolRequest, list string) progress.Way {
	w := byTools
	if !t.canAsk(r, list) {
		w.Unasked = " --list " + tasklist.ShortName(t.lookup, list)
	}
	return w
}

// tools has the handlers. A refusal is an error of the tool and not of the protocol, so the
// model reads it and can act on it.
type tools struct {
	chooser
	questions
}

type result = *mcp.CallToolResult

func (t *tools) status(ctx context.Context, r *mcp.CallToolRequest, in statusInput) (result, *progress.Status, error) {
	f, err := t.choose(ctx, in.Session)
	if err != nil {
		return nil, nil, err
	}
	s, err := f.Now(ctx)
	if err != nil {
		return nil, nil, err
	}
	way := t.way(r, f.List.Dir)
	way.NoChecks = f.NoChecks
	status := way.Of(s, "")
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: status.List() + way.Next(s)}}}, &status, nil
}

func (t *tools) start(ctx context.Context, r *mcp.CallToolRequest, in startInput) (result, any, error) {
	return t.update(ctx, r, in, gates.Update{Status: workflow.InProgress})
}

func (t *tools) complete(ctx context.Context, r *mcp.CallToolRequest, in completeInput) (result, any, error) {
	if err := fits("note", in.Note); err != nil {
		return nil, nil, err
	}
	return t.update(ctx, r, in.startInput, gates.Update{Status: workflow.Completed, Note: in.Note, Outcome: strings.TrimSpace(in.Outcome),
		Values: valuesOf(r)})
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
	if len(text) > gates.MaxNote {
		return fmt.Errorf("%s has %d bytes; shorten it to %d", name, len(text), gates.MaxNote)
	}
	return nil
}

// stepCall is a call about one step.
type stepCall struct {
	*progress.Work
}

// on finds the list and the step of a call, and lets do answer it. A client that has gone stops a check only: what is decided is put on
// record. An error names the list, too, if nothing named it.
func (t *tools) on(ctx context.Context, call *mcp.CallToolRequest, in startInput, do func(*stepCall) (result, any, error)) (r result, _ any,
	err error,
) {
	whole := context.WithoutCancel(ctx)
	f, err := t.choose(whole, in.Session)
	if err != nil {
		return nil, nil, err
	}
	f.Interruptible = func(check context.Context) (context.Context, context.CancelFunc) {
		check, cancel := context.WithCancel(check)
		stop := context.AfterFunc(ctx, cancel)
		if ctx.Err() != nil {
			cancel() // at once: the other one has a goroutine of its own, and the check could have begun
		}
		return check, func() { stop(); cancel() }
	}
	o, err := t.way(call, f.List.Dir).On(whole, f, in.Step)
	if err == nil {
		r, _, err = do(&stepCall{o})
	}
	return r, nil, err
}

// update changes the status of a step if its gates allow that.
func (t *tools) update(ctx context.Context, r *mcp.CallToolRequest, in startInput, u gates.Update) (result, any, error) {
	return t.on(ctx, r, in, func(o *stepCall) (result, any, error) { return t.updateOf(ctx, r, o, in, u) })
}

func (t *tools) updateOf(ctx context.Context, r *mcp.CallToolRequest, o *stepCall, in startInput, u gates.Update) (result, any, error) {
	u.Use, u.Cwd = useOf(r), in.Cwd
	if u.Status == workflow.Completed && o.Undecided {
		asked, err := t.letChoose(ctx, r, o)
		if asked != nil || err != nil {
			return asked, nil, err
		}
	}
	q := question{list: o.List.Dir, step: in.Step, to: u.Status}
	done := o.decide(ctx, t, r, q, u)
	switch {
	case done.Decision == state.Ask && o.Undecided && r.Params.RequestState != "":
		// The library asks only one question in a call for clients before protocol 2026-07-28.
		return nil, nil, message.Lines(o.Step.Name() + ": the person has chosen how it ends. That needs their approval, too: " +
			"complete it again, and they are asked")
	case done.Decision == state.Ask && t.canAsk(r, o.List.Dir):
		return t.ask(ctx, q, done.Reason, done.Text), nil, nil
	case !done.Allowed():
		return nil, nil, message.Lines(done.Text)
	}
	return o.say(done.Text)
}

// decide lets the gates decide, or the person whose answer the call carries.
func (o *stepCall) decide(ctx context.Context, t *tools, r *mcp.CallToolRequest, q question, u gates.Update) progress.Result {
	switch said, otherwise := t.answer(r, q); {
	case o.Undecided || said == notAsked:
	case said == nobody:
		return progress.Result{Verdict: gates.Verdict{Decision: state.Deny}, Text: otherwise}
	default:
		return o.Answered(ctx, u, said == saidYes, state.ByElicitation)
	}
	defer notify(ctx, r, o.Step, u.Status)()
	return o.Update(context.WithoutCancel(ctx), u)
}

// useOf returns the id that the client gave to the call, empty if it gave none (fact 91,
// client 2.1.329).
func useOf(r *mcp.CallToolRequest) string {
	use, _ := r.Params.Meta["claudecode/toolUseId"].(string)
	return use
}

// say returns an answer with a text.
func (o *stepCall) say(text string) (result, any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
}

// next returns an answer with a sentence and the present state of the workflow.
func (o *stepCall) next(ctx context.Context, sentence string) (result, any, error) {
	if s, err := o.Now(context.WithoutCancel(ctx)); err == nil {
		sentence += " " + o.Way.Report(s)
	}
	return o.say(sentence)
}

// notifyEvery is the interval of progress notifications.
const notifyEvery = 2 * time.Second

// notify sends progress notifications until stop is called, if the client has asked for
// them and a check is going to run.
func notify(ctx context.Context, r *mcp.CallToolRequest, c *state.Current, status string) (stop func()) {
	token := r.Params.GetProgressToken()
	if token == nil || status != workflow.Completed || c.Check == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		begun := time.Now()
		tick := time.NewTicker(notifyEvery)
		defer tick.Stop()
		for {
			passed := time.Since(begun)
			message := message.Sprintf("checking %s for %v: %s", c.Name(), passed.Round(time.Second), c.Check.Run)
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Message: message,
				Progress: passed.Seconds()})
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return func() { cancel(); <-ended }
}
