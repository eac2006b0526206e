package settings

import (
	"fmt"
	"slices"
	"strings"
)

// State says how many of the hooks the settings hold.
type State int

const (
	Absent    State = iota // none
	Outdated               // some, or some that differ from what Add would write
	Installed              // all of them, as Add would write them
)

// Report is the result of Inspect.
type Report struct {
	State State
	Why   []string // for Outdated: one difference a hook, its event first
}

// Inspect compares settings with the hooks that they should hold. data is nil if
// there is no file. It returns ErrNotJSON, ErrDuplicate or ErrShape.
func Inspect(data []byte, hooks []Hook) (Report, error) {
	if blank(data) {
		return Report{State: Absent}, nil
	}
	doc, err := parse(data)
	if err != nil {
		return Report{}, err
	}
	var report Report
	seen := 0
	for _, h := range hooks {
		found, err := doc.find(h)
		if err != nil {
			return Report{}, err
		}
		seen += len(found)
		if why := h.compare(found); why != "" {
			report.Why = append(report.Why, h.name()+": "+why)
		}
	}
	if slices.ContainsFunc(hooks, Hook.setsTaskTools) {
		env, err := doc.env()
		if err != nil {
			return Report{}, err
		}
		if env.index(TaskTools) < 0 {
			report.Why = append(report.Why, "env: "+TaskTools+" is missing")
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

// name is what messages call the hook: its event, and what tells it from others of the
// event.
func (h Hook) name() string {
	if len(h.Tools) > 0 {
		return h.Event + " of " + h.Tools[h.Tool]
	}
	return h.Event
}

// Keep returns the hooks with the flags that they have in the settings, so that
// installing from another path keeps the user's flags. A hook that is missing gets those
// of another event's that calls the same. Errors are those of Inspect.
func Keep(data []byte, hooks []Hook) ([]Hook, error) {
	if blank(data) {
		return hooks, nil
	}
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	kept := slices.Clone(hooks)
	flags := map[string][]string{}
	var missing []int
	for i, h := range hooks {
		found, err := doc.find(h)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			missing = append(missing, i)
			continue
		}
		kept[i].Flags = h.flagsOf(found[0].call)
		flags[h.subcommand()] = kept[i].Flags
	}
	for _, i := range missing {
		if same, ok := flags[kept[i].subcommand()]; ok {
			kept[i].Flags = same
		}
	}
	return kept, nil
}

// compare says how the entries that are the hook differ from it: nothing if there
// is exactly one and it is the same.
func (h Hook) compare(found []entry) string {
	if len(found) == 0 {
		return "is missing"
	}
	if len(found) > 1 {
		return fmt.Sprintf("appears %d times", len(found))
	}
	e := found[0]
	switch {
	case e.shell:
		return "runs through a shell"
	case e.program != h.Command:
		return fmt.Sprintf("runs %s, want %s", e.program, h.Command)
	case e.timeout == 0:
		return fmt.Sprintf("has no timeout, want %d s", h.Timeout)
	case e.timeout != float64(h.Timeout):
		return fmt.Sprintf("has timeout %v s, want %d s", e.timeout, h.Timeout)
	case e.matcher != h.Matcher:
		return fmt.Sprintf("has matcher %q, want %q", e.matcher, h.Matcher)
	case e.only != h.If:
		return fmt.Sprintf("has if %q, want %q", e.only, h.If)
	case !slices.Equal(h.flagsOf(e.call), h.Flags):
		return fmt.Sprintf("has flags %q, want %q", strings.Join(h.flagsOf(e.call), " "), strings.Join(h.Flags, " "))
	}
	return ""
}
