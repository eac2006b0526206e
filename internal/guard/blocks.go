package guard

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/statefile"
)

// An agent that cannot satisfy a rule must be allowed to end eventually: the
// client ends a turn itself after eight blocks in a row (2.1.329, fact 40) and
// blames the plugin.

// blocked is what is known about the last blocks of one agent or turn.
type blocked struct {
	count int // in a row
	standing
}

// limitBlocks turns a block into a verdict that lets the agent end if it was blocked
// too often, or if it has asked the user something and nothing has moved since. The
// client says with stop_hook_active whether this end was blocked before.
func (c *Call) limitBlocks(v Verdict) (Verdict, error) {
	if !c.Session.Known() {
		return c.limitUncounted(v), nil
	}
	stored, err := c.readBlocked()
	if err != nil {
		return v, err
	}
	v, next := c.weigh(v, stored)
	if c.DryRun || next == stored {
		return v, nil
	}
	return v, c.writeBlocked(next)
}

// weigh decides on a block, given the last ones.
func (c *Call) weigh(v Verdict, last blocked) (Verdict, blocked) {
	next := last
	next.count = 0
	still := last.progress != "" && v.progress == last.progress
	before := last.count
	if !c.Event.StopHookActive || !still && v.progress != "" {
		before = 0 // the stored count belongs to an earlier end, or to work that has moved
	}
	c.Fact("consecutive blocks", fmt.Sprint(before))
	switch {
	case v.form != block:
		return v, next
	case still && v.asked != "":
		next.asked = ""
		return Pass(v.Row, "The agent asks the user: "+v.asked), next
	case still && last.asked != "":
		next.asked = ""
		text := "the agent has asked you: " + last.asked
		return Notice(v.Row, "APPROVE+WARN", text, "Hook "+c.rule.Name+": "+text), next
	case still && v.once && last.once:
		return c.release(v, "not repeated, check still failing: "+v.reason), last
	case before >= c.Config.maxBlocks():
		return c.giveUp(v, before), last
	}
	return v, blocked{before + 1, v.standing}
}

// limitUncounted handles an event without a session, for which no count can be
// stored: it is blocked once.
func (c *Call) limitUncounted(v Verdict) Verdict {
	if v.form == block && c.Event.StopHookActive {
		return c.giveUp(v, 1)
	}
	return v
}

func (c *Call) giveUp(v Verdict, n int) Verdict {
	return c.release(v, fmt.Sprintf("giving up after %d blocks, check still failing: %s", n, v.reason))
}

// release lets the agent end and tells the user why it should not have.
func (c *Call) release(v Verdict, why string) Verdict {
	return Notice(v.Row, "APPROVE+WARN", why, "Hook "+c.rule.Name+": "+why)
}

// The blocks of a rule are members of one file: the count under the key, and beside
// it what it is weighed against.
const (
	progressOf = "/progress"
	askedOf    = "/asked"
	onceOf     = "/once"
)

func (c *Call) blocksKey() string {
	return c.rule.ID + ":" + cmp.Or(c.Event.AgentID, "main")
}

func (c *Call) readBlocked() (blocked, error) {
	data, err := c.Read(c.Session.Blocks())
	if err != nil {
		return blocked{}, err
	}
	members, key := parseCounters(data), c.blocksKey()
	return blocked{members.get(key), standing{members.text(key + progressOf), members.text(key + askedOf), members.get(key+onceOf) > 0}}, nil
}

func (c *Call) writeBlocked(b blocked) error {
	return statefile.Update(c.Session.Blocks(), LockWait, func(old []byte) ([]byte, error) {
		members, key := parseCounters(old), c.blocksKey()
		members.setText(key+progressOf, b.progress)
		members.setText(key+askedOf, b.asked)
		if b.once {
			members[key+onceOf] = []byte("1")
		} else {
			delete(members, key+onceOf)
		}
		return members.with(key, b.count)
	})
}

// text returns a member that is a text, "" for another.
func (c counters) text(name string) string {
	var s string
	if json.Unmarshal(c[name], &s, jsonx.Tolerant) != nil {
		return ""
	}
	return s
}

// setText sets a member, or removes it if the text is empty.
func (c counters) setText(name, text string) {
	value, err := json.Marshal(strings.ToValidUTF8(text, "\ufffd"))
	if text == "" || err != nil {
		delete(c, name)
		return
	}
	c[name] = value
}
