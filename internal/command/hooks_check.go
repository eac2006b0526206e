package command

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/lint"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newHooksCheck(s terminal.Streams) *cobra.Command {
	var flags hookFlags
	var strict bool
	c := &cobra.Command{
		Use:   "check FILE…",
		Short: "Look for mistakes in a hooks file that the agent would swallow",
		Long: "Reports, as file:line:col, hooks that would never run (unknown events, wrong types, commands that\n" +
			"do not exist) as errors, and what will probably not work as meant (timeouts in the wrong unit,\n" +
			"matchers that match no tool, duplicates, unquoted variables) as warnings. A file called hooks.json\n" +
			"is a plugin's or an extension's; any other is a settings file.\n\n" +
			"Exits with 1 if there are errors, or with --strict if there is anything.",
		Example: example("fsmtx hooks check --dialect claude hooks/hooks.json", "fsmtx hooks check .llxprt/settings.json"),
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, paths []string) error {
			findings, err := flags.check(s, paths)
			if err != nil {
				return err
			}
			if flags.json {
				if err := printJSON(s.Out, findings); err != nil {
					return err
				}
			} else {
				printFindings(s, findings)
			}
			if len(findings) > 0 && (strict || hasErrors(findings)) {
				return &exit{code: exitNo}
			}
			return nil
		},
	}
	flags.addDialect(c)
	c.Flags().BoolVar(&flags.json, "json", false, "print the findings as JSON")
	c.Flags().BoolVar(&strict, "strict", false, "exit with 1 for warnings too")
	return c
}

func (f *hookFlags) check(s terminal.Streams, paths []string) ([]lint.Finding, error) {
	d, err := hooks.Named(f.dialect)
	if err != nil {
		return nil, err
	}
	cwd, err := cwdOr("")
	if err != nil {
		return nil, err
	}
	all := []lint.Finding{}
	for _, path := range paths {
		checker := lint.Checker{
			Dialect: d,
			Project: projectOf(path, cwd),
			Getenv:  s.Env,
			Source:  hookFinder(s, d, cwd).Source,
		}
		findings, err := checker.File(path)
		if err != nil {
			return nil, err
		}
		all = append(all, findings...)
	}
	return all, nil
}

// projectOf is the project that a settings file is in: the directory above
// .claude, .gemini or .llxprt. Of any other file it is the working directory.
func projectOf(path, cwd string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return cwd
	}
	switch dir := filepath.Dir(abs); filepath.Base(dir) {
	case ".claude", ".gemini", ".llxprt":
		return filepath.Dir(dir)
	}
	return cwd
}

func printFindings(s terminal.Streams, findings []lint.Finding) {
	for _, f := range findings {
		fmt.Fprintln(s.Out, f)
	}
}

func hasErrors(findings []lint.Finding) bool {
	for _, f := range findings {
		if f.Severity == lint.Error {
			return true
		}
	}
	return false
}
