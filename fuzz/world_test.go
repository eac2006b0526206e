package fuzz_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/tools"
)

// home is the home directory of a user of the client.
type home struct {
	t   require.TestingT
	dir string
	in  string               // what is on standard input
	who func() caller.Caller // runs the program
}

func newHome(t worlds.TB) *home { return &home{t: t, dir: worlds.MemoryDir(t), who: callers.Script} }

func (h *home) path(name string) string { return filepath.Join(h.dir, name) }

func (h *home) write(name string, data []byte) {
	path := h.path(name)
	require.NoError(h.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(h.t, os.WriteFile(path, data, 0o640))
	require.NoError(h.t, os.Chtimes(path, time.Time{}, time.Unix(1700000000, 123)))
}

const list = ".claude/tasks/s"

func (h *home) env(name string) (string, bool) {
	if name == "HOME" {
		return h.dir, true
	}
	return "", false
}

// hydrate hydrates the skill "skill" in the session "s".
func (h *home) hydrate() (hydrate.Result, error) {
	r := hydrate.Request{Event: "PostToolUse", Session: "s", Command: "skill"}
	return hydrate.Run(context.Background(), r, h.env, hydrate.Options{LockTimeout: 5 * time.Second})
}

// run runs the program in this home.
func (h *home) run(args ...string) (code int, stdout, stderr string) {
	var out, errs strings.Builder
	code = tools.Main(args, terminal.Streams{In: strings.NewReader(h.in), Out: &out, Err: &errs, Caller: h.who, Getenv: h.env})
	return code, out.String(), errs.String()
}

// tree returns the content and the metadata of all files in a directory, without lock
// files. A missing directory has none.
func (h *home) tree(name string) map[string]string {
	m := map[string]string{}
	err := filepath.WalkDir(h.path(name), func(path string, e fs.DirEntry, err error) error {
		if os.IsNotExist(err) || err == nil && e.Name() == "lock" {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(h.dir, path)
		m[rel] = fmt.Sprintf("%v #%d", info.Mode(), files.Inode(path))
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			m[rel] += fmt.Sprintf(" %d %q", info.ModTime().UnixNano(), data)
			return err
		}
		return nil
	})
	require.NoError(h.t, err)
	return m
}

// maxInput is the longest input of targets that make many system calls for each input.
const maxInput = 1 << 16

// skipIfTooLong skips an input of more than maxInput bytes.
func skipIfTooLong(t *testing.T, data []byte) {
	if len(data) > maxInput {
		t.Skip("longer inputs cost time and find nothing more")
	}
}

// must returns the value of a call that has to succeed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// seed adds inputs.
func seed(f *testing.F, inputs ...string) {
	for _, input := range inputs {
		f.Add([]byte(input))
	}
}
