package transcript

import (
	"bytes"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// LastCall returns when a skill or command of that kind was last called in the
// session, by the model's Skill tool or typed with a slash. is is given the name
// without the slash. The time is zero if the transcript has none for the call.
//
// promptID is the prompt_id of the event, which may be empty: while there is no call and
// the transcript ends before that prompt, which may be one, LastCall reads it again, for
// two seconds at most.
//
// The client copies the lines of a forked session into the new one's transcript, with
// the new session's id but the old times (2.1.329). A call that is older than the
// transcript's beginning was the other session's and is not returned.
func LastCall(path, promptID string, is func(name string) bool) (at time.Time, found bool) {
	if path == "" {
		return time.Time{}, false
	}
	await(waitAtMost, func() (text string, stale bool) {
		if at, found = lastCall(path, is); !found {
			_, stale = lastUserText(path, promptID)
		}
		return "", stale
	})
	return at, found
}

// lastCall reads the transcript once.
func lastCall(path string, is func(name string) bool) (at time.Time, found bool) {
	backwards(path, func(raw []byte) bool {
		if calls(raw, is) {
			at, found = timeOf(raw), true
		}
		return !found
	})
	if found && !at.IsZero() && at.Before(begun(path).Add(-slack)) {
		return time.Time{}, false
	}
	return at, found
}

// slack is how far the first lines of a transcript are out of order.
const slack = 2 * time.Second

// calls reports whether the line is a call of the kind. It looks for text that every
// call has first, because it is asked about each line of a transcript.
func calls(raw []byte, is func(string) bool) bool {
	if bytes.Contains(raw, []byte(commandTag)) {
		l, ok := parse(raw, "user")
		name := commandName(textOf(l.Message.Content))
		return ok && !l.IsMeta && name != "" && is(name)
	}
	if !bytes.Contains(raw, []byte(`"Skill"`)) {
		return false
	}
	l, ok := parse(raw, "assistant")
	var blocks []jsontext.Value
	_ = json.Unmarshal(l.Message.Content, &blocks, jsonx.Tolerant) // content of another type has no calls
	for _, b := range blocks {
		if ok && jsonx.StringMember(b, "type") == "tool_use" && jsonx.StringMember(b, "name") == "Skill" &&
			is(strings.TrimPrefix(jsonx.StringMember(jsonx.Member(b, "input"), "skill"), "/")) {
			return true
		}
	}
	return false
}

// commandTag is in each message that stands for a typed command (2.1.329):
// <command-message>…</command-message>\n<command-name>/name</command-name>\n<command-args>…
const commandTag = "<command-name>"

// commandName returns the name of the command that the user typed, without the slash,
// "" for another message.
func commandName(text string) string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "<command-") {
		return ""
	}
	_, rest, _ := strings.Cut(text, commandTag)
	name, _, _ := strings.Cut(rest, "</command-name>")
	return strings.TrimPrefix(strings.TrimSpace(name), "/")
}

// IsCommand reports whether a text is a command with its arguments, as the user types
// it or as the client stores it, and not a message: /name and words. A path is not one.
func IsCommand(text string) bool {
	if commandName(text) != "" {
		return true
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	name, slash := strings.CutPrefix(first, "/")
	return slash && name != "" && !strings.Contains(name, "/")
}

// timeOf returns the time of a line, zero if it has none.
func timeOf(raw []byte) time.Time {
	at, err := time.Parse(time.RFC3339, jsonx.StringMember(raw, "timestamp"))
	if err != nil {
		return time.Time{}
	}
	return at
}

// maxBeginning bounds what is read of the beginning, in bytes.
const maxBeginning = 64 << 10

// begun returns the time of the first line that has one, zero if it is not near the
// beginning.
func begun(path string) time.Time {
	f, err := safefile.Open(path, os.O_RDONLY)
	if err != nil {
		return time.Time{}
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, maxBeginning))
	if err != nil {
		return time.Time{}
	}
	for raw := range bytes.Lines(head) {
		if at := timeOf(raw); !at.IsZero() {
			return at
		}
	}
	return time.Time{}
}
