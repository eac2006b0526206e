//go:build together

package together_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// library is the client's locking library, in the version that the client uses.
var library = realclient.Package{Name: "proper-lockfile", Version: "4.1.2"}

// nodeClient returns a launcher of the client that uses the client's own library.
// Without node or npm it skips the test and says so.
func nodeClient(t *testing.T) launcher {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("skipped: the client's locking library needs %s, which is not installed", program)
		}
	}
	dir, err := library.Install(t.Context())
	require.NoError(t, err)
	script, err := filepath.Abs("testdata/client/client.js")
	require.NoError(t, err)
	return func(list string) *exec.Cmd {
		c := exec.Command("node", script, list)
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "NODE_PATH=" + filepath.Join(dir, "node_modules")}
		return c
	}
}

// TestBesideTheClientsLibrary repeats the rounds on a disk, for the time in FSMTX_TOGETHER (default 10s).
func TestBesideTheClientsLibrary(t *testing.T) {
	launch, end := nodeClient(t), time.Now().Add(span(t))
	seed := uint64(time.Now().UnixNano())
	for n := uint64(0); time.Now().Before(end) && !t.Failed(); n++ {
		r := rounds[n%uint64(len(rounds))]
		r.clients = min(r.clients, 2)
		t.Run(r.name, func(t *testing.T) { r.run(t, worldIn(t, t.TempDir()), launch, seed+n) })
	}
}

// span returns the time in FSMTX_TOGETHER.
func span(t *testing.T) time.Duration {
	text := os.Getenv("FSMTX_TOGETHER")
	if text == "" {
		return 10 * time.Second
	}
	d, err := time.ParseDuration(text)
	require.NoError(t, err)
	return d
}

// TestHookWaitsForTheClientsLibrary while a client that uses it holds a lock, or until its timeout.
func TestHookWaitsForTheClientsLibrary(t *testing.T) {
	launch := nodeClient(t)
	for _, i := range interleavings {
		t.Run(i.name, func(t *testing.T) { i.run(t, launch) })
	}
}

// TestTheClientsLibraryWaitsForHook: a client gets the lock of a hook when the hook has
// finished, and gives up when the hook hangs.
func TestTheClientsLibraryWaitsForHook(t *testing.T) {
	launch := nodeClient(t)
	for hangs, want := range map[bool]string{false: "", true: "locked"} {
		t.Run(fmt.Sprintf("hangs %v", hangs), func(t *testing.T) {
			w := worldWithWorkflow(t)
			h := w.start(t, call{skill: "one", script: &script{Hold: "mkdir S/txn"}})
			h.send()
			h.awaitHold(t)
			c := w.startClient(t, launch)
			c.send(order{Op: "create", Subject: "by a client"})
			if !hangs {
				require.NoError(t, h.resume.Close())
			}
			a := c.receive()
			assert.Equal(t, want, a.Error)
			_ = h.resume.Close()
			assert.Zero(t, h.wait(t).code)
			assert.Empty(t, w.locks(t))
		})
	}
}

// TestLockOfDeadClient waits until the lock of a dead client is stale, ten seconds.
func TestLockOfDeadClient(t *testing.T) {
	launch := nodeClient(t)
	w := worldWithWorkflow(t)
	before := w.Tasks(t)
	c := w.startClient(t, launch)
	c.send(order{Op: "create", Subject: "by a client", Die: "locked"})
	require.Equal(t, "died", c.receive().Error)
	c.stop()
	early := w.run(t, call{skill: "one", timeout: shortTimeout})
	assert.Equal(t, 2, early.code, "the lock is fresh: %s", early)
	assert.Equal(t, before, w.Tasks(t))
	late := w.run(t, call{skill: "one"})
	assert.Zero(t, late.code, "%s", late)
	assert.Empty(t, w.locks(t))
	assert.Equal(t, []string{"1.json", "5.json"}, w.names())
}
