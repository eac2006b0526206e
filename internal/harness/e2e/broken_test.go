//go:build e2e

// The registered lines of the built program, which is broken in mid-session in every way.

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// breakages are what can happen to a program: the file that takes its place, nil for none.
func breakages(t *testing.T, program string) map[string][]byte {
	t.Helper()
	whole, err := os.ReadFile(program)
	require.NoError(t, err)
	return map[string][]byte{"missing": nil, "empty": {}, "cut": whole[:len(whole)/2], "not-executable": whole,
		"exit-1": []byte("#!/bin/sh\nexit 1\n"), "killed": []byte("#!/bin/sh\nkill -9 $$\n"), "hanging": []byte("#!/bin/sh\nexec sleep 60\n")}
}

// replaced puts a file in the place of the program; the whole one is kept.
func replaced(t *testing.T, program, kind string, content []byte) {
	if _, err := os.Lstat(program + ".whole"); err != nil {
		assert.NoError(t, os.Link(program, program+".whole"))
	}
	if content == nil && kind == "missing" {
		assert.NoError(t, os.RemoveAll(program))
		return
	}
	mode := os.FileMode(0o755)
	if kind == "not-executable" {
		mode = 0o644
	}
	assert.NoError(t, os.WriteFile(program+".new", content, mode))
	assert.NoError(t, os.Rename(program+".new", program))
}

func TestNoBrokenProgramPassesAStep(t *testing.T) {
	for _, form := range []string{"path", "name", "plugin"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			s := realclient.New(t)
			skill(s, projectSkills, "release", `[{"id": 1, "subject": "Write"}, {"id": 2, "subject": "Publish", "blockedBy": [1]}]`)
			program, args := s.Path("project/bin/fsmtx"), []string(nil)
			require.NoError(t, os.MkdirAll(filepath.Dir(program), 0o755))
			require.Zero(t, s.Command("", "cp", fsmtx, filepath.Join(filepath.Dir(fsmtx), "fsmtx-tools"), filepath.Dir(program)).Code)
			s.Env["PATH"] = filepath.Dir(program) + ":" + systemPath
			settings := s.Path("project/.claude/settings.json")
			switch form {
			case "plugin":
				require.Zero(t, s.Command("", program, "plugin", "--stop", "off", s.Path("project/plugin")).Code)
				settings = s.Path("project/plugin/hooks/hooks.json")
				program, args = s.Path("project/plugin/bin/fsmtx"), []string{"--plugin-dir", s.Path("project/plugin")}
			case "name":
				require.Zero(t, s.Command("", program, "install", "--project", "--stop", "off").Code)
				s.Write("project/.claude/settings.local.json", `{"env": {"PATH": "`+s.Env["PATH"]+`"}}`)
			default:
				require.Zero(t, s.Command("", program, "install", "--user", "--stop", "off").Code)
				settings = s.Path("home/.claude/settings.json")
			}
			limit(t, settings, `"timeout": 1860`, `"timeout": 5`)
			kinds := breakages(t, program)
			script := []Turn{Do(Skill("skill", "release")), load, Do(TaskUpdate("start", "1", "in_progress"))}
			for kind, content := range kinds {
				script = append(script, func(*Request) []Block {
					replaced(t, program, kind, content)
					return []Block{TaskUpdate(kind, "1", "completed")}
				}, Do(Bash("mend-"+kind, "echo fsmtx install")))
			}
			if form == "name" {
				kinds["PATH"] = nil
				script = append(script, func(*Request) []Block {
					assert.NoError(t, os.Rename(program+".whole", program))
					s.Write("project/.claude/settings.local.json", `{"env": {"PATH": "/usr/bin:/bin"}}`)
					return []Block{TaskUpdate("PATH", "2", "completed")} // if the client keeps the old PATH, the program refuses
				}, func(*Request) []Block {
					assert.NoError(t, os.Link(program, program+".whole"))
					s.Write("project/.claude/settings.local.json", `{"env": {"PATH": "`+s.Env["PATH"]+`"}}`)
					return []Block{Bash("mend-PATH", "echo fsmtx install")}
				})
			}
			script = append(script, func(*Request) []Block {
				assert.NoError(t, os.Rename(program+".whole", program))
				return []Block{TaskUpdate("whole", "1", "completed")}
			}, Say("done"))
			r := s.Prompt(Script{Main: script}, "go", args...)
			for kind := range kinds {
				t.Log(kind, denied(t, r, kind))
				assert.Equal(t, "fsmtx install", r.Text("mend-"+kind), kind)
			}
			allowed(t, r, "whole")

			// Nothing is noticed in a session without a workflow.
			s.Session = realclient.NewSession()
			replaced(t, program, "missing", nil)
			r = s.Prompt(Script{Main: append(created("mine"), Do(TaskUpdate("own", "1", "completed")), Say("done"))}, "go", args...)
			allowed(t, r, "own")
			if form != "path" {
				return
			}

			// Each prompt is sent, and each turn ends.
			limit(t, settings, `"timeout": 15`, `"timeout": 1`)
			for kind, content := range kinds {
				s.Session = realclient.NewSession()
				replaced(t, program, kind, content)
				assert.Equal(t, "said", s.Prompt(Script{Main: []Turn{Say("said")}}, "go").Final, kind)
			}
		})
	}
}

// limit shortens the time limits of the hooks in a file, so that the client gives a program up that hangs.
func limit(t *testing.T, path, old, now string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(text), old, now)), 0o600))
}
