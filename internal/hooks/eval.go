package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// ErrRequest means that a request of the machine interface is not one; it wraps
// what is wrong.
var ErrRequest = errors.New("invalid request")

// Eval is the machine interface: one request object in, one result object out,
// whatever the hooks say. Its mode is fire (the default), tool, model, translate,
// status or factory. cwd is used where the request has none.
func Eval(ctx context.Context, request []byte, cwd string) (jsontext.Value, error) {
	o, ok := splitObject(jsontext.Value(decode(request)))
	if !ok {
		return nil, fmt.Errorf("%w: it is no JSON object", ErrRequest)
	}
	dialect, err := Named(cmp.Or(o.text("dialect"), "llxprt"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	r := evaluation{o, dialect, cmp.Or(o.text("cwd"), cwd)}
	switch mode := cmp.Or(o.text("mode"), "fire"); mode {
	case "fire":
		return marshal(r.fire(ctx)), nil
	case "tool":
		return r.tool(ctx), nil
	case "model":
		return r.model(ctx), nil
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
	object
	dialect Dialect
	cwd     string
}

func (r evaluation) engine() *Engine {
	settings := r.get("settings")
	return New(Config{
		Dialect: r.dialect,
		Session: Session{ID: r.text("session_id"), Cwd: r.cwd, TranscriptPath: r.text("transcript_path")},
		Enabled: r.dialect.Switches(settings).Enabled,
		Load:    r.sources,
	})
}

// sources are the settings as the project's, then the active extensions.
func (r evaluation) sources() ([]Source, error) {
	settings := r.object.object("settings")
	disabled := r.dialect.disabled(settings)
	sources := []Source{{Scope: Project, Hooks: settings.get("hooks"), Disabled: disabled}}
	for _, raw := range r.array("extensions") {
		extension, ok := parseObject(raw)
		if ok && !extension.isFalse("isActive") {
			sources = append(sources, Source{Scope: Extensions, Name: extension.text("name"), Hooks: extension.get("hooks"), Disabled: disabled})
		}
	}
	return sources, nil
}

func (r evaluation) fire(ctx context.Context) *Result {
	return r.engine().Fire(ctx, r.text("event"), r.input())
}

// input is the event's, with the tool of the context where it names none.
func (r evaluation) input() Input {
	in := Input{Fields: r.get("input")}
	name := r.object.object("context").text("toolName")
	if name == "" {
		return in
	}
	if fields, _ := parseObject(in.Fields); !fields.has("tool_name") {
		in.Fields = fields.withText("tool_name", name).raw()
	}
	return in
}

func (r evaluation) tool(ctx context.Context) jsontext.Value {
	given := r.object.object("tool")
	call := r.engine().ExecuteTool(ctx, given.text("name"), given.get("input"), r.shell(given.text("command")).tool)
	flat := object{}.
		with("executed", boolean(call.Executed)).
		with("blocked", boolean(call.Blocked)).
		with("stopped", boolean(call.Stopped)).
		withText("stopReason", call.StopReason).
		with("input", call.Input)
	result, _ := parseObject(marshal(call.Result))
	return object{}.
		withObject("tool", flat.merged(result)).
		with("before", marshal(call.Before)).
		with("after", marshal(call.After)).
		with("logs", logsOf(call.Before, call.After)).
		raw()
}

func (r evaluation) model(ctx context.Context) jsontext.Value {
	request, _ := parseValue(r.get("request"))
	run := r.engine().RunModel(ctx, request, r.shell(r.text("model_command")).model)
	fired := []*Result{run.Selection, run.Before, run.After}
	o, _ := parseObject(marshal(run))
	return object{}.
		withObject("model", o.without("selection", "before", "after")).
		merged(o.only("selection", "before", "after")).
		with("logs", logsOf(fired...)).
		raw()
}

func (r evaluation) shell(command string) Shell { return Shell{Command: command, Cwd: r.cwd} }

func (r evaluation) translate() (jsontext.Value, error) {
	var args [2]jsontext.Value
	copy(args[:], r.array("args"))
	first, _ := parseObject(args[0])
	var value jsontext.Value
	switch op := r.text("op"); op {
	case "toHookLLMRequest":
		value = requestToHook(args[0]).raw()
	case "fromHookLLMRequest":
		value = requestFromHook(first, args[1])
	case "toHookLLMResponse":
		value = responseToHook(args[0]).raw()
	case "fromHookLLMResponse":
		value, _ = responseFromHook(args[0])
	case "toHookToolConfig":
		value = toolConfigToHook(first).raw()
	case "fromHookToolConfig":
		value = toolConfigFromHook(first).raw()
	default:
		return nil, fmt.Errorf("%w: there is no translation %q", ErrRequest, op)
	}
	return object{}.with("value", value).raw(), nil
}

// status shows an engine before and after it has read its configuration.
func (r evaluation) status() jsontext.Value {
	engine := r.engine()
	o := object{}.with("enabled", boolean(engine != nil))
	if engine == nil {
		return o.raw()
	}
	before := engine.Status()
	_, early := engine.Registry()
	first, second := engine.Init(), engine.Init()
	now, _ := parseObject(marshal(engine.Status()))
	return o.
		with("before", marshal(before)).
		with("throwsBeforeInit", boolean(errors.Is(early, ErrNotInitialized))).
		with("idempotent", boolean(first == nil && second == nil)).
		merged(now).
		raw()
}

// factory reads data as an output made for an event, which knows no
// compatibility fields, or as BeforeToolHookOutput, which does.
func (r evaluation) factory() jsontext.Value {
	said := Output{r.object.object("data")}
	as := rule{permissions: r.text("class") == "BeforeToolHookOutput"}
	return object{}.
		with("blocking", boolean(as.blockedBy(said))).
		with("stop", boolean(said.Stops())).
		withText("reason", as.reason(said)).
		raw()
}

func boolean(b bool) jsontext.Value {
	if b {
		return jsontext.Value("true")
	}
	return jsontext.Value("false")
}

func logsOf(results ...*Result) jsontext.Value {
	logs := []LogEntry{}
	for _, r := range results {
		if r != nil {
			logs = append(logs, r.Logs...)
		}
	}
	return marshal(logs)
}
