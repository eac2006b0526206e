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

// workTreeOf returns the root of the work tree with the directory cwd, what it shares with the others
// of its repository, and whether it is a linked one.
func workTreeOf(cwd string) (root, shared string, linked bool) {
	if cwd == "" {
		return "", "", false
	}
	return claude.Repository(locator.OS{}, safefile.Resolve(cwd))
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
