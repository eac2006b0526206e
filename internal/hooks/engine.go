package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/hooks/process"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// KillAfter is the time between SIGTERM and SIGKILL for a process that is stopped.
const KillAfter = process.KillAfter

// Config configures an engine.
type Config struct {
	Dialect dialect.Dialect
	Session Session

	// Enabled is set if the settings turn hooks on; see Dialect.Switches.
	Enabled bool

	// Load returns the configuration. It is called once, by the first event.
	Load func() ([]Source, error)

	// Environ is the environment that hooks inherit. Default: that of this process.
	Environ []string

	// Requests is what the settings allow hooks of type http.
	Requests dialect.Requests

	// Now is the clock of timestamps. Default: time.Now.
	Now func() time.Time

	// BeforeProcesses is called before the processes of an event start, if there are any.
	// They are stopped when the context that it returns is done. A program installs its
	// signal handlers there, so that an event without hooks does not pay for them.
	// Default: the caller's context is used.
	BeforeProcesses func(context.Context) context.Context
}

// Engine runs hooks. Its methods are safe for concurrent use. A nil Engine is valid
// and runs nothing.
type Engine struct {
	config Config
	runner runner

	once     sync.Once
	err      error // the reason if there is no registry
	registry atomic.Pointer[Registry]
	reported atomic.Bool // the registry's problems are in the log of a result
}

// New returns an engine, or nil if the settings do not enable hooks. It reads and starts
// nothing: the first event does.
func New(c Config) *Engine {
	if !c.Enabled {
		return nil
	}
	if c.Environ == nil {
		c.Environ = os.Environ()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.BeforeProcesses == nil {
		c.BeforeProcesses = func(ctx context.Context) context.Context { return ctx }
	}
	return &Engine{config: c, runner: runner{c.Dialect, c.Environ, c.Requests}}
}

// Init reads the configuration, unless it or an event has already done so. It returns the error of Config.Load.
func (e *Engine) Init() error {
	e.once.Do(func() {
		e.err = errors.New("reading the hook configuration did not finish") // if Load panics
		sources, err := e.config.Load()
		if err != nil {
			e.err = fmt.Errorf("reading the hook configuration: %w", err)
			return
		}
		e.registry.Store(NewRegistry(e.config.Dialect, sources))
		e.err = nil
	})
	return e.err
}

// Status is whether the configuration has been read, and its number of hooks.
type Status struct {
	Initialized bool `json:"initialized"`
	TotalHooks  int  `json:"totalHooks"`
}

// status returns the engine's status. It does not read the configuration.
func (e *Engine) status() Status {
	if r := e.registry.Load(); r != nil {
		return Status{true, r.Total()}
	}
	return Status{}
}

// Fire runs the hooks of one event. It always returns a result, which blocks only if a hook
// blocks.
func (e *Engine) Fire(ctx context.Context, event string, in Input) (result *Result) {
	if e == nil {
		return newResult()
	}
	defer func() {
		if p := recover(); p != nil {
			result = newResult()
			result.warn(fmt.Sprintf("%s: internal error: %v; the hooks' output is ignored", event, p))
		}
	}()
	return e.fire(ctx, event, in)
}

func (e *Engine) fire(ctx context.Context, name string, in Input) *Result {
	d, result := e.config.Dialect, newResult()
	registry := e.ready(result)
	event, known := d.Event(name)
	if !known {
		result.warn(fmt.Sprintf("%s has no event %q", d.Title, name))
	}
	if registry == nil || len(registry.hooks[name]) == 0 {
		return result
	}
	fields, request, response := in.read()
	planned := registry.plan(d, name, subjectOf(event, fields), &ruleCall{event: event, fields: fields, session: e.config.Session})
	result.Skipped, result.Subject = planned.skipped, subjectOf(event, fields)
	for _, note := range planned.notes {
		result.warn(note)
	}
	if planned.plan == nil {
		return result
	}
	f := firing{
		event: event, session: e.config.Session, fields: fields, request: request,
		input: e.stdin(name, fields, request, response), chained: planned.plan.Sequential,
	}
	all := e.runner.run(e.config.BeforeProcesses(ctx), f, planned.plan)
	e.conclude(result, f, planned.plan, all)
	return result
}

// ready returns the registry, nil if there is none. The result of the first event gets the
// problems of the configuration.
func (e *Engine) ready(result *Result) *Registry {
	err := e.Init()
	if !e.reported.CompareAndSwap(false, true) {
		return e.registry.Load()
	}
	if err != nil {
		result.warn(err.Error())
		return nil
	}
	registry := e.registry.Load()
	for _, p := range registry.problems {
		result.warn(p.String())
	}
	return registry
}

// stdin returns what hooks read on standard input. The fields of the session are the
// engine's, whatever the caller's fields are.
func (e *Engine) stdin(event string, fields jsonx.Object, request, response jsontext.Value) jsonx.Object {
	s := e.config.Session
	base := jsonx.Object{}.
		WithText("session_id", s.ID).
		WithText("transcript_path", s.TranscriptPath).
		WithText("cwd", s.Cwd).
		WithText("hook_event_name", event)
	if e.config.Dialect.Hooks.Timestamps {
		base = base.WithText("timestamp", e.config.Now().UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	if request != nil {
		fields = fields.WithObject("llm_request", dialect.ToHookRequest(request))
	}
	if response != nil {
		fields = fields.WithObject("llm_response", dialect.ToHookResponse(response))
	}
	return base.Merged(fields.Without("session_id", "transcript_path", "cwd", "hook_event_name", "timestamp"))
}

// conclude completes the result with the results of the hooks that ran.
func (e *Engine) conclude(result *Result, f firing, plan *Plan, all []HookResult) {
	f.results = all
	result.Plan, result.Results = plan, all
	result.Aggregated = aggregate(f.event, all)
	result.Policy = policyOf(e.config.Dialect, f, result.Aggregated.FinalOutput)
	if result.Policy.ignored != "" {
		result.warn(f.event.Name + ": " + result.Policy.ignored)
	}
	for i, one := range all {
		result.log(f.event.Name+" hook "+plan.Hooks[i].label(), one)
	}
	health := "success"
	if !result.Aggregated.Success {
		health = "failure"
	}
	result.Logs = append(result.Logs, LogEntry{levelDebug, fmt.Sprintf("%s: %s, %d ms, %s", f.event.Name,
		terminal.Count(len(all), "hook"), result.Aggregated.TotalDuration.milliseconds(), health)})
}

// log adds the warnings about one hook.
func (r *Result) log(hook string, one HookResult) {
	if why := failure(one); why != "" {
		r.warn(hook + ": " + why)
	}
	for _, stream := range one.Cut {
		r.warn(fmt.Sprintf("%s: its %s was truncated after %d MiB", hook, stream, process.MaxStream>>20))
	}
	for _, note := range one.Notes {
		r.warn(hook + ": " + note)
	}
}
