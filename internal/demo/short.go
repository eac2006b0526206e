package demo

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/visible"
)

//go:embed skills
var skills embed.FS

// pause is how long a person has to read one scene of the short demonstration.
const pause = 1500 * time.Millisecond

// story are the scenes of the short demonstration: an agent skips a step, is refused, is sent
// back by a test that fails, and ends properly; then the program is killed.
func (d *Demo) story() []func(context.Context) error {
	return []func(context.Context) error{d.begin, d.skip, d.sendBack, d.finish, d.killShort}
}

func (d *Demo) begin(ctx context.Context) error {
	d.skill = "ship"
	if err := os.CopyFS(filepath.Join(d.home, ".claude"), skills); err != nil {
		return err
	}
	if err := os.MkdirAll(d.list(), 0o755); err != nil {
		return err
	}
	d.say("An agent is told to ship a fix. The skill's fsm.json has three steps, in its task list:")
	if _, _, err := d.start(ctx, d.event(), "hydrate"); err != nil {
		return err
	}
	return d.show(ctx)
}

func (d *Demo) skip(ctx context.Context) error {
	d.say("\nIt publishes at once. fsmtx refuses:")
	return d.try(ctx, "3")
}

func (d *Demo) sendBack(ctx context.Context) error {
	d.say("\nIt writes the fix, and says that it has run the tests. They run, fail, and lead back:")
	if err := put(filepath.Join(d.home, "fix.txt"), []byte("a fix\n")); err != nil {
		return err
	}
	for _, step := range []string{"1", "2"} {
		if err := d.try(ctx, step); err != nil {
			return err
		}
	}
	return d.show(ctx)
}

func (d *Demo) finish(ctx context.Context) error {
	d.say("\nIt mends the fix. The tests pass, and it publishes:")
	if err := put(filepath.Join(d.home, "fix.txt"), []byte("a tested fix\n")); err != nil {
		return err
	}
	for _, step := range []string{"1", "2", "3"} {
		if err := d.try(ctx, step); err != nil {
			return err
		}
	}
	return d.show(ctx)
}

func (d *Demo) killShort(ctx context.Context) error {
	d.say("\nThe skill is called again. The program is killed while it replaces the list, and then recovers it:")
	before, err := d.snapshot()
	if err != nil {
		return err
	}
	if _, _, err := d.start(ctx, d.event(), "demo", "--die"); err != nil {
		return err
	}
	if _, _, err := d.start(ctx, nil, "recover"); err != nil {
		return err
	}
	after, err := d.snapshot()
	if err != nil {
		return err
	}
	for name := range before {
		if _, left := after[name]; left && strings.HasSuffix(name, ".json") {
			return fmt.Errorf("%s is still there", name)
		}
	}
	d.say("  The list is the new one, complete: nothing of the old one is left, and nothing is missing.")
	d.say("\nHold a skill of your own, in a project of yours: fsmtx init. More of the demo: fsmtx demo --all")
	return nil
}

// try simulates a TaskUpdate with which the agent completes a task, and prints what it reads in
// answer to it.
func (d *Demo) try(ctx context.Context, task string) error {
	out, refusal, err := d.start(ctx, d.taskUpdate(task, "completed"), "step")
	if err != nil {
		return err
	}
	if len(refusal) > 0 {
		d.say("  #%s completed  ✗ %s", task, firstLine(string(refusal)))
		return nil
	}
	output := jsonx.Member(out, "hookSpecificOutput")
	if rewritten := jsonx.StringMember(jsonx.Member(output, "updatedInput"), "status"); rewritten != "" {
		d.say("  #%s completed  ↺ %s", task, firstLine(jsonx.StringMember(output, "additionalContext")))
		return d.setStatus(task, rewritten)
	}
	d.say("  #%s completed  ✓", task)
	return d.setStatus(task, "completed")
}

// start runs this program with an event.
func (d *Demo) start(ctx context.Context, event []byte, args ...string) (out jsontext.Value, refusal []byte, err error) {
	c := d.command(ctx, args...)
	c.Stdin = bytes.NewReader(event)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil && c.ProcessState == nil {
		return nil, nil, err
	}
	return stdout.Bytes(), stderr.Bytes(), ctx.Err()
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return visible.Words(line)
}

// rest waits until a person has read a scene, or ctx ends.
func rest(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
}
