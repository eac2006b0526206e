package state

import (
	"context"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/git"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/txn"
)

// storeName is the directory of S with those objects of git that a repository does not have: files as they were when it was decided.
const storeName = "objects"

// ObjectsOf returns the directory with objects of git that belongs to the list in dir; empty if it can have none.
func ObjectsOf(dir string) string {
	s, err := txn.StateDir(dir)
	if err != nil {
		return ""
	}
	return filepath.Join(s, storeName)
}

// ContentNow returns on what a decision stands that is made now about files in a directory. store is as for git.Now. It is nil if the
// repository has no policy: then nobody asks for it.
func ContentNow(ctx context.Context, dir, store string) *git.Content {
	if !HasPolicy(dir) {
		return nil
	}
	c := git.Now(ctx, dir, store)
	return &c
}

// HasPolicy reports whether the repository that a directory is in has a policy, so that somebody asks on what decisions stood.
func HasPolicy(dir string) bool {
	root, _, _ := WorkTreeOf(dir)
	return root != "" && safefile.IsFile(filepath.Join(root, git.PolicyFile))
}
