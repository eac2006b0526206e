//go:build fidelity

package fidelity

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

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

// responses is a fake model that speaks the Responses API: it runs a shell command for each
// name, then it ends its turn.
type responses struct {
	mu    sync.Mutex
	names []string
	asked int
	input []item // of the last request: the whole conversation
}

// item is a part of the conversation.
type item struct {
	Type    string `json:"type"`
	Role    string `json:"role"`
	CallID  string `json:"call_id"`
	Output  any    `json:"output"`
	Content any    `json:"content"`
}

func (i item) text() string { return fmt.Sprint(i.Output, i.Content) }

func (r *responses) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil || request.Method != http.MethodPost {
		fmt.Fprint(w, `{"data":[],"models":[]}`)
		return
	}
	var asked struct {
		Input []item `json:"input"`
	}
	_ = json.Unmarshal(body, &asked)
	r.mu.Lock()
	n := r.asked
	r.asked++
	r.input = asked.Input
	r.mu.Unlock()
	answer := map[string]any{"type": "message", "id": "m", "role": "assistant",
		"content": []any{map[string]any{"type": "output_text", "text": "done"}}}
	if n < len(r.names) {
		arguments, _ := json.Marshal(map[string]any{"cmd": fmt.Sprintf("printf '%%s-%%s' THE OUTPUT; : case:%s", r.names[n])})
		answer = map[string]any{"type": "function_call", "id": fmt.Sprint("f", n), "call_id": r.names[n], "name": "exec_command",
			"arguments": string(arguments)}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	usage := map[string]any{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "input_tokens_details": nil,
		"output_tokens_details": nil}
	for _, event := range []map[string]any{
		{"type": "response.created", "response": map[string]any{"id": fmt.Sprint("r", n)}},
		{"type": "response.output_item.done", "output_index": 0, "item": answer},
		{"type": "response.completed", "response": map[string]any{"id": fmt.Sprint("r", n), "usage": usage}},
	} {
		line, _ := json.Marshal(event)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], line)
	}
}

// after returns what the model read between the result of a call and the next call; ok is
// false if it got no result.
func (r *responses) after(name string) (texts []string, ok bool) {
	for _, i := range r.input {
		switch {
		case i.Type == "function_call_output" && i.CallID == name:
			ok = true
			texts = append(texts, i.text())
		case i.Type == "function_call": // what follows belongs to this call
			if ok {
				return texts, true
			}
			texts = nil
		default:
			texts = append(texts, i.text())
		}
	}
	return texts, ok
}

// runCodex runs one prompt and returns the conversation.
func runCodex(t *testing.T, w world, binary string, names []string) *responses {
	model := &responses{names: names}
	server := httptest.NewServer(model)
	defer server.Close()
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
`, server.URL, w.project)
	writeFile(t, filepath.Join(w.home, ".codex/config.toml"), config)
	run := exec.CommandContext(t.Context(), binary, "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "go")
	run.Dir = w.project
	run.Env = []string{
		"HOME=" + w.home, "CODEX_HOME=" + filepath.Join(w.home, ".codex"), "PATH=" + w.bin + ":/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8",
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1", "FIDELITY_RAN=" + w.ran,
	}
	var out bytes.Buffer
	run.Stdout, run.Stderr = &out, &out
	err := run.Run()
	if os.Getenv("FSMTX_FIDELITY_SHOW") != "" {
		fmt.Printf("== %v %v\n%s\n%+v\n", names, err, out.String(), model.input)
	}
	return model
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
		model := runCodex(t, w, binary, names)
		cases = keepAnswers(cases, keep, func(c fidelityCase) answer { return codexAnswer(model, c) })
	}
}

// codexAnswer derives the answer to a case from the result of its call.
func codexAnswer(model *responses, c fidelityCase) answer {
	texts, ok := model.after(c.name)
	if !ok {
		return answer{verdict: stopped}
	}
	news := withoutCommands(c, strings.Join(texts, "\n"))
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
	model := runCodex(t, w, binary, names)
	a := answer{verdict: undecided}
	var texts []string
	for _, i := range model.input {
		texts = append(texts, withoutCommands(c, i.text()))
	}
	switch {
	case len(names) > 0:
		a = codexAnswer(model, c)
	case c.event == "Stop":
		a.model = c.marksOf(texts...)
		if model.asked > 1 {
			a.verdict = denied
		}
	default:
		a.model = c.marksOf(texts...)
		if model.asked == 0 {
			a.verdict, a.model = denied, nil
		}
	}
	a.ran = ranIn(w.ran)
	return a
}
