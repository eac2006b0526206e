package mcp

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLinesThatAreNoMessagesAreAnswered(t *testing.T) {
	const first, second = `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	for name, c := range map[string]struct {
		line string
		code string // of the answer; empty for none
		id   string // of the answer; empty for null
	}{
		"malformed":               {`{"jsonrpc":`, "-32700", ""},
		"no JSON":                 {`hello`, "-32700", ""},
		"a batch":                 {"[" + first + "]", "-32600", ""},
		"no message":              {`{}`, "-32600", ""},
		"a number":                {`7`, "-32600", ""},
		"too long":                {`{"jsonrpc":"2.0","method":"` + strings.Repeat("x", maxLine) + `","id":"a\"b"}`, "-32600", `"a\"b"`},
		"far too long":            {`{"jsonrpc":"2.0","id":3,"method":"` + strings.Repeat("x", maxKept) + `"}`, "-32600", ""},
		"no version":              {`{"id":3,"method":"ping"}`, "-32600", "3"},
		"a long answer":           {`{"jsonrpc":"2.0","id":3,"result":"` + strings.Repeat("x", maxLine) + `"}`, "-32600", ""},
		"a large id":              {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "-32600", "9007199254740993"},
		"a broken id":             {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "-32600", "1.5"},
		"an id that is not UTF-8": {"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", "-32600", ""},
		"half a character as id":  {`{"jsonrpc":"2.0","id":"\ud800","method":"ping"}`, "-32600", ""},
		"an id of no type":        {`{"jsonrpc":"2.0","id":[1],"method":"ping"}`, "-32600", ""},
		"an empty line":           {"", "", ""},
		"only white space":        {" \t\r", "", ""},
	} {
		var out bytes.Buffer
		got, err := io.ReadAll(newInbox(io.NopCloser(strings.NewReader(first+"\n"+c.line+"\n"+second)), &out))
		require.NoError(t, err, name)
		assert.Equal(t, first+"\n"+second+"\n", string(got), name)
		want := errors.New("gone")
		_, err = io.ReadAll(newInbox(io.NopCloser(strings.NewReader(c.line+"\n")), failing{want}))
		assert.Equal(t, c.code != "", errors.Is(err, want), "%s: an error that cannot be told ends the reading", name)
		if c.code == "" {
			assert.Empty(t, out.String(), name)
			continue
		}
		assert.Equal(t, 1, strings.Count(out.String(), "\n"), name)
		assert.Contains(t, out.String(), `"id":`+cmp.Or(c.id, "null")+`,"error":{"code":`+c.code+`,`, name)
	}
}
