package state

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestMissedSinceTheWorkflowBegan: what was missed of an earlier one in the list is nobody's any more, and what is no time is nothing.
func TestMissedSinceTheWorkflowBegan(t *testing.T) {
	s := &State{Steps: []*Current{{Workflow: &workflow.Workflow{Began: time.Unix(1000, 500)}}},
		missed: parseMissed([]byte("999\n1000\nno time\n\n1030\n99999999999999999999\n1090"))}
	m, ok := s.Missed()
	assert.True(t, ok)
	assert.Equal(t, Missed{First: time.Unix(1000, 0), Last: time.Unix(1090, 0), Events: 3}, m)
	assert.Regexp(t, `^fsmtx could not be run from [-0-9]+ [0-9]+:16 to [-0-9]+ [0-9]+:18 \(events: 3\): no hook saw what was done then$`,
		m.String())
	s.missed = parseMissed([]byte("999\n"))
	_, ok = s.Missed()
	assert.False(t, ok)
}
