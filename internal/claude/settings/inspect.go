package settings

import (
	"fmt"
	"slices"
	"strings"
)

// State says how much of the hooks is in the settings.
type State int

const (
	Absent    State = iota // no hook of ours
	Outdated               // some, but not as they would be written now
	Installed              // all of them, as they would be written now
)

func (s State) String() string {
	return [...]string{"absent", "outdated", "installed"}[s]
}

// Report is what Inspect found.
type Report struct {
	State State
	Why   []string // Outdated: what is wrong, one hook a line, its event first
}

// Inspect compares settings with the hooks that should be there. data is nil if
// there is no file. It returns ErrNotJSON, ErrDuplicate or ErrShape.
func Inspect(data []byte, hooks []Hook) (Report, error) {
	if data == nil {
		return Report{State: Absent}, nil
	}
	doc, err := parse(data)
	if err != nil {
		return Report{}, err
	}
	var report Report
	seen := 0
	for _, h := range hooks {
		found, err := find(doc.top, h)
		if err != nil {
			return Report{}, err
		}
		seen += len(found)
		if why := h.compare(found); why != "" {
			report.Why = append(report.Why, h.Event+": "+why)
		}
	}
	switch {
	case seen == 0:
		return Report{State: Absent}, nil
	case len(report.Why) == 0:
		report.State = Installed
	default:
		report.State = Outdated
	}
	return report, nil
}

// Keep returns the hooks with the flags that they have in the settings already,
// so that a change of the program's path does not undo the user's choice.
// Errors are those of Inspect.
func Keep(data []byte, hooks []Hook) ([]Hook, error) {
	if data == nil {
		return hooks, nil
	}
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	kept := slices.Clone(hooks)
	for i, h := range hooks {
		found, err := find(doc.top, h)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			kept[i].Flags = h.flagsOf(found[0].call)
		}
	}
	return kept, nil
}

// compare says in a few words what is wrong with the entries that are the hook,
// nothing if there is one and it is right.
func (h Hook) compare(found []entry) string {
	if len(found) == 0 {
		return "is missing"
	}
	if len(found) > 1 {
		return fmt.Sprintf("is there %d times", len(found))
	}
	e := found[0]
	switch {
	case e.shell:
		return "goes through a shell"
	case e.program != h.Command:
		return fmt.Sprintf("runs %s, not %s", e.program, h.Command)
	case e.timeout == 0:
		return fmt.Sprintf("has no timeout, not %d s", h.Timeout)
	case e.timeout != float64(h.Timeout):
		return fmt.Sprintf("may take %v s, not %d s", e.timeout, h.Timeout)
	case e.matcher != h.Matcher:
		return fmt.Sprintf("has the matcher %q, not %q", e.matcher, h.Matcher)
	case !slices.Equal(h.flagsOf(e.call), h.Flags):
		return fmt.Sprintf("has the flags %q, not %q", strings.Join(h.flagsOf(e.call), " "), strings.Join(h.Flags, " "))
	}
	return ""
}
