package hydrate

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAListOfAnotherUser: the hint names the owner and the line that mends it.
func TestAListOfAnotherUser(t *testing.T) {
	list, owner := "/", 0 // of somebody who is not root
	if os.Geteuid() == 0 {
		list, owner = t.TempDir(), 12345
		require.NoError(t, os.Chown(list, owner, -1))
	}
	require.Equal(t, fmt.Sprintf("%s belongs to user %d; make it yours: sudo chown -R %d %s; then invoke the skill again", list, owner,
		os.Geteuid(), list), remedy(&os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.EACCES}, list))
}
