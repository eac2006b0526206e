package hooks

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// The merge strategies: pure functions from what hooks said, in plan order, to
// what they said together. They are not called without an output.

// mergeAny is for decisions any hook may take: one block blocks, one stop stops,
// texts are joined line by line, other fields are the last hook's.
func mergeAny(results []HookResult) Output {
	all := outputs(results)
	merged := Output{object{}.merged(decisionOf(all))}
	for _, name := range []string{"reason", "systemMessage"} {
		if text := joined(all, name); text != "" {
			merged.object = merged.withText(name, text)
		}
	}
	if slices.ContainsFunc(all, Output.SuppressesOutput) {
		merged.object = merged.with("suppressOutput", jsontext.Value("true"))
	}
	if specific := mergeSpecific(all); len(specific.members) > 0 {
		merged.object = merged.withObject("hookSpecificOutput", specific)
	}
	return merged
}

// decisionOf returns the fields that decide: the first block, every reason to
// stop, or allow.
func decisionOf(all []Output) object {
	var decided object
	if i := slices.IndexFunc(all, Output.Blocks); i >= 0 {
		decided = decided.withText("decision", all[i].Decision())
	}
	if stops := slices.DeleteFunc(slices.Clone(all), func(o Output) bool { return !o.Stops() }); len(stops) > 0 {
		decided = decided.with("continue", jsontext.Value("false"))
		if why := joined(stops, "stopReason"); why != "" {
			decided = decided.withText("stopReason", why)
		}
	}
	if len(decided.members) == 0 {
		decided = decided.withText("decision", "allow")
	}
	return decided
}

// permissionRank orders permission decisions: what restricts more wins.
func permissionRank(decision string) int {
	switch decision {
	case "deny", "block":
		return 4
	case "defer":
		return 3
	case "ask":
		return 2
	case "allow":
		return 1
	}
	return 0
}

// mergeSpecific merges hookSpecificOutput: later fields replace earlier ones, but
// context is joined and a permission is never widened by a later hook.
func mergeSpecific(all []Output) object {
	var merged object
	var contexts []string
	for _, o := range all {
		specific := o.specific()
		contexts = append(contexts, o.Context())
		held, asked := merged.text("permissionDecision"), specific.text("permissionDecision")
		switch cmp.Compare(permissionRank(asked), permissionRank(held)) {
		case -1:
			specific = specific.without("permissionDecision", "permissionDecisionReason")
		case 0:
			if both := joined([]Output{{merged}, {specific}}, "permissionDecisionReason"); both != "" {
				specific = specific.withText("permissionDecisionReason", both)
			}
		case 1:
			merged = merged.without("permissionDecisionReason")
		}
		merged = merged.merged(specific)
	}
	merged = merged.without("additionalContext")
	if context := lines(contexts); context != "" {
		merged = merged.withText("additionalContext", context)
	}
	return merged
}

// mergeFields is for model events: whole fields, the later hook's. What a hook
// decided against stays decided, and a hook that failed adds no more than its
// message.
func mergeFields(results []HookResult) Output {
	var merged Output
	for _, o := range effective(results) {
		specific := merged.specific().merged(o.specific())
		merged.object = merged.merged(replaceable(merged, o))
		if len(specific.members) > 0 {
			merged.object = merged.withObject("hookSpecificOutput", specific)
		}
	}
	return merged
}

// replaceable returns the fields of a later output that may replace an earlier
// one's.
func replaceable(earlier, later Output) object {
	fields := later.object
	if earlier.Blocks() && !later.Blocks() {
		fields = fields.without("decision", "reason")
	}
	if earlier.Stops() && !later.Stops() {
		fields = fields.without("continue", "stopReason")
	}
	return fields
}

// mergeLast is for events that decide nothing: every field is the last hook's
// that has it.
func mergeLast(results []HookResult) Output {
	var merged Output
	for _, o := range outputs(results) {
		merged.object = merged.merged(o.object)
	}
	return merged
}

// mergeSelection is for the choice of tools: names are united and sorted, the
// strictest mode wins, and NONE empties the names. Where no hook names a
// function, no list is given: an empty one could be read as no function at all.
func mergeSelection(results []HookResult) Output {
	merged := mergeAny(results)
	merged.object = merged.without("hookSpecificOutput")
	names, mode := selection(effective(results))
	if mode == "" {
		return merged
	}
	config := object{}.withText("mode", mode)
	if mode == modeNone {
		names = []string{}
	}
	if names != nil {
		config = config.with("allowedFunctionNames", listOfTexts(names))
	}
	specific := object{}.withText("hookEventName", BeforeToolSelection).withObject("toolConfig", config)
	merged.object = merged.withObject("hookSpecificOutput", specific)
	return merged
}

// selection returns the united names, nil if no hook gave any, and the strictest
// mode, "" if no hook has an opinion.
func selection(all []Output) (names []string, mode string) {
	for _, o := range all {
		config, ok := parseObject(o.specific().get("toolConfig"))
		if !ok {
			continue
		}
		mode = stricter(mode, cmp.Or(config.text("mode"), modeAuto))
		names = append(names, stringsIn(config, "allowedFunctionNames")...)
	}
	slices.SortFunc(names, compareCodeUnits)
	return slices.Compact(names), mode
}

const (
	modeAuto = "AUTO"
	modeAny  = "ANY"
	modeNone = "NONE"
)

// stricter returns the stricter of two modes; one that does not exist is AUTO.
func stricter(a, b string) string {
	for _, mode := range []string{modeNone, modeAny} {
		if a == mode || b == mode {
			return mode
		}
	}
	return modeAuto
}

// outputs returns what was said, by whom it ever was.
func outputs(results []HookResult) []Output {
	var all []Output
	for _, r := range results {
		if r.Output != nil {
			all = append(all, *r.Output)
		}
	}
	return all
}

// effective returns what was said, of hooks that failed only the message.
func effective(results []HookResult) []Output {
	var all []Output
	for _, r := range results {
		switch {
		case r.Output == nil:
		case r.failed():
			all = append(all, Output{r.Output.only("systemMessage")})
		default:
			all = append(all, *r.Output)
		}
	}
	return all
}

func joined(all []Output, name string) string {
	texts := make([]string, len(all))
	for i, o := range all {
		texts[i] = o.text(name)
	}
	return lines(texts)
}
