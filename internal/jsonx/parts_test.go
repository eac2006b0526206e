package jsonx_test

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

func TestPartsKeepOrderNamesAndPlaces(t *testing.T) {
	text := jsontext.Value(" {\"b\": [1, 2], \"\\u0061\" :\"x\",\n \"b\": null} ")
	var parts []jsonx.Part
	for p, err := range jsonx.Parts(text) {
		require.NoError(t, err)
		parts = append(parts, p)
		assert.Equal(t, string(p.Value), string(text[p.Offset:p.Offset+len(p.Value)]))
	}
	require.Len(t, parts, 3)
	assert.Equal(t, []string{"b", "a", "b"}, []string{parts[0].Name, parts[1].Name, parts[2].Name})
	assert.Equal(t, []int{7, 25, 36}, []int{parts[0].Offset, parts[1].Offset, parts[2].Offset})
}

// TestPartsEndWithTheMistake: what stands before it is yielded, and the name of the member whose
// value is wrong.
func TestPartsEndWithTheMistake(t *testing.T) {
	for text, want := range map[string][]string{
		`{"a": 1, "b": }`: {"a", "b error"},
		`{"a": 1, b`:      {"a", " error"},
		`{"a": 1} x`:      {"a", " error"},
		`{"a": 1`:         {"a", " error"},
		`[1] [2]`:         {"", " error"},
		`[1 2]`:           {"", " error"},
		`"a"`:             {" error"},
		``:                {" error"},
		`{}`:              nil,
		` [ ] `:           nil,
	} {
		var got []string
		for p, err := range jsonx.Parts([]byte(text)) {
			if err != nil {
				p.Name += " error"
			}
			got = append(got, p.Name)
		}
		assert.Equal(t, want, got, text)
	}
}

// TestPartsAreThoseOfTheLibrary: an array has the elements that json.Unmarshal finds, whatever
// they are.
func TestPartsAreThoseOfTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOf(rapid.SampledFrom([]byte(`[]{},:"a1 n`))).Draw(t, "text")
		var want, got []jsontext.Value
		wrong := json.Unmarshal(text, &want, jsonx.Tolerant)
		if jsontext.Value(text).Kind() != '[' {
			return
		}
		var mistake error
		for p, err := range jsonx.Parts(text) {
			if mistake = err; err == nil {
				got = append(got, p.Value)
			}
		}
		require.Equal(t, wrong == nil, mistake == nil, "%s: %v, %v", text, wrong, mistake)
		if wrong == nil {
			require.Len(t, got, len(want))
			for i := range want {
				require.Equal(t, string(want[i]), string(got[i]))
			}
		}
	})
}

// TestMembersWithinAreThoseOfBothObjects, whatever the text.
func TestMembersWithinAreThoseOfBothObjects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := jsontext.Value(rapid.StringOf(rapid.SampledFrom([]rune(`{}[]:,"ab 1`))).Draw(t, "text"))
		if rapid.Bool().Draw(t, "nested") {
			other := rapid.SampledFrom([]string{`"b": 1`, `"a": {"c": 2}`, ``, `1`}).Draw(t, "a")
			text = jsontext.Value(`{"b": ` + string(text) + `, "a": {` + other + `}}`)
		}
		var want map[string]jsontext.Value
		wrong := json.Unmarshal(text, &want, jsonx.Tolerant)
		members, within, err := jsonx.MembersWithin(text, "a")
		require.Equal(t, wrong == nil, err == nil, "%s: %v, %v", text, wrong, err)
		if err != nil {
			return
		}
		require.Equal(t, asTexts(want), asTexts(members), "%s", text)
		inner, _ := jsonx.Members(want["a"])
		require.Equal(t, asTexts(inner), asTexts(within), "%s", text)
	})
}

func asTexts(members map[string]jsontext.Value) map[string]string {
	all := map[string]string{}
	for name, value := range members {
		all[name] = string(value)
	}
	return all
}

func TestBegunMembersAreTheCompleteOnes(t *testing.T) {
	for text, want := range map[string]map[string]string{
		`{"a": 1, "b": [2], "c": {"d": 3`: {"a": "1", "b": "[2]"},
		`{"a": 1, "b`:                     {"a": "1"},
		`{"a": 1}`:                        {"a": "1"},
		`{`:                               {},
		`["a"`:                            {},
		``:                                {},
	} {
		assert.Equal(t, want, asTexts(jsonx.Begun(jsontext.Value(text))), text)
	}
}
