package client

import (
	"bytes"
	"io"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// LastCall returns when a skill or command with a matching name was last called in the
// session, by the model's Skill tool or by the user with a slash. matches gets the name
// without the slash. at is zero if the transcript has no time for the call.
//
// promptID is the prompt_id of the event, which may be empty. The call may be that
// prompt: while there is no call and the transcript does not contain the prompt, LastCall
// reads it again, for at most two seconds, if the client writes it.
//
// When a session is forked, the client copies its lines into the new transcript, with the
// new session's id but the old times (client 2.1.329). A call that is older than the
// transcript's beginning belongs to the other session and is not returned.
func LastCall(path, promptID string, matches func(name string) bool) (at time.Time, found bool) {
	if path == "" {
		return time.Time{}, false
	}
	search(path, promptID, waitAtMost, func() bool {
		at, found = lastCall(path, matches)
		return found
	})
	return at, found
}

// lastCall reads the transcript once.
func lastCall(path string, matches func(name string) bool) (at time.Time, found bool) {
	backwards(path, maxSession, func(raw []byte) bool {
		if calls(raw, matches) {
			at, found = timeOf(raw), true
		}
		return !found
	})
	if found && !at.IsZero() && at.Before(begun(path).Add(-slack)) {
		return time.Time{}, false
	}
	return at, found
}

// slack is how far the times of the first lines of a transcript may be out of order.
const slack = 2 * time.Second

// calls reports whether the line calls a skill or command with a matching name. To be
// fast it first searches for a text that every call contains.
func calls(raw []byte, matches func(name string) bool) bool {
	if bytes.Contains(raw, []byte(commandTag)) {
		l, ok := parse(raw, "user")
		name := commandName(textOf(l.Content))
		return ok && !l.IsMeta && name != "" && matches(name)
	}
	if !bytes.Contains(raw, []byte(`"Skill"`)) {
		return false
	}
	l, ok := parse(raw, "assistant")
	if !ok {
		return false
	}
	for _, call := range skillCalls(l.Content) {
		if matches(call.name) {
			return true
		}
	}
	return false
}

// calledSkill is a call of the Skill tool: the skill's name, without a slash, and the arguments.
type calledSkill struct{ name, args string }

// skillCalls iterates over the calls of the Skill tool in a message of the model, with the id
// of each call.
func skillCalls(content jsontext.Value) iter.Seq2[string, calledSkill] {
	return func(yield func(id string, call calledSkill) bool) {
		for _, b := range blocksOf(content) {
			if jsonx.StringMember(b, "type") != "tool_use" || jsonx.StringMember(b, "name") != "Skill" {
				continue
			}
			input := jsonx.Member(b, "input")
			call := calledSkill{strings.TrimPrefix(jsonx.StringMember(input, "skill"), "/"), jsonx.StringMember(input, "args")}
			if !yield(jsonx.StringMember(b, "id"), call) {
				return
			}
		}
	}
}

// commandTag is in each message that the client stores for a typed command (client
// 2.1.329):
// <command-message>…</command-message>\n<command-name>/name</command-name>\n<command-args>…
const commandTag = "<command-name>"

// commandName returns the name of the command that the user typed, without the slash,
// "" for any other message.
func commandName(text string) string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "<command-") {
		return ""
	}
	_, rest, _ := strings.Cut(text, commandTag)
	name, _, _ := strings.Cut(rest, "</command-name>")
	return strings.TrimPrefix(strings.TrimSpace(name), "/")
}

// commandArgs returns the arguments of the command that the user typed.
func commandArgs(text string) string {
	_, rest, _ := strings.Cut(text, "<command-args>")
	args, _, _ := strings.Cut(rest, "</command-args>")
	return strings.TrimSpace(args)
}

// isCommand reports whether a text is a command with its arguments, as the user types it
// (/name and words) or as the client stores it, and not a message. A path such as /tmp/x
// is not a command.
func isCommand(text string) bool {
	if commandName(text) != "" {
		return true
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	name, slash := strings.CutPrefix(first, "/")
	return slash && name != "" && !strings.Contains(name, "/")
}

// timeOf returns the time of a line, zero if the line has none.
func timeOf(raw []byte) time.Time {
	at, err := time.Parse(time.RFC3339, jsonx.StringMember(raw, "timestamp"))
	if err != nil {
		return time.Time{}
	}
	return at
}

// maxBeginning bounds how much of the beginning is read, in bytes.
const maxBeginning = 64 << 10

// begun returns the first time in the transcript, zero if there is none near the
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
