package write

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func printValidated(s terminal.Streams, all []validated) {
	colour := s.Colour(s.Out)
	for _, v := range all {
		for _, p := range hydrate.Fold(v.problems) {
			kind, code := severity(p[0]), "31"
			if p[0].Warning {
				code = "33"
			}
			if colour {
				kind = "\x1b[" + code + "m" + kind + "\x1b[0m"
			}
			_ = s.Printf("%s:%d:%d: "+kind+": %s\n", v.path, p[0].Line, p[0].Column, p.Text())
			if terminal.IsTerminal(s.Out) {
				fmt.Fprint(s.Out, hydrate.Excerpt(v.data, p[0], s.Columns(s.Out)))
			}
		}
	}
}

// printChecks prints the commands that the workflows would run, because trusting a skill
// means trusting its commands.
func printChecks(s terminal.Streams, all []validated) {
	for _, v := range all {
		for _, c := range checksOf(v) {
			where := ""
			if c.Shell != "" {
				where = " in PowerShell"
			}
			if c.Dir != "" {
				where += " in " + c.Dir
			}
			if c.Env != nil {
				where += " with " + strings.Join(append(slices.Clone(*c.Env), "no other variable"), ", ")
			}
			_ = s.Printf("%s: %s step %s runs%s: %s\n", v.path, c.when, c.Step, where, c.Run)
		}
	}
}

// printBounds prints how long workflows with loops can take: those of the object form.
func printBounds(s terminal.Streams, all []validated) {
	for _, v := range all {
		if v.spec != nil && v.spec.Version() == fsmspec.WithOutcomes {
			_ = s.Printf("%s: %s\n", v.path, v.spec.Bound())
		}
	}
}

type checkJSON struct {
	Task    int64     `json:"task"`
	Step    string    `json:"step"` // the same, after the ids of the steps that it is a part of: 2.1
	Run     string    `json:"run"`
	Shell   string    `json:"shell,omitzero"` // powershell; empty is sh
	Dir     string    `json:"dir"`
	Timeout float64   `json:"timeout"`
	Env     *[]string `json:"env,omitzero"` // the variables that it gets; nil is every one

	when string // completing or starting
}

func checksOf(v validated) []checkJSON {
	checks := []checkJSON{}
	if v.spec == nil {
		return checks
	}
	return append(checks, checksIn(v.spec.Tasks(), "")...)
}

// checksIn returns the commands of tasks and of their parts. before is the number of the step
// that they are parts of, with a dot.
func checksIn(tasks []fsmspec.Task, before string) (checks []checkJSON) {
	for _, t := range tasks {
		number := before + strconv.FormatInt(t.ID, 10)
		add := func(c fsmspec.Check, when string) {
			checks = append(checks, checkJSON{t.ID, number, c.Run, c.Shell, c.Dir, c.Timeout.Seconds(), c.Env, when})
		}
		if t.Each != nil && t.Each.Run != nil {
			add(*t.Each.Run, "starting")
		}
		checks = append(checks, checksIn(t.Parts, number+".")...)
		for _, c := range t.Commands() {
			add(c, "completing")
		}
	}
	return checks
}

func severity(p fsmspec.Problem) string {
	if p.Warning {
		return "warning"
	}
	return "error"
}

// printForGitHub prints a line for each problem.
func printForGitHub(w io.Writer, all []validated) {
	for _, v := range all {
		for _, p := range v.problems {
			place := fmt.Sprintf(",line=%d,col=%d", p.Line, p.Column)
			message.Fprintf(w, "%s\n", message.GitHub(severity(p), v.path, place, p.Message))
		}
		if v.err != nil {
			message.Fprintf(w, "%s\n", message.GitHub("error", v.path, "", v.err.Error()))
		}
	}
}

// validationSummary counts the files and their problems.
type validationSummary struct {
	Files      int `json:"files"`
	Invalid    int `json:"invalid"`
	Unreadable int `json:"unreadable"`
	Tasks      int `json:"tasks"`
	Errors     int `json:"errors"`
	Warnings   int `json:"warnings"`
}

func summarize(all []validated) (sum validationSummary) {
	for _, v := range all {
		if !v.misnamed {
			sum.Files++
		}
		switch {
		case v.misnamed:
		case v.err != nil:
			sum.Unreadable++
		case v.spec == nil:
			sum.Invalid++
		default:
			sum.Tasks += v.spec.Len()
		}
		for _, p := range v.problems {
			if p.Warning {
				sum.Warnings++
			} else {
				sum.Errors++
			}
		}
	}
	return sum
}

// String returns the summary as a line: 3 workflows, 26 steps, no problems.
func (sum validationSummary) String() string {
	parts := []string{terminal.Count(sum.Files, "workflow")}
	if sum.Unreadable > 0 {
		parts = append(parts, fmt.Sprintf("%d not readable", sum.Unreadable))
	}
	if sum.Invalid == 1 && sum.Files == 1 {
		parts = append(parts, "not valid")
	} else if sum.Invalid > 0 {
		parts = append(parts, fmt.Sprintf("%d not valid", sum.Invalid))
	} else {
		parts = append(parts, terminal.Count(sum.Tasks, "step"))
	}
	if sum.Errors > 0 {
		parts = append(parts, terminal.Count(sum.Errors, "error"))
	}
	if sum.Warnings > 0 {
		parts = append(parts, terminal.Count(sum.Warnings, "warning"))
	}
	if sum.Errors+sum.Warnings+sum.Unreadable == 0 {
		parts = append(parts, "no problems")
	}
	return strings.Join(parts, ", ")
}

func (sum validationSummary) code(strict bool) int {
	switch {
	case sum.Unreadable > 0:
		return exitUnread
	case sum.Invalid > 0, strict && sum.Warnings > 0:
		return command.ExitNo
	}
	return command.ExitOK
}

type validatedJSON struct {
	Path     string        `json:"path"`
	Valid    bool          `json:"valid"`
	Tasks    int           `json:"tasks"`
	Bound    int           `json:"bound"` // how many steps are completed at most; 0 if the file is not valid
	Problems []problemJSON `json:"problems"`
	Checks   []checkJSON   `json:"checks"`
	Error    string        `json:"error"`
}

type problemJSON struct {
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Offset   int64  `json:"offset"`
	Pointer  string `json:"pointer"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
}

func validationReport(all []validated, sum validationSummary) any {
	files := make([]validatedJSON, len(all))
	for i, v := range all {
		files[i] = validatedJSON{Path: v.path, Valid: v.spec != nil, Problems: []problemJSON{}, Checks: checksOf(v)}
		if v.spec != nil {
			files[i].Tasks, files[i].Bound = v.spec.Len(), v.spec.Bound().Steps
		}
		if v.err != nil {
			files[i].Error = v.err.Error()
		}
		for _, p := range v.problems {
			files[i].Problems = append(files[i].Problems, problemJSON{p.Line, p.Column, p.Offset, p.Pointer, severity(p), p.Message})
		}
	}
	return struct {
		Files   []validatedJSON   `json:"files"`
		Summary validationSummary `json:"summary"`
	}{files, sum}
}
