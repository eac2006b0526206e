package hint_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/hint"
)

func TestTheOutermostAdviceCounts(t *testing.T) {
	cause := hint.New("locked", "wait")
	assert.Equal(t, "wait", hint.Of(cause))
	assert.Equal(t, "wait", hint.Of(errors.Join(errors.New("x"), fmt.Errorf("file: %w", cause))))
	outer := hint.With(fmt.Errorf("file: %w", cause), "end the other program")
	assert.Equal(t, "end the other program", hint.Of(outer))
	assert.ErrorIs(t, outer, cause)
	assert.Equal(t, "file: locked", outer.Error())
	assert.Empty(t, hint.Of(errors.New("x")))
	assert.NoError(t, hint.With(nil, "x"))
}
