package tools

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/tasks"
)

//go:embed skills
var skills embed.FS

const (
	kills   = 10
	maxTask = 1 << 20 // of a task's file, in bytes
)

// demo is one demonstration.
type demo struct {
	Program string    // path of this program, which is started as the hook
	Out     io.Writer // the story

	home string
	err  error // the first one; after it nothing is done
}

// Run tells the story. It also removes the temporary directory if a scene fails or ctx is cancelled.
func (d *demo) Run(ctx context.Context) (err error) {
	if d.home, err = os.MkdirTemp("", "fsmtx-demo-"); err != nil {
		return message.WithHint(err, "set TMPDIR to a directory in which you may create files")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(d.home)) }()
	for _, scene := range []func(context.Context){d.begin, d.skip, d.sendBack, d.finish, d.kill} {
		if scene(ctx); d.err != nil {
			return cmp.Or(context.Cause(ctx), d.err)
		}
	}
	d.say("\nHold a skill of your own, in a project of yours: fsmtx init.")
	return d.err
}

func (d *demo) begin(ctx context.Context) {
	d.say("An agent is told to ship a fix. The skill's fsm.json has three steps, in its task list:")
	d.keep(os.CopyFS(filepath.Join(d.home, ".claude"), skills))
	d.call(ctx, 0)
	d.show(ctx)
}

func (d *demo) skip(ctx context.Context) {
	d.say("\nIt publishes at once. fsmtx refuses:")
	d.complete(ctx, "3")
}

func (d *demo) sendBack(ctx context.Context) {
	d.say("\nIt writes the fix, and says that it has run the tests. They run, fail, and lead back:")
	d.write("fix.txt", []byte("a fix\n"))
	d.complete(ctx, "1", "2")
	d.show(ctx)
}

func (d *demo) finish(ctx context.Context) {
	d.say("\nIt mends the fix. The tests pass, and it publishes:")
	d.write("fix.txt", []byte("a tested fix\n"))
	d.complete(ctx, "1", "2", "3")
	d.show(ctx)
}

// kill calls the skill again and kills the program, each time at another moment of its work.
func (d *demo) kill(ctx context.Context) {
	d.say("\nThe skill is called %d more times, and each time the program is killed (kill -9) at another moment:", kills)
	begun, old := time.Now(), 0
	d.call(ctx, 0)
	took := time.Since(begun)
	for n := range kills {
		before := d.numbers(ctx)
		d.call(ctx, took*time.Duration(n+1)/kills)
		d.start(ctx, 0, nil, "recover")
		after := d.numbers(ctx)
		if strings.Count(after, "#") != 3 {
			d.keep(fmt.Errorf("the list was %s, and is not whole: %s", before, after))
		}
		if after == before {
			old++
		}
	}
	d.say("  After fsmtx recover the list was whole every time, the old one (%d) or the new one (%d).", old, kills-old)
}

func (d *demo) keep(err error) { d.err = cmp.Or(d.err, err) }

func (d *demo) say(format string, args ...any) {
	if d.err == nil {
		_, d.err = io.WriteString(d.Out, message.Sprintf(format+"\n", args...))
	}
}

func (d *demo) list() string { return filepath.Join(d.home, ".claude/tasks/demo") }

func (d *demo) tasks(ctx context.Context) []tasks.Task {
	all, err := tasks.Tasks(ctx, d.list(), nil)
	d.keep(err)
	return all
}

func (d *demo) show(ctx context.Context) {
	for _, t := range d.tasks(ctx) {
		d.say("  #%s [%s] %s", t.ID, t.Status, t.Subject)
	}
}

func (d *demo) numbers(ctx context.Context) string {
	var all []string
	for _, t := range d.tasks(ctx) {
		all = append(all, "#"+t.ID)
	}
	return strings.Join(all, " ")
}

// write replaces a file of the demonstration.
func (d *demo) write(path string, data []byte) {
	if d.err == nil {
		d.err = safefile.Replace(filepath.Join(d.home, path), data, safefile.LessUmask(0o644))
	}
}

// complete completes tasks as the agent does, and prints what it reads in answer.
func (d *demo) complete(ctx context.Context, numbers ...string) {
	for _, number := range numbers {
		answer, refusal := d.start(ctx, 0, map[string]any{"hook_event_name": client.PreToolUse, "tool_name": "TaskUpdate",
			"tool_input": map[string]string{"taskId": number, "status": "completed"}}, "hook")
		decision := jsonx.Member(answer, "hookSpecificOutput")
		rewritten := jsonx.StringMember(jsonx.Member(decision, "updatedInput"), "status")
		sign, text := "✓", ""
		switch {
		case refusal != "":
			sign, text = "✗ ", refusal
		case rewritten != "":
			sign, text = "↺ ", jsonx.StringMember(decision, "additionalContext")
		}
		line, _, _ := strings.Cut(text, "\n")
		d.say("  #%s completed  %s%s", number, sign, message.Words(line))
		if refusal == "" {
			d.setStatus(number, cmp.Or(rewritten, "completed"))
		}
	}
}

// setStatus changes a pending task as the client does.
func (d *demo) setStatus(number, status string) {
	data, err := safefile.ReadFile(filepath.Join(d.list(), number+".json"), maxTask, 0)
	d.keep(err)
	changed := bytes.Replace(data, []byte(`"status": "pending"`), []byte(`"status": "`+status+`"`), 1)
	d.write(filepath.Join(".claude/tasks/demo", number+".json"), changed)
}

// call starts this program as the hook of a call of the skill.
func (d *demo) call(ctx context.Context, kill time.Duration) {
	d.start(ctx, kill, map[string]any{"hook_event_name": client.PostToolUse, "tool_name": "Skill",
		"tool_response": map[string]any{"success": true, "commandName": "ship"}}, "hydrate")
}

// start runs this program with an event, and kills it after some time unless that is 0. It returns what the agent reads:
// standard output, or standard error if the hook refuses (fact 22).
func (d *demo) start(ctx context.Context, kill time.Duration, input map[string]any, args ...string) (out jsontext.Value, refusal string) {
	if d.err != nil {
		return nil, ""
	}
	if input != nil {
		input["session_id"], input["cwd"] = "demo", d.home
	}
	text, _ := json.Marshal(input) // strings only: cannot fail
	c := exec.CommandContext(ctx, d.Program, args...)
	c.Env = []string{"HOME=" + d.home, "PATH=" + os.Getenv("PATH"), "CLAUDE_PROJECT_DIR=" + d.home}
	c.Stdin = bytes.NewReader(text)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Start()
	if err == nil {
		if kill > 0 {
			defer time.AfterFunc(kill, func() { _ = c.Process.Kill() }).Stop()
		}
		_ = c.Wait() // what it prints tells whether it refused
	}
	d.keep(cmp.Or(err, context.Cause(ctx)))
	return stdout.Bytes(), stderr.String()
}
