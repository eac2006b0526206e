package client

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParseSwitches(t *testing.T) {
	for line, want := range map[string]Switches{
		"-p go":                                {},
		"--bare --safe-mode --restricted":      {Bare: true, SafeMode: true, Restricted: true},
		"--settings {} --bare":                 {Settings: "{}", Bare: true},
		"--settings=a --settings b":            {Settings: "b"},
		"--settings --bare":                    {Settings: "--bare"},
		"--settings":                           {},
		"--setting-sources user,project -p go": {Sources: []string{"user", "project"}},
		"--setting-sources=":                   {Sources: []string{}},
		"-- --bare":                            {},
		"-p go --no-session-persistence":       {NoPersistence: true},
		"--resume a --fork-session --bare":     {Resume: "a", Bare: true},
		"-r a":                                 {Resume: "a"},
		"--resume=a":                           {Resume: "a"},
		"--resume --bare":                      {Bare: true},
		"--bare -r":                            {Bare: true},
	} {
		assert.Equal(t, want, parseSwitches(strings.Fields("claude "+line)), line)
	}
	assert.Empty(t, parseSwitches([]string{"--bare"}), "the program's name")
}

// TestPersists: by the variable, and by the option of the process that CLAUDE_PID names.
func TestPersists(t *testing.T) {
	for _, c := range []struct {
		skip, pid string
		want      bool
	}{
		{"", "", true}, {"0", "", true}, {"false", "none", true}, {"1", "", false}, {"TRUE", "", false},
		{"", strconv.Itoa(os.Getpid()), true},
	} {
		env := map[string]string{"CLAUDE_CODE_SKIP_PROMPT_HISTORY": c.skip, "CLAUDE_PID": c.pid}
		assert.Equal(t, c.want, persists(func(name string) (string, bool) { text, ok := env[name]; return text, ok }), c)
	}
}
