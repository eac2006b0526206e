package proof

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/statefile"
)

// repository is a git repository. It may be hostile: no program that its configuration, its attributes or its hooks name is run,
// and nothing is fetched.
type repository struct {
	dir string // of the work tree; of the repository if it has none
	sub string // where it was opened, relative to dir
}

// noteRef has the notes with statements.
const noteRef = "refs/notes/fsmtx"

// openRepository returns the repository that a directory is in.
func openRepository(ctx context.Context, dir string) (repository, error) {
	r := repository{dir, "."}
	if out, err := r.line(ctx, "rev-parse", "--show-toplevel", "--show-prefix"); err == nil {
		top, prefix, _ := strings.Cut(out, "\n")
		if sub := strings.TrimSuffix(prefix, "/"); sub != "" {
			return repository{top, sub}, nil
		}
		return repository{top, "."}, nil
	}
	out, err := r.line(ctx, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return r, message.WithHint(fmt.Errorf("%s is not in a git repository: %w", dir, err), "run it in the repository, or with -C DIR")
	}
	return repository{out, "."}, nil
}

// command returns git with arguments. It runs without the variables by which git is led elsewhere.
func (r repository) command(ctx context.Context, args ...string) *exec.Cmd {
	own := []string{"-C", r.dir, "--no-pager", "--no-replace-objects", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false",
		"-c", "core.commitGraph=false", "-c", "protocol.allow=never", "-c", "core.quotePath=false"}
	c := exec.CommandContext(ctx, "git", append(own, args...)...)
	harmless := []string{"GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_CONFIG_GLOBAL=", "GIT_CONFIG_NOSYSTEM="}
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GIT_") && !slices.ContainsFunc(harmless, func(name string) bool { return strings.HasPrefix(v, name) })
	})
	c.Env = append(c.Env, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C")
	return c
}

// run returns what git prints.
func (r repository) run(ctx context.Context, args ...string) ([]byte, error) {
	out, err := r.command(ctx, args...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && len(exit.Stderr) > 0 {
		err = fmt.Errorf("git: %s (%w)", message.FirstLine(string(exit.Stderr), 300), err)
	}
	return out, err
}

func (r repository) line(ctx context.Context, args ...string) (string, error) {
	out, err := r.run(ctx, args...)
	return strings.TrimRight(string(out), "\n"), err
}

// names returns the names that git prints with -z.
func (r repository) names(ctx context.Context, args ...string) ([]string, error) {
	out, err := r.run(ctx, args...)
	return slices.DeleteFunc(strings.Split(string(out), "\x00"), func(s string) bool { return s == "" }), err
}

// config returns a value of git's configuration; empty if it has none. A path that begins with ~ is expanded.
func (r repository) config(ctx context.Context, name string) (string, error) {
	return r.optional(ctx, "config", "--type=path", "--get", name)
}

// optional returns what git prints; empty if it says with exit code 1 that there is none.
func (r repository) optional(ctx context.Context, args ...string) (string, error) {
	value, err := r.line(ctx, args...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return "", nil
	}
	return value, err
}

// commit returns the id of the commit that a name stands for.
func (r repository) commit(ctx context.Context, name string) (string, error) {
	id, err := r.line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return "", message.WithHint(fmt.Errorf("%q is not a commit of this repository", name), "fetch it, or name another one")
	}
	return id, nil
}

// has reports whether the repository has an object.
func (r repository) has(ctx context.Context, id string) bool {
	return r.command(ctx, "cat-file", "-e", id).Run() == nil
}

func (r repository) treeOf(ctx context.Context, commit string) (string, error) {
	return r.line(ctx, "rev-parse", "--verify", "--quiet", commit+"^{tree}")
}

// isAncestor reports whether a commit is another one, or came before it.
func (r repository) isAncestor(ctx context.Context, before, commit string) bool {
	return r.command(ctx, "merge-base", "--is-ancestor", before, commit).Run() == nil
}

// changed returns the paths that differ between two commits or trees.
func (r repository) changed(ctx context.Context, from, to string) ([]string, error) {
	return r.names(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", from, to)
}

// changedSince returns the paths that a commit has changed since it left a branch; those of all its files if there is no branch.
func (r repository) changedSince(ctx context.Context, base, commit string) ([]string, error) {
	if base == "" {
		return r.names(ctx, "ls-tree", "-r", "-z", "--name-only", commit)
	}
	fork, err := r.line(ctx, "merge-base", base, commit)
	if err != nil {
		return nil, message.WithHint(fmt.Errorf("no common ancestor of %s and %s is in this clone", short(base), short(commit)),
			"fetch the whole history (fetch-depth: 0)")
	}
	return r.changed(ctx, fork, commit)
}

// workflowsNamed returns the paths of the workflows of a commit that have the name of a skill: that of their folder.
func (r repository) workflowsNamed(ctx context.Context, commit, skill string) ([]string, error) {
	all, err := r.names(ctx, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
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
	sum, git := sha256.New(), r.command(ctx, "cat-file", "blob", id)
	git.Stdout = sum
	err = git.Run()
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
	size, err := r.line(ctx, "cat-file", "-s", id)
	if n, _ := strconv.Atoi(size); err != nil || n > 4*MaxBytes {
		return nil, fmt.Errorf("%s is too large: %s bytes", short(id), size)
	}
	return r.run(ctx, "cat-file", "blob", id)
}

// blob returns the id of a file in a commit; empty if it does not have it.
func (r repository) blob(ctx context.Context, commit, name string) (string, error) {
	out, err := r.line(ctx, "--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", name)
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

// dirty returns the paths in which the work tree differs from its commit: those that git does not ignore.
func (r repository) dirty(ctx context.Context) ([]string, error) {
	lines, err := r.names(ctx, "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames")
	for i, line := range lines {
		lines[i] = line[min(len(line), len("?? ")):]
	}
	return lines, err
}

// currentTree returns the id of the tree that a commit of everything in the work tree would have.
func (r repository) currentTree(ctx context.Context) (string, error) {
	dir, err := os.MkdirTemp("", "fsmtx-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	own, err := r.line(ctx, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return "", err
	}
	run := func(args ...string) (string, error) {
		c := r.command(ctx, args...)
		c.Env = append(c.Env, "GIT_INDEX_FILE="+dir+"/index", "GIT_OBJECT_DIRECTORY="+dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+own)
		out, err := c.Output()
		return strings.TrimSpace(string(out)), err
	}
	if _, err := run("add", "--all"); err != nil {
		return "", fmt.Errorf("git add into an index of its own: %w", err)
	}
	return run("write-tree")
}

// notes returns the envelopes that the note of a commit has, each with its line feed.
func (r repository) notes(ctx context.Context, commit string) (all [][]byte, err error) {
	id, err := r.optional(ctx, "notes", "--ref", noteRef, "list", commit)
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
	folder, err := r.line(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
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
	c := r.command(ctx, "notes", "--ref", noteRef, "add", "--force", "--file", "-", commit)
	c.Stdin = bytes.NewReader(append(bytes.Join(others, nil), envelope...))
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("git notes: %s (%w)", message.FirstLine(string(out), 300), err)
	}
	return nil
}

func short(id string) string { return id[:min(len(id), 12)] }
