package fsmspec_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
)

func TestClassify(t *testing.T) {
	none := fsmspec.Existing{}
	for _, c := range []struct {
		name, file string
		kind       fsmspec.Kind
		want       fsmspec.Existing
	}{
		{"tagged", `{"id": "3", "subject": "A", "status": "pending", "metadata": {"fsm": "p:s"}}`, fsmspec.Tagged, fsmspec.Existing{Tag: "p:s", Subject: "A", Status: "pending"}},
		{"tagged in the middle", " {\"metadata\" : {\"a\":[{}],\"fsm\" : \"s\" , \"b\":{}} , \"subject\":\"A\\\"\\n\"}\n", fsmspec.Tagged, fsmspec.Existing{Tag: "s", Subject: "A\"\n"}},
		{"tag an object", `{"metadata": {"fsm": {"fsm": "x"}}}`, fsmspec.Tagged, none},
		{"tag null", `{"metadata": {"fsm": null}}`, fsmspec.Tagged, none},
		{"tag spelled with an escape", `{"metadata": {"\u0066sm": "s"}}`, fsmspec.Tagged, fsmspec.Existing{Tag: "s"}},
		{"metadata spelled with an escape", `{"\u006detadata": {"fsm": "s"}}`, fsmspec.Tagged, fsmspec.Existing{Tag: "s"}},
		{"tag twice", `{"metadata": {"fsm": "old", "fsm": "new"}}`, fsmspec.Tagged, fsmspec.Existing{Tag: "new"}},
		{"metadata twice, tag in the last", `{"metadata": {}, "metadata": {"fsm": "s"}}`, fsmspec.Tagged, fsmspec.Existing{Tag: "s"}},
		{"metadata twice, tag in the first", `{"metadata": {"fsm": "s"}, "metadata": {}}`, fsmspec.Manual, none},
		{"fields of the wrong type", `{"subject": 1, "status": ["pending"], "metadata": {"fsm": 1}}`, fsmspec.Tagged, none},
		{"invalid UTF-8", "{\"subject\": \"A\xff\", \"metadata\": {\"fsm\": \"\\ud800\"}}", fsmspec.Tagged, fsmspec.Existing{Tag: "\ufffd", Subject: "A\ufffd"}},
		{"strings that look like JSON", `{"subject": "\"}", "status": "{[\\", "metadata": {"fsm": "s"}}`, fsmspec.Tagged, fsmspec.Existing{Tag: "s", Subject: `"}`, Status: `{[\`}},

		{"no metadata", `{"id": "3", "subject": "A"}`, fsmspec.Manual, none},
		{"empty object", `{}`, fsmspec.Manual, none},
		{"metadata null", `{"metadata": null, "x": "fsm"}`, fsmspec.Manual, none},
		{"metadata an array", `{"metadata": ["fsm", {"fsm": 1}]}`, fsmspec.Manual, none},
		{"tag deeper down", `{"metadata": {"x": {"fsm": 1}}}`, fsmspec.Manual, none},
		{"tag elsewhere", `{"fsm": "s", "x": {"metadata": {"fsm": 1}}, "metadata": {"a": "fsm"}}`, fsmspec.Manual, none},
		{"tag in another case", `{"metadata": {"FSM": 1, "fsm ": "fsm"}}`, fsmspec.Manual, none},

		{"array", ` [{"metadata": {"fsm": 1}}]`, fsmspec.Foreign, none},
		{"string", `"fsm"`, fsmspec.Foreign, none},
		{"null", `null`, fsmspec.Foreign, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, kind, err := fsmspec.Classify("3.json", []byte(c.file))
			require.NoError(t, err)
			c.want.Name = "3.json"
			assert.Equal(t, c.kind.String(), kind.String())
			assert.Equal(t, c.want, got)
		})
	}
}

func TestClassifyNotJSON(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"empty", ``, `1:1: unexpected end of file`},
		{"torn", "{\n  \"subject\": \"A", `2:16: unexpected end of file`},
		{"shorter file over a longer one", "{\"id\": \"1\"}\n}", `2:1: unexpected text after the JSON value`},
		{"byte order mark", "\uFEFF{}", `1:1: invalid character '\ufeff' at start of value: remove the byte order mark`},
		{"many keys twice, then cut", "{" + strings.Repeat(`"a":1,`, 2*fsmspec.MaxProblems), `1:120002: unexpected end of file`},
		{"nested without end", strings.Repeat("[", 20_000), `1:10001: exceeded max depth`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, kind, err := fsmspec.Classify("3.json", []byte(c.file))
			assert.Equal(t, fsmspec.Existing{Name: "3.json"}, got)
			assert.Equal(t, fsmspec.Foreign, kind)
			require.ErrorIs(t, err, fsmspec.ErrNotJSON)
			assert.EqualError(t, err, "3.json:"+c.want+" (not valid JSON)")
		})
	}
}

// classifyByDecoding does what Classify does, by decoding the whole file.
func classifyByDecoding(data []byte) (file fsmspec.Existing, kind fsmspec.Kind, isJSON bool) {
	if !jsontext.Value(data).IsValid(tolerant) {
		return file, fsmspec.Foreign, false
	}
	var task, metadata map[string]jsontext.Value
	if json.Unmarshal(data, &task, tolerant) != nil || task == nil {
		return file, fsmspec.Foreign, true
	}
	if json.Unmarshal(task["metadata"], &metadata, tolerant) != nil || metadata["fsm"] == nil {
		return file, fsmspec.Manual, true
	}
	decode := func(value jsontext.Value) (text string) {
		_ = json.Unmarshal(value, &text, tolerant)
		return text
	}
	return fsmspec.Existing{Tag: decode(metadata["fsm"]), Subject: decode(task["subject"]), Status: decode(task["status"])}, fsmspec.Tagged, true
}

var tolerant = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func TestClassifyAgreesWithDecoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := []byte(taskFile(3).Draw(t, "file"))
		if rapid.IntRange(0, 4).Draw(t, "damage") == 0 {
			data = damage(t, data)
		}
		want, wantKind, isJSON := classifyByDecoding(data)
		got, kind, err := fsmspec.Classify("", data)
		assert.Equal(t, isJSON, err == nil, "%v", err)
		assert.Equal(t, wantKind, kind)
		assert.Equal(t, want, got)
	})
}

func TestClassifyAllocatesLittle(t *testing.T) {
	manual := []byte(`{"id": "1", "subject": "A", "status": "pending", "blocks": [], "blockedBy": ["2"]}`)
	tagged := []byte(`{"id": "1", "subject": "A", "status": "pending", "metadata": {"fsm": "p:s"}}`)
	allocations := func(data []byte) float64 {
		return testing.AllocsPerRun(100, func() { fsmspec.Classify("1.json", data) })
	}
	assert.LessOrEqual(t, allocations(manual), 1.0)
	assert.LessOrEqual(t, allocations(tagged), 8.0)
}
