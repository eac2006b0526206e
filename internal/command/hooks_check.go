package command

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/hooks/check"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/visible"
)

func newHooksCheck(s terminal.Streams) *cobra.Command {
	var flags hookFlags
	var strict bool
	c := &cobra.Command{
		Use:   "check FILE…",
		Short: "Look for mistakes in a hooks file that the agent would not report",
		Long: "Reports, as file:line:column, hooks that would never run (unknown events, wrong types, commands that\n" +
			"do not exist) as errors, and what will probably not work as intended (timeouts in the wrong unit,\n" +
			"matchers that match no tool, duplicates, unquoted variables) as warnings. A file named hooks.json\n" +
			"belongs to a plugin or an extension; any other is a settings file.\n\n" +
			"Exits with 1 if there are errors, or with --strict if there are errors or warnings.",
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

func (f *hookFlags) check(s terminal.Streams, paths []string) ([]check.Finding, error) {
	d, err := dialect.Named(f.dialect)
	if err != nil {
		return nil, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	all := []check.Finding{}
	for _, path := range paths {
		checker := check.Checker{
			Dialect: d,
			Project: projectOf(path, cwd),
			Getenv:  s.Env,
		}
		findings, err := checker.File(path)
		if err != nil {
			return nil, err
		}
		all = append(all, findings...)
	}
	return all, nil
}

// projectOf returns the project of a settings file: the directory above .claude,
// .gemini or .llxprt. For any other file it returns the working directory.
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

func printFindings(s terminal.Streams, findings []check.Finding) {
	for _, f := range findings {
		visible.Fprintf(s.Out, "%s\n", f)
	}
}

func hasErrors(findings []check.Finding) bool {
	return slices.ContainsFunc(findings, func(f check.Finding) bool { return f.Severity == check.Error })
}
