package guard

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/statefile"
)

// The number of consecutive blocks is limited, so that an agent that cannot satisfy a
// rule still ends. Without the limit the client ends the turn itself after eight blocks in
// a row (2.1.329, fact 40) and blames the plugin.

// blockRecord is what is stored about the consecutive blocks of one agent or turn.
type blockRecord struct {
	count int
	blockState
}

// limitBlocks replaces a block by a verdict that lets the agent end, if the agent was
// blocked too often, or if it has asked the user something and there was no progress
// since the last block. stop_hook_active in the event is true if the previous attempt to
// end was blocked, by this rule or another.
func (c *Call) limitBlocks(v Verdict) (Verdict, error) {
	if !c.Session.Known() {
		return c.limitUncounted(v), nil
	}
	stored, err := c.readBlocks()
	if err != nil {
		return v, err
	}
	v, next := c.limit(v, stored)
	if c.DryRun || next == stored {
		return v, nil
	}
	return v, c.writeBlocks(next)
}

// limit decides whether the verdict stands, given the blocks before it. It also returns
// the record to store.
func (c *Call) limit(v Verdict, last blockRecord) (Verdict, blockRecord) {
	next := last
	next.count = 0
	noProgress := last.progress != "" && v.progress == last.progress
	before := last.count
	if !c.Event.StopHookActive || !noProgress && v.progress != "" {
		before = 0 // the previous attempt was not blocked, or the workflow has advanced since
	}
	c.Fact("consecutive blocks", fmt.Sprint(before))
	switch {
	case v.form != block:
		return v, next
	case noProgress && v.asked != "":
		next.asked = ""
		return Pass(v.Row, "The agent asks the user: "+v.asked), next
	case noProgress && last.asked != "":
		next.asked = ""
		text := "the agent has asked you: " + last.asked
		return Notice(v.Row, "APPROVE+WARN", text, "Hook "+c.rule.Name+": "+text), next
	case noProgress && v.once && last.once, noProgress && v.stalled && c.Event.StopHookActive:
		return c.release(v, "not repeated, check still failing: "+v.reason), last
	case before >= c.Config.maxBlocks():
		return c.giveUp(v, before), last
	}
	return v, blockRecord{before + 1, v.blockState}
}

// limitUncounted blocks once: no count can be stored for an event without a session.
func (c *Call) limitUncounted(v Verdict) Verdict {
	if v.form == block && c.Event.StopHookActive {
		return c.giveUp(v, 1)
	}
	return v
}

func (c *Call) giveUp(v Verdict, n int) Verdict {
	return c.release(v, fmt.Sprintf("giving up after %d blocks, check still failing: %s", n, v.reason))
}

// release lets the agent end and tells the user which check still fails.
func (c *Call) release(v Verdict, why string) Verdict {
	return Notice(v.Row, "APPROVE+WARN", why, "Hook "+c.rule.Name+": "+why)
}

// One file holds the block records of every rule and agent of a session. Of each record
// it has the count, under the key of the rule and agent, and the block state, under the
// same key with these suffixes.
const (
	progressOf = "/progress"
	askedOf    = "/asked"
	onceOf     = "/once"
)

func (c *Call) blocksKey() string {
	return c.rule.ID + ":" + cmp.Or(c.Event.AgentID, "main")
}

func (c *Call) readBlocks() (blockRecord, error) {
	data, err := c.Read(c.Session.Blocks())
	if err != nil {
		return blockRecord{}, err
	}
	members, key := parseCounters(data), c.blocksKey()
	return blockRecord{members.get(key), blockState{members.text(key + progressOf), members.text(key + askedOf),
		members.get(key+onceOf) > 0}}, nil
}

func (c *Call) writeBlocks(b blockRecord) error {
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

// text returns a member that is a JSON string, otherwise "".
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
