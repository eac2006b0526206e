package command_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/command"
)

// TestJSONIsTheSameAtEachCall, also where a member has members by name.
func TestJSONIsTheSameAtEachCall(t *testing.T) {
	values := map[string]string{"d": "", "b": "", "a": "", "c": "", "f": "", "e": ""}
	for range 50 {
		var out strings.Builder
		require.NoError(t, command.PrintJSON(&out, values))
		assert.Equal(t, `{"a":"","b":"","c":"","d":"","e":"","f":""}`, strings.NewReplacer(" ", "", "\n", "").Replace(out.String()))
	}
}
