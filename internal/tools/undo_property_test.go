package tools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/tools"
)

// undoSkills are what is called. The first demands another one, and has the items of a file in a loop.
var undoSkills = map[string]string{
	"outer": `{"fsm": 2, "steps": [{"id": 1, "subject": "Each", "each": {"lines": "items"}},
{"id": 2, "subject": "Notes", "blockedBy": [1], "do": "notes"},
{"id": 3, "subject": "Look", "blockedBy": [2], "outcomes": {"again": {"back": 1, "max": 3}, "fine": {}}}]}`,
	"notes": `[{"id": 1, "subject": "Collect"}, {"id": 2, "subject": "Draft", "blockedBy": [1], "check": "test -e drafted"}]`,
	"short": `[{"id": 1, "subject": "One"}]`,
}

// undoWorld is a list with a history that is short.
type undoWorld struct {
	worlds.Home
	calls   int
	begun   int    // by these
	deaths  bool   // commands may be killed
	killed  bool   // one was
	history string // how many calls it keeps that nothing in the list needs
	log     string // FSMTX_LOG; empty for none
}

func newUndoWorld(t *rapid.T) *undoWorld {
	w := &undoWorld{Home: worlds.New(t), history: "2"}
	for name, spec := range undoSkills {
		w.Write(t, ".claude/skills/"+name+"/SKILL.md", "")
		w.Write(t, ".claude/skills/"+name+"/fsm.json", spec)
	}
	w.Write(t, "project/items", "x\ny\n")
	for _, args := range [][]string{
		{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "a"},
	} {
		c := exec.Command("git", args...)
		c.Dir, c.Env = w.Path("project"), []string{"HOME=" + w.Dir, "PATH=" + os.Getenv("PATH")}
		require.NoError(t, c.Run())
	}
	return w
}

// dies runs a command, kills it somewhere, and reports whether that can be done; nil where it cannot.
var dies func(t *rapid.T, env []string, stdin string, args ...string) bool

// mayDie are the commands that are killed.
var mayDie = []string{"hydrate", "undo", "continue", "start", "complete"}

// diesFirst may run a command before, and kill it. The next one then finds what that has left, or what undo and the readers tell to run has
// put it right.
func (w *undoWorld) diesFirst(t *rapid.T, agent bool, stdin string, args ...string) bool {
	if !w.deaths || dies == nil || !slices.Contains(mayDie, args[0]) || rapid.IntRange(0, 4).Draw(t, "dies") > 0 {
		return false
	}
	env := []string{"HOME=" + w.Dir, "PATH=" + os.Getenv("PATH"), callers.Environ(caller.Person)}
	if agent {
		env = append(env[:2], "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID="+worlds.ListID)
	}
	if !dies(t, env, stdin, args...) {
		return false
	}
	w.killed = true
	if args[0] == "undo" || rapid.Bool().Draw(t, "recovers") {
		_, _ = w.run(t, false, "", "recover", "--list", worlds.ListID)
	}
	return true
}

// run runs fsmtx, as the agent of the session or as its person. A command that was killed is run again, and may find that it is done.
func (w *undoWorld) run(t *rapid.T, agent bool, stdin string, args ...string) (string, error) {
	was := w.last()
	killed := w.diesFirst(t, agent, stdin, args...)
	var out, failed bytes.Buffer
	streams := w.streams(agent)
	streams.In, streams.Out, streams.Err = strings.NewReader(stdin), &out, &failed
	code := tools.Main(args, streams)
	var err error
	if code != 0 && !(killed && w.last() > was) {
		err = fmt.Errorf("fsmtx %s: exit code %d: %s%s", strings.Join(args, " "), code, &out, &failed)
	}
	t.Logf("fsmtx %s: %v", strings.Join(args, " "), err)
	return out.String(), err
}

// streams are those of a person at a terminal, or of the session's agent.
func (w *undoWorld) streams(agent bool) terminal.Streams {
	env := map[string]string{"HOME": w.Dir, "PATH": os.Getenv("PATH"), decisions.Variable: w.log}
	who := caller.Caller{Kind: caller.Person, Terminal: "/dev/pts/7"}
	if agent {
		env["CLAUDECODE"], env["CLAUDE_CODE_SESSION_ID"] = "1", worlds.ListID
		who = caller.Caller{Kind: caller.Agent, Program: caller.Claude, Why: "claude (process 7) is above it"}
	}
	return terminal.Streams{Getenv: func(name string) (string, bool) { value, ok := env[name]; return value, ok },
		Caller: func() caller.Caller { return who }}
}

// call is the call of a skill by the agent.
func (w *undoWorld) call(t *rapid.T, skill string) error {
	w.calls++
	_, err := w.run(t, false, fmt.Sprintf(`{"session_id": %q, "cwd": %q, "hook_event_name": "PostToolUse", "tool_name": "Skill",
"tool_use_id": "toolu_%d", "tool_input": {"skill": %[4]q}, "tool_response": {"success": true, "commandName": %[4]q}}`,
		worlds.ListID, w.Path("project"), w.calls, skill),
		"hydrate", "--history", w.history)
	if err == nil {
		w.begun++
	}
	return err
}

// steps returns the numbers of the steps in the list that are open.
func (w *undoWorld) steps(t *rapid.T) (open []string) {
	text, err := w.run(t, false, "", "status", "--list", worlds.ListID, "--json")
	require.NoError(t, err)
	var now struct {
		Workflows []struct {
			Steps []struct {
				ID    int64
				State string
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &now))
	for _, x := range now.Workflows {
		for _, s := range x.Steps {
			if !slices.Contains([]string{"done", "not needed", "skipped", "gone"}, s.State) {
				open = append(open, strconv.FormatInt(s.ID, 10))
			}
		}
	}
	return open
}

// works starts or completes some of the steps with numbers after this one. Most can be neither.
func (w *undoWorld) works(t *rapid.T, after int) {
	for _, step := range w.steps(t) {
		if n, _ := strconv.Atoi(step); n <= after {
			continue
		}
		switch rapid.IntRange(0, 4).Draw(t, "work") {
		case 0:
		case 1:
			_, _ = w.run(t, true, "", "start", step)
		default:
			_, _ = w.run(t, true, "", "start", step)
			if _, err := w.run(t, true, "", "complete", step); err != nil {
				_, _ = w.run(t, true, "", "complete", step, "--outcome", rapid.SampledFrom([]string{"again", "fine"}).Draw(t, "outcome"))
			}
		}
	}
}

// cleared is what the client, or the person, does to the files of tasks. A workflow of which the list has no task any more is on record as
// long as the history keeps it.
func (w *undoWorld) cleared(t *rapid.T) {
	w.history = "10"
	for _, name := range worlds.Names(w.Tasks(t)) { // in one order, so that a failure can be shown again
		if strings.HasSuffix(name, ".json") && rapid.Bool().Draw(t, "removed") {
			require.NoError(t, os.Remove(w.InList(name)))
		}
	}
}

// wanders makes the workflow of the list go on in another one, and back, if it is the only one. Neither is undone.
func (w *undoWorld) wanders(t *rapid.T) {
	const other = "elsewhere"
	w.history = "10" // what went on elsewhere stays in the history, and what it replaced has to be there, too
	require.NoError(t, os.MkdirAll(w.Path(".claude/tasks/"+other), 0o755))
	if _, err := w.run(t, false, "", "continue", "--list", worlds.ListID, "--to", other); err != nil {
		return
	}
	_, err := w.run(t, false, "", "undo", "--list", worlds.ListID, strconv.Itoa(w.last()), "--force")
	require.ErrorContains(t, err, "so nothing was undone")
	w.works(t, 0)
	_, err = w.run(t, false, "", "continue", "--list", other, "--to", worlds.ListID)
	require.NoError(t, err)
	_, err = w.run(t, false, "", "undo", "--list", worlds.ListID, strconv.Itoa(w.last()), "--force")
	require.ErrorContains(t, err, "so nothing was undone")
	w.works(t, 0)
}

var (
	spaces  = regexp.MustCompile(`  +`)
	ofUndo  = regexp.MustCompile(`(?m)^(last call: |last worked on |fsmtx undo |it |call ).*\n`)
	ofList  = regexp.MustCompile(`(?m)^  ` + worlds.ListID + ` .*\n`)
	minutes = regexp.MustCompile(` \d{4}-\d\d-\d\d \d\d:\d\d `)
	digests = regexp.MustCompile(`(?s)"evidence": \{.*?\}`)
)

// read returns what every reader says. Of the log it is about the changes up to the last one.
func (w *undoWorld) read(t *rapid.T, last int) map[string]string {
	all := map[string]string{}
	w.requireEnough(t)
	if w.killed { // what was begun is told as that until it is completed
		_, _ = w.run(t, false, "", "recover", "--list", worlds.ListID)
	}
	for name, args := range map[string][]string{
		"status": {"status"}, "next": {"next"}, "graph": {"graph"}, "log": {"log"}, "attest": {"attest", "--print", "--open", "--tree"},
	} {
		text, err := w.run(t, false, "", append(args, "--list", worlds.ListID)...)
		if err != nil {
			text += err.Error()
		}
		switch name {
		case "status":
			// and the last decision about a step, which is another one when a refusal is forgotten
			text = ofUndo.ReplaceAllString(text, "")
		case "log":
			lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
				n, err := strconv.Atoi(strings.SplitN(line, " ", 2)[0])
				return err == nil && n > last
			})
			text = spaces.ReplaceAllString(strings.Join(lines, "\n"), " ") // columns are as wide as what is in them
			if i := strings.LastIndex(text[:max(0, strings.Index(text, " was before in the task list "))], "\n"); i >= 0 {
				all["log of the other list"], text = text[i:], text[:i]
			}
		case "attest":
			text = digests.ReplaceAllString(text, "") // lines stay on record, such as that the skill was called
		}
		all[name] = strings.TrimSpace(text)
	}
	text, err := w.run(t, false, "", "status", "--all")
	if err != nil {
		text = err.Error()
	}
	for _, line := range ofList.FindAllString(text, -1) { // without the time of the last work
		all["status of all"] += minutes.ReplaceAllString(line, "")
	}
	return all
}

// requireEnough: an event does not read all of the history, and knows what it would if it did.
func (w *undoWorld) requireEnough(t *rapid.T) {
	known := func(ever bool) (all []string) {
		st := &state.Store{List: tasks.List{Dir: w.List()}}
		if ever {
			_, err := st.EverOnRecord()
			require.NoError(t, err)
		}
		s, err := st.Now(context.Background())
		require.NoError(t, err)
		for _, c := range s.Steps {
			all = append(all, fmt.Sprint(c.Name(), c.Workflow.Command, c.Status, c.Outcome, c.Round, s.Word(c), s.IsMissing(c)))
		}
		return append(all, fmt.Sprint(s.Troubles, s.Departed, len(s.Evidence), len(s.Calls), s.Summary(), s.Misshapen()))
	}
	require.Equal(t, known(true), known(false))
}

// TestAfterAnUndoEveryReaderSaysWhatItSaidBefore the call, whatever came before and after, and after its undo what it said then.
func TestAfterAnUndoEveryReaderSaysWhatItSaidBefore(t *testing.T) {
	worlds.Long(t)
	t.Chdir(t.TempDir())
	rapid.Check(t, func(t *rapid.T) {
		w := newUndoWorld(t)
		w.deaths = rapid.IntRange(0, 4).Draw(t, "deaths") == 0
		require.NoError(t, os.Chdir(w.Path("project")))
		for range rapid.IntRange(1, 3).Draw(t, "before") {
			_ = w.call(t, rapid.SampledFrom([]string{"outer", "notes", "short"}).Draw(t, "skill"))
			w.works(t, 0)
			switch rapid.IntRange(0, 5).Draw(t, "clear") {
			case 0:
				w.cleared(t)
			case 1, 2:
				w.wanders(t)
			}
		}
		before := w.read(t, w.last())
		number, highest := w.last()+1, 0
		if mark, err := os.ReadFile(w.InList(".highwatermark")); err == nil {
			highest, _ = strconv.Atoi(strings.TrimSpace(string(mark)))
		}
		if w.call(t, rapid.SampledFrom([]string{"outer", "notes", "short"}).Draw(t, "called")) != nil {
			return // refused
		}
		if rapid.Bool().Draw(t, "worked on") {
			w.works(t, highest)
		}
		after, report := w.read(t, number), w.report(t)
		_, err := w.run(t, false, "", "undo", "--list", worlds.ListID, strconv.Itoa(number), "--force")
		require.NoError(t, err)
		undo := w.last()
		requireSame(t, before, w.read(t, number-1))
		w.report(t)
		_, err = w.run(t, false, "", "undo", "--list", worlds.ListID, strconv.Itoa(undo))
		require.NoError(t, err)
		requireSame(t, after, w.read(t, number))
		if again := w.report(t); again != "" {
			require.Equal(t, report, again)
		}
	})
}

// requireSame: of the log the oldest lines may be missing, if the history is too short for them.
func requireSame(t *rapid.T, want, got map[string]string) {
	require.True(t, strings.HasPrefix(want["log"], got["log"]), "%s\n%s", want["log"], got["log"])
	want["log"] = got["log"]
	for name, text := range want {
		require.Equal(t, text, got[name], name)
	}
}

// last returns the number of the last change.
func (w *undoWorld) last() (n int) {
	all, _ := filepath.Glob(filepath.Join(w.StateDir(), "done-*"))
	for _, path := range all {
		k, _ := strconv.Atoi(strings.TrimPrefix(filepath.Base(path), "done-n")[:10])
		n = max(n, k)
	}
	return n
}
