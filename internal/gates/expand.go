package gates

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/facts"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// decideLines reads the lines for which the target is done, and expands it. Its start is then
// allowed; its completion is not, unless there are no lines.
func (c *call) decideLines(s *state.State, target *state.Current, lines []state.Evidence) decision {
	e, missing, v := c.itemsOf(s, target)
	switch {
	case !missing.decided():
		missing.lines = lines
		if missing.check != nil {
			missing.claim = []int64{target.ID}
		}
		return missing
	case !v.Allowed():
		return c.finalDecision(s, target, v, lines)
	}
	lines, s.Evidence = append(lines, e), append(s.Evidence, e)
	switch {
	case len(e.Items) == 0 && c.update.Status == workflow.Completed:
		return c.decideEnd(s, target, lines)
	case c.update.Status == workflow.Completed:
		return c.finalDecision(s, target, itemsFirst(target), lines)
	}
	return c.finalDecision(s, target, c.reasoned(target, Verdict{}), lines)
}

// itemsOf returns the line of evidence that expands a step, what has to be found out first, or a
// denial.
func (c *call) itemsOf(s *state.State, b *state.Current) (e state.Evidence, missing decision, v Verdict) {
	f, known := c.facts[factKey{b.ID, fsmspec.EachLine}]
	if f.away != "" {
		return e, missing, c.nowhere(b, f)
	}
	switch wrong := b.PathFaults[b.Each.Lines]; {
	case wrong != nil:
		return e, missing, noLines(b, wrong.Error(), nil)
	case !known && b.Each.Run == nil:
		return e, decision{source: b}, v
	case !known && c.checksOff():
		v = deny(b, "checks are off", b.Name()+" is done for the lines that a command prints, and commands are not run here (--checks off)")
		v.gate = fsmspec.EachLine
		return e, missing, v
	case !known && b.Each.Run.Timeout > c.left():
		return e, missing, slow(b, b, b.Each.Run.Timeout, c.left())
	case !known:
		return e, decision{check: &run{b, fsmspec.EachLine, b.Each.Run, s.Variables(b, nil)}}, v
	}
	items, wrong := f.lines(b)
	if wrong == "" {
		wrong = s.TooMany(b, items)
	}
	if wrong != "" {
		return e, missing, noLines(b, wrong, f.result)
	}
	return state.Evidence{Time: s.Time, Step: b.ID, From: b.Status, To: b.Status, Verdict: state.Expand, Why: state.CountItems(len(items)),
		By:    c.by(c.update, Verdict{}),
		Round: b.Round, Expands: rand.Text(), Items: items, Check: f.result, Tree: c.tree(b), Files: f.Digests,
		Changed: changedSince(s, b, f.sum)}, missing, v
}

// itemsFirst refuses the completion of a step that has just been expanded. Which tasks come first
// is told when they are in the list.
func itemsFirst(c *state.Current) Verdict {
	return deny(c, "first its items", fmt.Sprintf("%s cannot be completed before the tasks for the lines of %s", c.Name(), c.Each.Source()))
}

// listLocked refuses the start of a step that needs tasks of its own, while nobody can create
// them.
func listLocked(c *state.Current) Verdict {
	return deny(c, "the list is locked", c.Name()+
		" cannot be started now: tasks have to be created for it, and another program holds the lock of the task list. Try again")
}

// noLines refuses the start of a step whose lines cannot be had.
func noLines(c *state.Current, wrong string, r *state.Result) Verdict {
	mend := ". Mend that, then start it again"
	if strings.Contains(wrong, "\n") {
		mend = "\nMend that, then start it again" // behind the output of a command
	}
	v := deny(c, "its lines: "+wrong, fmt.Sprintf("%s cannot be started: it is done for %s, and %s%s", c.Name(), c.Each, wrong, mend))
	v.Check = r
	return v
}

// lines returns the lines that were read, or what is wrong with them.
func (f fact) lines(c *state.Current) (items []string, wrong string) {
	name := message.Words(c.Each.Lines)
	text := f.text
	switch r := f.result; {
	case r == nil && f.err != nil:
		return nil, unreadable(name, f.err)
	case r != nil && !r.Passed():
		wrong := r.Failed
		if wrong == "" {
			wrong = fmt.Sprintf("it ended with exit status %d", r.Exit)
		}
		if tail := state.LastLines(r.Printed()); tail != "" {
			wrong += ". The end of its output:\n" + tail
		}
		return nil, "the command failed: " + wrong
	case r != nil:
		name, text = "its output", []byte(r.Output)
		if r.Cut {
			return nil, fmt.Sprintf("its output has more than %d KiB", facts.TailBytes>>10)
		}
	}
	items, err := fsmspec.Items(text)
	if err != nil {
		return nil, name + ": " + err.Error()
	}
	for _, item := range items {
		if _, err := fsmspec.ForItem(c.Each.Workflow, item); err != nil {
			return nil, fmt.Sprintf("%s: the line %s does not fit: %v", name, message.Quote(item), withoutPlace(err))
		}
	}
	return items, ""
}

// unreadable says why a file cannot be read.
func unreadable(name string, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "the file " + name + " does not exist"
	case errors.Is(err, vfs.ErrFileTooLarge):
		return "the file " + name + " is too large"
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return "the file " + name + " cannot be read: " + err.Error()
}

// withoutPlace returns the first problem of a workflow without its line and column, which are
// those of a text that nobody sees.
func withoutPlace(err error) string {
	if invalid, ok := errors.AsType[*fsmspec.InvalidError](err); ok {
		return invalid.Problems[0].Message
	}
	return err.Error()
}

// readLines reads the file with the lines for which a step is done, without a lock.
func (c *call) readLines(ctx context.Context, b *state.Current) {
	f := c.workplace(b.Workflow)
	f.Digests = filesForLines(b.Each, ctx, f.dir)
	path := filepath.Join(f.dir, filepath.FromSlash(b.Each.Lines))
	if f.sum, f.err = facts.DigestOf(path); f.err == nil {
		f.text, f.err = safefile.ReadFile(path, state.MaxSource, 0)
	}
	c.facts[factKey{b.ID, fsmspec.EachLine}] = f
}
