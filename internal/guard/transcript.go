package guard

import (
	"bytes"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A transcript has one JSON object a line, and may be hundreds of megabytes:
// it is read backwards, no further than the message looked for.

const (
	// transcriptChunk is read at a time, in bytes, or more of a longer line.
	transcriptChunk = 256 << 10
	// transcriptMax is how far back is looked, in bytes, or twice as far if one
	// line is as long as that.
	transcriptMax = 32 << 20
)

// message is one line of a transcript.
type message struct {
	Type             string `json:"type"`
	IsMeta           bool   `json:"isMeta"`
	IsSidechain      bool   `json:"isSidechain"`
	IsCompactSummary bool   `json:"isCompactSummary"`
	PromptID         string `json:"promptId"` // the user's prompt that it belongs to
	Message          struct {
		Content jsontext.Value `json:"content"`
	} `json:"message"`
	Origin     jsontext.Value `json:"origin"`
	Attachment jsontext.Value `json:"attachment"`
}

// lastAssistantText returns the last text the assistant wrote, empty if there
// is none or the transcript cannot be read.
func lastAssistantText(path string) string {
	found := ""
	backwards(path, func(line []byte) bool {
		m, ok := parseMessage(line, "assistant")
		if ok {
			found = m.text()
		}
		return strings.TrimSpace(found) == ""
	})
	return found
}

// lastUserText returns what the user said last. Results of tools, what the
// client adds on its own, the end of a background task and the feedback of hooks
// stand in the transcript as the user's too, and are passed over.
//
// behind tells that the transcript ends with an earlier prompt than the one whose
// id is given, which may be empty.
func lastUserText(path, prompt string) (text string, behind bool) {
	current := prompt == ""
	backwards(path, func(line []byte) bool {
		m, ok := parseMessage(line, "user")
		if ok {
			text = m.said()
		} else if bytes.Contains(line, []byte(queuedCommand)) {
			m, ok = parseMessage(line, "attachment")
			text = m.queued()
		}
		current = current || ok && m.PromptID == prompt
		current = current || text != "" && m.PromptID == "" // an older client: nothing can be told
		return text == ""
	})
	return text, text != "" && !current
}

// The client writes its transcript a little later than it calls hooks: of a quick
// turn (2.1.329, measured) not even the prompt is there when the turn ends.
const (
	transcriptPatience = 500 * time.Millisecond
	transcriptInterval = 20 * time.Millisecond
)

// awaitText reads until the transcript is no longer behind, or patience is over.
func awaitText(read func() (text string, behind bool)) string {
	for end := time.Now().Add(transcriptPatience); ; time.Sleep(transcriptInterval) {
		text, behind := read()
		if !behind || time.Now().After(end) {
			return text
		}
	}
}

func parseMessage(line []byte, kind string) (message, bool) {
	var m message
	if !bytes.Contains(line, []byte(kind)) || json.Unmarshal(line, &m, lenient) != nil {
		return message{}, false
	}
	return m, m.Type == kind
}

// said is what the user said with a message of their own, empty if it is not
// theirs.
func (m message) said() string {
	if m.IsMeta || m.IsSidechain || m.IsCompactSummary || textMember(m.Origin, "kind") == "task-notification" {
		return ""
	}
	return spoken(m.text())
}

// queuedCommand is the type of what waits for the agent.
const queuedCommand = "queued_command"

// queued is what the user said while the agent was working: the client hands it
// over within the turn, and puts it down as an attachment (2.1.329).
func (m message) queued() string {
	if m.IsSidechain || textMember(m.Attachment, "type") != queuedCommand {
		return ""
	}
	if mode := textMember(m.Attachment, "commandMode"); mode != "" && mode != "prompt" {
		return ""
	}
	return spoken(textOf(member(m.Attachment, "prompt")))
}

// spoken is empty for a text that the client wrote in the user's name.
func spoken(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "Stop hook feedback") || strings.HasPrefix(text, "<task-notification>") {
		return ""
	}
	return text
}

// text joins the text of a message.
func (m message) text() string { return textOf(m.Message.Content) }

// textOf joins the text of a message's content. A message with the result of a
// tool has none, and reminders that the client wraps are not what was said.
func textOf(content jsontext.Value) string {
	var text string
	if json.Unmarshal(content, &text, lenient) == nil {
		return text
	}
	var blocks []jsontext.Value
	_ = json.Unmarshal(content, &blocks, lenient) // what is no list of blocks has no text
	var texts []string
	for _, b := range blocks {
		text := textMember(b, "text")
		switch kind := textMember(b, "type"); {
		case kind == "tool_result":
			return ""
		case kind == "text" && !strings.HasPrefix(text, "<system-reminder>"):
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// backwards calls visit with each line of a file from the last to the first,
// as long as visit wants more.
func backwards(path string, visit func(line []byte) bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	var rest []byte // begins in the middle of a line, unless at the file's start
	for at := info.Size(); at > 0 && info.Size()-at < transcriptMax; {
		// As much as there is of an unfinished line: reading it stays linear.
		size := min(at, max(transcriptChunk, int64(len(rest))))
		at -= size
		chunk := make([]byte, size, size+int64(len(rest)))
		if _, err := f.ReadAt(chunk, at); err != nil && err != io.EOF {
			return
		}
		var more bool
		if rest, more = lastLines(append(chunk, rest...), int(size), visit); !more || at == 0 && !visit(rest) {
			return
		}
	}
}

// lastLines visits the lines of data from the last to the second, and returns
// the first, which may be the end of a longer one. No line begins after the
// first fresh bytes. more is false if visit wants no more.
func lastLines(data []byte, fresh int, visit func(line []byte) bool) (first []byte, more bool) {
	for {
		newline := bytes.LastIndexByte(data[:fresh], '\n')
		if newline < 0 {
			return data, true
		}
		if !visit(data[newline+1:]) {
			return nil, false
		}
		data, fresh = data[:newline], newline
	}
}
