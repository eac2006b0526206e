package hooks

// aggregate is a pure function of the results and the event's rule.
func aggregate(r rule, results []HookResult) Aggregated {
	a := Aggregated{Success: true, AllOutputs: []Output{}, Errors: []string{}}
	for _, result := range results {
		a.Success = a.Success && result.Success
		a.TotalDuration += result.Duration
		if result.Error != "" {
			a.Errors = append(a.Errors, result.Error)
		}
	}
	a.AllOutputs = append(a.AllOutputs, outputs(results)...)
	if len(a.AllOutputs) > 0 {
		final := r.merge(results)
		a.FinalOutput = &final
	}
	return a
}

// withoutFailures returns the results whose words may be applied: a failed
// hook's warning is for the log, not for the model.
func withoutFailures(results []HookResult) []HookResult {
	var kept []HookResult
	for _, r := range results {
		if !r.failed() {
			kept = append(kept, r)
		}
	}
	return kept
}
