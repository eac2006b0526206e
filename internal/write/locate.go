package write

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

const locateLong = `Locate prints the fsm.json that a call of a skill by this name would put into the task
list, and then every step of the search with its outcome:

  used     this is the fsm.json
  found    exists; the search continued from it
  absent   does not exist
  skipped  not searched, with the reason
  failed   exists but cannot be used, with the reason

The search predicts which folder the client runs. It looks in the user's skills, then in
those of the directory in which the client was started and of its parents, then in
plugins. A folder with an fsm.json but no SKILL.md is used only if no folder of that name
has a SKILL.md.

When another agent runs the command, the search is that agent's: its own places and plugins,
then those of Claude Code. In a terminal it goes on, if Claude Code has no fsm.json of that
name, in the places of the other agents whose directory is in your home (such as
~/.codex), or of which the project has a directory of skills.

The exit code is 1 if there is no fsm.json, if the settings switch the skill off
(skillOverrides), or if agents find files of that name that differ.

Without a name it lists every workflow that is visible from here: the name to type (and
in brackets other names that lead to it), the number of steps or the first error, the
path of the file, and, if no name leads to the file, what the client runs instead. It
searches at most 250 directories below the current one for nested skills, and says so if
there are more.

The frontmatter of a SKILL.md may say that only a person calls the skill
(disable-model-invocation), or only the agent (user-invocable: false). Locate and its list
say so.

--json prints an object with command, path (empty if there is none), plugin
(plugin@marketplace, or empty), only (who alone can call the skill: "person", "agent",
"nobody", or empty) and steps: an array of objects with rule, path (may
be empty), outcome (one of the above) and detail (for people; may be empty). A rule
is one of: managed skill, user skill, project skill, parent skill, main work tree, added
directory, command, frontmatter, alias, nested skill, plugin registry, settings,
marketplace, plugin skill, plugin command, nested command, plugin directory, plugin
manifest, project directory. Without a name it prints an object with complete (false if
there are too many directories to search) and workflows: an array of objects with command, others (an array of names),
path, rule, plugin, only, agents (those that find it if Claude Code does not, else empty),
steps (a number), valid, problem (the first one; may be empty),
unused (no name leads to it), shadowedBy (what the client runs; may be empty) and off (the
setting that switches the skill off; may be empty).`

type locateFlags struct {
	json       bool
	pluginDirs []string
	addDirs    []string
}

func NewLocate(s terminal.Streams) *cobra.Command {
	var f locateFlags
	c := &cobra.Command{
		Use:               "locate [COMMAND_NAME]",
		ValidArgsFunction: command.CompleteSkills(s),
		Short:             "Show which fsm.json belongs to a skill, and why; or list all workflows",
		Long:              locateLong,
		Example: command.Example(
			"fsmtx locate                         # every workflow that is visible from here",
			"fsmtx locate my-skill",
			"fsmtx locate my-plugin:my-skill --json"),
		Args: command.Takes(0, "the name of one skill", "for example: fsmtx locate my-plugin:my-skill"),
		RunE: func(_ *cobra.Command, args []string) error {
			l, cwd, err := f.finder(s)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return listWorkflows(s, l, cwd, f.json)
			}
			return runLocate(s, l, cwd, f.json, args[0])
		},
	}
	c.Flags().BoolVar(&f.json, "json", false, "print the result as JSON")
	c.Flags().StringArrayVar(&f.pluginDirs, "plugin-dir", nil, "the `directory` of a plugin that is not installed (repeatable)")
	c.Flags().StringArrayVar(&f.addDirs, "add-dir", nil, "a `directory` with skills that the client is given with --add-dir (repeatable)")
	return c
}

// finder returns what searches like a hook that the agent starts here.
func (f locateFlags) finder(s terminal.Streams) (l hydrate.Finder, cwd string, err error) {
	if cwd, err = os.Getwd(); err != nil {
		return nil, "", err
	}
	if l, err = command.Finder(s); err != nil {
		return nil, "", err
	}
	if client := hydrate.ClaudeOf(l); client != nil {
		client.PluginDirs, client.AddDirs = hydrate.Absolute(f.pluginDirs), hydrate.Absolute(f.addDirs)
	}
	return l, cwd, nil
}

func runLocate(s terminal.Streams, l hydrate.Finder, cwd string, asJSON bool, name string) error {
	result, lookupErr := l.Locate(name, cwd)
	if err := printLocated(s, asJSON, result); err != nil {
		return err
	}
	if !result.Found() {
		if err := notInstalled(s, cwd, "locate", name, lookupErr); err != nil {
			return err
		}
	}
	if _, isName := errors.AsType[*locator.NameError](lookupErr); isName {
		return command.Fail(command.ExitNo, lookupErr, "locate takes the name by which a skill is called, such as my-skill or my-plugin:my-skill")
	}
	if lookupErr != nil {
		return lookupErr
	}
	if result.Off() != "" {
		return command.Fail(command.ExitNo, fmt.Errorf("the client does not run this skill: it is %s", result.Off()),
			"remove that entry to use the skill")
	}
	if result.Found() {
		return nil
	}
	for _, d := range install.DeepBelow(cwd) {
		if filepath.Base(filepath.Dir(d.Path)) == name && !result.Known() {
			return command.Fail(command.ExitNo, fmt.Errorf("%s: %s", d.Path, d.Why), d.Remedy)
		}
	}
	if near := l.Near(name, cwd); !result.Known() && len(near) > 0 {
		return command.Fail(command.ExitNo, fmt.Errorf("no skill is called %q", name), didYouMean(near))
	}
	if runs := result.Runs(); runs != "" && !asJSON {
		for _, m := range hydrate.MisnamedIn(filepath.Dir(runs)) {
			message.Fprintf(s.Out, "%s %s\n", m.Path, m.Why())
		}
	}
	return &command.Exit{Code: command.ExitNo}
}

// notInstalled returns the error about a skill that was not found, and that the plugin in the current directory has; nil
// if it has none of that name. A command with the flag --plugin-dir searches it too. why is the error of the search,
// which may be nil.
func notInstalled(s terminal.Streams, cwd, sub, name string, why error) error {
	if command.InPluginHere(s, cwd, name) == "" {
		return nil
	}
	return command.Fail(command.ExitNo, cmp.Or(why, fmt.Errorf("%q is a skill of the plugin in this directory, which is not installed", name)),
		"fsmtx "+sub+" "+shell.Join(name)+" --plugin-dir . searches it too, as claude --plugin-dir . does")
}

// didYouMean returns a hint with the first of several similar names.
func didYouMean(names []string) string {
	return "did you mean " + strings.Join(names[:min(len(names), 5)], ", ") + "?"
}

func printLocated(s terminal.Streams, asJSON bool, r locator.Result) error {
	only := install.CallableByOf(locator.OS{}, r.Runs())
	if asJSON {
		if r.Steps == nil {
			r.Steps = []locator.Step{}
		}
		return command.PrintJSON(s.Out, struct {
			locator.Result
			Only install.CallableBy `json:"only"`
		}{r, only})
	}
	if r.Found() {
		message.Fprintf(s.Out, "%s\n", r.Path)
	} else {
		message.Fprintf(s.Out, "no fsm.json for %q\n", r.Command)
	}
	if err := printSteps(s.Out, r.Steps); err != nil || only == "" {
		return err
	}
	_, err := message.Fprintf(s.Out, "  %s in %s\n", only.Note(), r.Runs())
	return err
}

func printSteps(w io.Writer, steps []locator.Step) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, step := range steps {
		message.Fprintf(table, "  %s\t%s\t%s", step.Outcome, step.Rule, step.Path)
		if step.Detail != "" {
			message.Fprintf(table, "  (%s)", step.Detail)
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}
