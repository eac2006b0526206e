package terminal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/terminal"
)

func TestMessagesAreEscaped(t *testing.T) {
	var out, errs strings.Builder
	s := terminal.Streams{Out: &out, Err: &errs}
	s.Errorf("failed on %s\n", "a\x1bb\xff\nhint: c")
	s.Hintf("remove %s", "\x07\n")
	require.NoError(t, s.Printf("%s: %d\n", "a\nb", 1))
	assert.Equal(t, "fsmtx: failed on a\\x1bb\\xff\\nhint: c\nhint: remove \\a\\n\n", errs.String())
	assert.Equal(t, "a\\nb: 1\n", out.String())
}

func TestHintIsOneLine(t *testing.T) {
	assert.Equal(t, "hint: a\\nhint: b\n", terminal.Hint("a\nhint: b"))
	assert.Equal(t, "fsmtx: a\n  b\\u202e\n", terminal.Message("a\n  b\u202e\n"))
}
