//go:build unix

package together_test

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// scriptVariable names the environment variable that holds a hook's script as JSON.
const scriptVariable = "FSMTX_TEST_SCRIPT"

// script says what the file system of a hook does at which step of the transaction.
type script struct {
	Signal syscall.Signal // sent to the process itself
	At     int            // before this step, counted from 1
	Hold   string         // before the first step with this prefix, report it and wait
	FullAt int            // from this step on, counted from 1, the disk is full
}

// holdingLine is the report of a hook that holds.
const holdingLine = `{"holding":true}`

// report is the last line that a scripted hook prints.
type report struct {
	Created   []string `json:"created"`
	Deleted   []string `json:"deleted"`
	Committed bool     `json:"committed"`
	Steps     int      `json:"steps"`
}

// runScriptedHook hydrates as the program does, on a scripted file system.
func runScriptedHook() int {
	var s script
	e, err := client.Read(os.Stdin)
	if err == nil {
		err = json.Unmarshal([]byte(os.Getenv(scriptVariable)), &s)
	}
	if err != nil {
		return printError(err)
	}
	r, _, err := hydrate.Understand(e)
	if err != nil {
		return printError(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	d := &director{script: s, ctx: ctx}
	_, err = hydrate.Run(ctx, r, os.LookupEnv, hydrate.Options{Policy: policyOfArguments(), Flat: true, LockTimeout: noTimeout,
		History: historyOfArguments(), FS: &faultfs.Steps{FS: vfs.OS{}, Before: d.before}})
	if err != nil {
		d.report.Committed = false
	}
	d.printReport()
	if err != nil {
		return printError(err)
	}
	return 0
}

func printError(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 2
}

func policyOfArguments() (p fsmspec.Policy) {
	args := strings.Join(os.Args, " ")
	if strings.Contains(args, "--scope skill") {
		p.Scope = fsmspec.ScopeSkill
	}
	if strings.Contains(args, "--active refuse") {
		p.Active = fsmspec.ActiveRefuse
	}
	return p
}

func historyOfArguments() int {
	_, after, _ := strings.Cut(strings.Join(os.Args, " "), "--history ")
	n, _ := strconv.Atoi(strings.Split(after, " ")[0])
	return n
}

// director carries out a script and keeps the report.
type director struct {
	script
	ctx    context.Context
	report report
	step   int
	held   bool
	own    bool // whether its own transaction has begun
}

func (d *director) printReport() {
	d.report.Steps = d.step
	line, _ := json.Marshal(d.report)
	fmt.Println(string(line))
}

func (d *director) before(s faultfs.Step) error {
	if d.step++; d.step == d.At {
		d.raise()
	}
	if d.Hold != "" && !d.held && strings.HasPrefix(s.String(), d.Hold) {
		d.held = true
		fmt.Println(holdingLine)
		_, _ = os.NewFile(3, "resume").Read(make([]byte, 1))
	}
	if d.FullAt > 0 && d.step >= d.FullAt && strings.Contains(needSpace, s.Op) {
		return &fs.PathError{Op: s.Op, Path: s.Path, Err: syscall.ENOSPC}
	}
	d.record(s)
	return nil
}

// needSpace has the steps that fail on a full disk.
const needSpace = "mkdir link create write overwrite append"

// raise sends the signal and returns once the context is cancelled by it.
func (d *director) raise() {
	if d.Signal == syscall.SIGKILL {
		d.printReport()
	}
	_ = syscall.Kill(os.Getpid(), d.Signal)
	<-d.ctx.Done()
}

// record adds to the report what the step is about to do. That is exact also for a
// process that is killed, because the kill comes before a later step.
func (d *director) record(s faultfs.Step) {
	switch name := filepath.Base(cmp.Or(s.To, s.Path)); {
	case s.Op == "mkdir" && strings.HasPrefix(name, "txn-"):
		d.report, d.own = report{}, true // a transaction begins, perhaps not the first
	case !d.own: // the steps of a recovery
	case s.Op == "link" && strings.Contains(s.Path, "/new/") && !strings.Contains(s.To, "/txn-"): // there it only tries one
		d.report.Created = append(d.report.Created, name)
	case s.Op == "link" && strings.Contains(s.To, "/old/"):
		d.report.Deleted = append(d.report.Deleted, name)
	case s.Op == "rename" && filepath.Base(s.Path) == "journal":
		d.report.Committed = true
	case name == "journal": // it is removed by a rollback, or put back
		d.report.Committed = false
	}
}

func (o *outcome) readReport(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	var r report
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
		t.Errorf("the report of %s: %v: %q %s", o.call, err, o.stdout, o.stderr)
	}
	o.committed, o.steps = r.Committed, r.Steps
	if r.Committed {
		o.created, o.deleted = r.Created, r.Deleted
	}
}
