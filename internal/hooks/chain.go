package hooks

import (
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// chained returns the input for the next hook of a chain: the changes of every
// successful hook, applied in order.
func chained(d dialect.Dialect, chain dialect.Chain, input jsonx.Object, results []HookResult) jsonx.Object {
	for _, result := range results {
		if result.Success && result.Output != nil {
			input = chainOne(d, chain, input, *result.Output)
		}
	}
	return input
}

func chainOne(d dialect.Dialect, chain dialect.Chain, input jsonx.Object, out dialect.Output) jsonx.Object {
	switch chain {
	case dialect.ChainToolInput:
		return mergedInto(input, "tool_input", out, d.Answers.InputField)
	case dialect.ChainModelRequest:
		return mergedInto(input, "llm_request", out, "llm_request")
	case dialect.ChainPrompt:
		if context := out.Context(); context != "" {
			return input.WithText("prompt", appendParagraph(input.Text("prompt"), context))
		}
	}
	return input
}

// mergedInto merges a field of hookSpecificOutput into a member of the input.
func mergedInto(input jsonx.Object, name string, out dialect.Output, field string) jsonx.Object {
	changed, ok := jsonx.ParseObject(out.Specific().Get(field))
	if !ok {
		return input
	}
	return input.WithObject(name, input.Object(name).Merged(changed))
}

func appendParagraph(text, paragraph string) string {
	if text == "" {
		return paragraph
	}
	return text + "\n\n" + paragraph
}
