package client

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// line is one line of a transcript, with the fields that are used here.
type line struct {
	IsMeta           bool
	IsSidechain      bool // of a subagent
	IsCompactSummary bool
	PromptID         string // the user's prompt that the line belongs to; absent in 2.1.197
	SourceToolUseID  string // the call that added the line
	Content          jsontext.Value
	Origin           jsontext.Value
	Attachment       jsontext.Value
}

// LastAssistantText returns the last text that the model wrote, "" if there is
// none.
func LastAssistantText(path string) string {
	found := ""
	backwards(path, maxSession, func(raw []byte) bool {
		if l, ok := parse(raw, "assistant"); ok {
			found = textOf(l.Content)
		}
		return strings.TrimSpace(found) == ""
	})
	return found
}

// The client writes the transcript a little later than it runs hooks (fact 47, client
// 2.1.329). In a short turn even the user's prompt can be missing when Stop hooks run.
// The wait is well below their timeout of five seconds.
const (
	waitAtMost = 2 * time.Second
	waitStep   = 20 * time.Millisecond
)

// lastMessage returns the last message of the user, "" if there is none. promptID is
// the prompt_id of the event, which may be empty. While the transcript does not contain
// that prompt, lastMessage reads it again, for at most two seconds, if the client writes it.
// known is false if the prompt is still missing then, or the turn is too long to find it.
//
// Tool results, additions of the client, notifications of background tasks (fact 42,
// client 2.1.329) and feedback of hooks are stored as messages of the user too; they are
// skipped. If the user's last input is a slash command, the text is "": its name and
// arguments are not a message.
func lastMessage(path, promptID string) (text string, known bool) {
	if path == "" {
		return "", true
	}
	var l lastText
	await(path, waitAtMost, func() (stale bool) {
		l = lastUserText(path, promptID, maxTurn)
		return l.stale()
	})
	return l.text, l.current && !l.cut
}

// inputs calls visit with what the user typed in this session, from the last input to the
// first, until visit returns false: messages as lastMessage reads them, and of a slash
// command its arguments. It does not wait for the client to write the transcript.
func inputs(path string, visit func(text string) bool) {
	backwards(path, maxTurn, func(raw []byte) bool {
		text, _ := input(raw)
		if name := commandName(text); name != "" {
			text = commandArgs(text)
		} else if isCommand(text) {
			_, text, _ = strings.Cut(strings.TrimSpace(text), " ")
		}
		return text == "" || visit(text)
	})
}

// AskedUser reports whether the last tool that the model called since the user's last input
// is AskUserQuestion.
func AskedUser(path string) (asked bool) {
	backwards(path, maxTurn, func(raw []byte) bool {
		if text, _ := input(raw); text != "" {
			return false
		}
		l, ok := parse(raw, "assistant")
		if !ok || l.IsSidechain {
			return true
		}
		for _, b := range slices.Backward(blocksOf(l.Content)) {
			if jsonx.StringMember(b, "type") == "tool_use" {
				asked = jsonx.StringMember(b, "name") == QuestionTool
				return false
			}
		}
		return true
	})
	return asked
}

// input returns what the user typed if the line contains it, else "".
func input(raw []byte) (text string, l line) {
	l, ok := parse(raw, "user")
	if ok {
		return l.prompt(), l
	}
	if bytes.Contains(raw, []byte(queuedCommand)) {
		l, _ = parse(raw, "attachment")
		return l.queuedPrompt(), l
	}
	return "", line{}
}

// await calls read until the transcript is up to date or the time is up, which begins with the first wait for it. It calls read once if
// the client does not write the transcript.
func await(path string, wait time.Duration, read func() (stale bool)) (current bool) {
	stale := read()
	if stale && !written(path) {
		return false
	}
	for end := waitingSince(path).Add(wait); stale && !time.Now().After(end); {
		time.Sleep(waitStep)
		stale = read()
	}
	return !stale
}

// waiting has when the first wait for a transcript began. An event has several questions to it, and what has not come by then is not
// waited for again.
var waiting sync.Map

func waitingSince(path string) time.Time {
	since, _ := waiting.LoadOrStore(path, time.Now())
	return since.(time.Time)
}

// search calls find until it has found something, the transcript contains the prompt, or the time is up.
func search(path, promptID string, wait time.Duration, find func() (found bool)) {
	await(path, wait, func() (stale bool) {
		if !find() {
			stale = lastUserText(path, promptID, chunkSize).stale()
		}
		return stale
	})
}

// written reports whether the client writes the transcript: it is there, or it may still come.
// The client creates it after the session's first hooks, as CONFIG/projects/PROJECT/SESSION.jsonl
// (client 2.1.329). Without persistence its events name such a path, too (fact 166).
func written(path string) bool {
	_, err := os.Lstat(path)
	return (err == nil || filepath.Base(filepath.Dir(filepath.Dir(path))) == "projects") && persists(os.LookupEnv)
}

// lastText is the last message of the user.
type lastText struct {
	text    string
	current bool // the transcript contains the prompt
	cut     bool // the turn is so long that its beginning was not read
}

// stale reports that the transcript does not contain the prompt yet.
func (l lastText) stale() bool { return !l.current && !l.cut }

// lastUserText reads at most limit bytes of the transcript, from its end.
func lastUserText(path, promptID string, limit int64) (last lastText) {
	last.current = promptID == ""
	last.cut = backwards(path, limit, func(raw []byte) bool {
		text, l := input(raw)
		found := text != ""
		last.text = text
		last.current = last.current || l.PromptID == promptID
		last.current = last.current || found && l.PromptID == "" // client 2.1.197 stores no ids
		return !found
	})
	if isCommand(last.text) {
		last.text = ""
	}
	return last
}

// parse parses a line of the given type. It searches for the type's name first, because
// most lines have another type and can be long. It decodes no struct: to prepare for that takes a
// hook with nothing to do longer than to read the lines.
func parse(raw []byte, kind string) (l line, ok bool) {
	if !bytes.Contains(raw, []byte(kind)) {
		return line{}, false
	}
	m, err := jsonx.Members(raw)
	if err != nil || textIn(m["type"]) != kind {
		return line{}, false
	}
	isTrue := func(name string) bool { return string(m[name]) == "true" }
	return line{
		IsMeta: isTrue("isMeta"), IsSidechain: isTrue("isSidechain"), IsCompactSummary: isTrue("isCompactSummary"),
		PromptID: textIn(m["promptId"]), SourceToolUseID: textIn(m["sourceToolUseID"]),
		Content: jsonx.Member(m["message"], "content"), Origin: m["origin"], Attachment: m["attachment"],
	}, true
}

// textIn returns the text of a JSON string, "" of another value.
func textIn(v jsontext.Value) (text string) {
	_ = json.Unmarshal(v, &text, jsonx.Tolerant)
	return text
}

// prompt returns the text of a message that the user wrote, "" for other lines.
func (l line) prompt() string {
	if l.IsMeta || l.IsSidechain || l.IsCompactSummary || jsonx.StringMember(l.Origin, "kind") == "task-notification" {
		return ""
	}
	return userText(textOf(l.Content))
}

// queuedCommand is the type of an attachment with a message for the model.
const queuedCommand = "queued_command"

// queuedPrompt returns what the user typed while the model was working, "" for other
// lines. The client passes it on within the turn and stores it as an attachment (client
// 2.1.329).
func (l line) queuedPrompt() string {
	if l.IsSidechain || jsonx.StringMember(l.Attachment, "type") != queuedCommand {
		return ""
	}
	if mode := jsonx.StringMember(l.Attachment, "commandMode"); mode != "" && mode != "prompt" {
		return ""
	}
	return userText(textOf(jsonx.Member(l.Attachment, "prompt")))
}

// userText returns the text without surrounding space, "" if the client wrote it and not
// the user.
func userText(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "Stop hook feedback") || strings.HasPrefix(text, "<task-notification>") {
		return ""
	}
	return text
}

// textOf joins the texts of a message's content, which is a string or an array of
// blocks. A message with a tool result has no text, and reminders that the client
// inserts are skipped.
func textOf(content jsontext.Value) string {
	if content.Kind() == '"' {
		return textIn(content)
	}
	var texts []string
	for _, b := range blocksOf(content) {
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

// blocksOf returns the blocks of a message's content, none of content of another type.
func blocksOf(content jsontext.Value) (blocks []jsontext.Value) {
	_ = json.Unmarshal(content, &blocks, jsonx.Tolerant)
	return blocks
}
