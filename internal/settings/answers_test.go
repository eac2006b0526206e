package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/locator"
)

func firstOf(all []Answerer) string {
	if len(all) == 0 {
		return ""
	}
	return all[0].Place
}

// TestWhatAnswersForWhat: each event answers for its own questions, and a hook that is changed is another one.
func TestWhatAnswersForWhat(t *testing.T) {
	of := func(event, command string) Effective {
		return Effective{others: []file{newFile("/a", User, fmt.Appendf(nil,
			`{"hooks": {%q: [{"hooks": [{"type": "command", "command": %q}]}]}}`, event, command))}}
	}
	for event, want := range map[string]string{"PermissionRequest": "TaskUpdate Bash AskUserQuestion", "PreToolUse": "AskUserQuestion",
		"Elicitation": "Elicitation", "ElicitationResult": "Elicitation", "PostToolUse": ""} {
		var found []string
		for _, tool := range []string{"TaskUpdate", "Bash", "AskUserQuestion", Elicitation} {
			if len(of(event, "true").Answerers(tool)) > 0 {
				found = append(found, tool)
			}
		}
		assert.Equal(t, want, strings.Join(found, " "), event)
	}
	assert.NotEqual(t, of("Elicitation", "true").Answerers(Elicitation)[0].Sum, of("Elicitation", "false").Answerers(Elicitation)[0].Sum)
}

func TestAnswerers(t *testing.T) {
	const hook = `{"hooks": {
 "Stop": [],
 "PermissionRequest": [%s]}}`
	of := func(groups string) Effective {
		return Effective{others: []file{newFile("/a", User, []byte("{}")), newFile("/b", Local, fmt.Appendf(nil, hook, groups))}}
	}
	const command = `"hooks": [{"type": "command", "command": "true"}]`
	for groups, want := range map[string]string{
		``:                                     "",
		`{` + command + `}`:                    "/b:3",
		`{"matcher": "", ` + command + `}`:     "/b:3",
		`{"matcher": "*", ` + command + `}`:    "/b:3",
		`{"matcher": "Bash", ` + command + `}`: "",
		`{"matcher": "TaskUpdates", ` + command + `}`:          "",
		`{"matcher": "Bash|TaskUpdate", ` + command + `}`:      "/b:3",
		`{"matcher": "Bash, TaskUpdate", ` + command + `}`:     "/b:3",
		`{"matcher": "Task.*", ` + command + `}`:               "/b:3",
		`{"matcher": "Bash"}, {"matcher": "TaskUpdate"}`:       "/b:3",
		`{"matcher": "Bash"}, {"matcher": "mcp__x-1__y_Z"}, 5`: "/b:3", // a hyphen is none of a name
	} {
		assert.Equal(t, want, firstOf(of(groups).Answerers("TaskUpdate")), groups)
	}
	assert.Empty(t, Effective{others: []file{newFile("/c", User, []byte(`{"hooks": 5}`)),
		newFile("/d", User, []byte(`{`))}}.Answerers("TaskUpdate"))
}

func TestAnswerersOfPlugins(t *testing.T) {
	const event = `{"PermissionRequest": [{"matcher": "Task.*", "hooks": [{"type": "command", "command": "true"}]}]}`
	const manifest = ".claude-plugin/plugin.json"
	for want, files := range map[string]map[string]string{
		"":                     {"hooks/hooks.json": `{"hooks": {"Stop": []}}`, manifest: `{"name": "p", "hooks": "./none.json"}`},
		"/hooks/hooks.json:1":  {"hooks/hooks.json": `{"hooks": ` + event + `}`},
		"/" + manifest + ":2":  {manifest: `{"name": "p",` + "\n" + `"hooks": ` + event + `}`},
		"/more/answers.json:1": {manifest: `{"name": "p", "hooks": "./more/answers.json"}`, "more/answers.json": `{"hooks": ` + event + `}`},
		"/second.json:1": {manifest: `{"name": "p", "hooks": ["./first.json", "./second.json"]}`, "second.json": `{"hooks": ` + event +
			`}`},
		"/" + manifest + ":1": {manifest: `{"name": "p", "hooks": [5, ` + event + `]}`},
	} {
		root := t.TempDir()
		for name, text := range files {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
		}
		if want != "" {
			want = root + want
		}
		assert.Equal(t, want, firstOf(AnswerersOfPlugins(locator.OS{}, []string{t.TempDir(), root}, "TaskUpdate")))
	}
}
