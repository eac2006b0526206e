package cmdline

import (
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
	} {
		assert.Equal(t, want, parseSwitches(strings.Fields("claude "+line)), line)
	}
	assert.Empty(t, parseSwitches([]string{"--bare"}), "the program's name")
}
