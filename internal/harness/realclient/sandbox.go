//go:build unix

package realclient

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Place is a home and a project. It is removed after the test.
type Place struct {
	Home    string // HOME
	Project string // the working directory
	Temp    string // TMPDIR

	t testing.TB
}

// NewPlace creates a place.
func NewPlace(t testing.TB) Place {
	t.Helper()
	// Agents resolve symbolic links in their working directory.
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := Place{filepath.Join(root, "home"), filepath.Join(root, "project"), filepath.Join(root, "tmp"), t}
	for _, dir := range []string{p.Home, p.Project, p.Temp} {
		require.NoError(t, os.Mkdir(dir, 0o755))
	}
	return p
}

// Write writes a file and its missing directories. The path is relative to the place and
// begins with home/ or project/.
func (p Place) Write(path, content string) {
	p.t.Helper()
	full := p.Path(path)
	require.NoError(p.t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(p.t, os.WriteFile(full, []byte(content), 0o644))
}

// Path returns the absolute path of a path as Write takes it.
func (p Place) Path(path string) string {
	return filepath.Join(filepath.Dir(p.Home), filepath.FromSlash(path))
}

// Sandbox is a place with a session of the client, whose files are in .claude under its home.
type Sandbox struct {
	Place
	// Session is the ID of the session for the next prompt. Set it to NewSession()
	// to start another one.
	Session string
	// Allow lists the tools that need no permission. Others are denied, because no
	// user can be asked.
	Allow []string
	// Model is the name of the model. The tools that the client offers, and the form
	// of its reminders, depend on it.
	Model string
	// Env is added to the client's environment and overrides it.
	Env map[string]string
	// Managed are the organisation's settings files by their names in
	// /etc/claude-code. With them, programs run in a mount namespace of their own;
	// see CanManage.
	Managed map[string]string

	program string
	limit   time.Duration   // of one run of a program
	begun   map[string]bool // sessions that have had a prompt
}

// New creates a sandbox. It skips the test if npm is needed and not installed, and ends
// it if the client cannot be installed.
func New(t testing.TB) *Sandbox {
	t.Helper()
	version, err := Wanted(t.Context())
	require.NoError(t, err)
	return NewVersion(t, version)
}

// Wanted returns the version of the client that New runs: Version, unless
// FSMTX_E2E_VERSION names another one, or is "latest".
func Wanted(ctx context.Context) (string, error) {
	switch version := os.Getenv("FSMTX_E2E_VERSION"); version {
	case "":
		return Version, nil
	case "latest":
		return latest(ctx)
	default:
		return version, nil
	}
}

var latestOnce struct {
	sync.Once
	version string
	err     error
}

// latest asks for the newest version once.
func latest(ctx context.Context) (string, error) {
	latestOnce.Do(func() { latestOnce.version, latestOnce.err = Newest(ctx) })
	return latestOnce.version, latestOnce.err
}

// NewVersion is New for another version of the client.
func NewVersion(t testing.TB, version string) *Sandbox {
	t.Helper()
	cache, err := cacheDir()
	require.NoError(t, err)
	program, err := installed(t.Context(), cache, version)
	if errors.Is(err, ErrNoNPM) {
		t.Skipf("skipped: %v", err)
	}
	require.NoError(t, err)
	return sandbox(t, program)
}

func sandbox(t testing.TB, program string) *Sandbox {
	t.Helper()
	return &Sandbox{
		Place:   NewPlace(t),
		Session: NewSession(),
		Allow:   []string{"Agent", "Bash", "Edit", "Read", "Skill", "Write"},
		Model:   "claude-opus-5-5",
		Env:     map[string]string{},
		program: program,
		limit:   defaultLimit,
		begun:   map[string]bool{},
	}
}

// NewSession returns a new session ID, a random UUID as the client requires.
func NewSession() string {
	var b [16]byte
	rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// CanManage skips the test, with the reason, if Managed has no effect on this system: it
// needs Linux, unshare, and leave to mount in a namespace.
func CanManage(t testing.TB) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "unshare", "-rm", "mount", "--bind", t.TempDir(), "/etc").CombinedOutput(); err != nil {
		t.Skipf("skipped: no directory can be mounted at /etc in a namespace: %v: %s", err, out)
	}
}

// managed returns the arguments that run a program where /etc has only Managed and what
// the client needs.
func (s *Sandbox) managed(program string, args []string) (string, []string) {
	if s.Managed == nil {
		return program, args
	}
	for name, content := range s.Managed {
		s.Write("etc/claude-code/"+name, content)
	}
	for _, name := range []string{"passwd", "group", "hosts", "nsswitch.conf"} {
		if text, err := os.ReadFile("/etc/" + name); err == nil {
			s.Write("etc/"+name, string(text))
		}
	}
	const script = `mount --bind "$1" /etc && shift && exec "$@"`
	return "unshare", append([]string{"-rm", "sh", "-c", script, "sh", s.Path("etc"), program}, args...)
}

// environ returns the client's environment.
func (s *Sandbox) environ(url string) []string {
	return s.Environ(url, map[string]string{
		"ANTHROPIC_API_KEY": "no-key", "ANTHROPIC_BASE_URL": url,
		"CLAUDE_CODE_TMPDIR": s.Temp, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
		"DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1", "DISABLE_TELEMETRY": "1",
		// Newer models have no task tools without it (fact 32).
		"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1",
	}, s.Env)
}

// Environ returns the environment of a program in the place, in which later variables override others. It inherits
// nothing from the machine, and its proxy refuses every connection except those to the model at url.
func (p Place) Environ(url string, more ...map[string]string) (list []string) {
	env := map[string]string{
		"HOME": p.Home, "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "SHELL": "/bin/bash", "LANG": "C.UTF-8", "TMPDIR": p.Temp,
		"HTTP_PROXY": url, "HTTPS_PROXY": url, "NO_PROXY": "127.0.0.1",
	}
	for _, variables := range more {
		maps.Copy(env, variables)
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}
