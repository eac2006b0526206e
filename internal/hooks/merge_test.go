package hooks

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// someResults draws results of hooks, some of which failed.
func someResults(t *rapid.T) []HookResult {
	one := rapid.Custom(func(t *rapid.T) HookResult {
		text := rapid.SampledFrom([]string{
			`{}`, `{"decision":"allow"}`, `{"decision":"block","reason":"b"}`, `{"decision":"deny","reason":"d"}`, `{"decision":5}`,
			`{"continue":false,"stopReason":"s"}`, `{"continue":true}`, `{"systemMessage":"m"}`, `{"suppressOutput":true}`,
			`{"hookSpecificOutput":{"permissionDecision":"deny"}}`, `{"hookSpecificOutput":{"permissionDecision":"allow"}}`,
			`{"hookSpecificOutput":{"additionalContext":"c"}}`, `{"hookSpecificOutput":7}`,
			`{"hookSpecificOutput":{"toolConfig":{"mode":"ANY","allowedFunctionNames":["b","a"]}}}`,
			`{"hookSpecificOutput":{"toolConfig":{"mode":"NONE"}}}`, `{"hookSpecificOutput":{"toolConfig":[]}}`,
		}).Draw(t, "output")
		out, _ := dialect.ParseOutput(jsontext.Value(text))
		return HookResult{Output: &out, Success: rapid.Bool().Draw(t, "success")}
	})
	return rapid.SliceOfN(one, 1, 6).Draw(t, "results")
}

func shuffled(t *rapid.T, results []HookResult) []HookResult {
	return rapid.Permutation(results).Draw(t, "order")
}

func TestAnyBlockBlocksInAnyOrder(t *testing.T) {
	pre, _ := dialect.LLxprt().Event(dialect.BeforeTool)
	rapid.Check(t, func(t *rapid.T) {
		results := shuffled(t, someResults(t))
		merged := mergeAny(results)
		any := func(is func(dialect.Output) bool) bool { return slices.ContainsFunc(outputs(results), is) }
		require.Equal(t, pre.BlockedBy(merged), any(pre.BlockedBy), "blocks: %s", merged.Raw())
		if any(dialect.Output.Stops) != merged.Stops() || any(dialect.Output.SuppressesOutput) != merged.SuppressesOutput() {
			t.Fatalf("stops or suppresses: %s", merged.Raw())
		}
	})
}

func TestLaterHookDoesNotUndoABlockOfTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		results := shuffled(t, someResults(t))
		merged := merge(dialect.MergeFields, results)
		require.Equal(t, merged.Blocks(), slices.ContainsFunc(effective(results), dialect.Output.Blocks), "blocks: %s", merged.Raw())
		require.Equal(t, merged.Stops(), slices.ContainsFunc(effective(results), dialect.Output.Stops), "stops: %s", merged.Raw())
	})
}

func TestSelectionDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		results := someResults(t)
		a := mergeSelection(results).Specific().Raw()
		b := mergeSelection(shuffled(t, results)).Specific().Raw()
		require.Equal(t, string(b), string(a), "%s\n%s", a, b)
		if strings.Contains(string(a), modeNone) && !strings.Contains(string(a), `"allowedFunctionNames":[]`) {
			t.Fatalf("NONE empties the names: %s", a)
		}
	})
}

func TestMergingDoesNotChangeTheResults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		results := someResults(t)
		before := string(jsonx.Marshal(results))
		for _, e := range dialect.LLxprt().Events {
			merge(e.Merge, results)
			aggregate(e, results)
		}
		if after := string(jsonx.Marshal(results)); after != before {
			t.Fatalf("%s\n%s", before, after)
		}
	})
}

func TestMoreRestrictivePermissionWins(t *testing.T) {
	permission := func(decision, reason string) HookResult {
		o := dialect.Output{}.WithSpecific("permissionDecision", jsonx.Quote(decision)).
			WithSpecific("permissionDecisionReason", jsonx.Quote(reason))
		return HookResult{Output: &o}
	}
	for _, c := range []struct {
		name    string
		results []HookResult
		want    string
		reason  string
	}{
		{"deny over all", []HookResult{permission("ask", "a"), permission("deny", "d"), permission("allow", "y"), permission("defer", "f")},
			"deny", "d"},
		{"defer over ask", []HookResult{permission("defer", "f"), permission("ask", "a")}, "defer", "f"},
		{"ask over allow", []HookResult{permission("allow", "y"), permission("ask", "a")}, "ask", "a"},
		{"both reasons", []HookResult{permission("deny", "d"), permission("deny", "e")}, "deny", "d\ne"},
	} {
		t.Run(c.name, func(t *testing.T) {
			merged := mergeAny(c.results).Specific()
			require.Equal(t, c.want, merged.Text("permissionDecision"))
			require.Equal(t, c.reason, merged.Text("permissionDecisionReason"))
		})
	}
}

// The strictest of two verdicts counts, whichever hook comes first, and so it does in the merged output.
func TestTheStrictestVerdictCounts(t *testing.T) {
	event, _ := dialect.Claude().Event("PreToolUse")
	order := []string{dialect.Undecided, dialect.Allow, dialect.Ask, dialect.Defer, dialect.Deny}
	result := func(verdict string) HookResult {
		text := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"` + verdict + `"}}`
		if verdict == dialect.Undecided {
			text = `{"systemMessage":"m"}`
		}
		out, _ := dialect.ParseOutput(jsontext.Value(text))
		return HookResult{Output: &out, Success: true}
	}
	for i, stricter := range order {
		for _, other := range order[:i+1] {
			for _, pair := range [][]HookResult{{result(stricter), result(other)}, {result(other), result(stricter)}} {
				require.Equal(t, stricter, verdictOf(firing{event: event, results: pair}), "%s and %s", stricter, other)
				require.Equal(t, stricter, event.Verdict(merge(event.Merge, pair)), "%s and %s", stricter, other)
			}
		}
	}
}
