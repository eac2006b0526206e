//go:build fidelity

package fidelity

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// geminiCore is the package with Gemini CLI's hook system, and its pinned version.
var geminiCore = realclient.Package{Name: "@google/gemini-cli-core", Version: "0.61.0"}

// geminiAnswer is a line of gemini.mjs.
type geminiAnswer struct {
	Name      string         `json:"name"`
	Stop      bool           `json:"stop"`
	Blocked   bool           `json:"blocked"`
	Ask       bool           `json:"ask"`
	Reason    string         `json:"reason"`
	Context   string         `json:"context"`
	Message   string         `json:"message"`
	Input     jsontext.Value `json:"input"`
	Request   jsontext.Value `json:"request"`
	Synthetic jsontext.Value `json:"synthetic"`
	Response  jsontext.Value `json:"response"`
	Config    jsontext.Value `json:"toolConfig"`
	Tail      jsontext.Value `json:"tail"`
	Clear     bool           `json:"clear"`
}

// TestGemini asks the hook system of Gemini CLI's core about every case.
func TestGemini(t *testing.T) {
	cases := readTable(t, "gemini", geminiSettings)
	wanted := geminiCore
	if v := os.Getenv("FSMTX_FIDELITY_GEMINI"); v != "" {
		wanted.Version = v
	}
	dir, err := wanted.Install(t.Context())
	if errors.Is(err, realclient.ErrNoNPM) {
		t.Skipf("skipped: %v", err)
	}
	require.NoError(t, err)
	theirs := askGemini(t, cases, dir)
	pinned, recorded := readAnswers(t, "gemini")
	if wanted == geminiCore && os.Getenv("FSMTX_FIDELITY_UPDATE") != "" {
		writeAnswers(t, "gemini", wanted.Version, cases, theirs)
		pinned, recorded = readAnswers(t, "gemini")
	}
	report(t, "gemini", pinned, wanted.Version, cases, theirs, recorded, wanted == geminiCore)
	if wanted == geminiCore {
		compare(t, "gemini", wanted.Version, cases, recorded, fireAll(t, cases, fireAsGemini))
	}
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
		line, err := json.Marshal(map[string]any{"name": c.name, "event": c.event, "cwd": w.project, "ran": w.ran, "input": geminiInput(c), "settings": settings})
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
		var g geminiAnswer
		require.NoError(t, json.Unmarshal([]byte(line), &g), line)
		theirs[g.Name] = g.answer(byName[g.Name], worlds[g.Name])
	}
	require.Len(t, theirs, len(cases))
	return theirs
}

func (g geminiAnswer) answer(c fidelityCase, w world) answer {
	a := answer{verdict: undecided, ran: ranIn(w.ran)}
	texts := []string{g.Message, g.Context}
	switch {
	case g.Stop:
		a.verdict, texts = stopped, append(texts, g.Reason)
	case g.Blocked:
		a.verdict, texts = denied, append(texts, g.Reason, string(g.Synthetic))
	case g.Ask:
		a.verdict = asks
	}
	for _, value := range []jsontext.Value{g.Input, g.Request, g.Response, g.Config, g.Tail} {
		texts = append(texts, string(value))
	}
	a.model = c.marksOf(texts...)
	if g.Clear {
		a.model = append(a.model, "CLEARED")
	}
	if strings.Contains(g.Context, "&lt;") {
		a.model = append(a.model, "ESCAPED")
	}
	return a
}
