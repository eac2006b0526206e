package jsonx

import (
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestColumnsCountCharacters(t *testing.T) {
	require.Equal(t, Position{1, 1}, PositionAt([]byte("äß€"), 0))
	require.Equal(t, Position{1, 3}, PositionAt([]byte("äß€"), 4))
	require.Equal(t, Position{2, 2}, PositionAt([]byte("ä\nb"), 4))
	require.Equal(t, Position{1, 4}, PositionAt([]byte("abc"), 99), "beyond the end is the end")
	require.Equal(t, Position{1, 1}, PositionAt([]byte("abc"), -1))
}

func TestIndexAgreesWithPositionAt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "ä", "\n", "€uro", strings.Repeat("x", 700)}), 0,
			30).Draw(t, "text"), ""))
		x := NewIndex(text)
		for range 5 {
			offset := rapid.IntRange(-1, len(text)+1).Draw(t, "offset")
			require.Equal(t, PositionAt(text, offset), x.At(offset), "offset %d", offset)
		}
	})
}

func TestCheckReturnsThePosition(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1}`:         "",
		`{"a": nulL}`:      `1:10: invalid character 'L' in literal null (expecting 'l'): strings need double quotes`,
		`toml = 1`:         `1:2: invalid character 'o' in literal true (expecting 'r'): strings need double quotes`,
		"{\"ä\": tru}":     `1:10: invalid character '}' in literal true (expecting 'e')`,
		"[1,\n 2,]":        `2:4: invalid character ']' at start of value: a trailing comma before it: remove that`,
		`[1`:               `1:3: unexpected end of file: the [ at 1:1 is not closed`,
		``:                 `1:1: unexpected end of file`,
		"{} \n x":          `2:2: unexpected text after the JSON value`,
		"[] // x":          `1:4: unexpected text after the JSON value: JSON has no comments: remove this one`,
		"[],\n":            `1:3: unexpected text after the JSON value: a trailing comma: remove it`,
		`{"a": 1, "a": 2}`: `1:10: duplicate object member name "a"`,
	} {
		err := Check([]byte(text))
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.EqualError(t, err, want, "%q", text)
		require.ErrorAs(t, err, new(*SyntaxError))
	}
	require.NoError(t, Check([]byte(`{"a": 1, "a": 2}`), jsontext.AllowDuplicateNames(true)))
}

func TestHints(t *testing.T) {
	for text, want := range map[string]string{
		`// tasks`:     `1:1: invalid character '/' at start of value: JSON has no comments: remove this one`,
		`[1, /* 2 */]`: `1:5: invalid character '/' at start of value: JSON has no comments: remove this one`,
		"\uFEFF[]":     `1:1: invalid character '\ufeff' at start of value: remove the byte order mark`,
		"[\"a\nb\"]": `1:4: invalid character '\n' in string (expecting non-control character): ` +
			`the string is not closed in its line: close it with a quote, or write the line break as \n`,
		"{\"a\": 1 ,\n }": `2:2: invalid character '}' at start of string (expecting '"'): a trailing comma before it: remove that`,
		`[01]`:            `1:3: invalid character '1' after array element (expecting ',' or ']'): a number cannot begin with 0`,
		`[0 1]`:           `1:4: invalid character '1' after array element (expecting ',' or ']'): a comma is missing before it`,
		"[{}\n{}]":        `2:1: invalid character '{' after array element (expecting ',' or ']'): a comma is missing before it`,
		`["a" "b"]`:       `1:6: invalid character '"' after array element (expecting ',' or ']'): a comma is missing before it`,
		`["say "hi""]`:    `1:8: invalid character 'h' after array element (expecting ',' or ']'): in a string, write a quote as \"`,
		`[{}}]`: `1:4: invalid character '}' after array element (expecting ',' or ']'): ` +
			`remove it, or close the array before it with ]`,
		`[{"a": 1]`: `1:9: invalid character ']' after object value (expecting ',' or '}'): ` +
			`remove it, or close the object before it with }`,
		`{"a": 1 : 2}`:    `1:9: invalid character ':' after object value (expecting ',' or '}')`,
		"[\"a\tb\"]":      `1:4: invalid character '\t' in string (expecting non-control character): in a string, write a tab as \t`,
		"[\u201ca\u201d]": `1:2: invalid character '“' at start of value: strings need straight double quotes (")`,
		`{a: 1}`:          `1:2: invalid character 'a' at start of string (expecting '"'): strings need double quotes`,
		`[1, 'a']`:        `1:5: invalid character '\'' at start of value: strings need double quotes`,
		`True`:            `1:1: invalid character 'T' at start of value: strings need double quotes`,
		"[tru\n]":         `1:5: invalid character '\n' in literal true (expecting 'e')`,
		`["see "1" x"]`:   `1:8: invalid character '1' after array element (expecting ',' or ']'): in a string, write a quote as \"`,
		`{"a" b}`:         `1:6: invalid character 'b' after object name (expecting ':')`,
		`[/]`:             `1:2: invalid character '/' at start of value`,
	} {
		require.EqualError(t, Check([]byte(text)), want, "%q", text)
	}
}

// TestHintForATrailingComma: a decoder that reads tokens stops at the comma itself.
func TestWhatIsNotClosed(t *testing.T) {
	for text, want := range map[string]string{
		``:                     "1:1: unexpected end of file",
		`[{"a": 1}`:            "1:10: unexpected end of file: the [ at 1:1 is not closed",
		"[\n {\"a\": [1, 2]":   "2:14: unexpected end of file: the { at 2:2 is not closed",
		`["a\"]`:               `1:7: unexpected end of file: the string that begins at 1:2 is not closed`,
		`["[{", "\\", {"b": [`: "1:21: unexpected end of file: the [ at 1:20 is not closed",
	} {
		if err := Check([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestHintForATrailingComma(t *testing.T) {
	for text, want := range map[string]string{
		`[1 , ]`: `1:4: invalid character ',' at start of value: a trailing comma: remove it`,
		`[1,`:    `1:4: unexpected end of file: the [ at 1:1 is not closed`,
		`[,1]`:   `1:2: invalid character ',' at start of value`,
	} {
		decoder := jsontext.NewDecoder(strings.NewReader(text))
		var err error
		for err == nil {
			decoder.PeekKind()
			_, err = decoder.ReadToken()
		}
		require.EqualError(t, Explain([]byte(text), err), want, "%q", text)
	}
}

func TestExplainHidesTheLibrary(t *testing.T) {
	data := []byte("{\n \"n\": \"x\"}")
	var into struct{ N int }
	err := Explain(data, json.Unmarshal(data, &into, json.MatchCaseInsensitiveNames(true)))
	require.EqualError(t, err, "2:7: n: got a string")
	require.NoError(t, Explain(data, nil))
	require.EqualError(t, Explain([]byte("\n "), io.EOF), "2:2: unexpected end of file")
}

func TestKindNames(t *testing.T) {
	for text, want := range map[string]string{`""`: "a string", `1`: "a number", `[]`: "an array", `{}`: "an object", `true`: "a boolean",
		`false`: "a boolean", `null`: "null", `x`: "invalid JSON"} {
		require.Equal(t, want, KindName(jsontext.Value(text).Kind()), text)
	}
	require.Equal(t, "got a string, want an object", Got('"', "an object"))
}

func TestMember(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": "x"}`: "x", `{"a": 1, "a": "x"}`: "x", `{"a": 7}`: "", `{"a": null}`: "", `{"b": "x"}`: "", `["a"]`: "", `null`: "",
		`{"a": `: "", ``: "",
	} {
		require.Equal(t, want, StringMember(jsontext.Value(text), "a"), text)
	}
	require.Equal(t, `[ 1]`, string(Member(jsontext.Value(`{"a": [ 1]}`), "a")))
	require.Nil(t, Member(jsontext.Value(`{"b": 1}`), "a"))
}

func TestMembersAgreeWithUnmarshal(t *testing.T) {
	parts := []string{"{", "}", "[", "]", ",", ":", " ", "\n", `"a"`, `"b"`, `"\u0061"`, "\"\xff\"", `""`, "1", "-0.5e3", "true", "null",
		`{"c":[{}]}`, "x"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 6).Draw(t, "text"), "")
		if rapid.Bool().Draw(t, "as an object") {
			text = "{" + strings.Join(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
				return rapid.SampledFrom(parts[8:13]).Draw(t, "name") + " : " + rapid.SampledFrom(parts[8:]).Draw(t, "value")
			}), 0, 4).Draw(t, "members"), ",") + "}" + rapid.SampledFrom([]string{"", " \n", "x", "{}"}).Draw(t, "rest")
		}
		var want map[string]jsontext.Value
		wantErr := json.Unmarshal([]byte(text), &want, Tolerant)

		got, err := Members(jsontext.Value(text))

		require.Equal(t, wantErr, err, "%q", text)
		require.Equal(t, want, got, "%q", text)
	})
}

func TestMembersAreNotCopied(t *testing.T) {
	object := jsontext.Value(`{"a": "x", "large": "` + strings.Repeat("y", 1<<20) + `"}`)
	members, err := Members(object)
	require.NoError(t, err)

	object[7] = 'z'

	require.Equal(t, `"z"`, string(members["a"]))
	require.Equal(t, 3, cap(members["a"]), "appending to a member would overwrite the object")
}

func TestObjectKeepsOrderAndDigits(t *testing.T) {
	text := `{"z":12345678901234567890.10,"a":{"n":1E400},"m":-0}`
	o, ok := ParseObject(jsontext.Value(" " + text + "\n"))
	require.True(t, ok)
	require.Equal(t, text, string(o.Raw()))
	require.Equal(t, `{"z":12345678901234567890.10,"a":1,"m":-0,"b":2}`,
		string(o.Merged(Object{[]member{{"a", jsontext.Value("1")}, {"b", jsontext.Value("2")}}}).Raw()))
	require.Equal(t, text, string(o.Raw()), "an object is never changed")
}

func TestObjectReadsAsJavaScriptDoes(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"b":2,"a":3}`: `{"a":3,"b":2}`,
		`{"a":"\u00e9\/\n"}`:  `{"a":"é/\n"}`,
		`{"a":"\ud83c"}`:      "{\"a\":\"\ufffd\"}",
		`{"":{}}`:             `{"":{}}`,
	} {
		o, ok := ParseObject(jsontext.Value(text))
		require.True(t, ok, text)
		require.Equal(t, want, string(o.Raw()))
	}
	for _, text := range []string{``, `null`, `[]`, `{`, `{}{}`, `{"a":1,}`, `'{}'`, "\ufeff{}"} {
		_, ok := ParseObject(jsontext.Value(text))
		require.False(t, ok, text)
	}
}

func TestObjectTypes(t *testing.T) {
	o, _ := ParseObject(jsontext.Value(`{"s":"x","t":true,"f":false,"n":null,"a":[1,"b"],"o":{"p":1},"i":1}`))
	require.Equal(t, "x", o.Text("s"))
	require.Empty(t, o.Text("i"))
	require.True(t, o.IsTrue("t") && o.IsFalse("f") && !o.IsTrue("s") && !o.IsFalse("none"))
	require.True(t, o.Has("i") && !o.Has("n") && !o.Has("none"))
	require.Len(t, o.Array("a"), 2)
	require.Equal(t, []string{"b"}, o.Strings("a"))
	require.Equal(t, `{"p":1}`, string(o.Object("o").Raw()))
	require.Equal(t, `{}`, string(o.Object("s").Raw()))
}

// The expectations are the results of TextDecoder.
func TestDecode(t *testing.T) {
	for in, want := range map[string]string{
		"caf\xc3\xa9":      "café",
		"a\xffb":           "a\ufffdb",
		"\xf0\x9f\x8e":     "\ufffd",
		"\xf0\x9f\x8eA":    "\ufffdA",
		"\xe2\x82":         "\ufffd",
		"\xc0\x80":         "\ufffd\ufffd",
		"\xed\xa0\x80":     "\ufffd\ufffd\ufffd",
		"\xf0\x80\x80\x80": "\ufffd\ufffd\ufffd\ufffd",
		"\xe2\x82\xe2\x82": "\ufffd\ufffd",
		"\x80\x81":         "\ufffd\ufffd",
		"\xf4\x90\x80\x80": "\ufffd\ufffd\ufffd\ufffd",
		"":                 "",
		"\ufffd":           "\ufffd",
		"\xc3\xa9\xc3":     "é\ufffd",
	} {
		require.Equal(t, want, Decode([]byte(in)), "%q", in)
	}
}

func TestTrim(t *testing.T) {
	require.Equal(t, "a", Trim("\ufeff \t\r\n\u00a0a\u2028\ufeff"))
	require.Equal(t, "\u0085a", Trim(" \u0085a"))
}

func TestCompareCodeUnits(t *testing.T) {
	require.Negative(t, Compare("Z", "a"))
	require.Negative(t, Compare("😀", "\uffff"), "a surrogate sorts before the end of the basic plane")
	require.Zero(t, Compare("é", "é"))
}

func TestExcerpt(t *testing.T) {
	require.Equal(t, "missing", Excerpt(nil))
	require.Equal(t, `{"a":[1,2]}`, Excerpt([]byte("{\"a\":\n [1, 2]}")))
	require.Equal(t, `"`+strings.Repeat("é", 39)+"…", Excerpt(Quote(strings.Repeat("é", 50))))
}
