package steps

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/locator"
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
	here, ours, linked := workTreeOf(cwd)
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
func (c *call) workplace(w *Workflow) fact {
	f := fact{dir: w.Dir, away: awayText(w)}
	if there := workplace(w.Dir, c.update.Cwd); there != w.Dir && f.away == "" && !c.forged() {
		f.dir = there
	}
	return f
}

// IsIn reports whether a directory is in the project's, or in a linked work tree of its repository.
func IsIn(project, dir string) bool {
	rel, err := filepath.Rel(safefile.Resolve(project), safefile.Resolve(dir))
	return err == nil && filepath.IsLocal(rel) || workplace(project, dir) != project
}

// KeepDirectory records the directory of the session's project, from an event of the client itself.
func (f *Frame) KeepDirectory(ctx context.Context, dir string) error {
	if all, err := recall[reminders](&f.Store, stopFile); err != nil || all[f.directoryKey()] == dir {
		return err
	}
	return f.changeReminders(ctx, f.directoryKey(), dir)
}

// Directory returns the directory of the session's project as the client's own events have told it: the one that was kept, else that
// of a workflow that such an event began. It is empty if there was none.
func (f *Frame) Directory(ctx context.Context) string {
	all, _ := recall[reminders](&f.Store, stopFile)
	if dir := all[f.directoryKey()]; dir != "" {
		return dir
	}
	s, err := LoadNow(ctx, f.List.Dir)
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
func (f *Frame) tellChosen(ctx context.Context, s *State, project string) (text string) {
	for _, w := range s.Workflows() {
		if !w.Chosen || w.Session != f.Session || project == "" || safefile.Resolve(w.Dir) == safefile.Resolve(project) {
			continue
		}
		if !f.toldBefore(ctx, f.Session+"/chosen/"+itoa(w.Steps[0].ID)) {
			text = both(text, message.Sprintf("%s was begun by a command that no hook has seen: its gates look in %s, and not in %s",
				w.Command, w.Dir, project))
		}
	}
	return text
}

// workTreeOf returns the root of the work tree with the directory cwd, what it shares with the others
// of its repository, and whether it is a linked one.
func workTreeOf(cwd string) (root, shared string, linked bool) {
	if cwd == "" {
		return "", "", false
	}
	return client.Repository(locator.OS{}, safefile.Resolve(cwd))
}

// InLinkedTree reports whether a directory is in a linked work tree.
func InLinkedTree(cwd string) bool {
	_, _, linked := workTreeOf(cwd)
	return linked
}

// tree returns the directory in a linked work tree in which gates of the step looked, or a command
// of it ran, and "" if that was the workflow's own.
func (c *call) tree(b *Current) string {
	for key, f := range c.facts {
		if key.step == b.ID && f.dir != b.Workflow.Dir {
			return f.dir
		}
	}
	return ""
}
