package client

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

const callOfSkill = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use",` +
	`"name":"Skill","input":{"skill":"%s"}}]}}`

func TestLastCallFindsSkillsAndTypedCommands(t *testing.T) {
	ours := func(name string) bool { return strings.HasPrefix(name, "mine:") }
	chat := fmt.Sprintf(prompted, "hello")
	for name, c := range map[string]struct {
		lines []string
		want  bool
	}{
		"nothing":         {nil, false},
		"typed":           {[]string{typed("mine:plan", "x"), chat, ""}, true},
		"typed, another":  {[]string{typed("plan", "mine:plan"), chat}, false},
		"called":          {[]string{chat, fmt.Sprintf(callOfSkill, "mine:plan"), toolDone}, true},
		"called, another": {[]string{fmt.Sprintf(callOfSkill, "plan")}, false},
		"the agent of that name": {[]string{`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Agent",` +
			`"input":{"subagent_type":"mine:x","prompt":"\"Skill\""}}]}}`}, false},
		"the user quotes a command": {[]string{fmt.Sprintf(prompted, "what is <command-name>/mine:plan</command-name>?")}, false},
		"a tool prints one": {[]string{`{"type":"user","message":{"content":[{"type":"tool_result",` +
			`"content":"<command-name>/mine:plan</command-name>"}]}}`}, false},
		"foreign lines": {[]string{`"Skill"`, `{"type":"assistant","message":{"content":"\"Skill\""}}`, "<command-name>"}, false},
	} {
		_, found := LastCall(transcript(t, c.lines...), "", ours)
		assert.Equal(t, c.want, found, name)
	}
}

func TestLastCallReturnsTheTimeAndIgnoresCallsThatAForkCopied(t *testing.T) {
	at := func(time, line string) string {
		return strings.Replace(line, "{", `{"timestamp":"2026-11-21T23:15:`+time+`Z",`, 1)
	}
	ours := func(name string) bool { return name == "plan" }
	call := typed("plan", "")

	when, found := LastCall(transcript(t, `{"type":"mode"}`, at("40.533", toolUse), at("40.486", meta), at("40.7", call), at("44", call),
		at("50", toolUse)), "", ours)
	assert.True(t, found)
	assert.Equal(t, "44", when.Format("05"))

	copied := []string{`{"type":"mode"}`, at("46.7", toolUse), at("40.5", meta), at("40.7", call)}
	_, found = LastCall(transcript(t, copied...), "", ours)
	assert.False(t, found, "called in the other session")
	_, found = LastCall(transcript(t, append(copied, at("47", call))...), "", ours)
	assert.True(t, found, "then called in this one")
}

func TestIsCommand(t *testing.T) {
	for text, want := range map[string]bool{
		"/plan emergency-stop button": true, "/clear": true, " /mine:plan x": true,
		"<command-name>/clear</command-name>":                                         true,
		"<command-message>plan</command-message>\n<command-name>/plan</command-name>": true,
		"/tmp/x": false, "/": false, "": false, "stop": false, "see /plan": false, "/ plan": false,
	} {
		assert.Equal(t, want, isCommand(text), text)
	}
}

// TestLastCallWaitsForThePrompt: the command that the user has just typed may still be
// missing in the transcript.
func TestLastCallWaitsForThePrompt(t *testing.T) {
	ours := func(name string) bool { return name == "mine:plan" }
	withID := func(line, id string) string {
		return strings.Replace(line, `{"type"`, `{"promptId":"`+id+`","type"`, 1)
	}
	earlier := withID(fmt.Sprintf(prompted, "hello"), "1")
	for name, c := range map[string]struct {
		promptID, later string
		want            bool
		waits           time.Duration
	}{
		"the command comes":       {"2", withID(typed("mine:plan", "x"), "2"), true, 100 * time.Millisecond},
		"another prompt comes":    {"2", withID(fmt.Sprintf(prompted, "hi"), "2"), false, 100 * time.Millisecond},
		"nothing comes":           {"2", withID(fmt.Sprintf(prompted, "hi"), "1"), false, 2 * time.Second},
		"the prompt is there":     {"1", withID(typed("mine:plan", "x"), "2"), false, 0},
		"the prompt is not known": {"", withID(typed("mine:plan", "x"), "2"), false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			whileWriting(t, earlier, c.later, c.waits, func(path string) {
				_, found := LastCall(path, c.promptID, ours)
				assert.Equal(t, c.want, found)
			})
		})
	}
	_, found := LastCall("", "2", ours)
	assert.False(t, found)
}
