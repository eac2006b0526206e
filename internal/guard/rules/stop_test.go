package rules

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAsksToStop(t *testing.T) {
	for text, want := range map[string]bool{
		"stop":                                   true,
		"Please stop.":                           true,
		"Abort!":                                 true,
		"QUIT now":                               true,
		"let us stop here for today, thanks":     true,
		"one two three four five six seven stop": false,
		"don't stop until tasks.md exists":       false,
		"don’t stop":                             false,
		"do not quit":                            false,
		"never stop":                             false,
		"without exit":                           false,
		"nonstop work":                           false,
		"stopped?":                               false,
		"continue":                               false,
		"":                                       false,
	} {
		assert.Equal(t, want, defaults.Stop.asks(text), text)
	}
}

func TestIsRunning(t *testing.T) {
	for text, want := range map[string]bool{
		``: false, `null`: false, `[]`: false, `{}`: false, `"running"`: false,
		`[{"status":"completed"}]`:                                                  false,
		`[{"status":"completed"},{"status":"running"}]`:                             true,
		`[7, null, "running", {"status":"running"}]`:                                true,
		`[{"status":["running"]}, {"state": "running"}]`:                            false,
		`[{"type":"shell","status":"running"}]`:                                     false,
		`[{"type":"shell","status":"running"},{"type":"agent","status":"running"}]`: true,
	} {
		assert.Equal(t, want, isRunning([]byte(text)), text)
	}
}
