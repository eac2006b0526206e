package hooks

// chainToolInput hands a changed tool input to the next hook.
func chainToolInput(d Dialect, input object, said Output) object {
	changed, ok := parseObject(said.specific().get(d.inputField))
	if !ok {
		return input
	}
	return input.withObject("tool_input", input.object("tool_input").merged(changed))
}

// chainRequest hands a changed model request to the next hook.
func chainRequest(_ Dialect, input object, said Output) object {
	changed, ok := parseObject(said.specific().get("llm_request"))
	if !ok {
		return input
	}
	return input.withObject("llm_request", input.object("llm_request").merged(changed))
}

// chainPrompt adds context to the prompt that the next hook sees.
func chainPrompt(_ Dialect, input object, said Output) object {
	context := said.Context()
	if context == "" {
		return input
	}
	return input.withText("prompt", join(input.text("prompt"), context))
}

// chained returns what the last hook of a chain left of the input: every
// successful hook's change on top of the ones before.
func (r rule) chained(d Dialect, input object, results []HookResult) object {
	for _, result := range results {
		if r.chain != nil && result.Success && result.Output != nil {
			input = r.chain(d, input, *result.Output)
		}
	}
	return input
}

// join puts a paragraph after a text.
func join(text, paragraph string) string {
	if text == "" {
		return paragraph
	}
	return text + "\n\n" + paragraph
}
