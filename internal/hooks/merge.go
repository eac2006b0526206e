package hooks

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// merge merges the outputs of results, in the order of the plan. At least one result
// must have an output.
func merge(strategy dialect.Merge, results []HookResult) dialect.Output {
	switch strategy {
	case dialect.MergeAny:
		return mergeAny(results)
	case dialect.MergeVotes:
		return mergeVotes(results)
	case dialect.MergeFields:
		return lastOfEach(effective(results), replaceable) // a failed hook adds only its message
	case dialect.MergeReplace: // even if an earlier hook blocked
		return lastOfEach(outputs(results), func(_, later dialect.Output) jsonx.Object { return later.Object })
	case dialect.MergeSelection:
		return mergeSelection(results)
	case dialect.MergeLast:
		return mergeLast(results)
	}
	panic("unknown merge strategy")
}

// mergeAny implements [dialect.MergeAny]: one block blocks, one stop stops, texts are joined
// by line, and the last hook's value of any other field is used.
func mergeAny(results []HookResult) dialect.Output {
	all := outputs(results)
	merged := dialect.Output{Object: jsonx.Object{}.Merged(decisionOf(all))}
	for _, name := range []string{"reason", "systemMessage"} {
		if text := joined(all, name); text != "" {
			merged.Object = merged.WithText(name, text)
		}
	}
	if slices.ContainsFunc(all, dialect.Output.SuppressesOutput) {
		merged.Object = merged.With("suppressOutput", jsontext.Value("true"))
	}
	if specific := mergeSpecific(all); specific.Len() > 0 {
		merged.Object = merged.WithObject("hookSpecificOutput", specific)
	}
	return merged
}

// mergeVotes implements [dialect.MergeVotes]: mergeAny without the allow that it adds if no
// hook decides.
func mergeVotes(results []HookResult) dialect.Output {
	merged := mergeAny(results)
	if rank := permissionRank(merged.Specific().Text("permissionDecision")); merged.Blocks() && rank < permissionRank(dialect.Deny) {
		// Another hook asked or allowed: its reason is not that of the block.
		merged.Object = merged.WithObject("hookSpecificOutput", merged.Specific().Without("permissionDecision", "permissionDecisionReason"))
	}
	if merged.Decision() != dialect.Allow {
		return merged
	}
	merged.Object = merged.Without("decision")
	for _, o := range outputs(results) {
		if !o.Blocks() && o.Decision() != "" {
			merged.Object = merged.WithText("decision", o.Decision())
		}
	}
	return merged
}

// decisionOf returns the fields that decide: the first block and all reasons to stop. If
// there are none, it returns ask if a hook asks, else allow.
func decisionOf(all []dialect.Output) jsonx.Object {
	var decided jsonx.Object
	if i := slices.IndexFunc(all, dialect.Output.Blocks); i >= 0 {
		decided = decided.WithText("decision", all[i].Decision())
	}
	if stops := slices.DeleteFunc(slices.Clone(all), func(o dialect.Output) bool { return !o.Stops() }); len(stops) > 0 {
		decided = decided.With("continue", jsontext.Value("false"))
		if why := joined(stops, "stopReason"); why != "" {
			decided = decided.WithText("stopReason", why)
		}
	}
	switch {
	case decided.Len() > 0:
		return decided
	case slices.ContainsFunc(all, func(o dialect.Output) bool { return o.Decision() == dialect.Ask }):
		return decided.WithText("decision", dialect.Ask)
	}
	return decided.WithText("decision", dialect.Allow)
}

// permissionRank orders permission decisions: the more restrictive one wins.
func permissionRank(decision string) int {
	switch decision {
	case dialect.Deny, "block":
		return 4
	case dialect.Defer:
		return 3
	case dialect.Ask:
		return 2
	case dialect.Allow:
		return 1
	}
	return 0
}

// mergeSpecific merges hookSpecificOutput: later fields replace earlier ones, contexts
// are joined, and a less restrictive permission does not replace a more restrictive one.
func mergeSpecific(all []dialect.Output) jsonx.Object {
	var merged jsonx.Object
	var contexts []string
	for _, o := range all {
		specific := o.Specific()
		contexts = append(contexts, o.Context())
		earlier, later := merged.Text("permissionDecision"), specific.Text("permissionDecision")
		switch cmp.Compare(permissionRank(later), permissionRank(earlier)) {
		case -1:
			specific = specific.Without("permissionDecision", "permissionDecisionReason")
		case 0:
			if both := joined([]dialect.Output{{Object: merged}, {Object: specific}}, "permissionDecisionReason"); both != "" {
				specific = specific.WithText("permissionDecisionReason", both)
			}
		case 1:
			merged = merged.Without("permissionDecisionReason")
		}
		if merged.Object("decision").Text("behavior") == "deny" {
			specific = specific.Without("decision") // one deny is enough
		}
		merged = merged.Merged(specific)
	}
	merged = merged.Without("additionalContext")
	if context := lines(contexts); context != "" {
		merged = merged.WithText("additionalContext", context)
	}
	return merged
}

// lastOfEach returns the last value of each field, also of those in hookSpecificOutput. take returns
// the fields of a later output that replace earlier ones.
func lastOfEach(all []dialect.Output, take func(earlier, later dialect.Output) jsonx.Object) dialect.Output {
	var merged dialect.Output
	for _, o := range all {
		specific := merged.Specific().Merged(o.Specific())
		merged.Object = merged.Merged(take(merged, o))
		if specific.Len() > 0 {
			merged.Object = merged.WithObject("hookSpecificOutput", specific)
		}
	}
	return merged
}

// replaceable returns the fields of a later output that may replace earlier ones: it cannot undo a block or a stop.
func replaceable(earlier, later dialect.Output) jsonx.Object {
	fields := later.Object
	if earlier.Blocks() && !later.Blocks() {
		fields = fields.Without("decision", "reason")
	}
	if earlier.Stops() && !later.Stops() {
		fields = fields.Without("continue", "stopReason")
	}
	return fields
}

// mergeLast implements [dialect.MergeLast], for events without a decision.
func mergeLast(results []HookResult) dialect.Output {
	var merged dialect.Output
	for _, o := range outputs(results) {
		merged.Object = merged.Merged(o.Object)
	}
	return merged
}

// mergeSelection implements [dialect.MergeSelection]: names are united and sorted, the
// strictest mode wins, and NONE empties the names. If no hook names a function, the list is
// absent, because an empty list could be read as "no function".
func mergeSelection(results []HookResult) dialect.Output {
	merged := mergeAny(results)
	merged.Object = merged.Without("hookSpecificOutput")
	names, mode := selection(effective(results))
	if mode == "" {
		return merged
	}
	config := jsonx.Object{}.WithText("mode", mode)
	if mode == modeNone {
		names = []string{}
	}
	if names != nil {
		config = config.With("allowedFunctionNames", jsonx.Strings(names))
	}
	specific := jsonx.Object{}.WithText("hookEventName", dialect.BeforeToolSelection).WithObject("toolConfig", config)
	merged.Object = merged.WithObject("hookSpecificOutput", specific)
	return merged
}

// selection returns the united names and the strictest mode. names is nil if no hook names
// a function, and mode is "" if no hook has a configuration.
func selection(all []dialect.Output) (names []string, mode string) {
	for _, o := range all {
		config, ok := jsonx.ParseObject(o.Specific().Get("toolConfig"))
		if !ok {
			continue
		}
		mode = stricter(mode, cmp.Or(config.Text("mode"), modeAuto))
		names = append(names, config.Strings("allowedFunctionNames")...)
	}
	slices.SortFunc(names, jsonx.Compare)
	return slices.Compact(names), mode
}

const (
	modeAuto = "AUTO"
	modeAny  = "ANY"
	modeNone = "NONE"
)

// stricter returns the stricter of two modes; an unknown mode is AUTO.
func stricter(a, b string) string {
	for _, mode := range []string{modeNone, modeAny} {
		if a == mode || b == mode {
			return mode
		}
	}
	return modeAuto
}

// outputs returns the outputs of all hooks, including those that failed.
func outputs(results []HookResult) []dialect.Output {
	var all []dialect.Output
	for _, r := range results {
		if r.Output != nil {
			all = append(all, *r.Output)
		}
	}
	return all
}

// effective returns the outputs of all hooks. Of a hook that failed only the message is kept.
func effective(results []HookResult) []dialect.Output {
	var all []dialect.Output
	for _, r := range results {
		switch {
		case r.Output == nil:
		case r.Failed():
			all = append(all, dialect.Output{Object: r.Output.Only("systemMessage")})
		default:
			all = append(all, *r.Output)
		}
	}
	return all
}

func joined(all []dialect.Output, name string) string {
	texts := make([]string, len(all))
	for i, o := range all {
		texts[i] = o.Text(name)
	}
	return lines(texts)
}
