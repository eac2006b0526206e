package settings

import (
	"fmt"

	"github.com/tailscale/hujson"
)

// entry is one hook in the settings.
type entry struct {
	call
	matcher   string
	timeout   float64 // seconds, 0 if there is none
	condition string  // "if"
	async     string  // the member with which the client does not wait for the hook; empty if there is none
	path      []place // from the root to the group that holds the entry
	place     place   // in the group's hooks
	plain     bool    // the group has no members other than hooks and matcher
}

// place is an element of a container.
type place struct {
	list  list
	index int
}

// find returns the entries that are the hook h, in the order of the settings. It reads
// no other event, so those may have any shape.
func (d document) find(h Hook) ([]entry, error) {
	groups, path, err := d.groups(h.Event)
	if err != nil {
		return nil, err
	}
	var found []entry
	for i := range groups.Elements {
		pointer := fmt.Sprintf("/hooks/%s/%d", h.Event, i)
		entries, err := d.findInGroup(groups.Elements[i], pointer, h)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			e.path = append(path[:len(path):len(path)], place{groups, i})
			found = append(found, e)
		}
	}
	return found, nil
}

// groups returns the list of an event and the path to it. If the settings do not have
// the event, it returns an empty list that is not part of them.
func (d document) groups(event string) (groups array, path []place, err error) {
	none := array{new(hujson.Array)}
	i := d.top.index("hooks")
	if i < 0 {
		return none, nil, nil
	}
	events, err := d.object(d.top.Members[i].Value, "/hooks")
	if err != nil {
		return none, nil, err
	}
	path = append(path, place{d.top, i})
	i = events.index(event)
	if i < 0 {
		return none, nil, nil
	}
	groups, err = d.array(events.Members[i].Value, "/hooks/"+event)
	return groups, append(path, place{events, i}), err
}

func (d document) findInGroup(v hujson.Value, pointer string, h Hook) ([]entry, error) {
	group, err := d.object(v, pointer)
	if err != nil {
		return nil, err
	}
	i := group.index("hooks")
	if i < 0 {
		return nil, nil
	}
	hooks, err := d.array(group.Members[i].Value, pointer+"/hooks")
	if err != nil {
		return nil, err
	}
	matcher, _ := group.text("matcher")
	var found []entry
	for i := range hooks.Elements {
		o, err := d.object(hooks.Elements[i], fmt.Sprintf("%s/hooks/%d", pointer, i))
		if err != nil {
			return nil, err
		}
		if c, ok := callOf(o); ok && h.owns(c, matcher) {
			condition, _ := o.text("if")
			found = append(found, entry{call: c, matcher: matcher, timeout: seconds(o), condition: condition, async: asyncOf(o),
				place: place{hooks, i}, plain: isPlain(group)})
		}
	}
	return found, nil
}

// asyncOf returns which member makes the client go on without the answer of a hook, or "" (fact 101,
// client 2.1.329).
func asyncOf(o object) string {
	for _, name := range []string{"async", "asyncRewake"} {
		if value, ok := o.member(name).(hujson.Literal); ok && string(value) == "true" {
			return name
		}
	}
	return ""
}

// callOf returns what an entry runs (fact 24, client 2.1.197). ok is false if it is not a
// command of a known shape.
func callOf(o object) (c call, ok bool) {
	kind, _ := o.text("type")
	command, ok := o.text("command")
	if !ok || kind != "command" {
		return call{}, false
	}
	member := o.member("args")
	if member == nil {
		return shellCall(command), true
	}
	args, ok := member.(*hujson.Array)
	if !ok {
		return call{}, false
	}
	var words []string
	for i := range args.Elements {
		arg, ok := text(args.Elements[i].Value)
		if !ok {
			return call{}, false
		}
		words = append(words, arg)
	}
	return argsCall(command, words), true
}

func seconds(o object) float64 {
	n, _ := o.member("timeout").(hujson.Literal)
	return n.Float() // 0 for what is not a number
}

func isPlain(group object) bool {
	for i := range group.Members {
		name, _ := text(group.Members[i].Name.Value)
		if name != "hooks" && name != "matcher" {
			return false
		}
	}
	return true
}
