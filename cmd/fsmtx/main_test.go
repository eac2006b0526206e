package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// heavy are packages that are set up at every start of the program once they are
// linked, used or not. net/http alone costs a third of a millisecond, which is a
// third of what the hook costs when it has nothing to do; the others go with it.
var heavy = []string{"net/http", "crypto/tls", "golang.org/x/text/unicode/norm", "github.com/spf13/afero"}

func TestNothingHeavyIsLinked(t *testing.T) {
	list := exec.Command("go", "list", "-deps", ".")
	var stderr strings.Builder
	list.Stderr = &stderr
	out, err := list.Output()
	require.NoError(t, err, stderr.String())
	linked := strings.Fields(string(out))
	require.Contains(t, linked, "github.com/fsmtx/fsmtx/locator")
	for _, path := range heavy {
		assert.False(t, slices.Contains(linked, path), "%s is linked", path)
	}
}
