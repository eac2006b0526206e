package fsmspec_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
)

func TestStatusesAreWords(t *testing.T) {
	for i, word := range []string{"pending", "in_progress", "completed"} {
		assert.Equal(t, word, fsmspec.Status(i).String())
		text := must(fsmspec.Status(i).MarshalText())
		assert.Equal(t, word, string(text))
		value := fsmspec.Status(99)
		require.NoError(t, value.UnmarshalText(text))
		assert.Equal(t, fsmspec.Status(i), value)
	}
	for _, beyond := range []fsmspec.Status{-1, 3} {
		_, err := beyond.MarshalText()
		require.ErrorContains(t, err, "is not a status")
		assert.Contains(t, beyond.String(), "status(")
	}
	value := fsmspec.Pending + 1
	require.EqualError(t, value.UnmarshalText(nil), `unknown status "": want pending, in_progress or completed`)
	assert.Equal(t, fsmspec.Pending+1, value, "unchanged after an error")
}
