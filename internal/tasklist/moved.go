package tasklist

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// MoveLine returns the command with which a person says where the project of the workflows of a list is now.
func MoveLine(dir, name string) string {
	return shell.Join("fsmtx", "step", "move", dir) + ` --because "..." --list ` + shell.Join(name)
}

// AwayText says that the directory of a workflow in the list with the name is elsewhere, and how a person says where.
func AwayText(w *workflow.Workflow, away, name string) string {
	return message.Sprintf("%s: its directory %s %s; if it was moved: %s", w.Command, w.Dir, away, MoveLine("DIR", name))
}

// maxMoved limits what OrMoved says.
const maxMoved = 4

// mayBe reports whether something speaks for it that the directory of a workflow, which is gone, is here now: it has the same name, or
// has the fsm.json where that one had it.
func mayBe(w *workflow.Workflow, here string) bool {
	if state.IsOther(w, here) {
		return false
	}
	rel, err := filepath.Rel(w.Dir, w.Spec)
	if err != nil || !filepath.IsLocal(rel) {
		rel = ""
	}
	_, err = os.Lstat(filepath.Join(here, rel))
	return filepath.Base(w.Dir) == filepath.Base(here) || rel != "" && err == nil
}

// OrMoved returns the hint for a project without workflows, with the open workflows of which the directory is gone, and may be the
// directory here, and the command by which each goes on there.
func OrMoved(ctx context.Context, lookup func(string) (string, bool), here, hint string) string {
	dirs, _ := WithHistory(lookup)
	all := []string{hint}
	isRemoved := func(w *workflow.Workflow) bool { return state.IsRemoved(w.Dir) }
	for _, dir := range Recent(dirs) {
		st := &state.Store{List: tasks.List{Dir: dir}, Known: new(state.Known)}
		_, now := workflowHere(ctx, st, isRemoved, false) // of most lists it reads the directories and nothing else
		if now == nil {
			continue
		}
		for _, w := range now.Workflows() {
			if now.Parent(w) != nil || len(now.OpenIn(w)) == 0 || !state.IsRemoved(w.Dir) || !mayBe(w, here) {
				continue
			}
			all = append(all, message.Sprintf("the directory of %s, %s, is gone; if it is this one now: %s", w.Command, w.Dir,
				MoveLine(".", ShortName(lookup, dir))))
		}
	}
	return strings.Join(all[:min(len(all), maxMoved)], "; ")
}
