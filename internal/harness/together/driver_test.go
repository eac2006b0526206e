package together_test

import (
	"bufio"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// launcher makes the command of a client of a list.
type launcher func(dir string) *exec.Cmd

func goClient(dir string) *exec.Cmd {
	c := exec.Command(os.Args[0], dir)
	c.Env = []string{play + "=client", raceOptions}
	return c
}

// client is a client's process.
type client struct {
	t      *testing.T
	world  *world
	launch launcher
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
}

func (w *world) client(t *testing.T, launch launcher) *client {
	t.Helper()
	c := &client{t: t, world: w, launch: launch}
	c.start()
	t.Cleanup(c.stop)
	return c
}

func (c *client) start() {
	c.cmd = c.launch(c.world.list())
	var err error
	c.in, err = c.cmd.StdinPipe()
	require.NoError(c.t, err)
	out, err := c.cmd.StdoutPipe()
	require.NoError(c.t, err)
	c.cmd.Stderr = os.Stderr
	require.NoError(c.t, c.cmd.Start())
	c.out = bufio.NewScanner(out)
}

// stop lets the client come to its end.
func (c *client) stop() {
	_ = c.in.Close()
	_ = c.cmd.Wait()
}

// send gives an order or, to go on after a pause, nothing; answer reads what came
// of it.
func (c *client) send(o order) {
	line, err := json.Marshal(o)
	require.NoError(c.t, err)
	_, err = c.in.Write(append(line, '\n'))
	require.NoError(c.t, err)
}

func (c *client) answer() (a answer) {
	require.True(c.t, c.out.Scan(), "the client said nothing")
	require.NoError(c.t, json.Unmarshal(c.out.Bytes(), &a), "%s", c.out.Text())
	return a
}

func (c *client) do(o order) answer {
	c.send(o)
	a := c.answer()
	if o.Die != "" {
		c.bury(o)
	}
	return a
}

// bury waits for the death that was ordered, lets the lock that it left grow old
// and starts the next client.
func (c *client) bury(o order) {
	c.stop()
	lock := ".lock.lock"
	if o.Op == "update" {
		lock = taskName(o.ID) + ".lock"
	}
	past := time.Now().Add(-2 * stale)
	_ = os.Chtimes(c.world.at(lock), past, past)
	c.start()
}

// worker is a client that does things by chance.
type worker struct {
	*client
	rng    *rand.Rand
	ledger *ledger
	own    []int // tasks it created
	shared []int // tasks that every client updates
	first  bool  // only this one works on the tasks of skills
	dies   bool
	plants bool // leaves stale locks about
}

// work does n things. A client that deletes takes no lock, so that two of them
// can undo one another's work; each therefore keeps to its own.
func (w *worker) work(n int) {
	for range n {
		if w.plants && w.rng.IntN(5) == 0 {
			w.plant()
		}
		switch p := w.rng.IntN(100); {
		case p < 35:
			w.create()
		case p < 55:
			w.update(w.pick(w.own))
		case p < 70:
			w.update(w.pick(w.shared))
		case p < 77:
			w.remove(w.pick(w.own))
		case w.first && p < 90:
			w.touchSkills()
		case w.first:
			w.removeSkills()
		}
	}
}

func (w *worker) pick(ids []int) int {
	if len(ids) == 0 {
		return 0
	}
	return ids[w.rng.IntN(len(ids))]
}

func (w *worker) order(op string, id int) order {
	return order{Op: op, ID: id, Subject: "by a client", Pad: w.rng.IntN(300)}
}

func (w *worker) mayDie(o *order, how ...string) {
	if w.dies && w.rng.IntN(12) == 0 {
		o.Die = how[w.rng.IntN(len(how))]
	}
}

func (w *worker) create() {
	o := w.order("create", 0)
	w.mayDie(&o, "locked", "written")
	a := w.do(o)
	if a.Error != "" {
		w.expect(o, a, "locked", "died")
		return
	}
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	w.ledger.given = append(w.ledger.given, a.ID)
	w.ledger.tasks[a.ID] = &manual{subject: o.Subject}
	w.own = append(w.own, a.ID)
}

func (w *worker) expect(o order, a answer, errors ...string) {
	if a.Error != "" && !slices.Contains(errors, a.Error) {
		w.t.Errorf("a client was to %s %d: %s", o.Op, o.ID, a.Error)
	}
}

// update counts a task of a client up.
func (w *worker) update(id int) {
	if id == 0 {
		return
	}
	o := w.order("update", id)
	if slices.Contains(w.own, id) {
		w.mayDie(&o, "locked", "torn", "written")
	}
	a := w.do(o)
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	task := w.ledger.tasks[id]
	if task.torn {
		return
	}
	w.expect(o, a, "locked", "died")
	if a.Error == "" {
		task.count++
		task.torn = o.Die == "torn"
	}
}

func (w *worker) remove(id int) {
	if id == 0 {
		return
	}
	o := w.order("delete", id)
	w.expect(o, w.delete(o))
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	w.ledger.tasks[id].deleted = true
	w.own = slices.DeleteFunc(w.own, func(n int) bool { return n == id })
}

// delete lets no other client delete meanwhile. Two of them may read the mark
// before either writes it, and then the lower one stays: the number of a task that
// is gone is given again, whether there are hooks or not.
func (w *worker) delete(o order) answer {
	w.ledger.deleting.Lock()
	defer w.ledger.deleting.Unlock()
	return w.do(o)
}

// aSkills picks a task that a skill made; 0 if there is none.
func (w *worker) aSkills() int {
	names := w.world.names()
	w.rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names {
		data, err := os.ReadFile(w.world.at(name))
		if v, broken := (file{text: string(data)}).task(); err == nil && broken == nil && v.Metadata.FSM != nil {
			return taskID(name)
		}
	}
	return 0
}

// touchSkills updates a task of a skill, which may be deleted meanwhile.
func (w *worker) touchSkills() {
	if id := w.aSkills(); id != 0 {
		o := w.order("update", id)
		w.mayDie(&o, "locked", "written")
		w.expect(o, w.do(o), "locked", "gone", "died")
	}
}

func (w *worker) removeSkills() {
	id := w.aSkills()
	if id == 0 {
		return
	}
	w.ledger.mu.Lock()
	w.ledger.doomed[id] = true
	w.ledger.mu.Unlock()
	o := w.order("delete", id)
	a := w.delete(o)
	w.expect(o, a, "gone")
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	if a.Error == "" {
		w.ledger.deleted[id] = true
	}
}

// plant leaves a lock about as somebody did who died long ago.
func (w *worker) plant() {
	lock := ".lock.lock"
	if id := w.aSkills(); id != 0 && w.rng.IntN(2) == 0 {
		lock = taskName(id) + ".lock"
	}
	if os.Mkdir(w.world.at(lock), 0o755) == nil {
		past := time.Now().Add(-2 * stale)
		_ = os.Chtimes(w.world.at(lock), past, past)
	}
}
