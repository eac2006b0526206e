package client

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestQuestion(t *testing.T) {
	for message, want := range map[string]string{
		"Shall I go on?": "Shall I go on?",
		"Two files differ.\n\n**Which one is right?**": "Which one is right?",
		"Which one?\n\n1. the first\n2. the second":    "Which one?",
		"Which one?\n- the first\n- the second\n":      "Which one?",
		"Which one?\n\n(a) this\n(b) that":             "Which one?",
		"Which one? (a or b)":                          "Which one?",
		"Shall I publish it? I can also wait.":         "Shall I publish it?",
		"Shall I publish it?\n\nLet me know.":          "Shall I publish it?",
		"Soll ich weitermachen?":                       "Soll ich weitermachen?",
		"继续吗？":                                         "继续吗？",
		"هل أستمر؟":                                    "هل أستمر؟",
		"¿Sigo?":                                       "¿Sigo?",
		"```\ncode\n```\nIs that right?":               "Is that right?",
		"Really?!":                                     "Really?",
		"Done.":                                        "",
		"":                                             "",
		"See https://example.org/?q=1":                 "",
		"Does it work? I tried it, and it does: all the tests pass, the page loads, and the report that you asked for is in the " +
			"folder out, beside the old one.": "",
		"Does it work?\n\nYes. It builds, and all tests pass, also those of the other package, and the server starts in the " +
			"container, too.\n\nAll is done.": "",
		"The pattern is `a?`":   "",
		"```\nregexp: .*?\n```": "",
		"```\nwhat?\n":          "",
	} {
		assert.Equal(t, want, Question(message), message)
	}
}

func TestOthersRun(t *testing.T) {
	for text, want := range map[string]bool{
		``: false, `null`: false, `[]`: false, `{}`: false, `"running"`: false,
		`[{"status":"completed"}]`:                                                  false,
		`[{"status":"completed"},{"status":"running"}]`:                             true,
		`[7, null, "running", {"status":"running"}]`:                                true,
		`[{"status":["running"]}, {"state": "running"}]`:                            false,
		`[{"type":"shell","status":"running"}]`:                                     false,
		`[{"type":"shell","status":"running"},{"type":"agent","status":"running"}]`: true,
		`[{"type":"monitor","status":"running"}]`:                                   false,
		`[{"id":"me","type":"subagent","status":"running"}]`:                        false,
		`[{"id":"you","type":"subagent","status":"running"}]`:                       true,
	} {
		assert.Equal(t, want, OthersRun([]byte(text), "me"), text)
	}
}

func TestWakes(t *testing.T) {
	for text, want := range map[string]bool{
		``: false, `null`: false, `[]`: false, `[7]`: false, `[{}]`: false,
		`[{"id":"a","schedule":"*/5 * * * *","recurring":true,"prompt":"p"}]`: false,
		`[{"recurring":true},{"recurring":false}]`:                            true,
	} {
		assert.Equal(t, want, Wakes([]byte(text)), text)
	}
}
