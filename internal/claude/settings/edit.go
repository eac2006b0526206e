package settings

import (
	"bytes"
	"slices"
	"strings"
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
	return append(out, strings.Repeat("\n", CreatedDirs(data))...), nil
}

// Remove returns settings without the hooks, without the variable that Add set and
// without the containers that Add created, nil if that leaves no file. A hook is recognised by its event,
// its identifying arguments and its program: by name, by path or through a link. Errors
// are those of Inspect.
func Remove(data []byte, hooks []Hook) ([]byte, error) {
	if data == nil {
		return nil, nil
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
	removed := make([]Hook, 0, len(hooks))
	// In reverse, so that the element that Add put first into a container, after the
	// telling white space, is the last to be removed.
	for _, h := range slices.Backward(hooks) {
		found, err := doc.find(h)
		if err != nil {
			return nil, err
		}
		for _, e := range slices.Backward(found) {
			e.remove()
			removed = append(removed, h.as(e))
		}
	}
	slices.Reverse(removed)
	if createdByAdd(data, removed) {
		return nil, nil
	}
	return doc.root.Pack(), nil
}

// CreatedDirs returns how many directories were created for a file that Add made
// from nothing. For other files the result has no meaning.
func CreatedDirs(data []byte) int {
	return max(0, len(data)-len(bytes.TrimRight(data, "\n"))-1)
}

// createdByAdd reports whether data is what Add returns for no file, apart from the
// newlines that count directories.
func createdByAdd(data []byte, hooks []Hook) bool {
	if len(hooks) == 0 {
		return false
	}
	whole, err := put(nil, hooks)
	return err == nil && bytes.Equal(bytes.TrimRight(data, "\n"), bytes.TrimRight(whole, "\n"))
}

// as returns the hook with the settings of the entry.
func (h Hook) as(e entry) Hook {
	h.Command, h.Matcher, h.Timeout, h.If, h.Flags = e.program, e.matcher, int(e.timeout), e.only, h.flagsOf(e.call)
	return h
}

// remove removes the entry, then every container that is empty without it and that
// Add created.
func (e entry) remove() {
	e.place.list.drop(e.place.index)
	if e.place.list.len() > 0 || !e.plain {
		return
	}
	for _, p := range slices.Backward(e.path) {
		before := *p.list.before(p.index)
		p.list.drop(p.index)
		if p.list.len() > 0 || len(before) == 0 {
			return
		}
	}
}
