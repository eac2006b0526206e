package tools_test

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/tools"
)

// put writes a file, and the directories above it.
func put(t require.TestingT, path, text string) {
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// text returns what a file of the repository has.
func text(t require.TestingT, name string) string {
	data, err := os.ReadFile("../../" + name)
	require.NoError(t, err)
	return string(data)
}

// inProcess runs the program in this process, with these variables and no others.
func inProcess(env map[string]string, stdin string, args ...string) (out, errs string, code int) {
	var o, e strings.Builder
	code = tools.Main(args, terminal.Streams{In: strings.NewReader(stdin), Out: &o, Err: &e, Caller: callers.Script,
		Getenv: func(name string) (string, bool) { value, set := env[name]; return value, set }})
	return o.String(), e.String(), code
}
