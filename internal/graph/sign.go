package graph

// Sign returns the sign of the state of a step, which every view of a workflow has in front of it,
// so that the state is seen without colours. The states are those of this package, and those that
// only a step of a list has, as state.State.Word names them.
func Sign(state string) string {
	switch State(state) { // a variable would be filled at each start of a hook
	case Done:
		return "●"
	case InProgress:
		return "◐"
	case Ready:
		return "○"
	case Blocked:
		return "◌"
	case NotNeeded:
		return "⊘"
	case Skipped:
		return "»"
	case checking:
		return "…"
	case awaits:
		return "!"
	case unchecked, offRecord:
		return "?"
	case gone:
		return "✗"
	}
	return ""
}

// Colour returns the parameters of the terminal's escape sequence (SGR) for the state of a step.
func Colour(state string) string {
	switch State(state) {
	case Done:
		return "32"
	case InProgress, checking:
		return "33"
	case Ready, awaits:
		return "1"
	case unchecked:
		return "31"
	}
	return "2"
}
