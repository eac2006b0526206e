package command

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/steps"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/visible"
)

// bash asks the person when the agent's shell is about to skip a step or mark it as done,
// and records a grant for exactly that command.
func (h *stepHook) bash(ctx context.Context, line string) steps.Verdict {
	if !strings.Contains(line, "step") {
		return steps.Verdict{}
	}
	script, err := shell.Parse(line)
	if err != nil {
		return steps.Verdict{} // the shell cannot run it either
	}
	var questions []string
	for _, words := range script.Calls() {
		args, ok := pastArgs(words)
		if !ok {
			continue
		}
		question, v := h.askPast(ctx, args)
		if !v.Allowed() || v.Trouble != "" {
			return v
		}
		if question != "" {
			questions = append(questions, question)
		}
	}
	if len(questions) == 0 {
		return steps.Verdict{}
	}
	return steps.Verdict{Decision: steps.Ask, Why: "going past a gate", Reason: strings.Join(questions, "\n")}
}

// pastArgs returns the words after "fsmtx step" of a call of skip or done. A word whose
// value only the shell knows, such as a variable, is nil.
func pastArgs(words []shell.Word) (args []*string, ok bool) {
	var texts []*string
	for _, w := range words {
		text, known := w.Literal()
		if known {
			texts = append(texts, &text)
		} else {
			texts = append(texts, nil)
		}
	}
	is := func(i int, name string) bool { return i < len(texts) && texts[i] != nil && *texts[i] == name }
	for i, text := range texts {
		if text != nil && filepath.Base(*text) == "fsmtx" && is(i+1, "step") && (is(i+2, "skip") || is(i+2, "done")) {
			return texts[i+2:], true
		}
	}
	return nil, false
}

// askPast returns the question to the person about one call, empty if the call would fail
// anyway.
func (h *stepHook) askPast(ctx context.Context, args []*string) (string, steps.Verdict) {
	var words []string
	for _, a := range args {
		if a == nil {
			return "", steps.Verdict{Decision: steps.Deny, Why: "going past a gate", Reason: "write the number of the step and the reason literally, " +
				"without variables or substitutions, so that the person can see them"}
		}
		words = append(words, *a)
	}
	f, err := parsePast(h.streams, words)
	if err != nil {
		return "", steps.Verdict{}
	}
	frame := h.Frame
	if f.session != "" && f.session != h.Session {
		if frame, err = stepFrame(h.streams, f.session); err != nil {
			return "", steps.Verdict{Trouble: err.Error()}
		}
	}
	s, err := steps.Load(ctx, frame.List.Dir)
	if err != nil {
		return "", steps.Verdict{Trouble: err.Error()}
	}
	c := s.Step(f.past.Step)
	if c == nil {
		return "", steps.Verdict{}
	}
	if err := frame.Grant(ctx, f.past); err != nil {
		return "", steps.Verdict{Trouble: err.Error()}
	}
	what := "skip"
	if f.past.Done {
		what = "count as done"
	}
	return fmt.Sprintf("The agent wants to %s the step %s of the workflow %s, past its gates. Its reason: %s", what, c.Name(), c.Workflow.Command, visible.Words(f.past.Because)), steps.Verdict{}
}

// parsePast reads the words of a call as the command itself does.
func parsePast(s terminal.Streams, words []string) (f pastFlags, err error) {
	f.past.Done = words[0] == "done"
	c := &cobra.Command{}
	f.add(c)
	if err := c.ParseFlags(words[1:]); err != nil {
		return f, err
	}
	return f, f.read(c.Flags().Args())
}
