package tools_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEvalClients runs the clients of the machine interface that docs/internals/hooks.md shows. The
// TypeScript client is also valid JavaScript, so that every version of node runs it.
func TestEvalClients(t *testing.T) {
	for _, c := range []struct {
		file    string
		program []string
	}{
		{"client.go", []string{"go", "run"}},
		{"client.py", []string{"python3"}},
		{"client.ts", []string{"node"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			if _, err := exec.LookPath(c.program[0]); err != nil {
				t.Skipf("skipped: %s is not installed", c.program[0])
			}
			text, err := os.ReadFile(filepath.Join("../../testdata/hooks/clients", c.file))
			require.NoError(t, err)
			assert.LessOrEqual(t, linesOf(string(text)), 10, "a client has ten lines")
			name := c.file
			if c.program[0] == "node" {
				name = "client.mjs"
			}
			path := filepath.Join(t.TempDir(), name)
			require.NoError(t, os.WriteFile(path, text, 0o600))
			run := exec.Command(c.program[0], append(c.program[1:], path)...)
			run.Env = append(os.Environ(), "GOFLAGS=-trimpath", "CGO_ENABLED=0")
			out, err := run.CombinedOutput()
			require.NoError(t, err, "%s", out)
			assert.Contains(t, string(out), "deny not here")
		})
	}
}

// linesOf returns the number of lines of a client, without blank ones and imports.
func linesOf(text string) int {
	n := 0
	for line := range strings.Lines(regexp.MustCompile(`(?s)import \(.*?\n\)`).ReplaceAllString(text, "")) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "import ") && !strings.HasPrefix(line, "package ") {
			n++
		}
	}
	return n
}
