package hooks

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// someResults draws what hooks may have said, failures included.
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
		said, _ := ParseOutput(jsontext.Value(text))
		return HookResult{Output: &said, Success: rapid.Bool().Draw(t, "success")}
	})
	return rapid.SliceOfN(one, 1, 6).Draw(t, "results")
}

func shuffled(t *rapid.T, results []HookResult) []HookResult {
	return rapid.Permutation(results).Draw(t, "order")
}

func TestAnyBlockBlocksInAnyOrder(t *testing.T) {
	pre := rulesOf(documentedRules()...)[BeforeTool]
	rapid.Check(t, func(t *rapid.T) {
		results := shuffled(t, someResults(t))
		merged := mergeAny(results)
		said := func(is func(Output) bool) bool { return slices.ContainsFunc(outputs(results), is) }
		if said(pre.blockedBy) != pre.blockedBy(merged) {
			t.Fatalf("blocks: %s", merged.raw())
		}
		if said(Output.Stops) != merged.Stops() || said(Output.SuppressesOutput) != merged.SuppressesOutput() {
			t.Fatalf("stops or suppresses: %s", merged.raw())
		}
	})
}

func TestLaterHooksDoNotUndoABlockOfTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		results := shuffled(t, someResults(t))
		merged := mergeFields(results)
		if slices.ContainsFunc(effective(results), Output.Blocks) != merged.Blocks() {
			t.Fatalf("blocks: %s", merged.raw())
		}
		if slices.ContainsFunc(effective(results), Output.Stops) != merged.Stops() {
			t.Fatalf("stops: %s", merged.raw())
		}
	})
}

func TestSelectionDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		results := someResults(t)
		a := mergeSelection(results).specific().raw()
		b := mergeSelection(shuffled(t, results)).specific().raw()
		if string(a) != string(b) {
			t.Fatalf("%s\n%s", a, b)
		}
		if strings.Contains(string(a), modeNone) && !strings.Contains(string(a), `"allowedFunctionNames":[]`) {
			t.Fatalf("NONE empties the names: %s", a)
		}
	})
}

func TestMergingChangesNothingItIsGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		results := someResults(t)
		before := string(marshal(results))
		for _, r := range documentedRules() {
			r.merge(results)
			aggregate(r, results)
		}
		if after := string(marshal(results)); after != before {
			t.Fatalf("%s\n%s", before, after)
		}
	})
}

func TestPermissionsOfClaudeGoByRank(t *testing.T) {
	said := func(decision, reason string) HookResult {
		o := Output{}.withSpecific("permissionDecision", quote(decision)).withSpecific("permissionDecisionReason", quote(reason))
		return HookResult{Output: &o}
	}
	for _, c := range []struct {
		name    string
		results []HookResult
		want    string
		reason  string
	}{
		{"deny over all", []HookResult{said("ask", "a"), said("deny", "d"), said("allow", "y"), said("defer", "f")}, "deny", "d"},
		{"defer over ask", []HookResult{said("defer", "f"), said("ask", "a")}, "defer", "f"},
		{"ask over allow", []HookResult{said("allow", "y"), said("ask", "a")}, "ask", "a"},
		{"both reasons", []HookResult{said("deny", "d"), said("deny", "e")}, "deny", "d\ne"},
	} {
		t.Run(c.name, func(t *testing.T) {
			merged := mergeAny(c.results).specific()
			require.Equal(t, c.want, merged.text("permissionDecision"))
			require.Equal(t, c.reason, merged.text("permissionDecisionReason"))
		})
	}
}
