package settings

import (
	"bytes"

	"github.com/tailscale/hujson"
)

// put adds hooks, and the variable of WithTaskTools, to settings that hold none of
// them.
func put(data []byte, hooks []Hook) ([]byte, error) {
	created := blank(data)
	if created {
		data = begin(data)
	}
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	l := layoutOf(doc.top, data)
	for _, h := range hooks {
		if err := l.put(node{list: doc.top, created: created}, h); err != nil {
			return nil, err
		}
	}
	if err := doc.set(l, created, hooks); err != nil {
		return nil, err
	}
	return doc.pack(), nil
}

// begin returns an object to be filled, for a file that is missing or blank.
func begin(data []byte) []byte {
	if data == nil {
		return []byte("{}\n")
	}
	return append(bytes.Clone(data), "{}"...)
}

// node is a container on the path to a new hook.
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

// enter returns the member with that name and creates it if it is missing.
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
	o.Members = append(o.Members, hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: before, Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: empty},
	})
	return node{list: asList(empty), indent: indent, created: true}
}

// place returns the white space before the next element of the container, and the
// indentation of its line. The first element of a container has white space before
// it only if the container is created by this edit: see the package comment.
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
