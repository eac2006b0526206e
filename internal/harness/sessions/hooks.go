package sessions

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// HookCase is one case of cases.json, more.json or dialects.json in testdata/hooks.
type HookCase struct {
	ID           string            `json:"id"`
	Title        string            `json:"title"`
	Requirements []string          `json:"reqs"`
	Request      jsontext.Value    `json:"request"`
	Files        map[string]string `json:"files"`
	Dirname      string            `json:"dirname"`
	GenInput     *genInput         `json:"gen_input"`
	Expect       map[string]any    `json:"expect"`
	Recommend    map[string]any    `json:"recommend"`
	Tags         []string          `json:"tags"`
}

// genInput describes a large input, which is generated.
type genInput struct {
	Path []string `json:"path"`
	Char string   `json:"char"`
	N    int      `json:"n"`
}

// Stdin returns the request for a directory. Numbers are not reformatted.
func (c HookCase) Stdin(t *testing.T, dir string) []byte {
	var request map[string]jsontext.Value
	require.NoError(t, json.Unmarshal([]byte(InDir(string(c.Request), dir).(string)), &request))
	if request["cwd"] == nil {
		cwd, err := json.Marshal(dir)
		require.NoError(t, err)
		request["cwd"] = cwd
	}
	if g := c.GenInput; g != nil {
		var input map[string]any
		require.NoError(t, json.Unmarshal(request["input"], &input))
		g.into(input)
		generated, err := json.Marshal(input)
		require.NoError(t, err)
		request["input"] = generated
	}
	stdin, err := json.Marshal(request)
	require.NoError(t, err)
	return stdin
}

func (g genInput) into(input map[string]any) {
	for _, key := range g.Path[:len(g.Path)-1] {
		input = input[key].(map[string]any)
	}
	input[g.Path[len(g.Path)-1]] = strings.Repeat(g.Char, g.N)
}

// InDir replaces {{CWD}} by the case's directory in every string.
func InDir(v any, dir string) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "{{CWD}}", dir)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = InDir(v[i], dir)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k := range v {
			out[InDir(k, dir).(string)] = InDir(v[k], dir)
		}
		return out
	}
	return v
}

// WriteProgram writes a file that will be executed. It prevents forks meanwhile: a child
// inherits the open file until its exec, and until then executing the file fails with
// ETXTBSY.
func WriteProgram(path, text string, mode os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, []byte(text), mode)
}

// MakeExecutable makes a session's scripts executable, because a txtar file has no modes.
func MakeExecutable(dir string) error {
	return filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".sh" {
			return err
		}
		return os.Chmod(path, 0o755)
	})
}

// noDurations writes the last standard output to said.txt, with 0 ms for every duration.
func noDurations(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: nodurations")
	}
	said := regexp.MustCompile(`\d+ ms *`).ReplaceAllString(ts.ReadFile("stdout"), "0 ms  ")
	ts.Check(os.WriteFile(ts.MkAbs("said.txt"), []byte(said), 0o644))
}
