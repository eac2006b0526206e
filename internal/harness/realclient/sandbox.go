package realclient

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Sandbox is a home, a project and a session, thrown away after the test.
type Sandbox struct {
	Home    string // HOME; the client's files are in .claude under it
	Project string // the client's working directory
	// Session is the ID of the session that the next prompt belongs to. Set
	// it to NewSession() to begin another one.
	Session string
	// Allow lists the tools that run without permission. The rest is denied:
	// there is nobody to ask.
	Allow []string
	// Model is the model that the client believes to talk to. It matters:
	// the client offers tools and passes reminders on by the model's name.
	Model string
	// Env is added to the client's environment, and wins.
	Env map[string]string

	t       testing.TB
	tmp     string
	program string
	limit   time.Duration   // of one run of a program
	begun   map[string]bool // sessions that have had a prompt
}

// New makes a sandbox. Without npm it skips the test and says so; it ends the
// test if the client cannot be installed.
func New(t testing.TB) *Sandbox {
	t.Helper()
	cache, err := Cache()
	require.NoError(t, err)
	program, err := Install(t.Context(), cache)
	if errors.Is(err, ErrNoNPM) {
		t.Skipf("skipped: %v", err)
	}
	require.NoError(t, err)
	return sandbox(t, program)
}

func sandbox(t testing.TB, program string) *Sandbox {
	t.Helper()
	// The client resolves its working directory; so does the test, to compare.
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	s := &Sandbox{
		Home:    filepath.Join(root, "home"),
		Project: filepath.Join(root, "project"),
		Session: NewSession(),
		Allow:   []string{"Agent", "Bash", "Edit", "Read", "Skill", "Write"},
		Model:   "claude-opus-5-5",
		Env:     map[string]string{},
		t:       t,
		tmp:     filepath.Join(root, "tmp"),
		program: program,
		limit:   defaultLimit,
		begun:   map[string]bool{},
	}
	for _, dir := range []string{s.Home, s.Project, s.tmp} {
		require.NoError(t, os.Mkdir(dir, 0o755))
	}
	return s
}

// NewSession makes up a session ID: a random UUID, which is what the client
// takes.
func NewSession() string {
	var b [16]byte
	rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Write writes a file and its missing folders. The path is relative to the
// sandbox: home/… or project/….
func (s *Sandbox) Write(path, content string) {
	s.t.Helper()
	full := s.Path(path)
	require.NoError(s.t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(s.t, os.WriteFile(full, []byte(content), 0o644))
}

// Path returns the absolute path of what Write calls home/… or project/….
func (s *Sandbox) Path(path string) string {
	return filepath.Join(filepath.Dir(s.Home), filepath.FromSlash(path))
}

// environ is all that the client and the sandbox's commands see. Nothing of
// the machine's own environment gets in, and nothing gets out: what is not
// meant for the model at url goes to a proxy that refuses it.
func (s *Sandbox) environ(url string) []string {
	env := map[string]string{
		"HOME":              s.Home,
		"PATH":              "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
		"SHELL":             "/bin/bash",
		"LANG":              "C.UTF-8",
		"TMPDIR":            s.tmp,
		"ANTHROPIC_API_KEY": "no-key",

		"ANTHROPIC_BASE_URL": url,
		"HTTP_PROXY":         url,
		"HTTPS_PROXY":        url,
		"NO_PROXY":           "127.0.0.1",

		"CLAUDE_CODE_TMPDIR":                       s.tmp,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
		"DISABLE_AUTOUPDATER":                      "1",
		"DISABLE_ERROR_REPORTING":                  "1",
		"DISABLE_TELEMETRY":                        "1",
		// Without it the client has no task tools for newer models.
		"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1",
	}
	maps.Copy(env, s.Env)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}
