package guard

import (
	"cmp"
	"fmt"
)

// An agent that cannot satisfy a rule must be allowed to end eventually: the
// client ends a turn itself after eight blocks in a row (2.1.329, fact 40) and
// blames the plugin.

// limitBlocks turns the block that would exceed the limit into a notice. The
// client says with stop_hook_active whether this end was blocked before.
func (c *Call) limitBlocks(v Verdict) (Verdict, error) {
	if !c.Session.Known() {
		return c.limitUncounted(v), nil
	}
	stored, err := readCounter(c.Session.Blocks(), c.blocksKey())
	if err != nil {
		return v, err
	}
	before := stored
	if !c.Event.StopHookActive {
		before = 0 // the stored count belongs to an earlier end
	}
	c.Fact("consecutive blocks", fmt.Sprint(before))
	if v.form != block {
		return v, c.setBlocks(stored, 0)
	}
	if before >= c.Config.maxBlocks() {
		return c.giveUp(v, before), nil
	}
	return v, c.setBlocks(stored, before+1)
}

// limitUncounted handles an event without a session, for which no count can be
// stored: it is blocked once.
func (c *Call) limitUncounted(v Verdict) Verdict {
	if v.form == block && c.Event.StopHookActive {
		return c.giveUp(v, 1)
	}
	return v
}

func (c *Call) setBlocks(from, to int) error {
	if c.DryRun || from == to {
		return nil
	}
	return changeCounter(c.Session.Blocks(), c.blocksKey(), func(int) int { return to })
}

func (c *Call) blocksKey() string {
	return c.rule.ID + ":" + cmp.Or(c.Event.AgentID, "main")
}

func (c *Call) giveUp(v Verdict, n int) Verdict {
	text := fmt.Sprintf("giving up after %d blocks, check still failing: %s", n, v.reason)
	return Notice(v.Row, "APPROVE+WARN", text, "Hook "+c.rule.Name+": "+text)
}
