package fsmspec_test

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
)

// The created files contain everything that is in a valid file.
func TestCreatedFilesMatchTheSpec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := workflows().Draw(t, "workflow")
		list := fsmspec.Snapshot{MaxID: rapid.Int64Range(0, 50).Draw(t, "max"), HighWater: rapid.Int64Range(0, 50).Draw(t, "mark")}
		spec, err := fsmspec.Parse([]byte(w.file))
		require.NoError(t, err, "%s", w.file)
		plan, err := spec.Plan("p:s", list, fsmspec.Policy{})
		require.NoError(t, err)
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
			Status: task.Status, Blocks: append([]int64(nil), m.blocks...), BlockedBy: append([]int64(nil), m.blockedBy...), Metadata: task.Metadata, Gates: m.gates}
		want.Gates.Produces, want.Gates.Ready = append([]string(nil), m.gates.Produces...), append([]string(nil), m.gates.Ready...)
		assert.Equal(t, want, task)
		assert.Equal(t, m.status, task.Status.String())
		assert.Equal(t, m.metadata != nil, task.Metadata != "")
	}
}

// created is a task file. Decoding into it fails, as in the client, if a field is unknown
// or has another type.
type created struct {
	ID          string         `json:"id"`
	Subject     string         `json:"subject"`
	Description string         `json:"description"`
	ActiveForm  string         `json:"activeForm"`
	Owner       string         `json:"owner"`
	Status      string         `json:"status"`
	Blocks      []string       `json:"blocks"`
	BlockedBy   []string       `json:"blockedBy"`
	Metadata    jsontext.Value `json:"metadata"`
}

func checkCreation(t *rapid.T, c fsmspec.Creation, m model, base int64) {
	id := base + m.id
	assert.Equal(t, id, c.ID)
	assert.Equal(t, strconv.FormatInt(id, 10)+".json", c.Name)
	assert.Equal(t, m.subject, c.Subject)

	var got created
	require.NoError(t, json.Unmarshal([]byte(c.Content), &got, json.RejectUnknownMembers(true)))
	assert.Equal(t, created{strconv.FormatInt(id, 10), m.subject, m.description, m.activeForm, m.owner, m.status,
		actual(base, m.blocks), actual(base, m.blockedBy), got.Metadata}, got)
	assert.Equal(t, append(metadataTokens(t, m), "fsm", "p:s", "}"), tokens(t, string(got.Metadata)))
	checkShape(t, c.Content)

	file, kind, err := fsmspec.Classify(c.Name, []byte(c.Content))
	require.NoError(t, err)
	assert.Equal(t, fsmspec.Tagged, kind)
	assert.Equal(t, fsmspec.Existing{Name: c.Name, Tag: "p:s", Subject: m.subject, Status: m.status}, file)
}

func actual(base int64, local []int64) []string {
	ids := make([]string, len(local))
	for i, id := range local {
		ids[i] = strconv.FormatInt(base+id, 10)
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

// checkShape checks that a file looks like one of the client's: the fields in the
// documented order, indented by two spaces a level, no unnecessary escapes, and no line
// feed at the end.
func checkShape(t *rapid.T, content string) {
	assert.False(t, strings.HasSuffix(content, "\n"))
	var order []string
	for line := range strings.Lines(content) {
		line = strings.TrimSuffix(line, "\n")
		if field, ok := strings.CutPrefix(line, `  "`); ok {
			name, _, _ := strings.Cut(field, `": `)
			order = append(order, name)
		}
		indent := len(line) - len(strings.TrimLeft(line, " "))
		assert.Zero(t, indent%2, "%q", line)
	}
	assert.Equal(t, []string{"id", "subject", "description", "activeForm", "owner", "status", "blocks", "blockedBy", "metadata"}, order)

	again := jsontext.Value(bytes.Clone([]byte(content)))
	require.NoError(t, again.Format(jsontext.Multiline(true), jsontext.WithIndent("  ")))
	assert.Equal(t, string(again), content)
	for _, escape := range []string{`\/`, `\u003c`, `\u003e`, `\u0026`, `\u2028`} {
		assert.NotContains(t, strings.ReplaceAll(content, `\\`, ""), escape)
	}
}

// checkReferences checks that each reference names a file of the same plan, and that no
// two files have the same id.
func checkReferences(t *rapid.T, plan *fsmspec.Plan) {
	ids := make(map[string]bool)
	for _, c := range plan.Creations() {
		id := strings.TrimSuffix(c.Name, ".json")
		assert.False(t, ids[id])
		ids[id] = true
	}
	for _, c := range plan.Creations() {
		var got created
		require.NoError(t, json.Unmarshal([]byte(c.Content), &got))
		for _, id := range append(got.Blocks, got.BlockedBy...) {
			assert.True(t, ids[id], "%s refers to %s", c.Name, id)
		}
	}
}

// New ids are larger than all that the list has or had, and each plan deletes exactly the
// files that the previous one created.
func TestConsecutivePlans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := fsmspec.Snapshot{MaxID: rapid.Int64Range(0, 9).Draw(t, "max"), HighWater: rapid.Int64Range(0, 9).Draw(t, "mark")}
		given := max(list.MaxID, list.HighWater)
		for range 3 {
			spec, err := fsmspec.Parse([]byte(workflows().Draw(t, "workflow").file))
			require.NoError(t, err)
			plan, err := spec.Plan("c", list, fsmspec.Policy{Scope: rapid.SampledFrom([]fsmspec.Scope{fsmspec.ScopeAll, fsmspec.ScopeSkill}).Draw(t, "scope")})
			require.NoError(t, err)
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
		file, kind, err := fsmspec.Classify(c.Name, []byte(c.Content))
		require.NoError(t, err)
		require.Equal(t, fsmspec.Tagged, kind)
		next.Tasks = append(next.Tasks, file)
		next.MaxID = max(next.MaxID, c.ID)
	}
	return next
}

// Parse reports malformed JSON if and only if a damaged file is not JSON, and its
// problems point into the file.
func TestDamagedFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := damage(t, []byte(workflows().Draw(t, "workflow").file))
		isJSON := jsontext.Value(data).IsValid(tolerant)
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
	list := fsmspec.Snapshot{MaxID: 3, Tasks: []fsmspec.Existing{{Name: "3.json"}, {Name: "1.json"}}}
	shared, err := spec.Plan("c", list, fsmspec.Policy{})
	require.NoError(t, err)
	want := shared.String()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			plan, err := spec.Plan("c", list, fsmspec.Policy{})
			assert.NoError(t, err)
			assert.Equal(t, want, plan.String())
			spec.Tasks()[0].Blocks[0]++
			spec.Warnings()[0].Line++
			shared.Creations()[0].Name += "x"
			shared.Deletions()[0].Name += "x"
			assert.Equal(t, want, shared.String())
		})
	}
	wait.Wait()
}
