//go:build fidelity

package fidelity

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// TestCodex asks Codex about every case. Its binary runs without an account against a
// fake model.
func TestCodex(t *testing.T) {
	wanted, dir := installed(t, realclient.Codex, "FSMTX_FIDELITY_CODEX")
	binaries, err := filepath.Glob(filepath.Join(dir, "node_modules/@openai/codex-*/vendor/*/bin/codex"))
	require.NoError(t, err)
	if len(binaries) == 0 {
		t.Skip("skipped: the package has no binary for this platform")
	}
	cases := codex().cases(t)
	codex().compared(t, wanted.Version, wanted == realclient.Codex, cases, askCodex(t, cases, binaries[0]))
}

func askCodex(t *testing.T, cases []fidelityCase, binary string) map[string]answer {
	return askEach(t, cases, codexToolEvents,
		func(t *testing.T, batch []fidelityCase, keep func(string, answer)) {
			codexTogether(t, batch, binary, keep)
		},
		func(t *testing.T, c fidelityCase) answer { return codexAlone(t, c, binary) })
}

var codexToolEvents = []string{"PreToolUse", "PostToolUse"}

// runCodex runs one prompt, in which the model runs a shell command for each name and then ends its turn.
func runCodex(t *testing.T, w world, binary string, names []string) Record {
	var turns []Turn
	for _, name := range names {
		turns = append(turns, Do(Call(name, "exec_command", map[string]any{"cmd": "printf '%s-%s' THE OUTPUT; : case:" + name})))
	}
	for range 10 { // a hook may send it back
		turns = append(turns, Say("done"))
	}
	model, err := Start(Script{Main: turns})
	require.NoError(t, err)
	defer model.Close()
	config := fmt.Sprintf(`model = "gpt-5-codex"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.fake]
name = "fake"
base_url = "%s/v1"
wire_api = "responses"
requires_openai_auth = false
[projects."%s"]
trust_level = "trusted"
`, model.URL(), w.project)
	writeFile(t, filepath.Join(w.home, ".codex/config.toml"), config)
	run := exec.CommandContext(t.Context(), binary, "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "go")
	run.Dir = w.project
	run.Env = []string{
		"HOME=" + w.home, "CODEX_HOME=" + filepath.Join(w.home, ".codex"), "PATH=" + w.bin + ":/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8",
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1", "FIDELITY_RAN=" + w.ran,
	}
	var out bytes.Buffer
	run.Stdout, run.Stderr = &out, &out
	err = run.Run()
	if os.Getenv("FSMTX_FIDELITY_SHOW") != "" {
		fmt.Printf("== %v %v\n%s\n%v\n", names, err, out.String(), model.Record())
	}
	return model.Record()
}

// codexTogether asks about several cases in one session. If a case ends the session, the
// remaining ones continue in another session.
func codexTogether(t *testing.T, cases []fidelityCase, binary string, keep func(string, answer)) {
	for len(cases) > 0 {
		w := newWorld(t)
		writeFile(t, filepath.Join(w.project, codexSettings), dispatching(t, filepath.Join(w.root, "dispatch"), codexToolEvents, cases))
		var names []string
		for _, c := range cases {
			names = append(names, c.name)
		}
		r := runCodex(t, w, binary, names)
		cases = keepAnswers(cases, keep, func(c fidelityCase) answer { return codexAnswer(r, c) })
	}
}

// codexAnswer derives the answer to a case from the result of its call.
func codexAnswer(r Record, c fidelityCase) answer {
	x := r.After(c.name)
	if x == nil {
		return answer{verdict: stopped}
	}
	news := withoutCommands(c, x.Request.News())
	a := answer{verdict: undecided, model: c.marksOf(news)}
	ran := strings.Contains(news, toolOutput) || strings.Contains(news, "CHANGED-INPUT")
	switch {
	case c.event == "PreToolUse" && !ran, c.event == "PostToolUse" && slices.Contains(a.model, "REASON-A"):
		a.verdict = denied
	}
	return a
}

func codexAlone(t *testing.T, c fidelityCase, binary string) answer {
	w := newWorld(t)
	for path, content := range settingsOf(c, codexSettings) {
		where := w.project
		if strings.HasPrefix(path, "home/") {
			where = w.root
		}
		writeFile(t, filepath.Join(where, path), content)
	}
	var names []string
	if strings.HasSuffix(c.event, "ToolUse") {
		names = []string{c.name}
	}
	r := runCodex(t, w, binary, names)
	a := answer{verdict: undecided}
	switch all := r.Exchanges(Main); {
	case len(names) > 0:
		a = codexAnswer(r, c)
	case len(all) == 0:
		a.verdict = denied
	default:
		a.model = c.marksOf(withoutCommands(c, all[len(all)-1].Request.Text()))
		if c.event == "Stop" && len(all) > 1 {
			a.verdict = denied
		}
	}
	a.ran = ranIn(w.ran)
	return a
}
