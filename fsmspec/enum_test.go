package fsmspec_test

import (
	"encoding"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
)

// checkEnum checks the methods of an enum. words are those of its values, from 0.
func checkEnum[E interface {
	~int
	encoding.TextMarshaler
	String() string
}, P interface {
	*E
	encoding.TextUnmarshaler
}](t *testing.T, name string, words ...string) {
	t.Helper()
	for i, word := range words {
		assert.Equal(t, word, E(i).String())
		text, err := E(i).MarshalText()
		require.NoError(t, err)
		assert.Equal(t, word, string(text))
		value := E(99)
		require.NoError(t, P(&value).UnmarshalText(text))
		assert.Equal(t, E(i), value)
	}
	for _, beyond := range []E{-1, E(len(words))} {
		_, err := beyond.MarshalText()
		require.ErrorContains(t, err, "is not a "+name)
		assert.Contains(t, beyond.String(), name+"(")
	}
	value := E(1)
	require.ErrorContains(t, P(&value).UnmarshalText([]byte("Nonsense")), `unknown `+name+` "Nonsense": want `+words[0])
	assert.Equal(t, E(1), value, "unchanged after an error")
}

func TestEnums(t *testing.T) {
	checkEnum[fsmspec.Status](t, "status", "pending", "in_progress", "completed")
	checkEnum[fsmspec.Scope](t, "scope", "all", "skill")
	checkEnum[fsmspec.Active](t, "policy for active tasks", "reset", "refuse")

	var status fsmspec.Status
	require.EqualError(t, status.UnmarshalText(nil), `unknown status "": want pending, in_progress or completed`)
	_, err := fsmspec.Scope(7).MarshalText()
	require.EqualError(t, err, "7 is not a scope")
	assert.Equal(t, "scope(7)", fsmspec.Scope(7).String())
}
