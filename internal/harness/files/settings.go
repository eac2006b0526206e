package files

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/jsonx/commented"
)

// Members returns what a settings file says, which may be missing, blank, or have comments: its members without empty
// containers, which have no effect. exact is whether there were none.
func Members(t require.TestingT, data []byte) (all map[string]any, exact bool) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(bytes.TrimSpace(data)) == 0 {
		return map[string]any{}, false
	}
	plain, err := commented.Plain(data)
	require.NoError(t, err, "%s", data)
	require.NoError(t, json.Unmarshal(plain, &all, jsontext.AllowInvalidUTF8(true)), "%s", data)
	exact = len(all) > 0
	return all, fill(all) && exact
}

// fill removes the empty containers of an object, and reports whether there were none.
func fill(o map[string]any) bool {
	none := true
	for name, value := range o {
		inner, isObject := value.(map[string]any)
		list, isList := value.([]any)
		none = (!isObject || len(inner) > 0 && fill(inner)) && none
		if isObject && len(inner) == 0 || isList && len(list) == 0 {
			delete(o, name)
			none = false
		}
	}
	return none
}

// RequireAlike fails unless two settings files say the same, see Members, and are the same to the last byte if the first
// has no empty containers and looks as the client writes it.
func RequireAlike(t require.TestingT, before, after []byte) {
	was, exact := Members(t, before)
	asWritten := jsontext.Value(bytes.Clone(before))
	if err := asWritten.Indent(jsontext.WithIndent("  ")); exact && err == nil && string(asWritten)+"\n" == string(before) {
		require.Equal(t, string(before), string(after))
		return
	}
	is, _ := Members(t, after)
	require.Equal(t, was, is, "%q has become %q", before, after)
}
