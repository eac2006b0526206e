package settings

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"
)

// layout describes the white space of a file, so that new elements look like the
// existing ones.
type layout struct {
	newline string // "\n" or "\r\n"
	unit    string // one level of indentation: spaces or tabs
	flat    bool   // the file is one line
}

// layoutOf detects the layout of the file. The default is the client's: two spaces.
func layoutOf(root object, data []byte) layout {
	l := layout{newline: "\n", unit: "  "}
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		l.newline = "\r\n"
	}
	if root.len() > 0 {
		if unit, ok := indentation(*root.before(0)); ok && unit != "" {
			l.unit = unit
		}
		l.flat = !bytes.ContainsRune(bytes.TrimSpace(data), '\n')
	}
	return l
}

// indentation returns the spaces and tabs after the last newline of white space;
// ok is false if there is no newline.
func indentation(space hujson.Extra) (indent string, ok bool) {
	i := bytes.LastIndexByte(space, '\n')
	if i < 0 {
		return "", false
	}
	line := string(space[i+1:])
	return line[len(strings.TrimRight(line, " \t")):], true
}

// line returns the white space that starts a new line: in a flat file a single space. It
// is never empty.
func (l layout) line(indent string) hujson.Extra {
	if l.flat {
		return hujson.Extra(" ")
	}
	return hujson.Extra(l.newline + indent)
}

// group returns a group with the hook, in the form that the client documents, without
// white space around it.
func (l layout) group(h Hook, indent string) (hujson.ValueTrimmed, error) {
	type command struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
		If      string `json:"if,omitzero"`
	}
	value, err := json.Marshal(struct {
		Matcher string    `json:"matcher,omitzero"`
		Hooks   []command `json:"hooks"`
	}{h.Matcher, []command{{"command", h.Line(), h.Timeout, h.If}}})
	if err != nil {
		return nil, err
	}
	return l.format(value, indent)
}

// format formats a value in the layout of the file, without white space around it.
func (l layout) format(value jsontext.Value, indent string) (hujson.ValueTrimmed, error) {
	var err error
	if l.flat {
		err = value.Format(jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true))
	} else {
		err = value.Indent(jsontext.WithIndentPrefix(indent), jsontext.WithIndent(l.unit))
	}
	if err != nil {
		return nil, err
	}
	tree, err := hujson.Parse(bytes.ReplaceAll(value, []byte("\n"), []byte(l.newline)))
	return tree.Value, err
}
