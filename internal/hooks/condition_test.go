package hooks

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// TestRules shows which calls a permission rule in a hook's "if" selects: the cases that the
// fidelity suite, which asks the client, does not have.
func TestRules(t *testing.T) {
	d := dialect.Claude()
	event, _ := d.Event("PreToolUse")
	t.Setenv("HOME", "/home/me")
	for _, c := range []struct {
		rule, tool, input string
		selects           bool
	}{
		{"Bash(git *)", "Bash", `{"command": "git push"}`, true},
		{"Bash(git *)", "Bash", `{"command": "git"}`, true},
		{"Bash(git *)", "Bash", `{"command": "gitk"}`, false},
		{"Bash(git:*)", "Bash", `{"command": "gitk"}`, false},
		{"Bash(git:*)", "Bash", `{"command": "git  push"}`, true},
		{"Bash(git push)", "Bash", `{"command": "git push -f"}`, false},
		{"Bash(git *)", "Bash", `{"command": "cd x && A=1 git push"}`, true},
		{"Bash(git *)", "Bash", `{"command": "echo \"x; git push\""}`, false},
		{"Bash(git *)", "Bash", `{"command": "echo $(git push)"}`, true},
		{"Bash(a.c *)", "Bash", `{"command": "abc x"}`, false},
		{"Task", "Agent", `{}`, true},
		{"Read", "Bash", `{}`, false},
		{"WebFetch(domain:example.com)", "WebFetch", `{"url": "https://example.com/x"}`, false}, // no content is looked at
		{"WebFetch(*)", "WebFetch", `{"url": "https://example.com/x"}`, true},
		{"Skill(release)", "Skill", `{"skill": "release"}`, false},
		{"Glob(**/*.go)", "Glob", `{"pattern": "src/**/*.go"}`, true},
		{"Glob(src/*)", "Glob", `{"pattern": "*.go", "path": "src"}`, false},
		{"Grep(word*)", "Grep", `{"pattern": "word: x", "path": "/etc"}`, true},
		{"NotebookEdit(*.ipynb)", "NotebookEdit", `{"notebook_path": "/a/b.ipynb"}`, true},
		{"Bash(git *)", "Monitor", `{"command": "git push"}`, true},
		{"Bash(git commit *\\(*\\)*)", "Bash", `{"command": "git commit -m 'a (b)'"}`, true},
		{"Read(~/.ssh/**)", "Read", `{"file_path": "/home/me/.ssh/id"}`, true},
		{"Read(~/.ssh/**)", "Read", `{"file_path": "/home/you/.ssh/id"}`, false},
		{"Edit(src/**)", "Edit", `{"file_path": "/project/sub/src/a/b.go"}`, true},
		{"Edit(src/**)", "Edit", `{"file_path": "/project/src/b.go"}`, false},
		{"Edit(/src/*.go)", "Edit", `{"file_path": "/project/src/b.go"}`, true},
		{"Edit(/src/*.go)", "Edit", `{"file_path": "/project/src/a/b.go"}`, false},
		{"Edit(/src)", "Edit", `{"file_path": "/project/src/a/b.go"}`, true},
		{"Edit(a?c)", "Edit", `{"file_path": "x/abc"}`, true},
	} {
		fields := jsonx.Object{}.WithText("tool_name", c.tool).With("tool_input", jsontext.Value(c.input))
		call := ruleCall{event: event, fields: fields, session: Session{Cwd: "/project/sub", Project: "/project"}}
		why, _ := call.mismatch(d, Hook{If: c.rule})
		assert.Equal(t, c.selects, why == "", "%s on %s: %s", c.rule, c.input, why)
	}
}

// TestTextOfAnOutput: what a hook puts in place of a tool's result, in the shape of any tool.
func TestTextOfAnOutput(t *testing.T) {
	for output, want := range map[string]string{
		`"text"`: "text", `{"llmContent":"a","stdout":"b"}`: "a", `{"stdout":"out","stderr":"err"}`: "out\nerr",
		`{"stdout":"","stderr":"err"}`: "err",
		`{"stdout":"out"}`:             "out", `{"stderr":"err"}`: `{"stderr":"err"}`, `[1]`: "[1]", `{"x":1}`: `{"x":1}`,
	} {
		assert.Equal(t, want, outputText(jsontext.Value(output)), output)
	}
}
