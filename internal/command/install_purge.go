package command

import (
	"context"

	"github.com/fsmtx/fsmtx/internal/claude/tasks"
	"github.com/fsmtx/fsmtx/internal/npm"
	"github.com/fsmtx/fsmtx/internal/recovery"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/visible"
	"github.com/fsmtx/fsmtx/txn"
)

// runPurge removes the hooks from each settings file that install writes, the copy of
// the program that install has made, and the state directories of all task lists.
func (f *installFlags) runPurge(ctx context.Context, s terminal.Streams) error {
	for _, one := range []installFlags{{user: true}, {project: true}, {local: true}} {
		one.remove = true
		if err := one.run(s); err != nil {
			return err
		}
	}
	copied, err := npm.Remove(s.Getenv)
	if err != nil {
		return err
	}
	if copied != "" {
		if err := s.Printf("removed %s\n", copied); err != nil {
			return err
		}
	}
	root, err := tasks.Root(s.Getenv)
	if err != nil {
		return err
	}
	dirs, err := tasks.WithStateDir(root)
	if err != nil {
		return err
	}
	failed := false
	for _, dir := range dirs {
		state, err := txn.StateDir(dir)
		if err == nil {
			err = recovery.Forget(ctx, dir, recoverTimeout)
		}
		if err != nil {
			s.Errorf("%s: %v", dir, err)
			failed = true
			continue
		}
		if _, err := visible.Fprintf(s.Out, "removed %s\n", state); err != nil {
			return err
		}
	}
	if failed {
		return &exit{code: exitNo, hint: "repair that, then run fsmtx install --remove --purge again"}
	}
	return nil
}
