package hooks

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// ModelRun is the call of a model with the hooks before and after it.
type ModelRun struct {
	Called          bool           `json:"called"`
	Blocked         bool           `json:"blocked"`
	Reason          string         `json:"reason,omitzero"`
	Stopped         bool           `json:"stopped"` // the agent must stop
	StopReason      string         `json:"stopReason,omitzero"`
	Request         jsontext.Value `json:"request"`  // as the hooks changed it
	Response        jsontext.Value `json:"response"` // null if the model failed
	SuppressDisplay bool           `json:"suppressDisplay"`
	SystemMessage   string         `json:"systemMessage,omitzero"`
	Error           string         `json:"error,omitzero"` // why the model failed

	Selection *Result `json:"selection"`
	Before    *Result `json:"before"`
	After     *Result `json:"after"` // nil if there was no response
}

// Model answers a GenerateContent request. It returns the complete response: a stream is
// joined.
type Model func(ctx context.Context, request jsontext.Value) (jsontext.Value, error)

// RunModel fires BeforeToolSelection and BeforeModel, calls the model unless a hook
// blocks or stops, and fires AfterModel once on the complete response. Without a
// response AfterModel does not fire.
func (e *Engine) RunModel(ctx context.Context, request jsontext.Value, model Model) ModelRun {
	run := ModelRun{Request: orNull(request), Response: jsontext.Value("null")}
	if e.selectTools(ctx, &run) && e.beforeModel(ctx, &run) && run.call(ctx, model) {
		e.afterModel(ctx, &run)
	}
	return run
}

// selectTools returns false if the agent must stop.
func (e *Engine) selectTools(ctx context.Context, run *ModelRun) (goOn bool) {
	run.Selection = e.Fire(ctx, dialect.BeforeToolSelection, Input{Request: run.Request})
	p := run.Selection.Policy
	if p.Stop {
		run.stop(run.Selection)
		run.Response = dialect.NoResponse()
		return false
	}
	if p.ToolConfig != nil {
		request, _ := jsonx.ParseObject(run.Request)
		run.Request = request.WithObject("config", request.Object("config").With("toolConfig", p.ToolConfig)).Raw()
	}
	return true
}

// beforeModel returns false if the model must not be called.
func (e *Engine) beforeModel(ctx context.Context, run *ModelRun) (goOn bool) {
	run.Before = e.Fire(ctx, dialect.BeforeModel, Input{Request: run.Request})
	p := run.Before.Policy
	run.SystemMessage = e.message(dialect.BeforeModel, run.Before)
	if p.Stop {
		run.stop(run.Before)
	}
	answers := p.SyntheticResponse != nil && e.around().AnswersWithoutBlock
	if p.Blocking || p.Stop || answers {
		run.Blocked, run.Reason = p.Blocking, p.Reason
		run.Response = p.SyntheticResponse
		if run.Response == nil {
			run.Response = dialect.NoResponse()
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
	run.After = e.Fire(ctx, dialect.AfterModel, Input{Request: run.Request, Response: run.Response})
	p := run.After.Policy
	if p.ModifiedResponse != nil {
		run.Response = p.ModifiedResponse
	}
	run.SuppressDisplay = p.SuppressOutput
	run.SystemMessage = lines([]string{run.SystemMessage, e.message(dialect.AfterModel, run.After)})
	if p.Stop {
		run.stop(run.After)
	}
}

func (run *ModelRun) stop(by *Result) {
	run.Stopped, run.StopReason = true, stopReason(by)
}

// message returns the system message of an event's hooks.
func (e *Engine) message(event string, fired *Result) string {
	if e == nil {
		return ""
	}
	return e.withoutFailures(event, fired).SystemMessage()
}
