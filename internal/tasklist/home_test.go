package tasklist

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// The home directory is a project only for itself, by whichever path it is named.
func TestTheHomeIsNoProjectOfWhatIsInIt(t *testing.T) {
	root := worlds.Tree(t, "home/sub/dir/", "link -> home")
	for _, home := range []string{"home", "link"} {
		lookup := func(name string) (string, bool) {
			return map[string]string{"HOME": filepath.Join(root, home), "XDG_STATE_HOME": filepath.Join(root, "state")}[name], true
		}
		lists, err := rootDir(lookup)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Join(lists, nameOf(filepath.Join(root, "home"))), 0o755))
		for _, dir := range []string{"home", "home/sub", "home/sub/dir"} {
			assert.Equal(t, filepath.Join(root, dir), Project(lookup, filepath.Join(root, dir)), "with HOME at %s", home)
		}
	}
}
