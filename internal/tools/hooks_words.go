package tools

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/message"
)

// words prints the result of an event for people.
type words struct {
	out     io.Writer
	dialect dialect.Dialect
	event   string
	verbose bool // print outputs and texts in full
}

// result prints the outcome of each hook of an event, and what the agent would do.
func (w words) result(event string, r *hooks.Result) {
	w.event = event
	var text strings.Builder
	if r.Plan == nil {
		message.Fprintf(&text, "%s: no hook runs\n", event)
		w.skipped(&text, r)
		io.WriteString(w.out, text.String())
		return
	}
	message.Fprintf(&text, "%s: %s\n", event, order(r))
	var rows strings.Builder
	table := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	for i, h := range r.Results {
		message.Fprintf(table, "  %s\t%d ms\t%s\n", state(h), int64(h.Duration)/1e6, commandWords(r.Plan.Hooks[i]))
	}
	table.Flush()
	for i, row := range strings.Split(strings.TrimRight(rows.String(), "\n"), "\n") {
		message.Fprintf(&text, "%s\n", row)
		if i < len(r.Results) {
			w.explain(&text, r.Results[i])
		}
	}
	w.skipped(&text, r)
	for _, line := range w.policy(r) {
		message.Fprintf(&text, "%s\n", message.Lines(line))
	}
	io.WriteString(w.out, text.String())
}

// explain prints the output of a hook and which parts of it take effect.
func (w words) explain(out io.Writer, h hooks.HookResult) {
	w.quote(out, "stdout", h.Stdout)
	w.quote(out, "stderr", h.Stderr)
	w.quote(out, "for the shell", h.Environment)
	for _, note := range h.Notes {
		message.Fprintf(out, "      ignored: %s\n", note)
	}
	switch {
	case len(h.Counted) > 0:
		message.Fprintf(out, "      counts: %s\n", strings.Join(h.Counted, ", "))
	case h.Error != "":
		w.quote(out, "failed", h.Error)
	case w.isFailure(h):
		message.Fprintf(out, "      has no effect: exit %d is only a failure; to block, exit with 2\n", h.ExitCode)
	case strings.TrimSpace(h.Stdout+h.Stderr) != "":
		fmt.Fprint(out, "      counts: nothing\n")
	}
}

// isFailure reports whether a hook ended with an exit code that is only a failure, at an
// event that exit code 2 would have blocked.
func (w words) isFailure(h hooks.HookResult) bool {
	e, _ := w.dialect.Event(w.event)
	return w.dialect.Answers.Objects != dialect.ObjectsOnAnyStream && e.Blocks && e.Meanings.Exit2 == dialect.Block && h.Signal == "" &&
		h.ExitCode != 0 && h.ExitCode != dialect.ExitBlock
}

// quote prints the beginning of an output, or all of it with -v.
func (w words) quote(out io.Writer, name, text string) {
	const most, widest = 3, 200
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if lines[0] == "" {
		return
	}
	for i, line := range lines {
		if !w.verbose && i == most {
			message.Fprintf(out, "      %s: … %d more lines, -v shows them\n", name, len(lines)-i)
			return
		}
		if runes := []rune(line); !w.verbose && len(runes) > widest {
			line = string(runes[:widest]) + fmt.Sprintf("… %d more characters", len(runes)-widest)
		}
		message.Fprintf(out, "      %s: %s\n", name, message.Lines(line))
	}
}

// skipped prints the hooks that are configured for the event and did not run.
func (w words) skipped(out io.Writer, r *hooks.Result) {
	for _, p := range r.Skipped {
		message.Fprintf(out, "  not run  %s: %s\n", oneLine(p.Hook), p.Message)
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
func (w words) policy(r *hooks.Result) []string {
	p := r.Policy
	var effects []string
	add := func(when bool, what, detail string) {
		if when {
			effects = append(effects, what+indented(w.bounded(detail)))
		}
	}
	add(p.Blocking, "blocked: ", p.Reason)
	add(p.Stop && !p.Blocking, "the agent stops: ", p.Reason)
	add(p.Stop && p.Blocking, "the agent stops", "")
	add(p.Verdict == dialect.Ask || p.Verdict == "defer", "decision: "+p.Verdict+because(p.Reason), p.Reason)
	add(p.Verdict == dialect.Allow, "allowed without asking the user", "")
	add(p.Content != nil, "the answer in place of the user's: ", string(p.Content))
	add(p.ToolInput != nil, "the tool gets: ", string(p.ToolInput))
	add(p.ToolOutput != nil, "the model reads in place of the tool's result: ", string(p.ToolOutput))
	add(p.TailToolCall != nil, "another tool is called: ", string(p.TailToolCall))
	add(p.ClearContext, "the conversation is forgotten", "")
	add(len(p.WatchPaths) > 0, "watched files: ", strings.Join(p.WatchPaths, "\n"))
	add(p.SessionTitle != "", "title of the session: ", p.SessionTitle)
	add(p.TerminalSequence != "", "written to the terminal: ", strconv.Quote(p.TerminalSequence))
	add(p.Retry, "the model is told that it may try again", "")
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

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": "
}

// bounded shortens a long text, except with -v.
func (w words) bounded(text string) string {
	const most = 4000
	if runes := []rune(text); !w.verbose && len(runes) > most {
		return string(runes[:most]) + fmt.Sprintf("… %d more characters, -v shows them", len(runes)-most)
	}
	return text
}

// indented indents every line but the first.
func indented(text string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ")
}

// oneLine shortens a command to one line.
func oneLine(command string) string { return message.FirstLine(command, 70) }
