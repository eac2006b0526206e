package write

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/checklist"
	"github.com/fsmtx/fsmtx/internal/checks"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/outline"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const (
	// maxMarkdown limits the size of a Markdown file.
	maxMarkdown = 4 << 20
	// maxLeft limits the parts of a text that are listed as left out.
	maxLeft = 8
)

// skillCalled returns the command for the skill that has the name dir and is in another folder, or "".
func skillCalled(s terminal.Streams, dir string) string {
	l, cwd, err := command.FinderHere(s)
	if err != nil || strings.ContainsRune(dir, filepath.Separator) {
		return ""
	}
	skills, _ := l.Skills(cwd)
	for _, k := range skills {
		if k.Command == dir || k.Plugin != "" && strings.HasSuffix(k.Command, ":"+dir) {
			return "fsmtx new " + shell.Join(command.Relative(cwd, k.Folder)) + " writes the workflow of the skill " + message.Text(k.Command)
		}
	}
	return ""
}

// textOf returns the steps that a Markdown file describes, in a form that may be asked for.
// It returns an error if there are none, or if it is not sure which they are: an author who finds the steps of something else in
// the file has more work than one who finds none.
func textOf(s terminal.Streams, dir, from, form string) (source string, o outline.Outline, err error) {
	source = from
	if source == "" {
		source = filepath.Join(dir, "SKILL.md")
	}
	text, err := safefile.ReadFile(source, maxMarkdown, 0)
	if errors.Is(err, fs.ErrNotExist) && from == "" {
		return source, o, command.Fail(command.ExitNo, fmt.Errorf("%s does not exist, so there are no steps to take from it", source),
			cmp.Or(skillCalled(s, dir), "--from FILE takes the steps from another text; --template writes three examples to edit"))
	}
	if errors.Is(err, safefile.ErrNotRegular) && from != "" {
		hint := "name a file with a text"
		if command.Exists(from, "SKILL.md") {
			hint = "--from " + shell.Join(filepath.Join(from, "SKILL.md")) + " takes the steps of this skill"
		}
		return source, o, command.Fail(command.ExitNo, command.Unusable(source, err), hint)
	}
	if err != nil {
		return source, o, command.Unusable(source, err)
	}
	if isJSON(text) {
		return source, o, command.Fail(command.ExitNo, fmt.Errorf("%s is JSON, and new reads the steps of Markdown", source),
			"if it is a workflow, copy it to fsm.json; fsmtx validate "+shell.Quote(source)+" checks it")
	}
	if list := checklist.Read(string(text)); list.Unread {
		return source, o, command.Fail(command.ExitNo, fmt.Errorf("%s: %s; nothing was written", source, list.Faults[0]), "")
	}
	o = outline.Markdown(text, form)
	if len(o.Steps) == 0 {
		explainNone(s, source, o)
		return source, o, noSteps(source, o)
	}
	path, _ := s.Getenv("PATH")
	o.Hints = possible(checks.Project{Path: path}, o)
	return source, o, nil
}

// isJSON reports whether the text begins like an array or an object of JSON, and not like a link
// or a checkbox of Markdown.
func isJSON(text []byte) bool {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	return jsonx.Check(text, jsonx.Tolerant) == nil && (bytes.HasPrefix(text, []byte("[")) || bytes.HasPrefix(text, []byte("{")))
}

// noSteps is the error for a text whose steps were not found, or are not sure.
func noSteps(source string, o outline.Outline) error {
	const agent = "; or the skill write-workflow, which fsmtx init writes, has an agent propose steps"
	if o.Unsure != "" {
		hint := "correct that in the text"
		if i := slices.IndexFunc(o.Tied, func(l outline.Left) bool { return l.Form != "" }); i >= 0 {
			hint = "--form " + o.Tied[i].Form + " takes that part of the text"
		}
		return command.Fail(command.ExitNo, fmt.Errorf("not sure what the steps of %s are: %s; nothing was written", source, o.Unsure),
			hint+agent)
	}
	return command.Fail(command.ExitNo, fmt.Errorf("no steps were found in the text of %s", source),
		`number the steps, for example "## Step 1: Build"; --from FILE takes them from another text, and --template writes three `+
			`examples to edit`+agent)
}

// explainNone prints what could be the steps.
func explainNone(s terminal.Streams, source string, o outline.Outline) {
	for i, l := range o.Tied {
		if i == maxLeft {
			message.Fprintf(s.Err, "%s: and %d more\n", source, len(o.Tied)-i)
			return
		}
		form := ""
		if l.Form != "" {
			form = "--form " + l.Form + ": "
		}
		message.Fprintf(s.Err, "%s:%d: %s%s\n", source, l.Line, form, l)
	}
}

// printOutline prints the steps with their lines, what was left out, and the gates that the
// text suggests.
func printOutline(s terminal.Streams, source string, o outline.Outline) {
	printTaken(s, source, o, "; --json lists all")
	for _, h := range o.Hints {
		if h.Gate != "" {
			message.Fprintf(s.Out, "%s:%d: %s: %q: to enforce this, add %s\n", source, h.Line, o.Of(h), h.Text, h.Gate)
		} else {
			message.Fprintf(s.Out, "%s:%d: %s: %q: left out: %s\n", source, h.Line, o.Of(h), h.Text, h.Note)
		}
	}
}

// printTaken prints the steps with their lines, and what was left out. where says
// how to see all that was left out, if it is much.
func printTaken(s terminal.Streams, source string, o outline.Outline, where string) {
	printOutlined(s, o.Steps, "  ")
	for i, l := range o.Left {
		if i == maxLeft {
			message.Fprintf(s.Out, "%s: left out: %d more parts%s\n", source, len(o.Left)-i, where)
			break
		}
		message.Fprintf(s.Out, "%s:%d: left out: %s\n", source, l.Line, l)
	}
}

func printOutlined(s terminal.Streams, steps []outline.Step, indent string) {
	for _, t := range steps {
		message.Fprintf(s.Out, "%s%d %s%s\n", indent, t.ID, t.Subject, writtenAt(t))
		printOutlined(s, t.Do, indent+"  ")
	}
}

// writtenAt returns where a text has a step.
func writtenAt(t outline.Step) string {
	text := ""
	if t.Line != 0 {
		text = fmt.Sprintf("line %d", t.Line)
	}
	if t.Status != "" {
		text += ", " + t.Status
	}
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// newJSON is what new --json prints.
type newJSON struct {
	Path   string         `json:"path"`
	Tasks  int            `json:"tasks"`
	Source string         `json:"source"`
	What   string         `json:"what"`
	Steps  []stepJSON     `json:"steps"`
	Left   []outline.Left `json:"left"`
	Hints  []outline.Hint `json:"hints"`
}

type stepJSON struct {
	ID      int64  `json:"id"`
	Subject string `json:"subject"`
	Line    int    `json:"line"`
}

func newReport(path, source string, o outline.Outline) newJSON {
	report := newJSON{Path: path, Tasks: len(o.Steps), Source: source, What: o.What, Left: o.Left, Hints: o.Hints,
		Steps: []stepJSON{}}
	for _, t := range o.Steps {
		report.Steps = append(report.Steps, stepJSON{t.ID, t.Subject, t.Line})
	}
	return report
}
