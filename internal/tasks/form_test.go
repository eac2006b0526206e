package tasks

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/txn"
)

// planned returns the files of the tasks that a plan creates.
func planned(t *testing.T, file string, list fsmspec.Snapshot) (files []txn.File) {
	t.Helper()
	spec, err := fsmspec.Parse([]byte(file))
	require.NoError(t, err)
	plan, err := spec.Plan("my-plugin:my-skill", list, fsmspec.Policy{})
	require.NoError(t, err)
	for _, c := range plan.Creations() {
		files = append(files, ClientForm{}.File(c))
	}
	return files
}

// SCN-THS-4.7, SCN-THS-6.1: the file is byte for byte what the documented schema shows.
func TestCreatedFile(t *testing.T) {
	files := planned(t, `[{"id": 1, "subject": "Set up environment", "description": "Install deps"}]`, fsmspec.Snapshot{})
	assert.Equal(t, []txn.File{{Name: "1.json", Mode: 0o666, Data: []byte(`{
  "id": "1",
  "subject": "Set up environment",
  "description": "Install deps",
  "activeForm": "",
  "owner": "",
  "status": "pending",
  "blocks": [],
  "blockedBy": [],
  "metadata": {
    "fsm": "my-plugin:my-skill"
  }
}`)}}, files)
}

// SCN-THS-6.2
func TestCreatedFileWithEveryField(t *testing.T) {
	file, err := os.ReadFile("../../fsmspec/testdata/every-field.fsm.json")
	require.NoError(t, err)
	want, err := os.ReadFile("testdata/every-field.task.json")
	require.NoError(t, err)
	assert.Equal(t, string(want), string(planned(t, string(file), fsmspec.Snapshot{MaxID: 5})[0].Data))
}

// TestFilesAreReadAsTheyWereWritten: a created file has the form of the client's, and is read as
// what it was made from.
func TestFilesAreReadAsTheyWereWritten(t *testing.T) {
	ids := rapid.SliceOfN(rapid.Int64Range(1, fsmspec.MaxID), 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string { return rapid.String().Draw(t, name) }
		c := fsmspec.Creation{
			ID: rapid.Int64Range(1, fsmspec.MaxID).Draw(t, "id"), Subject: text("subject"), Description: text("description"),
			ActiveForm: text("activeForm"), Owner: text("owner"),
			Status: fsmspec.Status(rapid.IntRange(0, 2).Draw(t, "status")), Blocks: ids.Draw(t, "blocks"), BlockedBy: ids.Draw(t, "blockedBy"),
			Metadata: rapid.SampledFrom([]string{`{"fsm":"p:s"}`,
				`{"a": [1.50, {"b" :1e400}], "\u0062": "<>&\/", "fsm":"p:s"}`}).Draw(t, "metadata"),
		}
		file := ClientForm{}.File(c)
		checkShape(t, string(file.Data))
		assert.Equal(t, strconv.FormatInt(c.ID, 10), ClientForm{}.ID(file.Name))
		assert.Equal(t, c.ID, ClientForm{}.Number(file.Name))

		got := ClientForm{}.Decode(file.Data)
		require.NotNil(t, got)
		assert.Equal(t, compact(jsontext.Value(c.Metadata)), compact(got.Metadata), "numbers as they are spelled")
		got.Metadata = nil
		want := Task{ID: strconv.FormatInt(c.ID, 10), Subject: c.Subject, Description: c.Description, ActiveForm: c.ActiveForm,
			Status: c.Status.String(), Owner: c.Owner, BlockedBy: []string{}}
		for _, id := range c.BlockedBy {
			want.BlockedBy = append(want.BlockedBy, strconv.FormatInt(id, 10))
		}
		assert.Equal(t, want, *got)

		existing, kind, err := Classify(file.Name, file.Data)
		require.NoError(t, err)
		assert.Equal(t, Tagged, kind)
		assert.Equal(t, fsmspec.Existing{ID: want.ID, Number: c.ID, Tag: "p:s", Subject: c.Subject, Status: c.Status.String()}, existing)
	})
}

func compact(v jsontext.Value) string {
	text, _ := jsontext.AppendFormat(nil, v)
	return string(text)
}

// TestWhatIsNotATask: a file is not a task if a field that steps depend on has another type.
func TestWhatIsNotATask(t *testing.T) {
	for _, text := range []string{``, `{`, `[]`, `"a"`, `{"subject": 1}`, `{"status": true}`, `{"blockedBy": "1"}`, `{"blockedBy": [1]}`} {
		assert.Nil(t, ClientForm{}.Decode([]byte(text)), text)
	}
	assert.Equal(t, &Task{Status: "pending"}, ClientForm{}.Decode([]byte(`{"id": 5, "status": "pending", "owner": {}}`)))
}

// checkShape checks that a file looks like one of the client's: the fields in the
// documented order, indented by two spaces a level, no unnecessary escapes, and no line
// feed at the end.
func checkShape(t require.TestingT, content string) {
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

func TestSetStatus(t *testing.T) {
	for before, after := range map[string]string{
		`{"id":"1","status":"pending"}`: "{\"id\":\"1\",\"status\":\"completed\"}",
		"{\n  \"status\" :  \"x\",\r\n  \"status\": null , \"z\":1 }\n": "{\n  \"status\" :  \"x\",\r\n  \"status\": " +
			"\"completed\" , \"z\":1 }\n",
		`{"a":{"status":"pending"},"st\u0061tus":"pending","é":"\u00e9"}`: `{"a":{"status":"pending"},"st\u0061tus":"completed","é":"\u00e9"}`,
	} {
		got, err := ClientForm{}.SetStatus([]byte(before), "completed")
		require.NoError(t, err)
		require.Equal(t, after, string(got))
	}
	for _, text := range []string{"", "[]", "null", `{"status":"pending"`, `{"status":}`, `{"id":"1"}`, `{"status" "x"}`} {
		_, err := ClientForm{}.SetStatus([]byte(text), "completed")
		require.Error(t, err, text)
	}
}

// TestEdit: what the change leaves as it is stays, spelled as it is, and so does what is not known.
func TestEdit(t *testing.T) {
	const before = `{"id": 7, "z": 1.50, "subject": "a", "description": "d", "status": "pending", "blockedBy": ["1"], "owner": {}, ` +
		`"metadata": {"n": 1e400, "fsm": "s"}}`
	edited := func(text string, change func(*Task)) string {
		t.Helper()
		got, err := ClientForm{}.Edit([]byte(text), func(task *Task) error { change(task); return nil })
		require.NoError(t, err)
		return compact(got)
	}
	assert.Equal(t, `{"blockedBy":["1"],"description":"d","id":7,"metadata":{"n":1e400,"fsm":"s"},"owner":{},`+
		`"status":"pending","subject":"a","z":1.50}`,
		edited(before, func(*Task) {}))
	assert.Equal(t, `{"activeForm":"A","blockedBy":["1","2"],"description":"e","id":7,"metadata":{"x":1},"owner":{},`+
		`"status":"completed","subject":"b","z":1.50}`,
		edited(before, func(task *Task) {
			task.Subject, task.Description, task.ActiveForm, task.Status = "b", "e", "A", "completed"
			task.BlockedBy, task.Metadata = append(task.BlockedBy, "2"), jsontext.Value(`{"x":1}`)
		}))
	assert.Equal(t, `{"blockedBy":[],"status":"pending"}`, edited(`{"status": "pending"}`,
		func(task *Task) { task.BlockedBy = []string{} }))

	refused := errors.New("refused")
	_, err := ClientForm{}.Edit([]byte(before), func(*Task) error { return refused })
	require.ErrorIs(t, err, refused)
	for _, text := range []string{``, `[]`, `null`, `{"subject": 1}`} {
		_, err := ClientForm{}.Edit([]byte(text), func(*Task) error { return nil })
		require.Error(t, err, text)
	}
}

func TestClassifyWhatIsNotAnObject(t *testing.T) {
	for _, text := range []string{` [{"metadata": {"fsm": 1}}]`, `"fsm"`, `null`} {
		_, kind, err := Classify("3.json", []byte(text))
		require.NoError(t, err)
		assert.Equal(t, Foreign, kind, text)
	}
}

func TestClassifyNotJSON(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"empty", ``, `1:1: unexpected end of file`},
		{"torn", "{\n  \"subject\": \"A", `2:16: unexpected end of file: the string that begins at 2:14 is not closed`},
		{"shorter file over a longer one", "{\"id\": \"1\"}\n}", `2:1: unexpected text after the JSON value`},
		{"byte order mark", "\uFEFF{}", `1:1: invalid character '\ufeff' at start of value: remove the byte order mark`},
		{"many keys twice, then cut", "{" + strings.Repeat(`"a":1,`, 20_000), `1:120002: unexpected end of file: the { at 1:1 is not closed`},
		{"nested without end", strings.Repeat("[", 20_000), `1:10001: exceeded max depth`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, kind, err := Classify("3.json", []byte(c.file))
			assert.Equal(t, fsmspec.Existing{ID: "3", Number: 3}, got)
			assert.Equal(t, Foreign, kind)
			require.ErrorIs(t, err, errNotJSON)
			assert.EqualError(t, err, "3.json:"+c.want+" (not valid JSON)")
		})
	}
}

// classifyByDecoding does what Classify does, by decoding the whole file.
func classifyByDecoding(data []byte) (file fsmspec.Existing, kind Kind, isJSON bool) {
	if !jsontext.Value(data).IsValid(jsonx.Tolerant) {
		return file, Foreign, false
	}
	var task, metadata map[string]jsontext.Value
	if json.Unmarshal(data, &task, jsonx.Tolerant) != nil || task == nil {
		return file, Foreign, true
	}
	if json.Unmarshal(task["metadata"], &metadata, jsonx.Tolerant) != nil || metadata["fsm"] == nil {
		return file, Manual, true
	}
	decode := func(value jsontext.Value) (text string) {
		_ = json.Unmarshal(value, &text, jsonx.Tolerant)
		return text
	}
	return fsmspec.Existing{Tag: decode(metadata["fsm"]), Subject: decode(task["subject"]), Status: decode(task["status"])}, Tagged, true
}

// anyFile draws JSON that is often a task file, and often tagged.
func anyFile(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 5).Draw(t, "shape") == 0 {
			return anyValue(depth).Draw(t, "anything")
		}
		return anyObject(t, []string{"metadata", "metadata", "subject", "status", "x", `\u006detadata`}, func() string {
			if rapid.Bool().Draw(t, "object") {
				return anyObject(t, tagKeys, func() string { return anyValue(depth-1).Draw(t, "value") })
			}
			return anyValue(depth).Draw(t, "value")
		})
	})
}

var tagKeys = []string{"fsm", "fsm", "Fsm", "fsm ", `f\u0073m`, "metadata", "x"}

func anyObject(t *rapid.T, keys []string, value func() string) string {
	members := rapid.SliceOfN(rapid.SampledFrom(keys), 0, 5).Draw(t, "keys")
	for i, key := range members {
		members[i] = `"` + key + `" :` + value()
	}
	return " {" + strings.Join(members, ",") + "}\n"
}

func anyValue(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		inner := func() string { return anyValue(depth-1).Draw(t, "value") }
		switch {
		case kind == 0 && depth > 0:
			return "[" + inner() + "," + inner() + "]"
		case kind == 1 && depth > 0:
			return anyObject(t, tagKeys, inner)
		case kind < 3:
			quoted, _ := jsontext.AppendQuote(nil, rapid.String().Draw(t, "text"))
			return string(quoted)
		}
		return rapid.SampledFrom([]string{"null", "true", "-1.50", "1e400", `"fsm"`, `"\ud800"`, "\"\xff\"", `"metadata"`, "{}",
			"[]"}).Draw(t, "value")
	})
}

func TestClassifyAgreesWithDecoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := []byte(anyFile(3).Draw(t, "file"))
		if rapid.IntRange(0, 4).Draw(t, "damage") == 0 {
			data = data[:rapid.IntRange(0, len(data)).Draw(t, "cut")]
		}
		want, wantKind, isJSON := classifyByDecoding(data)
		want.ID, want.Number = "3", 3
		got, kind, err := Classify("3.json", data)
		assert.Equal(t, isJSON, err == nil, "%v", err)
		assert.Equal(t, wantKind, kind)
		assert.Equal(t, want, got)
	})
}
