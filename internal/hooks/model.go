package hooks

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
)

// ModelRun is a model's call from the first hook to the last.
type ModelRun struct {
	Called          bool           `json:"called"`
	Blocked         bool           `json:"blocked"`
	Reason          string         `json:"reason,omitzero"`
	Stopped         bool           `json:"stopped"` // the agent is to stop
	StopReason      string         `json:"stopReason,omitzero"`
	Request         jsontext.Value `json:"request"`  // what was sent, or would have been
	Response        jsontext.Value `json:"response"` // what to go on with, null if the model failed
	SuppressDisplay bool           `json:"suppressDisplay"`
	SystemMessage   string         `json:"systemMessage,omitzero"`
	Error           string         `json:"error,omitzero"` // how the model failed

	Selection *Result `json:"selection"`
	Before    *Result `json:"before"`
	After     *Result `json:"after"` // nil if there was no response
}

// Model answers a GenerateContent request. It returns the complete response,
// however it came.
type Model func(ctx context.Context, request jsontext.Value) (jsontext.Value, error)

// RunModel fires BeforeToolSelection and BeforeModel, calls the model unless a
// hook blocks or stops, and fires AfterModel on the complete response; once, and
// not at all if there is none.
func (e *Engine) RunModel(ctx context.Context, request jsontext.Value, model Model) ModelRun {
	run := ModelRun{Request: orNull(request), Response: jsontext.Value("null")}
	if e.selectTools(ctx, &run) && e.beforeModel(ctx, &run) && run.call(ctx, model) {
		e.afterModel(ctx, &run)
	}
	return run
}

// selectTools returns false if the agent is to stop.
func (e *Engine) selectTools(ctx context.Context, run *ModelRun) (goOn bool) {
	run.Selection = e.Fire(ctx, BeforeToolSelection, Input{Request: run.Request})
	p := run.Selection.Policy
	if p.Stop {
		run.stop(run.Selection)
		run.Response = noResponse()
		return false
	}
	if p.ToolConfig != nil {
		request, _ := parseObject(run.Request)
		run.Request = request.withObject("config", request.object("config").with("toolConfig", p.ToolConfig)).raw()
	}
	return true
}

// beforeModel returns false if the model is not to be called.
func (e *Engine) beforeModel(ctx context.Context, run *ModelRun) (goOn bool) {
	run.Before = e.Fire(ctx, BeforeModel, Input{Request: run.Request})
	p := run.Before.Policy
	run.SystemMessage = e.message(BeforeModel, run.Before)
	if p.Stop {
		run.stop(run.Before)
	}
	answers := p.SyntheticResponse != nil && e.answersUnasked()
	if p.Blocking || p.Stop || answers {
		run.Blocked, run.Reason = p.Blocking, p.Reason
		run.Response = p.SyntheticResponse
		if run.Response == nil {
			run.Response = noResponse()
		}
		return false
	}
	if p.ModifiedRequest != nil {
		run.Request = p.ModifiedRequest
	}
	return true
}

// call returns false if the model failed.
func (run *ModelRun) call(ctx context.Context, model Model) (ok bool) {
	run.Called = true
	response, err := model(ctx, run.Request)
	if err != nil {
		run.Error = err.Error()
		return false
	}
	run.Response = response
	return true
}

func (e *Engine) afterModel(ctx context.Context, run *ModelRun) {
	run.After = e.Fire(ctx, AfterModel, Input{Request: run.Request, Response: run.Response})
	p := run.After.Policy
	if p.ModifiedResponse != nil {
		run.Response = p.ModifiedResponse
	}
	run.SuppressDisplay = p.SuppressOutput
	run.SystemMessage = lines([]string{run.SystemMessage, e.message(AfterModel, run.After)})
	if p.Stop {
		run.stop(run.After)
	}
}

func (run *ModelRun) stop(by *Result) {
	run.Stopped, run.StopReason = true, stopReason(by)
}

// message is what the hooks of an event have to say, without those that failed.
func (e *Engine) message(event string, r *Result) string {
	if e == nil {
		return ""
	}
	final := aggregate(e.config.Dialect.rules[event], withoutFailures(r.Results)).FinalOutput
	if final == nil {
		return ""
	}
	return final.SystemMessage()
}

func (e *Engine) answersUnasked() bool { return e != nil && e.config.Dialect.answersUnasked }

// noResponse tells the agent that the model had no word.
func noResponse() jsontext.Value { return jsontext.Value(`{"candidates":[]}`) }
