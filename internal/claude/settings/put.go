package settings

import (
	"bytes"

	"github.com/tailscale/hujson"
)

// put adds hooks that are not obsolete, and the variable of WithTaskTools, to settings that
// have none of them.
func put(data []byte, hooks []Hook) ([]byte, error) {
	doc, l, top, err := open(data)
	if err != nil {
		return nil, err
	}
	for _, h := range hooks {
		if h.Obsolete != "" {
			continue
		}
		if err := l.put(top, h); err != nil {
			return nil, err
		}
	}
	if err := doc.set(l, top, hooks); err != nil {
		return nil, err
	}
	return doc.pack(), nil
}

// open parses a file in order to add to it. For a file that is missing or blank it
// creates the top object.
func open(data []byte) (doc document, l layout, top node, err error) {
	created := blank(data)
	switch {
	case data == nil:
		data = []byte("{}\n")
	case created:
		data = append(bytes.Clone(data), "{}"...)
	}
	doc, err = parse(data)
	if err != nil {
		return doc, l, top, err
	}
	return doc, layoutOf(doc.top, data), node{list: doc.top, created: created}, nil
}

// node is a container on the path to a new element.
type node struct {
	list
	indent  string // of the line with the opening bracket
	created bool   // by this edit
}

func (l layout) put(top node, h Hook) error {
	events := l.enter(top, "hooks", new(hujson.Object))
	groups := l.enter(events, h.Event, new(hujson.Array))
	before, indent := l.place(groups)
	value, err := l.group(h, indent)
	if err != nil {
		return err
	}
	a := groups.list.(array)
	a.Elements = append(a.Elements, hujson.Value{BeforeExtra: before, Value: value})
	return nil
}

// enter returns the member called name, and creates it as empty if it is missing.
func (l layout) enter(n node, name string, empty hujson.ValueTrimmed) node {
	o := n.list.(object)
	if i := o.index(name); i >= 0 {
		indent, ok := indentation(*o.before(i))
		if !ok {
			indent = n.indent
		}
		return node{list: asList(o.Members[i].Value.Value), indent: indent}
	}
	before, indent := l.place(n)
	o.add(before, name, empty)
	return node{list: asList(empty), indent: indent, created: true}
}

// place returns the white space before the next element of the container, and the
// indentation of its line. The first element has white space before it only if this edit
// creates the container, see the package comment.
func (l layout) place(n node) (before hujson.Extra, indent string) {
	last := n.len() - 1
	switch {
	case last < 0 && n.created:
		*n.end() = l.line(n.indent)
		indent = n.indent + l.unit
		return l.line(indent), indent
	case last < 0:
		return nil, n.indent
	}
	before = *n.before(last)
	if indent, ok := indentation(before); ok {
		return l.line(indent), indent
	}
	if len(before) == 0 && !l.flat {
		before = hujson.Extra(" ")
	}
	return before, n.indent
}

func asList(v hujson.ValueTrimmed) list {
	if o, ok := v.(*hujson.Object); ok {
		return object{o}
	}
	return array{v.(*hujson.Array)}
}
