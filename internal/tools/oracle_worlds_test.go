//go:build oracle && unix

package tools_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// hostileSpec is the workflow whose list is damaged, shared and worked on by other agents.
const hostileSpec = `{"fsm": 2, "steps": [
 {"id": 1, "subject": "Write", "check": "test -e made"},
 {"id": 2, "subject": "Review", "blockedBy": [1], "outcomes": {"good": {}, "bad": {"back": 1, "max": 2}}},
 {"id": 3, "subject": "Read along"},
 {"id": 4, "subject": "Look along"},
 {"id": 5, "subject": "Publish", "blockedBy": [2], "only": ["Bash(git push *)"], "approval": "Publish it?"}]}`

// begun is a walker whose list has the workflow, with the first step started.
func begun(t testing.TB, w *scene) *walker {
	k := &walker{scene: w, t: t, random: rand.New(rand.NewPCG(1, 1)), spec: hostileSpec}
	k.prepare()
	k.skill("flow")
	k.update("1", map[string]any{"status": "in_progress"})
	return k
}

// hostileInputs damage a file of the list or of its state, and then do what a session, an agent
// and a person do.
func hostileInputs(testing.TB) (inputs []input) {
	ways := map[string]func(path string) error{
		"empty":   func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"garbage": func(path string) error { return os.WriteFile(path, []byte("{\x00\xff\"id\": [}\n"), 0o600) },
		"half": func(path string) error {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, text[:len(text)/2], 0o600)
		},
		"gone":      os.RemoveAll,
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"link":      func(path string) error { return os.Symlink("/nowhere/at/all", path) },
		"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"null":      func(path string) error { return os.WriteFile(path, []byte("null\n"), 0o600) },
		"open":      func(path string) error { return os.Chmod(path, 0o777) },
	}
	for _, target := range []string{"s1", "s1/1.json", "s1/2.json", "s1/.highwatermark", "s1/x.json", ".s1.fsmtx", ".s1.fsmtx/steps.jsonl",
		".s1.fsmtx/lock",
		".s1.fsmtx/journal", ".s1.fsmtx/done-*", ".s1.fsmtx/pending.json", ".s1.fsmtx/locks", ".s1.fsmtx/unknown"} {
		for way, damage := range ways {
			name := "hostile " + target + " " + way
			inputs = append(inputs, input{name, hostileSpec, func(t testing.TB, w *scene) []point {
				k := begun(t, w)
				path := w.at("home/.claude/tasks", target)
				if found, _ := filepath.Glob(path); len(found) > 0 {
					path = found[0]
				}
				if slices.Contains([]string{"directory", "link", "pipe"}, way) {
					_ = os.RemoveAll(path)
				}
				_ = damage(path) // a file that is not there cannot be cut in half
				w.changes(t)
				k.after()
				return w.points
			}})
		}
	}
	return inputs
}

// after does what follows in a session, and asks all that can be asked.
func (k *walker) after() {
	k.hook("session resume", "SessionStart", map[string]any{"source": "resume"})
	k.command("", "status", "s1")
	k.update("1", map[string]any{"status": "completed"})
	k.write(k.t, k.at("project/made"), "x")
	k.update("1", map[string]any{"status": "completed"})
	k.update("2", map[string]any{"status": "completed", "metadata": map[string]any{"outcome": "bad"}})
	k.hook("bash git push", "PreToolUse", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "git push origin main"}})
	k.hook("stop", "Stop", map[string]any{"stop_hook_active": false})
	for _, args := range [][]string{{"next"}, {"recover", "--session", "s1"}, {"log", "s1"}, {"log", "--decisions", "s1"}, {"status", "s1",
		"--json"},
		{"step", "show", "s1"}, {"doctor"}, {"undo", "s1", "--dry-run"}, {"recover", "--session", "s1", "--force"}, {"status", "s1"}} {
		k.command("", args...)
	}
	k.skill("aside")
	k.command("person", "step", "skip", "1", "--because", "it is so", "--session", "s1")
	k.command("person", "undo", "s1")
	k.command("", "status", "s1", "--json")
}

// loopInputs spend the maximum of a loop, and go on: each way of completing a step has its last turn, and one more.
func loopInputs(testing.TB) (inputs []input) {
	for way, complete := range map[string]func(k *walker, step, outcome string){
		"update": func(k *walker, step, outcome string) {
			k.update(step, map[string]any{"status": "completed", "metadata": map[string]any{"outcome": outcome}})
		},
		"command": func(k *walker, step, outcome string) { k.command("agent", "complete", step, "--outcome", outcome) },
		"person": func(k *walker, step, outcome string) {
			k.command("person", "step", "done", step, "--outcome", outcome, "--because", "it is so", "--session", "s1")
		},
	} {
		for most := 1; most <= 3; most++ {
			spec := fmt.Sprintf(`{"fsm": 2, "steps": [{"id": 1, "subject": "Write", "outcomes": {"written": {}}},
				{"id": 2, "subject": "Review", "blockedBy": [1], "outcomes": {"good": {}, "bad": {"back": 1, "max": %d}}},
				{"id": 3, "subject": "Publish", "blockedBy": [2]}]}`, most)
			inputs = append(inputs, input{fmt.Sprintf("loop %s %d", way, most), spec, func(t testing.TB, w *scene) []point {
				k := &walker{scene: w, t: t, random: rand.New(rand.NewPCG(1, 1)), spec: spec}
				k.prepare()
				k.skill("flow")
				for range most + 1 {
					complete(k, "1", "written")
					complete(k, "2", "bad")
					k.command("", "status", "s1")
				}
				k.command("", "status", "s1", "--json")
				complete(k, "2", "good")
				k.command("person", "step", "reopen", "1", "--because", "once more", "--session", "s1")
				complete(k, "1", "written")
				complete(k, "2", "bad")
				for _, args := range [][]string{{"next"}, {"log", "--decisions", "s1"}, {"status", "s1", "--json"}} {
					k.command("", args...)
				}
				return w.points
			}})
		}
	}
	return inputs
}

// agentInputs send the events that other agents sent, in a project with a workflow, before and after
// it was begun, and with other words in place of the command and the prompt.
func agentInputs(t testing.TB) (inputs []input) {
	text, err := os.ReadFile("../../testdata/agents/events.jsonl")
	require.NoError(t, err)
	recorded := map[string][]string{}
	var names []string
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var e struct {
			Agent string
			Event json.RawMessage
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &e))
		if recorded[e.Agent] == nil {
			names = append(names, e.Agent)
		}
		recorded[e.Agent] = append(recorded[e.Agent], string(e.Event))
	}
	for _, name := range names {
		for _, named := range []bool{true, false} {
			inputs = append(inputs, input{fmt.Sprintf("agent %s %v", name, named), strings.Join(recorded[name], "\n"), func(t testing.TB,
				w *scene) []point {
				k := &walker{scene: w, t: t, random: rand.New(rand.NewPCG(1, 1)), spec: hostileSpec}
				k.prepare()
				require.NoError(t, os.CopyFS(w.at("project/.agents/skills"), os.DirFS(w.at("project/.claude/skills"))))
				require.NoError(t, os.CopyFS(w.at("project/."+strings.Fields(name)[0]+"/skills"), os.DirFS(w.at("project/.claude/skills"))))
				w.changes(t)
				k.agent(strings.Fields(name)[0], named, recorded[name])
				return w.points
			}})
		}
	}
	return inputs
}

func (k *walker) agent(name string, named bool, events []string) {
	args := []string{"hook"}
	if named {
		args = append(args, "--agent", name)
	}
	env := []string{"FSMTX_TEST_CALLER=agent", "AI_AGENT=" + name, "FSMTX_TEST_PROGRAM=" + name}
	all := func(when string) {
		for i, e := range events {
			e = strings.ReplaceAll(e, "/tmp/x", k.dir)
			for _, word := range []string{"echo hello", "fsmtx start 1", "fsmtx complete 1", "fsmtx step skip 1 --because x", "git push origin main",
				"cat .agents/skills/flow/SKILL.md"} {
				if word == "echo hello" || strings.Contains(e, "echo hello") {
					k.run(k.t, fmt.Sprintf("%s %d %s", when, i, word), k.at("project"), strings.ReplaceAll(e, "echo hello", word), env, args...)
				}
			}
			var members map[string]any
			if json.Unmarshal([]byte(e), &members) != nil || members["prompt"] == nil {
				continue
			}
			for _, prompt := range []string{"$flow", "/flow", "use the skill flow", "stop", "/skills:flow"} {
				members["prompt"] = prompt
				text, _ := json.Marshal(members)
				k.run(k.t, fmt.Sprintf("%s %d prompt %s", when, i, prompt), k.at("project"), string(text), env, args...)
			}
		}
	}
	work := func(args ...string) { k.run(k.t, strings.Join(args, " "), k.at("project"), "", env, args...) }
	all("before")
	work("begin", "flow")
	work("next")
	work("start", "1")
	all("begun")
	k.write(k.t, k.at("project/made"), "x")
	work("complete", "1")
	work("complete", "2")
	work("complete", "2", "--outcome", "good", "--note", "fine")
	work("complete", "5", "--json")
	all("at the end")
	work("status", "--json")
	work("log", "--decisions")
}

// togetherInputs let several processes work on one list at the same time. The outcomes are
// compared whatever their order, and what is in the list afterwards.
func togetherInputs(testing.TB) (inputs []input) {
	update := func(k *walker, n int, status string) []string {
		text, _ := json.Marshal(map[string]any{"session_id": "s1", "cwd": k.at("project"), "hook_event_name": "PreToolUse",
			"tool_name":   "TaskUpdate",
			"tool_use_id": fmt.Sprint("t", n), "tool_input": map[string]any{"taskId": fmt.Sprint(n), "status": status}})
		return []string{string(text), "hook", "--agent", "claude"}
	}
	for name, calls := range map[string]func(k *walker) [][]string{
		"the same skill": func(k *walker) [][]string {
			text := `{"session_id": "s2", "cwd": "` + k.at("project") +
				`", "hook_event_name": "PostToolUse", "tool_name": "Skill", "tool_use_id": "u1",
				"tool_input": {"skill": "aside"}, "tool_response": {"success": true, "commandName": "aside"}}`
			return slices.Repeat([][]string{{text, "hydrate"}}, 6)
		},
		"the same start": func(k *walker) [][]string { return slices.Repeat([][]string{{"", "start", "3"}}, 6) },
		"steps completed": func(k *walker) [][]string {
			return [][]string{update(k, 1, "completed"), update(k, 2, "in_progress"), {"", "recover"}, {"", "recover"}}
		},
		"one skipped": func(k *walker) [][]string {
			return slices.Repeat([][]string{{"", "step", "skip", "4", "--because", "x", "--session", "s1"}}, 4)
		},
	} {
		inputs = append(inputs, input{"together " + name, hostileSpec, func(t testing.TB, w *scene) []point {
			k := begun(t, w)
			seen := make([]string, 8)
			var all sync.WaitGroup
			for i, call := range calls(k) {
				all.Go(func() {
					c := exec.Command(w.at("bin/fsmtx"), call[1:]...)
					c.Dir, c.Stdin = w.at("project"), strings.NewReader(call[0])
					c.Env = []string{"HOME=" + w.at("home"), "PATH=" + w.at("bin") + ":/usr/bin:/bin", "CLAUDE_CODE_SESSION_ID=s1",
						"FSMTX_TEST_CALLER=" + map[bool]string{true: "person", false: "agent"}[call[1] == "step"]}
					out, _ := c.CombinedOutput()
					seen[i] = fmt.Sprintf("%s[%d]", out, c.ProcessState.ExitCode())
				})
			}
			all.Wait()
			slices.Sort(seen)
			w.points = append(w.points, point{"at once", spread(strings.Join(seen, "\n"), true) + w.changes(t)})
			k.command("", "status", "s1", "--json")
			k.command("", "log", "s2")
			return w.points
		}})
	}
	return inputs
}
