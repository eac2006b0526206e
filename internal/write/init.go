package write

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/outline"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

const initLong = `Init sets up a first skill, so that the agent is held to its steps. It lists the skills of
this project and of the user, and in the directory of a plugin those of the plugin. It shows
which of them describe steps, and writes the fsm.json of one, as "fsmtx new" does. It shows
which parts of the text it left out, asks about each gate that the text seems to want, installs
the hooks, asks whether the client shall show the steps as a list and in its status line, and
names the command to type next. Enter agrees to what init would write, but to no gate; "fsmtx
new --help" says which gates are proposed.

SKILL is the name or the folder of a skill. Without it init asks, unless only one skill
describes steps.

If no steps can be found in the text of the skill, or it is not sure which they are, init puts the skill write-workflow into
this project instead. When you call that skill in the client, the agent proposes steps and
gates; you approve them, and "fsmtx validate" checks them.

--yes asks nothing: it writes the steps without gates, and installs the hooks in this project,
for you alone. Without a terminal --yes is required.

Nothing that exists is overwritten. The exit code is 1 if no workflow was written and none
was there.`

type initFlags struct {
	yes   bool
	scope *command.Choice

	person install.Person
}

func NewInit(s terminal.Streams) *cobra.Command {
	var f initFlags
	c := &cobra.Command{
		Use:   "init [SKILL]",
		Short: "Hold a first skill to its steps: find it, convert it, install the hooks",
		Long:  initLong,
		Example: command.Example(
			"fsmtx init",
			"fsmtx init release",
			"fsmtx init --yes --scope none .claude/skills/release"),
		Args: command.Takes(0, "the name or the folder of one skill", "for example: fsmtx init release"),
		ValidArgsFunction: func(_ *cobra.Command, _ []string, begun string) (names []string, _ cobra.ShellCompDirective) {
			all, _ := readSkills(s, "")
			for _, t := range all {
				if strings.HasPrefix(t.Command, begun) {
					names = command.Offer(names, t.Command, t.Folder)
				}
			}
			return names, cobra.ShellCompDirectiveDefault
		},
		RunE: func(c *cobra.Command, args []string) error {
			if !s.InputIsTerminal() && !f.yes {
				return command.Fail(command.ExitNo, errors.New("init asks questions, and standard input is not a terminal"),
					"add --yes to take the steps, no gate, and the hooks for you in this project")
			}
			f.person = install.NewPerson(s)
			return f.run(c.Context(), s, strings.Join(args, ""))
		},
	}
	c.Flags().BoolVar(&f.yes, "yes", false, "ask nothing: take the steps and no gate")
	f.scope = command.Choose(c, "scope", "where the hooks are installed", "ask", "local", "project", "user", "none")
	return c
}

// skillText is a skill, and what its text says about steps.
type skillText struct {
	locator.Skill
	source  string
	outline outline.Outline
	held    bool // it has a workflow
}

func (f *initFlags) run(ctx context.Context, s terminal.Streams, wanted string) error {
	all, err := readSkills(s, wanted)
	if err != nil {
		return err
	}
	printSkills(s, all)
	chosen, err := f.choose(s, all)
	if err != nil {
		return err
	}
	switch {
	case chosen.held:
		message.Fprintf(s.Out, "%s has a workflow: fsmtx graph %s draws it\n", chosen.Command, shell.Join(chosen.Folder))
	case len(chosen.outline.Steps) == 0:
		return f.propose(s, chosen)
	default:
		if err := f.convert(s, chosen); err != nil {
			return err
		}
	}
	return errors.Join(f.install(s, chosen.Command, chosen.Plugin), context.Cause(ctx))
}

// noSkill returns the error that there are no skills here, or not the one that is wanted. The hint is about what looks like one.
func noSkill(cwd, wanted string) error {
	find := func(pattern ...string) []string {
		found, _ := filepath.Glob(filepath.Join(pattern...))
		return found
	}
	outside := find("skills", cmp.Or(wanted, "*"), "SKILL.md")
	if len(outside) > 0 && isExtension(cwd) {
		return command.Fail(command.ExitNo, fmt.Errorf("the client sees %s only where its plugin is installed", outside[0]),
			"fsmtx new "+shell.Join(filepath.Dir(outside[0]))+" writes its workflow")
	}
	if inside := find("plugins", "*", client.ManifestPath); wanted == "" && len(inside) > 0 {
		return command.Fail(command.ExitNo, errors.New("there are no skills here, but there are plugins in plugins/"),
			"cd "+shell.Join(filepath.Dir(filepath.Dir(inside[0])))+shell.Then()+"fsmtx init lists the skills of one")
	}
	if len(outside) > 0 {
		return command.Fail(command.ExitNo, fmt.Errorf("the client does not see %s: it looks for the skills of a project in .claude/skills",
			outside[0]),
			"mkdir -p .claude/skills && mv "+shell.Join(filepath.Dir(outside[0]))+" .claude/skills/, then fsmtx init")
	}
	if err := ofOtherAgent(wanted); err != nil {
		return err
	}
	file := strings.TrimSuffix(strings.TrimPrefix(wanted, ".claude/commands/"), ".md")
	if commands := find(".claude", "commands", cmp.Or(file, "*")+".md"); len(commands) > 0 {
		return command.Fail(command.ExitNo, fmt.Errorf("%s is a command, and only a skill has a workflow", commands[0]),
			toSkill(commands[0])+", then fsmtx init")
	}
	if wanted != "" {
		return command.Fail(command.ExitNo, fmt.Errorf("there is no skill %q here", wanted),
			"fsmtx init without a name lists the skills that the client knows here")
	}
	return command.Fail(command.ExitNo, errors.New("there are no skills here: neither in .claude/skills nor in your own"),
		"fsmtx new .claude/skills/fix --template tdd-loop writes one that can be called; fsmtx new --list shows more")
}

// isExtension reports whether a directory is a plugin or an extension of an agent, whose skills are in skills/.
func isExtension(dir string) bool {
	return slices.ContainsFunc([]string{".claude-plugin", ".codex-plugin", ".github/plugin", "plugin.json", "gemini-extension.json",
		"qwen-extension.json"}, func(name string) bool { return command.Exists(dir, name) })
}

// ofOtherAgent returns an error if the project has a skill of that name, or any skill, in a directory of other agents, and nil
// otherwise. Init is for Claude Code, or for the agent that runs it.
func ofOtherAgent(wanted string) error {
	var found string
	var names []string
	for _, a := range agent.Others() {
		for _, dir := range a.Skills.Project {
			all, _ := filepath.Glob(filepath.Join(dir, cmp.Or(wanted, "*"), "SKILL.md"))
			if len(all) > 0 && (found == "" || all[0] == found) {
				found, names = all[0], append(names, a.Name)
			}
		}
	}
	if found == "" {
		return nil
	}
	return command.Fail(command.ExitNo, fmt.Errorf("%s is for other agents, and Claude Code does not see it", found),
		"fsmtx new "+shell.Join(filepath.Dir(found))+" writes its workflow, and fsmtx install --agent "+
			strings.Join(names, ",")+" adds the hooks")
}

func printSkills(s terminal.Streams, all []skillText) {
	for i, t := range all {
		what := "no steps were found in its text"
		switch {
		case t.outline.Unsure != "":
			what = "not sure what its steps are: " + t.outline.Unsure
		case t.held:
			what = "has a workflow"
		case len(t.outline.Steps) > 0:
			what = "describes " + terminal.Count(len(t.outline.Steps), "step") + ": " + t.outline.What
		}
		message.Fprintf(s.Out, "%3d  %-24s %s\n", i+1, t.Command, what)
	}
}

// choose returns the only skill, the only one that describes steps, or the one that the
// person names by its number.
func (f *initFlags) choose(s terminal.Streams, all []skillText) (skillText, error) {
	var with []skillText
	for _, t := range all {
		if !t.held && len(t.outline.Steps) > 0 {
			with = append(with, t)
		}
	}
	switch {
	case len(all) == 1:
		return all[0], nil
	case len(with) == 1:
		return with[0], nil
	case f.yes && len(with) == 0:
		if i := slices.IndexFunc(all, func(t skillText) bool { return t.held }); i >= 0 {
			return all[i], nil // as after an earlier init
		}
		return skillText{}, command.Fail(command.ExitNo, errors.New("no steps were found in the text of these skills"),
			"name one: fsmtx init --yes SKILL")
	case f.yes:
		return skillText{}, command.Fail(command.ExitNo, fmt.Errorf("%s describe steps", terminal.Count(len(with), "skill")),
			"name one: fsmtx init --yes SKILL")
	}
	for {
		message.Fprintf(s.Out, "Which one? Its number or name [1-%d] ", len(all))
		line, err := f.person.Typed.ReadString('\n')
		if n, bad := strconv.Atoi(strings.TrimSpace(line)); bad == nil && n >= 1 && n <= len(all) {
			return all[n-1], nil
		}
		if i := slices.IndexFunc(all, func(t skillText) bool { return t.Command == strings.TrimSpace(line) }); i >= 0 {
			return all[i], nil
		}
		if err != nil {
			return skillText{}, &command.Exit{Code: command.ExitNo, Err: errors.New("no skill was chosen; nothing was changed")}
		}
		message.Fprintf(s.Out, "%q is neither a number nor a name in this list.\n", strings.TrimSpace(line))
	}
}

// convert writes the workflow of a skill with the gates that the person agrees to.
func (f *initFlags) convert(s terminal.Streams, t skillText) error {
	message.Fprintf(s.Out, "\n%s:\n", t.source)
	printTaken(s, t.source, t.outline, "")
	text, err := Format(outline.JSON(t.outline.Steps, f.gates(s, t)))
	if err != nil {
		return fmt.Errorf("%s: %w", t.source, err)
	}
	message.Fprintf(s.Out, "\n")
	file := filepath.Join(t.Folder, SpecName)
	if !f.agrees("Write "+file+"?", true) {
		return &command.Exit{Code: command.ExitNo, Err: errors.New("nothing was written")}
	}
	if err := writeNew(file, text); err != nil {
		return err
	}
	message.Fprintf(s.Out, "%s: %s\n", file, terminal.Count(len(t.outline.Steps), "step"))
	return writeTest(s, file)
}

// gates asks for each gate that the text proposes, and returns those that the person wants, by step. Several of one kind become one.
// What no gate says is shown.
func (f *initFlags) gates(s terminal.Streams, t skillText) map[int64][]string {
	wanted := map[int64][]string{}
	for _, h := range t.outline.Hints {
		gate, question := h.Gate, "  Require this before the step counts as done: "+h.Gate+"?"
		if h.Back != 0 && slices.ContainsFunc(wanted[h.Step], func(g string) bool { return kindOf(g) == "check" }) {
			gate = fmt.Sprintf(`"outcomes": {"failed": {"back": %d, "max": 3}}`, h.Back)
			question = fmt.Sprintf("  If the check fails, open step %d again, up to three times: %s?", h.Back, gate)
		}
		at := slices.IndexFunc(wanted[h.Step], func(g string) bool { return gate != "" && kindOf(g) == kindOf(gate) })
		if at >= 0 && joined(wanted[h.Step][at], gate) == wanted[h.Step][at] {
			continue
		}
		message.Fprintf(s.Out, "\n%s:%d: %s: %q\n", t.source, h.Line, t.outline.Of(h), h.Text)
		switch {
		case gate == "":
			message.Fprintf(s.Out, "  not in the workflow: %s\n", h.Note)
		case f.yes:
			message.Fprintf(s.Out, "  left out: %s\n", gate)
		case !f.agrees(question, false):
		case at >= 0:
			wanted[h.Step][at] = joined(wanted[h.Step][at], gate)
		default:
			wanted[h.Step] = append(wanted[h.Step], gate)
		}
	}
	return wanted
}

// propose puts the skill that makes an agent write workflows into the project.
func (f *initFlags) propose(s terminal.Streams, t skillText) error {
	if t.outline.Unsure != "" {
		message.Fprintf(s.Out, "\nIt is not sure what the steps of %s are: fsmtx new %s shows what could be, and --form takes one.\n",
			t.Command, shell.Join(t.Folder))
	} else {
		message.Fprintf(s.Out, "\nNo steps were found in the text of %s.\n", t.Command)
	}
	message.Fprintf(s.Out, "An agent can propose some.\n")
	dir := filepath.Join(".claude", "skills", install.Writer)
	if !command.Exists(dir, "SKILL.md") {
		if !f.agrees("Put the skill "+install.Writer+" into "+dir+"?", true) {
			return &command.Exit{Code: command.ExitNo, Err: errors.New("nothing was written")}
		}
		for _, name := range []string{"SKILL.md", SpecName} {
			text, err := install.Skills.ReadFile(path.Join("skills", install.Writer, name))
			if err != nil {
				return err
			}
			if err := writeNew(filepath.Join(dir, name), text); err != nil {
				return err
			}
		}
		message.Fprintf(s.Out, "%s: the skill with which an agent proposes them\n", filepath.Join(dir, "SKILL.md"))
	}
	message.Fprintf(s.Out, "%s asks you before it writes anything.\n", install.Writer)
	return f.install(s, install.Writer+" "+t.Command, "")
}

// install installs the hooks where the person wants them, and says what to type: call, the name
// of a skill with its arguments. plugin is the plugin in this directory that has the skill, or "".
func (f *initFlags) install(s terminal.Streams, call, plugin string) error {
	scope := f.scope.Value
	if scope == "ask" && !f.yes {
		message.Fprintf(s.Out, "\nWhere should the hooks be installed that hold the agent to the steps?\n"+
			"  local    for you, in this project (press Enter for this)\n  project  for everyone who works on this project\n  user     for you, "+
			"in all your projects\n  none     nowhere yet\n")
	}
	for scope == "ask" {
		if f.yes {
			scope = "local"
			break
		}
		message.Fprintf(s.Out, "local, project, user or none? [local] ")
		line, err := f.person.Typed.ReadString('\n')
		switch word := strings.ToLower(strings.TrimSpace(line)); {
		case slices.Contains([]string{"local", "project", "user", "none"}, word):
			scope = word
		case word == "" && err == nil:
			scope = "local"
		case err != nil:
			return &command.Exit{Code: command.ExitNo, Err: errors.New("the hooks were not installed"), Hint: "fsmtx install adds them"}
		default:
			message.Fprintf(s.Out, "Please type one of these words, or press Enter for local.\n")
		}
	}
	r := install.Request{Scope: map[string]install.Scope{"user": install.User, "project": install.Project}[scope]}
	if !f.yes && scope != "none" {
		r = f.person.Choose(r)
	}
	if scope == "none" {
		s.Hintf("without the hooks no step is enforced: fsmtx install adds them")
	} else if err := install.Install(s, r); err != nil {
		return err
	}
	message.Fprintf(s.Out, "\n")
	if plugin != "" {
		message.Fprintf(s.Out, "start claude --plugin-dir . here and type /%s; watch it in another terminal: %s status --watch\n",
			call, install.Typed(s))
		s.Hintf("who installs the plugin needs the hooks too: fsmtx install")
		return nil
	}
	install.Next(s, r, call)
	return nil
}

// agrees asks the person, and with --yes nobody. Enter stands for yes where init proposes to write something.
func (f *initFlags) agrees(question string, enter bool) bool {
	return f.yes || f.person.Agrees(question, enter)
}

// readSkills returns the skills that are visible here, or the one that is wanted.
func readSkills(s terminal.Streams, wanted string) (all []skillText, err error) {
	l, cwd, err := command.FinderHere(s)
	if err != nil {
		return nil, err
	}
	skills, _ := l.Skills(cwd)
	wanted = skillDir(wanted)
	if info, err := os.Stat(wanted); wanted != "" && err == nil && info.IsDir() {
		folder, err := filepath.Abs(wanted)
		if err != nil {
			return nil, err
		}
		skills = slices.DeleteFunc(skills, func(k locator.Skill) bool { return k.Folder != folder })
		if len(skills) == 0 && (command.Exists(folder, "SKILL.md") || command.Exists(folder, SpecName)) {
			skills = []locator.Skill{{Command: filepath.Base(folder), Folder: folder}}
		}
	} else if wanted != "" {
		skills = slices.DeleteFunc(skills, func(k locator.Skill) bool {
			return k.Command != wanted && (k.Plugin == "" || !strings.HasSuffix(k.Command, ":"+wanted))
		})
	}
	quiet := s
	quiet.Out, quiet.Err = io.Discard, io.Discard
	for _, k := range skills {
		t := skillText{Skill: k, held: command.Exists(k.Folder, SpecName)}
		t.Folder = command.Relative(cwd, k.Folder)
		if !t.held {
			t.source, t.outline, _ = textOf(quiet, t.Folder, "", "")
		}
		all = append(all, t)
	}
	if len(all) == 0 {
		return nil, noSkill(cwd, wanted)
	}
	return all, nil
}
