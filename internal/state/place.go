package state

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/facts"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/locator"
)

// The gates of a workflow look in the directory in which its skill was invoked. If that is gone, or another directory has come in
// its place, they look nowhere until a person says where it is now.

// Inode returns the number of a directory in its file system, 0 if that is not known. The number of the file system is left out:
// some have another one after each start of the machine.
func Inode(dir string) uint64 {
	at, _ := facts.PlaceOf(dir)
	return at.Inode
}

// IsRemoved reports whether a directory does not exist any more.
func IsRemoved(dir string) bool {
	_, err := facts.PlaceOf(dir)
	return isAbsent(err)
}

func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// AwayText says what has become of the directory of the workflow, or returns "".
func AwayText(w *workflow.Workflow) string {
	switch at, err := facts.PlaceOf(w.Dir); {
	case w.Dir == "": // its record cannot be read
	case isAbsent(err):
		return "is gone"
	case err != nil:
		return "cannot be looked at: " + message.Words(err.Error())
	case w.Inode != 0 && at.Inode != w.Inode:
		return "is another directory than the one in which its skill was invoked"
	}
	return ""
}

// Moved is a person's word that a directory is at another place.
type Moved struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Inode uint64 `json:"inode"` // of To
	Repo  string `json:"repository,omitzero"`
}

// move makes the workflows look where a person has said that their directory is.
func (s *State) move() {
	for _, e := range s.Evidence {
		for _, c := range s.Steps {
			if w := c.Workflow; e.Moved != nil && w.Dir == e.Moved.From && !w.Began.After(e.Time) {
				w.Dir, w.Inode, w.Repo = e.Moved.To, e.Moved.Inode, e.Moved.Repo
			}
		}
	}
}

// Errors of Move.
var (
	ErrNoDir    = message.NewError("not a directory", "name the directory in which the project is now")
	ErrNotMoved = errors.New("the directory of the workflow is where it was, so nothing was recorded")
)

// OtherProjectError is returned by Move for a directory that is not of the project of a workflow for certain.
type OtherProjectError struct {
	Workflow *workflow.Workflow
	Dir      string
}

func (e *OtherProjectError) Error() string {
	return message.Sprintf("%s is not in the repository of the workflow of %s, which is where it was: %s", e.Dir, e.Workflow.Command,
		e.Workflow.Repo)
}

// WorkTreeOf returns the root of the work tree with the directory cwd, what it shares with the others
// of its repository, and whether it is a linked one.
func WorkTreeOf(cwd string) (root, shared string, linked bool) {
	if cwd == "" {
		return "", "", false
	}
	return client.Repository(locator.OS{}, safefile.Resolve(cwd))
}

// RepositoryOf returns the directory of git that the work trees of a directory's repository share; empty outside a repository.
func RepositoryOf(dir string) string {
	_, shared, _ := WorkTreeOf(dir)
	return shared
}

// RepositoryIn returns the directory of git that the work trees of a workflow's repository share, if it is where it was; else nothing. That
// of the main work tree went with it.
func RepositoryIn(w *workflow.Workflow) string {
	rel, err := filepath.Rel(w.Dir, w.Repo)
	if IsRemoved(w.Repo) || AwayText(w) != "" && err == nil && filepath.IsLocal(rel) {
		return ""
	}
	return w.Repo
}

// IsOther reports whether a directory is not of the project of the workflow for certain: the repository that its directory was in is where
// it was, and the other one is not in that.
func IsOther(w *workflow.Workflow, dir string) bool {
	return w.Repo != "" && !IsRemoved(w.Repo) && w.Repo != RepositoryOf(dir) && (w.Inode == 0 || w.Inode != Inode(dir))
}

// InLinkedTree reports whether a directory is in a linked work tree.
func InLinkedTree(cwd string) bool {
	_, _, linked := WorkTreeOf(cwd)
	return linked
}
