package write

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/outline"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const newLong = `New writes a first fsm.json into the directory of a skill. It creates the directory if
necessary, and never overwrites an fsm.json.

Without a flag it takes the steps from the SKILL.md in that directory; --from reads another
Markdown file. A text has its steps in one of these forms; the first that it has is taken:
  tasks     a list of boxes, with identifiers such as 1.1 or T001 or without, or a table
            whose first column has identifiers
  headings  numbered headings of one kind (Step 1, Phase 1-2, GATE 2), or two kinds of them
  list      one ordered list of instructions
  graph     a flowchart of Mermaid or a digraph of dot, with its branches and loops
Nested tasks and headings become the parts of a step, the text below it its description, and
a checked box a completed step. The text of a box, with its identifier, is the subject.
Notes, rules, examples and the like are not steps.
Files that the text names are not read: --from takes the steps of one of them.

The form is taken as a whole or not at all. Where several parts of the text have equal right,
where a number is missing, or where the text may be a template or an example, it is not sure:
new prints what could be the steps and writes nothing. --form FORM, or FORM:LINE as printed,
decides. The exit code is then 1, as for a text that describes no steps.

It prints the line of each step, what it left out, and the gates that the text seems to ask
for, as lines to add to fsm.json. No gate is written: a person decides. A command is proposed
as a check only if
  - its sentence tells to run it here and says that it has to pass, in plain words;
  - nothing in its step takes it back, and elsewhere no sentence names it, its program or
    what it does, but to order the same, such as "All tests must pass", or to work on it,
    such as "Write a test", and none forbids what it runs, or what runs it;
  - it is there, and is known to check without changing anything: a test runner, a linter, a
    type checker, a formatter in its check mode; or a target of the Makefile, a script of
    package.json or an executable of the project that was read, with all that it runs, and
    that only checks and builds.
A sentence about a step, such as "Step 2 is optional", takes back every gate of that step.
One beside the steps takes back all, such as "For large changes.", unless it introduces them,
says what the skill is for or orders something else in plain words; of the description only
one does that forbids something. One that says that nobody can be asked takes back every
approval. Each is told. Rather no gate than a wrong one: name others in fsm.json yourself. An approval
that has to come before what a step does is proposed for the step before it.

--template NAME writes a complete workflow, and a SKILL.md by which the client finds it
unless there is one; --list shows their names. --template without a name writes three
example steps to replace. "fsmtx validate" warns about each that was not edited.

Beside the fsm.json, tests/first.txtar is a first test, which passes: see fsmtx test. At the end new validates the file and
prints the commands to use next.

--json prints an object with path, tasks (the number of tasks), source, what (what became
the steps), steps, left (what was left out) and hints. A step has id, subject, line and file
("" for source). A part that was left out has line, what, why and form. A hint has step, line,
text, gate (a member to add to the step, or "") and note.`

type newFlags struct {
	dir        string // of the skill
	from       string
	form       string
	template   string // "", examples, or the name of one of templates
	list, json bool
}

func NewNew(s terminal.Streams) *cobra.Command {
	var f newFlags
	c := &cobra.Command{
		Use:   "new SKILL_DIR [--from FILE | --template[=NAME]]",
		Short: "Write a first fsm.json for a skill",
		Long:  newLong,
		Example: command.Example(
			"fsmtx new .claude/skills/release",
			"fsmtx new .claude/skills/release --from docs/releasing.md",
			"fsmtx new .claude/skills/import --from specs/import/tasks.md --form tasks",
			"fsmtx new .claude/skills/fix --template tdd-loop"),
		DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error {
			if f.list && len(args) == 0 {
				return nil
			}
			args, err := f.templateArgs(args)
			if err != nil {
				return err
			}
			if len(args) != 1 || args[0] == "" { // the current directory is "."
				return command.Fail(command.ExitNo, fmt.Errorf("got %s, want the directory of a skill", command.InWords(args)),
					"for example: fsmtx new .claude/skills/release")
			}
			f.dir = skillDir(args[0])
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			if f.template == examples { // the flag does not take the next word
				return templates(), cobra.ShellCompDirectiveDefault
			}
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(c *cobra.Command, _ []string) error {
			if f.list {
				return listTemplates(s)
			}
			return f.run(s, f.dir)
		},
	}
	c.Flags().StringVar(&f.from, "from", "", "take the steps from this Markdown `FILE`")
	c.Flags().StringVar(&f.form, "form", "", "take the steps of this `FORM`: tasks, headings, list or graph, or FORM:LINE")
	command.Complete(c, "form", outline.Forms()...)
	c.Flags().StringVar(&f.template, "template", "", "write the complete workflow `NAME`, or three example steps to replace")
	c.Flags().Lookup("template").NoOptDefVal = examples
	command.Complete(c, "template", templates()...)
	c.Flags().BoolVar(&f.list, "list", false, "list the workflows that --template writes")
	c.Flags().BoolVar(&f.json, "json", false, "print the result as JSON")
	_ = c.MarkFlagFilename("from", "md")
	c.MarkFlagsMutuallyExclusive("from", "template")
	c.MarkFlagsMutuallyExclusive("form", "template")
	c.MarkFlagsMutuallyExclusive("list", "from")
	c.MarkFlagsMutuallyExclusive("list", "form")
	return c
}

func (f newFlags) run(s terminal.Streams, dir string) error {
	if form, _, _ := strings.Cut(f.form, ":"); form != "" && !slices.Contains(outline.Forms(), form) {
		return command.Fail(command.ExitUsage, fmt.Errorf("unknown form %q", f.form), "the forms are "+strings.Join(outline.Forms(), ", "))
	}
	if err := cmp.Or(safefile.CheckNames(dir), isFolder(dir)); err != nil {
		return err
	}
	path := filepath.Join(dir, SpecName)
	_, err := os.Lstat(path)
	if err == nil {
		return command.Fail(command.ExitNo, fmt.Errorf("%s already exists and was not overwritten", path),
			"fsmtx graph "+shell.Join(dir)+" draws it; fsmtx validate "+shell.Join(dir)+" checks it")
	}
	if f.isComplete() {
		return f.writeTemplate(s, dir, path)
	}
	source, o, err := f.steps(s, dir)
	if err != nil {
		return err
	}
	text, err := Format(outline.JSON(o.Steps, nil))
	if err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	if err := writeNew(path, text); err != nil {
		return err
	}
	if _, err := WriteFirstTest(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return f.print(s, dir, path, source, o)
}

// isFolder returns an error if dir is a file. A plugin's command can have a workflow in the folder of its
// name; another command has to become a skill.
func isFolder(dir string) error {
	if info, err := os.Stat(dir); err != nil || info.IsDir() {
		return nil
	}
	folder, isCommand := strings.CutSuffix(dir, ".md")
	root := filepath.Dir(filepath.Dir(dir))
	hint := "name the folder of the skill; --from takes the steps from a file"
	switch {
	case !isCommand || filepath.Base(filepath.Dir(dir)) != "commands":
	case command.IsPlugin(root):
		hint = "fsmtx new " + shell.Join(folder) + " --from " + shell.Join(dir) + " writes the workflow of this command"
	default:
		hint = "only a skill has a workflow: " + toSkill(dir) + ", then fsmtx new " + shell.Join(skillOf(dir))
	}
	return command.Fail(command.ExitNo, fmt.Errorf("%s is a file, and new takes the folder of a skill", dir), hint)
}

// skillOf returns the folder of the skill that a file in commands/ may become.
func skillOf(command string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(command)), "skills", strings.TrimSuffix(filepath.Base(command), ".md"))
}

// toSkill returns what makes a skill of a file in commands/.
func toSkill(command string) string {
	skill := skillOf(command)
	return fmt.Sprintf("mkdir -p %s && mv %s %s", shell.Join(skill), shell.Join(command), shell.Join(filepath.Join(skill, "SKILL.md")))
}

// print validates the new file and prints what is in it and what to do next.
func (f newFlags) print(s terminal.Streams, dir, path, source string, o outline.Outline) error {
	v := validate(s, path)
	if v.err != nil {
		return v.err
	}
	if f.json {
		return command.PrintJSON(s.Out, newReport(path, source, o))
	}
	how := ""
	if o.What != "" {
		how = ": " + o.What
	}
	message.Fprintf(s.Out, "%s: %s from %s%s\n", path, terminal.Count(len(o.Steps), "step"), source, how)
	if f.template == "" {
		printValidated(s, []validated{v})
	}
	printOutline(s, source, o)
	s.Hintf("edit %s and %s, then: fsmtx validate %s%sfsmtx test %[3]s%[4]sfsmtx graph %[3]s", path, firstTest,
		shell.Join(dir), shell.Then())
	if _, err := os.Lstat(filepath.Join(dir, "SKILL.md")); errors.Is(err, fs.ErrNotExist) {
		s.Hintf("the client finds a skill by its SKILL.md, which %s does not have yet", dir)
	}
	return nil
}

// writeNew creates a file and the directories above it. It returns fs.ErrExist if another
// program has created the file meanwhile.
func writeNew(path string, data []byte) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	file, err := safefile.ReadToEdit(safefile.Resolve(abs), fsmspec.MaxBytes)
	if err == nil && file.Data != nil {
		err = &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	if err != nil {
		return err
	}
	file.Mode = 0o644
	return file.Replace(data)
}

// steps returns the steps and a description of their source.
func (f newFlags) steps(s terminal.Streams, dir string) (source string, o outline.Outline, err error) {
	switch {
	case f.template != "":
		return "a template", outline.Outline{Steps: outline.Template()}, nil
	}
	return textOf(s, dir, f.from, f.form)
}
