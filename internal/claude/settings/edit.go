package settings

import (
	"bytes"
	"slices"
)

// Add returns settings that hold each of the hooks once and everything else
// unchanged, but for the variable of WithTaskTools. data is nil if there is no file. Outdated hooks are removed first;
// settings that are up to date are returned as they are. Errors are those of
// Inspect.
func Add(data []byte, hooks []Hook) ([]byte, error) {
	report, err := Inspect(data, hooks)
	if err != nil {
		return nil, err
	}
	if report.State == Installed {
		return data, nil
	}
	rest, err := Remove(data, hooks)
	if err != nil {
		return nil, err
	}
	out, err := put(rest, hooks)
	if err != nil || rest != nil {
		return out, err
	}
	return withDirs(out, CreatedDirs(data)), nil
}

// Remove returns settings without the hooks, without the variable that Add set and
// without the containers that Add created, nil if that leaves no file. A hook is recognised by its event,
// its identifying arguments and its program: by name, by path or through a link. Errors
// are those of Inspect.
func Remove(data []byte, hooks []Hook) ([]byte, error) {
	if blank(data) {
		return data, nil
	}
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	// Before the hooks, because one of them records that the variable is ours, and
	// because Add sets it after them.
	if err := doc.unset(hooks); err != nil {
		return nil, err
	}
	// In reverse, so that the element that Add put first into a container, after the
	// telling white space, is the last to be removed.
	for _, h := range slices.Backward(hooks) {
		found, err := doc.find(h)
		if err != nil {
			return nil, err
		}
		for _, e := range slices.Backward(found) {
			doc.remove(e)
		}
	}
	return doc.left(), nil
}

// left returns what remains of the file after Remove: nothing, or the blank text that was
// there, if Add created the object. A file that was created ends in a newline, one that
// was blank in a bracket.
func (d *document) left() []byte {
	if !d.emptied {
		return d.pack()
	}
	before := append([]byte(d.mark), d.root.BeforeExtra...)
	if len(before) == 0 && len(d.root.AfterExtra) > 0 {
		return nil
	}
	return before
}

// CreatedDirs returns how many directories were created for a file that Add or AddServer
// made from nothing. For other files the result has no meaning.
func CreatedDirs(data []byte) int {
	doc, err := parse(data)
	if err != nil || doc.top.len() == 0 {
		return 0
	}
	// Earlier versions counted in newlines at the end.
	newlines := len(data) - len(bytes.TrimRight(data, "\n"))
	return max(0, len(doc.top.Members[0].Value.BeforeExtra)-1, newlines-1)
}

// withDirs makes CreatedDirs return n for a file that Add or AddServer made from nothing:
// by spaces before the value of its first member, which go with that.
func withDirs(data []byte, n int) []byte {
	if n == 0 {
		return data
	}
	doc, err := parse(data)
	if err != nil || doc.top.len() == 0 {
		return data
	}
	doc.top.Members[0].Value.BeforeExtra = bytes.Repeat([]byte(" "), n+1)
	return doc.pack()
}

// remove removes the entry, then every container that is empty without it and that
// Add created.
func (d *document) remove(e entry) {
	e.place.list.drop(e.place.index)
	if e.place.list.len() > 0 || !e.plain {
		return
	}
	d.dropPath(e.path)
}

// dropPath removes the last element of a path, then every container on it that is empty
// without it and that Add created.
func (d *document) dropPath(path []place) {
	for i, p := range slices.Backward(path) {
		before := *p.list.before(p.index)
		p.list.drop(p.index)
		if p.list.len() > 0 || len(before) == 0 {
			return
		}
		d.emptied = i == 0
	}
}
