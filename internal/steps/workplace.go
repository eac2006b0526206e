package steps

import (
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/claude"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/locator"
)

// workplace returns the directory to which the paths of a workflow are relative, for an
// agent that is in cwd. That is dir, the one in which it was hydrated, unless cwd is in a
// linked work tree of the same repository: then it is the directory at the same place in
// that tree. An agent is there after EnterWorktree, or if it is a subagent with a work tree
// of its own (fact 65, client 2.1.329).
func workplace(dir, cwd string) string {
	if cwd == "" || dir == "" {
		return dir
	}
	here, ours, linked := claude.Repository(locator.OS{}, safefile.Resolve(cwd))
	if !linked {
		return dir
	}
	resolved := safefile.Resolve(dir)
	there, theirs, _ := claude.Repository(locator.OS{}, resolved)
	if there == "" || ours != theirs {
		return dir
	}
	rel, err := filepath.Rel(there, resolved)
	if err != nil {
		return dir
	}
	return filepath.Join(here, rel)
}
