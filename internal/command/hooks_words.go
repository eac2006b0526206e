package command

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
)

// words prints the result of an event for people.
type words struct {
	out     io.Writer
	dialect dialect.Dialect
}

func (w words) result(event string, r *hooks.Result) {
	if r.Plan == nil {
		fmt.Fprintf(w.out, "%s: no hook runs\n", event)
		return
	}
	fmt.Fprintf(w.out, "%s: %s\n", event, order(r))
	table := tabwriter.NewWriter(w.out, 0, 0, 2, ' ', 0)
	for i, h := range r.Results {
		fmt.Fprintf(table, "  %s\t%d ms\t%s\n", state(h), int64(h.Duration)/1e6, commandWords(r.Plan.Hooks[i]))
	}
	table.Flush()
	for _, line := range w.policy(r.Policy) {
		fmt.Fprintf(w.out, "%s\n", line)
	}
}

func order(r *hooks.Result) string {
	switch n := len(r.Results); {
	case n == 1 && len(r.Plan.Hooks) == 1:
		return "1 hook"
	case r.Plan.Sequential && n < len(r.Plan.Hooks):
		return fmt.Sprintf("%d of %d hooks, one after the other", n, len(r.Plan.Hooks))
	case r.Plan.Sequential:
		return fmt.Sprintf("%d hooks, one after the other", n)
	default:
		return fmt.Sprintf("%d hooks at once", n)
	}
}

func state(h hooks.HookResult) string {
	switch {
	case h.Error != "":
		return "failed"
	case h.Signal != "":
		return h.Signal
	case h.Success:
		return "ok"
	}
	return fmt.Sprintf("exit %d", h.ExitCode)
}

// policy returns a line for each effect of the policy.
func (w words) policy(p hooks.Policy) []string {
	var effects []string
	add := func(when bool, what, detail string) {
		if when {
			effects = append(effects, what+indented(detail))
		}
	}
	add(p.Blocking, "blocked: ", p.Reason)
	add(p.Stop && !p.Blocking, "the agent stops: ", p.Reason)
	add(p.Stop && p.Blocking, "the agent stops", "")
	add(p.Decision == "ask" || p.Decision == "defer", "decision: ", p.Decision)
	add(p.ToolInput != nil, "the tool gets: ", string(p.ToolInput))
	add(p.ModifiedRequest != nil, "the model gets: ", string(p.ModifiedRequest))
	add(p.SyntheticResponse != nil, "the answer instead of the model's: ", string(p.SyntheticResponse))
	add(p.ModifiedResponse != nil, "the response becomes: ", string(p.ModifiedResponse))
	add(p.ToolConfig != nil, "the choice of tools: ", string(p.ToolConfig))
	add(p.AdditionalContext != "", "context for the model: ", p.AdditionalContext)
	add(p.SystemMessage != "", w.dialect.ReaderOfMessages()+" reads: ", p.SystemMessage)
	add(p.SuppressOutput, "the user is not shown the output", "")
	if len(effects) == 0 {
		return []string{"nothing changes"}
	}
	return effects
}

// indented indents every line but the first.
func indented(text string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ")
}

// oneLine shortens a command to one line.
func oneLine(command string) string {
	const width = 70
	line, _, more := strings.Cut(strings.TrimSpace(command), "\n")
	if runes := []rune(line); len(runes) > width {
		return string(runes[:width]) + "…"
	}
	if more {
		line += " …"
	}
	return line
}
