package gates

import (
	"context"

	"github.com/fsmtx/fsmtx/internal/git"
	"github.com/fsmtx/fsmtx/internal/state"
)

// A statement says on which files a decision stood: a command of a step on those from before it ran to after it ended, a completion
// without one on those at that moment. It is found out without a lock.

// contentNow returns on what stands what is found out now in a directory; nil if nobody asks.
func (c *call) contentNow(ctx context.Context, dir string) *git.Content {
	return state.ContentNow(ctx, dir, state.ObjectsOf(c.List.Dir))
}

// ran notes on what a command of a step has run: on what was there before it and after it.
func (c *call) ran(ctx context.Context, b *state.Current, dir string, before *git.Content) {
	if before == nil {
		return
	}
	on := *before
	if earlier := c.ranOn[b.ID]; earlier != nil {
		on = earlier.Then(on)
	}
	after := git.Content{Unknown: "the policy of the repository was gone after the command had run"}
	if now := c.contentNow(context.WithoutCancel(ctx), dir); now != nil {
		after = *now
	}
	c.ranOn[b.ID] = new(on.Then(after))
}

// content returns on what the decision about a step stands: on what its commands ran, else what was found out for the target.
func (c *call) content(b *state.Current) *git.Content {
	if ran := c.ranOn[b.ID]; ran != nil || b.ID != c.target.ID {
		return ran
	}
	return c.stood
}
