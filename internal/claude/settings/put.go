package settings

import "github.com/tailscale/hujson"

// put adds hooks to settings that hold none of them.
func put(data []byte, hooks []Hook) ([]byte, error) {
	made := data == nil
	if made {
		data = []byte("{}\n")
	}
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	l := layoutOf(doc.top, data)
	for _, h := range hooks {
		if err := l.put(node{list: doc.top, ours: made}, h); err != nil {
			return nil, err
		}
	}
	return doc.root.Pack(), nil
}

// node is a container on the way to where a hook goes.
type node struct {
	list
	indent string // of the line that its opening bracket is on
	ours   bool   // it is being made, not found
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

// enter returns the member of that name, which is made if it is not there.
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
	return node{list: asList(empty), indent: indent, ours: true}
}

// place returns the white space before the next thing to go into the container,
// and the indentation of the line it will be on. See the package comment: before
// the first thing in a container there is some if, and only if, the container is
// ours.
func (l layout) place(n node) (before hujson.Extra, indent string) {
	last := n.len() - 1
	switch {
	case last < 0 && n.ours:
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
