package fsmspec

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// task is a Task with what only a plan needs.
type task struct {
	Task
	members string // JSON members of metadata that go before the tag
}

// create makes the task's file. base is what is added to local ids.
func (t task) create(base int64, command string) (Creation, error) {
	id := base + t.ID
	content, err := t.content(base, command)
	return Creation{
		Name:    strconv.FormatInt(id, 10) + ".json",
		ID:      id,
		Subject: t.Subject,
		Content: string(content),
	}, err
}

// content is the file as the client itself would write it: every field, in the
// order in which it writes them, indented by two spaces. Formatting settles white
// space and the spelling of strings, and leaves numbers as they are.
func (t task) content(base int64, command string) ([]byte, error) {
	b := make([]byte, 0, 256+len(t.Description)+len(t.members))
	b = append(b, `{"id":"`...)
	b = strconv.AppendInt(b, base+t.ID, 10)
	b = append(b, '"')
	b = appendText(b, "subject", t.Subject)
	b = appendText(b, "description", t.Description)
	b = appendText(b, "activeForm", t.ActiveForm)
	b = appendText(b, "owner", t.Owner)
	b = appendText(b, "status", t.Status)
	b = appendIDs(b, "blocks", base, t.Blocks)
	b = appendIDs(b, "blockedBy", base, t.BlockedBy)
	b = append(b, `,"metadata":{`...)
	b = append(b, t.members...)
	if t.members == "" {
		b = appendQuoted(b, tag)
	} else {
		b = appendQuoted(append(b, ','), tag)
	}
	b = appendQuoted(append(b, ':'), command)
	b = append(b, "}}"...)
	return jsontext.AppendFormat(make([]byte, 0, 2*len(b)), b, jsontext.AllowDuplicateNames(true), jsontext.WithIndent("  "))
}

func appendText(b []byte, key, text string) []byte {
	b = appendQuoted(append(b, ','), key)
	return appendQuoted(append(b, ':'), text)
}

func appendIDs(b []byte, key string, base int64, local []int64) []byte {
	b = appendQuoted(append(b, ','), key)
	b = append(b, ":["...)
	for i, id := range local {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = strconv.AppendInt(b, base+id, 10)
		b = append(b, '"')
	}
	return append(b, ']')
}

// appendQuoted cannot fail: the error is for ill-formed UTF-8, which is not let in.
func appendQuoted(b []byte, text string) []byte {
	b, _ = jsontext.AppendQuote(b, text)
	return b
}
