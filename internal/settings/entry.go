package settings

import (
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
)

// entry is one hook in the settings.
type entry struct {
	call
	event     string
	matcher   string
	timeout   hujson.Literal // nil if there is none
	condition string         // "if"
	onFailure string
	windows   string // "commandWindows"
	async     string // the member with which the client does not wait for the hook; empty if there is none

	path  []int          // the indices that lead to it: hooks, the event, the group, its hooks, the entry
	alone bool           // the group has nothing else in it
	group *hujson.Object // in which the entry is
}

// entries returns the entries that any of the hooks owns, in the order of the file. An event for which there is
// none of the hooks may have any shape; for others it returns ErrShape.
func (d *document) entries(hooks []Hook) (found []entry, err error) {
	i := index(d.top, "hooks")
	if i < 0 {
		return nil, nil
	}
	events, err := d.object(d.top.Members[i].Value, "/hooks")
	if err != nil {
		return nil, err
	}
	for k, m := range events.Members {
		event, _ := text(m.Name.Value)
		all, err := d.entriesOf(event, m.Value, i, k)
		if err != nil && slices.ContainsFunc(hooks, func(h Hook) bool { return h.Event == event }) {
			return nil, err
		}
		for _, e := range all {
			if slices.ContainsFunc(hooks, func(h Hook) bool { return h.owns(e.call) }) {
				found = append(found, e)
			}
		}
	}
	return found, nil
}

// entriesOf returns the entries of an event that are commands. path leads to the event.
func (d *document) entriesOf(event string, v hujson.Value, path ...int) (found []entry, err error) {
	at := pointer([]string{"hooks", event})
	groups, err := d.array(v, at)
	if err != nil {
		return nil, err
	}
	for i, v := range groups.Elements {
		at := fmt.Sprintf("%s/%d", at, i)
		group, err := d.object(v, at)
		if err != nil {
			return found, err
		}
		j := index(group, "hooks")
		if j < 0 {
			continue
		}
		hooks, err := d.array(group.Members[j].Value, at+"/hooks")
		if err != nil {
			return found, err
		}
		for k, v := range hooks.Elements {
			o, err := d.object(v, fmt.Sprintf("%s/hooks/%d", at, k))
			if err != nil {
				return found, err
			}
			if e, ok := entryOf(o); ok {
				e.event, e.group, e.path = event, group, slices.Concat(path, []int{i, j, k})
				e.alone = len(hooks.Elements) == 1 && !slices.ContainsFunc(group.Members, isMore) && !hasComments(groups.Elements[i])
				e.matcher, _ = text(member(group, "matcher"))
				found = append(found, e)
			}
		}
	}
	return found, nil
}

// entryOf returns what an entry runs (fact 24, client 2.1.197). ok is false if it is not a
// command of a known shape.
func entryOf(o *hujson.Object) (e entry, ok bool) {
	kind, _ := text(member(o, "type"))
	command, ok := text(member(o, "command"))
	if !ok || kind != "command" {
		return e, false
	}
	e.call = called(command, nil)
	if args := member(o, "args"); args != nil {
		words, ok := textsOf(args)
		if !ok {
			return e, false
		}
		e.call = called(command, words)
	}
	e.timeout, _ = member(o, "timeout").(hujson.Literal)
	e.condition, _ = text(member(o, "if"))
	e.onFailure, _ = text(member(o, "onFailure"))
	e.windows, _ = text(member(o, "commandWindows"))
	for _, name := range []string{"asyncRewake", "async"} { // fact 101, client 2.1.329
		if value, is := member(o, name).(hujson.Literal); is && string(value) == "true" {
			e.async = name
		}
	}
	return e, true
}

// textsOf returns the texts of an array, never nil. ok is false for anything else.
func textsOf(v hujson.ValueTrimmed) (texts []string, ok bool) {
	all, ok := v.(*hujson.Array)
	if !ok {
		return nil, false
	}
	texts = []string{}
	for _, one := range all.Elements {
		s, ok := text(one.Value)
		if !ok {
			return nil, false
		}
		texts = append(texts, s)
	}
	return texts, true
}

// remove removes every entry that one of the hooks owns, and the containers that came with it. A group with members that this
// program does not write stays.
func (d *document) remove(hooks []Hook) error {
	for {
		found, err := d.entries(hooks)
		if err != nil || len(found) == 0 {
			return err
		}
		if path := found[0].path; found[0].alone {
			err = d.cut(path[:3])
		} else {
			err = d.apply(d.without(children(d.at(path[:4])), path[4])...)
		}
		if err != nil {
			return err
		}
	}
}

// hasComments reports whether there is a comment in a value.
func hasComments(v hujson.Value) bool {
	for inner := range v.All() {
		space := inner.BeforeExtra
		if inner != &v && (!space.IsStandard() || !inner.AfterExtra.IsStandard()) {
			return true
		}
	}
	return false
}

func isMore(m hujson.ObjectMember) bool {
	name, _ := text(m.Name.Value)
	return name != "hooks" && name != "matcher"
}
