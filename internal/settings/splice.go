package settings

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"github.com/fsmtx/fsmtx/internal/jsonx/commented"
)

// A file is edited as text: what is added is put between bytes that stay, and cut out again. So that a file is afterwards as it was,
// what contained nothing before must be told from what came with the first thing in it:
//
//	"hooks": {            came with it: the bracket at its end is on a line of its own
//	  "Stop": []
//	}
//	"hooks": {"Stop": [   was there: what was added ends at its bracket, without white space
//	]}
//
// In a file that was blank, and not missing, the first member stands at the first bracket. What another program has written anew since
// has its layout; containers that are empty then are taken for ours.

// child is a member or an element in the text.
type child struct {
	start, end int
	comma      int // where its comma is, -1 if it has none
	value      hujson.Value
}

// children returns what is in a container.
func children(v hujson.Value) (all []child) {
	add := func(start int, value hujson.Value, last bool) {
		c := child{start, value.EndOffset, -1, value}
		if !last || value.AfterExtra != nil {
			c.comma = value.EndOffset + len(value.AfterExtra)
		}
		all = append(all, c)
	}
	switch v := v.Value.(type) {
	case *hujson.Object:
		for i, m := range v.Members {
			add(m.Name.StartOffset, m.Value, i == len(v.Members)-1)
		}
	case *hujson.Array:
		for i, e := range v.Elements {
			add(e.StartOffset, e, i == len(v.Elements)-1)
		}
	}
	return all
}

// splice is a replacement of bytes.
type splice struct {
	from, to int
	text     string
}

// apply replaces bytes, of places that do not overlap, and reads the text anew.
func (d *document) apply(all ...splice) (err error) {
	slices.SortFunc(all, func(a, b splice) int { return b.from - a.from })
	for _, s := range all {
		d.data = slices.Concat(d.data[:s.from], []byte(s.text), d.data[s.to:])
	}
	if d.root, err = commented.Parse(d.data); err != nil {
		return err
	}
	d.top, err = d.object(d.root, "")
	return err
}

// insert adds a value as the member to which names lead, or as an element of the array there. It creates what is
// missing on the way. It returns ErrShape.
func (d *document) insert(names []string, value any, element bool) error {
	at := d.root
	for i, name := range names {
		object, err := d.object(at, pointer(names[:i]))
		if err != nil {
			return err
		}
		j := index(object, name)
		if j < 0 {
			if element {
				value = []any{value}
			}
			for _, inner := range slices.Backward(names[i+1:]) {
				value = map[string]any{inner: value}
			}
			return d.add(at, name, value)
		}
		at = object.Members[j].Value
	}
	if !element {
		return nil
	}
	if _, err := d.array(at, pointer(names)); err != nil {
		return err
	}
	return d.add(at, "", value)
}

// add adds the last member of an object, or the last element of an array.
func (d *document) add(to hujson.Value, name string, value any) error {
	if d.unwritten {
		return d.create(name, value)
	}
	inside, indent := children(to), d.indentIn(to)
	text, err := d.text(name, value, indent)
	if err != nil {
		return err
	}
	if len(inside) == 0 {
		at := to.EndOffset - 1
		return d.apply(splice{at, at, text})
	}
	last := inside[len(inside)-1]
	text = d.newline() + indent + text
	if last.comma >= 0 {
		at := d.lineRest(last.comma + 1)
		return d.apply(splice{at, at, text + ","})
	}
	at := d.lineRest(last.end)
	if at == last.end {
		return d.apply(splice{at, at, "," + text})
	}
	return d.apply(splice{last.end, last.end, ","}, splice{at, at, text})
}

// create writes the first member of a file that is missing or blank.
func (d *document) create(name string, value any) error {
	const indent = "  "
	text, err := d.text(name, value, indent)
	if err != nil {
		return err
	}
	if d.blank != nil {
		text = string(d.blank) + "{" + text + "\n}"
	} else {
		text = "{\n" + indent + text + "\n}\n"
	}
	d.data, d.mark, d.unwritten = []byte(text), "", false
	if rest, marked := strings.CutPrefix(text, bom); marked {
		d.data, d.mark = []byte(rest), bom
	}
	return d.apply()
}

// text returns a member, or an element if it has no name, whose further lines have an indent.
func (d *document) text(name string, value any, indent string) (string, error) {
	data, err := json.Marshal(value, json.Deterministic(true), jsontext.WithIndentPrefix(indent), jsontext.WithIndent(d.unit()))
	if err != nil {
		return "", err
	}
	text := string(data)
	if name != "" {
		key, err := json.Marshal(name)
		if err != nil {
			return "", err
		}
		text = string(key) + ": " + text
	}
	return strings.ReplaceAll(text, "\n", d.newline()), nil
}

// newline returns what ends the lines of the file.
func (d *document) newline() string {
	if at := bytes.IndexByte(d.data, '\n'); at > 0 && d.data[at-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// unit returns the indent of one level, which is that of the first member; that of the client if there is no other.
func (d *document) unit() string {
	for _, c := range children(d.root) {
		if unit, alone := d.before(c.start); alone && unit != "" {
			return unit
		}
	}
	return "  "
}

// indentIn returns the indent of what is in a container.
func (d *document) indentIn(v hujson.Value) string {
	for _, c := range slices.Backward(children(v)) {
		if indent, alone := d.before(c.start); alone {
			return indent
		}
	}
	line := d.data[bytes.LastIndexByte(d.data[:v.StartOffset], '\n')+1 : v.StartOffset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))]) + d.unit()
}

// before returns the white space before a place in its line, and whether there is nothing else before it.
func (d *document) before(at int) (space string, alone bool) {
	line := d.data[bytes.LastIndexByte(d.data[:at], '\n')+1 : at]
	return string(line), len(bytes.Trim(line, " \t")) == 0 && bytes.IndexByte(d.data[:at], '\n') >= 0
}

// lineRest returns where the comments end that follow in the same line, at if there are none.
func (d *document) lineRest(at int) int {
	end := at
	for i := at; i < len(d.data); {
		switch rest := d.data[i:]; {
		case rest[0] == ' ' || rest[0] == '\t':
			i++
		case bytes.HasPrefix(rest, []byte("//")):
			line, _, _ := bytes.Cut(rest, []byte("\n"))
			return i + len(bytes.TrimRight(line, "\r"))
		case bytes.HasPrefix(rest, []byte("/*")):
			length := bytes.Index(rest, []byte("*/")) + 2
			if length < 2 || bytes.IndexByte(rest[:length], '\n') >= 0 {
				return end
			}
			i += length
			end = i
		default:
			return end
		}
	}
	return end
}

// drop removes the member to which names lead, which must be there, and what came with it.
func (d *document) drop(names ...string) error {
	at, path := d.root, []int(nil)
	for _, name := range names {
		object, is := at.Value.(*hujson.Object)
		i := -1
		if is {
			i = index(object, name)
		}
		if i < 0 {
			return errors.New("no such member: " + name)
		}
		path, at = append(path, i), object.Members[i].Value
	}
	return d.cut(path)
}

// at returns the value to which indices lead.
func (d *document) at(path []int) hujson.Value {
	v := d.root
	for _, i := range path {
		v = children(v)[i].value
	}
	return v
}

// cut removes the member or element to which indices lead, and the containers around it that came with it.
func (d *document) cut(path []int) error {
	k := len(path) - 1
	for k > 0 && d.cameWith(d.at(path[:k]), path[k]) {
		k--
	}
	if k == 0 && d.cameWith(d.root, path[0]) && d.forget() {
		return nil
	}
	return d.apply(d.without(children(d.at(path[:k])), path[k])...)
}

// cameWith reports whether a container has only one thing in it, with which it came: see the top of this file. One with a comment is
// the user's.
func (d *document) cameWith(v hujson.Value, i int) bool {
	inside := children(v)
	if len(inside) != 1 {
		return false
	}
	c := inside[i]
	before, after := d.data[v.StartOffset+1:c.start], d.data[c.end:v.EndOffset-1]
	if len(bytes.TrimSpace(before)) > 0 || len(bytes.Trim(after, ", \t\r\n")) > 0 || bytes.HasPrefix(bytes.TrimSpace(after), []byte(",")) {
		return false
	}
	composite := v.Value.Kind() == '[' || c.value.Value.Kind() == '{' || c.value.Value.Kind() == '['
	return len(after) > 0 || composite && bytes.IndexByte(d.data[c.start:c.end], '\n') < 0
}

// forget makes the file what it was before the only thing in it was written, if that is known: missing or blank.
func (d *document) forget() bool {
	c := children(d.root)[0]
	before, after := d.data[:d.root.StartOffset], d.data[d.root.EndOffset:]
	switch {
	case len(blankless(before)) > 0 || len(blankless(after)) > 0: // there are comments
		return false
	case c.start == d.root.StartOffset+1 && bytes.IndexByte(d.data[c.end:d.root.EndOffset], '\n') >= 0:
		d.blank = append([]byte{}, slices.Concat([]byte(d.mark), before, after)...) // not nil
	default:
		d.blank = nil
	}
	d.unwritten = true
	return d.reset() == nil
}

func blankless(text []byte) []byte { return bytes.Trim(text, " \t\r\n") }

// reset makes the tree that of an empty object.
func (d *document) reset() error {
	d.data = []byte("{}")
	return d.apply()
}

// without returns the splices that take a child out, with the comma that came with it. Comments around it stay.
func (d *document) without(all []child, i int) []splice {
	c := all[i]
	space := c.start - (len(d.data[:c.start]) - len(bytes.TrimRight(d.data[:c.start], " \t\r\n")))
	gap := c.start
	if i > 0 {
		gap = all[i-1].comma + 1
	}
	switch {
	case i == 0 && c.comma < 0:
		return []splice{{from: c.start, to: c.end}}
	case i == 0:
		to := c.comma + 1
		if len(all) > 1 && len(blankless(d.data[to:all[1].start])) == 0 {
			to = all[1].start
		}
		if len(blankless(d.data[c.end:c.comma])) > 0 { // a comment before the comma
			return []splice{{from: c.start, to: c.end}, {from: c.comma, to: to}}
		}
		return []splice{{from: c.start, to: to}}
	case c.comma >= 0 && len(blankless(d.data[c.end:c.comma])) == 0:
		return []splice{{from: d.keepLine(gap, space, c.comma+1), to: c.comma + 1}}
	case c.comma >= 0:
		return []splice{{from: d.keepLine(gap, space, c.end), to: c.end}, {from: c.comma, to: c.comma + 1}}
	}
	comma := all[i-1].comma
	if space == comma+1 {
		return []splice{{from: comma, to: c.end}}
	}
	return []splice{{from: comma, to: comma + 1}, {from: d.keepLine(gap, space, c.end), to: c.end}}
}

// keepLine returns from, or what is behind the end of the line there if it ends a comment and text would follow that. gap is where the
// white space and the comments before it begin.
func (d *document) keepLine(gap, from, to int) int {
	next := bytes.TrimLeft(d.data[to:], " \t")
	if !endsInLine(d.data[gap:from]) || len(next) == 0 || next[0] == '\r' || next[0] == '\n' {
		return from
	}
	return from + bytes.IndexByte(d.data[from:to], '\n') + 1
}

// endsInLine reports whether a text of white space and comments ends in a comment that goes to the end of its line.
func endsInLine(gap []byte) bool {
	for {
		gap = bytes.TrimLeft(gap, " \t\r\n")
		switch {
		case bytes.HasPrefix(gap, []byte("//")):
			_, rest, ended := bytes.Cut(gap, []byte("\n"))
			if !ended {
				return true
			}
			gap = rest
		case bytes.HasPrefix(gap, []byte("/*")):
			_, gap, _ = bytes.Cut(gap[2:], []byte("*/"))
		default:
			return false
		}
	}
}
