package settings

import (
	"bytes"
	"slices"
	"strings"
)

// Add returns settings that hold the hooks, each once, and everything else as it
// was. data is nil if there is no file. Settings that hold them already come
// back unchanged; hooks of ours that are different are taken out first. Errors
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
	return append(out, strings.Repeat("\n", MadeDirs(data))...), nil
}

// Remove returns settings without the hooks and without the containers that Add
// made for them: nil if that leaves no file. A hook is found by its event and
// its arguments; of its path only the base name matters. Errors are those of
// Inspect.
func Remove(data []byte, hooks []Hook) ([]byte, error) {
	if data == nil {
		return nil, nil
	}
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	gone := make([]Hook, 0, len(hooks))
	// From the last to the first, so that what goes last from a container is what
	// came first.
	for _, h := range slices.Backward(hooks) {
		found, err := find(doc.top, h)
		if err != nil {
			return nil, err
		}
		for _, e := range slices.Backward(found) {
			e.takeOut()
			gone = append(gone, h.as(e))
		}
	}
	slices.Reverse(gone)
	if madeWhole(data, gone) {
		return nil, nil
	}
	return doc.root.Pack(), nil
}

// MadeDirs returns how many directories were made for a file that Add made from
// nothing. Of any other file it says nothing.
func MadeDirs(data []byte) int {
	return max(0, len(data)-len(bytes.TrimRight(data, "\n"))-1)
}

// madeWhole reports whether data is what Add makes of no file, but for the
// newlines that count the directories.
func madeWhole(data []byte, hooks []Hook) bool {
	if len(hooks) == 0 {
		return false
	}
	whole, err := put(nil, hooks)
	return err == nil && bytes.Equal(bytes.TrimRight(data, "\n"), bytes.TrimRight(whole, "\n"))
}

// as returns the hook as the entry has it.
func (h Hook) as(e entry) Hook {
	h.Command, h.Matcher, h.Timeout, h.Flags = e.program, e.matcher, int(e.timeout), h.flagsOf(e.call)
	return h
}

// takeOut drops the entry, then every container that is empty for it and ours.
func (e entry) takeOut() {
	e.at.list.drop(e.at.index)
	if e.at.list.len() > 0 || !e.plain {
		return
	}
	for _, s := range slices.Backward(e.way) {
		before := *s.list.before(s.index)
		s.list.drop(s.index)
		if s.list.len() > 0 || len(before) == 0 {
			return
		}
	}
}
