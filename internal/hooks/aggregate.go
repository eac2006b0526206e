package hooks

import (
	"slices"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
)

// aggregate merges the results of an event's hooks. It is a pure function.
func aggregate(e dialect.Event, results []HookResult) Aggregated {
	a := Aggregated{Success: true, AllOutputs: []dialect.Output{}, Errors: []string{}}
	for _, result := range results {
		a.Success = a.Success && result.Success
		a.TotalDuration += result.Duration
		if result.Error != "" {
			a.Errors = append(a.Errors, result.Error)
		}
	}
	a.AllOutputs = append(a.AllOutputs, outputs(results)...)
	if len(a.AllOutputs) > 0 {
		final := merge(e.Merge, results)
		a.FinalOutput = &final
	}
	return a
}

// withoutFailures merges the outputs of an event's hooks without those that failed: the warning
// of a failed hook belongs in the log and must not reach the model.
func (e *Engine) withoutFailures(event string, fired *Result) dialect.Output {
	row, _ := e.config.Dialect.Event(event)
	final := aggregate(row, slices.DeleteFunc(slices.Clone(fired.Results), HookResult.Failed)).FinalOutput
	if final == nil {
		return dialect.Output{}
	}
	return *final
}
