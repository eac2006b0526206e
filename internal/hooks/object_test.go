package hooks

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

func TestObjectKeepsOrderAndDigits(t *testing.T) {
	text := `{"z":12345678901234567890.10,"a":{"n":1E400},"m":-0}`
	o, ok := parseObject(jsontext.Value(" " + text + "\n"))
	require.True(t, ok)
	require.Equal(t, text, string(o.raw()))
	require.Equal(t, `{"z":12345678901234567890.10,"a":1,"m":-0,"b":2}`,
		string(o.merged(object{[]member{{"a", jsontext.Value("1")}, {"b", jsontext.Value("2")}}}).raw()))
	require.Equal(t, text, string(o.raw()), "an object is never changed")
}

func TestObjectReadsAsScriptDoes(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"b":2,"a":3}`: `{"a":3,"b":2}`,
		`{"a":"\u00e9\/\n"}`:  `{"a":"é/\n"}`,
		`{"a":"\ud83c"}`:      "{\"a\":\"\ufffd\"}",
		`{"":{}}`:             `{"":{}}`,
	} {
		o, ok := parseObject(jsontext.Value(text))
		require.True(t, ok, text)
		require.Equal(t, want, string(o.raw()))
	}
	for _, text := range []string{``, `null`, `[]`, `{`, `{}{}`, `{"a":1,}`, `'{}'`, "\ufeff{}"} {
		_, ok := parseObject(jsontext.Value(text))
		require.False(t, ok, text)
	}
}

func TestObjectTypes(t *testing.T) {
	o, _ := parseObject(jsontext.Value(`{"s":"x","t":true,"f":false,"n":null,"a":[1,"b"],"o":{"p":1},"i":1}`))
	require.Equal(t, "x", o.text("s"))
	require.Empty(t, o.text("i"))
	require.True(t, o.isTrue("t") && o.isFalse("f") && !o.isTrue("s") && !o.isFalse("none"))
	require.True(t, o.has("i") && !o.has("n") && !o.has("none"))
	require.Len(t, o.array("a"), 2)
	require.Equal(t, []string{"b"}, stringsIn(o, "a"))
	require.Equal(t, `{"p":1}`, string(o.object("o").raw()))
	require.Equal(t, `{}`, string(o.object("s").raw()))
}
