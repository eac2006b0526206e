package fuzz_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/tasks"
)

// FuzzTask hydrates a task list that has a task file of any bytes. Classify agrees with an
// ordinary decoder on whether the file is tagged. The hydration deletes the file if it is
// tagged, and does not change it otherwise.
func FuzzTask(f *testing.F) {
	seed(f,
		`{"id": "5", "subject": "a", "description": "", "status": "pending", "blocks": [], "blockedBy": []}`,
		`{"id": "5", "subject": "a", "status": "pending", "metadata": {"fsm": "x"}}`,
		`{"metadata": {"f\u0073m": null}}`, `{"metadata": {"x": {"fsm": 1}}}`, `{"metadata": [{"fsm": 1}]}`, `{"metadata": "fsm"}`,
		`{"metadata": {"fsm": 1}, "metadata": {}}`, `{"metadata": {}, "met\u0061data": {"fsm": 1}}`, `{"Metadata": {"fsm": 1}}`,
		`["metadata", {"fsm": 1}]`, `{"metadata": {"fsm": 1`, ``, `null`, "\ufeff{}",
		"{\"metadata\": {\"fsm\": \"\xff\\ud800\"}, \"subject\": \"\xc0\"}",
		" \r\n{\"metadata\"\t:{\"fsm\":{\"fsm\":[]}}}\n", `{"metadata": {"fsm": 1}}{}`, `{"metadata": {"fsm": 01}}`,
	)
	f.Fuzz(func(t *testing.T, data []byte) {
		skipIfTooLong(t, data)
		tagged, isJSON := decode(data)
		file, kind, err := tasks.Classify("5.json", data)
		require.Equal(t, isJSON, err == nil, "%v", err)
		require.Equal(t, tagged, kind == tasks.Tagged)

		h := newHome(t)
		h.write(".claude/skills/skill/fsm.json", []byte(`[{"id": 1, "subject": "a"}]`))
		h.write(list+"/5.json", data)
		snap, torn, err := tasks.List{Dir: h.path(list)}.Read(context.Background())
		require.NoError(t, err)
		require.Equal(t, int64(5), snap.MaxID)
		require.Equal(t, !isJSON, len(torn) == 1)
		require.Equal(t, tagged, len(snap.Tasks) == 1)
		if tagged {
			require.Equal(t, file, snap.Tasks[0])
		}

		before := h.tree(list)[list+"/5.json"]
		_, err = h.hydrate()
		require.NoError(t, err)
		require.FileExists(t, h.path(list+"/6.json"))
		if tagged {
			require.NoFileExists(t, h.path(list+"/5.json"))
		} else {
			require.Equal(t, before, h.tree(list)[list+"/5.json"])
		}
		entries := must(os.ReadDir(h.path(list)))
		for _, e := range entries {
			require.False(t, strings.HasSuffix(e.Name(), ".lock"), "lock %s was not released", e.Name())
		}
	})
}

// decode does what Classify does, by decoding the whole file.
func decode(data []byte) (tagged, isJSON bool) {
	if !jsontext.Value(data).IsValid(tolerant) {
		return false, false
	}
	_, tagged = members(members(data)["metadata"])["fsm"]
	return tagged, true
}
