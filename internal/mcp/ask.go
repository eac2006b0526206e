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

// questions are the questions that are not answered yet. Asking ends the call with a random
// state, which no agent sees; the client repeats the call with that state and the answer.
// (For older clients the library asks and repeats the call itself.)
type questions struct {
	mu    sync.Mutex
	asked map[string]question // by state

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

// ask returns a result that makes the client ask the person and repeat the call.
func (qs *questions) ask(q question, words string) *mcp.CallToolResult {
	if !qs.spoken {
		return qs.askFor(q, words, map[string]any{})
	}
	return qs.askFor(q, words, map[string]any{yesKey: map[string]any{"type": "string", "enum": []string{yesWord, "no"}}}, yesKey)
}

// yesKey and yesWord are the field of a form that a person agrees by, and what they choose then.
const yesKey, yesWord = "answer", "yes"

// askFor asks a person to fill in a form with these properties.
func (qs *questions) askFor(q question, words string, properties map[string]any, required ...string) *mcp.CallToolResult {
	now := rand.Text()
	qs.mu.Lock()
	defer qs.mu.Unlock()
	qs.asked[now] = q
	form := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		form["required"] = required
	}
	return &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{answerKey: &mcp.ElicitParams{Mode: "form", Message: message.Text(words), RequestedSchema: form}},
		RequestState:  now,
	}
}

// answer returns the person's answer to the question. answered is false if the call has no
// answer. Each question can be answered once.
func (qs *questions) answer(r *mcp.CallToolRequest, q question) (yes, answered bool) {
	form, yes, answered := qs.filledIn(r, q)
	return yes && (!qs.spoken || form[yesKey] == yesWord), answered
}

// filledIn is answer with the form that the person has filled in.
func (qs *questions) filledIn(r *mcp.CallToolRequest, q question) (form map[string]any, yes, answered bool) {
	if r.Params.RequestState == "" {
		return nil, false, false
	}
	qs.mu.Lock()
	defer qs.mu.Unlock()
	asked, ok := qs.asked[r.Params.RequestState]
	delete(qs.asked, r.Params.RequestState)
	result, isAnswer := r.Params.InputResponses[answerKey].(*mcp.ElicitResult)
	if !ok || asked != q || !isAnswer || result.Action != "accept" || qs.hasNewAnswerer(q.list) {
		return nil, false, true
	}
	return result.Content, true, true
}

// letChoose lets the person choose how the step ends, and records what they chose. It returns
// a result if they have to be asked first.
func (t *tools) letChoose(ctx context.Context, r *mcp.CallToolRequest, o *stepCall) (*mcp.CallToolResult, error) {
	q := question{list: o.List.Dir, step: o.Step.ID, to: "choice"}
	form, _, answered := t.filledIn(r, q)
	words := "How does the step " + o.Step.Name() + " of the workflow " + message.Words(o.Step.Workflow.Command) + " end?"
	if !answered && t.canAsk(r, o.List.Dir) {
		return t.askFor(q, words, map[string]any{"outcome": map[string]any{"type": "string", "enum": o.Choices}}), nil
	}
	chosen, _ := form["outcome"].(string)
	if chosen == "" {
		return nil, nil // the update is refused, with what to do
	}
	_, v := o.Chosen(context.WithoutCancel(ctx), []gates.Choice{{Question: words, Chosen: chosen, Step: o.Step.ID}}, state.ByElicitation, "")
	if v.Trouble != "" {
		return nil, errors.New(v.Trouble)
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
	return t.on(ctx, in.startInput, func(o *stepCall) (result, any, error) { return t.skipOf(ctx, r, o, in.Step, because) })
}

func (t *tools) skipOf(ctx context.Context, r *mcp.CallToolRequest, o *stepCall, step int64, because string) (result, any, error) {
	name := o.Step.Name()
	if o.Step.Done() {
		return nil, nil, fmt.Errorf("%s is done already", name)
	}
	past := gates.Past{Step: step, Because: because}
	if s, err := state.LoadNow(ctx, o.List.Dir); err != nil {
		return nil, nil, err
	} else if err := gates.MayPass(s, past); err != nil { // the person would be asked in vain
		return nil, nil, fmt.Errorf("the person was not asked, because the step cannot be skipped now: %w", err)
	}
	q := question{list: o.List.Dir, step: step, to: "skip: " + because}
	yes, answered := t.answer(r, q)
	switch {
	case !answered && t.canAsk(r, o.List.Dir):
		return t.ask(q, fmt.Sprintf("The agent wants to skip the step %s of the workflow %s.\nIts reason: %s\nLet it skip the step?",
			name, message.Words(o.Step.Workflow.Command), message.Words(because))), nil, nil
	case !answered:
		return nil, nil, fmt.Errorf("%s is not skipped: only a person can decide that, and this client cannot ask one. Tell them why. "+
			"They can skip it in a terminal outside the client: fsmtx step skip %d --because \"...\"%s",
			name, step, o.SessionFlag())
	case !yes:
		return nil, nil, fmt.Errorf("%s is not skipped: the person said no or did not answer", name)
	}
	if _, err := o.GoPast(context.WithoutCancel(ctx), past,
		state.By{Who: state.ThePerson, How: state.ByElicitation}); err != nil {
		return nil, nil, err
	}
	return o.next(ctx, name+" is skipped.")
}
