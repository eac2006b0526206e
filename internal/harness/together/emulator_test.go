package together_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// A client is a process that reads one order a line and answers with one line. This
// file emulates it in Go; testdata/client/client.js uses the client's own locking
// library.

// order tells a client what to do.
type order struct {
	Op      string `json:"op"` // create, update or delete
	ID      int    `json:"id"`
	Subject string `json:"subject"`
	Pad     int    `json:"pad"`  // length of the description's padding
	Die     string `json:"die"`  // locked: holding the lock; torn: halfway through the write; written: before the release
	Wait    bool   `json:"wait"` // between reading and writing, answer and wait for a line

	SkipLocks bool `json:"skipLocks"` // a deliberate break of the protocol
}

// answer is the result of an order.
type answer struct {
	ID     int    `json:"id"`
	Count  int    `json:"count"`  // updates of the task so far
	Error  string `json:"error"`  // locked, gone, broken or died
	Paused bool   `json:"paused"` // between reading and writing
}

var (
	errLocked = errors.New("locked")
	errGone   = errors.New("gone")
	errBroken = errors.New("broken")
	errDied   = errors.New("died")
)

// emulator follows the client's protocol (facts 5 and 13 to 16 of docs/internals/client-facts.md)
// in the list dir.
type emulator struct {
	dir string
	in  *bufio.Scanner
}

func runClientEmulator(dir string) int {
	c := &emulator{dir: dir, in: bufio.NewScanner(os.Stdin)}
	for c.in.Scan() {
		var o order
		if err := json.Unmarshal(c.in.Bytes(), &o); err != nil {
			return printError(err)
		}
		a, err := c.carryOut(o)
		if err != nil {
			a.Error = err.Error()
		}
		c.reply(a)
		if o.Die != "" {
			c.die()
		}
	}
	return 0
}

func (c *emulator) reply(a answer) {
	line, _ := json.Marshal(a)
	fmt.Println(string(line))
}

func (c *emulator) die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // until the signal arrives
}

func (c *emulator) carryOut(o order) (answer, error) {
	switch o.Op {
	case "create":
		return c.create(o)
	case "update":
		return c.update(o, countUp)
	}
	return c.remove(o)
}

// create takes the lock of the list, whose file it creates first, and uses the number
// after the highest.
func (c *emulator) create(o order) (a answer, err error) {
	if f, err := os.OpenFile(c.path(".lock"), os.O_WRONLY|os.O_CREATE, 0o666); err == nil {
		_ = f.Close()
	}
	release, err := c.lock(".lock", o)
	if err != nil {
		return a, err
	}
	defer release(o)
	a.ID = c.highest() + 1
	c.pause(o)
	if o.Die == "locked" {
		return a, errDied
	}
	text := fmt.Sprintf("{\n  \"id\": \"%d\",\n  \"subject\": %q,\n  \"description\": %q,\n  \"status\": \"pending\",\n  \"blocks\": "+
		"[],\n  \"blockedBy\": []\n}",
		a.ID, o.Subject, padded(0, o.Pad))
	return a, c.put(worlds.TaskName(a.ID), []byte(text), false)
}

// highest reads the names before the mark, because a client that deletes a task writes
// the mark first.
func (c *emulator) highest() int {
	entries, _ := os.ReadDir(c.dir)
	top := 0
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			top = max(top, worlds.TaskNumber(e.Name()))
		}
	}
	return max(top, c.mark())
}

func (c *emulator) mark() int {
	data, _ := os.ReadFile(c.path(".highwatermark"))
	n, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	return n
}

// update takes the task's lock, reads the task again and writes it in place.
func (c *emulator) update(o order, change func(fields, order)) (a answer, err error) {
	name := worlds.TaskName(o.ID)
	if _, err := os.Lstat(c.path(name)); err != nil {
		return a, errGone
	}
	release, err := c.lock(name, o)
	if err != nil {
		return a, err
	}
	defer release(o)
	data, err := os.ReadFile(c.path(name))
	if err != nil {
		return a, errGone
	}
	task := fields{}
	if err := json.Unmarshal(data, &task); err != nil {
		return a, errBroken
	}
	change(task, o)
	a.ID, a.Count = o.ID, task.count()
	c.pause(o)
	if o.Die == "locked" {
		return answer{}, errDied
	}
	text, _ := json.Marshal(task, jsontext.WithIndent("  "), json.Deterministic(true))
	return a, c.put(name, text, o.Die == "torn")
}

// remove takes no lock. Afterwards it updates the tasks that are blocked by this one.
func (c *emulator) remove(o order) (a answer, err error) {
	if _, err := os.Lstat(c.path(worlds.TaskName(o.ID))); err != nil {
		return a, errGone
	}
	if c.mark() < o.ID {
		_ = c.put(".highwatermark", []byte(strconv.Itoa(o.ID)), false)
	}
	c.pause(o)
	if err := os.Remove(c.path(worlds.TaskName(o.ID))); err != nil {
		return a, errGone
	}
	c.strip(o)
	return answer{ID: o.ID}, nil
}

func (c *emulator) strip(o order) {
	entries, _ := os.ReadDir(c.dir)
	for _, e := range entries {
		data, err := os.ReadFile(c.path(e.Name()))
		if strings.HasSuffix(e.Name(), ".json") && err == nil && mentions(data, o.ID) {
			_, _ = c.update(order{ID: worlds.TaskNumber(e.Name()), SkipLocks: o.SkipLocks}, func(task fields, _ order) { task.unblock(o.ID) })
		}
	}
}

func mentions(data []byte, id int) bool {
	task := fields{}
	return json.Unmarshal(data, &task) == nil && slices.Contains(task.blockedBy(), strconv.Itoa(id))
}

// put writes as the client does: in place, then it truncates the file.
func (c *emulator) put(name string, data []byte, torn bool) error {
	f, err := os.OpenFile(c.path(name), os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	if torn {
		_, err = f.Write(data[:len(data)/2])
		return errors.Join(err, f.Truncate(int64(len(data)/2)))
	}
	if _, err = f.Write(data); err != nil {
		return err
	}
	return f.Truncate(int64(len(data)))
}

// pause lets another process act between reading and writing.
func (c *emulator) pause(o order) {
	if o.Wait {
		c.reply(answer{Paused: true})
		c.in.Scan()
	}
}

func (c *emulator) path(name string) string { return filepath.Join(c.dir, name) }

// lock creates the directory name.lock, with as many attempts as the client makes.
func (c *emulator) lock(name string, o order) (release func(order), err error) {
	if o.SkipLocks {
		return func(order) {}, nil
	}
	path := c.path(name + ".lock")
	for try := range 31 {
		if c.acquire(path) {
			return func(o order) {
				if o.Die == "" {
					_ = os.Remove(path)
				}
			}, nil
		}
		time.Sleep(min(5*time.Millisecond<<try, 100*time.Millisecond))
	}
	return nil, errLocked
}

const stale = 10 * time.Second

// acquire takes a free lock, or takes over a stale one. Like the client's library it
// then sets the mtime of the lock up to a second into the future.
func (c *emulator) acquire(path string) bool {
	err := os.Mkdir(path, 0o777)
	if errors.Is(err, fs.ErrExist) {
		info, err := os.Stat(path)
		if err == nil && time.Since(info.ModTime()) <= stale {
			return false
		}
		if err == nil {
			_ = os.Remove(path)
		}
		return os.Mkdir(path, 0o777) == nil
	}
	if err == nil {
		ahead := time.Now().Truncate(time.Second).Add(time.Second + 5*time.Millisecond)
		_ = os.Chtimes(path, ahead, ahead)
	}
	return err == nil
}

// fields is a task as the client rewrites it.
type fields map[string]jsontext.Value

func (f fields) blockedBy() (ids []string) {
	_ = json.Unmarshal(f["blockedBy"], &ids)
	return ids
}

func (f fields) unblock(id int) {
	left := slices.DeleteFunc(f.blockedBy(), func(s string) bool { return s == strconv.Itoa(id) })
	f["blockedBy"], _ = json.Marshal(left)
}

// count returns the counter in the description. The description is padded so that an
// update can make the file longer or shorter.
func (f fields) count() int {
	var description string
	_ = json.Unmarshal(f["description"], &description)
	return countOf(description)
}

func countUp(f fields, o order) { f["description"], _ = json.Marshal(padded(f.count()+1, o.Pad)) }

func padded(count, pad int) string {
	return "count=" + strconv.Itoa(count) + " " + strings.Repeat("x", pad)
}

func countOf(description string) int {
	rest, _ := strings.CutPrefix(description, "count=")
	digits, _, _ := strings.Cut(rest, " ")
	n, _ := strconv.Atoi(digits)
	return n
}
