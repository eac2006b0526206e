package tasks

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

func TestClassify(t *testing.T) {
	none := fsmspec.Existing{}
	for _, c := range []struct {
		name, file string
		kind       Kind
		want       fsmspec.Existing
	}{
		{"tagged", `{"id": "3", "subject": "A", "status": "pending", "metadata": {"fsm": "p:s"}}`, Tagged,
			fsmspec.Existing{Tag: "p:s", Subject: "A", Status: "pending"}},
		{"tagged in the middle", " {\"metadata\" : {\"a\":[{}],\"fsm\" : \"s\" , \"b\":{}} , \"subject\":\"A\\\"\\n\"}\n", Tagged,
			fsmspec.Existing{Tag: "s", Subject: "A\"\n"}},
		{"tag an object", `{"metadata": {"fsm": {"fsm": "x"}}}`, Tagged, none},
		{"tag null", `{"metadata": {"fsm": null}}`, Tagged, none},
		{"tag spelled with an escape", `{"metadata": {"\u0066sm": "s"}}`, Tagged, fsmspec.Existing{Tag: "s"}},
		{"metadata spelled with an escape", `{"\u006detadata": {"fsm": "s"}}`, Tagged, fsmspec.Existing{Tag: "s"}},
		{"tag twice", `{"metadata": {"fsm": "old", "fsm": "new"}}`, Tagged, fsmspec.Existing{Tag: "new"}},
		{"metadata twice, tag in the last", `{"metadata": {}, "metadata": {"fsm": "s"}}`, Tagged, fsmspec.Existing{Tag: "s"}},
		{"metadata twice, tag in the first", `{"metadata": {"fsm": "s"}, "metadata": {}}`, Manual, none},
		{"fields of the wrong type", `{"subject": 1, "status": ["pending"], "metadata": {"fsm": 1}}`, Tagged, none},
		{"invalid UTF-8", "{\"subject\": \"A\xff\", \"metadata\": {\"fsm\": \"\\ud800\"}}", Tagged,
			fsmspec.Existing{Tag: "\ufffd", Subject: "A\ufffd"}},
		{"strings that look like JSON", `{"subject": "\"}", "status": "{[\\", "metadata": {"fsm": "s"}}`, Tagged,
			fsmspec.Existing{Tag: "s", Subject: `"}`, Status: `{[\`}},

		{"no metadata", `{"id": "3", "subject": "A"}`, Manual, none},
		{"empty object", `{}`, Manual, none},
		{"metadata null", `{"metadata": null, "x": "fsm"}`, Manual, none},
		{"metadata an array", `{"metadata": ["fsm", {"fsm": 1}]}`, Manual, none},
		{"tag deeper down", `{"metadata": {"x": {"fsm": 1}}}`, Manual, none},
		{"tag elsewhere", `{"fsm": "s", "x": {"metadata": {"fsm": 1}}, "metadata": {"a": "fsm"}}`, Manual, none},
		{"tag in another case", `{"metadata": {"FSM": 1, "fsm ": "fsm"}}`, Manual, none},

		{"array", ` [{"metadata": {"fsm": 1}}]`, Foreign, none},
		{"string", `"fsm"`, Foreign, none},
		{"null", `null`, Foreign, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, kind, err := Classify("3.json", []byte(c.file))
			require.NoError(t, err)
			c.want.ID, c.want.Number = "3", 3
			assert.Equal(t, c.kind, kind)
			assert.Equal(t, c.want, got)
		})
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
		got, kind, err := Classify("", data)
		assert.Equal(t, isJSON, err == nil, "%v", err)
		assert.Equal(t, wantKind, kind)
		assert.Equal(t, want, got)
	})
}

func TestClassifyAllocatesLittle(t *testing.T) {
	manual := []byte(`{"id": "1", "subject": "A", "status": "pending", "blocks": [], "blockedBy": ["2"]}`)
	tagged := []byte(`{"id": "1", "subject": "A", "status": "pending", "metadata": {"fsm": "p:s"}}`)
	allocations := func(data []byte) float64 {
		return testing.AllocsPerRun(100, func() { Classify("1.json", data) })
	}
	assert.LessOrEqual(t, allocations(manual), 1.0)
	assert.LessOrEqual(t, allocations(tagged), 8.0)
}
