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
)

// A client is a process that is given one order a line and answers with one line.
// This file plays it in Go; testdata/client/client.js plays it with the client's own library.

// order is what a client is to do.
type order struct {
	Op      string `json:"op"` // create, update or delete
	ID      int    `json:"id"`
	Subject string `json:"subject"`
	Pad     int    `json:"pad"`  // how long the description is to be
	Die     string `json:"die"`  // locked: holding the lock; torn: half way through the write; written: before the release
	Wait    bool   `json:"wait"` // having read, answer and wait for a line before writing
	Rude    bool   `json:"rude"` // take no lock: the deliberate break
}

// answer is what came of an order.
type answer struct {
	ID     int    `json:"id"`
	Count  int    `json:"count"`  // how often the task was updated
	Error  string `json:"error"`  // locked, gone, broken or died
	Paused bool   `json:"paused"` // having read, before writing
}

var (
	errLocked = errors.New("locked")
	errGone   = errors.New("gone")
	errBroken = errors.New("broken")
	errDied   = errors.New("died")
)

// player keeps to the client's protocol in the list dir.
type player struct {
	dir string
	in  *bufio.Scanner
}

func playClient(dir string) int {
	p := &player{dir: dir, in: bufio.NewScanner(os.Stdin)}
	for p.in.Scan() {
		var o order
		if err := json.Unmarshal(p.in.Bytes(), &o); err != nil {
			return complain(err)
		}
		a, err := p.obey(o)
		if err != nil {
			a.Error = err.Error()
		}
		p.say(a)
		if o.Die != "" {
			p.die()
		}
	}
	return 0
}

func (p *player) say(a answer) {
	line, _ := json.Marshal(a)
	fmt.Println(string(line))
}

func (p *player) die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal is on its way
}

func (p *player) obey(o order) (answer, error) {
	switch o.Op {
	case "create":
		return p.create(o)
	case "update":
		return p.update(o, countUp)
	}
	return p.remove(o)
}

// create takes the list's lock, on a file that it makes first, and the number
// after the highest.
func (p *player) create(o order) (a answer, err error) {
	if f, err := os.OpenFile(p.at(".lock"), os.O_WRONLY|os.O_CREATE, 0o666); err == nil {
		_ = f.Close()
	}
	release, err := p.lock(".lock", o)
	if err != nil {
		return a, err
	}
	defer release(o)
	a.ID = p.highest() + 1
	p.pause(o)
	if o.Die == "locked" {
		return a, errDied
	}
	text := fmt.Sprintf("{\n  \"id\": \"%d\",\n  \"subject\": %q,\n  \"description\": %q,\n  \"status\": \"pending\",\n  \"blocks\": [],\n  \"blockedBy\": []\n}",
		a.ID, o.Subject, padded(0, o.Pad))
	return a, p.put(taskName(a.ID), []byte(text), false)
}

// highest reads the names before the mark: whoever deletes writes the mark before
// the name goes.
func (p *player) highest() int {
	entries, _ := os.ReadDir(p.dir)
	top := 0
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			top = max(top, taskID(e.Name()))
		}
	}
	return max(top, p.mark())
}

func (p *player) mark() int {
	data, _ := os.ReadFile(p.at(".highwatermark"))
	n, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	return n
}

// update takes the task's lock, reads the task again and writes it in place.
func (p *player) update(o order, change func(fields, order)) (a answer, err error) {
	name := taskName(o.ID)
	if _, err := os.Lstat(p.at(name)); err != nil {
		return a, errGone
	}
	release, err := p.lock(name, o)
	if err != nil {
		return a, err
	}
	defer release(o)
	data, err := os.ReadFile(p.at(name))
	if err != nil {
		return a, errGone
	}
	task := fields{}
	if err := json.Unmarshal(data, &task); err != nil {
		return a, errBroken
	}
	change(task, o)
	a.ID, a.Count = o.ID, task.count()
	p.pause(o)
	if o.Die == "locked" {
		return answer{}, errDied
	}
	text, _ := json.Marshal(task, jsontext.WithIndent("  "), json.Deterministic(true))
	return a, p.put(name, text, o.Die == "torn")
}

// remove takes no lock. What mentions the task is updated afterwards.
func (p *player) remove(o order) (a answer, err error) {
	if _, err := os.Lstat(p.at(taskName(o.ID))); err != nil {
		return a, errGone
	}
	if p.mark() < o.ID {
		_ = p.put(".highwatermark", []byte(strconv.Itoa(o.ID)), false)
	}
	p.pause(o)
	if err := os.Remove(p.at(taskName(o.ID))); err != nil {
		return a, errGone
	}
	p.strip(o)
	return answer{ID: o.ID}, nil
}

func (p *player) strip(o order) {
	entries, _ := os.ReadDir(p.dir)
	for _, e := range entries {
		data, err := os.ReadFile(p.at(e.Name()))
		if strings.HasSuffix(e.Name(), ".json") && err == nil && mentions(data, o.ID) {
			_, _ = p.update(order{ID: taskID(e.Name()), Rude: o.Rude}, func(task fields, _ order) { task.unblock(o.ID) })
		}
	}
}

func mentions(data []byte, id int) bool {
	task := fields{}
	return json.Unmarshal(data, &task) == nil && slices.Contains(task.blockedBy(), strconv.Itoa(id))
}

// put writes as the client does: in place, then cut to length.
func (p *player) put(name string, data []byte, torn bool) error {
	f, err := os.OpenFile(p.at(name), os.O_WRONLY|os.O_CREATE, 0o666)
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

// pause lets somebody else have a turn between reading and writing.
func (p *player) pause(o order) {
	if o.Wait {
		p.say(answer{Paused: true})
		p.in.Scan()
	}
}

func (p *player) at(name string) string { return filepath.Join(p.dir, name) }

// lock makes the directory name.lock, as often as the client tries.
func (p *player) lock(name string, o order) (release func(order), err error) {
	if o.Rude {
		return func(order) {}, nil
	}
	path := p.at(name + ".lock")
	for try := range 31 {
		if p.acquire(path) {
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

// acquire takes a lock that is free, or over if it is stale. The first look at a
// new lock sets its time up to a second ahead.
func (p *player) acquire(path string) bool {
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

// count is kept in the description, which is padded so that updates make a file
// both longer and shorter.
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
