//go:build together

package together_test

import (
	"bufio"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// A client is a process that reads one order a line and answers with one line: testdata/client/client.js follows the client's protocol
// (facts 5 and 13 to 16 of docs/internals/client-facts.md) with the client's own locking library.

// order tells a client what to do.
type order struct {
	Op      string `json:"op"` // create, update or delete
	ID      int    `json:"id"`
	Subject string `json:"subject"`
	Pad     int    `json:"pad"`  // length of the description's padding
	Die     string `json:"die"`  // locked: holding the lock; torn: halfway through the write; written: before the release
	Wait    bool   `json:"wait"` // between reading and writing, answer and wait for a line
}

// answer is the result of an order.
type answer struct {
	ID     int    `json:"id"`
	Count  int    `json:"count"`  // updates of the task so far
	Error  string `json:"error"`  // locked, gone, broken or died
	Paused bool   `json:"paused"` // between reading and writing
}

// launcher returns the command of a client for a list.
type launcher func(dir string) *exec.Cmd

// running is the process of a client.
type running struct {
	t      *testing.T
	world  *world
	launch launcher
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
}

func (w *world) startClient(t *testing.T, launch launcher) *running {
	t.Helper()
	c := &running{t: t, world: w, launch: launch}
	c.start()
	t.Cleanup(c.stop)
	return c
}

func (c *running) start() {
	c.cmd = c.launch(c.world.List())
	var err error
	c.in, err = c.cmd.StdinPipe()
	require.NoError(c.t, err)
	out, err := c.cmd.StdoutPipe()
	require.NoError(c.t, err)
	c.cmd.Stderr = os.Stderr
	require.NoError(c.t, c.cmd.Start())
	c.out = bufio.NewScanner(out)
}

// stop waits for the client to end.
func (c *running) stop() {
	_ = c.in.Close()
	_ = c.cmd.Wait()
}

// send sends an order; an empty one lets the client continue after a pause.
func (c *running) send(o order) {
	line, err := json.Marshal(o)
	require.NoError(c.t, err)
	_, err = c.in.Write(append(line, '\n'))
	require.NoError(c.t, err)
}

// receive returns the answer to the last order.
func (c *running) receive() (a answer) {
	require.True(c.t, c.out.Scan(), "the client gave no answer")
	require.NoError(c.t, json.Unmarshal(c.out.Bytes(), &a), "%s", c.out.Text())
	return a
}

func (c *running) do(o order) answer {
	c.send(o)
	a := c.receive()
	if o.Die != "" {
		c.replaceDead(o)
	}
	return a
}

// replaceDead waits for the death that was ordered, makes the lock that is left stale
// and starts another client.
func (c *running) replaceDead(o order) {
	c.stop()
	lock := ".lock.lock"
	if o.Op == "update" {
		lock = worlds.TaskName(o.ID) + ".lock"
	}
	past := time.Now().Add(-2 * stale)
	_ = os.Chtimes(c.world.InList(lock), past, past)
	c.start()
}

// sharedLedger is the ledger of clients that run at once.
type sharedLedger struct {
	*ledger
	mu        sync.Mutex
	oneDelete sync.Mutex // see worker.delete
}

func newLedger() *sharedLedger {
	return &sharedLedger{ledger: &ledger{tasks: map[int]*clientTask{}, deleting: map[int]bool{}, deleted: map[int]bool{}}}
}

// worker is a client that acts at random.
type worker struct {
	*running
	rng        *rand.Rand
	ledger     *sharedLedger
	own        []int // tasks it created
	shared     []int // tasks that every client updates
	first      bool  // only the first worker changes the tasks of skills
	dies       bool
	staleLocks bool // leave stale locks behind
}

// work performs n actions. A client deletes without a lock, so two of them could undo
// each other's work; therefore each deletes only its own tasks.
func (w *worker) work(n int) {
	for range n {
		if w.staleLocks && w.rng.IntN(5) == 0 {
			w.leaveStaleLock()
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
			w.updateSkillTask()
		case w.first:
			w.deleteSkillTask()
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

func (w *worker) maybeDie(o *order, how ...string) {
	if w.dies && w.rng.IntN(12) == 0 {
		o.Die = how[w.rng.IntN(len(how))]
	}
}

func (w *worker) create() {
	o := w.order("create", 0)
	w.maybeDie(&o, "locked", "written")
	a := w.do(o)
	if a.Error != "" {
		w.expect(o, a, "locked", "died")
		return
	}
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	w.ledger.given = append(w.ledger.given, a.ID)
	w.ledger.tasks[a.ID] = &clientTask{subject: o.Subject}
	w.own = append(w.own, a.ID)
}

func (w *worker) expect(o order, a answer, errors ...string) {
	if a.Error != "" && !slices.Contains(errors, a.Error) {
		w.t.Errorf("a client failed to %s task %d: %s", o.Op, o.ID, a.Error)
	}
}

// update increments the counter in a task of a client.
func (w *worker) update(id int) {
	if id == 0 {
		return
	}
	o := w.order("update", id)
	if slices.Contains(w.own, id) {
		w.maybeDie(&o, "locked", "torn", "written")
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
		task.updates++
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

// delete excludes other clients that delete. Two of them may both read the high-water
// mark before either writes it, and then the lower one may stay: the client itself
// gives a deleted task's number again.
func (w *worker) delete(o order) answer {
	w.ledger.oneDelete.Lock()
	defer w.ledger.oneDelete.Unlock()
	return w.do(o)
}

// randomSkillTask returns the number of a task of a skill, 0 if there is none.
func (w *worker) randomSkillTask() int {
	names := w.world.names()
	w.rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names {
		data, err := os.ReadFile(w.world.InList(name))
		if v, parseErr := parseTask(worlds.File{Text: string(data)}); err == nil && parseErr == nil && v.Metadata.FSM != nil {
			return worlds.TaskNumber(name)
		}
	}
	return 0
}

// updateSkillTask updates a task of a skill, which a hook may delete at the same time.
func (w *worker) updateSkillTask() {
	if id := w.randomSkillTask(); id != 0 {
		o := w.order("update", id)
		w.maybeDie(&o, "locked", "written")
		w.expect(o, w.do(o), "locked", "gone", "died")
	}
}

func (w *worker) deleteSkillTask() {
	id := w.randomSkillTask()
	if id == 0 {
		return
	}
	w.ledger.mu.Lock()
	w.ledger.deleting[id] = true
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

// leaveStaleLock creates a lock as a client does that died long ago.
func (w *worker) leaveStaleLock() {
	lock := ".lock.lock"
	if id := w.randomSkillTask(); id != 0 && w.rng.IntN(2) == 0 {
		lock = worlds.TaskName(id) + ".lock"
	}
	if os.Mkdir(w.world.InList(lock), 0o755) == nil {
		past := time.Now().Add(-2 * stale)
		_ = os.Chtimes(w.world.InList(lock), past, past)
	}
}
