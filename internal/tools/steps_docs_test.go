//go:build unix

package tools_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"

	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/harness/sessions"
)

// documentedUpdate is an update of a step of an example, after files were written.
type documentedUpdate struct {
	files  map[string]string
	step   int
	status string
	reply  string // a part of the refusal or of the question; empty if it is allowed
}

// TestStepsDocumentation hydrates an example of docs/write.md and that of docs/steps.md, and goes through their steps: each
// gate first refuses and later passes.
func TestStepsDocumentation(t *testing.T) {
	makefile := "test:\n\t@test -f code || { echo 'FAIL: no code'; exit 1; }\nlint:\n\t@true\n"
	updates := map[string][]documentedUpdate{
		"release": {
			{map[string]string{"Makefile": makefile, "VERSION": "1.2.0\n"}, 2, "in_progress",
				`#1 "Check that everything is committed" must be done first`},
			{nil, 1, "completed", `its check failed`},
			{map[string]string{"git": "#!/bin/sh\n"}, 1, "completed", ""},
			{nil, 2, "completed", "FAIL: no code"},
			{map[string]string{"code": "x"}, 2, "completed", ""},
			{nil, 3, "completed", "it needs CHANGELOG.md"},
			{map[string]string{"CHANGELOG.md": "fixes\n"}, 3, "completed", "CHANGELOG.md does not name version 1.2.0"},
			{map[string]string{"CHANGELOG.md": "1.2.0: fixes\n"}, 3, "completed", ""},
			{map[string]string{"dist/a.tar.gz": "a"}, 4, "completed", "it needs dist/checksums.txt"},
			{map[string]string{"dist/checksums.txt": "00  a.tar.gz\n"}, 4, "completed", "its check failed"},
			{map[string]string{"dist/a.tar.gz": compressed()}, 4, "completed", ""},
			{map[string]string{"dist/checksums.txt": ""}, 5, "in_progress", "cannot be started: it needs dist/checksums.txt"},
			{map[string]string{"dist/checksums.txt": "x"}, 5, "in_progress", ""},
			{nil, 5, "completed", "Publish what is in dist?"},
		},
		"tdd": {
			{map[string]string{"Makefile": makefile, "code": "x"}, 1, "completed", "every test passes"},
			{map[string]string{"Makefile": strings.ReplaceAll(makefile, "code", "more")}, 1, "completed", ""},
			{nil, 2, "completed", "FAIL: no more"},
			{map[string]string{"more": "x"}, 2, "completed", ""},
			{nil, 3, "completed", ""},
		},
	}
	pages := text(t, "docs/write.md") + text(t, "docs/steps.md")
	examples := regexp.MustCompile("(?m)^<!-- file: .claude/skills/(.*)/fsm.json -->\n```json\n((?s:.*?))```$")
	for _, m := range examples.FindAllStringSubmatch(pages, -1) {
		name, file := m[1], m[2]
		if updates[name] == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			spec, err := fsmspec.Parse([]byte(file))
			require.NoError(t, err)
			require.Empty(t, spec.Warnings())
			e, _ := hydratedExample(t, name, file)
			for i, u := range updates[name] {
				e.write(u.files)
				assert.Contains(t, e.update(u), u.reply, "update %d", i)
				if u.reply == "" {
					e.carryOut(u.step, u.status)
				}
			}
		})
		delete(updates, name)
	}
	require.Empty(t, updates, "examples that are not in the document")
}

func compressed() string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_ = w.Close() // of a buffer
	return b.String()
}

// example is a project with a hydrated workflow.
type example struct {
	t       *testing.T
	home    string
	project string
}

// hydratedExample returns the project and what the model reads when it calls the skill.
func hydratedExample(t *testing.T, name, file string) (e example, announced string) {
	e = example{t, t.TempDir(), t.TempDir()}
	put(t, filepath.Join(e.home, ".claude/skills", name, "fsm.json"), file)
	out, errs, code := e.run(map[string]any{"hook_event_name": "PostToolUse", "tool_name": "Skill",
		"tool_response": map[string]any{"success": true, "commandName": name}}, "hydrate", "--announce")
	require.Zero(t, code, errs)
	return e, out
}

// write writes files below the project. A file named git becomes the program of that
// name, so that an example needs no repository.
func (e example) write(files map[string]string) {
	for name, text := range files {
		path := filepath.Join(e.project, name)
		if name == "git" {
			path = filepath.Join(e.home, "bin", name)
		}
		require.NoError(e.t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(e.t, sessions.WriteProgram(path, text, 0o755))
	}
}

// update returns the answer of the hook to an update.
func (e example) update(u documentedUpdate) string {
	out, errs, code := e.run(map[string]any{"hook_event_name": "PreToolUse", "tool_name": "TaskUpdate",
		"tool_input": map[string]any{"taskId": strconv.Itoa(u.step), "status": u.status}}, "hook")
	if u.reply == "" {
		require.Empty(e.t, out+errs)
		require.Zero(e.t, code)
	}
	return strings.ReplaceAll(out+errs, `\"`, `"`)
}

// carryOut does what the client does after an update that is allowed.
func (e example) carryOut(step int, status string) {
	path := filepath.Join(e.home, ".claude/tasks/example", fmt.Sprint(step, ".json"))
	data, err := os.ReadFile(path)
	require.NoError(e.t, err)
	data = regexp.MustCompile(`"status": "[a-z_]+"`).ReplaceAll(data, []byte(`"status": "`+status+`"`))
	require.NoError(e.t, os.WriteFile(path, data, 0o644))
}

// run runs a hook with an event of the session.
func (e example) run(event map[string]any, args ...string) (out, errs string, code int) {
	event["session_id"], event["cwd"] = "example", e.project
	text, err := json.Marshal(event)
	require.NoError(e.t, err)
	o, err := realclient.Exec{Program: "fsmtx", Args: args, Dir: e.project, Stdin: string(text), Limit: time.Minute,
		Env: []string{"HOME=" + e.home, "CLAUDE_PROJECT_DIR=" + e.project, "CLAUDE_CODE_ENABLE_TODO_TOOLS=1",
			"PATH=" + filepath.Join(e.home, "bin") + ":" + os.Getenv("PATH"), raceOptions}}.Run(e.t.Context())
	require.NoError(e.t, err)
	return o.Stdout, o.Stderr, o.Code
}
