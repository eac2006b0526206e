package hooks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// ErrNotInitialized means that no event has fired yet, so that no configuration
// has been read.
var ErrNotInitialized = errors.New("the hook engine is not initialized: no event has fired yet")

// Config is what an engine needs.
type Config struct {
	Dialect Dialect
	Session Session

	// Enabled is whether the settings switch hooks on; see Dialect.Enabled.
	Enabled bool

	// Load returns the configuration. It is called once, by the first event.
	Load func() ([]Source, error)

	// Environ is what hooks inherit; nil means this process's environment.
	Environ []string

	// Now is the clock of the timestamps; nil means time.Now.
	Now func() time.Time
}

// Engine runs hooks: it owns the registry, the planner, the runner and the
// aggregator. Its methods may be called by several goroutines, and on a nil
// Engine, for which nothing ever runs.
type Engine struct {
	config Config
	runner runner

	once     sync.Once
	err      error // why there is no registry
	registry atomic.Pointer[Registry]
	reported atomic.Bool // whether its problems are in a result's log
}

// New returns an engine, nil if the settings do not enable hooks. It reads
// nothing and starts nothing: that is for the first event.
func New(c Config) *Engine {
	if !c.Enabled {
		return nil
	}
	if c.Environ == nil {
		c.Environ = inherited()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Engine{config: c, runner: runner{c.Dialect, c.Environ}}
}

// Init reads the configuration. The first event does it by itself; more calls
// change nothing.
func (e *Engine) Init() error {
	if e == nil {
		return ErrNotInitialized
	}
	e.once.Do(func() {
		e.err = errors.New("reading the hook configuration did not come to an end")
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

// Registry returns what the configuration holds, or ErrNotInitialized.
func (e *Engine) Registry() (*Registry, error) {
	if e == nil || e.registry.Load() == nil {
		return nil, ErrNotInitialized
	}
	return e.registry.Load(), nil
}

// Status says whether the configuration has been read, and what it holds.
type Status struct {
	Initialized bool `json:"initialized"`
	TotalHooks  int  `json:"totalHooks"`
}

// Status reports on the engine without changing it.
func (e *Engine) Status() Status {
	r, err := e.Registry()
	if err != nil {
		return Status{}
	}
	return Status{true, r.Total()}
}

// Fire runs the hooks of one event. Whatever goes wrong, there is a result, and
// only a hook that blocks makes it one that blocks.
func (e *Engine) Fire(ctx context.Context, event string, in Input) (result *Result) {
	if e == nil {
		return empty()
	}
	defer func() {
		if p := recover(); p != nil {
			result = empty()
			result.warn(fmt.Sprintf("%s: internal error: %v; no hook's word counts", event, p))
		}
	}()
	return e.fire(ctx, event, in)
}

func (e *Engine) fire(ctx context.Context, event string, in Input) *Result {
	d, result := e.config.Dialect, empty()
	registry := e.ready(result)
	r, known := d.rules[event]
	if !known {
		result.warn(fmt.Sprintf("%s has no event %q%s", d.Title, event, d.suggest(event)))
	}
	if registry == nil || len(registry.hooks[event]) == 0 {
		return result
	}
	fields, request, response := in.read()
	plan, notes := registry.plan(d, event, fields.text(r.subject), func(Hook, string) {})
	for _, note := range notes {
		result.warn(note)
	}
	if plan == nil {
		return result
	}
	f := firing{
		rule: r, session: e.config.Session, given: fields, request: request,
		input: e.stdin(event, fields, request, response), chained: plan.Sequential,
	}
	e.conclude(result, f, plan, e.runner.run(ctx, f, plan))
	return result
}

// ready returns the registry, nil if there is none. The first event's result
// tells what is wrong with the configuration.
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

// stdin is what the hooks get on standard input: the base fields are the
// engine's, whatever the caller put there.
func (e *Engine) stdin(event string, fields object, request, response jsontext.Value) object {
	s := e.config.Session
	base := object{}.
		withText("session_id", s.ID).
		withText("transcript_path", s.TranscriptPath).
		withText("cwd", s.Cwd).
		withText("hook_event_name", event)
	if e.config.Dialect.timestamps {
		base = base.withText("timestamp", e.config.Now().UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	if request != nil {
		fields = fields.withObject("llm_request", requestToHook(request))
	}
	if response != nil {
		fields = fields.withObject("llm_response", responseToHook(response))
	}
	return base.merged(fields.without("session_id", "transcript_path", "cwd", "hook_event_name", "timestamp"))
}

// conclude fills in what the hooks that ran amount to.
func (e *Engine) conclude(result *Result, f firing, plan *Plan, all []ran) {
	for _, one := range all {
		f.results = append(f.results, one.result)
	}
	result.Plan, result.Results = plan, f.results
	result.Aggregated = aggregate(f.rule, f.results)
	result.Policy = policyOf(e.config.Dialect, f, result.Aggregated.FinalOutput)
	for i, one := range all {
		e.log(result, f.rule.name, plan.Hooks[i], one)
	}
	health := "success"
	if !result.Aggregated.Success {
		health = "failure"
	}
	result.debug(fmt.Sprintf("%s: %d hook%s, %d ms, %s",
		f.rule.name, len(all), plural(len(all)), result.Aggregated.TotalDuration.milliseconds(), health))
}

func (e *Engine) log(result *Result, event string, h Hook, one ran) {
	about := fmt.Sprintf("%s hook %s", event, h.label())
	if why := failure(one.result); why != "" {
		result.warn(about + ": " + why)
	}
	for _, stream := range one.result.Cut {
		result.warn(fmt.Sprintf("%s: its %s is longer than %d MiB and was cut there", about, stream, maxStream>>20))
	}
	for _, note := range one.notes {
		result.warn(about + ": " + note)
	}
}
