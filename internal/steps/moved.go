package steps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/txn"
)

// The gates of a workflow look in the directory in which its skill was invoked. If that is gone, or another directory has come in
// its place, they look nowhere until a person says where it is now.

// Inode returns the number of a directory in its file system, 0 if that is not known. The number of the file system is left out:
// some have another one after each start of the machine.
func Inode(dir string) uint64 {
	at, _ := placeOf(dir)
	return at.inode
}

// away says what has become of the directory of the workflow, or returns "".
func awayText(w *Workflow) string {
	switch at, err := placeOf(w.Dir); {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return "is gone"
	case err != nil:
		return "cannot be looked at: " + message.Words(err.Error())
	case w.Inode != 0 && at.inode != w.Inode:
		return "is another directory than the one in which its skill was invoked"
	}
	return ""
}

// nowhere denies an update because of a gate that has nowhere to look.
func (c *call) nowhere(b *Current, f fact) Verdict {
	return deny(b, "its directory "+f.away, fmt.Sprintf("%s cannot be started or completed: the directory of its workflow, %s, %s. "+
		"Tell the person, who can say where it is now: %s", b.Name(), message.Words(f.dir), f.away, moveCommand(c.listFlag())))
}

// moveCommand returns the command with which a person says where the directory of a workflow is. It always names the list, in another
// form than listFlag: a command without finds the list by the directory.
func moveCommand(list string) string {
	return `fsmtx step move DIR --because "..." ` + strings.Replace(list, " ", "=", 1)
}

// Moved is a person's word that a directory is at another place.
type Moved struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Inode uint64 `json:"inode"` // of To
}

// move makes the workflows look where a person has said that their directory is.
func (s *State) move() {
	for _, e := range s.Evidence {
		for _, c := range s.Steps {
			if w := c.Workflow; e.Moved != nil && w.Dir == e.Moved.From && !w.began.After(e.Time) {
				w.Dir, w.Inode = e.Moved.To, e.Moved.Inode
			}
		}
	}
}

// Errors of Move.
var (
	errNoDir    = message.NewError("not a directory", "name the directory in which the project is now")
	errNotMoved = errors.New("the directory of the workflow is where it was, so nothing was recorded")
)

// Move records where the directory of the list's workflows is, after it was moved. It returns where they were.
//
// Errors: errNoDir, errNotMoved, errNoStep, those of Load and of tasks.List.Open.
func (f *Frame) Move(ctx context.Context, dir, because string, by By) (from []string, err error) {
	inode := Inode(dir)
	if !filepath.IsAbs(dir) || inode == 0 {
		return nil, fmt.Errorf("%s: %w", dir, errNoDir)
	}
	live, err := liveSteps(f.List.Dir)
	if err != nil {
		return nil, err
	}
	if len(live) == 0 {
		return nil, errNoStep
	}
	err = f.changing(ctx, live, "", func(change *call, d *txn.Dir, s *State) error {
		if len(s.Steps) == 0 {
			return errNoStep
		}
		var lines []Evidence
		by.Session = cmp.Or(by.Session, f.Session)
		for _, c := range s.Steps {
			was := c.Workflow.Dir
			if was == "" || awayText(c.Workflow) == "" || slices.Contains(from, was) {
				continue
			}
			lines = append(lines, Evidence{Time: s.Time, Step: c.ID, From: c.Status, To: c.Status, Verdict: WasMoved, Why: moveWord + because,
				By: by, Moved: &Moved{was, dir, inode}})
			from = append(from, was)
		}
		if len(from) == 0 {
			return fmt.Errorf("%s: %w", s.Steps[0].Workflow.Dir, errNotMoved)
		}
		return change.Record(d, s, lines)
	})
	return from, err
}
