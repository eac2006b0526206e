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
	for _, text := range []string{"> Shall I go on with the tests?\n\nNo, stop.", "stop\n\n> Next: the tests"} {
		assert.True(t, words.Requested(text), "a request to stop below or above a quotation: %s", text)
	}
	for _, text := range append(lines(noStops), "", "Build the login page.\nThen stop.", "```\nstop\n```", "the log says:\n```\nstop\nstop",
		"> stop\n\nNo, go on.", "  > Please stop here\n  > for today\n\nWho said that?", "> stop") {
		assert.False(t, words.Requested(text), "no request to stop: %s", text)
	}
}
