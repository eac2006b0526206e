package settings

import (
	"bytes"
	"slices"
)

// Add returns settings that contain each of the hooks once, and the variable of
// WithTaskTools. Everything else is unchanged. data is nil if there is no file. Outdated
// hooks are removed first; settings that are up to date are returned unchanged. Errors
// are those of Inspect.
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
// without the containers that Add created. It returns nil if the file is to be removed.
// A hook is recognised by its event, its identifying arguments and its program: by name,
// by path or through a link. Errors are those of Inspect.
func Remove(data []byte, hooks []Hook) ([]byte, error) {
	if blank(data) {
		return data, nil
	}
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	// First the variable: one of the hooks records that Add set it, and Add sets it last.
	if err := doc.unset(hooks); err != nil {
		return nil, err
	}
	// In reverse order: the element that Add put first into a container has the white
	// space that records who created the container, so it must be removed last.
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

// left returns the content of the file after a removal. If Add created the top object
// and it is empty again, that is nil for a created file, and the white space from before
// for a file that was blank. A created file ends in a newline, the other one in a
// bracket.
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
// created. For other files the result has no meaning.
func CreatedDirs(data []byte) int {
	doc, err := parse(data)
	if err != nil || doc.top.len() == 0 {
		return 0
	}
	// Earlier versions recorded the count in newlines at the end.
	newlines := len(data) - len(bytes.TrimRight(data, "\n"))
	return max(0, len(doc.top.Members[0].Value.BeforeExtra)-1, newlines-1)
}

// withDirs makes CreatedDirs return n for a file that Add or AddServer created. It
// records n in spaces before the value of the first member, which are removed with the
// member.
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

// remove removes the entry, then the containers that Add created and that are empty
// without it.
func (d *document) remove(e entry) {
	e.place.list.drop(e.place.index)
	if e.place.list.len() > 0 || !e.plain {
		return
	}
	d.dropPath(e.path)
}

// dropPath removes the last element of a path, then the containers on the path that Add
// created and that are empty without it.
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
