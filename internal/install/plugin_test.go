package install

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/settings"
)

func small() Plugin {
	return Plugin{Name: "fsmtx", Version: "1.2.3", Programs: []Program{{Platform: ThisPlatform(), Fsmtx: []byte("#!/bin/sh\n")}},
		Parts: []Part{Workflows(tasksAlone())}}
}

// tasksAlone are the hooks of a plugin that does not enforce the steps.
func tasksAlone() []settings.Hook {
	return settings.Hooks(Command, []string{"--steps=off"}, settings.Duty{NoSteps: true})
}

func TestHooksRunThePluginsOwnProgram(t *testing.T) {
	dir := t.TempDir()
	_, err := small().Write(dir, false)
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(dir, "hooks/hooks.json"))
	require.NoError(t, err)
	report, err := settings.Inspect(data, settings.Hooks("${CLAUDE_PLUGIN_ROOT}/bin/fsmtx", []string{"--steps=off"},
		settings.Duty{NoSteps: true}))
	require.NoError(t, err)
	assert.Equal(t, settings.Installed, report.State)
}

func TestPartsAddTheirHooksAndFiles(t *testing.T) {
	p := small()
	p.Parts = append(p.Parts, Part{
		Hooks: []settings.Hook{
			{Event: "PreToolUse", Matcher: "Edit", Command: Command, Args: []string{"one"}, Timeout: 5},
			{Event: "PreToolUse", Matcher: "Write", Command: Command, Args: []string{"two"}, Timeout: 5},
		},
		Files: fstest.MapFS{"config/rules.yaml": {Data: []byte("a: 1\n")}},
	})
	dir := t.TempDir()
	written, err := p.Write(dir, false)
	require.NoError(t, err)
	assert.Contains(t, written, "config/rules.yaml")

	var file struct {
		Hooks map[string][]struct {
			Matcher string `json:"matcher"`
		} `json:"hooks"`
	}
	data, err := os.ReadFile(filepath.Join(dir, "hooks/hooks.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &file))
	var matchers []string
	for _, group := range file.Hooks["PreToolUse"] {
		matchers = append(matchers, group.Matcher)
	}
	assert.Equal(t, []string{"Edit", "Write"}, matchers[len(matchers)-2:])
	assert.Len(t, file.Hooks["PostToolUse"], 1)
}

func TestReadmeNamesEveryHook(t *testing.T) {
	p := small()
	assert.Contains(t, string(p.readme()), "\n- PostToolUse of `Skill`: `fsmtx hook --agent=claude --steps=off`\n")
	assert.Contains(t, string(p.readme()), "\n- SessionStart: `fsmtx hook --agent=claude --steps=off`\n")
	assert.NotContains(t, string(p.readme()), "guard")

	assert.Contains(t, string(p.readme()), "made with `--no-steps`")
	assert.Contains(t, string(p.readme()), "\nThis is fsmtx 1.2.3, for "+string(ThisPlatform())+".\n")

	p.Parts = []Part{Workflows(settings.Hooks(Command, []string{"--stop=hold"}, settings.Duty{})), Planning("product-planning", ""),
		SkillFiles()}
	assert.Contains(t, string(p.readme()), "\n- TaskCompleted: `fsmtx hook --agent=claude --stop=hold`\n")
	assert.Contains(t, string(p.readme()), "\n- PreToolUse of `Bash(*fsmtx *)`: `fsmtx hook --agent=claude --stop=hold`\n")
	assert.NotContains(t, string(p.readme()), "made with `--no-steps`")
	assert.NotContains(t, string(p.readme()), "fsmtx hydrate")
	for _, part := range p.Parts {
		for _, h := range part.Hooks {
			assert.Contains(t, string(p.readme()), "- "+h.Event)
			assert.Contains(t, string(p.readme()), "`fsmtx "+strings.Join(h.Args, " "))
		}
		assert.NotEmpty(t, part.About)
		assert.Contains(t, string(p.readme()), part.About)
	}
}

func TestOnlyTheProgramIsExecutable(t *testing.T) {
	dir := t.TempDir()
	written, err := small().Write(dir, false)
	require.NoError(t, err)
	for _, path := range written {
		info, err := os.Stat(filepath.Join(dir, path))
		require.NoError(t, err)
		want := fs.FileMode(0o644)
		if path == "bin/fsmtx" {
			want = 0o755
		}
		assert.Equal(t, want, info.Mode(), path)
	}
}

func TestAnInterruptedWriteIsCompleted(t *testing.T) {
	files, err := small().files()
	require.NoError(t, err)
	for n := range files {
		dir := t.TempDir()
		for _, f := range files[:n] {
			_, _, err := f.compare(dir)
			require.NoError(t, err)
			require.NoError(t, f.write(dir))
		}
		written, err := small().Write(dir, false)
		require.NoError(t, err, "after %d files", n)
		assert.Len(t, written, len(files)-n)
	}
}

func TestWriteOverwritesOnlyWithForce(t *testing.T) {
	dir := t.TempDir()
	files, err := small().files()
	require.NoError(t, err)
	_, _, err = files[0].compare(dir)
	require.NoError(t, err)
	require.NoError(t, files[0].write(dir))
	mine := filepath.Join(dir, "README.md")
	require.NoError(t, os.WriteFile(mine, []byte("mine"), 0o600))

	_, err = small().Write(dir, false)
	var differs *differsError
	require.ErrorAs(t, err, &differs)
	assert.Equal(t, []string{"README.md"}, differs.paths)
	assert.NoDirExists(t, filepath.Join(dir, "bin"))

	_, err = small().Write(dir, true)
	require.NoError(t, err)
	data, err := os.ReadFile(mine)
	require.NoError(t, err)
	assert.Equal(t, string(files[1].data), string(data))
}

func TestInvalidNamesAreRefused(t *testing.T) {
	for _, name := range []string{"", "A", "a b", "-a", "a-", "a--b", "../a", "a/b", "ä"} {
		p := small()
		p.Name = name
		_, err := p.files()
		assert.ErrorIs(t, err, errName, "%q", name)
	}
}
