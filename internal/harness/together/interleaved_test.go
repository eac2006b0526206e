package together_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// shortTimeout is the lock timeout of a hook that is expected to give up.
const shortTimeout = 500 * time.Millisecond

// interleaving has a hook run while a client is between reading and writing.
type interleaving struct {
	name  string
	order func(skillTask int) order // of the client
	call  call                      // of the hook
}

var interleavings = []interleaving{
	{"a task is created", func(int) order { return order{Op: "create", Subject: "by a client"} }, call{skill: "one"}},
	{"a task of the skill is updated", func(id int) order { return order{Op: "update", ID: id} }, call{skill: "three"}},
}

// start hydrates and lets a client read; its write is pending. lock says whether the
// client keeps to the protocol.
func (i interleaving) start(t *testing.T, launch launcher, lock bool) (*world, *history, *emulated, order) {
	w := newWorld(t)
	w.addManualTask(t, 1)
	before := w.Tasks(t)
	first := w.run(t, call{skill: "three"})
	require.Len(t, first.created, 3)
	h := &history{before: before, ledger: newLedger(), outcomes: []outcome{first}}
	c := w.startClient(t, launch)
	o := i.order(worlds.TaskNumber(first.created[0]))
	o.Wait, o.SkipLocks = true, !lock
	c.send(o)
	require.True(t, c.receive().Paused)
	return w, h, c, o
}

// finish lets the client write and adds the result to the history.
func (i interleaving) finish(t *testing.T, w *world, h *history, c *emulated, o order) {
	c.send(order{})
	a := c.receive()
	require.Empty(t, a.Error)
	if o.Op == "create" {
		h.ledger.given = append(h.ledger.given, a.ID)
		h.ledger.tasks[a.ID] = &clientTask{subject: o.Subject}
	}
	h.after = w.Tasks(t)
}

// TestHookWaitsForClient runs a hook while a client holds a lock: the hook gives up
// after its timeout, and another hydrates when the client has finished.
func TestHookWaitsForClient(t *testing.T) {
	for _, i := range interleavings {
		t.Run(i.name, func(t *testing.T) { i.run(t, goEmulator) })
	}
}

func (i interleaving) run(t *testing.T, launch launcher) {
	w, h, c, o := i.start(t, launch, true)
	before := w.Tasks(t)
	call := i.call
	call.timeout = shortTimeout
	got := w.run(t, call)
	assert.Equal(t, 2, got.code, "%s", got)
	assert.Equal(t, before, w.Tasks(t))
	i.finish(t, w, h, c, o)
	h.outcomes = append(h.outcomes, w.run(t, i.call))
	h.after = w.Tasks(t)
	assert.Empty(t, h.violations())
	assert.Empty(t, w.leftovers(t))
}

// TestChecksFindAClientWithoutLocks: a client that takes no lock undoes what the hook
// did.
func TestChecksFindAClientWithoutLocks(t *testing.T) {
	for _, i := range interleavings {
		t.Run(i.name, func(t *testing.T) {
			w, h, c, o := i.start(t, goEmulator, false)
			h.outcomes = append(h.outcomes, w.run(t, i.call))
			i.finish(t, w, h, c, o)
			assert.NotEmpty(t, h.violations())
		})
	}
}

// TestChecksFindAHookWithoutLocks: a hook that takes no lock interferes with the
// client.
func TestChecksFindAHookWithoutLocks(t *testing.T) {
	for _, i := range interleavings {
		t.Run(i.name, func(t *testing.T) {
			w, h, c, o := i.start(t, goEmulator, true)
			call := i.call
			call.script = &script{IgnoreLocks: true}
			h.outcomes = append(h.outcomes, w.run(t, call))
			i.finish(t, w, h, c, o)
			assert.NotEmpty(t, h.violations())
		})
	}
}
