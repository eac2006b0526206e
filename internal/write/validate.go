package write

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/checklist"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const validateLong = `Validate checks fsm.json files as the hook does when the skill is called, and prints every
problem as

  path:line:column: error: what is wrong
  path:line:column: warning: what is allowed but probably a mistake

The hook refuses a file with errors, but not one with warnings only. A command that is no
shell is an error here; the hook refuses the step that has it. Problems that
differ only in the task are printed once, with all their places. On a terminal each
problem is followed by the line of the file, with carets under the place. Validate also
prints the commands that the checks of steps would run. The last line is a summary.

PATH is a file, the directory of a skill, a directory with several skills below, or, where
no file is called so, the name of a skill; "-" is standard input. Without PATH, validate
checks every workflow of a skill that an agent finds here, and every fsm.json below the
current directory, in hidden directories too. It leaves out node_modules, .git and its like,
and directories with a file CACHEDIR.TAG or pyvenv.cfg.

--fix repairs mistakes that can be repaired in only one way: a byte order mark, a Markdown
code block around the file, trailing commas, ids that are strings, misspelt names of
fields, a single text or id where an array is wanted ("produces": "a.md"), and an array of
steps with fields such as outcomes, which need the object form. No content is lost. It prints the change first and, on a terminal, asks for confirmation.

--format github prints the commands by which GitHub shows problems in a pull request.
--json, or --format json, prints an object with files and summary. A file has path,
valid, tasks (0 if it is not valid), problems, checks and error (empty unless it could
not be read). A check has task, step (the same, but 2.1 for part 1 of step 2), run, dir and
timeout (in seconds). A problem has line,
column (both from 1, in characters), offset (in bytes), pointer (RFC 6901), severity
(error or warning) and message. The summary has files, invalid, unreadable, tasks, errors
and warnings.

A file beside a SKILL.md with another name than fsm.json is not read by the hook: that is a
warning, in every format. It counts as no workflow.

The exit code is 0 if there are no errors, 1 if there are errors (or with --strict
warnings), and 2 if a file could not be read or the command line is wrong.`

type validateFlags struct {
	strict, fix, json bool
	format            *command.Choice
}

func NewValidate(s terminal.Streams) *cobra.Command {
	var f validateFlags
	c := &cobra.Command{
		Use:   "validate [PATH…]",
		Short: "Check fsm.json files",
		Long:  validateLong,
		Example: command.Example(
			"fsmtx validate                                   # every workflow here and below",
			"fsmtx validate .claude/skills/release            # one skill",
			"fsmtx validate --fix .claude/skills/*/fsm.json   # and repair what is unambiguous",
			"fsmtx validate --strict --format github          # in continuous integration",
			"jq . draft.json | fsmtx validate -"),
		RunE: func(_ *cobra.Command, args []string) error {
			if f.json {
				f.format.Value = "json"
			}
			paths, err := SpecsOf(s, args)
			if err != nil {
				return unread(err)
			}
			if f.fix && slices.Contains(paths, "-") {
				return command.Fail(exitUnread, errors.New("--fix cannot change standard input"), "name a file")
			}
			var wrong []hydrate.Misnamed
			if len(args) == 0 {
				wrong = misnamed(s)
			}
			return f.run(s, paths, wrong)
		},
	}
	c.Flags().BoolVar(&f.strict, "strict", false, "exit with 1 on warnings, too")
	c.Flags().BoolVar(&f.fix, "fix", false, "repair what can be repaired in only one way; prints the change first")
	f.format = command.Choose(c, "format", "how problems are printed", "text", "github", "json")
	c.Flags().BoolVar(&f.json, "json", false, "short for --format json")
	return c
}

// exitUnread is the exit code of validate for a file that could not be read and for a
// wrong command line.
const exitUnread = 2

func RefuseToValidate(_ terminal.Streams, err error) error {
	return command.Fail(exitUnread, err, "run fsmtx validate --help")
}

func unread(err error) error {
	if e, ok := errors.AsType[*command.Exit](err); ok {
		return command.Fail(exitUnread, e.Err, e.Hint)
	}
	return &command.Exit{Code: exitUnread, Err: err}
}

// validated is a file with its problems.
type validated struct {
	path     string
	data     []byte
	spec     *fsmspec.Spec // nil if the file is not valid
	problems []fsmspec.Problem
	err      error // why it could not be read
	fixable  bool
	misnamed bool // a file that is not read because of its name
}

func (f validateFlags) run(s terminal.Streams, paths []string, wrong []hydrate.Misnamed) error {
	var all []validated
	for _, m := range wrong {
		all = append(all, validated{path: m.Path, misnamed: true, problems: []fsmspec.Problem{
			{Line: 1, Column: 1, Warning: true, Message: "this file " + m.Why()}}})
	}
	for _, path := range paths {
		v := validate(s, path)
		if f.fix && v.err == nil {
			if err := f.repair(s, &v); err != nil {
				v.err = err
			}
		}
		all = append(all, v)
	}
	checkCircles(all)
	sum := summarize(all)
	switch f.format.Value {
	case "json":
		if err := command.PrintJSON(s.Out, validationReport(all, sum)); err != nil {
			return err
		}
	case "github":
		printForGitHub(s.Out, all)
	default:
		printValidated(s, all)
	}
	for _, v := range all {
		if v.err != nil {
			s.Errorf("%v", v.err)
		}
	}
	if f.format.Value == "text" {
		printChecks(s, all)
		printBounds(s, all)
	}
	if f.format.Value != "json" && sum.Files > sum.Unreadable {
		message.Fprintf(s.Out, "%s\n", sum)
	}
	if i := slices.IndexFunc(all, func(v validated) bool { return v.fixable }); i >= 0 && !f.fix && f.format.Value == "text" {
		s.Hintf("fsmtx validate --fix %s repairs some of these problems; it prints the change first", shell.Join(all[i].path))
	}
	if code := sum.code(f.strict); code != command.ExitOK {
		return &command.Exit{Code: code}
	}
	return nil
}

func validate(s terminal.Streams, path string) validated {
	data, err := readSpec(s, path)
	if err != nil {
		return validated{path: path, err: err}
	}
	return checkSpec(path, data)
}

// checkName warns of a file beside a SKILL.md that is not read under its name.
func (v *validated) checkName() {
	if v.path != "-" && filepath.Base(v.path) != SpecName && command.Exists(filepath.Dir(v.path), "SKILL.md") {
		v.problems = append([]fsmspec.Problem{{Line: 1, Column: 1, Warning: true,
			Message: "this file is not read as the workflow of a skill: beside a SKILL.md only " + SpecName + " is"}}, v.problems...)
	}
	if d, ok := install.TooDeep(v.path); ok && v.path != "-" {
		v.problems = append([]fsmspec.Problem{{Line: 1, Column: 1, Warning: true, Message: d.Why + ": " + d.Remedy}}, v.problems...)
	}
}

// checkMention warns if the SKILL.md beside the file names it: an agent that reads of the file
// opens it, and then works by what it says instead of by the task list.
func (v *validated) checkMention() {
	if filepath.Base(v.path) != SpecName {
		return
	}
	skill := filepath.Join(filepath.Dir(v.path), "SKILL.md")
	text, err := safefile.ReadFile(skill, fsmspec.MaxBytes, 0)
	if err != nil {
		return
	}
	if checklist.NotUTF8(string(text)) {
		v.problems = append(v.problems, fsmspec.Problem{Line: 1, Column: 1, Message: skill + ": " + checklist.IsNotUTF8})
		v.spec = nil
		return
	}
	_, _, body, err := frontmatter.CutSkill(text) // hooks in the frontmatter may name it
	if err != nil {
		body = text
	}
	at := bytes.Index(body, []byte(SpecName))
	if at < 0 {
		return
	}
	line := 1 + bytes.Count(text[:len(text)-len(body)+at], []byte("\n"))
	v.problems = append(v.problems, fsmspec.Problem{Line: 1, Column: 1, Warning: true,
		Message: fmt.Sprintf("%s:%d names %s: the agent would read that file instead of working by its task list; remove the sentence",
			skill, line, SpecName)})
}

func checkSpec(path string, data []byte) validated {
	v := validated{path: path, data: data}
	spec, err := fsmspec.ParseOf(skillBeside(path), data)
	if invalid, ok := errors.AsType[*fsmspec.InvalidError](err); ok {
		v.problems = inOrder(invalid.Problems, invalid.Warnings)
		_, done := Fix(data)
		v.fixable = len(done) > 0 && path != "-"
	} else if err != nil {
		v.err = fmt.Errorf("%s: %w", path, err)
	} else {
		v.spec, v.problems = spec, inOrder(spec.Warnings(), unedited(data, spec))
	}
	v.checkCommands()
	v.checkName()
	v.checkMention()
	return v
}

// checkCircles warns of skills that demand each other, directly or by way of others: a call of one within another
// is refused, and the step that demands it could never be completed.
func checkCircles(all []validated) {
	names, demands := make([]string, len(all)), make([][]string, len(all))
	for i, v := range all {
		if v.spec != nil && len(v.spec.Skills()) > 0 {
			names[i], demands[i] = skillBeside(v.path), v.spec.Skills()
		}
	}
	for i, name := range names {
		seen := make([]bool, len(all))
		var way func(from int) []string // the skills by which it demands this one
		way = func(from int) []string {
			seen[from] = true
			for _, skill := range demands[from] {
				if fsmspec.SameSkill(skill, name) {
					return []string{skill}
				}
				next := slices.IndexFunc(names, func(n string) bool { return fsmspec.SameSkill(skill, n) })
				if next < 0 || seen[next] {
					continue
				}
				if rest := way(next); rest != nil {
					return append([]string{skill}, rest...)
				}
			}
			return nil
		}
		if circle := way(i); circle != nil {
			all[i].problems = append(all[i].problems, fsmspec.Problem{Line: 1, Column: 1, Warning: true, Message: fmt.Sprintf(
				"the skills demand each other (%s), so the innermost call is refused: take do out of one of them",
				strings.Join(append([]string{name}, circle...), " → "))})
		}
	}
}

// skillBeside returns the name of the skill whose SKILL.md is beside the file, "" if there is
// none.
func skillBeside(path string) string {
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil || path == "-" {
		return ""
	}
	text, err := safefile.ReadFile(filepath.Join(folder, "SKILL.md"), fsmspec.MaxBytes, 0)
	if err != nil {
		return ""
	}
	name, _ := frontmatter.SkillName(text)
	return cmp.Or(name, filepath.Base(folder))
}

// inOrder merges errors and warnings in the order of the file.
func inOrder(lists ...[]fsmspec.Problem) []fsmspec.Problem {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b fsmspec.Problem) int { return cmp.Compare(a.Offset, b.Offset) })
	return all
}
