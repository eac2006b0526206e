//go:build together

package together_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// library is the client's locking library, in the version that the client uses.
const library = "proper-lockfile-4.1.2"

// nodeClient returns a launcher of the client that uses the client's own library.
// Without node or npm it skips the test and says so.
func nodeClient(t *testing.T) launcher {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("skipped: the client's locking library needs %s, which is not installed", program)
		}
	}
	modules, err := install()
	require.NoError(t, err)
	script, err := filepath.Abs("testdata/client/client.js")
	require.NoError(t, err)
	return func(dir string) *exec.Cmd {
		c := exec.Command("node", script, dir)
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "NODE_PATH=" + modules}
		return c
	}
}

// install installs the library that testdata/client pins into the cache of the client's
// tests, unless it is there.
func install() (modules string, err error) {
	cache, err := realclient.Cache()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	lock := flock.New(filepath.Join(cache, "lock"))
	if err := lock.Lock(); err != nil {
		return "", err
	}
	defer lock.Close()
	dir := filepath.Join(cache, library)
	modules = filepath.Join(dir, "node_modules")
	if _, err := os.Stat(dir); err == nil {
		return modules, nil
	}
	building, err := os.MkdirTemp(cache, "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(building)
	return modules, errors.Join(fill(building), os.Rename(building, dir))
}

func fill(dir string) error {
	for _, name := range []string{"package.json", "package-lock.json"} {
		data, err := os.ReadFile(filepath.Join("testdata/client", name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	npm := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		return fmt.Errorf("installing %s: %w\n%s", library, err, out)
	}
	return nil
}

// TestBesideTheClientsLibrary repeats the rounds with the client's own library, on a
// disk, for the time in FSMTX_TOGETHER (default 10s).
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

// TestHookWaitsForTheClientsLibrary is TestHookWaitsForClient with the client's own
// library.
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
