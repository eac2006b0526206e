package gates

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/locator"
	"github.com/fsmtx/fsmtx/txn"
)

// workplace returns the directory to which the paths of a workflow are relative, for an
// agent that is in cwd. That is dir, the one in which it was hydrated, unless cwd is in a
// linked work tree of the same repository: then it is the directory at the same place in
// that tree. An agent is there after EnterWorktree, or if it is a subagent with a work tree
// of its own (fact 187, client 2.1.329).
func workplace(dir, cwd string) string {
	if dir == "" {
		return dir
	}
	here, ours, linked := state.WorkTreeOf(cwd)
	if !linked {
		return dir
	}
	resolved := safefile.Resolve(dir)
	there, theirs, _ := client.Repository(locator.OS{}, resolved)
	if there == "" || ours != theirs {
		return dir
	}
	rel, err := filepath.Rel(there, resolved)
	if err != nil {
		return dir
	}
	return filepath.Join(here, rel)
}

// workplace returns where the gates of a workflow look in this call, as a fact of which nothing else is known. An event that
// the agent has written itself could name any tree.
func (c *call) workplace(w *workflow.Workflow) fact {
	f := fact{dir: w.Dir, away: state.AwayText(w)}
	if there := workplace(w.Dir, c.update.Cwd); there != w.Dir && f.away == "" && !c.IsForged() {
		f.dir = there
	}
	return f
}

// IsIn reports whether a directory is in the project's, or in a linked work tree of its repository.
func IsIn(project, dir string) bool {
	rel, _ := filepath.Rel(safefile.Resolve(project), safefile.Resolve(dir)) // empty between two drives, and then not local
	return filepath.IsLocal(rel) || workplace(project, dir) != project
}

// KeepDirectory records the directory of the session's project, from an event of the client itself.
func (f *Frame) KeepDirectory(ctx context.Context, dir string) error {
	if all, err := f.reminders(); err != nil || all[f.directoryKey()] == dir {
		return err
	}
	return f.changeReminders(ctx, f.directoryKey(), dir)
}

// Directory returns the directory of the session's project as the client's own events have told it: the one that was kept, else that
// of a workflow that such an event began. It is empty if there was none.
func (f *Frame) Directory(ctx context.Context) string {
	all, _ := f.reminders()
	if dir := all[f.directoryKey()]; dir != "" {
		return dir
	}
	s, err := f.Now(ctx)
	if err != nil {
		return ""
	}
	for _, w := range slices.Backward(s.Workflows()) {
		if w.Session == f.Session && w.Dir != "" && !w.Chosen {
			return w.Dir
		}
	}
	return ""
}

func (f *Frame) directoryKey() string { return "dir:" + f.Session + "/" }

// tellChosen returns for the person, once, that gates of the session's workflows look in a directory that the agent has chosen.
func (f *Frame) tellChosen(ctx context.Context, s *state.State, project string) (text string) {
	for _, w := range s.Workflows() {
		if !w.Chosen || w.Session != f.Session || project == "" || safefile.Resolve(w.Dir) == safefile.Resolve(project) {
			continue
		}
		if !f.AlreadyTold(ctx, f.Session+"/chosen/"+message.Itoa(w.Steps[0].ID)) {
			text = message.Join(text, message.Sprintf(
				"%s was begun by a command that no hook has seen: its gates look in %s, and not in %s",
				w.Command, w.Dir, project))
		}
	}
	return text
}

// tree returns the directory in a linked work tree in which gates of the step looked, or a command
// of it ran, and "" if that was the workflow's own.
func (c *call) tree(b *state.Current) string {
	for key, f := range c.facts {
		if key.step == b.ID && f.dir != b.Workflow.Dir {
			return f.dir
		}
	}
	return ""
}

// nowhere denies an update because of a gate that has nowhere to look.
func (c *call) nowhere(b *state.Current, f fact) Verdict {
	return deny(b, "its directory "+f.away, fmt.Sprintf("%s cannot be started or completed: the directory of its workflow, %s, %s. "+
		"Tell the person, who can say where it is now: %s", b.Name(), message.Words(f.dir), f.away, moveCommand(c.listFlag())))
}

// moveCommand returns the command with which a person says where the directory of a workflow is.
func moveCommand(list string) string { return `fsmtx step move DIR --because "..." ` + list }

// Move records where the directory of the list's workflows is, after it was moved. It returns where they were.
//
// Errors: errNoDir, errNotMoved, errNoStep, those of Load and of tasks.List.Open.
func (f *Frame) Move(ctx context.Context, dir, because string, by state.By) (from []string, err error) {
	inode := state.Inode(dir)
	if !filepath.IsAbs(dir) || inode == 0 {
		return nil, fmt.Errorf("%s: %w", dir, state.ErrNoDir)
	}
	r, err := f.OnRecord()
	if err != nil {
		return nil, err
	}
	if len(r.Steps) == 0 {
		return nil, errNoStep
	}
	err = f.changing(ctx, "", func(change *call, d *txn.Dir, s *state.State) error {
		if len(s.Steps) == 0 {
			return errNoStep
		}
		var lines []state.Evidence
		by.Session = cmp.Or(by.Session, f.Session)
		for _, c := range s.Steps {
			was := c.Workflow.Dir
			if was == "" || state.AwayText(c.Workflow) == "" || slices.Contains(from, was) {
				continue
			}
			if state.IsOther(c.Workflow, dir) {
				return &state.OtherProjectError{Workflow: s.Root(c.Workflow), Dir: dir}
			}
			lines = append(lines, state.Evidence{Time: s.Time, Step: c.ID, From: c.Status, To: c.Status, Verdict: state.WasMoved,
				Why: because, By: by, Moved: &state.Moved{From: was, To: dir, Inode: inode, Repo: state.RepositoryOf(dir)}})
			from = append(from, was)
		}
		if len(from) == 0 {
			return fmt.Errorf("%s: %w", s.Steps[0].Workflow.Dir, state.ErrNotMoved)
		}
		return change.Record(d, s, lines)
	})
	return from, err
}
