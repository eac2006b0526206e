package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/hooks/hooktest"
	"github.com/fsmtx/fsmtx/internal/hooks/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/visible"
)

func newHooksTest(s terminal.Streams) *cobra.Command {
	var t hookTests
	c := &cobra.Command{
		Use:   "test DIR",
		Short: "Run test cases for hooks",
		Long: "Runs every *.txtar file below DIR as a case: an event, files to create, and the expected decision and\n" +
			"changes. Each case runs in an empty project with an empty home. docs/hooks.md describes the format.\n\n" +
			"Exits with 1 if a case fails.",
		Example: example("fsmtx hooks test hooks/tests", "fsmtx hooks test hooks/tests --run rm --update"),
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return t.all(c.Context(), s, args[0]) },
	}
	c.Flags().BoolVar(&t.update, "update", false, "replace the expectations of the cases by the actual results")
	c.Flags().BoolVarP(&t.verbose, "verbose", "v", false, "also print the cases that pass")
	c.Flags().StringVar(&t.pattern, "run", "", "run only cases whose path matches this regular expression")
	return c
}

// hookTests holds the flags of one run of tests.
type hookTests struct {
	update, verbose bool
	pattern         string
}

func (t hookTests) all(ctx context.Context, s terminal.Streams, dir string) error {
	var processes hookProcesses
	ctx = processes.start(ctx)
	only, err := regexp.Compile(t.pattern)
	if err != nil {
		return fmt.Errorf("--run: %w", err)
	}
	paths, err := hooktest.Files(dir)
	if err != nil {
		return unusable(dir, err)
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return !only.MatchString(p) })
	if len(paths) == 0 {
		return &exit{exitNo, fmt.Errorf("no case in %s", dir), "a case is a .txtar file"}
	}
	failed := 0
	for _, path := range paths {
		passed := t.one(ctx, s, path)
		if err := processes.interrupted(); err != nil {
			return err
		}
		if !passed {
			failed++
		}
	}
	if failed > 0 {
		visible.Fprintf(s.Out, "FAIL\t%d of %d\n", failed, len(paths))
		return &exit{code: exitNo}
	}
	visible.Fprintf(s.Out, "ok\t%s\n", terminal.Count(len(paths), "case"))
	return nil
}

// one runs one case and reports whether it passes.
func (t hookTests) one(ctx context.Context, s terminal.Streams, path string) bool {
	start := time.Now()
	differences, err := t.differences(ctx, s, path)
	took := time.Since(start).Seconds()
	if err == nil && len(differences) == 0 {
		if t.verbose {
			visible.Fprintf(s.Out, "--- PASS: %s (%.2fs)\n", path, took)
		}
		return true
	}
	visible.Fprintf(s.Out, "--- FAIL: %s (%.2fs)\n", path, took)
	if err != nil {
		differences = []string{err.Error()}
	}
	for _, d := range differences {
		visible.Fprintf(s.Out, "    %s\n", visible.Lines(strings.ReplaceAll(d, "\n", "\n    ")))
	}
	return false
}

func (t hookTests) differences(ctx context.Context, s terminal.Streams, path string) (found []string, err error) {
	c, err := hooktest.Load(path)
	if err != nil {
		return nil, err
	}
	root, err := os.MkdirTemp("", "hooks-test-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	got, err := c.Run(ctx, root, loadCase(s), testEnvironment())
	if err != nil {
		return nil, err
	}
	if t.update && ctx.Err() == nil {
		return nil, c.Update(got)
	}
	found = c.Differences(got)
	if len(found) > 0 {
		found = append(found, logged(got.Result)...)
	}
	return found, nil
}

func loadCase(s terminal.Streams) hooktest.Loader {
	return func(d dialect.Dialect, paths []string) (settings.Found, error) {
		return hookFinder(s, d, "").Given(paths)
	}
}

// testEnvironment returns this process's environment with this program first on PATH,
// so that hooks that call it are tested with the program under test.
func testEnvironment() []string {
	env := os.Environ()
	self, err := os.Executable()
	if err != nil {
		return env
	}
	return append(env, "PATH="+filepath.Dir(self)+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func logged(r *hooks.Result) []string {
	var found []string
	for _, warning := range r.Warnings() {
		found = append(found, "log: "+warning)
	}
	return found
}
