package mcp

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fsmtx/fsmtx/internal/steps"
	"github.com/fsmtx/fsmtx/internal/visible"
)

// question is what a person was asked, so that the answer is used for nothing else.
type question struct {
	list string
	step int64
	to   string // the status, or "skip" and the reason
}

// questions are those without an answer yet. Asking ends the call; the client makes it
// again with the answer and with the state that it was given, which no agent sees. (The
// library asks older clients itself.)
type questions struct {
	mu    sync.Mutex
	asked map[string]question
}

// answerKey names the question in the client's answer.
const answerKey = "answer"

// canAsk reports whether the client can show a form to a person.
func canAsk(r *mcp.CallToolRequest) bool {
	c := r.ClientCapabilities()
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

// ask returns the answer of a call that has to be made again with the person's.
func (qs *questions) ask(q question, words string) *mcp.CallToolResult {
	state := rand.Text()
	qs.mu.Lock()
	defer qs.mu.Unlock()
	qs.asked[state] = q
	form := map[string]any{"type": "object", "properties": map[string]any{}}
	return &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{answerKey: &mcp.ElicitParams{Mode: "form", Message: words, RequestedSchema: form}},
		RequestState:  state,
	}
}

// answer returns the person's answer to the question; answered is false if this call
// brings none. An answer is used once.
func (qs *questions) answer(r *mcp.CallToolRequest, q question) (yes, answered bool) {
	if r.Params.RequestState == "" {
		return false, false
	}
	qs.mu.Lock()
	defer qs.mu.Unlock()
	asked, ok := qs.asked[r.Params.RequestState]
	delete(qs.asked, r.Params.RequestState)
	result, isAnswer := r.Params.InputResponses[answerKey].(*mcp.ElicitResult)
	return ok && asked == q && isAnswer && result.Action == "accept", true
}

func (t *tools) skip(ctx context.Context, r *mcp.CallToolRequest, in skipInput) (result, any, error) {
	because := strings.TrimSpace(in.Because)
	if because == "" {
		return nil, nil, fmt.Errorf("say in because why step #%d is to be skipped", in.Step)
	}
	if err := fits("because", because); err != nil {
		return nil, nil, err
	}
	o, err := t.find(ctx, in.startInput)
	if err != nil {
		return nil, nil, err
	}
	name := o.step.Name()
	if o.step.Done() {
		return nil, nil, fmt.Errorf("%s is done already", name)
	}
	q := question{list: o.List.Dir, step: in.Step, to: "skip: " + because}
	yes, answered := t.answer(r, q)
	switch {
	case !answered && canAsk(r):
		return t.ask(q, fmt.Sprintf("The agent wants to skip the step %s of the workflow %s.\nIts reason: %s\nLet it skip the step?",
			name, visible.Words(o.step.Workflow.Command), visible.Words(because))), nil, nil
	case !answered:
		return nil, nil, fmt.Errorf("%s is not skipped: only a person can decide that, and this client cannot ask one. Tell them why. They can skip it in a terminal: fsmtx step skip %d --because \"...\"%s",
			name, in.Step, o.sessionFlag())
	case !yes:
		return nil, nil, fmt.Errorf("%s is not skipped: the person said no, or nothing", name)
	}
	if _, err := o.GoPast(context.WithoutCancel(ctx), steps.Past{Step: in.Step, Because: because}, false); err != nil {
		return nil, nil, err
	}
	return o.next(ctx, name+" is skipped.")
}
