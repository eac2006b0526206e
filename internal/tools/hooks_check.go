package tools

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newHooksCheck(s terminal.Streams) *cobra.Command {
	var flags hookFlags
	var strict bool
	c := &cobra.Command{
		Use:   "check FILE…",
		Short: "Look for mistakes in a hooks file that the agent would not report",
		Long: "Reports, as file:line:column, hooks that would never run (unknown events, wrong types, commands that\n" +
			"do not exist) as errors, and what will probably not work as intended (timeouts in the wrong unit,\n" +
			"matchers that match no tool, relative paths, variables that are not set) as warnings. The files\n" +
			"hooks.json and plugin.json, and those in the directory hooks of a plugin, belong to a plugin or an\n" +
			"extension; any other is a settings file.\n\n" +
			"Without --dialect the agent is that of the directory (.claude, .codex, .gemini, .llxprt), or of the\n" +
			"plugin's manifest. A file elsewhere needs --dialect.\n\n" +
			"Exits with 1 if there are errors, or with --strict if there are errors or warnings.",
		Example: command.Example("fsmtx hooks check .claude/settings.json", "fsmtx hooks check --dialect claude hooks/hooks.json"),
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, paths []string) error {
			findings, err := flags.check(s, paths)
			if err != nil {
				return err
			}
			if flags.json {
				if err := command.PrintJSON(s.Out, findings); err != nil {
					return err
				}
			} else {
				for _, f := range findings {
					message.Fprintf(s.Out, "%s\n", f)
				}
			}
			if slices.ContainsFunc(findings, func(f hooks.Finding) bool { return strict || f.Severity == hooks.Error }) {
				return &command.Exit{Code: command.ExitNo}
			}
			return nil
		},
	}
	flags.addDialect(c, "")
	c.Flags().BoolVar(&flags.json, "json", false, "print the findings as JSON")
	c.Flags().BoolVar(&strict, "strict", false, "exit with 1 for warnings too")
	return c
}

func (f *hookFlags) check(s terminal.Streams, paths []string) ([]hooks.Finding, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	all := []hooks.Finding{}
	for _, path := range paths {
		d, err := hooks.AgentOf(path)
		if f.dialect != "" {
			if d, err = dialect.Named(f.dialect); err != nil {
				return nil, command.AsUsage(err)
			}
		}
		var findings []hooks.Finding
		if err == nil {
			findings, err = hooks.Checker{Dialect: d, Project: projectOf(path, cwd), Getenv: s.Env}.File(path)
		}
		switch {
		case errors.Is(err, hooks.ErrAgent):
			return nil, command.Fail(command.ExitNo, fmt.Errorf("%s: %w", path, err), "--dialect names the agent: llxprt, gemini, claude or codex")
		case errors.Is(err, safefile.ErrNotRegular):
			return nil, command.Fail(command.ExitNo, command.Unusable(path, err), "name the file with the hooks, such as "+filepath.Join(".claude",
				"settings.json"))
		case err != nil:
			return nil, command.Unusable(path, err)
		}
		if len(findings) > 0 && f.dialect == "" {
			s.Hintf("%s is checked as a file of %s; --dialect names another agent", path, d.Title)
		}
		all = append(all, findings...)
	}
	return all, nil
}

// projectOf returns the project of a settings file: the directory above .claude, .codex,
// .gemini or .llxprt. For any other file it returns the working directory.
func projectOf(path, cwd string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return cwd
	}
	switch dir := filepath.Dir(abs); filepath.Base(dir) {
	case ".claude", ".codex", ".gemini", ".llxprt":
		return filepath.Dir(dir)
	}
	return cwd
}
