// Package demo demonstrates the program in a temporary directory. It acts as the client: it
// invokes a skill, takes its steps out of order, is sent back, and kills a hydration. The
// whole demonstration also breaks a workflow, and draws another one.
package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/hint"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/sample"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/visible"
	"github.com/fsmtx/fsmtx/testdata/workflows"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

const (
	session     = "demo"
	lockTimeout = 5 * time.Second
)

// Demo is one demonstration.
type Demo struct {
	Program string    // path of this program, which is started as the hook
	Out     io.Writer // the commentary and the output of the hooks
	All     bool      // everything, not only the story
	Paced   bool      // a person reads along: rest between the scenes of the story

	home  string
	skill string // that is invoked
}

// Run runs all parts in order. It also removes the temporary directory if a part fails or
// ctx is cancelled.
func (d *Demo) Run(ctx context.Context) (err error) {
	if d.home, err = os.MkdirTemp("", "fsmtx-demo-"); err != nil {
		return hint.With(err, "set TMPDIR to a directory in which you may create files")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(d.home)) }()
	parts := d.story()
	if d.All {
		parts = []func(context.Context) error{d.prepare, d.invoke, d.invokeAgain, d.refuse, d.check, d.breakSpec, d.kill,
			d.recover, d.draw, d.end}
	}
	for i, part := range parts {
		if i > 0 && d.Paced && !d.All {
			rest(ctx)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := part(ctx); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

func (d *Demo) end(context.Context) error {
	d.say("\nEnd of the demo. %s has been removed.", d.home)
	return nil
}

func (d *Demo) say(format string, args ...any) { visible.Fprintf(d.Out, format+"\n", args...) }

func (d *Demo) heading(format string, args ...any) { d.say("\n== "+format, args...) }

func (d *Demo) list() string { return filepath.Join(d.home, ".claude/tasks", session) }

func (d *Demo) spec() string {
	return filepath.Join(d.home, ".claude/skills", sample.Skill, "fsm.json")
}

// prepare creates a home with the sample skill and one task of the user.
func (d *Demo) prepare(ctx context.Context) error {
	d.skill = sample.Skill
	d.say("Everything happens in %s.", d.home)
	if err := os.CopyFS(filepath.Join(d.home, ".claude"), sample.FS); err != nil {
		return err
	}
	if err := os.MkdirAll(d.list(), 0o755); err != nil {
		return err
	}
	task := `{"id": "1", "subject": "Buy milk", "description": "", "status": "pending", "blocks": [], "blockedBy": []}`
	if err := put(filepath.Join(d.list(), "1.json"), []byte(task)); err != nil {
		return err
	}
	d.heading("The task list before: one task of the user")
	return d.show(ctx)
}

func (d *Demo) show(ctx context.Context) error {
	tasks, err := tasks.Tasks(ctx, d.list())
	if err != nil {
		return err
	}
	_, err = io.WriteString(d.Out, drawTree(tasks))
	return err
}

func (d *Demo) invoke(ctx context.Context) error {
	d.heading("The skill %s is invoked; its fsm.json becomes tasks", sample.Skill)
	if err := d.hook(ctx, nil, 0); err != nil {
		return err
	}
	return d.show(ctx)
}

func (d *Demo) invokeAgain(ctx context.Context) error {
	d.heading("It is invoked again: the workflow starts over with new numbers; the user's task stays")
	if err := d.hook(ctx, nil, 0); err != nil {
		return err
	}
	return d.show(ctx)
}

// The second invocation gives the steps the numbers from 7 on.
const (
	firstStep     = 7
	changelogStep = 9
	versionStep   = 10
)

// refuse shows that a step waits for those it depends on.
func (d *Demo) refuse(ctx context.Context) error {
	d.heading("The agent starts step #%d: refused, because the steps before it are not done", versionStep)
	if err := d.update(ctx, versionStep, "in_progress", 2); err != nil {
		return err
	}
	d.heading("It does step #%d first: allowed", firstStep)
	return d.update(ctx, firstStep, "completed", 0)
}

// check shows a step whose files are missing, then one whose check fails, and the repair.
func (d *Demo) check(ctx context.Context) error {
	d.heading("It completes #%d: refused, because the file that the step produces is missing", changelogStep)
	if err := d.update(ctx, changelogStep, "completed", 2); err != nil {
		return err
	}
	d.heading("It writes the file carelessly: refused, because the check of the step fails")
	changelog := filepath.Join(d.home, "CHANGELOG.md")
	if err := d.write(changelog, "Many improvements.\n"); err != nil {
		return err
	}
	if err := d.update(ctx, changelogStep, "completed", 2); err != nil {
		return err
	}
	d.heading("It corrects the file: allowed, because the check passes")
	if err := d.write(changelog, "2.0.1, today: the parser no longer hangs on an empty file.\n"); err != nil {
		return err
	}
	if err := d.update(ctx, changelogStep, "completed", 0); err != nil {
		return err
	}
	return d.show(ctx)
}

func (d *Demo) write(path, text string) error {
	for line := range strings.Lines(text) {
		d.say("$ echo '%s' > %s", strings.TrimSuffix(line, "\n"), filepath.Base(path))
	}
	return put(path, []byte(text))
}

// update simulates a TaskUpdate of the agent: the hook decides, and if it allows the update,
// the status is written as the client does. code is the expected exit code of the hook.
func (d *Demo) update(ctx context.Context, step int64, status string, code int) error {
	id := strconv.FormatInt(step, 10)
	d.say("TaskUpdate #%s %s", id, status)
	if err := d.run(ctx, d.taskUpdate(id, status), []string{"step"}, code); err != nil || code != 0 {
		return err
	}
	return d.setStatus(id, status)
}

// taskUpdate returns the event of a TaskUpdate.
func (d *Demo) taskUpdate(id, status string) []byte {
	text, _ := json.Marshal(map[string]any{ // strings only: cannot fail
		"session_id": session, "cwd": d.home, "hook_event_name": event.PreToolUse, "tool_name": "TaskUpdate",
		"tool_input": map[string]string{"taskId": id, "status": status},
	})
	return text
}

// setStatus changes a pending task as the client does.
func (d *Demo) setStatus(id, status string) error {
	path := filepath.Join(d.list(), id+".json")
	task, err := safefile.ReadFile(path, maxFile, 0)
	if err != nil {
		return err
	}
	return put(path, bytes.Replace(task, []byte(`"status": "pending"`), []byte(`"status": "`+status+`"`), 1))
}

// maxFile bounds a file that is read, in bytes.
const maxFile = 1 << 20

// put creates or replaces a file.
func put(path string, data []byte) error {
	return safefile.Replace(path, data, safefile.LessUmask(0o644))
}

// breakSpec shows that an invalid fsm.json changes nothing.
func (d *Demo) breakSpec(ctx context.Context) error {
	d.heading("Its fsm.json has three mistakes: every one is reported, and nothing changes")
	good, err := safefile.ReadFile(d.spec(), maxFile, 0)
	if err != nil {
		return err
	}
	broken := `[
  {"id": 1, "subject": "Set up"},
  {"id": 1, "subject": "Build"},
  {"id": 2, "blockedBy": [7]}
]`
	before, err := d.snapshot()
	if err != nil {
		return err
	}
	if err := put(d.spec(), []byte(broken)); err != nil {
		return err
	}
	if err := d.hook(ctx, nil, 2); err != nil {
		return err
	}
	if err := d.requireUnchanged(before); err != nil {
		return err
	}
	d.say("The task list is unchanged, byte for byte.")
	return put(d.spec(), good)
}

// kill runs a hydration in a child process that is killed by SIGKILL when the new tasks
// exist and two of the old ones are removed.
func (d *Demo) kill(ctx context.Context) error {
	d.heading("A hydration is killed in the middle of its commit (a child process, SIGKILL)")
	if err := d.hook(ctx, []string{"demo", "--die"}, -1); err != nil {
		return err
	}
	d.say("A reader sees all of the new tasks now, and the old ones that are left:")
	return d.show(ctx)
}

func (d *Demo) recover(ctx context.Context) error {
	d.heading("fsmtx recover")
	c := d.command(ctx, "recover")
	c.Stdout = d.Out
	if err := c.Run(); err != nil {
		return fmt.Errorf("recover failed: %w", err)
	}
	return d.show(ctx)
}

// draw shows one of the larger workflows before it is invoked.
func (d *Demo) draw(ctx context.Context) error {
	const name = "incident"
	if err := os.CopyFS(filepath.Join(d.home, ".claude/skills"), workflows.FS); err != nil {
		return err
	}
	d.heading("Another workflow, drawn before it is invoked: fsmtx graph %s", name)
	c := d.command(ctx, "graph", filepath.Join(d.home, ".claude/skills", name))
	c.Stdout = d.Out
	if err := c.Run(); err != nil {
		return fmt.Errorf("graph failed: %w", err)
	}
	return nil
}

// hook runs this program with the event of the skill and prints its output. Nil args mean
// hydrate. code is the expected exit code, -1 for a process that is killed.
func (d *Demo) hook(ctx context.Context, args []string, code int) error {
	if args == nil {
		args = []string{"hydrate", "--announce"}
	}
	return d.run(ctx, d.event(), args, code)
}

// run starts this program with an event and prints what the agent reads: standard error if
// the hook refuses (fact 22), and standard output otherwise.
func (d *Demo) run(ctx context.Context, event []byte, args []string, code int) error {
	c := d.command(ctx, args...)
	c.Stdin = bytes.NewReader(event)
	var out, refusal bytes.Buffer
	c.Stdout, c.Stderr = &out, &refusal
	err := c.Run()
	d.say("$ fsmtx %s < event", strings.Join(args, " "))
	answer := out.Bytes()
	if refusal.Len() > 0 {
		answer = refusal.Bytes()
	}
	if len(answer) > 0 {
		d.say("%s", visible.Lines(bytes.TrimRight(answer, "\n")))
	}
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		return err
	}
	if got := c.ProcessState.ExitCode(); got != code {
		return fmt.Errorf("unexpected result of fsmtx %s: %v", strings.Join(args, " "), c.ProcessState)
	}
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		d.say("(%v)", status.Signal())
	}
	return nil
}

func (d *Demo) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, d.Program, args...)
	c.Env = []string{"HOME=" + d.home, "PATH=" + os.Getenv("PATH"), "CLAUDE_PROJECT_DIR=" + d.home}
	return c
}

func (d *Demo) event() []byte {
	text, _ := json.Marshal(map[string]any{ // strings only: cannot fail
		"session_id": session, "cwd": d.home, "hook_event_name": event.PostToolUse, "tool_name": "Skill",
		"tool_response": map[string]any{"success": true, "commandName": d.skill},
	})
	return text
}

func (d *Demo) snapshot() (map[string]string, error) {
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(d.list()), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := safefile.ReadFile(filepath.Join(d.list(), path), maxFile, 0)
		files[path] = string(data)
		return err
	})
	return files, err
}

func (d *Demo) requireUnchanged(before map[string]string) error {
	now, err := d.snapshot()
	if err != nil {
		return err
	}
	if len(now) != len(before) {
		return fmt.Errorf("the task list has %d files, want %d", len(now), len(before))
	}
	for name, text := range before {
		if now[name] != text {
			return fmt.Errorf("%s has changed", name)
		}
	}
	return nil
}

// Die runs in the child process. It hydrates for the event on in and kills the process when
// two old tasks are removed.
func Die(ctx context.Context, in io.Reader, env hydrate.Env) error {
	e, err := event.Read(in)
	if err != nil {
		return err
	}
	r, _, err := hydrate.Understand(e)
	if err != nil {
		return err
	}
	dir, err := tasklist.OfSession(env, r.Session)
	if err != nil {
		return err
	}
	old := 0
	files := faultfs.KillWhen(vfs.OS{}, func(s faultfs.Step) bool {
		if s.Op == "remove" && filepath.Dir(s.Path) == dir && filepath.Ext(s.Path) == ".json" {
			old++
		}
		return old == 3
	})
	_, err = hydrate.Run(ctx, r, env, hydrate.Options{LockTimeout: lockTimeout, FS: files})
	return errors.Join(errors.New("the hydration was not killed"), err)
}
