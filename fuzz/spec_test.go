package fuzz_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/tasks"
)

// FuzzSpec hydrates any bytes as an fsm.json. If they are accepted, the list has the planned
// files, and the client would show each of them. If they are refused, the task list is
// unchanged.
func FuzzSpec(f *testing.F) {
	seed(f,
		`[{"id": 1, "subject": "a"}, {"id": 2, "subject": "b", "blockedBy": [1], "blocks": [2]}]`,
		`[{"id": 1e0, "subject": " <&>\u2028\/\ud834\udd1e ", "description": "d\n", "activeForm": "f", "owner": "o", "status": "in_progress", `+
			`"metadata": {"fsm": 1, "a": [1.50, {"b": null}]}}]`,
		`[{"id": 1000000, "subject": "a", "metadata": {"_internal": true}, "extra": 1}]`,
		`[{"id": 1, "subject": "a", "metadata": {"a": {"b": [1e400]}}}]`,
		`[{"id": 1, "subject": "a", "produces": ["a/*.md"], "ready": ["[[]b]"], "check": {"run": "true", "timeout": "90s", `+
			`"dir": "a"}, "approval": true}]`,
		`[{"id": 1, "subject": "a", "produces": ["../a", "["], "check": {"cmd": 1, "timeout": 1e99}, "approval": "\u001b"}]`,
		`[]`, ``, `{}`, `[{}]`, `[{"id": 0, "subject": ""}]`, `[{"id": 1, "subject": "a"}, {"id": 1, "subject": "b", "blocks": [3]}]`,
		`[{"id": 01, "subject": "a"}]`, "\ufeff[]", "[{\"id\": 1, \"subject\": \"\xff\\ud800\"}]", `[{"id":1,"id":1,"subject":"a"}]`, `[[[[`,
		`[1,]`, `[{"id": null, "subject": null}]`, `{"fsm": 2, "steps": []}`, `{"fsm": 3, "steps": [], "vars": {"a": ""}, "x": 1}`,
		`{"fsm": 2, "vars": {"to": "x"}, "steps": [{"id": 1, "subject": "a {to}", "set": {"v": "[0-9]"}}, {"id": 2, "subject": "b {v}", `+
			`"blockedBy": [1], "decides": "person", "outcomes": ["a", "b"], "within": "1h"}, {"id": 3, "subject": "c", "when": {"2": "a"}}]}`,
	)
	machines := must(filepath.Glob("../testdata/machine/*.json"))
	require.NotEmpty(f, machines)
	for _, name := range machines {
		data := must(os.ReadFile(name))
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		skipIfTooLong(t, data)
		checkSpec(t, data)
	})
}

// FuzzWorkflow is FuzzSpec for files that are almost valid.
func FuzzWorkflow(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { checkSpec(t, []byte(workflowOf().Draw(t, "fsm.json"))) }))
}

func TestWorkflow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkSpec(t, []byte(workflowOf().Draw(t, "fsm.json"))) })
}

// workflowOf draws an fsm.json of a few tasks, most of them valid, in one of its two forms.
func workflowOf() *rapid.Generator[string] { return rapid.OneOf(array(), object()) }

// object draws a workflow with outcomes. Each step waits at most for those before it, and one file in four has what is never valid.
func object() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		head := []string{`{"fsm": 2, `, `{"fsm": 2, "vars": {"to": "x"}, `}
		d := drawing{t: t, odd: rapid.IntRange(0, 3).Draw(t, "odd") == 0}
		if d.odd {
			head = append(head, `{"fsm": 1, `, `{`, `{"fsm": 2, "vars": {"args": 1}, `, `{"fsm": 2, "x": 1, `)
		}
		return rapid.SampledFrom(head).Draw(t, "head") + `"steps": [` + strings.Join(d.steps(2), ",\n") + `]}`
	})
}

// drawing draws the steps of an object.
type drawing struct {
	t   *rapid.T
	odd bool
}

// fieldValues are those of the fields of a step; %d is a step before it. The odd ones are rarely or never valid.
var fieldValues, oddValues = map[string][]string{
	"outcomes": {`["a", "b"]`, `["a", "b"]`, `{"a": {}, "b": {"stop": true}}`, `{"b": {"back": %d, "max": 2}}`,
		`{"b": {"back": %d, "max": 1, "then": "a"}, "a": {"approval": true}}`},
	"when": {`{"%d": "a"}`, `{"%d": ["a", "b"]}`, `{"%d": "skipped"}`}, "decides": {`"person"`, `"agent"`, `{"run": "echo a"}`},
	"set": {`{"v": "[0-9]+"}`, `{"v": {"run": "echo 1"}}`}, "check": {`"true"`}, "produces": {`["a"]`}, "within": {`"20m"`},
	"only": {`["Bash(git push *)"]`, `["Edit(a)"]`}, "each": {`{"lines": "list"}`, `{"run": "ls"}`},
}, map[string][]string{
	"outcomes": {`{"failed": {"back": %d, "max": 3}}`, `{"late": {}}`, `{"skipped": {}}`, `[]`}, "when": {`{"%d": "failed"}`, `{"9": "a"}`},
	"decides": {`"nobody"`}, "set": {`{"item": ""}`}, "produces": {`["{v}/a"]`}, "within": {`"0s"`}, "each": {`["x"]`},
	"subject": {`"a {v}"`, `"{item}"`, `""`, `"{to} {args}"`}, "id": {`1`}, "extra": {`null`},
}

// steps draws some entries. Those with a depth above 0 may consist of others.
func (d drawing) steps(depth int) (all []string) {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom(slices.Sorted(maps.Keys(fieldValues))), 0, 2, rapid.ID)
	for i := range rapid.IntRange(1, 4).Draw(d.t, "steps") {
		fields := map[string]string{"id": fmt.Sprint(i + 1), "subject": `"a"`}
		for _, name := range names.Draw(d.t, "fields") {
			fields[name] = d.value(fieldValues, name, i)
		}
		if d.odd && rapid.Bool().Draw(d.t, "odd") {
			name := rapid.SampledFrom(slices.Sorted(maps.Keys(oddValues))).Draw(d.t, "field")
			fields[name] = d.value(oddValues, name, i)
		}
		if i > 0 && rapid.Bool().Draw(d.t, "waits") {
			fields["blockedBy"] = fmt.Sprintf("[%d]", rapid.IntRange(1, i).Draw(d.t, "blocker"))
		}
		if depth > 0 && rapid.IntRange(0, 3).Draw(d.t, "do") == 0 {
			fields["do"] = "[" + strings.Join(d.steps(depth-1), ", ") + "]"
		}
		var members []string
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			members = append(members, fmt.Sprintf("%q: %s", name, fields[name]))
		}
		all = append(all, "{"+strings.Join(rapid.Permutation(members).Draw(d.t, "order"), ", ")+"}")
	}
	return all
}

func (d drawing) value(of map[string][]string, name string, before int) string {
	value := rapid.SampledFrom(of[name]).Draw(d.t, name)
	if strings.Contains(value, "%d") {
		return fmt.Sprintf(value, rapid.IntRange(min(1, before), max(before, 1)).Draw(d.t, "step"))
	}
	return value
}

// array draws tasks that go forward once.
func array() *rapid.Generator[string] {
	str := rapid.SampledFrom([]string{`"a"`, `""`, `" "`, `"a\nb"`, `"\u0000"`, `"<&>"`, `"é𝄞"`, `"\ud834\udd1e"`, `"\ud800"`,
		`null`, `1`, `[]`})
	id := rapid.SampledFrom([]string{"1", "2", "3", "4", "1.0", "20e-1", "0", "-1", "1000000", "1000001", "9007199254740992", `"1"`, "null"})
	ids := rapid.Map(rapid.SliceOfN(id, 0, 3), func(ids []string) string { return "[" + strings.Join(ids, ", ") + "]" })
	values := map[string]*rapid.Generator[string]{
		"id": id, "subject": str, "description": str, "activeForm": str, "owner": str, "blocks": ids, "blockedBy": ids,
		"status":   rapid.SampledFrom([]string{`"pending"`, `"in_progress"`, `"completed"`, `"done"`, `""`, `null`}),
		"metadata": rapid.SampledFrom([]string{`{}`, `{"fsm": 1}`, `{"a": {"fsm": [1e400, "\u2028"]}}`, `{"a": 1, "a": 2}`, `[]`, `null`}),
		"extra":    str,
		"produces": rapid.SampledFrom([]string{`["a", "b/*.md"]`, `[]`, `null`, `["../a"]`, `"a"`}),
		"check": rapid.SampledFrom([]string{`"true"`, `{"run": "true", "timeout": 90, "dir": "a"}`, `{"run": "true", "timeout": "31m"}`,
			`{"cmd": "true"}`, `""`, `null`}),
		"approval": rapid.SampledFrom([]string{`true`, `"Well?"`, `false`, `null`}),
		"ready":    rapid.SampledFrom([]string{`["a"]`, `["a", "a"]`, `["**"]`, `[null]`}),
	}
	fields := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"description", "activeForm", "owner", "blocks", "blockedBy", "status",
		"metadata", "extra", "produces", "check", "approval", "ready"}), 0, 4, rapid.ID)
	task := rapid.Custom(func(t *rapid.T) string {
		members := []string{`"id": ` + id.Draw(t, "id"), `"subject": ` + str.Draw(t, "subject")}
		for _, field := range fields.Draw(t, "fields") {
			members = append(members, `"`+field+`": `+values[field].Draw(t, field))
		}
		return "{" + strings.Join(rapid.Permutation(members).Draw(t, "order"), ", ") + "}"
	})
	return rapid.Map(rapid.SliceOfN(task, 0, 4), func(tasks []string) string { return "[" + strings.Join(tasks, ",\n") + "]" })
}

func checkSpec(t worlds.TB, data []byte) {
	h := newHome(t)
	h.write(".claude/skills/skill/fsm.json", data)
	h.write(list+"/7.json", []byte(`{"id": "7", "subject": "mine"}`))
	h.write(list+"/8.json", []byte(`{"id": "8", "subject": "old", "metadata": {"fsm": "x"}}`))
	before := h.tree(".claude/tasks")
	spec, err := fsmspec.Parse(bytes.Clone(data))
	result, hydrated := h.hydrate()
	if err != nil {
		require.Error(t, hydrated)
		require.Equal(t, before, h.tree(".claude/tasks"))
		require.NotEmpty(t, err.(*fsmspec.InvalidError).Problems)
		message, _ := hydrate.Explain(hydrated, result, func(string) (string, bool) { return "", false })
		require.Contains(t, message, "no task was changed")
		return
	}
	const base = 8
	plan := must(spec.Plan("skill", fsmspec.Snapshot{MaxID: base}, fsmspec.Policy{}))
	require.NoError(t, hydrated)
	h.checkCreated(plan.Creations())
	checkPlanAgain(t, plan.Creations(), base)
}

// checkCreated checks that the list has the planned files and the user's own, and no others.
func (h *home) checkCreated(created []fsmspec.Creation) {
	require.Len(h.t, must(filepath.Glob(h.path(list)+"/*.json")), len(created)+1)
	require.FileExists(h.t, h.path(list+"/7.json"))
	for _, c := range created {
		want := tasks.Form.File(c)
		data := must(os.ReadFile(h.path(list + "/" + want.Name)))
		require.Equal(h.t, string(want.Data), string(data))
		checkShown(h.t, want.Name, data)
	}
}

// checkShown checks what the client requires of a task file. Measurements have shown that it
// hides other files without a message.
func checkShown(t require.TestingT, name string, data []byte) {
	var members map[string]jsontext.Value
	require.NoError(t, json.Unmarshal(data, &members), "want a JSON object in UTF-8, without a byte order mark and without duplicate names")
	var metadata map[string]jsontext.Value // not decoded further: it may hold 1e400
	require.NoError(t, json.Unmarshal(members["metadata"], &metadata))
	require.JSONEq(t, `"skill"`, string(metadata["fsm"]))
	delete(members, "metadata")
	task := map[string]any{}
	for field, text := range members {
		var value any
		require.NoError(t, json.Unmarshal(text, &value), field)
		task[field] = value
	}
	for _, field := range []string{"id", "subject", "description", "status"} {
		require.IsType(t, "", task[field], field)
	}
	require.Equal(t, name, task["id"].(string)+".json")
	require.NotEmpty(t, strings.TrimSpace(task["subject"].(string)))
	require.Contains(t, []any{"pending", "in_progress", "completed"}, task["status"])
	for _, field := range []string{"blocks", "blockedBy"} {
		for _, id := range task[field].([]any) {
			require.IsType(t, "", id, field)
		}
	}
	for _, field := range []string{"activeForm", "owner"} {
		if value, there := task[field]; there {
			require.IsType(t, "", value, field)
		}
	}
}

// checkPlanAgain makes an fsm.json from the created files, and checks that its plan has the
// same files.
func checkPlanAgain(t require.TestingT, created []fsmspec.Creation, base int64) {
	var all []string
	for _, c := range created {
		var task map[string]jsontext.Value
		require.NoError(t, json.Unmarshal(tasks.Form.File(c).Data, &task))
		task["id"] = local(t, task["id"], base)
		for _, field := range []string{"blocks", "blockedBy"} {
			var ids []jsontext.Value
			require.NoError(t, json.Unmarshal(task[field], &ids))
			for i := range ids {
				ids[i] = local(t, ids[i], base)
			}
			task[field], _ = json.Marshal(ids)
		}
		all = append(all, string(must(json.Marshal(task))))
	}
	spec := must(fsmspec.Parse([]byte("[" + strings.Join(all, ",") + "]")))
	plan := must(spec.Plan("skill", fsmspec.Snapshot{MaxID: base}, fsmspec.Policy{}))
	for i, c := range plan.Creations() {
		require.Equal(t, string(tasks.Form.File(created[i]).Data), string(tasks.Form.File(c).Data))
	}
	require.Len(t, plan.Creations(), len(created))
}

// local returns the id in fsm.json for an actual id.
func local(t require.TestingT, actual jsontext.Value, base int64) jsontext.Value {
	var text string
	require.NoError(t, json.Unmarshal(actual, &text))
	return jsontext.Value(fmt.Sprint(must(strconv.ParseInt(text, 10, 64)) - base))
}
