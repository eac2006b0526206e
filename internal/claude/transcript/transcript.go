package transcript

import (
	"bytes"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// line is one line of a transcript, as far as it is used here.
type line struct {
	Type             string `json:"type"`
	IsMeta           bool   `json:"isMeta"`
	IsSidechain      bool   `json:"isSidechain"` // of a subagent
	IsCompactSummary bool   `json:"isCompactSummary"`
	PromptID         string `json:"promptId"`        // the user's prompt that it belongs to; absent in 2.1.197
	SourceToolUseID  string `json:"sourceToolUseID"` // the call that added the line
	Message          struct {
		Content jsontext.Value `json:"content"`
	} `json:"message"`
	Origin     jsontext.Value `json:"origin"`
	Attachment jsontext.Value `json:"attachment"`
}

// LastAssistantText returns the last text that the model wrote, "" if there is
// none.
func LastAssistantText(path string) string {
	found := ""
	backwards(path, func(raw []byte) bool {
		if l, ok := parse(raw, "assistant"); ok {
			found = textOf(l.Message.Content)
		}
		return strings.TrimSpace(found) == ""
	})
	return found
}

// The client writes its transcript a little later than it calls hooks. In a short
// turn (2.1.329) even the user's prompt can be missing when Stop hooks run. Stop hooks
// have five seconds.
const (
	waitAtMost = 2 * time.Second
	waitStep   = 20 * time.Millisecond
)

// LastUserText returns what the user said last, "" if nothing. promptID is the
// prompt_id of the event, which may be empty: while the transcript ends before
// that prompt, LastUserText reads it again, for two seconds at most. known is false if
// the prompt is not there even then.
//
// Results of tools, additions of the client, notifications of background tasks
// (fact 42) and feedback of hooks are in the transcript in the user's name as
// well; they are skipped. A slash command is the last thing that the user said, and
// has no text: its name and its arguments are not a message.
func LastUserText(path, promptID string) (text string, known bool) {
	if path == "" {
		return "", true
	}
	return await(waitAtMost, func() (string, bool) { return lastUserText(path, promptID) })
}

// await calls read until the transcript is up to date, or time is over.
func await(wait time.Duration, read func() (text string, stale bool)) (text string, current bool) {
	for end := time.Now().Add(wait); ; time.Sleep(waitStep) {
		text, stale := read()
		if !stale || time.Now().After(end) {
			return text, !stale
		}
	}
}

// lastUserText reads the transcript once. stale reports that it ends before the
// prompt of promptID.
func lastUserText(path, promptID string) (text string, stale bool) {
	current, said := promptID == "", false
	backwards(path, func(raw []byte) bool {
		l, ok := parse(raw, "user")
		if ok {
			text = l.prompt()
		} else if bytes.Contains(raw, []byte(queuedCommand)) {
			l, ok = parse(raw, "attachment")
			text = l.queuedPrompt()
		}
		said = text != ""
		current = current || ok && l.PromptID == promptID
		current = current || said && l.PromptID == "" // 2.1.197: nothing to compare
		return !said
	})
	if IsCommand(text) {
		text = ""
	}
	return text, !current
}

// parse reads a line of the given type. It looks for the type's name first, for
// most lines are of another and can be long.
func parse(raw []byte, kind string) (line, bool) {
	var l line
	if !bytes.Contains(raw, []byte(kind)) || json.Unmarshal(raw, &l, jsonx.Tolerant) != nil {
		return line{}, false
	}
	return l, l.Type == kind
}

// prompt returns the user's own words of a message, "" if it is not their own.
func (l line) prompt() string {
	if l.IsMeta || l.IsSidechain || l.IsCompactSummary || jsonx.StringMember(l.Origin, "kind") == "task-notification" {
		return ""
	}
	return ownWords(textOf(l.Message.Content))
}

// queuedCommand is the type of an attachment that waits for the model.
const queuedCommand = "queued_command"

// queuedPrompt returns what the user said while the model was working. The client
// passes it on within the turn and stores it as an attachment (2.1.329).
func (l line) queuedPrompt() string {
	if l.IsSidechain || jsonx.StringMember(l.Attachment, "type") != queuedCommand {
		return ""
	}
	if mode := jsonx.StringMember(l.Attachment, "commandMode"); mode != "" && mode != "prompt" {
		return ""
	}
	return ownWords(textOf(jsonx.Member(l.Attachment, "prompt")))
}

// ownWords returns "" for a text that the client wrote in the user's name.
func ownWords(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "Stop hook feedback") || strings.HasPrefix(text, "<task-notification>") {
		return ""
	}
	return text
}

// textOf joins the text of a message's content, a string or an array of blocks. A
// message with the result of a tool has none, and reminders that the client
// inserts are left out.
func textOf(content jsontext.Value) string {
	var text string
	if json.Unmarshal(content, &text, jsonx.Tolerant) == nil {
		return text
	}
	var blocks []jsontext.Value
	_ = json.Unmarshal(content, &blocks, jsonx.Tolerant) // content of another type has no text
	var texts []string
	for _, b := range blocks {
		text := jsonx.StringMember(b, "text")
		switch kind := jsonx.StringMember(b, "type"); {
		case kind == "tool_result":
			return ""
		case kind == "text" && !strings.HasPrefix(text, "<system-reminder>"):
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}
