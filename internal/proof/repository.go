package proof

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/checklist"
	"github.com/fsmtx/fsmtx/internal/git"
	"github.com/fsmtx/fsmtx/internal/hydrate"
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
var errNoBase = message.NewError("there is no base: the commit that it is to be merged into is empty or zero, "+
	"as in the event of a new branch",
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

// entries returns the paths in which one commit or tree differs from another, with mode and id of what that has.
func (r repository) entries(ctx context.Context, from, to string) (all []InTree, err error) {
	words, err := r.Names(ctx, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", from, to)
	for i := 0; i+1 < len(words); i += 2 {
		stat := strings.Fields(words[i]) // :100644 100644 old new M
		if len(stat) < 5 {
			return nil, fmt.Errorf("git diff-tree printed %q", words[i])
		}
		all = append(all, InTree{words[i+1], stat[1], stat[3]})
	}
	return all, err
}

// describes reports whether a tree has these contents. Nothing is written into the repository.
func (r repository) describes(ctx context.Context, id string, t *Tree) (bool, error) {
	dir, err := os.MkdirTemp("", "fsmtx-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	objects, err := r.Line(ctx, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return false, err
	}
	lines := ""
	for _, f := range t.Files {
		lines += f.Mode + " " + f.Object + "\t" + f.Path + "\x00"
	}
	made := ""
	for _, args := range [][]string{{"read-tree", t.Base}, {"update-index", "-z", "--index-info"}, {"write-tree", "--missing-ok"}} {
		c := r.With(objects).Command(ctx, args...)
		c.Env = append(c.Env, "GIT_INDEX_FILE="+filepath.Join(dir, "index"), "GIT_OBJECT_DIRECTORY="+dir)
		c.Stdin = strings.NewReader(lines)
		out, err := c.Output()
		if err != nil {
			return false, fmt.Errorf("git %s: %w", args[0], err)
		}
		made = strings.TrimSpace(string(out))
	}
	return made == id, nil
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

// workflowsNamed returns the paths of the workflows of a commit that have the name of a skill: that of their folder. With plans these
// count, too.
func (r repository) workflowsNamed(ctx context.Context, commit, skill string, plans bool) ([]string, error) {
	all, err := r.Names(ctx, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
	folder := skill[strings.LastIndex(skill, ":")+1:]
	return slices.DeleteFunc(all, func(name string) bool {
		isOne := path.Base(name) == "fsm.json" && path.Base(path.Dir(name)) == folder
		isPlan := plans && strings.EqualFold(path.Ext(name), ".md") && hydrate.PlanName(filepath.Join(r.Dir, name)) == skill
		return !isOne && !isPlan
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
	sum := sha256.New()
	err = r.Stream(ctx, sum, "cat-file", "blob", id)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// digestOf returns the digest of the file of a workflow as a commit has it; empty if it does not have it.
func (r repository) digestOf(ctx context.Context, commit string, f File) (string, error) {
	if !f.Plan {
		return r.digest(ctx, commit, f.Path)
	}
	text, err := r.read(ctx, commit, f.Path)
	if text == nil || err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(checklist.Unticked(string(text))))
	return hex.EncodeToString(sum[:]), nil
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
	if err != nil {
		return nil, err
	}
	if n, _ := strconv.Atoi(size); n > 4*maxBytes {
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
