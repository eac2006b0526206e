package guard

import (
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// What H11a and H11b ask first: may this turn end whatever its files say?

// stopRows are the rows that both tables begin with.
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
	running  bool
	lastWord string // what the user said last
}

// stopFacts reads the transcript only if there is something to hold.
func (c *call) stopFacts() stopFacts {
	facts := stopFacts{state: c.readState()}
	if !facts.state.Exists {
		return facts
	}
	facts.running = runs(c.event.BackgroundTasks)
	transcript := absolute(c.event.TranscriptPath, c.place.cwd)
	facts.lastWord = awaitText(func() (string, bool) { return lastUserText(transcript, c.event.PromptID) })
	c.fact("last user message", cutRunes(facts.lastWord, 200))
	return facts
}

// decide is rows 1 to 3; false if none of them holds.
func (f stopFacts) decide() (Verdict, bool) {
	switch {
	case !f.state.Exists:
		return passed(1, "No state file, planning not started"), true
	case f.running:
		return passed(2, "A background task is running"), true
	case asksToStop(f.lastWord):
		return passed(3, "The user asked to stop"), true
	}
	return Verdict{}, false
}

func runs(backgroundTasks []byte) bool {
	var tasks []jsontext.Value
	_ = json.Unmarshal(backgroundTasks, &tasks, lenient) // what is no list runs nothing
	return slices.ContainsFunc(tasks, func(t jsontext.Value) bool { return textMember(t, "status") == "running" })
}

// maxStopWords is how long a request to stop may be: "exit" in a long message
// is about something else.
const maxStopWords = 8

func asksToStop(text string) bool {
	if len(strings.Fields(text)) > maxStopWords {
		return false
	}
	stop := false
	for _, word := range strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(text, "’", "'")), notInWord) {
		switch strings.Trim(word, "'") {
		case "stop", "quit", "abort", "exit":
			stop = true
		case "not", "don't", "dont", "never", "without":
			return false
		}
	}
	return stop
}

func notInWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' }
