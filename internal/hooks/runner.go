package hooks

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/hooks/js"
	"github.com/fsmtx/fsmtx/internal/hooks/process"
)

// runner runs the hooks of a plan and reads what they say.
type runner struct {
	dialect dialect.Dialect
	environ []string // what hooks inherit
}

// ran is the result of one hook, with notes for the log.
type ran struct {
	result HookResult
	notes  []string
}

// run returns a result for every hook that ran, in the order of the plan.
func (r runner) run(ctx context.Context, f firing, p *Plan) []ran {
	if p.Sequential {
		return r.inSequence(ctx, f, p.Hooks)
	}
	return r.inParallel(ctx, f, p.Hooks)
}

// inSequence passes each hook the input as the hooks before it changed it. A block
// ends the chain.
func (r runner) inSequence(ctx context.Context, f firing, hooks []Hook) []ran {
	var all []ran
	for _, h := range hooks {
		one := r.one(ctx, f, h, f.input.Raw())
		all = append(all, one)
		if said := one.result.Output; said != nil && f.event.BlockedBy(*said) && !one.result.failed() && !r.dialect.Hooks.RunsOn {
			break
		}
		f.input = chained(r.dialect, f.event.Chain, f.input, []HookResult{one.result})
	}
	return all
}

func (r runner) inParallel(ctx context.Context, f firing, hooks []Hook) []ran {
	stdin := f.input.Raw()
	all := make([]ran, len(hooks))
	var group sync.WaitGroup
	for i, h := range hooks {
		group.Go(func() { all[i] = r.one(ctx, f, h, stdin) })
	}
	group.Wait()
	return all
}

// one runs one hook. A panic is a mistake in this program; it fails this hook and no
// other.
func (r runner) one(ctx context.Context, f firing, h Hook, stdin []byte) (done ran) {
	done.result.Command = h.Command
	defer func() {
		if p := recover(); p != nil {
			done = ran{HookResult{Command: h.Command, Error: fmt.Sprintf("internal error: %v", p)}, nil}
		}
	}()
	if why := r.refused(h, stdin); why != "" {
		done.result.Error = why
		return done
	}
	if h.Data != "" {
		_ = os.MkdirAll(h.Data, 0o755) // a hook that needs it reports the failure itself
	}
	c := r.command(f, h, stdin)
	if h.Type == dialect.RequestType {
		return r.read(f, h, answered(c.Run(ctx)))
	}
	if h.Async {
		return r.detached(c, h)
	}
	exports, remove := withEnvFile(f.event.EnvFile, &c)
	defer remove()
	done = r.read(f, h, c.Run(ctx))
	done.result.Environment = exports()
	return done
}

// read turns an outcome into a result.
func (r runner) read(f firing, h Hook, o process.Outcome) ran {
	result := HookResult{
		Command:  h.Command,
		Success:  o.Exited(0),
		ExitCode: o.ExitCode,
		Signal:   o.Signal,
		Stdout:   o.Stdout,
		Stderr:   o.Stderr,
		Cut:      o.Truncated,
		Duration: Elapsed(o.Duration),
	}
	if o.Err != nil {
		result.Error = "Hook " + o.Err.Error()
	}
	answer := r.dialect.Read(f.event, o)
	result.Output = answer.Output
	result.heard = answer.Heard || o.Exited(dialect.ExitBlock)
	result.text = answer.Text
	result.Notes, result.Counted = answer.Notes, counted(r.dialect, f.event, answer, o)
	if h.OnFailure == "block" && !result.Success && !result.heard {
		said := dialect.Output{Object: js.Object{}.WithText("decision", r.dialect.Answers.BlockDecision).WithText("reason", failure(result))}
		result.Output, result.heard = &said, true
		answer.Notes = append(answer.Notes, `it failed, and "onFailure": "block" makes that a block`)
		result.Notes = answer.Notes
	}
	return ran{result, answer.Notes}
}

// counted names the parts of what a hook said that count.
func counted(d dialect.Dialect, e dialect.Event, answer dialect.Answer, o process.Outcome) []string {
	if answer.Output == nil {
		return nil
	}
	if answer.Text {
		from := "standard output"
		if text := js.Trim(o.Stdout); text == "" || !strings.Contains(string(answer.Output.Raw()), strings.Trim(string(js.Quote(firstLine(text, 40))), `"…`)) {
			from = "standard error"
		}
		switch {
		case answer.Output.Blocks():
			return []string{from + ", as the reason of a block"}
		case answer.Output.Context() != "":
			return []string{from + ", as context"}
		}
		return []string{from + ", as a system message"}
	}
	var names []string
	for name := range answer.Output.All() {
		if name != "hookSpecificOutput" && d.Answers.Schema.Knows(name) {
			names = append(names, name)
		}
	}
	for name := range answer.Output.Specific().All() {
		if name != "hookEventName" && d.Answers.Schema.KnowsInside(e, name) {
			names = append(names, name)
		}
	}
	return names
}

func (r runner) detached(c process.Command, h Hook) ran {
	result := HookResult{Command: h.Command, Success: true}
	start := time.Now()
	if err := c.Detach(); err != nil {
		result.Success, result.Error = false, "Hook "+err.Error()
	}
	result.Duration = Elapsed(time.Since(start))
	note := "it runs in the background: it cannot block, and its output is not read here"
	if h.Rewake {
		note += "; if it exits with 2, the model goes on and reads its standard error"
	}
	result.Notes = []string{note}
	return ran{result, result.Notes}
}

// command returns the process of a hook: a shell, or the program itself if the hook
// has arguments.
func (r runner) command(f firing, h Hook, stdin []byte) process.Command {
	vars := h.Variables(r.dialect, f.session)
	if r.dialect.Hooks.Newline {
		stdin = append(slices.Clip(stdin), '\n')
	}
	if h.Type == dialect.RequestType {
		return r.request(f, h, stdin)
	}
	c := process.Command{
		Dir:     f.session.Cwd,
		Env:     r.environment(append(slices.Clip(vars), h.optionVariables(r.dialect)...), h),
		Stdin:   stdin,
		Timeout: h.Timeout,
	}
	if h.Args == nil {
		c.Args = process.Shell(expand(h.Command, vars))
		if shell := r.dialect.Hooks.Shell; shell != nil {
			c.Args = append(slices.Clone(shell), expand(h.Command, vars))
		}
		return c
	}
	for _, word := range append([]string{h.Command}, h.Args...) {
		c.Args = append(c.Args, h.withOptions(substitute(word, vars)))
	}
	return c
}

// environment returns the inherited environment, the hook's own and the variables.
// The last one of a name counts.
func (r runner) environment(vars []Variable, h Hook) []string {
	env := slices.Clone(r.environ)
	for name, value := range h.Env {
		env = append(env, name+"="+value)
	}
	for _, v := range vars {
		env = append(env, v.String())
	}
	return env
}

// failure describes the result of a failed hook for the log; "" for any other.
func failure(r HookResult) string {
	stderr := strings.TrimSpace(r.Stderr)
	switch {
	case !r.failed():
		return ""
	case r.Error != "":
		return lines([]string{r.Error, stderr})
	case r.Signal != "":
		return lines([]string{"was ended by " + r.Signal, stderr})
	}
	return lines([]string{fmt.Sprintf("exited with code %d", r.ExitCode), stderr})
}
