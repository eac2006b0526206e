//go:build oracle && unix

package tools_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/testdata/workflows"
)

// walkInputs are walks through the workflows of testdata, and through random ones: each calls a
// skill, and goes on with what the agent, the client and the person may do next. What it does
// depends on its seed and the list, so both programs walk the same way until the list differs.
func walkInputs(t testing.TB) (inputs []input) {
	specs := map[string]string{}
	files, err := filepath.Glob("../../testdata/machine/*.json")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		specs[strings.TrimSuffix(filepath.Base(file), ".json")] = string(text)
	}
	entries, err := workflows.FS.ReadDir(".")
	require.NoError(t, err)
	for _, e := range entries {
		text, err := workflows.FS.ReadFile(e.Name() + "/fsm.json")
		require.NoError(t, err)
		specs[e.Name()] = string(text)
	}
	require.Greater(t, len(specs), 20)
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		for i := range int64(2) {
			inputs = append(inputs, walkInput(fmt.Sprintf("walk %s %d", name, i+1), *oracleSeed+i, specs[name]))
		}
	}
	for i := range int64(*oracleWalks) {
		seed := *oracleSeed + i
		inputs = append(inputs, walkInput(fmt.Sprintf("walk random %d", seed), seed, randomSpec(rand.New(rand.NewPCG(uint64(seed), 2)))))
	}
	return inputs
}

func walkInput(name string, seed int64, spec string) input {
	return input{name, fmt.Sprint(seed, spec), func(t testing.TB, w *scene) []point {
		k := &walker{scene: w, t: t, random: rand.New(rand.NewPCG(uint64(seed), 1)), spec: spec}
		k.prepare()
		k.skill("flow")
		for range 30 {
			k.step()
		}
		for _, args := range [][]string{{"status", "s1", "--json"}, {"log", "--decisions", "s1"}, {"graph", "--session", "s1"}} {
			k.command("", args...)
		}
		return w.points
	}}
}

// randomSpec returns a workflow, mostly a valid one.
func randomSpec(r *rand.Rand) string {
	n := 2 + r.IntN(6)
	steps := make([]map[string]any, n)
	for i := range steps {
		s := map[string]any{"id": i + 1, "subject": fmt.Sprintf("Step %d", i+1), "description": fmt.Sprintf("Do part %d. Then look at it.", i+1)}
		steps[i] = s
		var before []int
		for j := range i {
			if r.IntN(3) == 0 {
				before = append(before, j+1)
			}
		}
		if i > 0 && len(before) == 0 && r.IntN(4) > 0 {
			before = []int{i}
		}
		if len(before) > 0 {
			s["blockedBy"] = before
		}
		maybe := func(in int, name string, value any) {
			if r.IntN(in) == 0 {
				s[name] = value
			}
		}
		maybe(5, "check", []string{"true", "exit 3", "test -e made", "echo no; test -e other"}[r.IntN(4)])
		maybe(7, "produces", []string{[]string{"made", "out/{v}.txt", "notes.md"}[r.IntN(3)]})
		maybe(8, "needs", []string{"made"})
		maybe(7, "only", []string{[]string{"Bash(git push *)", "Write(src/**)", "mcp__github__*"}[r.IntN(3)]})
		maybe(9, "approval", "Is it good?")
		maybe(9, "set", map[string]any{"v": "^[0-9.]+$"})
		maybe(10, "do", []map[string]any{{"id": 100 + 10*i, "subject": "Half"}, {"id": 101 + 10*i, "subject": "Other half",
			"blockedBy": []int{100 + 10*i}}})
		maybe(12, "each", map[string]any{"run": "printf 'core\\nweb\\n'"})
		if r.IntN(3) > 0 {
			continue
		}
		outcomes := map[string]any{"good": map[string]any{}}
		if i > 0 {
			outcomes["bad"] = map[string]any{"back": 1 + r.IntN(i+1), "max": 1 + r.IntN(3)}
		}
		if r.IntN(3) == 0 {
			outcomes["over"] = map[string]any{"stop": true}
		}
		s["outcomes"] = outcomes
		if r.IntN(4) == 0 {
			s["decides"] = []any{"person", map[string]any{"run": "echo good"}}[r.IntN(2)]
		}
		if i+1 < n && r.IntN(2) == 0 {
			defer func(on, of int) { steps[of]["when"] = map[string]any{fmt.Sprint(on + 1): "good"} }(i, i+1)
		}
	}
	for _, s := range steps {
		if s["when"] != nil {
			delete(s, "blockedBy")
		}
	}
	text, err := json.Marshal(map[string]any{"fsm": 2, "steps": steps})
	if err != nil {
		panic(err)
	}
	return string(text)
}

type walker struct {
	*scene
	t      testing.TB
	random *rand.Rand
	spec   string
	uses   int
}

// prepare makes a project with two skills.
func (k *walker) prepare() {
	for name, spec := range map[string]string{"flow": k.spec,
		"aside": `[{"id": 1, "subject": "Look aside"}, {"id": 2, "subject": "Come back", "blockedBy": [1]}]`} {
		k.write(k.t, k.at("project/.claude/skills", name, "fsm.json"), spec)
		k.write(k.t, k.at("project/.claude/skills", name, "SKILL.md"), "---\nname: "+name+"\ndescription: a workflow\n---\nDo it.\n")
	}
	require.NoError(k.t, os.MkdirAll(k.at("home"), 0o755))
	k.changes(k.t)
}

func (k *walker) pick(texts ...string) string { return texts[k.random.IntN(len(texts))] }

// hook sends an event of Claude Code, with more members, and returns what the hook answered.
func (k *walker) hook(did, name string, more map[string]any) (answer map[string]any, code int) {
	k.uses++
	e := map[string]any{"session_id": "s1", "cwd": k.at("project"), "hook_event_name": name, "transcript_path": k.at("none.jsonl"),
		"prompt_id": "p1"}
	maps.Copy(e, more)
	text, err := json.Marshal(e)
	require.NoError(k.t, err)
	out, code := k.run(k.t, did, k.at("project"), string(text), []string{"CLAUDE_PROJECT_DIR=" + k.at("project")}, "hook", "--agent", "claude")
	_ = json.Unmarshal([]byte(out), &answer)
	return answer, code
}

// command runs a command as a kind of caller, "" for a script.
func (k *walker) command(caller string, args ...string) {
	env := []string{"FSMTX_TEST_CALLER=" + caller, "CLAUDE_CODE_SESSION_ID=s1"}
	if caller == "agent" {
		env = append(env, "CLAUDECODE=1")
	}
	k.run(k.t, caller+" "+strings.Join(args, " "), k.at("project"), "", env, args...)
}

func (k *walker) skill(name string) {
	k.hook("skill "+name, "PostToolUse", map[string]any{"tool_name": "Skill", "tool_use_id": fmt.Sprint("u", k.uses),
		"tool_input": map[string]any{"skill": name}, "tool_response": map[string]any{"success": true, "commandName": name}})
}

// tasks returns the numbers of the tasks of the list.
func (k *walker) tasks() (numbers []string) {
	files, _ := filepath.Glob(k.at("home/.claude/tasks/s1/*.json"))
	for _, file := range files {
		numbers = append(numbers, strings.TrimSuffix(filepath.Base(file), ".json"))
	}
	slices.SortFunc(numbers, func(a, b string) int { return len(a)*1000 - len(b)*1000 + strings.Compare(a, b) })
	return numbers
}

func (k *walker) task() string {
	if all := k.tasks(); len(all) > 0 && k.random.IntN(30) > 0 {
		return all[k.random.IntN(len(all))]
	}
	return "99"
}

// update lets the agent update a task, as the client does: it asks the hook, changes the file, and
// tells the hook.
func (k *walker) update(number string, input map[string]any) {
	input["taskId"] = number
	more := map[string]any{"tool_name": "TaskUpdate", "tool_input": input, "tool_use_id": fmt.Sprint("u", k.uses)}
	text, _ := json.Marshal(input)
	answer, code := k.hook("update "+string(text), "PreToolUse", more)
	specific, _ := answer["hookSpecificOutput"].(map[string]any)
	if code == 2 || specific["permissionDecision"] == "deny" {
		return
	}
	if updated, is := specific["updatedInput"].(map[string]any); is {
		input = updated
	}
	file := k.at("home/.claude/tasks/s1", number+".json")
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	data, err := os.ReadFile(file)
	var task map[string]any
	if err != nil || json.Unmarshal(data, &task) != nil || task == nil || k.random.IntN(20) == 0 { // another hook stopped the call
		return
	}
	if input["status"] == "deleted" {
		require.NoError(k.t, os.Remove(file))
	} else {
		if status, is := input["status"].(string); is {
			task["status"] = status
		}
		metadata, _ := task["metadata"].(map[string]any)
		if more, is := input["metadata"].(map[string]any); is {
			if metadata == nil {
				metadata = map[string]any{}
			}
			for name, value := range more {
				if metadata[name] = value; value == nil {
					delete(metadata, name)
				}
			}
			task["metadata"] = metadata
		}
		text, err := json.MarshalIndent(task, "", "  ")
		require.NoError(k.t, err)
		require.NoError(k.t, os.WriteFile(file, text, 0o644))
	}
	k.changes(k.t)
	more["tool_input"], more["tool_response"] = input, map[string]any{"success": true}
	k.hook("updated "+number, "PostToolUse", more)
}

var outcomesOf = regexp.MustCompile(`"(good|bad|over|` + `[a-z][a-z-]{2,14})": *\{`)

// step does one of the things that happen in a session.
func (k *walker) step() {
	r := k.random
	n := k.task()
	switch r.IntN(24) {
	case 0, 1, 2, 3:
		k.update(n, map[string]any{"status": "in_progress"})
	case 4, 5, 6, 7, 8, 9:
		input := map[string]any{"status": "completed"}
		metadata := map[string]any{}
		if names := outcomesOf.FindAllStringSubmatch(k.spec, -1); len(names) > 0 && r.IntN(2) == 0 {
			metadata["outcome"] = names[r.IntN(len(names))][1]
		}
		if r.IntN(4) == 0 {
			metadata["v"] = k.pick("1.4", "x")
		}
		if len(metadata) > 0 {
			input["metadata"] = metadata
		}
		k.update(n, input)
	case 10:
		k.update(n, map[string]any{"status": k.pick("pending", "deleted", "pending")})
	case 11:
		k.update(n, map[string]any{"subject": "Something else"})
	case 12:
		k.hook("stop", "Stop", map[string]any{"stop_hook_active": r.IntN(3) == 0, "last_assistant_message": k.pick("Done.", "Shall I go on?")})
	case 13:
		prompt := k.pick("go on", "stop", "please stop", "what is next?", "/flow again")
		k.hook("prompt "+prompt, "UserPromptSubmit", map[string]any{"prompt": prompt})
	case 14:
		source := k.pick("resume", "compact", "startup", "clear")
		k.hook("session "+source, "SessionStart", map[string]any{"source": source})
	case 15:
		k.tool()
	case 16:
		k.command("agent", k.pick("start", "complete"), n)
	case 17:
		k.command("agent", "complete", n, "--outcome", k.pick("good", "bad"), "--set", "v=1.4")
	case 18:
		args := []string{"step", k.pick("skip", "done", "reopen", "end"), n, "--because", "it is so", "--session", "s1"}
		if args[1] == "done" && r.IntN(2) == 0 {
			args = append(args, "--outcome", k.pick("good", "bad"))
		}
		k.command(k.pick("person", "person", "person", "agent"), args...)
	case 19:
		k.command("", [][]string{{"status", "s1"}, {"status", "s1", "--json"}, {"log", "s1"}, {"step", "show", "s1"}, {"graph", "--session",
			"s1"},
			{"next"}, {"recover"}, {"statusline"}, {"plan", "flow"}}[r.IntN(9)]...)
	case 20:
		require.NoError(k.t, os.WriteFile(k.at("project", k.pick("made", "other", "notes.md")), []byte("x"), 0o644))
	case 21:
		k.hook("answer", "PostToolUse", map[string]any{"tool_name": "AskUserQuestion", "tool_use_id": fmt.Sprint("u", k.uses),
			"tool_input": map[string]any{"questions": []any{map[string]any{"question": "How?", "header": "How",
				"options": []any{map[string]any{"label": "good"}, map[string]any{"label": "bad"}}}}},
			"tool_response": map[string]any{"answers": map[string]any{"How?": k.pick("good", "bad")}}})
	case 22:
		k.rare(n)
	case 23:
		k.hook("batch", "PostToolBatch", nil)
	}
}

// tool asks the hook about a call of another tool.
func (k *walker) tool() {
	if k.random.IntN(2) == 0 {
		command := k.pick("git push origin main", "make test", "fsmtx step skip 1 --because x", "fsmtx next", "env git push",
			"sh -c 'git push'", "rm -rf ~/.claude/tasks")
		k.hook("bash "+command, "PreToolUse", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": command}})
		return
	}
	path := k.pick(k.at("project/src/a.go"), k.at("project/README.md"), k.at("home/.claude/tasks/s1/1.json"))
	k.hook("write "+filepath.Base(path), "PreToolUse", map[string]any{"tool_name": k.pick("Write", "Edit"),
		"tool_input": map[string]any{"file_path": path}})
}

// rare does what happens to few lists.
func (k *walker) rare(n string) {
	file := k.at("home/.claude/tasks/s1", n+".json")
	switch k.random.IntN(7) {
	case 0:
		k.command("person", "undo", "s1")
	case 1:
		k.skill(k.pick("flow", "aside"))
	case 2:
		k.command("agent", "begin", k.pick("flow", "aside"))
	case 3:
		k.command("person", "step", "allow", "Bash(git push *)", "--because", "now", "--session", "s1")
	case 4: // another program completes it
		if text, err := os.ReadFile(file); err == nil {
			require.NoError(k.t, os.WriteFile(file, []byte(strings.Replace(string(text), "pending", "completed", 1)), 0o644))
		}
	case 5:
		_ = os.Remove(file)
	case 6: // a task of the person's own
		k.write(k.t, k.at("home/.claude/tasks/s1", fmt.Sprint(500+k.uses)+".json"),
			fmt.Sprintf(`{"id": "%d", "subject": "mine", "description": "", "status": "pending", "blocks": [], "blockedBy": []}`, 500+k.uses))
	}
	k.changes(k.t)
}
