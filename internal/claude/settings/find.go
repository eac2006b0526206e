package settings

import (
	"fmt"

	"github.com/tailscale/hujson"
)

// entry is one hook as it stands in the settings.
type entry struct {
	call
	matcher string
	timeout float64 // seconds, 0 if there is none
	way     []step  // from the root to the group that holds the entry
	at      step    // the entry's place among the group's hooks
	plain   bool    // the group is nothing but hooks and a matcher
}

// step is a place in a container.
type step struct {
	list  list
	index int
}

// find returns the entries that the hook owns, in the order of the settings. It
// looks at nothing outside the hook's event.
func find(root object, h Hook) ([]entry, error) {
	groups, way, err := groupsOf(root, h.Event)
	if err != nil {
		return nil, err
	}
	var found []entry
	for i := range groups.Elements {
		pointer := fmt.Sprintf("/hooks/%s/%d", h.Event, i)
		entries, err := findInGroup(groups.Elements[i].Value, pointer, h)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			e.way = append(way[:len(way):len(way)], step{groups, i})
			found = append(found, e)
		}
	}
	return found, nil
}

// groupsOf returns the list of an event and the way there; an empty list that is
// nowhere if the settings have none.
func groupsOf(root object, event string) (groups array, way []step, err error) {
	none := array{new(hujson.Array)}
	at := root.index("hooks")
	if at < 0 {
		return none, nil, nil
	}
	events, err := asObject(root.Members[at].Value.Value, "/hooks")
	if err != nil {
		return none, nil, err
	}
	way = append(way, step{root, at})
	at = events.index(event)
	if at < 0 {
		return none, nil, nil
	}
	groups, err = asArray(events.Members[at].Value.Value, "/hooks/"+event)
	return groups, append(way, step{events, at}), err
}

func findInGroup(v hujson.ValueTrimmed, pointer string, h Hook) ([]entry, error) {
	group, err := asObject(v, pointer)
	if err != nil {
		return nil, err
	}
	member := group.member("hooks")
	if member == nil {
		return nil, nil
	}
	hooks, err := asArray(member, pointer+"/hooks")
	if err != nil {
		return nil, err
	}
	matcher, _ := group.text("matcher")
	var found []entry
	for i := range hooks.Elements {
		o, err := asObject(hooks.Elements[i].Value, fmt.Sprintf("%s/hooks/%d", pointer, i))
		if err != nil {
			return nil, err
		}
		if c, ok := callOf(o); ok && h.owns(c) {
			found = append(found, entry{call: c, matcher: matcher, timeout: seconds(o), at: step{hooks, i}, plain: isPlain(group)})
		}
	}
	return found, nil
}

// callOf returns what an entry runs; ok is false if that is no plain command.
func callOf(o object) (c call, ok bool) {
	kind, _ := o.text("type")
	command, ok := o.text("command")
	if !ok || kind != "command" {
		return call{}, false
	}
	member := o.member("args")
	if member == nil {
		return shellCall(command)
	}
	args, ok := member.(*hujson.Array)
	if !ok {
		return call{}, false
	}
	c.program = command
	for i := range args.Elements {
		arg, ok := text(args.Elements[i].Value)
		if !ok {
			return call{}, false
		}
		c.args = append(c.args, arg)
	}
	return c, true
}

func seconds(o object) float64 {
	if n, ok := o.member("timeout").(hujson.Literal); ok {
		return n.Float()
	}
	return 0
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
