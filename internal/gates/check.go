package gates

import (
	"fmt"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// check denies the completion of a step unless its check exited with 0.
func check(c *state.Current, r state.Result) Verdict { return command(c, "its check", r) }

// command denies completing a step unless its command (what: check, chooser, value) exited with 0.
func command(c *state.Current, what string, r state.Result) Verdict {
	if r.Interrupted {
		v := deny(c, "check interrupted", fmt.Sprintf("%s is not completed: %s was interrupted before it ended: %s\nComplete "+
			"the step again to run it anew",
			c.Name(), what, message.Clip(message.Words(r.Run), message.MaxSubject)))
		v.Check, v.past.forbidden = &r, true
		return v
	}
	if r.Passed() {
		return Verdict{Check: &r}
	}
	how, failed, mend := r.How(), "failed", "Fix that, then"
	if r.Unrunnable {
		failed, mend = "cannot run", "That is no failure of the work: "+missing(c, r)+", then"
	}
	reason := fmt.Sprintf("%s cannot be completed: %s %s (%s): %s", c.Name(), what, failed, how, message.Clip(message.Words(r.Run),
		message.MaxSubject))
	if r.Dir != "" {
		reason += "\nIt ran in " + message.Words(r.Dir)
	}
	if tail := state.LastLines(r.Printed()); tail != "" {
		reason += "\nThe end of its output:\n" + tail + "\n" + mend + " complete the step again"
	} else if r.Unrunnable {
		reason += "\n" + mend + " complete the step again"
	} else if r.Cut && r.Bytes > 0 { // another registration of the hook has run it
		reason += "\nWhat it printed is in the answer of another hook or call. Fix what it checks, then complete the step again"
	} else {
		reason += "\nIt printed nothing. Fix what it checks, then complete the step again"
	}
	if what = strings.TrimPrefix(what, "its "); r.Lacks != "" {
		how = lacks(r) + ": name its path in " + message.Words(c.Workflow.Spec)
	}
	v := deny(c, what+" "+failed+": "+how, reason)
	v.Check = &r
	return v
}

// lacks says which program a command did not find, and where.
func lacks(r state.Result) string {
	where := "the environment of the client, in which it ran,"
	if r.InShell {
		where = "the shell in which it ran"
	}
	return where + " has no " + message.Words(r.Lacks) + " in its PATH"
}

// missing tells the agent what a command needs that cannot run.
func missing(c *state.Current, r state.Result) string {
	name := "have a person name its path in " + message.Words(c.Workflow.Spec)
	switch {
	case r.Fault:
		return "mend the command in " + message.Words(c.Workflow.Spec)
	case r.Lacks == "":
		return "say what is missing"
	case r.InShell:
		return lacks(r) + ". Install it, or " + name
	case c.NeedsPerson():
		return lacks(r) + ": " + name
	}
	return fmt.Sprintf("%s. fsmtx complete %d runs it in your shell; or %s", lacks(r), c.ID, name)
}

// planning denies an update of c, to a status, that needs a command to run: in plan mode the agent only reads. The
// other gates decide there as ever. The command may be that of another step, which was completed in another way.
func planning(c *state.Current, r *run, status string) Verdict {
	what := fsmspec.Gate{Kind: r.kind}.Command()
	switch {
	case r.kind == fsmspec.EachLine:
		what = "the command that prints its lines"
	case r.step != c:
		what = "the command of " + r.step.Name() + ", which was completed past the hooks,"
	}
	verb, done := "complete", "completed"
	if status == workflow.InProgress {
		verb, done = "start", "started"
	}
	v := deny(c, "plan mode", fmt.Sprintf("%s cannot be %s in plan mode: %s is not run there: %s\nLeave plan mode, then %s the step again",
		c.Name(), done, what, message.Clip(message.Words(r.Run), message.MaxSubject), verb))
	v.past.forbidden = true
	return v
}

// slow denies an update of c because a command of the step b may take too long.
func slow(c, b *state.Current, limit, left time.Duration) Verdict {
	return deny(c, "the checks do not fit into one call", fmt.Sprintf(
		"%s is refused: the check of %s may take %v, but the time limit of the hook "+
			"that runs it leaves only %v. "+
			`Tell the person: "fsmtx install" repairs the hook`, c.Name(), b.Name(), limit, left.Round(time.Second)))
}
