package together_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// told is the variable that holds what the disk of a told hook is to do.
const told = "FSMTX_TEST_TOLD"

// turn is what happens ahead of a step of the transaction. Steps count from 1.
type turn struct {
	Signal syscall.Signal // sent to the process itself
	At     int            // ahead of this step
	Hold   string         // ahead of the first step whose name begins so, say so and wait
	Blind  bool           // take every lock for free: a deliberate break
	Lame   string         // say that files whose name ends so were removed, and leave them: another
}

// report is what a told hook says it did, the last thing before it dies.
type report struct {
	Created   []string `json:"created"`
	Deleted   []string `json:"deleted"`
	Committed bool     `json:"committed"`
	Steps     int      `json:"steps"`
}

// toldHook hydrates as the program does, on a disk that does as it is told.
func toldHook() int {
	var what turn
	e, err := event.Read(os.Stdin)
	if err == nil {
		err = json.Unmarshal([]byte(os.Getenv(told)), &what)
	}
	if err != nil {
		return complain(err)
	}
	r, _, err := hydrate.Understand(e)
	if err != nil {
		return complain(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	teller := &teller{turn: what, ctx: ctx}
	_, err = hydrate.Run(ctx, r, os.LookupEnv, hydrate.Options{Policy: toldPolicy(), LockTimeout: forever, FS: teller.disk()})
	if err != nil {
		teller.report.Committed = false
	}
	teller.say()
	if err != nil {
		return complain(err)
	}
	return 0
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 2
}

func toldPolicy() (p fsmspec.Policy) {
	args := strings.Join(os.Args, " ")
	if strings.Contains(args, "--scope skill") {
		p.Scope = fsmspec.ScopeSkill
	}
	if strings.Contains(args, "--active refuse") {
		p.Active = fsmspec.ActiveRefuse
	}
	return p
}

// teller watches the steps of a hydration and keeps its report.
type teller struct {
	turn
	ctx    context.Context
	report report
	step   int
	held   bool
}

func (d *teller) disk() vfs.FS {
	var files vfs.FS = vfs.OS{}
	if d.Blind {
		files = &blind{FS: files}
	}
	if d.Lame != "" {
		files = lame{files, d.Lame}
	}
	return &faultfs.Steps{FS: files, Before: d.before}
}

func (d *teller) say() {
	d.report.Steps = d.step
	line, _ := json.Marshal(d.report)
	fmt.Println(string(line))
}

func (d *teller) before(s faultfs.Step) error {
	if d.step++; d.step == d.At {
		d.raise()
	}
	if d.Hold != "" && !d.held && strings.HasPrefix(s.String(), d.Hold) {
		d.held = true
		fmt.Println(`{"holding":true}`)
		_, _ = os.NewFile(3, "resume").Read(make([]byte, 1))
	}
	d.note(s)
	return nil
}

// raise sends the signal, and comes back when it has been noticed.
func (d *teller) raise() {
	if d.Signal == syscall.SIGKILL {
		d.say()
	}
	_ = syscall.Kill(os.Getpid(), d.Signal)
	<-d.ctx.Done()
}

// note keeps what the step is about to do. Whoever is killed is killed ahead of a
// later one.
func (d *teller) note(s faultfs.Step) {
	switch name := filepath.Base(s.To); {
	case s.Op == "mkdir" && strings.HasPrefix(filepath.Base(s.Path), "txn-"):
		d.report = report{} // a transaction begins, perhaps again
	case s.Op == "link" && strings.Contains(s.Path, "/new/"):
		d.report.Created = append(d.report.Created, name)
	case s.Op == "link" && strings.Contains(s.To, "/old/"):
		d.report.Deleted = append(d.report.Deleted, name)
	case s.Op == "rename" && strings.HasPrefix(name, "done-"):
		d.report.Committed = true
	}
}

func (o *outcome) readReport(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	var r report
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
		t.Errorf("what %s says of itself: %v: %q %s", o.call, err, o.stdout, o.stderr)
	}
	o.committed, o.steps = r.Committed, r.Steps
	if r.Committed {
		o.created, o.deleted = r.Created, r.Deleted
	}
}

// blind is a disk on which every lock is free: the client's, and the sibling's,
// whose file it removes so that whoever comes next locks another one.
type blind struct {
	vfs.FS
	mu   sync.Mutex
	seen map[string]fs.FileInfo
}

func isLock(name string) bool { return strings.HasSuffix(name, ".lock") }

func (b *blind) Mkdir(name string, perm fs.FileMode) error {
	if strings.HasSuffix(name, ".fsmtx") {
		_ = os.Remove(filepath.Join(name, "lock"))
	}
	return b.FS.Mkdir(name, perm)
}

func (b *blind) RenameNew(oldname, newname string) error {
	if !isLock(newname) {
		return b.FS.RenameNew(oldname, newname)
	}
	info, err := b.FS.Lstat(oldname)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seen == nil {
		b.seen = map[string]fs.FileInfo{}
	}
	b.seen[newname] = info
	return nil
}

func (b *blind) Lstat(name string) (fs.FileInfo, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if info, ok := b.seen[name]; ok {
		return info, nil
	}
	return b.FS.Lstat(name)
}

func (b *blind) Remove(name string) error {
	if isLock(name) {
		return nil
	}
	return b.FS.Remove(name)
}

// lame is a disk that does not remove what it says it has removed.
type lame struct {
	vfs.FS
	suffix string
}

func (l lame) Remove(name string) error {
	if strings.HasSuffix(name, l.suffix) && !strings.Contains(name, ".fsmtx/") {
		return nil
	}
	return l.FS.Remove(name)
}
