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

// library is the client's locking library, and the version that the tests hold for.
const library = "proper-lockfile-4.1.2"

// nodeClient returns a launcher of the client that uses the client's own library.
// Without node or npm it skips the test and says so.
func nodeClient(t *testing.T) launcher {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("skipped: %s is not installed, and the client's locking library needs it", program)
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

// install puts the library, as testdata/client pins it, into the cache of the
// client's tests unless it is there.
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

// TestBesideTheClientsLibrary plays the rounds with the client's own library, on a
// disk, again and again for as long as FSMTX_TOGETHER says (default 10s).
func TestBesideTheClientsLibrary(t *testing.T) {
	launch := nodeClient(t)
	limit := 10 * time.Second
	if text := os.Getenv("FSMTX_TOGETHER"); text != "" {
		var err error
		limit, err = time.ParseDuration(text)
		require.NoError(t, err)
	}
	end := time.Now().Add(limit)
	seed := uint64(time.Now().UnixNano())
	for n := uint64(0); time.Now().Before(end) && !t.Failed(); n++ {
		r := rounds[n%uint64(len(rounds))]
		r.clients = min(r.clients, 2)
		t.Run(r.name, func(t *testing.T) { r.play(t, worldIn(t, t.TempDir()), launch, seed+n) })
	}
}

// TestHookMeetsTheClientsLibrary has the hook come while the library holds a lock.
func TestHookMeetsTheClientsLibrary(t *testing.T) {
	launch := nodeClient(t)
	for _, m := range meetings {
		t.Run(m.name, func(t *testing.T) { m.play(t, launch) })
	}
}

// TestTheClientsLibraryMeetsHook has a client want a lock that a hook holds: it
// gets it when the hook has finished, and gives up when the hook does not.
func TestTheClientsLibraryMeetsHook(t *testing.T) {
	launch := nodeClient(t)
	for hangs, want := range map[bool]string{false: "", true: "locked"} {
		t.Run(fmt.Sprintf("hangs %v", hangs), func(t *testing.T) {
			w := toReplace(t)
			h := w.prepare(t, call{skill: "one", told: &turn{Hold: "mkdir S/txn"}})
			h.begin()
			h.awaitHold(t)
			c := w.client(t, launch)
			c.send(order{Op: "create", Subject: "by a client"})
			if !hangs {
				require.NoError(t, h.resume.Close())
			}
			a := c.answer()
			assert.Equal(t, want, a.Error)
			_ = h.resume.Close()
			assert.Zero(t, h.end(t).code)
			assert.Empty(t, w.locks(t))
		})
	}
}

// TestLockOfDeadClient waits for real until the lock of a client that died is old.
func TestLockOfDeadClient(t *testing.T) {
	launch := nodeClient(t)
	w := toReplace(t)
	before := w.files(t)
	c := w.client(t, launch)
	c.send(order{Op: "create", Subject: "by a client", Die: "locked"})
	require.Equal(t, "died", c.answer().Error)
	c.stop()
	early := w.run(t, call{skill: "one", timeout: soon})
	assert.Equal(t, 2, early.code, "the lock is fresh: %s", early)
	assert.Equal(t, before, w.files(t))
	late := w.run(t, call{skill: "one"})
	assert.Zero(t, late.code, "%s", late)
	assert.Empty(t, w.locks(t))
	assert.Equal(t, []string{"1.json", "5.json"}, w.sortedNames())
}
