package graph

// Sign returns the sign of the state of a step, which every view of a workflow has in front of it,
// so that the state is seen without colours. The states are those of this package, and those that
// only a step of a list has, as state.State.Word names them.
func Sign(state string) string {
	switch state { // a variable would be filled at each start of a hook
	case "done":
		return "●"
	case "in progress":
		return "◐"
	case "ready":
		return "○"
	case "blocked":
		return "◌"
	case "not needed":
		return "⊘"
	case "skipped":
		return "»"
	case "checking":
		return "…"
	case "waiting for a person":
		return "!"
	case "unchecked", "not on record":
		return "?"
	case "gone":
		return "✗"
	}
	return ""
}

// Colour returns the parameters of the terminal's escape sequence (SGR) for the state of a step.
func Colour(state string) string {
	switch state {
	case "done":
		return "32"
	case "in progress", "checking":
		return "33"
	case "ready", "waiting for a person":
		return "1"
	case "unchecked":
		return "31"
	}
	return "2"
}
