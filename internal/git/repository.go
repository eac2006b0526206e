package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// Repository is a git repository.
type Repository struct {
	Dir string // of the work tree; of the repository if it has none
	Sub string // where it was opened, relative to Dir

	store string // see With
}

// With returns the repository with the objects of a directory store, too.
func (r Repository) With(store string) Repository {
	r.store = store
	return r
}

// OfOtherError is returned for a repository that git refuses, because it belongs to another user.
type OfOtherError struct {
	Dir     string // for which it was opened
	Command string // makes git take the repository
}

func (e *OfOtherError) Error() string {
	return fmt.Sprintf("git refuses the repository of %s, because it belongs to another user", e.Dir)
}

// Hint returns the command with which a person trusts the repository.
func (e *OfOtherError) Hint() string { return "if you trust it: " + e.Command }

// Open returns the repository that a directory is in.
func Open(ctx context.Context, dir string) (Repository, error) {
	r := Repository{Dir: dir, Sub: "."}
	if out, err := r.Line(ctx, "rev-parse", "--show-toplevel", "--show-prefix"); err == nil {
		top, prefix, _ := strings.Cut(out, "\n")
		r = Repository{Dir: top, Sub: "."}
		if sub := strings.TrimSuffix(prefix, "/"); sub != "" {
			r.Sub = sub
		}
		if here := safefile.Resolve(dir); here != filepath.Join(safefile.Resolve(top), r.Sub) {
			return r, message.WithHint(fmt.Errorf("git looks for the files of %s in %s", dir, top), "git config --unset core.worktree")
		}
		return r, nil
	}
	out, err := r.Line(ctx, "rev-parse", "--absolute-git-dir")
	if err != nil {
		if _, after, ok := strings.Cut(err.Error(), "dubious ownership in repository at '"); ok {
			top := after[:max(strings.LastIndex(after, "'"), 0)] // what follows is ours
			return r, &OfOtherError{dir, "git config --global --add safe.directory " + shell.Join(top)}
		}
		if errors.Is(err, exec.ErrNotFound) {
			return r, message.WithHint(fmt.Errorf("git is needed for this, and is not on PATH: %w", err), "install git")
		}
		return r, message.WithHint(fmt.Errorf("%s is not in a git repository: %w", dir, err), "run it in the repository, or with -C DIR")
	}
	return Repository{Dir: out, Sub: "."}, nil
}

// settings are those that a repository cannot set for us: programs that it would run, what it would hide, and what it would write.
var settings = []string{"core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "core.commitGraph=false", "protocol.allow=never",
	"core.quotePath=false", "core.trustctime=true", "core.checkStat=default", "core.ignoreStat=false", "core.splitIndex=false",
	"core.safecrlf=false", "add.ignoreErrors=false", "advice.addEmbeddedRepo=false"}

// Command returns git with arguments. It runs without the variables by which git is led elsewhere.
func (r Repository) Command(ctx context.Context, args ...string) *exec.Cmd {
	own := []string{"-C", r.Dir, "--no-pager", "--no-replace-objects"}
	for _, s := range settings {
		own = append(own, "-c", s)
	}
	c := exec.CommandContext(ctx, "git", append(own, args...)...)
	harmless := []string{"GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_CONFIG_GLOBAL=", "GIT_CONFIG_NOSYSTEM="}
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GIT_") && !slices.ContainsFunc(harmless, func(name string) bool { return strings.HasPrefix(v, name) })
	})
	if r.store != "" {
		c.Env = append(c.Env, alternates+r.store)
	}
	c.Env = append(c.Env, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C")
	return c
}

// Run returns what git prints.
func (r Repository) Run(ctx context.Context, args ...string) ([]byte, error) {
	return output(r.Command(ctx, args...))
}

func output(c *exec.Cmd) ([]byte, error) {
	out, err := c.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = failed(exit.Stderr, err)
	}
	return out, err
}

// ErrPartial is returned for an object that a partial clone does not have. Nothing is fetched.
var ErrPartial = message.NewError("this clone is partial, and does not have all that is looked at",
	"clone it without --filter; actions/checkout: without filter")

// failed returns the error of a command of git that has printed this.
func failed(stderr []byte, err error) error {
	switch {
	case bytes.Contains(stderr, []byte("lazy fetching disabled")):
		return fmt.Errorf("%w (git: %w)", ErrPartial, err)
	case len(stderr) > 0:
		return fmt.Errorf("git: %s (%w)", message.FirstLine(string(stderr), 300), err)
	}
	return err
}

// Stream writes what git prints.
func (r Repository) Stream(ctx context.Context, to io.Writer, args ...string) error {
	var stderr bytes.Buffer
	c := r.Command(ctx, args...)
	c.Stdout, c.Stderr = to, &stderr
	if err := c.Run(); err != nil {
		return failed(stderr.Bytes(), err)
	}
	return nil
}

// Line is Run for one line.
func (r Repository) Line(ctx context.Context, args ...string) (string, error) {
	out, err := r.Run(ctx, args...)
	return strings.TrimRight(string(out), "\n"), err
}

// Names returns the names that git prints with -z.
func (r Repository) Names(ctx context.Context, args ...string) ([]string, error) {
	out, err := r.Run(ctx, args...)
	return slices.DeleteFunc(strings.Split(string(out), "\x00"), func(s string) bool { return s == "" }), err
}

// Optional returns what git prints; empty if it says with exit code 1 that there is none.
func (r Repository) Optional(ctx context.Context, args ...string) (string, error) {
	value, err := r.Line(ctx, args...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return "", nil
	}
	return value, err
}

// Head returns the id of the commit of the work tree; empty if it has none.
func (r Repository) Head(ctx context.Context) (string, error) {
	return r.Optional(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
}
