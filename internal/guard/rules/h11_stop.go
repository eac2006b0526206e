package rules

import (
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/claude/transcript"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/paths"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// The tables of H11a and H11b begin with the same rows: in these cases the turn may
// end whatever the workflow's files hold.

func stopRows(own ...string) []string {
	return append([]string{
		"no state file",
		"a background task is running: the turn ends and is resumed",
		"the user asked to stop",
	}, own...)
}

// stopFacts are the facts of those rows.
type stopFacts struct {
	state    State
	running  bool   // a background task is running
	lastText string // what the user said last
}

// stopFacts reads the transcript only if there is a workflow.
func (c *call) stopFacts() stopFacts {
	facts := stopFacts{state: c.readState()}
	if !facts.state.Exists {
		return facts
	}
	facts.running = isRunning(c.Event.BackgroundTasks)
	facts.lastText = transcript.LastUserText(paths.Absolute(c.Event.TranscriptPath, c.place.cwd), c.Event.PromptID)
	c.Fact("last user message", guard.Truncate(facts.lastText, 200))
	return facts
}

// decide is rows 1 to 3; it returns false if none of them holds.
func (f stopFacts) decide(config Config) (guard.Verdict, bool) {
	switch {
	case !f.state.Exists:
		return guard.Pass(1, "No state file, planning not started"), true
	case f.running:
		return guard.Pass(2, "A background task is running"), true
	case config.asksToStop(f.lastText):
		return guard.Pass(3, "The user asked to stop"), true
	}
	return guard.Verdict{}, false
}

// isRunning reports whether one of the event's background_tasks is running
// (fact 40).
func isRunning(backgroundTasks []byte) bool {
	var tasks []jsontext.Value
	_ = json.Unmarshal(backgroundTasks, &tasks, jsonx.Tolerant) // anything but an array has no tasks
	return slices.ContainsFunc(tasks, func(t jsontext.Value) bool { return jsonx.StringMember(t, "status") == "running" })
}

// asksToStop reports whether a message is a request to stop: a short one, because
// "exit" in a long message is about something else.
func (config Config) asksToStop(text string) bool {
	if len(strings.Fields(text)) > config.MaxStopWords {
		return false
	}
	stop := false
	for _, word := range strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(text, "’", "'")), notInWord) {
		switch word = strings.Trim(word, "'"); {
		case slices.Contains(config.KeepGoing, word):
			return false
		case slices.Contains(config.StopWords, word):
			stop = true
		}
	}
	return stop
}

func notInWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' }
