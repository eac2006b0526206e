//go:build unix

package agents

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// Limit bounds one run of an agent. A prompt takes one to seven seconds on an idle machine.
const Limit = 3 * time.Minute

// World is a place in which an agent works.
type World struct {
	*Agent
	realclient.Place
	Env map[string]string // is added to the agent's environment and overrides it

	t   testing.TB
	bin string // the program
}

// Run is the result of one prompt.
type Run struct {
	fakemodel.Record
	realclient.Output
}

// New creates a world. It skips the test if npm is needed and not installed, or if the agent is
// not pinned for this platform, and ends it if the agent cannot be installed.
func (a *Agent) New(t testing.TB) *World {
	t.Helper()
	return a.In(t, realclient.NewPlace(t))
}

// In is New in a place that another agent has, too.
func (a *Agent) In(t testing.TB, place realclient.Place) *World {
	t.Helper()
	if here := runtime.GOOS + "/" + runtime.GOARCH; a.platform != "" && a.platform != here {
		t.Skipf("skipped: %v is pinned for %s, and this is %s", a, a.platform, here)
	}
	dir, err := a.Package.Install(t.Context())
	if errors.Is(err, realclient.ErrNoNPM) {
		t.Skipf("skipped: %v", err)
	}
	require.NoError(t, err)
	if _, err := exec.LookPath("node"); err != nil {
		t.Skipf("skipped: %v", err)
	}
	w := &World{
		Agent: a, Place: place, Env: map[string]string{},
		t: t, bin: filepath.Join(dir, "node_modules", cmp.Or(a.path, ".bin/"+a.Program)),
	}
	if w.hooksFile != "" {
		w.WriteHooks("{}")
	}
	if w.files != nil {
		for path, content := range w.files(w) {
			w.Write("home/"+path, content)
		}
	}
	return w
}

// WriteHooks makes hooks those of the person: an object with a list of groups for each event,
// {EVENT: [{"matcher", "hooks": [{"type", "command"}]}]}.
func (w *World) WriteHooks(hooks string) {
	w.t.Helper()
	w.Write("home/"+w.hooksFile, fmt.Sprintf(w.hooksForm, hooks))
}

// Prompt sends one prompt in a new session and waits for the agent to exit. args come before
// those of the prompt. It ends the test only if the agent cannot be started or does not
// exit; a test that fails, even later, logs the conversation.
func (w *World) Prompt(script fakemodel.Script, prompt string, args ...string) *Run {
	w.t.Helper()
	return w.run(script, func(url string) []string { return append(slices.Clone(args), w.prompt(url, prompt)...) })
}

// Resume sends one prompt in the session before.
func (w *World) Resume(script fakemodel.Script, prompt string) *Run {
	w.t.Helper()
	return w.run(script, func(url string) []string {
		args := w.prompt(url, prompt)
		if w.Program == "codex" {
			return slices.Insert(args, 1, "resume", "--last")
		}
		return append(strings.Fields(w.resume), args...)
	})
}

// Command runs another command of the agent, such as "plugin list".
func (w *World) Command(args ...string) *Run {
	w.t.Helper()
	return w.run(fakemodel.Script{}, func(string) []string { return args })
}

func (w *World) run(script fakemodel.Script, arguments func(url string) []string) *Run {
	w.t.Helper()
	m, err := fakemodel.Start(script)
	require.NoError(w.t, err)
	defer m.Close()
	args := arguments(m.URL())
	out, err := realclient.Exec{
		Program: w.bin, Args: args, Dir: w.Project, Env: w.environ(m.URL()), Limit: Limit,
	}.Run(w.t.Context())
	r := &Run{m.Record(), out}
	w.t.Cleanup(func() {
		if w.t.Failed() {
			w.t.Logf("%v %q\n%v\n%v", w.Agent, args, r.Record, out)
		}
	})
	require.NoError(w.t, err)
	return r
}

// environ returns the agent's environment.
func (w *World) environ(url string) []string {
	node, err := exec.LookPath("node")
	require.NoError(w.t, err)
	more := map[string]string{}
	if w.env != nil {
		more = w.env(url)
	}
	path := filepath.Dir(node) + ":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
	return w.Environ(url, map[string]string{"PATH": path, "NO_COLOR": "1"}, more, w.Env)
}
