package fsmspec_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
)

func onlyCase(value string) string {
	return `{"fsm": 2, "steps": [{"id": 1, "subject": "A", "only": ` + value + `}]}`
}

// shown returns the description of a task of the outermost level in a list.
func shown(spec *fsmspec.Spec, i int, base int64) string {
	return spec.Levels(base)[0].Tasks[i].Description
}

func TestOnly(t *testing.T) {
	spec := parsed(t, onlyCase(`["Bash(git push *)", "Write(src/**)", "Edit", "mcp__github__*", "Bash(npm publish:*)", `+
		`"WebFetch", "Read(//etc/*)"]`))
	task := spec.Tasks()[0]
	want := []string{"Bash(git push *)", "Write(src/**)", "Edit", "mcp__github__*", "Bash(npm publish:*)", "WebFetch", "Read(//etc/*)"}
	assert.Equal(t, want, task.Only)
	assert.Empty(t, spec.Warnings())
	assert.Equal(t, "Only while this step is in progress: "+strings.Join(want, ", ")+".", shown(spec, 0, 3))
	spec = parsed(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "A", "description": "Do it.", "outcomes": ["a", "b"], `+
		`"only": ["Edit"]}]}`)
	assert.Equal(t, "Do it.\nEnds as: a, or b. Complete it with metadata {\"outcome\": \"a\"}.\nOnly while this step is in progress: Edit.",
		shown(spec, 0, 0))
	assert.Empty(t, parsed(t, onlyCase("null")).Tasks()[0].Only)
}

func TestWrongRules(t *testing.T) {
	for value, want := range map[string]string{
		`"Bash"`: `only must be an array of permission rules such as ["Bash(git push *)"], ` +
			`not the string "Bash" (put it in brackets)`,
		`{}`:                    `only must be an array of permission rules such as ["Bash(git push *)"], not an object`,
		`[]`:                    `only is empty: leave it out, or name the calls that belong to this step`,
		`[1]`:                   `only must hold permission rules such as "Bash(git push *)", not the number 1`,
		`[""]`:                  `only: "": want Tool, Tool(…) or mcp__server__tool, such as Bash(git push *)`,
		`["git push *"]`:        `only: "git push *": want Tool, Tool(…) or mcp__server__tool; a command is written Bash(git push *)`,
		`["Bash(git push"]`:     `only: "Bash(git push": want Tool, Tool(…) or mcp__server__tool, such as Bash(git push *)`,
		`["Bsah(git push *)"]`:  `only: "Bsah(git push *)": there is no tool "Bsah" (did you mean "Bash"?)`,
		`["bash(git push *)"]`:  `only: "bash(git push *)": there is no tool "bash" (did you mean "Bash"?)`,
		`["Shell(git push *)"]`: `only: "Shell(git push *)": there is no tool "Shell" (did you mean "Bash"?)`,
		`["WebFecth"]`:          `only: "WebFecth": there is no tool "WebFecth" (did you mean "WebFetch"?)`,
		`["Edit({a,b}.md)"]`:    `only: "Edit({a,b}.md)": nothing is replaced or expanded in a rule: write * for it, or a rule for each path`,
		`["Write(!x.md)"]`:      `only: "Write(!x.md)": a pattern cannot be negated: list what belongs to the step`,
		`["Edit($HOME/x)"]`:     `only: "Edit($HOME/x)": variables are not expanded: want a path from the project's directory`,
		`["MultiEdit(a)"]`:      `only: "MultiEdit(a)": write Edit, which covers every tool that edits a file`,
		`["WebFetch(domain:a.b)"]`: `only: "WebFetch(domain:a.b)": only rules for Bash, PowerShell, Write, Edit, NotebookEdit, ` +
			`Read may have something in parentheses: write WebFetch for all its calls`,
		`["mcp__github__x(a)"]`: `only: "mcp__github__x(a)": only rules for Bash, PowerShell, Write, Edit, NotebookEdit, ` +
			`Read may have something in parentheses: write mcp__github__x for all its calls`,
		`["mcp__g__*(a)"]`: `only: "mcp__g__*(a)": a rule for an MCP tool is its name, ` +
			`such as mcp__github__create_issue or mcp__github__*, without parentheses`,
		`["mcp__"]`:      `only: "mcp__": want mcp__server__tool, or mcp__server__* for all tools of a server`,
		`["TaskUpdate"]`: `only: "TaskUpdate": the workflow itself needs this tool, so it cannot belong to one step`,
		`["Skill"]`:      `only: "Skill": the workflow itself needs this tool, so it cannot belong to one step`,
		`["Bash(fsmtx *)"]`: `only: "Bash(fsmtx *)": an agent without task tools works on the steps with these commands of fsmtx, ` +
			`so they cannot belong to one step`,
		`["Write(../x)"]`: `only: "Write(../x)": .. is not allowed: write the path from the project's directory, ` +
			`//path for one from the root, or ~/path`,
		`["Bash()"]`:           `only: "Bash()": nothing is in the parentheses: write Bash for all its calls`,
		`["Write( )"]`:         `only: "Write( )": the path is blank`,
		`["Write(${HOME}/x)"]`: `only: "Write(${HOME}/x)": variables are not expanded: want a path from the project's directory`,
		`["Bash(a\u0000b)"]`:   `only: "Bash(a\x00b)": a rule cannot have control characters, or white space at its ends`,
		`[" Bash(ls)"]`:        `only: " Bash(ls)": a rule cannot have control characters, or white space at its ends`,
		`["Bash(**)"]`:         `only: "Bash(**)": write Bash for every command`,
		`["Bash(` + strings.Repeat("a", 500) + `)"]`:       `a rule may have at most 500 characters`,
		`[` + strings.Repeat(`"Edit",`, 50) + `"Edit", 1]`: `only may hold at most 50 rules`,
	} {
		problems := refused(t, onlyCase(value)).Problems
		require.Len(t, problems, 1, value)
		assert.Contains(t, problems[0].Message, want, value)
		assert.Contains(t, problems[0].Pointer, "/steps/0/only", value)
		assert.Equal(t, 1, problems[0].Line)
		assert.NotZero(t, problems[0].Column)
	}
}

func TestSuspiciousRules(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{onlyCase(`["Edit", "Edit"]`), `1:65 /steps/0/only/1 task 1 ("A"): only lists "Edit" more than once`},
		{onlyCase(`["FutureTööl"]`), `1:57 /steps/0/only/0 task 1 ("A"): only: "FutureTööl": no tool is known by this name; ` +
			`one of an MCP server is written mcp__server__tool`},
		{`{"fsm": 2, "vars": {"v": "x"}, "steps": [{"id": 1, "subject": "A", "each": {"lines": "l"}, ` +
			`"only": ["Bash(make {item})"]}]}`,
			`1:101 /steps/0/only/0 task 1 ("A"): only has {item}, and nothing is replaced in rules: write * for it`},
		{`{"fsm": 2, "steps": [{"id": 1, "subject": "A", "status": "completed", "only": ["Edit"]}]}`,
			`1:79 /steps/0/only task 1 ("A"): only: this step is completed from the start, so it never lets these calls through: unless another ` +
				`step lists them, they are refused until the workflow is over`},
		{`{"fsm": 2, "steps": [{"id": 1, "subject": "A", "outcomes": ["x", "y"]}, {"id": 2, "subject": "B", "when": {"1": "x"}},
{"id": 3, "subject": "C", "when": {"1": "y", "2": "done"}, "only": ["Edit"]}]}`,
			`2:68 /steps/2/only task 3 ("C"): only: this step is never needed, so it never lets these calls through: unless another step lists ` +
				`them, they are refused until the workflow is over`},
	} {
		assert.Contains(t, lines(parsed(t, c.file).Warnings()), c.want)
	}
	assert.Empty(t, parsed(t, onlyCase(`["Bash(fsmtx install *)", "Bash(a\u2028b)", "Edit(app/[slug]/**)"]`)).Warnings())
}

func TestRuleFault(t *testing.T) {
	assert.Empty(t, fsmspec.RuleFault("Bash(git push *)"))
	assert.NotEmpty(t, fsmspec.RuleFault("git push"))
}
