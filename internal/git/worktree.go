package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// Content is on what a decision stood.
type Content struct {
	Head  string   `json:"head,omitzero"`   // the commit of the work tree; empty if it had none
	Trees []string `json:"trees,omitempty"` // ids of the trees of the files as they were, those that differ, oldest first

	Unknown string `json:"unknown,omitzero"` // why all this is not known
}

// Then returns on what something stood that took from one moment to another.
func (c Content) Then(later Content) Content {
	switch {
	case c.Unknown != "":
		return c
	case later.Unknown != "":
		return later
	}
	for _, id := range later.Trees {
		if !slices.Contains(c.Trees, id) {
			c.Trees = append(c.Trees[:len(c.Trees):len(c.Trees)], id)
		}
	}
	c.Head = later.Head
	return c
}

// PolicyFile is where a repository has its policy, from its top.
const PolicyFile = ".fsmtx/policy.json"

// maxLook limits how long Now may take.
const maxLook = 20 * time.Second

// Now returns on what stands what is found out now about the files in the repository that a directory is in. New objects are written
// into the directory store, or nowhere if it is empty.
func Now(ctx context.Context, dir, store string) Content {
	limited, cancel := context.WithTimeout(ctx, maxLook)
	defer cancel()
	c, err := now(limited, dir, store)
	if limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("git took more than %v", maxLook)
	}
	if other, ok := errors.AsType[*OfOtherError](err); ok { // only a later proof shows the error, without its hint
		err = fmt.Errorf("%w; %s; then let the check run again", err, other.Hint())
	}
	if err != nil {
		return Content{Unknown: message.Line(err.Error())}
	}
	return c
}

func now(ctx context.Context, dir, store string) (c Content, err error) {
	r, err := Open(ctx, dir)
	if err != nil {
		return c, err
	}
	hidden, err := r.Hidden(ctx)
	if err != nil {
		return c, err
	}
	if len(hidden) > 0 {
		return c, fmt.Errorf("git was told not to look at %s", message.Sentence(hidden[:min(len(hidden), 5)]))
	}
	if c.Head, err = r.Head(ctx); err != nil {
		return c, err
	}
	tree, err := r.Tree(ctx, store)
	c.Trees = []string{tree}
	return c, err
}

// Hidden returns the paths of files to which changes do not show: those that git was told to assume unchanged, or to leave out of the
// work tree, in submodules too, and submodules with changes, which no tree has.
func (r Repository) Hidden(ctx context.Context) (all []string, err error) {
	lines, err := r.Names(ctx, "ls-files", "-v", "-s", "-z")
	for _, line := range lines {
		stat, name, _ := strings.Cut(line, "\t")
		tag, mode, _ := strings.Cut(stat, " ")
		switch {
		case tag == "S" || tag == "s":
			all = append(all, name+" (skip-worktree)")
		case tag != strings.ToUpper(tag):
			all = append(all, name+" (assume-unchanged)")
		case strings.HasPrefix(mode, submodule):
			inside, err := r.inSubmodule(ctx, name)
			if err != nil {
				return nil, err
			}
			all = append(all, inside...)
		}
	}
	return all, err
}

// submodule is the mode of a submodule.
const submodule = "160000"

// inSubmodule returns what is hidden in a submodule, which may not be there.
func (r Repository) inSubmodule(ctx context.Context, name string) (all []string, err error) {
	sub := Repository{Dir: filepath.Join(r.Dir, name), Sub: "."}
	if _, err := os.Lstat(filepath.Join(sub.Dir, ".git")); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	hidden, err := sub.Hidden(ctx)
	if err != nil {
		return nil, err
	}
	changed, err := sub.Dirty(ctx)
	for _, inside := range hidden {
		all = append(all, name+"/"+inside)
	}
	for _, inside := range changed {
		all = append(all, name+"/"+inside+" (changed in a submodule)")
	}
	return all, err
}

// Dirty returns the paths in which the work tree differs from its commit: those that git does not ignore. Of a submodule it compares
// the commit; see Hidden.
func (r Repository) Dirty(ctx context.Context) ([]string, error) {
	lines, err := r.Names(ctx, "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
	for i, line := range lines {
		lines[i] = line[min(len(line), len("?? ")):]
	}
	return lines, err
}

// Tree returns the id of the tree that a commit of everything in the work tree would have. New objects are written into the directory
// store, or nowhere if it is empty.
func (r Repository) Tree(ctx context.Context, store string) (string, error) {
	dir, err := os.MkdirTemp("", "fsmtx-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if store == "" {
		store = dir
	} else if err := os.MkdirAll(store, 0o700); err != nil {
		return "", err
	}
	paths, err := r.Line(ctx, "rev-parse", "--path-format=absolute", "--git-path", "objects", "--git-path", "index")
	if err != nil {
		return "", err
	}
	objects, index, _ := strings.Cut(paths, "\n")
	if err := copyFile(filepath.Join(dir, "index"), index); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	run := func(args ...string) (string, error) {
		c := r.Command(ctx, args...)
		c.Env = append(c.Env, "GIT_INDEX_FILE="+filepath.Join(dir, "index"), "GIT_OBJECT_DIRECTORY="+store, alternates+objects)
		out, err := output(c)
		return strings.TrimSpace(string(out)), err
	}
	if _, err := run("add", "--all", "--", ":/"); err != nil {
		return "", fmt.Errorf("git add into an index of its own: %w", err)
	}
	return run("write-tree")
}

// alternates begins the variable that names one more directory with objects.
const alternates = "GIT_ALTERNATE_OBJECT_DIRECTORIES="

// copyFile copies a file with its time: git looks into the files that were changed after the index was written.
func copyFile(to, from string) error {
	in, err := safefile.Open(from, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return cmp.Or(err, out.Close(), os.Chtimes(to, info.ModTime(), info.ModTime()))
}
