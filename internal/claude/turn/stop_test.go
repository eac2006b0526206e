package turn

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRequested(t *testing.T) {
	words := DefaultWords()
	for _, text := range lines(stops) {
		assert.True(t, words.Requested(text), "a request to stop: %s", text)
	}
	for _, text := range append(lines(noStops), "", "Build the login page.\nThen stop.", "```\nstop\n```", "the log says:\n```\nstop\nstop") {
		assert.False(t, words.Requested(text), "no request to stop: %s", text)
	}
}
