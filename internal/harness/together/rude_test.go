package together_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// soon is a lock timeout of a hook that is expected to give up.
const soon = 200 * time.Millisecond

// meeting is a client that has read and not yet written, and a hook that comes in
// between.
type meeting struct {
	name string
	do   func(ids []int) order
	ask  call
}

var meetings = []meeting{
	{"a task is created", func([]int) order { return order{Op: "create", Subject: "by a client"} }, call{skill: "one"}},
	{"a task of the skill is updated", func(ids []int) order { return order{Op: "update", ID: ids[0]} }, call{skill: "three"}},
}

// begin hydrates and has a client begin the order.
func (m meeting) begin(t *testing.T, launch launcher, rude bool) (*world, *history, *client, order) {
	w := newWorld(t)
	w.manual(t, 1)
	before := w.files(t)
	first := w.run(t, call{skill: "three"})
	require.Len(t, first.created, 3)
	h := &history{statuses: w.skills, before: before, ledger: newLedger(), outcomes: []outcome{first}}
	c := w.client(t, launch)
	o := m.do([]int{taskID(first.created[0])})
	o.Wait, o.Rude = true, rude
	c.send(o)
	require.True(t, c.answer().Paused)
	return w, h, c, o
}

// end lets the client write, and adds what it did to the history.
func (m meeting) end(t *testing.T, w *world, h *history, c *client, o order) {
	c.send(order{})
	a := c.answer()
	require.Empty(t, a.Error)
	if o.Op == "create" {
		h.ledger.given = append(h.ledger.given, a.ID)
		h.ledger.tasks[a.ID] = &manual{subject: o.Subject}
	}
	h.after = w.files(t)
}

// TestHookMeetsClient has the hook come while a client holds a lock: it gives up
// when its time is over, and hydrates when the client has finished.
func TestHookMeetsClient(t *testing.T) {
	for _, m := range meetings {
		t.Run(m.name, func(t *testing.T) { m.play(t, goClient) })
	}
}

func (m meeting) play(t *testing.T, launch launcher) {
	w, h, c, o := m.begin(t, launch, false)
	held := w.files(t)
	ask := m.ask
	ask.timeout = soon
	got := w.run(t, ask)
	assert.Equal(t, 2, got.code, "%s", got)
	assert.Equal(t, held, w.files(t))
	m.end(t, w, h, c, o)
	h.outcomes = append(h.outcomes, w.run(t, m.ask))
	h.after = w.files(t)
	assert.Empty(t, h.violations())
	assert.Empty(t, w.leftovers(t))
}

// TestRudeClientIsNoticed shows that the checks find what a client does that takes
// no lock, so that its write undoes what a hook did.
func TestRudeClientIsNoticed(t *testing.T) {
	for _, m := range meetings {
		t.Run(m.name, func(t *testing.T) {
			w, h, c, o := m.begin(t, goClient, true)
			h.outcomes = append(h.outcomes, w.run(t, m.ask))
			m.end(t, w, h, c, o)
			assert.NotEmpty(t, h.violations())
		})
	}
}

// TestBlindHookIsNoticed shows the same of a hook that takes no lock.
func TestBlindHookIsNoticed(t *testing.T) {
	for _, m := range meetings {
		t.Run(m.name, func(t *testing.T) {
			w, h, c, o := m.begin(t, goClient, false)
			ask := m.ask
			ask.told = &turn{Blind: true}
			h.outcomes = append(h.outcomes, w.run(t, ask))
			m.end(t, w, h, c, o)
			assert.NotEmpty(t, h.violations())
		})
	}
}
