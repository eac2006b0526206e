//go:build unix

package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard/rules"
	"github.com/fsmtx/fsmtx/internal/harness/program"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/harness/sessions"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/hydrate"
)

// Names that an attacker could choose to change what this program seems to print.
const (
	// forged looks like a line of this program. No line of the output may begin with it.
	forged = "hint: FORGED"
	// unseen has characters that mislead terminals, readers of lines, or people. It is UTF-8
	// without control characters below U+0080.
	unseen = "x\u202e\u2066y\u2028" + forged + "\u2029\u200f\u200b\U000e0041\u0085z"
	// control has characters that control a terminal, and a forged line.
	control = "c\x1b[31m\r\a\x7f\n" + forged + "\n"
	foreign = unseen + control
	// inFile has all of these and bytes that are not UTF-8, which names of files can contain.
	inFile = foreign + "\xff\x9b"
	// invisible is the part of unseen that a gate of a step may contain.
	invisible = "x\u202e\u2066y\u2028" + forged + "\u2029\u200f\u200b\U000e0041z"
	// foreignSkill is the name of a skill. It has no control characters, which locator refuses.
	foreignSkill = "ship\u202e\u2066\u2028" + forged + "\u200f"
)

// foreignWorld is a home and a project in which every name and text is misleading.
type foreignWorld struct {
	t                            *testing.T
	dir, home, project, programs string
	env                          []string
}

func quoted(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

func newForeignWorld(t *testing.T) *foreignWorld {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &foreignWorld{t: t, dir: filepath.Join(root, foreign)}
	w.home, w.project, w.programs = filepath.Join(w.dir, "home"), filepath.Join(w.dir, "project"+inFile), filepath.Join(root, "bin")
	program.Link(t, w.programs)
	require.NoError(t, os.MkdirAll(w.home, 0o755))
	w.env = []string{"HOME=" + w.home, "PATH=" + w.programs + ":" + os.Getenv("PATH"), "PLANNING_STATE_DIR=" + filepath.Join(w.dir, "state"),
		"CLAUDE_PLUGIN_ROOT=" + filepath.Join(w.dir, "plugin"), "PLANNING_FEATURE_DIR=" + filepath.Join(w.project, "specs"),
		"GOCOVERDIR=" + os.Getenv("GOCOVERDIR"), raceOptions}
	w.populate()
	return w
}

func (w *foreignWorld) write(path, text string) {
	w.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.project, path)
	}
	put(w.t, path, text)
}

func (w *foreignWorld) populate() {
	text := quoted(foreign)
	spec := fmt.Sprintf(`[{"id": 1, "subject": %[1]s, "description": %[1]s, "activeForm": %[1]s, "owner": %[1]s, %[1]s: %[1]s},
{"id": 2, "subject": "check", "description": %[1]s, "blockedBy": [1], "check": %[2]s, "produces": [%[3]s], "ready": [%[3]s],
	"approval": %[3]s},
{"id": 3, "subject": "ask", "approval": %[3]s}]`,
		text, quoted("printf '"+invisible+"\\n"+forged+"\\033'; exit 3"), quoted(invisible))
	w.write(".claude/skills/"+foreignSkill+"/fsm.json", spec)
	w.write(".claude/skills/"+foreignSkill+"/SKILL.md", "---\nname: x\n---\n1. "+unseen+"\n2. second\x1b[2J\n")
	w.write(".claude/skills/broken"+foreignSkill+"/fsm.json",
		fmt.Sprintf(`[{"id": %[1]s, "subject": 7, %[1]s: 1, "status": %[1]s, "blocks": [%[1]s]}, {"id": 1, "subject": %[1]s, "blockedBy": [9]},]`,
			text))
	w.write(".claude/skills/broken"+foreignSkill+"/SKILL.md", "x")
	w.write(".claude/skills/bad"+inFile+"/fsm.json", spec)
	w.write(".claude/skills/bad"+inFile+"/SKILL.md", "x")
	w.write("draft"+inFile+".json", spec)
	w.write("raw.json", strings.ReplaceAll(`[{"id": 1, "subject": "A°", "°": "b"}]`, "°", unseen))
	w.write("broken.json", "[{\"id\": 1, \"subject\": \"A"+unseen+"\", \""+unseen+"\": \x1b\xff")
	w.write("new/"+inFile+"/SKILL.md", "# "+unseen+"\n\n1. "+unseen+"\x1b[2J\n   text\x1b\n2. b\n")
	hooks := fmt.Sprintf(`{%[1]s: 1, "env": {%[1]s: %[1]s, "CLAUDE_CODE_ENABLE_TODO_TOOLS": %[1]s}, "enabledPlugins": {%[1]s: true}, `+
		`"hooks": {%[1]s: [], "PreToolUse": [
{"matcher": %[1]s, "hooks": [{"type": "command", "command": %[2]s}, {"type": %[1]s}, {"type": "command", "command": %[1]s,
	"timeout": %[1]s}]},
{"matcher": "*", "hooks": [{"type": "command", "command": %[2]s}]}]}}`, text,
		quoted("printf '"+unseen+"' >&2; printf '"+unseen+"' # "+foreign))
	w.write(".claude/settings.json", hooks)
	w.write(".claude/settings.local.json", hooks)
	w.write("raw-settings.json", strings.ReplaceAll(`{"°": 1, "hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", `+
		`"command": "printf '°'"}]}], "°": 2}}`,
		"°", unseen))
	w.write(filepath.Join(w.home, ".claude/plugins/installed_plugins.json"),
		fmt.Sprintf(`{"version": 2, "plugins": {%[1]s: [{"scope": "user", "installPath": %[2]s, "version": %[1]s}, {"scope": "local", `+
			`"projectPath": %[3]s, "installPath": %[1]s, "version": %[1]s}]}}`,
			quoted(foreignSkill+"@"+foreign), quoted(w.dir), quoted(w.project)))
	w.write("plugin/config/planning-config.yaml", "x: ["+unseen)
	w.write(".git/HEAD", "ref: refs/heads/feature/"+foreign+"\n")
	w.write("specs/.planning-lock", foreign)
	w.write("specs/.planning-state.local.md", "---\nphase: \""+unseen+"\"\nfeature: \"a\\n"+forged+"\"\nmode: "+unseen+"\n"+
		unseen+": 1\n---\n"+foreign)
	w.write(filepath.Join(w.dir, "state/planning-hooks-s1.log"), "[2026-01-02T15:04:05Z] H04: DENY | "+foreign+"\xff\n")
	list := filepath.Join(w.home, ".claude/tasks/s1")
	task := `{"id": %[2]s, "subject": %[1]s, "description": %[1]s, "activeForm": %[1]s, "owner": %[1]s, "status": %[3]s, ` +
		`"blocks": [%[1]s], "blockedBy": [%[1]s]}`
	w.write(filepath.Join(list, "1.json"), fmt.Sprintf(task, text, `"1"`, `"pending"`))
	w.write(filepath.Join(list, "2.json"), fmt.Sprintf(task, text, text, text))
	w.write(filepath.Join(list, foreign+".json"), fmt.Sprintf(task, text, text, `"completed"`))
	w.write(filepath.Join(list, "4.json"),
		fmt.Sprintf(`{"id": "4", "subject": %[1]s, "status": "in_progress", "description": "", "blocks": [], "blockedBy": [], `+
			`"metadata": {"fsm": %[1]s}}`, text))
	w.hydrateCrashing()
	// A list with a name that the client would not use, and an untrusted journal.
	w.write(filepath.Join(w.home, ".claude/tasks/"+inFile+"/1.json"), fmt.Sprintf(task, text, `"1"`, `"pending"`))
	state := filepath.Join(w.home, ".claude/tasks/.untrusted.fsmtx")
	w.write(filepath.Join(w.home, ".claude/tasks/untrusted/1.json"), "{")
	w.write(filepath.Join(state, "journal"), foreign)
	require.NoError(w.t, os.Chmod(state, 0o700))
	require.NoError(w.t, os.MkdirAll(filepath.Join(w.home, ".claude/tasks/s1/"+inFile+".lock"), 0o755))
}

// hydrateCrashing leaves an interrupted hydration in the list "crashed".
func (w *foreignWorld) hydrateCrashing() {
	w.write(filepath.Join(w.home, ".claude/tasks/crashed/1.json"),
		fmt.Sprintf(`{"id": "1", "subject": %[1]s, "status": "pending", "description": "", "blocks": [], "blockedBy": [], `+
			`"metadata": {"fsm": %[1]s}}`,
			quoted(foreign)))
	e, err := client.Parse([]byte(strings.ReplaceAll(w.skillEvent("PostToolUse"), `"s1"`, `"crashed"`)))
	require.NoError(w.t, err)
	request, _, err := hydrate.Understand(e)
	require.NoError(w.t, err)
	env := func(name string) (string, bool) { return map[string]string{"HOME": w.home}[name], name == "HOME" }
	defer func() { require.Equal(w.t, sessions.ErrCrash, recover()) }()
	_, err = hydrate.Run(context.Background(), request, env, hydrate.Options{LockTimeout: time.Minute, FS: sessions.Crashing{}})
	w.t.Fatalf("not interrupted: %v", err)
}

// event returns an event of session s1 with additional members.
func (w *foreignWorld) event(name, more string) string {
	cwd, _ := json.Marshal(w.project) // has U+FFFD in place of bytes that are not UTF-8, so this directory does not exist
	return fmt.Sprintf(`{"session_id": "s1", "cwd": %s, "hook_event_name": %q, "tool_use_id": %s, "source": "resume", "agent_type": %s, %s}`,
		cwd, name, quoted(foreign), quoted(foreign), more)
}

func (w *foreignWorld) skillEvent(name string) string {
	e := w.event(name, fmt.Sprintf(`"tool_name": "Skill", "tool_input": {"skill": %[1]s}, "tool_response": {"success": true, `+
		`"commandName": %[1]s}, "command_name": %[1]s`,
		quoted(foreignSkill)))
	cwd, _ := json.Marshal(w.project)
	here, _ := json.Marshal(filepath.Join(w.home, "link"))
	_ = os.Symlink(w.project, filepath.Join(w.home, "link"))
	return strings.Replace(e, string(cwd), string(here), 1)
}

// call is a call of a command. A command with the flag --json is also called with that.
type call struct {
	args  []string
	stdin string
	hook  bool // the output is JSON for the client, with texts for people and the model
	lines bool // the output is a foreign text of several lines, such as a log
}

func (w *foreignWorld) calls() map[string][]call {
	of := func(all ...string) call { return call{args: all} }
	asHook := func(stdin string, all ...string) call { return call{args: all, stdin: stdin, hook: true} }
	with := func(stdin string, all ...string) call { return call{args: all, stdin: stdin} }
	skillDir, broken, bad := ".claude/skills/"+foreignSkill, ".claude/skills/broken"+foreignSkill, ".claude/skills/bad"+inFile
	update := func(task, status string) string {
		return w.event("PreToolUse", fmt.Sprintf(`"tool_name": "TaskUpdate", "tool_input": {"taskId": %q, "status": %q}`, task, status))
	}
	tool := w.event("PreToolUse", `"tool_name": "Write", "tool_input": {"file_path": `+quoted(filepath.Join("specs", "spec.md"))+
		`, "content": `+quoted(foreign)+`}`)
	calls := map[string][]call{
		"fsmtx":      {of(foreign), of("--" + foreign)},
		"fsmtx init": {of("init", "--yes", "--scope", "none", "new/"+inFile), of("init", "--yes"), of("init", "--yes", foreign)},
		"fsmtx new": {of("new", "new/"+inFile), of("new", "fresh"+inFile, "--from", "new/"+inFile+"/SKILL.md"),
			of("new", "nowhere", "--from", inFile), of("new", skillDir)},
		"fsmtx validate": {of("validate"), of("validate", skillDir, broken, bad, "raw.json", "broken.json", inFile),
			of("validate", "--format", "github", broken, bad, "broken.json", inFile), of("validate", "--fix", broken), of("validate", "-C", inFile)},
		"fsmtx test":   {of("test"), of("test", inFile), of("test", "--run", foreign)},
		"fsmtx report": {of("report"), of("report", "--all", "--reasons"), of("report", inFile), of("report", "--skill", foreign)},
		"fsmtx fmt": {of("fmt", skillDir, "raw.json", broken, inFile), of("fmt", "-d", "draft"+inFile+".json", "raw.json"),
			of("fmt", "-w", "draft"+inFile+".json")},
		"fsmtx graph": {of("graph", skillDir), of("graph", skillDir, "--format", "mermaid"),
			of("graph", skillDir, "--format", "html"), of("graph", bad, "--format", "mermaid"), of("graph", "--list", "s1"),
			of("graph", foreignSkill), of("graph", "ship"+foreign), of("graph", "raw.json"), of("graph", "broken.json")},
		"fsmtx schema": {of("schema"), of("schema", "--log")},
		"fsmtx locate": {of("locate"), of("locate", foreignSkill), of("locate", foreign), of("locate", "nearly"+foreignSkill),
			of("locate", foreignSkill+":"+foreignSkill, "--plugin-dir", inFile, "--add-dir", w.dir)},
		"fsmtx plan": {of("plan", foreignSkill, "--explain", "--list", "s1"), of("plan", "broken"+foreignSkill), of("plan", foreign),
			of("plan", "none"+foreignSkill)},
		"fsmtx status": {of("status", "--list", "s1"), of("status", "--all"), of("status", "--list", "crashed"), of("status", "--list", foreign),
			of("status")},
		"fsmtx statusline": {with(`{"session_id": "s1"}`, "statusline"), with(`{"session_id": "crashed"}`, "statusline", "--also"),
			with(foreign, "statusline", "--also"), with(`{"session_id": `+quoted(foreign)+`}`, "statusline")},
		"fsmtx attest": {of("attest", "--list", "s1", "--open", "--print", "--tree"), of("attest", foreignSkill),
			of("attest", "--key", inFile, "--list", "s1", "--open"), of("attest", foreign, "--list", foreign)},
		"fsmtx verify": {of("verify", inFile), of("verify", "raw.json", "--commit", foreign),
			of("verify", "--format", "github", "broken.json", "--policy", "raw.json")},
		"fsmtx log": {of("log", "--list", "s1"), of("log", "--list", "s1", "1"), of("log", "--list", foreign, foreign),
			of("log", "--list", "s1", "--decisions"),
			of("log", foreign, "--decisions")},
		"fsmtx undo": {of("undo", "--list", "s1", "--dry-run"), of("undo", "--list", "s1", "--dry-run", "--force"),
			of("undo", "--list", "s1", foreign)},
		"fsmtx recover": {of("recover", "--dry-run"), of("recover", "--list", foreign), of("recover", "--list", foreign),
			of("recover")},
		"fsmtx doctor": {of("doctor"), of("doctor", "--fix")},
		"fsmtx install": {of("install", "--check"), of("install", "--print"), of("install", "--no-steps"), of("install", "--check"),
			of("install", "--mcp"), of("install", "--statusline"), of("install", "--project", "--", "--log", "/"+unseen),
			of("install", "--", foreign), of("install", "--remove"), of("install", "--stop", foreign),
			of("install", "--user", "--remove", "--print")},
		"fsmtx plugin": {of("plugin", "plugin-"+inFile), of("plugin", "--name", foreign, "p"), of("plugin", "--with", foreign, "p"),
			of("plugin", w.dir)},
		"fsmtx demo":    {of("demo")},
		"fsmtx version": {of("version")},
		"fsmtx hook": {asHook(w.event("PreToolUse", `"turn_id": "t", "tool_name": "Bash", "tool_input": {"command": `+
			quoted("fsmtx step skip 5 --because '"+foreign+"'")+`}`), "hook"),
			asHook(w.event("UserPromptSubmit", `"turn_id": "t", "prompt": `+quoted("$"+foreign)), "hook", "--agent", "codex"),
			asHook(w.skillEvent("PostToolUse"), "hook", "--agent=claude", "--log", "log"), asHook(w.event("SessionStart", `"x": 1`), "hook"),
			asHook(w.event("Stop", `"x": 1`), "hook"), asHook(foreign, "hook"), asHook("{}", "hook", "--agent", foreign),
			asHook("{}", "hook", "--"+foreign), of("hook", foreign),
			asHook(update("6", "completed"), "hook", "--log", "log"), asHook(update("5", "completed"), "hook", "--log", "log"),
			asHook(update("5", "deleted"), "hook", "--log", "log"), asHook(update(unseen, "completed"), "hook", "--log", inFile+"/x"),
			asHook(w.event("PreToolUse", `"tool_name": "Bash", "tool_input": {"command": `+quoted("fsmtx step skip 5 --because '"+foreign+"'")+`}`),
				"hook", "--log", "log"),
			asHook(w.event("PreToolUse", `"tool_name": "Write", "tool_input": {"file_path": `+quoted(filepath.Join(w.home, "link",
				"../.claude/tasks/s1/5.json"))+`}`), "hook", "--log", "log"),
			with(w.event("PreToolUse", `"tool_name": "mcp__fsmtx__x", "tool_input": {`+quoted(foreign)+`: `+quoted(foreign)+`}`), "hook"),
			asHook(w.event("Stop", `"x": 1`), "hook", "--log", "log"), asHook(w.event("SubagentStop", `"agent_id": `+quoted(foreign)), "hook"),
			asHook(w.event("TaskCompleted", `"task_id": "6"`), "hook", "--log", "log"), asHook("{}", "hook", "--stop", foreign)},
		"fsmtx hydrate": {asHook(w.skillEvent("PostToolUse"), "hydrate", "--announce", "--log", "log"),
			asHook(w.skillEvent("PostToolUse"), "hydrate", "--announce", "--log", "log"),
			asHook(strings.ReplaceAll(w.skillEvent("PostToolUse"), foreignSkill, "broken"+foreignSkill), "hydrate", "--announce", "--log", "log"),
			asHook(strings.ReplaceAll(w.skillEvent("PostToolUse"), `"s1"`, `"crashed"`), "hydrate", "--announce", "--log", "log"),
			asHook(strings.ReplaceAll(w.skillEvent("PostToolUse"), `"s1"`, `"untrusted"`), "hydrate", "--announce", "--log", "log"),
			asHook(strings.ReplaceAll(w.skillEvent("UserPromptExpansion"), foreignSkill, "broken"+foreignSkill), "hydrate", "--announce", "--log",
				"log"), asHook(w.skillEvent("PreToolUse"), "hydrate", "--announce", "--log", "log"),
			asHook(w.skillEvent("Stop"), "hydrate", "--announce", "--log", "log"), asHook(foreign, "hydrate", "--announce"),
			asHook("{}", "hydrate", foreign), asHook("{}", "hydrate", "--scope", foreign, "--log", inFile+"/"),
			asHook(w.skillEvent("PostToolUse"), "hydrate", "--announce", "--log", inFile+"/x")},
		"fsmtx step": {of("step", foreign)},
		"fsmtx step reopen": {of("step", "reopen", "5", "--because", foreign, "--list", "s1"), of("step", "reopen", foreign, "--because", "x"),
			of("step", "reopen", "77", "--because", "x", "--list", foreign)},
		"fsmtx step reload": {of("step", "reload", "5", "--because", foreign, "--list", "s1"),
			of("step", "reload", "--because", "x", "--list", foreign)},
		"fsmtx step move": {of("step", "move", foreign, "--because", "x", "--list", "s1")},
		"fsmtx step allow": {of("step", "allow", "Bash("+foreign+")", "--because", "x", "--list", "s1"),
			of("step", "allow", foreign, "--because", "x"), of("step", "allow", "Edit", "--because", foreign, "--list", foreign)},
		"fsmtx step end": {of("step", "end", "5", "--because", foreign, "--list", "s1"), of("step", "end", foreign, "--because", "x"),
			of("step", "end", "77", "--because", "x", "--list", foreign)},
		"fsmtx step skip": {of("step", "skip", "5", "--because", foreign, "--list", "s1"), of("step", "skip", foreign, "--because", "x"),
			of("step", "skip", "77", "--because", "x", "--list", foreign)},
		"fsmtx step done": {of("step", "done", "6", "--because", foreign, "--list", "s1")},
		"fsmtx mcp":       {with(mcpSession, "mcp"), of("mcp", "--checks", foreign), of("mcp", foreign)},
		"fsmtx guard": {of("guard", foreign),
			{args: []string{"guard", "H04", "--log", inFile + "/x"}, stdin: w.event("PreToolUse", `"x": 1`), hook: true}},
		"fsmtx guard list": {of("guard", "list")},
		"fsmtx guard explain": {with(tool, "guard", "explain", "H04"), with(tool, "guard", "explain", "H13"),
			with(foreign, "guard", "explain", "H04"), with("", "guard", "explain", foreign)},
		"fsmtx guard reset":  {of("guard", "reset", foreign), of("guard", "reset", "s1", foreign)},
		"fsmtx guard unlock": {of("guard", "unlock", "--session", foreign), of("guard", "unlock")},
		"fsmtx guard skill-files": {asHook(w.event("PreToolUse", `"tool_name": "Read", "tool_input": {"file_path": `+quoted(filepath.Join(w.home,
			"link", skillDir, "fsm.json"))+`}`), "guard", "skill-files"), asHook(foreign, "guard", "skill-files")},
		"fsmtx hooks": {of("hooks", foreign)},
		"fsmtx hooks fire": {with(tool, "hooks", "fire", "PreToolUse", "--dialect", "claude"),
			with(tool, "hooks", "fire", "PreToolUse", "--dialect", "claude", "--config", "raw-settings.json", "-v"),
			with(tool, "hooks", "fire", foreign), with(foreign, "hooks", "fire", "PreToolUse"),
			with(tool, "hooks", "fire", "PreToolUse", "--config", inFile), with("{}", "hooks", "fire", "PreToolUse", "--dialect", foreign)},
		"fsmtx hooks eval": {with(foreign, "hooks", "eval"),
			with(`{"mode": "status", `+quoted(foreign)+`: `+quoted(foreign)+`}`, "hooks", "eval"),
			with(`{"mode": `+quoted(foreign)+`}`, "hooks", "eval"),
			with(`{"mode": "fire", "event": `+quoted(foreign)+`, "input": {}}`, "hooks", "eval")},
		"fsmtx hooks tool": {{args: []string{"hooks", "tool", unseen, "--dialect", "claude", "--input", `{"a": ` + quoted(foreign) + `}`, "--",
			"printf", foreign}, lines: true}, with("", "hooks", "tool", "x", "--input", foreign, "--", "true"),
			with("", "hooks", "tool", "x", "--", foreign)},
		"fsmtx hooks model": {with(`{"contents": [{"role": "user", "parts": [{"text": `+quoted(foreign)+`}]}]}`, "hooks", "model", "--", "printf",
			"%s", `{"candidates": [{"content": {"role": "model", "parts": [{"text": "`+unseen+`"}]}}]}`),
			with(foreign, "hooks", "model", "--", "true"), with("{}", "hooks", "model", "--", "printf", foreign)},
		"fsmtx hooks list": {of("hooks", "list", "--dialect", "claude"),
			of("hooks", "list", "--dialect", "claude", "--config", "raw-settings.json"), of("hooks", "list", foreign)},
		"fsmtx hooks check": {of("hooks", "check", "--dialect", "claude", ".claude/settings.json", "raw-settings.json"),
			of("hooks", "check", inFile), of("hooks", "check", "broken.json")},
		"fsmtx hooks status": {of("hooks", "status", "--dialect", "claude")},
		"fsmtx next":         {of("next", "--list", "s1"), of("next", "--list", foreign), of("next", foreign)},
		"fsmtx start":        {of("start", "6", "--list", "s1"), of("start", foreign)},
		"fsmtx complete":     {of("complete", "6", "--list", "s1", "--note", foreign), of("complete", "5", "--list", "s1", "--outcome", foreign)},
		"fsmtx begin":        {of("begin", foreignSkill, "--list", "s1"), of("begin", foreign), of("begin", "./"+foreign)},
		"fsmtx continue": {of("continue", foreign, "--to", "s9"), of("continue", "--list", foreign, "--to", "s9"),
			of("continue", "--list", "s1", "--to", foreign)},
		"fsmtx help": {of("help", foreign)},
		"fsmtx completion": {of("completion", foreign), {args: []string{"__complete", "status", ""}, lines: true},
			{args: []string{"__complete", "graph", ""}, lines: true}, {args: []string{"__complete", "graph", "--list", ""}, lines: true}},
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		calls["fsmtx completion "+shell] = []call{of("completion", shell)}
	}
	for _, r := range rules.All() {
		e := tool
		if r.Event != client.PreToolUse {
			e = w.event(r.Event, `"agent_id": `+quoted(foreign)+`, "last_assistant_message": `+quoted(foreign)+`, "trigger": `+quoted(foreign))
		}
		calls["fsmtx guard"] = append(calls["fsmtx guard"], call{args: []string{"guard", r.ID}, stdin: e, hook: r.Event != client.PreCompact})
	}
	return calls
}

const mcpSession = `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, ` +
	`"clientInfo": {"name": "x", "version": "1"}}}
{"jsonrpc": "2.0", "method": "notifications/initialized"}
{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "workflow_status", "arguments": {"session": "s1"}}}
{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "step_complete", "arguments": {"step": 6, "session": "s1"}}}
{"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "step_skip", "arguments": {"step": 5, "because": "x\u202e\u001b",
	"session": "s1"}}}
{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "x\u202e\u001b", "arguments": {}}}
{"jsonrpc": "2.0", "id": 6, "method": "resources/read", "params": {"uri": "fsmtx://current"}}
`

// TestForeignTextIsEscaped: whatever names and texts the files have, the output of no command
// can control a terminal, change the order of text, or forge a line of this program. With
// --json the output is valid JSON. A command without a row fails the test.
func TestForeignTextIsEscaped(t *testing.T) {
	worlds.Long(t)
	w := newForeignWorld(t)
	calls := w.calls()
	eachCommand(true, func(c *cobra.Command, path string) {
		rows := calls[path]
		if !assert.NotEmpty(t, rows, "%s has no row in this test", path) {
			return
		}
		delete(calls, path)
		for _, row := range rows {
			w.check(row, false)
			if f := c.Flags().Lookup("json"); f != nil && !slices.Contains(row.args, "--format") && !slices.Contains(row.args, "-d") &&
				!slices.Contains(row.args, "-w") {
				w.check(withJSON(row), true)
			}
		}
	})
	assert.Empty(t, calls, "rows of commands that do not exist")
	w.checkLog()
}

// withJSON adds the flag --json, before "--" if the call has that.
func withJSON(row call) call {
	at := len(row.args)
	if i := slices.Index(row.args, "--"); i >= 0 {
		at = i
	}
	row.args = slices.Insert(slices.Clone(row.args), at, "--json")
	return row
}

func (w *foreignWorld) check(row call, isJSON bool) {
	stdout, stderr := w.run(row)
	about := fmt.Sprintf("fsmtx %q", row.args)
	for _, text := range []string{stdout, stderr} {
		if bad := harmful(text); bad != "" && !(row.lines && bad == aForgedLine) {
			w.t.Errorf("%s printed %s:\n%q", about, bad, text)
		}
	}
	if (isJSON || row.hook) && stdout != "" {
		if !assert.True(w.t, areJSON(stdout), "%s did not print JSON:\n%s", about, stdout) {
			return
		}
	}
	if row.hook && stdout != "" {
		var value any
		require.NoError(w.t, json.Unmarshal([]byte(stdout), &value))
		eachText(value, func(text string) {
			if bad := harmful(text); bad != "" {
				w.t.Errorf("%s shows %s to the model or the person:\n%q", about, bad, text)
			}
		})
	}
}

// areJSON reports whether a text is one value of JSON or, as of log --decisions, one on each
// line.
func areJSON(text string) bool {
	values := json.NewDecoder(strings.NewReader(text))
	for {
		var value any
		if err := values.Decode(&value); err != nil {
			return err == io.EOF
		}
	}
}

func (w *foreignWorld) run(row call) (stdout, stderr string) {
	out, err := realclient.Exec{Program: filepath.Join(w.programs, "fsmtx"), Args: row.args, Dir: w.project, Env: w.env, Stdin: row.stdin,
		Limit: time.Minute}.Run(w.t.Context())
	require.NoError(w.t, err)
	require.NotContains(w.t, out.Stderr, "goroutine ", "%q", row.args)
	return out.Stdout, out.Stderr
}

// checkLog checks the logs and the state files of the hooks.
func (w *foreignWorld) checkLog() {
	data, err := os.ReadFile(filepath.Join(w.project, "log"))
	require.NoError(w.t, err)
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	require.GreaterOrEqual(w.t, len(lines), 8)
	for _, line := range lines {
		assert.Empty(w.t, harmful(line), "%q", line)
		assert.True(w.t, json.Valid([]byte(line)), "%q", line)
	}
	state := filepath.Join(w.dir, "state")
	entries, err := os.ReadDir(state)
	require.NoError(w.t, err)
	for _, e := range entries {
		path := filepath.Join(state, e.Name())
		if e.IsDir() || e.Name() == "planning-hooks-s1.log" {
			continue // the log has lines that no guard wrote
		}
		data, err := os.ReadFile(path)
		require.NoError(w.t, err)
		assert.Empty(w.t, harmful(string(data)), "%q", data)
	}
}

const aForgedLine = "a forged line"

// harmful describes the first harmful part of a text, "" if there is none. It does not use
// package visible, which is under test.
func harmful(text string) string {
	if !utf8.ValidString(text) {
		return "bytes that are not UTF-8"
	}
	for _, r := range text {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control) || r == '\u200b' ||
			r >= 0xE0000 && r <= 0xE007F {
			return fmt.Sprintf("%U", r)
		}
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, forged) {
			return aForgedLine
		}
	}
	return ""
}

func eachText(value any, f func(string)) {
	switch v := value.(type) {
	case string:
		f(v)
	case []any:
		for _, element := range v {
			eachText(element, f)
		}
	case map[string]any:
		for name, element := range v {
			f(name)
			if name != "updatedInput" { // the input of a tool, which is not shown
				eachText(element, f)
			}
		}
	}
}
