package together_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// untouchedTasks is the number of tasks, from 1 on, that nobody has a reason to
// touch.
const untouchedTasks = 3

// round is one time of hooks and clients at work on one list.
type round struct {
	name    string
	clients int // where locks are left behind one only: two can break one another's rules
	things  int // that each client does
	hooks   int // at a time
	calls   int // of each
	plants  bool
	dying   bool // clients are killed while they hold locks
	killing bool // hooks are, or are interrupted, at a step by chance
}

var rounds = []round{
	{name: "undisturbed", clients: 3, things: 50, hooks: 3, calls: 12},
	{name: "stale locks", clients: 1, things: 50, hooks: 2, calls: 10, plants: true},
	{name: "clients killed", clients: 1, things: 60, hooks: 2, calls: 10, dying: true},
	{name: "hooks killed", clients: 3, things: 50, hooks: 3, calls: 12, killing: true},
	{name: "all of it", clients: 1, things: 60, hooks: 3, calls: 10, plants: true, dying: true, killing: true},
}

// TestBesideClients lets hooks and clients work on one list.
func TestBesideClients(t *testing.T) {
	for n := range uint64(3 * len(rounds)) {
		r := rounds[n%uint64(len(rounds))]
		t.Run(r.name, func(t *testing.T) { r.play(t, newWorld(t), goClient, n) })
	}
}

// play runs the round to its end and holds what happened against the promises.
func (r round) play(t *testing.T, w *world, launch launcher, seed uint64) {
	for n := range untouchedTasks {
		w.manual(t, n+1)
	}
	h := &history{statuses: w.skills, before: w.files(t), ledger: newLedger(), killed: r.killing}
	shared := w.shared(t, launch, h.ledger)
	var all sync.WaitGroup
	for i := range r.clients {
		k := &worker{
			client: w.client(t, launch), rng: rand.New(rand.NewPCG(seed, uint64(i))), ledger: h.ledger,
			shared: shared, first: i == 0, dies: r.dying, plants: r.plants,
		}
		all.Go(func() { k.work(r.things) })
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
	h.after = w.files(t)
	assert.Empty(t, h.violations(), "seed %d", seed)
	assert.Empty(t, w.leftovers(t), "seed %d", seed)
	t.Logf("%s", h.summary())
}

// shared are tasks that every client updates.
func (w *world) shared(t *testing.T, launch launcher, l *ledger) (ids []int) {
	c := w.client(t, launch)
	for range 2 {
		a := c.do(order{Op: "create", Subject: "for all"})
		require.Empty(t, a.Error)
		ids = append(ids, a.ID)
		l.given = append(l.given, a.ID)
		l.tasks[a.ID] = &manual{subject: "for all"}
	}
	return ids
}

// hydrate calls hooks one after the other. The last one is not killed, so that no
// client has to wait for a lock that nobody is left to release.
func (r round) hydrate(t *testing.T, w *world, rng *rand.Rand) (outcomes []outcome) {
	for n := range r.calls {
		c := someCalls(rng)[1]
		if c.skill == "none" {
			c.skill = "five" // a mark that a client reads before and writes after cannot be held
		}
		if r.killing && n < r.calls-1 && rng.IntN(3) == 0 {
			signals := []syscall.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGTERM}
			c.told = &turn{Signal: signals[rng.IntN(len(signals))], At: 1 + rng.IntN(80)}
		}
		outcomes = append(outcomes, w.run(t, c))
	}
	return outcomes
}

// recover finishes what the last of the killed left over.
func (w *world) recover(t *testing.T) {
	t.Helper()
	c := exec.Command(os.Args[0], "recover", "--session", "list")
	c.Env = []string{"HOME=" + w.home, play + "=hook", raceOptions}
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func (h *history) summary() string {
	count := map[string]int{}
	for _, o := range h.outcomes {
		switch {
		case o.signal != 0:
			count["killed"]++
		case o.ended():
			count["interrupted"]++
		case o.refused():
			count["refused"]++
		case o.committed:
			count["hydrated"]++
		}
	}
	return fmt.Sprintf("hooks: %v; tasks of clients: %d, of skills deleted by clients: %d", count, len(h.ledger.given), len(h.ledger.deleted))
}
