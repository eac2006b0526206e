package tasklist

import (
	"context"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
)

// MoveLine returns the command with which a person says where the project of the workflows of a list is now.
func MoveLine(dir, name string) string {
	return shell.Join("fsmtx", "step", "move", dir) + ` --because "..." --list ` + shell.Join(name)
}

// maxMoved limits what OrMoved says.
const maxMoved = 4

// OrMoved returns the hint for a project without workflows, with the open workflows of which the directory is gone and the command by which
// each goes on in the directory here. If here is the directory of one of them, under another name, it says only that.
func OrMoved(ctx context.Context, lookup func(string) (string, bool), here, hint string) string {
	dirs, _ := WithHistory(lookup)
	all, same := []string{hint}, []string{}
	for _, dir := range Recent(dirs) {
		st := &state.Store{List: tasks.List{Dir: dir}, Known: new(state.Known)}
		_, now := workflowHere(ctx, st, state.IsRemoved, false) // of most lists it reads the directories and nothing else
		if now == nil {
			continue
		}
		for _, w := range now.Workflows() {
			if now.Parent(w) != nil || len(now.OpenIn(w)) == 0 || !state.IsRemoved(w.Dir) {
				continue
			}
			text := message.Sprintf("the directory of %s, %s, is gone; if it is this one now: %s", w.Command, w.Dir,
				MoveLine(".", ShortName(lookup, dir)))
			if all = append(all, text); w.Inode != 0 && w.Inode == state.Inode(here) {
				same = append(same, text)
			}
		}
	}
	if len(same) > 0 {
		all = same
	}
	return strings.Join(all[:min(len(all), maxMoved)], "; ")
}
