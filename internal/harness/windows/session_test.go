//go:build windows

package windows

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"
)

// world is a user's configuration and a project.
type world struct {
	t                        *testing.T
	program, config, project string
}

func newWorld(t *testing.T) world {
	t.Helper()
	w := world{t, program(t), filepath.Join(t.TempDir(), "config dir"), filepath.Join(t.TempDir(), "my project")}
	require.NoError(t, os.Mkdir(w.project, 0o755))
	return w
}

// program returns the path of fsmtx.exe.
func program(t *testing.T) string {
	t.Helper()
	if built := os.Getenv("FSMTX_TEST_PROGRAM"); built != "" { // where there is no go command
		return built
	}
	dir := t.TempDir()
	out, err := exec.Command("go", "build", "-o", dir, "github.com/fsmtx/fsmtx/cmd/...").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return filepath.Join(dir, "fsmtx.exe")
}

// skill writes a skill with a workflow, as editors on Windows end their lines.
func (w world) skill(name, fsm string) (dir string) {
	w.t.Helper()
	dir = filepath.Join(w.config, "skills", name)
	require.NoError(w.t, os.MkdirAll(dir, 0o755))
	for file, text := range map[string]string{
		"SKILL.md": "---\nname: " + name + "\ndescription: ships it\n---\nShip it.\n", "fsm.json": fsm + "\n",
	} {
		text = strings.ReplaceAll(text, "\n", "\r\n")
		require.NoError(w.t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
	}
	return dir
}

func (w world) environ() []string {
	return []string{"CLAUDE_CONFIG_DIR=" + w.config, "SystemRoot=" + os.Getenv("SystemRoot"), "TEMP=" + os.Getenv("TEMP"),
		"USERPROFILE=" + os.Getenv("USERPROFILE"), "PATH=" + os.Getenv("PATH")}
}

// run runs the program in the project.
func (w world) run(input string, more []string, args ...string) (out string, code int) {
	w.t.Helper()
	c := exec.Command(w.program, args...)
	c.Dir, c.Stdin, c.Env = w.project, strings.NewReader(input), append(w.environ(), more...)
	text, err := c.CombinedOutput()
	if c.ProcessState == nil {
		require.NoError(w.t, err)
	}
	return string(text), c.ProcessState.ExitCode()
}

// TestASession: a skill is called, a step is refused out of order, without its file, and where no shell can run its check; two are
// completed, and the call is undone.
func TestASession(t *testing.T) {
	w := newWorld(t)
	project := w.project
	skill := w.skill("ship", `{"fsm": 2, "steps": [
		{"id": 1, "subject": "Write the notes", "produces": ["docs/NOTES.md"]},
		{"id": 2, "subject": "Publish", "blockedBy": [1]},
		{"id": 3, "subject": "Look", "check": "true", "blockedBy": [2]}]}`)
	run := w.run
	n := 0
	event := func(event, tool string, input map[string]any, response string) (string, int) {
		n++
		text, err := json.Marshal(map[string]any{"session_id": "abc-123", "hook_event_name": event, "cwd": project, "tool_name": tool,
			"tool_use_id": fmt.Sprint("use", n), "tool_input": input, "tool_response": map[string]any{"success": true, "commandName": response}})
		require.NoError(t, err)
		return run(string(text), nil, "hook")
	}
	complete := func(step string) (string, int) {
		return event("PreToolUse", "TaskUpdate", map[string]any{"taskId": step, "status": "completed"}, "")
	}

	out, code := event("PostToolUse", "Skill", map[string]any{"skill": "ship"}, "ship")
	require.Zero(t, code, out)
	assert.Contains(t, out, "3 tasks #1–#3")
	out, code = complete("2")
	assert.Equal(t, 2, code, out)
	assert.Contains(t, out, "must be done first")
	out, code = complete("1")
	assert.Equal(t, 2, code, out)
	assert.Contains(t, out, "it needs docs/NOTES.md, which is missing or empty in "+project)
	require.NoError(t, os.Mkdir(filepath.Join(project, "docs"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(project, "docs", "NOTES.md"), []byte("notes\r\n"), 0o644))
	list := filepath.Join(w.config, "tasks", "abc-123")
	for _, file := range []string{list + `\1.json`, strings.ToUpper(list) + "/1.json", filepath.ToSlash(list) + "/../abc-123/1.json",
		`\\?\` + list + `\1.json`, `\\localhost\` + list[:1] + `$` + list[2:] + `\1.json`, list[2:] + `\1.json`,
		`\\?\GLOBALROOT\DosDevices\` + list + `\1.json`,
		filepath.Join(w.config, "tasks", ".abc-123.fsmtx", "steps.jsonl")} {
		out, code = event("PreToolUse", "Write", map[string]any{"file_path": file, "content": "{}"}, "")
		assert.Equal(t, 2, code, "%s: %s", file, out)
	}
	out, code = event("PreToolUse", "Write", map[string]any{"file_path": filepath.Join(project, "1.json"), "content": "{}"}, "")
	assert.Zero(t, code, out)
	for _, program := range []string{"fsmtx", "fsmtx.exe", filepath.ToSlash(w.program), w.program, "& '" + w.program + "'"} {
		out, code = event("PreToolUse", "PowerShell", map[string]any{"command": program + ` step skip 1 --because "it's old"`}, "")
		assert.Zero(t, code, "%s: %s", program, out)
		assert.Contains(t, out, `"permissionDecision": "ask"`, program)
		assert.Contains(t, out, `The agent wants to skip the step #1 \"Write the notes\"`, program)
	}
	out, code = complete("1")
	assert.Zero(t, code, out)
	agent := []string{"CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=abc-123"}
	held, err := windows.UTF16PtrFromString(filepath.Join(list, "1.json"))
	require.NoError(t, err)
	hold := func(share uint32) windows.Handle {
		h, err := windows.CreateFile(held, windows.GENERIC_READ, share, nil, windows.OPEN_EXISTING, 0, 0)
		require.NoError(t, err)
		return h
	}
	h := hold(windows.FILE_SHARE_READ)
	out, code = run("", agent, "complete", "1")
	require.NoError(t, windows.CloseHandle(h))
	assert.Equal(t, 2, code, out)
	assert.Contains(t, out, "the task list is busy, so nothing was changed: change "+filepath.Join(list, "1.json")+
		": another program has it open. Try again")
	assert.NotContains(t, out, "step skip")
	out, code = run("", nil, "log", "--decisions", "--list", "abc-123")
	assert.Zero(t, code, out)
	assert.Equal(t, 1, strings.Count(out, "completed"), "that is the update which the client was allowed: %s", out)
	h = hold(windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE) // NTFS lets it be replaced, wine does not
	out, code = run("", agent, "complete", "1")
	require.NoError(t, windows.CloseHandle(h))
	if code != 0 {
		assert.Contains(t, out, "the task file of #1 could not be changed: ")
		assert.NotContains(t, out, "step skip")
		out, code = run("", nil, "log", "--decisions", "--list", "abc-123")
		assert.Zero(t, code, out)
		assert.Regexp(t, `completed .*\n.* refused .*the task file could not be changed`, out)
		out, code = run("", nil, "status", "--list", "abc-123")
		assert.Zero(t, code, out)
		assert.Contains(t, out, "refused: the task file could not be changed")
	}
	for _, step := range []string{"1", "2"} {
		out, code = run("", agent, "complete", step)
		require.Zero(t, code, out)
	}
	out, code = run("", append(agent, "PATH="), "complete", "3")
	assert.Equal(t, 1, code, out)
	assert.Contains(t, out, "there is no sh here: install Git for Windows")
	out, code = run("", nil, "status", "--list", "abc-123")
	require.Zero(t, code, out)
	assert.Contains(t, out, "ship: 2 of 3 steps done")
	assert.Contains(t, out, filepath.Join(skill, "fsm.json"))
	out, code = run("", nil, "undo", "--list", "abc-123", "--force")
	require.Zero(t, code, out)
	entries, err := filepath.Glob(filepath.Join(w.config, "tasks", "abc-123", "*.json"))
	require.NoError(t, err)
	assert.Empty(t, entries)
	out, code = run("", nil, "version")
	require.Zero(t, code, out)
	assert.Contains(t, out, "windows/")
}

// TestASkillOfAPlugin is found where the client's registry says, by a path of Windows.
func TestASkillOfAPlugin(t *testing.T) {
	w := newWorld(t)
	from := w.skill("ship", `{"fsm": 2, "steps": [{"id": 1, "subject": "Write"}]}`)
	plugin := filepath.Join(w.config, "plugins", "cache", "p")
	require.NoError(t, os.MkdirAll(filepath.Join(plugin, "skills"), 0o755))
	require.NoError(t, os.Rename(from, filepath.Join(plugin, "skills", "ship")))
	registry, err := json.Marshal(map[string]any{"version": 2, "plugins": map[string]any{
		"p@m": []any{map[string]any{"scope": "user", "installPath": plugin}}}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(w.config, "plugins", "installed_plugins.json"), registry, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(w.config, "settings.json"), []byte(`{"enabledPlugins": {"p@m": true}}`), 0o644))
	agent := []string{"CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=abc-123"}
	out, code := w.run("", agent, "begin", "p:ship")
	assert.Zero(t, code, out)
	assert.Contains(t, out, "The skill p:ship has put its workflow into the task list")
}

// TestNamesThatNoFileCanHave are refused in our words, with what to do.
func TestNamesThatNoFileCanHave(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"CON", "a:b", "a.", `sub\nul.txt`} {
		for _, args := range [][]string{{"new", "--template", name}, {"plugin", name}} {
			out, code := w.run("", nil, args...)
			assert.Equal(t, 1, code, out)
			assert.Contains(t, out, "fsmtx: on Windows no file can have the name ")
			assert.Contains(t, out, "hint: choose another: ")
		}
	}
	w.skill("ship", `{"fsm": 2, "steps": [{"id": 1, "subject": "Write"}]}`)
	out, code := w.run("", []string{"CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=abc-123", "CLAUDE_CODE_TASK_LIST_ID=CON"}, "begin", "ship")
	assert.Equal(t, 2, code, out)
	assert.Contains(t, out, `on Windows no file can have the name "CON"`)
	entries, err := os.ReadDir(w.project)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

// TestAReadOnlySettingsFile is not replaced, and the refusal names it and what to do.
func TestAReadOnlySettingsFile(t *testing.T) {
	w := newWorld(t)
	file := filepath.Join(w.project, ".claude", "settings.local.json")
	require.NoError(t, os.Mkdir(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(`{"model": "x"}`), 0o644))
	require.NoError(t, os.Chmod(file, 0o444))
	out, code := w.run("", nil, "install")
	assert.Equal(t, 1, code, out)
	assert.Contains(t, out, "settings.local.json: permission denied")
	assert.NotContains(t, out, "rename")
	assert.Contains(t, out, "hint: the file is read-only, or another program has it open")
	require.NoError(t, os.Chmod(file, 0o644))
	out, code = w.run("", nil, "install")
	assert.Zero(t, code, out)
}

// TestPathsOutsideTheProject are refused where a workflow names them, those of a share, too.
func TestPathsOutsideTheProject(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{`C:\x`, `C:x`, `\\server\share\x`, `//server/share/x`, `\\?\C:\x`, `\x`, `/x`, `..\x`, `../x`, `a/../../x`} {
		text, err := json.Marshal([]map[string]any{{"id": 1, "subject": "Write", "produces": []string{path}}})
		require.NoError(t, err)
		file := filepath.Join(w.skill("ship", string(text)), "fsm.json")
		out, code := w.run("", nil, "validate", file)
		assert.Equal(t, 1, code, "%s: %s", path, out)
		assert.Contains(t, out, `error: task 1 ("Write"): produces: `, path)
	}
}

// TestInstalledByNPM: the hooks run a copy of the program, which remains without the package, and --check knows an old one.
func TestInstalledByNPM(t *testing.T) {
	from := program(t)
	home, project := t.TempDir(), t.TempDir()
	bin := filepath.Join(home, "node_modules", "@fsmtx", "win32-x64", "bin")
	require.NoError(t, os.MkdirAll(bin, 0o755))
	for _, name := range []string{"fsmtx.exe", "fsmtx-tools.exe"} {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(from), name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), data, 0o755))
	}
	run := func(program string, args ...string) (string, int) {
		c := exec.Command(program, args...)
		c.Dir = project
		// wine has a USERPROFILE of its own
		c.Env = []string{"USERPROFILE=" + home, "XDG_DATA_HOME=" + home, "XDG_STATE_HOME=" + home,
			"CLAUDE_CONFIG_DIR=" + filepath.Join(home, "config"), "SystemRoot=" + os.Getenv("SystemRoot"), "TEMP=" + os.Getenv("TEMP"),
			"PATH=" + os.Getenv("PATH")}
		out, err := c.CombinedOutput()
		if c.ProcessState == nil {
			require.NoError(t, err)
		}
		return string(out), c.ProcessState.ExitCode()
	}
	packed := filepath.Join(bin, "fsmtx.exe")
	out, code := run(packed, "install", "--no-steps")
	require.Zero(t, code, out)
	own := filepath.Join(home, "fsmtx", "bin", "fsmtx.exe")
	hooks, err := os.ReadFile(filepath.Join(project, ".claude", "settings.local.json"))
	require.NoError(t, err)
	assert.Contains(t, string(hooks), strings.ReplaceAll(own, `\`, `\\`))
	assert.NotContains(t, string(hooks), "node_modules")
	out, code = run(packed, "install", "--check", "--no-steps")
	require.Zero(t, code, out)
	out, code = run(own, "version")
	require.Zero(t, code, out)

	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(own), "fsmtx-tools.exe"), []byte("old"), 0o755))
	out, code = run(packed, "install", "--check", "--no-steps")
	assert.Equal(t, 1, code, out)
	assert.Contains(t, out, "is not the version that npm has installed")
	out, code = run(packed, "install", "--remove", "--purge", "--yes")
	require.Zero(t, code, out)
	assert.NoFileExists(t, own)
}

// TestASessionOfCodex: install writes for each hook a line of PowerShell that begins with the program, a skill is taken up by a cmdlet that
// reads it, a later step's command is refused, and nothing remains.
func TestASessionOfCodex(t *testing.T) {
	w := newWorld(t)
	codex := filepath.Join(t.TempDir(), "codex home")
	more := []string{"CODEX_HOME=" + codex, "XDG_STATE_HOME=" + t.TempDir()}
	out, code := w.run("", more, "install", "--agent", "codex", "--mcp")
	require.Zero(t, code, out)
	hooks, err := os.ReadFile(filepath.Join(codex, "hooks.json"))
	require.NoError(t, err)
	line, err := json.Marshal(w.program + " hook --agent=codex")
	require.NoError(t, err)
	assert.Equal(t, 5, strings.Count(string(hooks), `"commandWindows": `+string(line)), "%s", hooks)
	server, err := os.ReadFile(filepath.Join(codex, "config.toml"))
	require.NoError(t, err)
	assert.Contains(t, string(server), strings.ReplaceAll(w.program, `\`, `\\`))
	out, code = w.run("", more, "install", "--agent", "codex", "--mcp", "--check")
	assert.Equal(t, 4, code, out) // nobody has trusted them
	out, code = w.run("", more, "install", "--agent", "codex", "--project")
	assert.NotZero(t, code, out)
	assert.Contains(t, out, "there is none of that name")
	out, code = w.run("", more, "install", "--agent", "gemini")
	assert.NotZero(t, code, out)
	assert.Contains(t, out, "not on Windows yet")

	skill := filepath.Join(w.project, ".agents", "skills", "ship")
	require.NoError(t, os.MkdirAll(skill, 0o755))
	const document = "---\r\nname: ship\r\ndescription: ships it\r\n---\r\nShip it.\r\n"
	require.NoError(t, os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte(document), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(skill, "fsm.json"), []byte(`{"fsm": 2, "steps": [{"id": 1, "subject": "Write"},
		{"id": 2, "subject": "Publish", "blockedBy": [1], "only": ["Bash(git push *)"]}]}`), 0o644))
	event := func(name, line, response string) string {
		text, err := json.Marshal(map[string]any{"session_id": "019a", "turn_id": "1", "hook_event_name": name, "cwd": w.project,
			"tool_name": "Bash", "tool_use_id": "use", "tool_input": map[string]any{"command": line}, "tool_response": response})
		require.NoError(t, err)
		out, code := w.run(string(text), more, "hook", "--agent=codex")
		assert.Zero(t, code, out)
		return out
	}
	assert.Contains(t, event("PostToolUse", `Get-Content -Raw .agents\skills\ship\SKILL.md`, document), "2 tasks #1, #2")
	assert.Contains(t, event("PreToolUse", `& "C:\Program Files\Git\cmd\git.exe" push origin main`, ""), "git push belongs to #2")
	assert.Empty(t, event("PreToolUse", `Get-ChildItem | Select-String push`, ""))

	out, code = w.run("", more, "install", "--agent", "codex", "--remove")
	require.Zero(t, code, out)
	assert.NoFileExists(t, filepath.Join(codex, "hooks.json"))
	assert.NoFileExists(t, filepath.Join(codex, "config.toml"))
}

// TestTheHomeIsThatOfTheClient: the client looks in USERPROFILE, and HOME may be a drive of the network.
func TestTheHomeIsThatOfTheClient(t *testing.T) {
	w := newWorld(t)
	profile, home := filepath.Join(t.TempDir(), "a profile"), t.TempDir()
	require.NoError(t, os.Mkdir(profile, 0o755))
	c := exec.Command(w.program, "install", "--user")
	c.Dir, c.Env = w.project, []string{"USERPROFILE=" + profile, "HOME=" + home, "SystemRoot=" + os.Getenv("SystemRoot"),
		"TEMP=" + os.Getenv("TEMP"), "PATH=" + os.Getenv("PATH")}
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.FileExists(t, filepath.Join(profile, ".claude", "settings.json"))
	entries, err := os.ReadDir(home)
	require.NoError(t, err)
	assert.Empty(t, entries)
}
