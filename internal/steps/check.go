package steps

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/message"
)

// passed reports whether the command exited with 0.
func (r Result) passed() bool { return r.failed == "" && r.Exit == 0 }

// printed returns what the command has written to its output and to standard error.
func (r Result) printed() string {
	if r.output == "" || r.errors == "" {
		return r.output + r.errors
	}
	return r.output + "\n" + r.errors
}

// complaint returns the end of what the command has written to standard error, for the end of a
// sentence, if that is not part of its output.
func (r Result) complaint() string {
	if text := lastLines(r.errors); text != "" {
		return "\nOn standard error it printed:\n" + text
	}
	return ""
}

// hasCheck reports whether a command is a check of the step or of one of its outcomes, and not one
// that decides or prints a value.
func (s Step) hasCheck(command string) bool {
	is := func(c *Check) bool { return c != nil && c.Run == command }
	return is(s.Check) || slices.ContainsFunc(s.Outcomes, func(o Outcome) bool { return is(o.Check) })
}

// check denies the completion of a step unless its check exited with 0.
func check(c *Current, r Result) Verdict { return command(c, "its check", r) }

// how returns in a few words how a command failed.
func (r Result) how() string { return cmp.Or(r.failed, fmt.Sprintf("exit status %d", r.Exit)) }

// command denies the completion of a step unless a command of it, named by what, exited with 0.
func command(c *Current, what string, r Result) Verdict {
	if r.interrupted {
		v := deny(c, "check interrupted", fmt.Sprintf("%s is not completed: %s was interrupted before it ended: %s\nComplete "+
			"the step again to run it anew",
			c.Name(), what, message.Clip(message.Words(r.Run), maxSubject)))
		v.Check, v.past.none = &r, true
		return v
	}
	if r.passed() {
		return Verdict{Check: &r}
	}
	how, failed, mend := r.how(), "failed", "Fix that, then"
	if r.unrunnable {
		failed, mend = "cannot run", "That is no failure of the work: tell the person what is missing, then"
	}
	reason := fmt.Sprintf("%s cannot be completed: %s %s (%s): %s", c.Name(), what, failed, how, message.Clip(message.Words(r.Run),
		maxSubject))
	if r.Dir != "" {
		reason += "\nIt ran in " + message.Words(r.Dir)
	}
	if tail := lastLines(r.printed()); tail != "" {
		reason += "\nThe end of its output:\n" + tail + "\n" + mend + " complete the step again"
	} else if r.unrunnable {
		reason += "\n" + mend + " complete the step again"
	} else {
		reason += "\nIt printed nothing. Fix what it checks, then complete the step again"
	}
	what = strings.TrimPrefix(what, "its ")
	v := deny(c, what+" "+failed+": "+how, reason)
	if v.Check = &r; r.unrunnable {
		v.Trouble = fmt.Sprintf("the %s of %s cannot run (%s), so the step is not completed, and nothing is sent back: %s. %s", what, c.Name(),
			how,
			message.Clip(message.Words(r.Run), maxSubject), message.Clip(message.Words(r.printed()), maxSubject))
	}
	return v
}

const (
	tailLines = 20
	tailChars = 2000
)

// lastLines returns the last 20 lines of a check's output, at most 2,000 characters.
func lastLines(output string) string {
	text := strings.TrimRight(message.Text(strings.ReplaceAll(output, "\r\n", "\n")), "\n ")
	lines := strings.Split(text, "\n")
	text = strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
	if all := []rune(text); len(all) > tailChars {
		text = "…" + string(all[len(all)-tailChars:])
	}
	return text
}

// planning denies an update of c, to a status, that needs a command to run: in plan mode the agent only reads. The
// other gates decide there as ever. The command may be that of another step, which was completed in another way.
func planning(c *Current, r *run, status string) Verdict {
	what := Gate{kind: r.kind}.command()
	switch {
	case r.kind == eachLine:
		what = "the command that prints its lines"
	case r.step != c:
		what = "the command of " + r.step.Name() + ", which was completed in another way,"
	}
	verb, done := "complete", "completed"
	if status == inProgress {
		verb, done = "start", "started"
	}
	v := deny(c, "plan mode", fmt.Sprintf("%s cannot be %s in plan mode: %s is not run there: %s\nLeave plan mode, then %s the step again",
		c.Name(), done, what, message.Clip(message.Words(r.Run), maxSubject), verb))
	v.past.none = true
	return v
}

// doesNotFit is Verdict.Why of a denial because commands of steps may run longer than the call may.
const doesNotFit = "the checks do not fit into one call"

// slow denies an update of c because a command of the step b may take too long.
func slow(c, b *Current, limit, left time.Duration) Verdict {
	return deny(c, doesNotFit, fmt.Sprintf("%s is refused: the check of %s may take %v, but the time limit of the hook "+
		"that runs it leaves only %v. "+
		`Tell the person: "fsmtx install" repairs the hook`, c.Name(), b.Name(), limit, left.Round(time.Second)))
}
