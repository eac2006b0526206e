package proof

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/git"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/statefile"
)

// repository is the repository that statements are about.
type repository struct{ git.Repository }

// noteRef has the notes with statements.
const noteRef = "refs/notes/fsmtx"

// openRepository returns the repository that a directory is in.
func openRepository(ctx context.Context, dir string) (repository, error) {
	r, err := git.Open(ctx, dir)
	return repository{r}, err
}

// config returns a value of git's configuration; empty if it has none. A path that begins with ~ is expanded.
func (r repository) config(ctx context.Context, name string) (string, error) {
	return r.Optional(ctx, "config", "--type=path", "--get", name)
}

// errNoBase is returned for a base that an event does not have.
var errNoBase = message.NewError("there is no base: the commit that it is to be merged into is empty or zero, as in the event of a new branch",
	"name a commit of that branch, such as origin/main (--from, or base of the action)")

// depth returns how many commits a shallow clone has; 0 if it is not one.
func (r repository) depth(ctx context.Context) int {
	if shallow, err := r.Line(ctx, "rev-parse", "--is-shallow-repository"); err != nil || shallow != "true" {
		return 0
	}
	count, _ := r.Line(ctx, "rev-list", "--count", "--all", "HEAD")
	n, _ := strconv.Atoi(count)
	return max(n, 1)
}

// shallow says that a clone is shallow, in parentheses; empty if it is not.
func (r repository) shallow(ctx context.Context) string {
	n := r.depth(ctx)
	switch n {
	case 0:
		return ""
	case 1:
		return " (a shallow clone with one commit: fetch-depth: 0 fetches all)"
	}
	return fmt.Sprintf(" (a shallow clone with %d commits: fetch-depth: 0 fetches all)", n)
}

// commit returns the id of the commit that a name stands for.
func (r repository) commit(ctx context.Context, name string) (string, error) {
	if strings.Trim(name, "0") == "" {
		return "", errNoBase
	}
	id, err := r.Line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return "", message.WithHint(fmt.Errorf("%q is not a commit of this repository%s", name, r.shallow(ctx)), "fetch it, or name another one")
	}
	return id, nil
}

// has reports whether the repository has an object.
func (r repository) has(ctx context.Context, id string) bool {
	return r.Command(ctx, "cat-file", "-e", id).Run() == nil
}

func (r repository) treeOf(ctx context.Context, commit string) (string, error) {
	return r.Line(ctx, "rev-parse", "--verify", "--quiet", commit+"^{tree}")
}

// isAncestor reports whether a commit is another one, or came before it.
func (r repository) isAncestor(ctx context.Context, before, commit string) bool {
	return r.Command(ctx, "merge-base", "--is-ancestor", before, commit).Run() == nil
}

// changed returns the paths that differ between two commits or trees.
func (r repository) changed(ctx context.Context, from, to string) ([]string, error) {
	return r.Names(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", from, to)
}

// changedSince returns the paths that a commit has changed since it left a branch; those of all its files if there is no branch.
func (r repository) changedSince(ctx context.Context, base, commit string) ([]string, error) {
	if base == "" {
		return r.Names(ctx, "ls-tree", "-r", "-z", "--name-only", commit)
	}
	fork, err := r.Line(ctx, "merge-base", base, commit)
	if err != nil {
		return nil, message.WithHint(fmt.Errorf("no common ancestor of %s and %s is in this clone%s", short(base), short(commit),
			r.shallow(ctx)), "fetch the whole history (git fetch --unshallow)")
	}
	return r.changed(ctx, fork, commit)
}

// workflowsNamed returns the paths of the workflows of a commit that have the name of a skill: that of their folder.
func (r repository) workflowsNamed(ctx context.Context, commit, skill string) ([]string, error) {
	all, err := r.Names(ctx, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
	folder := skill[strings.LastIndex(skill, ":")+1:]
	return slices.DeleteFunc(all, func(name string) bool {
		return path.Base(name) != "fsm.json" || path.Base(path.Dir(name)) != folder
	}), err
}

// errLink is returned for a path that is a link or a submodule in a commit.
var errLink = errors.New("it is a link or a submodule in the commit")

// digest returns the SHA-256 of a file as a commit has it; empty if it does not have it.
func (r repository) digest(ctx context.Context, commit, name string) (string, error) {
	id, err := r.blob(ctx, commit, name)
	if id == "" || err != nil {
		return "", err
	}
	sum, cat := sha256.New(), r.Command(ctx, "cat-file", "blob", id)
	cat.Stdout = sum
	err = cat.Run()
	return hex.EncodeToString(sum.Sum(nil)), err
}

// read returns a file as a commit has it, nil if it does not have it.
func (r repository) read(ctx context.Context, commit, name string) ([]byte, error) {
	id, err := r.blob(ctx, commit, name)
	if id == "" || err != nil {
		return nil, err
	}
	data, err := r.content(ctx, id)
	return append([]byte{}, data...), err
}

// content returns what is in a blob, which has to be small enough for a note or a policy.
func (r repository) content(ctx context.Context, id string) ([]byte, error) {
	size, err := r.Line(ctx, "cat-file", "-s", id)
	if n, _ := strconv.Atoi(size); err != nil || n > 4*MaxBytes {
		return nil, fmt.Errorf("%s is too large: %s bytes", short(id), size)
	}
	return r.Run(ctx, "cat-file", "blob", id)
}

// blob returns the id of a file in a commit; empty if it does not have it.
func (r repository) blob(ctx context.Context, commit, name string) (string, error) {
	out, err := r.Line(ctx, "--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", name)
	if err != nil || out == "" {
		return "", err
	}
	mode, rest, _ := strings.Cut(out, " ")
	kind, rest, _ := strings.Cut(rest, " ")
	id, _, _ := strings.Cut(rest, "\t")
	if kind != "blob" || mode == "120000" {
		return "", errLink
	}
	return id, nil
}

// notes returns the envelopes that the note of a commit has, each with its line feed.
func (r repository) notes(ctx context.Context, commit string) (all [][]byte, err error) {
	id, err := r.Optional(ctx, "notes", "--ref", noteRef, "list", commit)
	if err != nil || id == "" {
		return nil, err
	}
	text, err := r.content(ctx, id)
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) > 0 {
			all = append(all, line)
		}
	}
	return all, err
}

// addNote adds the envelope of a run to the note of a commit, in place of an earlier one of this run. The lock is for others that
// do the same: git has no command that reads a note and changes it.
func (r repository) addNote(ctx context.Context, commit, run string, envelope []byte) error {
	folder, err := r.Line(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return err
	}
	release, err := statefile.Hold(filepath.Join(folder, "fsmtx-notes.lock"), 10*time.Second)
	if err != nil {
		return err
	}
	defer release()
	others, err := r.notes(ctx, commit)
	if err != nil {
		return err
	}
	others = slices.DeleteFunc(others, func(text []byte) bool {
		st, err := Read(text)
		return err == nil && st.Predicate.ID == run
	})
	c := r.Command(ctx, "notes", "--ref", noteRef, "add", "--force", "--file", "-", commit)
	c.Stdin = bytes.NewReader(append(bytes.Join(others, nil), envelope...))
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("git notes: %s (%w)", message.FirstLine(string(out), 300), err)
	}
	return nil
}

func short(id string) string { return id[:min(len(id), 12)] }
