package hooks

import "github.com/fsmtx/fsmtx/internal/hooks/dialect"

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

// withoutFailures returns the results of hooks that did not fail. The warning of a failed
// hook belongs in the log and must not reach the model.
func withoutFailures(results []HookResult) []HookResult {
	var kept []HookResult
	for _, r := range results {
		if !r.Failed() {
			kept = append(kept, r)
		}
	}
	return kept
}
