package files

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/jsonx/commented"
)

// Members returns what a settings file says, which may be missing, blank, or have comments: its members without empty
// containers, which have no effect.
func Members(t require.TestingT, data []byte) (all map[string]any) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(bytes.TrimSpace(data)) == 0 {
		return map[string]any{}
	}
	plain, err := commented.Plain(data)
	require.NoError(t, err, "%s", data)
	require.NoError(t, json.Unmarshal(plain, &all, jsontext.AllowInvalidUTF8(true)), "%s", data)
	fill(all)
	return all
}

// fill removes the empty containers of an object.
func fill(o map[string]any) {
	for name, value := range o {
		inner, isObject := value.(map[string]any)
		list, isList := value.([]any)
		if isObject {
			fill(inner)
		}
		if isObject && len(inner) == 0 || isList && len(list) == 0 {
			delete(o, name)
		}
	}
}
