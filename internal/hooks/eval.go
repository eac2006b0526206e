package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/hooks/process"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// ErrRequest is returned when a request to the machine interface is invalid. The
// error that wraps it says why.
var ErrRequest = errors.New("invalid request")

// Evaluator is the machine interface: fsmtx hooks eval.
type Evaluator struct {
	// Cwd is the working directory of requests without the member cwd.
	Cwd string

	// BeforeProcesses is called before a request's first process starts; see Config. It
	// may be called more than once.
	BeforeProcesses func(context.Context) context.Context
}

// Eval answers one request object with one result object. The request's mode is fire (the
// default), tool, model, translate, status or factory. ErrRequest is returned when the request
// is invalid; a hook that blocks or fails is a part of the result.
func (v Evaluator) Eval(ctx context.Context, request []byte) (jsontext.Value, error) {
	o, ok := jsonx.SplitObject(jsontext.Value(jsonx.Decode(request)))
	if !ok {
		return nil, fmt.Errorf("%w: it is not a JSON object", ErrRequest)
	}
	if err := checkRequest(o); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	d, err := dialect.Named(cmp.Or(o.Text("dialect"), "llxprt"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	if v.BeforeProcesses == nil {
		v.BeforeProcesses = func(ctx context.Context) context.Context { return ctx }
	}
	result, err := evaluation{o, v, d, cmp.Or(o.Text("cwd"), v.Cwd)}.eval(ctx)
	if err != nil {
		return nil, err
	}
	return append(result[:len(result)-1], fmt.Sprintf(`,"version":%d}`, protocolVersion)...), nil
}

func (r evaluation) eval(ctx context.Context) (jsontext.Value, error) {
	switch mode := cmp.Or(r.Text("mode"), "fire"); mode {
	case "fire":
		return jsonx.Marshal(r.engine().Fire(ctx, r.Text("event"), r.input())), nil
	case "tool":
		return r.tool(r.evaluator.BeforeProcesses(ctx)), nil
	case "model":
		return r.model(r.evaluator.BeforeProcesses(ctx)), nil
	case "translate":
		return r.translate()
	case "status":
		return r.status(), nil
	case "factory":
		return r.factory(), nil
	default:
		return nil, fmt.Errorf("%w: there is no mode %q", ErrRequest, mode)
	}
}

// evaluation is one request.
type evaluation struct {
	jsonx.Object
	evaluator Evaluator
	dialect   dialect.Dialect
	cwd       string
}

func (r evaluation) engine() *Engine {
	switches := r.dialect.Switches(r.Get("settings"))
	return New(Config{
		Dialect: r.dialect,
		Session: Session{ID: r.Text("session_id"), Cwd: r.cwd, Project: r.Text("project"), TranscriptPath: r.Text("transcript_path")},
		Enabled: switches.Enabled,
		Load:    r.sources,
		Environ: slices.Concat(os.Environ(), switches.Env),

		Requests: switches.Requests,

		BeforeProcesses: r.evaluator.BeforeProcesses,
	})
}

// sources returns the hooks of the settings, which count as the project's, of the active
// extensions and of the plugins.
func (r evaluation) sources() ([]Source, error) {
	settings := r.Object.Object("settings")
	disabled := r.dialect.Switches(r.Get("settings")).Disabled
	sources := []Source{{Scope: dialect.Project, Hooks: settings.Get("hooks"), Disabled: disabled,
		Mistakes: r.dialect.Settings.Mistakes(r.Get("settings"))}}
	for _, raw := range r.Array("extensions") {
		extension, ok := jsonx.ParseObject(raw)
		if ok && !extension.IsFalse("isActive") {
			sources = append(sources, Source{Scope: dialect.Extensions, Name: extension.Text("name"), Hooks: extension.Get("hooks"),
				Disabled: disabled})
		}
	}
	for _, raw := range r.Array("plugins") {
		if plugin, ok := jsonx.ParseObject(raw); ok {
			sources = append(sources, Source{
				Scope: dialect.Extensions, Name: plugin.Text("name"), Hooks: plugin.Get("hooks"), Disabled: disabled,
				Root: plugin.Text("root"), Data: plugin.Text("data"),
			})
		}
	}
	return sources, nil
}

// input returns the event's input. context.toolName replaces a missing tool_name.
func (r evaluation) input() Input {
	in := Input{Fields: r.Get("input")}
	name := r.Object.Object("context").Text("toolName")
	if name == "" {
		return in
	}
	if fields, _ := jsonx.ParseObject(in.Fields); !fields.Has("tool_name") {
		in.Fields = fields.WithText("tool_name", name).Raw()
	}
	return in
}

func (r evaluation) tool(ctx context.Context) jsontext.Value {
	tool := r.Object.Object("tool")
	call := r.engine().ExecuteTool(ctx, tool.Text("name"), tool.Get("input"), r.command(tool.Text("command")).Tool)
	flat := jsonx.Object{}.
		With("executed", jsonx.Bool(call.Executed)).
		With("blocked", jsonx.Bool(call.Blocked)).
		With("stopped", jsonx.Bool(call.Stopped)).
		WithText("stopReason", call.StopReason).
		With("input", call.Input)
	result, _ := jsonx.ParseObject(jsonx.Marshal(call.Result))
	return jsonx.Object{}.
		WithObject("tool", flat.Merged(result)).
		With("before", jsonx.Marshal(call.Before)).
		With("after", jsonx.Marshal(call.After)).
		With("logs", logsOf(call.Before, call.After)).
		Raw()
}

func (r evaluation) model(ctx context.Context) jsontext.Value {
	request, _ := jsonx.Parse(r.Get("request"))
	run := r.engine().RunModel(ctx, request, r.command(r.Text("model_command")).Model)
	o, _ := jsonx.ParseObject(jsonx.Marshal(run))
	return jsonx.Object{}.
		WithObject("model", o.Without("selection", "before", "after")).
		Merged(o.Only("selection", "before", "after")).
		With("logs", logsOf(run.Selection, run.Before, run.After)).
		Raw()
}

func (r evaluation) command(line string) Command {
	return Command{Args: process.Shell(line), Cwd: r.cwd}
}

func (r evaluation) translate() (jsontext.Value, error) {
	var args [2]jsontext.Value
	copy(args[:], r.Array("args"))
	first, _ := jsonx.ParseObject(args[0])
	var value jsontext.Value
	switch op := r.Text("op"); op {
	case "toHookLLMRequest":
		value = dialect.ToHookRequest(args[0]).Raw()
	case "fromHookLLMRequest":
		value = dialect.FromHookRequest(first, args[1])
	case "toHookLLMResponse":
		value = dialect.ToHookResponse(args[0]).Raw()
	case "fromHookLLMResponse":
		value, _ = dialect.FromHookResponse(args[0])
	case "toHookToolConfig":
		value = dialect.ToHookToolConfig(first).Raw()
	case "fromHookToolConfig":
		value = dialect.FromHookToolConfig(first).Raw()
	default:
		return nil, fmt.Errorf("%w: there is no translation %q", ErrRequest, op)
	}
	return jsonx.Object{}.With("value", value).Raw(), nil
}

// status returns an engine's status before and after it reads its configuration.
func (r evaluation) status() jsontext.Value {
	engine := r.engine()
	o := jsonx.Object{}.With("enabled", jsonx.Bool(engine != nil))
	if engine == nil {
		return o.Raw()
	}
	before := engine.status()
	first, second := engine.Init(), engine.Init()
	now, _ := jsonx.ParseObject(jsonx.Marshal(engine.status()))
	return o.
		With("before", jsonx.Marshal(before)).
		With("throwsBeforeInit", jsonx.Bool(!before.Initialized)).
		With("idempotent", jsonx.Bool(first == nil && second == nil)).
		Merged(now).
		Raw()
}

// factory returns what data means as an output. permissionDecision is read only with the
// class BeforeToolHookOutput.
func (r evaluation) factory() jsontext.Value {
	out := dialect.Output{Object: r.Object.Object("data")}
	as := dialect.Event{Permissions: r.Text("class") == "BeforeToolHookOutput"}
	return jsonx.Object{}.
		With("blocking", jsonx.Bool(as.BlockedBy(out))).
		With("stop", jsonx.Bool(out.Stops())).
		WithText("reason", as.Reason(out)).
		Raw()
}

func logsOf(results ...*Result) jsontext.Value {
	logs := []LogEntry{}
	for _, r := range results {
		if r != nil {
			logs = append(logs, r.Logs...)
		}
	}
	return jsonx.Marshal(logs)
}
