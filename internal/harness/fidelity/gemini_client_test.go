//go:build fidelity

package fidelity

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// geminiCore is the package with Gemini CLI's hook system, and its pinned version.
var geminiCore = realclient.Package{Name: "@google/gemini-cli-core", Version: "0.61.0"}

// TestGemini asks the hook system of Gemini CLI's core about every case.
func TestGemini(t *testing.T) {
	wanted, dir := installed(t, geminiCore, "FSMTX_FIDELITY_GEMINI")
	cases := gemini().cases(t)
	gemini().compared(t, wanted.Version, wanted == geminiCore, cases, askGemini(t, cases, dir))
}

// askGemini runs all cases in one node.
func askGemini(t *testing.T, cases []fidelityCase, dir string) map[string]answer {
	var lines bytes.Buffer
	worlds := map[string]world{}
	byName := map[string]fidelityCase{}
	bin := newWorld(t).bin
	for _, c := range cases {
		w := newWorld(t)
		worlds[c.name], byName[c.name] = w, c
		var settings map[string]any
		require.NoError(t, json.Unmarshal([]byte(settingsOf(c, geminiSettings)[geminiSettings]), &settings), c.name)
		line, err := json.Marshal(map[string]any{"name": c.name, "event": c.event, "cwd": w.project, "ran": w.ran, "input": geminiInput(c),
			"settings": settings})
		require.NoError(t, err)
		lines.Write(append(line, '\n'))
	}
	node := exec.CommandContext(t.Context(), "node", "gemini.mjs", filepath.Join(dir, "node_modules", filepath.FromSlash(geminiCore.Name)))
	node.Env = []string{"HOME=" + t.TempDir(), "PATH=" + bin + ":" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	node.Stdin = &lines
	var errs bytes.Buffer
	node.Stderr = &errs
	out, err := node.Output()
	require.NoError(t, err, errs.String())
	theirs := map[string]answer{}
	for line := range strings.Lines(string(out)) {
		var got struct { // a line of gemini.mjs
			Name   string `json:"name"`
			Policy policy `json:"policy"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &got), line)
		theirs[got.Name] = got.Policy.asGemini(byName[got.Name], ranIn(worlds[got.Name].ran))
	}
	require.Len(t, theirs, len(cases))
	return theirs
}
