package client

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestACallIsOver(t *testing.T) {
	const (
		prompt = `{"type":"user","message":{"role":"user","content":"go on with toolu_1"}}`
		call   = `{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}]}}`
		beside = `{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"toolu_2","name":"Bash","input":{}}]}}`
		hook   = `{"type":"attachment","attachment":{"toolUseID":"toolu_1"}}`
		other  = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_2","content":"toolu_1"}]}}`
		result = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"refused"}]}}`
		next   = `{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"toolu_1"}]}}`
	)
	for name, c := range map[string]struct {
		lines       []string
		over, known bool
	}{
		"nothing is written yet":            {lines: []string{prompt}},
		"it was just made":                  {lines: []string{prompt, call}, known: true},
		"another of its message is over":    {lines: []string{prompt, call, beside, hook, other}, known: true},
		"another of its message comes last": {lines: []string{prompt, beside, call, hook}, known: true},
		"it has a result":                   {lines: []string{prompt, call, beside, result, other}, over: true, known: true},
		"the model has gone on":             {lines: []string{prompt, call, next}, over: true, known: true},
		"only its result is left":           {lines: []string{result}, over: true, known: true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "transcript.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(strings.Join(c.lines, "\n")+"\n"), 0o600))
			over, known := Over(path, "toolu_1")
			assert.Equal(t, c.over, over)
			assert.Equal(t, c.known, known)
		})
	}
	over, known := Over(filepath.Join(t.TempDir(), "none"), "toolu_1")
	assert.False(t, over || known)
}
