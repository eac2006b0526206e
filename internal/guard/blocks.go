package guard

import "fmt"

// An agent that cannot satisfy a guard must be let go in the end: the client
// itself ends a turn after nine blocks in a row and blames the plugin.

// limit turns the block that would be one too many into a notice. The client
// says with stop_hook_active whether this end was already blocked.
func (c *call) limit(v Verdict) (Verdict, error) {
	if !c.session.Known() {
		return c.limitUncounted(v), nil
	}
	kept, err := readCounter(c.session.Blocks(), c.blocksKey())
	if err != nil {
		return v, err
	}
	before := kept
	if !c.event.StopHookActive {
		before = 0 // what is kept is of an end before this one
	}
	c.fact("consecutive blocks", fmt.Sprint(before))
	if v.kind != block {
		return v, c.setBlocks(kept, 0)
	}
	if before >= c.config.MaxBlocks {
		return c.giveUp(v, before), nil
	}
	return v, c.setBlocks(kept, before+1)
}

// limitUncounted is for an event without a session, about which nothing can be
// kept: one block, then no more.
func (c *call) limitUncounted(v Verdict) Verdict {
	if v.kind == block && c.event.StopHookActive {
		return c.giveUp(v, 1)
	}
	return v
}

// setBlocks keeps the count; from is what is kept now.
func (c *call) setBlocks(from, to int) error {
	if c.dry || from == to {
		return nil
	}
	return changeCounter(c.session.Blocks(), c.blocksKey(), func(int) int { return to })
}

func (c *call) blocksKey() string {
	return c.guard.ID + ":" + orElse(c.event.AgentID, "main")
}

func (c *call) giveUp(v Verdict, n int) Verdict {
	text := fmt.Sprintf("giving up after %d blocks, check still failing: %s", n, v.reason)
	given := noticed("APPROVE+WARN", text, "Hook "+c.guard.Name+": "+text)
	given.Row = v.Row
	return given
}
