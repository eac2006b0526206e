package rules

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestARequestToStop(t *testing.T) {
	for text, want := range map[string]bool{
		"stop":                                   true,
		"Please stop.":                           true,
		"Abort!":                                 true,
		"QUIT now":                               true,
		"let us stop here for today, thanks":     true,
		"one two three four five six seven stop": false,

		// It begins with a stop word.
		"Stop, don't continue.":                          true,
		"stop working on the plan and go home, everyone": true,
		"cancel that": true,
		"Pause. I must look at the design first.": true,
		"halt":              true,
		"Stopp!":            true,
		"Arrêtez tout":      true,
		"detente por favor": true,
		"стоп":              true,
		"停止してください":          true,
		"やめて":               true,
		"取消这个计划":            true,
		"그만해":               true,

		// Stopping is all that it asks for.
		"please stop here without finishing the plan": true,
		"OK, that's enough. Please stop.":             true,
		"I have to go. Can you stop now?":             true,
		"I want to quit":                              true,
		"You can stop the workflow now, thanks":       true,
		"bitte jetzt abbrechen":                       true,

		// It only mentions stopping, or asks to stop something else.
		"How do I stop the server?":                         false,
		"Why did you stop?":                                 false,
		"Should we stop?":                                   false,
		"please stop the server":                            false,
		"I want an app that helps people quit":              false,
		"an app that helps people quit":                     false,
		"Build the login. Then please stop the old service": false,
		"the emergency-stop button must be red":             false,
		"Add an exit button":                                false,
		"please never stop":                                 false,
		"unstoppable":                                       false,
		"Para el plan usa PostgreSQL":                       false,
		"don't stop until tasks.md exists":                  false,
		"don’t stop":                                        false,
		"do not quit":                                       false,
		"never stop":                                        false,
		"without exit":                                      false,
		"nonstop work":                                      false,
		"stopped?":                                          false,
		"continue":                                          false,
		"":                                                  false,
	} {
		assert.Equal(t, want, defaults.Stop.requested(text), text)
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
