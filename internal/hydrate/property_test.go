package hydrate_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/tasks"
)

// home is a home directory with one task list, for one run of a property.
type home struct {
	t      worlds.TB
	dir    string
	object bool // workflows have outcomes
}

func newHome(t worlds.TB) *home { return &home{t: t, dir: worlds.MemoryDir(t)} }

func (h *home) list() string { return filepath.Join(h.dir, ".claude/tasks/list") }

func (h *home) write(path, text string) {
	full := filepath.Join(h.dir, path)
	require.NoError(h.t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(h.t, os.WriteFile(full, []byte(text), 0o644))
	require.NoError(h.t, os.Chtimes(full, time.Time{}, time.Unix(1700000000, 12345)))
}

func (h *home) hydrate() (hydrate.Result, error) {
	return hydrate.Run(context.Background(), call, h.env, hydrate.Options{LockTimeout: 5 * time.Second})
}

var call = hydrate.Request{Event: "PostToolUse", Session: "list", Command: "skill"}

func (h *home) env(name string) (string, bool) {
	v, ok := map[string]string{"HOME": h.dir}[name]
	return v, ok
}

// state returns inode, mode, time and content of every file and directory below the tasks
// directory, and of that directory itself.
func (h *home) state() map[string]string {
	m := map[string]string{}
	root := filepath.Join(h.dir, ".claude/tasks")
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return ignoreAbsent(err)
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		var data []byte
		if !e.IsDir() {
			data, err = os.ReadFile(path)
		}
		rel, _ := filepath.Rel(root, path)
		m[rel] = fmt.Sprintf("%d %v %v %s", files.Inode(path), info.Mode(), info.ModTime().UnixNano(), data)
		return err
	})
	require.NoError(h.t, err)
	return m
}

func ignoreAbsent(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

// tasks returns the names of task files in the list, and their bytes.
func (h *home) tasks() map[string]string {
	m := map[string]string{}
	entries, err := os.ReadDir(h.list())
	require.NoError(h.t, ignoreAbsent(err))
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), ".json") {
			data, err := os.ReadFile(filepath.Join(h.list(), e.Name()))
			require.NoError(h.t, err)
			m[e.Name()] = string(data)
		}
	}
	return m
}

// local is a task in an fsm.json.
type local struct {
	ID        int            `json:"id"`
	Subject   string         `json:"subject"`
	Status    string         `json:"status,omitzero"`
	BlockedBy []int          `json:"blockedBy,omitzero"`
	Metadata  map[string]any `json:"metadata,omitzero"`
	Outcomes  any            `json:"outcomes,omitzero"`
	When      map[string]any `json:"when,omitzero"`
}

// genSpec draws steps, and the form of the file that they are written in.
func genSpec(t *rapid.T, h *home) []local {
	h.object = rapid.Bool().Draw(t, "object")
	ids := rapid.SliceOfNDistinct(rapid.IntRange(1, 60), 0, 8, rapid.ID).Draw(t, "ids")
	if len(ids) == 0 {
		return nil
	}
	spec := make([]local, len(ids), len(ids)+1)
	for i, id := range ids {
		spec[i] = local{
			ID:      id,
			Subject: rapid.StringMatching(`[a-z<>&"\\é𝄞]{1,12}`).Draw(t, "subject"),
			Status:  rapid.SampledFrom([]string{"", "pending", "in_progress", "completed"}).Draw(t, "status"),
		}
		spec[i].BlockedBy = rapid.SliceOfN(rapid.SampledFrom(ids), 0, 3).Draw(t, "blockedBy")
		if rapid.Bool().Draw(t, "has metadata") {
			spec[i].Metadata = map[string]any{"k": rapid.String().Draw(t, "value")}
		}
		if h.object {
			genOutcomes(t, spec[:i], &spec[i])
		}
	}
	return append(spec, local{ID: 61, Subject: "free"}) // one can start
}

// genOutcomes draws what only a workflow with outcomes has. Its steps wait for those before them: a cycle is an error.
func genOutcomes(t *rapid.T, before []local, l *local) {
	l.BlockedBy = slices.DeleteFunc(l.BlockedBy, func(id int) bool {
		return !slices.ContainsFunc(before, func(b local) bool { return b.ID == id })
	})
	switch rapid.SampledFrom([]string{"", "names", "stop", "back"}).Draw(t, "outcomes") {
	case "names":
		l.Status, l.Outcomes = "", []string{"yes", "no"}
	case "stop":
		l.Status, l.Outcomes = "", map[string]any{"on": struct{}{}, "off": map[string]any{"stop": true}}
	case "back":
		l.Outcomes = map[string]any{"again": map[string]any{"back": l.ID, "max": 2}}
	}
	for _, b := range before {
		if _, branches := b.Outcomes.([]string); branches && rapid.Bool().Draw(t, "when") {
			l.When = map[string]any{strconv.Itoa(b.ID): "yes"}
			break
		}
	}
}

// genList creates a task list and returns the files that a hydration must keep.
func genList(t *rapid.T, h *home) (stay map[string]string) {
	stay = map[string]string{}
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"1.json", "2.json", "3.json", "7.json", "007.json", "12a.json", "abc.json",
		"40.json"}), 0, 6, rapid.ID).Draw(t, "files")
	for _, name := range names {
		shape := rapid.SampledFrom([]string{
			`{"id":"%s","subject":"s","description":"","status":"pending","blocks":[],"blockedBy":[]}`,
			`{"id":"%s","subject":"s","description":"","status":"pending","blocks":[],"blockedBy":[],"metadata":{"x":{"fsm":1}}}`,
			`{"id":"%s","subject":"s","description":"","status":"pending","blocks":[],"blockedBy":[],"metadata":{"fsm":"skill"}}`,
			`{"id":"%s","subject":"s","description":"","status":"pending","blocks":[],"blockedBy":[],"metadata":{"f\u0073m":null}}`,
			`{"id":"%s", torn`, `["%s", "fsm"]`, `%.0s`,
		}).Draw(t, "shape")
		text := fmt.Sprintf(shape, strings.TrimSuffix(name, ".json"))
		h.write(".claude/tasks/list/"+name, text)
		if !strings.Contains(shape, `{"fsm":"skill"`) && !strings.Contains(shape, `f\u0073m`) {
			stay[name] = text
		}
	}
	if rapid.Bool().Draw(t, "has high-water mark") {
		h.write(".claude/tasks/list/.highwatermark", strconv.Itoa(rapid.IntRange(0, 90).Draw(t, "mark")))
	}
	return stay
}

func (h *home) spec(spec []local) {
	var file any = spec
	if h.object {
		file = map[string]any{"fsm": 2, "steps": spec}
	}
	text, err := json.Marshal(file)
	require.NoError(h.t, err)
	h.write(".claude/skills/skill/fsm.json", string(text))
}

// TestInvalidSpecChangesNothing: no content, name or time in the list changes, and nothing
// is created.
func TestInvalidSpecChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHome(t)
		genList(t, h)
		spec := append(genSpec(t, h), local{ID: 61, Subject: "fine"})
		spoil := rapid.SampledFrom([]func(*local){
			func(l *local) { l.ID = 0 },
			func(l *local) { l.Subject = " " },
			func(l *local) { l.Status = "done" },
			func(l *local) { l.BlockedBy = []int{99} },
			func(l *local) { l.ID = spec[0].ID + b2i(len(spec) == 1)*-100 },
		}).Draw(t, "spoil")
		spoil(&spec[len(spec)-1])
		h.spec(spec)
		if rapid.Bool().Draw(t, "is cut off") {
			h.cut(rapid.Float64Range(0, 1).Draw(t, "where"))
		}
		before := h.state()
		_, err := h.hydrate()
		require.Error(t, err)
		require.Equal(t, before, h.state())
	})
}

// cut truncates the fsm.json to the given part of its length, at least by one byte.
func (h *home) cut(part float64) {
	const path = ".claude/skills/skill/fsm.json"
	text, err := os.ReadFile(filepath.Join(h.dir, path))
	require.NoError(h.t, err)
	h.write(path, string(text[:int(part*float64(len(text)-1))]))
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestHydrations: a preview changes nothing, and the hydration does what it said. Afterwards the list has the tasks that had to be
// kept and the planned ones, with new numbers and correct references, and the record has their steps. A second hydration
// makes the same tasks with other numbers.
func TestHydrations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHome(t)
		stay := genList(t, h)
		spec := genSpec(t, h)
		h.spec(spec)
		p, highest := h.previewed(), h.highest()
		first, err := h.hydrate()
		require.NoError(t, err)
		require.Equal(t, p.Plan.Creations(), first.Created)
		require.Equal(t, p.Plan.Deletions(), first.Deleted)
		require.Len(t, first.Created, len(spec))
		got := h.tasks()
		for name, text := range stay {
			require.Equal(t, text, got[name], name)
			delete(got, name)
		}
		require.Len(t, got, len(spec), "files besides those that had to be kept")
		for i, c := range first.Created {
			want := tasks.Form.File(c)
			require.Equal(t, string(want.Data), got[want.Name])
			spec[i].check(t, c, highest)
		}
		if records := h.records(); len(p.Steps) > 0 {
			require.Equal(t, records[len(records)-1].Steps, p.Steps)
		}
		for i, step := range p.Steps {
			c := first.Created[i]
			require.Equal(t, []any{c.ID, c.Subject, c.Status.String()}, []any{step.ID, step.Subject, step.Status.String()})
			require.ElementsMatch(t, c.BlockedBy, slices.Concat(step.BlockedBy, step.Circular))
		}

		once := h.normalised(first)
		second, err := h.hydrate()
		require.NoError(t, err)
		require.Equal(t, once, h.normalised(second))
		require.Len(t, second.Deleted, len(first.Created))
		for _, a := range first.Created {
			require.False(t, slices.ContainsFunc(second.Created, func(b fsmspec.Creation) bool { return a.ID == b.ID }), "an id was used again")
		}
	})
}

// previewed returns what a hydration would do.
func (h *home) previewed() hydrate.Preview {
	before := h.state()
	found, _, err := hydrate.Find(call, h.env, hydrate.Options{})
	require.NoError(h.t, err)
	p, err := found.Preview(context.Background())
	require.NoError(h.t, err)
	require.Equal(h.t, before, h.state())
	require.NotEmpty(h.t, p.Decisions(fsmspec.Policy{}))
	return p
}

// check compares a created task with what it was made from.
func (l local) check(t *rapid.T, c fsmspec.Creation, base int) {
	waits := map[int64]bool{} // for each once
	for _, id := range l.BlockedBy {
		waits[int64(base+id)] = true
	}
	for on := range l.When {
		id, err := strconv.Atoi(on)
		require.NoError(t, err)
		waits[int64(base+id)] = true
	}
	require.Equal(t, []any{int64(base + l.ID), l.Subject}, []any{c.ID, c.Subject})
	require.ElementsMatch(t, slices.Collect(maps.Keys(waits)), c.BlockedBy)
	want := map[string]any{"fsm": "skill"}
	maps.Copy(want, l.Metadata)
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(c.Metadata), &got))
	require.Equal(t, want, got)
}

// highest returns the largest number that the list has had, by the client's rule (fact 5).
func (h *home) highest() int {
	highest := 0
	for name := range h.tasks() {
		digits := name[:len(name)-len(strings.TrimLeft(name, "0123456789"))]
		n, _ := strconv.Atoi(digits)
		highest = max(highest, n)
	}
	mark, _ := os.ReadFile(filepath.Join(h.list(), ".highwatermark"))
	n, _ := strconv.Atoi(string(mark))
	return max(highest, n)
}

// normalised returns the files of the list with the numbers of the created tasks
// replaced by their indices in the spec: in the file's name, in "id", in the arrays
// "blocks" and "blockedBy", and in the outcomes that lead back. Nothing else is changed.
func (h *home) normalised(r hydrate.Result) map[string]string {
	files := h.tasks()
	place := map[string]string{}
	for i, c := range r.Created {
		place[strconv.FormatInt(c.ID, 10)] = fmt.Sprintf("place %d", i)
	}
	for _, c := range r.Created {
		id := strconv.FormatInt(c.ID, 10)
		text := files[id+".json"]
		delete(files, id+".json")
		name := place[id]
		require.NotContains(h.t, files, name)
		files[name] = renumbered(h.t, text, place)
	}
	return files
}

func renumbered(t worlds.TB, text string, place map[string]string) string {
	var task map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &task))
	number := func(id any) string {
		require.Contains(t, place, id, "an id that is not a created task's")
		return place[id.(string)]
	}
	task["id"] = number(task["id"])
	task["description"] = regexp.MustCompile(`back to #\d+`).ReplaceAllStringFunc(task["description"].(string), func(back string) string {
		return number(back[len("back to #"):])
	})
	for _, field := range []string{"blocks", "blockedBy"} {
		for i, id := range task[field].([]any) {
			task[field].([]any)[i] = number(id)
		}
	}
	out, err := json.Marshal(task, json.Deterministic(true))
	require.NoError(t, err)
	return string(out)
}
