package hooks

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// runner starts the hooks of a plan and reads what they say.
type runner struct {
	dialect Dialect
	environ []string // what hooks inherit
}

// ran is what came of one hook, and what a log should know of it.
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

// inSequence hands each hook what the ones before made of the input. A block
// ends the chain.
func (r runner) inSequence(ctx context.Context, f firing, hooks []Hook) []ran {
	var all []ran
	for _, h := range hooks {
		one := r.one(ctx, f, h, f.input.raw())
		all = append(all, one)
		if said := one.result.Output; said != nil && f.rule.blockedBy(*said) && !one.result.failed() {
			break
		}
		f.input = f.rule.chained(r.dialect, f.input, []HookResult{one.result})
	}
	return all
}

func (r runner) inParallel(ctx context.Context, f firing, hooks []Hook) []ran {
	stdin := f.input.raw()
	all := make([]ran, len(hooks))
	var group sync.WaitGroup
	for i, h := range hooks {
		group.Go(func() { all[i] = r.one(ctx, f, h, stdin) })
	}
	group.Wait()
	return all
}

// one runs one hook. A panic in here would be ours, and is that hook's failure
// and nobody else's.
func (r runner) one(ctx context.Context, f firing, h Hook, stdin []byte) (done ran) {
	done.result.Command = h.Command
	defer func() {
		if p := recover(); p != nil {
			done = ran{HookResult{Command: h.Command, Error: fmt.Sprintf("internal error: %v", p)}, nil}
		}
	}()
	if h.Type != commandType {
		done.result.Error = fmt.Sprintf("unsupported handler: %s runs hooks of type command only, not %q", "this runtime", h.Type)
		return done
	}
	if h.Data != "" {
		_ = os.MkdirAll(h.Data, 0o755) // promised to a plugin's hook; one that needs it will say so
	}
	i := r.invocation(f, h, stdin)
	if h.Async {
		return r.detached(i, h)
	}
	return r.read(f, h, i.run(ctx))
}

// read turns an outcome into a result.
func (r runner) read(f firing, h Hook, o outcome) ran {
	result := HookResult{
		Command:  h.Command,
		Success:  o.success(),
		ExitCode: o.exitCode,
		Signal:   o.signal,
		Stdout:   o.stdout,
		Stderr:   o.stderr,
		Cut:      o.cut,
		Duration: Elapsed(o.duration),
		blocked:  o.blocks(),
	}
	if o.err != nil {
		result.Error = "Hook " + o.err.Error()
	}
	said, isSaid, notes := r.dialect.interpret(f.rule, o)
	if isSaid {
		result.Output = &said
	}
	return ran{result, notes}
}

func (r runner) detached(i invocation, h Hook) ran {
	result := HookResult{Command: h.Command, Success: true}
	start := time.Now()
	if err := i.detach(); err != nil {
		result.Success, result.Error = false, "Hook "+err.Error()
	}
	result.Duration = Elapsed(time.Since(start))
	return ran{result, []string{"it runs in the background; its output is not read"}}
}

// invocation is the process of a hook: the shell, or the program itself where
// the hook gives arguments.
func (r runner) invocation(f firing, h Hook, stdin []byte) invocation {
	vars := r.dialect.variables(f.session, h)
	i := invocation{
		dir:     f.session.Cwd,
		env:     r.environment(vars, h),
		stdin:   stdin,
		timeout: h.Timeout,
	}
	if h.Args == nil {
		i.argv = []string{"/bin/sh", "-c", expand(h.Command, vars)}
		return i
	}
	for _, word := range append([]string{h.Command}, h.Args...) {
		i.argv = append(i.argv, substitute(word, vars))
	}
	return i
}

// environment is the parent's, the hook's own and the variables on top; where a
// name comes twice the last one counts.
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

// failure describes a result that is no success for a log, "" if there is
// nothing to say.
func failure(r HookResult) string {
	complaint := strings.TrimSpace(r.Stderr)
	switch {
	case r.Success || r.blocked:
		return ""
	case r.Error != "":
		return lines([]string{r.Error, complaint})
	case r.Signal != "":
		return lines([]string{"was ended by " + r.Signal, complaint})
	}
	return lines([]string{fmt.Sprintf("exited with code %d", r.ExitCode), complaint})
}

// inherited is the environment of this process.
func inherited() []string { return os.Environ() }
