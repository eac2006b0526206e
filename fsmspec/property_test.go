package fsmspec_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// The created tasks have everything that is in a valid file.
func TestCreatedTasksMatchTheSpec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := workflows().Draw(t, "workflow")
		list := fsmspec.Snapshot{MaxID: rapid.Int64Range(0, 50).Draw(t, "max"), HighWater: rapid.Int64Range(0, 50).Draw(t, "mark")}
		spec := must(fsmspec.Parse([]byte(w.file)))
		plan := must(spec.Plan("p:s", list, fsmspec.Policy{}))
		require.Len(t, plan.Creations(), len(w.tasks))
		base := max(list.MaxID, list.HighWater)
		for i, c := range plan.Creations() {
			checkCreation(t, c, w.mirrored()[i], base)
		}
		checkReferences(t, plan)
		checkTasks(t, spec, w.mirrored())
	})
}

func checkTasks(t require.TestingT, spec *fsmspec.Spec, models []model) {
	require.Equal(t, len(models), spec.Len())
	for i, task := range spec.Tasks() {
		m := models[i]
		want := fsmspec.Task{ID: m.id, Subject: m.subject, Description: m.description, ActiveForm: m.activeForm, Owner: m.owner,
			Status: task.Status, Blocks: append([]int64(nil), m.blocks...), BlockedBy: append([]int64(nil), m.blockedBy...),
			Circular: task.Circular, Metadata: task.Metadata, Local: m.id, Check: m.gates.Check, Approval: m.gates.Approval,
			Produces: append([]string(nil), m.gates.Produces...), Ready: append([]string(nil), m.gates.Ready...)}
		assert.Equal(t, want, task)
		assert.Equal(t, m.status, task.Status.String())
		assert.Equal(t, m.metadata != nil, task.Metadata != "")
	}
}

func checkCreation(t *rapid.T, c fsmspec.Creation, m model, base int64) {
	assert.Equal(t, append(metadataTokens(t, m), "fsm", "p:s", "}"), tokens(t, c.Metadata))
	c.Metadata = ""
	var status fsmspec.Status
	require.NoError(t, status.UnmarshalText([]byte(m.status)))
	want := fsmspec.Creation{ID: base + m.id, Subject: m.subject, Description: m.description, ActiveForm: m.activeForm, Owner: m.owner,
		Status: status,
		Blocks: actual(base, m.blocks), BlockedBy: actual(base, m.blockedBy)}
	assert.Equal(t, want, c)
}

func actual(base int64, local []int64) (ids []int64) {
	for _, id := range local {
		ids = append(ids, base+id)
	}
	return ids
}

// metadataTokens returns the tokens of the metadata in the file, without a tag and
// without the closing brace.
func metadataTokens(t *rapid.T, m model) []string {
	want := []string{"{"}
	for i := 0; i < len(m.metadata); i += 2 {
		if m.metadata[i] != "fsm" {
			want = append(append(want, m.metadata[i]), tokens(t, m.metadata[i+1])...)
		}
	}
	return want
}

// tokens returns the tokens of a JSON text: strings decoded, numbers as they are spelled.
func tokens(t *rapid.T, text string) []string {
	var list []string
	d := jsontext.NewDecoder(strings.NewReader(text))
	for {
		tok, err := d.ReadToken()
		if err == io.EOF {
			return list
		}
		require.NoError(t, err, "%s", text)
		list = append(list, tok.String())
	}
}

// checkReferences checks that each reference names a task of the same plan, and that no
// two tasks have the same id.
func checkReferences(t *rapid.T, plan *fsmspec.Plan) {
	ids := make(map[int64]bool)
	for _, c := range plan.Creations() {
		assert.False(t, ids[c.ID])
		ids[c.ID] = true
	}
	for _, c := range plan.Creations() {
		for _, id := range slices.Concat(c.Blocks, c.BlockedBy) {
			assert.True(t, ids[id], "%d refers to %d", c.ID, id)
		}
	}
}

// New ids are larger than all that the list has or had, and each plan deletes exactly the
// tasks that the previous one created.
func TestConsecutivePlans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := fsmspec.Snapshot{MaxID: rapid.Int64Range(0, 9).Draw(t, "max"), HighWater: rapid.Int64Range(0, 9).Draw(t, "mark")}
		given := max(list.MaxID, list.HighWater)
		for range 3 {
			spec := must(fsmspec.Parse([]byte(workflows().Draw(t, "workflow").file)))
			plan := must(spec.Plan("c", list, fsmspec.Policy{Scope: rapid.SampledFrom([]fsmspec.Scope{fsmspec.ScopeAll,
				fsmspec.ScopeSkill}).Draw(t, "scope")}))
			assert.Len(t, plan.Deletions(), len(list.Tasks))
			list = carriedOut(t, plan, list)
			for _, c := range plan.Creations() {
				assert.Greater(t, c.ID, given, "an id is used again")
			}
			given = max(given, list.MaxID, list.HighWater)
			assert.Equal(t, given, max(list.MaxID, list.HighWater), "the list lost its largest id")
		}
	})
}

// carriedOut returns the list after a plan. If the list had no tagged task, a manual one had
// the largest number, and it stays.
func carriedOut(t *rapid.T, plan *fsmspec.Plan, list fsmspec.Snapshot) fsmspec.Snapshot {
	mark, _ := plan.HighWater()
	assert.GreaterOrEqual(t, mark, list.HighWater)
	next := fsmspec.Snapshot{HighWater: mark}
	if len(list.Tasks) == 0 {
		next.MaxID = list.MaxID
	}
	for _, c := range plan.Creations() {
		next.Tasks = append(next.Tasks, fsmspec.Existing{ID: strconv.FormatInt(c.ID, 10), Number: c.ID, Tag: "c", Subject: c.Subject,
			Status: c.Status.String()})
		next.MaxID = max(next.MaxID, c.ID)
	}
	return next
}

// TestDamagedFiles reports malformed JSON if and only if a damaged file is not JSON, and its
// problems point into the file.
func TestDamagedFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := damage(t, []byte(workflows().Draw(t, "workflow").file))
		isJSON := jsontext.Value(data).IsValid(jsonx.Tolerant)
		_, err := fsmspec.Parse(data)
		if err == nil {
			assert.True(t, isJSON)
			return
		}
		checkProblems(t, data, err.(*fsmspec.InvalidError), isJSON)
	})
}

func checkProblems(t *rapid.T, data []byte, err *fsmspec.InvalidError, isJSON bool) {
	malformed := false
	last := int64(0)
	for _, p := range err.Problems {
		malformed = malformed || strings.Contains(p.Message, "malformed JSON: ")
		assert.NotContains(t, p.Message, "jsontext", "the library's own prefix")
		assert.NotContains(t, p.Message, "\n")
		assert.GreaterOrEqual(t, p.Offset, last, "problems are in the order of the file")
		last = p.Offset
		assert.True(t, jsontext.Pointer(p.Pointer).IsValid(), "%q", p.Pointer)
		before := string(data[:p.Offset])
		assert.Equal(t, 1+strings.Count(before, "\n"), p.Line)
	}
	// A byte order mark has a message of its own.
	if !bytes.HasPrefix(data, []byte("\uFEFF")) {
		assert.Equal(t, isJSON, !malformed, "%v", err)
	}
}

func TestValuesMayBeShared(t *testing.T) {
	spec := parsed(t, `[{"id": 1, "subject": "A", "blocks": [2], "metadata": {"k": 1}}, {"id": 2, "subject": "B", "colour": 1}]`)
	list := fsmspec.Snapshot{MaxID: 3, Tasks: []fsmspec.Existing{{ID: "3", Number: 3}, {ID: "1", Number: 1}}}
	shared := must(spec.Plan("c", list, fsmspec.Policy{}))
	text := func(p *fsmspec.Plan) string { return fmt.Sprint(p.Creations(), p.Deletions()) }
	want := text(shared)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			assert.Equal(t, want, text(must(spec.Plan("c", list, fsmspec.Policy{}))))
			spec.Tasks()[0].Subject += "x"
			spec.Warnings()[0].Line++
			shared.Creations()[0].Subject += "x"
			shared.Deletions()[0].ID += "x"
			assert.Equal(t, want, text(shared))
		})
	}
	wait.Wait()
}
