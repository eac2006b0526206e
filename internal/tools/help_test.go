package tools

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWrapped(t *testing.T) {
	assert.Equal(t, `A paragraph of several lines
is filled.

  term   a text that is broken
         where it has to be,
         and joined
  other  short

Flags:
      --a-very-long-flag
          a text that is long

  fsmtx step
      # a comment that is
      # too long
  fsmtx status --list
      0b54e1c2
`, wrapped(`A paragraph of several
lines is filled.

  term   a text that is broken where it has to be,
         and joined
  other  short

Flags:
      --a-very-long-flag   a text that is long

  fsmtx step       # a comment that is too long
  fsmtx status --list 0b54e1c2
`, 30))
}
