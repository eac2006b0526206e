package client

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseDirs(t *testing.T) {
	for line, want := range map[string]Dirs{
		"-p go":                                  {},
		"--add-dir /a":                           {Added: []string{"/a"}},
		"--add-dir /a /b --model m /c":           {Added: []string{"/a", "/b"}},
		"--add-dir=/a /b":                        {Added: []string{"/a"}},
		"--add-dir /a --add-dir=/b":              {Added: []string{"/a", "/b"}},
		"--add-dir a ../b":                       {Added: []string{"/start/a", "/b"}},
		"--plugin-dir /a /b":                     {Plugins: []string{"/a"}},
		"--plugin-dir=a --plugin-dir ./b/":       {Plugins: []string{"/start/a", "/start/b"}},
		"--plugin-dir /p --add-dir /a -p go":     {Plugins: []string{"/p"}, Added: []string{"/a"}},
		"--add-dir":                              {},
		"--plugin-dir":                           {},
		"--add-dir= --plugin-dir=":               {},
		"--add-dir /a - /b":                      {Added: []string{"/a", "/start/-", "/b"}},
		"-- --add-dir /a":                        {},
		"--add-directory /a --plugin-dirs=/a go": {},
	} {
		assert.Equal(t, want, parseDirs(strings.Fields("claude "+line), "/start"), line)
	}
	assert.Empty(t, parseDirs([]string{"--add-dir"}, "/start"), "the program's name")
	assert.Empty(t, parseDirs(nil, "/start"))
	assert.Equal(t, Dirs{Added: []string{"/b"}}, parseDirs([]string{"claude", "--add-dir", "a", "/b"}, ""), "the start directory is unknown")
}

// TestReadOfAnotherProcess reads the command line of a child, which ends when its
// standard input is closed.
func TestReadOfAnotherProcess(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skipf("not supported on %s", runtime.GOOS)
	}
	c := exec.Command("sh", "-c", "echo started; read line", "sh", "--add-dir", "a b", "--plugin-dir=/p")
	stdin, err := c.StdinPipe()
	require.NoError(t, err)
	stdout, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() { stdin.Close(); _ = c.Wait() })
	_, err = stdout.Read(make([]byte, 8)) // then the child runs sh, with the arguments
	require.NoError(t, err)

	got, err := ReadDirs(pid(strconv.Itoa(c.Process.Pid)), "/start")

	require.NoError(t, err)
	assert.Equal(t, Dirs{Added: []string{"/start/a b"}, Plugins: []string{"/p"}}, got)
}

func pid(value string) func(string) (string, bool) {
	return func(name string) (string, bool) { return value, name == "CLAUDE_PID" }
}

func TestReadNeedsAProcess(t *testing.T) {
	for _, value := range []string{"", "0", "-1", "self", "1/../2"} {
		_, err := ReadDirs(pid(value), "/start")
		assert.ErrorIs(t, err, errUnknown, value)
	}
	_, err := ReadDirs(pid("999999999"), "/start")
	assert.Error(t, err, "no such process")
}

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
