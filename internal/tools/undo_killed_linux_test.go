package tools_test

import (
	"bytes"
	"errors"
	"os/exec"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/harness/overseer"
)

func init() { dies = died }

// died runs fsmtx, which is this program, and kills it ahead of one of its calls that change files, unless it makes fewer. It reports
// whether it ran.
func died(t *rapid.T, env []string, stdin string, args ...string) bool {
	at := rapid.IntRange(0, 80).Draw(t, "killed at")
	c := exec.Command("/proc/self/exe", args...)
	var said bytes.Buffer
	c.Env, c.Stdin, c.Stdout, c.Stderr = append(env, isProgram+"=1", raceOptions), strings.NewReader(stdin), &said, &said
	killed := false
	err := overseer.Run(c, slices.Concat(overseer.Syncs, overseer.Changes), func(overseer.Call) overseer.Verdict {
		if at--; at >= 0 {
			return overseer.Proceed
		}
		killed = true
		return overseer.Die
	})
	if errors.Is(err, overseer.ErrUnavailable) {
		return false
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		require.NoError(t, err)
	}
	t.Logf("fsmtx %s, killed %t: %s", strings.Join(args, " "), killed, &said)
	return true
}
