package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
)

// question identifies what a person was asked, so that the answer is not used for another
// question.
type question struct {
	list string
	step int64
	to   string // the status, or "skip" and the reason
}

// pending is a question that is not answered yet.
type pending struct {
	question
	otherwise string // what is said to the agent if nobody can be asked
}

// questions are the questions that are not answered yet. Asking ends the call with a random
// state, which no agent sees; the client repeats the call with that state and the answer.
// (For older clients the library asks and repeats the call itself.)
type questions struct {
	mu    sync.Mutex
	asked map[string]pending // by state

	client func(list string) bool // reports whether a client has started the server, and not the agent of the list itself
	// answerers returns the hooks that may answer for the person. Nil is none.
	answerers func() []state.Answerer
	// spoken demands a word in the form. A client may accept a form without fields by itself: Codex
	// does where it asks nothing (0.169.0). Claude Code asks the person (fact 95, client 2.1.329).
	spoken bool
}

// answerKey is the key of the answer in the repeated call.
const answerKey = "answer"

// canAsk reports whether there is a client that can show a form to a person.
func (qs *questions) canAsk(r *mcp.CallToolRequest, list string) bool {
	if !qs.client(list) || qs.hasNewAnswerer(list) {
		return false
	}
	c := r.ClientCapabilities()
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

// hasNewAnswerer reports whether a hook may answer for the person that has come since a workflow in the list was begun.
func (qs *questions) hasNewAnswerer(list string) bool {
	if qs.answerers == nil {
		return false
	}
	all := qs.answerers()
	if len(all) == 0 {
		return false
	}
	s, err := state.LoadNow(context.Background(), list)
	return err != nil || s.NewAnswerer(all) != ""
}

// ask returns a result that makes the client ask the person and repeat the call. If nobody can be asked after all, the agent is told
// what is otherwise.
func (qs *questions) ask(ctx context.Context, q question, words, otherwise string) *mcp.CallToolResult {
	if !qs.spoken {
		return qs.askFor(ctx, pending{q, otherwise}, words, map[string]any{})
	}
	word := map[string]any{"type": "string", "enum": []string{yesWord, "no"}}
	return qs.askFor(ctx, pending{q, otherwise}, words, map[string]any{yesKey: word}, yesKey)
}

// yesKey and yesWord are the field of a form that a person agrees by, and what they choose then.
const yesKey, yesWord = "answer", "yes"

// askFor asks a person to fill in a form with these properties.
func (qs *questions) askFor(
	ctx context.Context, p pending, words string, properties map[string]any, required ...string,
) *mcp.CallToolResult {
	now := rand.Text()
	qs.mu.Lock()
	defer qs.mu.Unlock()
	qs.asked[now] = p
	if last, ok := ctx.Value(lastAsked{}).(*string); ok {
		*last = now
	}
	form := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		form["required"] = required
	}
	return &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{answerKey: &mcp.ElicitParams{Mode: "form", Message: message.Text(words), RequestedSchema: form}},
		RequestState:  now,
	}
}

// lastAsked is the key of a context in which askFor leaves the state of the question of a call.
type lastAsked struct{}

// surely is middleware that repeats a call as one about whose question nobody could be asked, if the client answers the question with an
// error or with a form that is not filled in: the library would give that to the agent, as an error of the protocol.
func (qs *questions) surely(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		params, ok := r.GetParams().(*mcp.CallToolParamsRaw)
		if !ok || params == nil {
			return next(ctx, method, r)
		}
		now := ""
		result, err := next(context.WithValue(ctx, lastAsked{}, &now), method, r)
		if err == nil || ctx.Err() != nil || !qs.isOpen(now) {
			return result, err
		}
		params.RequestState, params.InputResponses = now, mcp.InputResponseMap{answerKey: &mcp.ElicitResult{}}
		return next(ctx, method, r)
	}
}

func (qs *questions) isOpen(now string) bool {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	_, ok := qs.asked[now]
	return ok
}

// answer is what came of a question.
type answer int

const (
	notAsked answer = iota
	nobody          // has answered
	saidNo          // or their client did, for them
	saidYes
)

// answer returns what the person said to the question. Each question can be answered once. If nobody could be asked it returns what
// to say to the agent.
func (qs *questions) answer(r *mcp.CallToolRequest, q question) (said answer, otherwise string) {
	form, said, otherwise := qs.filledIn(r, q)
	switch word := form[yesKey]; {
	case said != saidYes || !qs.spoken || word == yesWord:
	case word == "no":
		said = saidNo
	default:
		said = nobody
	}
	return said, otherwise
}

// filledIn is answer with the form that the person has filled in.
func (qs *questions) filledIn(r *mcp.CallToolRequest, q question) (form map[string]any, said answer, otherwise string) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	asked, ok := qs.asked[r.Params.RequestState]
	delete(qs.asked, r.Params.RequestState)
	if !ok || asked.question != q {
		return nil, notAsked, ""
	}
	result, isAnswer := r.Params.InputResponses[answerKey].(*mcp.ElicitResult)
	switch {
	case !isAnswer || qs.hasNewAnswerer(q.list):
	case result.Action == "accept":
		return result.Content, saidYes, asked.otherwise
	case result.Action == "decline": // a form that is closed, or that nobody sees, is cancelled (fact 95)
		return nil, saidNo, asked.otherwise
	}
	return nil, nobody, asked.otherwise
}

// letChoose lets the person choose how the step ends, and records what they chose. It returns
// a result if they have to be asked first.
func (t *tools) letChoose(ctx context.Context, r *mcp.CallToolRequest, o *stepCall) (*mcp.CallToolResult, error) {
	q := question{list: o.List.Dir, step: o.Step.ID, to: "choice"}
	form, said, _ := t.filledIn(r, q)
	words := "How does the step " + o.Step.Name() + " of the workflow " + message.Words(o.Step.Workflow.Command) + " end?"
	if said == notAsked && t.canAsk(r, o.List.Dir) {
		return t.askFor(ctx, pending{question: q}, words,
			map[string]any{"outcome": map[string]any{"type": "string", "enum": o.Choices}}), nil
	}
	chosen, _ := form["outcome"].(string)
	if chosen == "" {
		return nil, nil // the update is refused, with what to do
	}
	_, v := o.Chosen(context.WithoutCancel(ctx), []gates.Choice{{Question: words, Chosen: chosen, Step: o.Step.ID}},
		state.ByElicitation, "")
	if v.Trouble != "" {
		return nil, errors.New(string(v.Trouble))
	}
	return nil, nil
}

// skip skips a step if the person agrees.
func (t *tools) skip(ctx context.Context, r *mcp.CallToolRequest, in skipInput) (result, any, error) {
	because := strings.TrimSpace(in.Because)
	if because == "" {
		return nil, nil, fmt.Errorf("because is empty: say why step #%d should be skipped", in.Step)
	}
	if err := fits("because", because); err != nil {
		return nil, nil, err
	}
	return t.on(ctx, r, in.startInput, func(o *stepCall) (result, any, error) { return t.skipOf(ctx, r, o, in.Step, because) })
}

func (t *tools) skipOf(ctx context.Context, r *mcp.CallToolRequest, o *stepCall, step int64, because string) (result, any, error) {
	name := o.Step.Name()
	past := gates.Past{Step: step, Because: because}
	if s, err := o.Now(ctx); err != nil {
		return nil, nil, err
	} else if err := gates.MayPass(s, past); err != nil { // the person would be asked in vain
		return nil, nil, fmt.Errorf("the person was not asked, because the step cannot be skipped now: %w", err)
	}
	q := question{list: o.List.Dir, step: step, to: "skip: " + because}
	alone := fmt.Sprintf("%s is not skipped: only a person can decide that, and nobody has answered here. Tell them why. "+
		"They can skip it in a terminal outside the client: fsmtx step skip %d --because \"...\"%s", name, step, o.ListFlag())
	said, _ := t.answer(r, q)
	switch {
	case said == notAsked && t.canAsk(r, o.List.Dir):
		return t.ask(ctx, q, fmt.Sprintf("The agent wants to skip the step %s of the workflow %s.\nIts reason: %s\nLet it skip the step?",
			name, message.Words(o.Step.Workflow.Command), message.Words(because)), alone), nil, nil
	case said == saidNo:
		return nil, nil, fmt.Errorf("%s is not skipped: the person said no or did not answer", name)
	case said != saidYes:
		return nil, nil, message.Lines(alone)
	}
	if _, err := o.GoPast(context.WithoutCancel(ctx), past,
		state.By{Who: state.ThePerson, How: state.ByElicitation}); err != nil {
		return nil, nil, err
	}
	return o.next(ctx, name+" is skipped.")
}
