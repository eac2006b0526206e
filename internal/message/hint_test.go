package message_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/message"
)

func TestTheOutermostAdviceCounts(t *testing.T) {
	cause := message.NewError("locked", "wait")
	assert.Equal(t, "wait", message.Hint(cause))
	assert.Equal(t, "wait", message.Hint(errors.Join(errors.New("x"), fmt.Errorf("file: %w", cause))))
	outer := message.WithHint(fmt.Errorf("file: %w", cause), "end the other program")
	assert.Equal(t, "end the other program", message.Hint(outer))
	assert.ErrorIs(t, outer, cause)
	assert.Equal(t, "file: locked", outer.Error())
	assert.Empty(t, message.Hint(errors.New("x")))
	assert.NoError(t, message.WithHint(nil, "x"))
}
