//go:build e2e

// Values and time limits: set, vars, args, within.

package e2e

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/gates"
	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/state"
	lists "github.com/fsmtx/fsmtx/internal/tasks"
)

// versioned is a release from the clean work tree to what is published.
const versioned = `{"fsm": 2, "vars": {"theme": "the {args} release"}, "steps": [
	{"id": 1, "subject": "Check that everything is committed", "check": "git diff --quiet HEAD"},
	{"id": 2, "subject": "Choose the kind of {theme}", "blockedBy": [1], "decides": "person", "outcomes": ["major", "minor", "patch"]},
	{"id": 3, "subject": "Write the version", "blockedBy": [2], "set": {"version": "^[0-9]+\\.[0-9]+\\.[0-9]+$"}, "check": "sh bump-ok \"$FSM_OUTCOME_2\" \"$FSM_VERSION\" \"$FSM_ARGS\""},
	{"id": 4, "subject": "Write the migration guide", "blockedBy": [3], "when": {"2": "major"}, "produces": ["docs/migrating-{version}.md"]},
	{"id": 5, "subject": "Write the release notes", "blockedBy": [3], "when": {"2": ["major", "minor"]}, "produces": ["CHANGELOG.md"], "check": "grep -qF \"$FSM_VERSION\" CHANGELOG.md"},
	{"id": 6, "subject": "Run every test", "blockedBy": [3, 4, 5], "check": {"run": "test -e tested", "timeout": "20m"}, "outcomes": {"failed": {"back": 6, "max": 2}}},
	{"id": 7, "subject": "Publish {version}", "activeForm": "Publishing {version}", "blockedBy": [6], "only": ["Bash(make publish *)"], "approval": "Is {version} published, and does it install?"}
]}`

// gives completes a task with metadata.
func gives(id, task string, metadata map[string]any) Block {
	return Call(id, "TaskUpdate", map[string]any{"taskId": task, "status": "completed", "metadata": metadata})
}

// TestAReleaseWithValues: a value reaches the list, the files and the commands of later steps. One
// value and one outcome are wrong at first.
func TestAReleaseWithValues(t *testing.T) {
	s := held(t, versioned)
	s.Write("project/bump-ok", `echo "$@" > seen; test "$1" = major && test "$2" = 2.0.0 && test "$3" = spring`)
	s.Write("project/docs/migrating-1.0.0.md", "of an earlier release")
	r := s.Prompt(Script{Main: []Turn{Do(Call("skill", "Skill", map[string]any{"skill": "release", "args": "spring"})), load,
		Do(Bash("commit", "git init -q . && git add bump-ok && git -c user.name=a -c user.email=a@b.c commit -q -m x")),
		Do(TaskUpdate("committed", "1", "completed")),
		Do(gives("wrong outcome", "2", map[string]any{"outcome": "huge"})),
		Do(TaskList("first list")),
		Say("done")}}, "go")
	allowed(t, r, "commit", "committed")
	assert.Contains(t, denied(t, r, "wrong outcome"), `is decided by the person`)
	assert.Contains(t, strings.Join(taskLines(t, r, "first list"), "\n"), "#2 [pending] Choose the kind of the spring release\n")
	assert.Contains(t, strings.Join(taskLines(t, r, "first list"), "\n"), "#7 [pending] Publish {version}")

	frame := &gates.Frame{Store: state.Store{List: lists.List{Dir: list(s), Wait: 5 * time.Second}, Session: s.Session}}
	_, err := frame.GoPast(t.Context(), gates.Past{Step: 2, Done: true, Outcome: "major", Because: "it breaks"},
		state.By{Who: state.ThePerson, How: state.AtTerminal})
	require.NoError(t, err)

	r = s.Prompt(Script{Main: []Turn{load,
		Do(TaskUpdate("no value", "3", "completed")),
		Do(gives("wrong value", "3", map[string]any{"version": "v2"})),
		Do(gives("value", "3", map[string]any{"version": "2.0.0"})),
		Do(TaskList("after the value")),
		Do(TaskUpdate("no guide", "4", "completed")),
		Do(Bash("write", "echo x > docs/migrating-2.0.0.md; echo 2.0.0 > CHANGELOG.md; touch tested")),
		Do(TaskUpdate("guide", "4", "completed")),
		Do(TaskUpdate("notes", "5", "completed")),
		Do(TaskUpdate("tests", "6", "completed")),
		Do(Bash("too early", "make publish")),
		Do(TaskUpdate("publish", "7", "in_progress")),
		Do(TaskUpdate("published", "7", "completed")),
		Do(TaskList("last list")),
		Say("done")}}, "go on", saysYes(t, s)...)
	assert.Contains(t, denied(t, r, "no value"),
		`it has to give version, which matches ^[0-9]+\.[0-9]+\.[0-9]+$. Complete it with metadata {"version": "…"}`)
	assert.Contains(t, denied(t, r, "wrong value"), `version is "v2", and it does not match ^[0-9]+\.[0-9]+\.[0-9]+$`)
	seen, err := os.ReadFile(s.Path("project/seen"))
	require.NoError(t, err)
	assert.Equal(t, "major 2.0.0 spring\n", string(seen))
	assert.Contains(t, strings.Join(taskLines(t, r, "after the value"), "\n"), "#7 [pending] Publish 2.0.0")
	assert.Contains(t, denied(t, r, "no guide"), "it needs docs/migrating-2.0.0.md")
	denied(t, r, "too early")
	allowed(t, r, "value", "write", "guide", "notes", "tests", "publish", "published")
	assert.Contains(t, strings.Join(taskLines(t, r, "last list"), "\n"), "#7 [completed] Publish 2.0.0")
	now := stateOf(t, s)
	assert.Equal(t, map[string]string{"version": "2.0.0"}, now.Step(3).Values)
	assert.Equal(t, "done", now.Step(7).Outcome)
}

// TestALateStep: the client shows a step that the clock has ended as completed, and the model reads
// why.
func TestALateStep(t *testing.T) {
	s := held(t, `{"fsm": 2, "steps": [
	{"id": 1, "subject": "Tell the users", "within": "15m", "outcomes": {"late": {}}},
	{"id": 2, "subject": "Apologise", "when": {"1": "late"}},
	{"id": 3, "subject": "Go on", "blockedBy": [1, 2]}
]}`)
	r := s.Prompt(Script{Main: append(begun(), Do(TaskUpdate("start", "1", "in_progress")), Say("done"))}, "go")
	allowed(t, r, "start")
	anHourEarlier(t, s)
	r = s.Prompt(Script{Main: []Turn{load,
		Do(TaskUpdate("too late", "1", "completed")),
		Do(TaskList("list")),
		Say("done")}}, "go on")
	allowed(t, r, "too late")
	assert.True(t, r.Exchanges(Main)[0].Request.Says(`Ready: #2 "Apologise"`), "the resumed session")
	assert.Equal(t, []string{"#1 [completed] Tell the users", "#2 [pending] Apologise", "#3 [pending] Go on [blocked by #2]"},
		taskLines(t, r, "list"))
	assert.Equal(t, "late", stateOf(t, s).Step(1).Outcome)
}

// anHourEarlier dates back what is on record, with the checksums.
func anHourEarlier(t *testing.T, s *realclient.Sandbox) {
	t.Helper()
	path := filepath.Join(filepath.Dir(list(s)), "."+filepath.Base(list(s))+".fsmtx", "steps.jsonl")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	data = regexp.MustCompile(`(?m)^\{"sum":"[0-9a-f]+",`).ReplaceAll(data, []byte("{"))
	data = regexp.MustCompile(`"time":"[^"]+"`).ReplaceAll(data, fmt.Appendf(nil, `"time":%q`,
		time.Now().Add(-time.Hour).UTC().Format(time.RFC3339Nano)))
	data = regexp.MustCompile(`(?m)^\{.*$`).ReplaceAllFunc(data, func(line []byte) []byte {
		return append(fmt.Appendf(nil, `{"sum":"%08x",`, crc32.ChecksumIEEE(line)), line[1:]...)
	})
	require.NoError(t, os.WriteFile(path, data, 0o600))
}
