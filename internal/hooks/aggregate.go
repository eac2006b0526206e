package hooks

import "github.com/fsmtx/fsmtx/internal/hooks/dialect"

// aggregate merges the results of an event. It depends on nothing else.
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

// withoutFailures returns the results of hooks that worked. The warning of a failed
// hook is for the log and not for the model.
func withoutFailures(results []HookResult) []HookResult {
	var kept []HookResult
	for _, r := range results {
		if !r.failed() {
			kept = append(kept, r)
		}
	}
	return kept
}
