package hooks

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/hooks/process"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// runner runs the hooks of a plan and reads their answers.
type runner struct {
	dialect dialect.Dialect
	environ []string // the environment that hooks inherit

	requests dialect.Requests
}

// run returns a result for every hook that ran, in the order of the plan.
func (r runner) run(ctx context.Context, f firing, p *Plan) []HookResult {
	if p.Sequential {
		return r.inSequence(ctx, f, p.Hooks)
	}
	return r.inParallel(ctx, f, p.Hooks)
}

// inSequence passes each hook the input as the earlier hooks changed it. A block ends the
// sequence, unless the dialect continues after it.
func (r runner) inSequence(ctx context.Context, f firing, hooks []Hook) []HookResult {
	var all []HookResult
	for _, h := range hooks {
		one := r.one(ctx, f, h, f.input.Raw())
		all = append(all, one)
		if out := one.Output; out != nil && f.event.BlockedBy(*out) && !r.dialect.Hooks.ContinuesAfterBlock {
			break
		}
		f.input = chained(r.dialect, f.event.Chain, f.input, []HookResult{one})
	}
	return all
}

func (r runner) inParallel(ctx context.Context, f firing, hooks []Hook) []HookResult {
	stdin := f.input.Raw()
	all := make([]HookResult, len(hooks))
	var group sync.WaitGroup
	for i, h := range hooks {
		group.Go(func() { all[i] = r.one(ctx, f, h, stdin) })
	}
	group.Wait()
	return all
}

// one runs one hook. A panic is a bug of this program: it fails this hook, and the others
// still run.
func (r runner) one(ctx context.Context, f firing, h Hook, stdin []byte) (result HookResult) {
	defer func() {
		if p := recover(); p != nil {
			result = HookResult{Command: h.Command, Error: fmt.Sprintf("internal error: %v", p)}
		}
	}()
	if why := r.refusal(h, stdin); why != "" {
		return HookResult{Command: h.Command, Error: why}
	}
	if h.Data != "" {
		_ = os.MkdirAll(h.Data, 0o755) // a hook that needs the directory reports the failure itself
	}
	c := r.command(f, h, stdin)
	if h.Type == dialect.RequestType {
		if !r.requests.Allow(h.Target) {
			return r.read(f, h, process.Outcome{Err: fmt.Errorf("of type http was not sent: no pattern in %s of the settings matches %s",
				r.dialect.Settings.RequestURLs, h.Target)})
		}
		return r.read(f, h, responseOutcome(c.Run(ctx)))
	}
	if h.Async {
		return r.detach(c, h)
	}
	exports, remove := withEnvFile(f.event.EnvFile, &c)
	defer remove()
	result = r.read(f, h, c.Run(ctx))
	result.Environment = exports()
	return result
}

// read turns the outcome of a hook into its result.
func (r runner) read(f firing, h Hook, o process.Outcome) HookResult {
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
	result.Output, result.fromText, result.Notes = answer.Output, answer.From != "", answer.Notes
	result.answered = answer.AnyExit || o.Exited(dialect.ExitBlock)
	result.Counted = counted(r.dialect, f.event, answer)
	if h.OnFailure == "block" && result.Failed() {
		out := dialect.Output{Object: jsonx.Object{}.WithText("decision", r.dialect.Answers.BlockDecision).WithText("reason", failure(result))}
		result.Output, result.answered = &out, true
		result.Counted = []string{`its failure, which "onFailure": "block" makes a block`}
	}
	return result
}

// counted names the parts of a hook's output that count.
func counted(d dialect.Dialect, e dialect.Event, answer dialect.Answer) []string {
	switch out := answer.Output; {
	case out == nil:
		return nil
	case answer.From == dialect.FromExit:
		return []string{answer.From + ", as a block"}
	case answer.From != "" && out.Blocks():
		return []string{answer.From + ", as the reason of a block"}
	case answer.From != "" && out.Context() != "":
		return []string{answer.From + ", as context"}
	case answer.From != "":
		return []string{answer.From + ", as a system message"}
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

// detach starts an async hook and does not wait for it.
func (r runner) detach(c process.Command, h Hook) HookResult {
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
	return result
}

// command returns the process of a hook: a shell that runs its command, its program if it
// has arguments, or curl for an http hook.
func (r runner) command(f firing, h Hook, stdin []byte) process.Command {
	vars := h.Variables(r.dialect, f.session)
	if r.dialect.Hooks.FinalNewline {
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
	if h.IsPowerShell(r.dialect) {
		c.Args = []string{"pwsh", "-NoProfile", "-NonInteractive", "-Command", substitute(h.Command, vars)}
		return c
	}
	if h.Args == nil {
		c.Args = append(r.shell(), expand(h.Command, vars))
		return c
	}
	for _, word := range append([]string{h.Command}, h.Args...) {
		c.Args = append(c.Args, h.withOptions(substitute(word, vars)))
	}
	return c
}

// shell returns the program and the option with which the agent runs a command.
func (r runner) shell() []string {
	rules := r.dialect.Hooks
	if i := slices.IndexFunc(r.environ, func(v string) bool { return strings.HasPrefix(v, "SHELL=") }); rules.UserShell && i >= 0 {
		if shell := r.environ[i][len("SHELL="):]; slices.Contains([]string{"bash", "zsh", "sh"}, filepath.Base(shell)) {
			return []string{shell, "-c"}
		}
	}
	if rules.Shell == nil {
		return []string{"/bin/sh", "-c"}
	}
	if _, err := exec.LookPath(rules.Shell[0]); err != nil && rules.UserShell {
		return []string{"/bin/sh", "-c"} // as Codex does without bash
	}
	return slices.Clone(rules.Shell)
}

// environment returns the inherited environment, the hook's own and the variables. Of two
// with the same name the later one counts.
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

// failure says for the log how a hook failed, "" if it did not.
func failure(r HookResult) string {
	stderr := strings.TrimSpace(r.Stderr)
	switch {
	case !r.Failed():
		return ""
	case r.Error != "":
		return lines([]string{r.Error, stderr})
	case r.Signal != "":
		return lines([]string{"was terminated by " + r.Signal, stderr})
	}
	return lines([]string{fmt.Sprintf("exited with code %d", r.ExitCode), stderr})
}
