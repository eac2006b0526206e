//go:build disks && linux

package disks_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/overseer"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// operation is what the program does while the power is cut.
type operation struct {
	name    string
	prepare func(t *testing.T, w worlds.Home)
	// interrupted, if not nil, leaves an interrupted change, which the operation completes.
	interrupted func(t *testing.T, w worlds.Home)
	stdin       string
	args        []string
}

var operations = []operation{
	{name: "hydration", stdin: skillEvent("five"), args: []string{"hydrate"}, prepare: func(t *testing.T, w worlds.Home) {
		hydrate(t, w, "three")
	}},
	{name: "undo", args: []string{"undo", "--list", worlds.ListID}, prepare: func(t *testing.T, w worlds.Home) {
		hydrate(t, w, "three")
		hydrate(t, w, "five")
	}},
	{name: "recovery", args: []string{"recover"}, interrupted: killHydration, prepare: func(t *testing.T, w worlds.Home) {
		hydrate(t, w, "three")
	}},
	{name: "install", args: []string{"install", "--user"}, prepare: func(t *testing.T, w worlds.Home) {
		w.Write(t, ".claude/"+settings, `{"model": "opus", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}`)
	}},
}

func skillEvent(skill string) string {
	return fmt.Sprintf(`{"hook_event_name":"PostToolUse","session_id":%q,"tool_name":"Skill",`+
		`"tool_response":{"success":true,"commandName":%q}}`,
		worlds.ListID, skill)
}

func hydrate(t *testing.T, w worlds.Home, skill string) {
	r, err := runProgram(w.Dir, nil, skillEvent(skill), "hydrate")
	require.NoError(t, err)
	require.Zero(t, r.code, r.output)
}

// killHydration kills a hydration that replaces three tasks by five when it has created
// all and deleted one.
func killHydration(t *testing.T, w worlds.Home) {
	before := len(w.Tasks(t))
	r, err := runProgram(w.Dir, func(overseer.Call) overseer.Verdict {
		if len(w.Tasks(t)) == before+5-1 && w.Tasks(t)["2.json"].Text == "" {
			return overseer.Die
		}
		return overseer.Proceed
	}, skillEvent("five"), "hydrate")
	require.NoError(t, err)
	require.Equal(t, -1, r.code, "it was not killed: %s", r.output)
	_, err = os.Stat(filepath.Join(w.StateDir(), "journal"))
	require.NoError(t, err)
}

// newHome creates the home on the mounted drive, with one task of the user.
func (d *drive) newHome(t *testing.T) worlds.Home {
	w := worlds.Home{Dir: filepath.Join(d.At, "home")}
	require.NoError(t, os.MkdirAll(w.List(), 0o755))
	w.AddSkill(t, "three", "pending", "pending", "pending")
	w.AddSkill(t, "five", "pending", "pending", "pending", "pending", "pending")
	w.AddTask(t, 1, `"status":"pending"`)
	require.NoError(t, os.WriteFile(filepath.Join(d.At, "neighbour"), nil, 0o644))
	return w
}

// settings is the name in content of the file that install edits.
const settings = "settings.json"

// content is what the operations promise to keep whole: the tasks, down to the inode,
// and the bytes of the settings.
func content(t require.TestingT, w worlds.Home) map[string]worlds.File {
	all := w.Tasks(t)
	if data, err := os.ReadFile(w.Path(".claude/" + settings)); err == nil {
		all[settings] = worlds.File{Text: string(data)}
	}
	return all
}

// neighbour returns an overseer that acts as another program. Before some of the calls it
// syncs the file system, or a file of its own: then the file system commits its journal,
// with the program's changes in it.
func (d *drive) neighbour(rng *rand.Rand) overseer.Decide {
	return func(overseer.Call) overseer.Verdict {
		switch rng.IntN(6) {
		case 0:
			_ = d.Sync()
		case 1:
			if f, err := os.OpenFile(filepath.Join(d.At, "neighbour"), os.O_WRONLY|os.O_APPEND, 0); err == nil {
				_, _ = f.WriteString("a line\n")
				_ = f.Sync()
				_ = f.Close()
			}
		}
		return overseer.Proceed
	}
}

// pretending is an overseer under which syncs return at once and do nothing.
func pretending(c overseer.Call) overseer.Verdict {
	if slices.Contains(overseer.Syncs, c.Number) {
		return overseer.Pretend
	}
	return overseer.Proceed
}
