//go:build unix

package advice

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/program"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// skills are what the sessions call.
var skills = map[string]string{
	"release": `{"fsm": 2, "steps": [{"id": 1, "subject": "Write"}, {"id": 2, "subject": "Read", "blockedBy": [1], "approval": "Good?"},
{"id": 3, "subject": "Look", "blockedBy": [2], "outcomes": {"again": {"back": 1, "max": 2}, "fine": {}}}]}`,
	"notes": `[{"id": 1, "subject": "Collect"}, {"id": 2, "subject": "Draft", "blockedBy": [1], "check": "test -e drafted"}]`,
	"short": `[{"id": 1, "subject": "One"}]`,
}

// session is one of an agent, in a work tree.
type session struct {
	id, agent, dir string
	env            []string
}

// office is a person with two work trees of a project, and five sessions of two agents in them.
type office struct {
	t        *testing.T
	rng      *rand.Rand
	home     string
	program  string
	sessions []session
	dirs     []string // of terminals
	n        int      // events so far
	said     []string // what was done
	own      string   // the command that was run last
}

func newOffice(t *testing.T, seed uint64) *office {
	home := worlds.New(t).Dir
	o := &office{t: t, rng: rand.New(rand.NewPCG(seed, 1)), home: home, program: filepath.Join(program.Dir(t), "fsmtx")}
	project, linked := filepath.Join(home, "project"), filepath.Join(home, "linked")
	git := func(args ...string) {
		c := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		c.Dir, c.Env = project, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		require.NoError(t, c.Run())
	}
	for name, spec := range skills {
		for _, of := range []string{".claude", ".agents"} {
			dir := filepath.Join(project, of, "skills", name)
			require.NoError(t, os.MkdirAll(dir, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: "+name+"\ndescription: It.\n---\n"), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "fsm.json"), []byte(spec), 0o600))
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "a")
	git("worktree", "add", "-q", linked)
	o.dirs = []string{project, linked, filepath.Join(linked, ".claude")}
	for i, dir := range []string{project, project, linked, project, linked} {
		s := session{id: fmt.Sprintf("%04d0000-0000-4000-8000-00000000000%d", 1111*(i+1), i), agent: "claude", dir: dir}
		if s.env = []string{"CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=" + s.id, "CLAUDE_PROJECT_DIR=" + dir}; i > 2 {
			s.agent, s.env = "codex", []string{"AI_AGENT=x", "FSMTX_TEST_PROGRAM=codex", "CODEX_SESSION_ID=" + s.id}
		}
		o.sessions = append(o.sessions, s)
	}
	return o
}

// environ is the environment of a terminal in a directory.
func (o *office) environ(dir string) []string {
	path := filepath.Dir(o.program) + string(filepath.ListSeparator) + os.Getenv("PATH")
	return []string{"HOME=" + o.home, "PWD=" + dir, "PATH=" + path, "FSMTX_TEST_TYPES=the word"}
}

// run runs fsmtx and returns what it says, as who reads it sees it.
func (o *office) run(dir string, env []string, stdin string, args ...string) (text string, failed bool) {
	c := exec.Command(o.program, args...)
	var out, errs bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr, c.Dir = strings.NewReader(stdin), &out, &errs, dir
	c.Env = append(o.environ(dir), env...)
	err := c.Run()
	text = said(out.Bytes()) + "\n" + errs.String()
	o.said = append(o.said, fmt.Sprintf("%s%s in %s: fsmtx %s\n%s", strings.Join(env, " "), stdin, dir, strings.Join(args, " "), text))
	return text, err != nil
}

// event sends an event of a session to the hook.
func (o *office) event(s session, name, more string) string {
	o.n++
	mark := ""
	if s.agent == "codex" {
		mark = `"turn_id": "t", `
	}
	event := fmt.Sprintf(`{"session_id": %q, %s"cwd": %q, "hook_event_name": %q, "tool_use_id": "toolu_%d"%s}`, s.id, mark,
		s.dir, name, o.n, more)
	text, _ := o.run(s.dir, s.env, event, "hook", "--agent", s.agent)
	return text
}

// calls is the call of a skill.
func (o *office) calls(s session, skill string) string {
	if s.agent == "codex" {
		return o.event(s, "UserPromptSubmit", fmt.Sprintf(`, "prompt": "$%s"`, skill))
	}
	return o.event(s, "PostToolUse", fmt.Sprintf(`, "tool_name": "Skill", "tool_input": {"skill": %[1]q},
"tool_response": {"success": true, "commandName": %[1]q}`, skill))
}

// shell is a command in the shell of the session's agent, which the hook sees first.
func (o *office) shell(s session, args ...string) string {
	line := "fsmtx " + strings.Join(args, " ")
	o.own = line
	text := o.event(s, "PreToolUse", fmt.Sprintf(`, "tool_name": "Bash", "tool_input": {"command": %q}`, line))
	if strings.Contains(text, "deny") || strings.Contains(text, "ask") {
		return text
	}
	more, _ := o.run(s.dir, s.env, "", args...)
	return text + "\n" + more
}

// acts lets a session, or the person in a terminal, do something, and returns what they read.
func (o *office) acts() string {
	s := o.sessions[o.rng.IntN(len(o.sessions))]
	step := strconv.Itoa(1 + o.rng.IntN(4))
	skill := []string{"release", "notes", "short"}[o.rng.IntN(3)]
	dir := o.dirs[o.rng.IntN(len(o.dirs))]
	person := func(args ...string) string {
		text, _ := o.run(dir, nil, "", args...)
		return text
	}
	switch o.rng.IntN(16) {
	case 0, 1, 2:
		return o.calls(s, skill)
	case 3, 4, 5:
		return o.shell(s, "start", step) + o.shell(s, "complete", step)
	case 6:
		return o.shell(s, "complete", step, "--outcome", []string{"again", "fine"}[o.rng.IntN(2)])
	case 7:
		return o.event(s, "Stop", `, "stop_hook_active": false, "last_assistant_message": "Done."`)
	case 8:
		return o.event(s, "SessionStart", fmt.Sprintf(`, "source": %q`, []string{"startup", "resume", "clear"}[o.rng.IntN(3)]))
	case 9:
		return o.shell(s, "step", "skip", step, "--because", "x")
	case 10:
		return o.shell(s, "undo")
	case 11:
		return o.shell(s, "continue")
	case 12:
		return person("status")
	case 13:
		return person("next") + person("log")
	case 14:
		return person([][]string{{"undo"}, {"continue"}, {"step", "done", step, "--because", "x"}, {"complete", step}}[o.rng.IntN(4)]...)
	}
	return person("status", "--all")
}

// pastes lets the person paste a line in a terminal, and checks that no other list is touched than those that it names.
func (o *office) pastes(line string, now bool) {
	dir := o.dirs[o.rng.IntN(len(o.dirs))]
	before := o.lists()
	text := regexp.MustCompile(`(["'])\.\.\.["']|(--because) \.\.\.`).ReplaceAllString(line, `$2 tested`)
	c := exec.Command("sh", "-c", text)
	c.Dir = dir
	c.Env = append(o.environ(dir), "FSMTX_TEST_CALLER=person")
	out, err := c.CombinedOutput()
	o.said = append(o.said, "pasted in "+dir+": "+line+"\n"+string(out))
	after := o.lists()
	for _, list := range slices.Sorted(maps.Keys(after)) {
		assert.True(o.t, isNamed(line, list) || before[list] == after[list], "%s touched %s", line, list)
	}
	assert.True(o.t, !changes.MatchString(line) || names.MatchString(line), "%s names no list", line)
	if now && !strings.Contains(string(out), "no skill has put a workflow into a task list") { // which is the answer
		assert.NoError(o.t, err, "%s, which was read last, in %s:\n%s", line, dir, out)
	}
}

func (o *office) lists() map[string]string {
	defer os.Setenv("HOME", os.Getenv("HOME"))
	os.Setenv("HOME", o.home)
	return lists()
}

// TestNoPastedLineTouchesAnotherList: five sessions of two agents in two work trees, and a person who pastes what they read last, or
// before, wherever they are. FSMTX_PASTED is how many days are tried, or the first and the last one.
func TestNoPastedLineTouchesAnotherList(t *testing.T) {
	worlds.Long(t)
	first, last := 1, 8
	if n, err := fmt.Sscanf(os.Getenv("FSMTX_PASTED"), "%d-%d", &first, &last); n == 1 && err != nil {
		first, last = 1, first
	}
	pasted := 0
	for seed := first; seed <= last && !t.Failed(); seed++ {
		o := newOffice(t, uint64(seed))
		var read []string
		for range 30 {
			o.own = "none"
			fresh := linesIn(o.acts())
			read = append(read, fresh...)
			fresh = slices.DeleteFunc(fresh, func(line string) bool { return strings.HasPrefix(line, o.own) }) // may fail, too
			switch {
			case len(fresh) > 0 && o.rng.IntN(2) == 0:
				o.pastes(fresh[o.rng.IntN(len(fresh))], true)
			case len(read) > 0 && o.rng.IntN(3) == 0:
				o.pastes(read[o.rng.IntN(len(read))], false)
			default:
				continue
			}
			if pasted++; t.Failed() {
				t.Fatalf("day %d:\n%s", seed, strings.Join(o.said, "\n"))
			}
		}
	}
	require.NotZero(t, pasted)
	t.Logf("pasted %d lines", pasted)
}
