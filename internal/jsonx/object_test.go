package jsonx

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

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
