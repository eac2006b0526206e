//go:build together

package together_test

import (
	"math/rand/v2"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/program"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// manualTasks is the number of tasks of the user, from 1 on, that no process changes.
const manualTasks = 3

// round runs hooks and clients on one list.
type round struct {
	name        string
	clients     int  // one where locks become stale: two clients that take over the same one can hold it both
	actions     int  // of each client
	hooks       int  // at a time
	calls       int  // of each
	staleLocks  bool // clients leave stale locks behind
	killClients bool // kill clients while they hold locks
	killHooks   bool // kill or interrupt hooks at a random step
}

var rounds = []round{
	{name: "undisturbed", clients: 3, actions: 50, hooks: 3, calls: 12},
	{name: "stale locks", clients: 1, actions: 50, hooks: 2, calls: 10, staleLocks: true},
	{name: "clients killed", clients: 1, actions: 60, hooks: 2, calls: 10, killClients: true},
	{name: "hooks killed", clients: 3, actions: 50, hooks: 3, calls: 12, killHooks: true},
	{name: "everything", clients: 1, actions: 60, hooks: 3, calls: 10, staleLocks: true, killClients: true, killHooks: true},
}

// run runs the round and checks what happened.
func (r round) run(t *testing.T, w *world, launch launcher, seed uint64) {
	for n := range manualTasks {
		w.addManualTask(t, n+1)
	}
	ledger := newLedger()
	h := &history{before: w.Tasks(t), ledger: ledger.ledger, killed: r.killHooks}
	shared := w.createShared(t, launch, ledger)
	var all sync.WaitGroup
	for i := range r.clients {
		k := &worker{
			running: w.startClient(t, launch), rng: rand.New(rand.NewPCG(seed, uint64(i))), ledger: ledger,
			shared: shared, first: i == 0, dies: r.killClients, staleLocks: r.staleLocks,
		}
		all.Go(func() { k.work(r.actions) })
	}
	outcomes := make([][]outcome, r.hooks)
	for i := range r.hooks {
		rng := rand.New(rand.NewPCG(seed, uint64(100+i)))
		all.Go(func() { outcomes[i] = r.hydrate(t, w, rng) })
	}
	all.Wait()
	w.recover(t)
	for _, o := range outcomes {
		h.outcomes = append(h.outcomes, o...)
	}
	h.after = w.Tasks(t)
	assert.Empty(t, h.violations(), "seed %d", seed)
	assert.Empty(t, w.leftovers(t), "seed %d", seed)
}

// createShared creates two tasks that every client updates.
func (w *world) createShared(t *testing.T, launch launcher, l *sharedLedger) (ids []int) {
	c := w.startClient(t, launch)
	for range 2 {
		a := c.do(order{Op: "create", Subject: "for all"})
		require.Empty(t, a.Error)
		ids = append(ids, a.ID)
		l.given = append(l.given, a.ID)
		l.tasks[a.ID] = &clientTask{subject: "for all"}
	}
	return ids
}

// hydrate calls hooks one after the other. The last one is not killed, so that the
// locks of a killed hook are released while clients wait for them.
func (r round) hydrate(t *testing.T, w *world, rng *rand.Rand) (outcomes []outcome) {
	for n := range r.calls {
		c := randomCallBesideClients(rng)
		if r.killHooks && n < r.calls-1 && rng.IntN(3) == 0 {
			c.script = killedAtRandom(rng)
		}
		outcomes = append(outcomes, w.run(t, c))
	}
	return outcomes
}

// recover runs fsmtx recover for what the last killed hook left over.
func (w *world) recover(t *testing.T) {
	t.Helper()
	c := exec.Command(program.Path(t), "recover", "--list", worlds.ListID)
	c.Env = []string{"HOME=" + w.Dir, raceOptions}
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

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

// run runs a hook while a client holds a lock: the hook gives up after its timeout, and another hydrates when the client has finished.
func (i interleaving) run(t *testing.T, launch launcher) {
	w := newWorld(t)
	w.addManualTask(t, 1)
	h := &history{before: w.Tasks(t), ledger: newLedger().ledger}
	first := w.run(t, call{skill: "three"})
	require.Len(t, first.created, 3)
	c := w.startClient(t, launch)
	o := i.order(worlds.TaskNumber(first.created[0]))
	o.Wait = true
	c.send(o)
	require.True(t, c.receive().Paused)

	before := w.Tasks(t)
	waiting := i.call
	waiting.timeout = shortTimeout
	got := w.run(t, waiting)
	assert.Equal(t, 2, got.code, "%s", got)
	assert.Equal(t, before, w.Tasks(t))

	c.send(order{})
	a := c.receive()
	require.Empty(t, a.Error)
	if o.Op == "create" {
		h.ledger.given = append(h.ledger.given, a.ID)
		h.ledger.tasks[a.ID] = &clientTask{subject: o.Subject}
	}
	h.outcomes = []outcome{first, w.run(t, i.call)}
	h.after = w.Tasks(t)
	assert.Empty(t, h.violations())
	assert.Empty(t, w.leftovers(t))
}

// randomCallBesideClients is a randomCall that always creates tasks: a client that deletes
// may overwrite the high-water mark with a lower one, and only created tasks keep the
// numbers above it from being given again.
func randomCallBesideClients(rng *rand.Rand) call {
	c := randomCall(rng)
	if c.skill == "none" {
		c.skill = "five"
	}
	return c
}

// killedAtRandom is a script that kills or interrupts the hook before a random step.
func killedAtRandom(rng *rand.Rand) *script {
	signals := []syscall.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGTERM}
	return &script{Signal: signals[rng.IntN(len(signals))], At: 1 + rng.IntN(80)}
}
