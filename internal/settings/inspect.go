package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/internal/shell"
)

// State is the state of the hooks in the settings.
type State int

const (
	Absent    State = iota // the settings have none of the hooks
	Outdated               // a hook is missing or differs from what Add would write
	Installed              // every hook is as Add would write it
)

// Report is the result of Inspect.
type Report struct {
	State State
	Why   []string // for Outdated: one difference per hook, beginning with its event
}

// Inspect compares settings with the hooks that they should have. data is nil if
// there is no file. It returns ErrNotJSON, ErrShape or jsontext.ErrDuplicateName, and, with a report, ErrNewer: the hooks can then be
// removed, and nothing else.
func Inspect(data []byte, hooks []Hook) (Report, error) {
	doc, err := parse(data)
	if err != nil {
		return Report{}, err
	}
	wantsTools := slices.ContainsFunc(hooks, Hook.setsTaskTools)
	if i := index(doc.top, "env"); i >= 0 && wantsTools {
		if _, err := doc.object(doc.top.Members[i].Value, "/env"); err != nil {
			return Report{}, err
		}
	}
	found, err := doc.entries(hooks)
	if err != nil || len(found) == 0 {
		return Report{State: Absent}, err
	}
	report := Report{State: Installed}
	differs := func(what, why string) {
		if why != "" {
			report.State, report.Why = Outdated, append(report.Why, what+": "+why)
		}
	}
	for i, e := range paired(hooks, found) {
		differs(hooks[i].Event, hooks[i].compare(e))
	}
	for _, e := range unpaired(hooks, found) {
		differs(e.event, "is registered, but should not be")
	}
	if wantsTools && doc.taskTools() == nil {
		differs("env", TaskTools+" is missing")
	}
	return report, errNewer(found)
}

// errNewer returns ErrNewer if a newer program has written one of the entries.
func errNewer(found []entry) error {
	for _, e := range found {
		if _, mark, marked := strings.Cut(e.line, formMark); marked {
			if n, err := strconv.Atoi(mark); err != nil || n > form {
				return fmt.Errorf(" %w", ErrNewer) // of the whole file, which has no position
			}
		}
	}
	return nil
}

// pair returns, for each hook, the index of the entry that is this hook, -1 for none: the one with its matcher, or the
// first that is no other hook.
func pair(hooks []Hook, found []entry) []int {
	taken := make([]int, len(hooks))
	for i, h := range hooks {
		is := func(e entry, j int) bool {
			return e.event == h.Event && h.owns(e.call) && !slices.Contains(taken[:i], j)
		}
		taken[i] = -1
		for j, e := range found {
			if is(e, j) && (taken[i] < 0 || e.matcher == h.Matcher && found[taken[i]].matcher != h.Matcher) {
				taken[i] = j
			}
		}
	}
	return taken
}

// paired returns, for each hook, the entry that is this hook, nil for none.
func paired(hooks []Hook, found []entry) []*entry {
	all := make([]*entry, len(hooks))
	for i, j := range pair(hooks, found) {
		if j >= 0 {
			all[i] = &found[j]
		}
	}
	return all
}

// unpaired returns the entries that are none of the hooks.
func unpaired(hooks []Hook, found []entry) (rest []entry) {
	taken := pair(hooks, found)
	for j, e := range found {
		if !slices.Contains(taken, j) {
			rest = append(rest, e)
		}
	}
	return rest
}

// Keep returns the hooks with the flags that they have in the settings, so that
// installing from another path keeps the user's flags. A hook that the settings do not
// have gets the flags of another hook with the same subcommand. Errors are those of Inspect.
func Keep(data []byte, hooks []Hook) ([]Hook, error) {
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	found, err := doc.entries(hooks)
	if err != nil {
		return nil, err
	}
	kept := slices.Clone(hooks)
	for i, e := range paired(hooks, found) {
		if e != nil {
			kept[i].Flags = hooks[i].flagsOf(e.call)
		} else if j := slices.IndexFunc(found, func(e entry) bool { return hooks[i].owns(e.call) }); j >= 0 {
			kept[i].Flags = slices.DeleteFunc(hooks[i].flagsOf(found[j].call), isMark)
		}
	}
	return kept, nil
}

// compare describes how the entry found for the hook differs from it, "" if it is equal.
func (h Hook) compare(e *entry) string {
	switch {
	case e == nil:
		return "is missing"
	case e.program != h.Command:
		return fmt.Sprintf("runs %s, want %s", e.program, h.Command)
	case !slices.Equal(h.flagsOf(e.call), h.Flags):
		return has("flags", strings.Join(h.flagsOf(e.call), " "), strings.Join(h.Flags, " "))
	case e.line != "" && h.isExec():
		return `has no "args", without which it depends on the shell of the client`
	case e.line == "" && !h.isExec():
		return `has "args", which other agents ignore`
	case e.line != h.Line() && h.fallback == shell.Refuse:
		return "lets steps through if the program cannot be started"
	case e.line != h.Line():
		return "does not allow for a missing program as it should"
	case h.PowerShell && e.windows != h.powerShell():
		return has("commandWindows", e.windows, h.powerShell())
	case e.timeout.Float() != float64(h.Timeout):
		return fmt.Sprintf("has timeout %s, want %d", cmp.Or(string(e.timeout), "none"), h.Timeout)
	case e.matcher != h.Matcher:
		return has("matcher", e.matcher, h.Matcher)
	case e.condition != h.If:
		return has("if", e.condition, h.If)
	case e.onFailure != h.onFailure() && h.Closed:
		return `lets steps through if the program fails: it has no "onFailure": "block"`
	case e.onFailure != h.onFailure():
		return has("onFailure", e.onFailure, h.onFailure())
	case e.async != "":
		return fmt.Sprintf("has %q, so the client does not wait for its answer", e.async)
	}
	return ""
}

// has says that a hook has one text and should have another. Either may be empty.
func has(what, have, want string) string {
	switch {
	case have == "":
		return fmt.Sprintf("has no %s, want %q", what, want)
	case want == "":
		return fmt.Sprintf("has %s %q, want none", what, have)
	}
	return fmt.Sprintf("has %s %q, want %q", what, have, want)
}

// Causes folds sentences of Report.Why in which several hooks differ for the same reason into one
// each, in the order in which the reasons first appear.
func Causes(why []string) (causes []string) {
	var reasons []string
	hooks := map[string][]string{}
	for _, one := range why {
		hook, reason, found := strings.Cut(one, ": ")
		if !found {
			hook, reason = "", one
		}
		if _, known := hooks[reason]; !known {
			reasons = append(reasons, reason)
		}
		hooks[reason] = append(hooks[reason], hook)
	}
	for _, reason := range reasons {
		switch these := hooks[reason]; {
		case these[0] == "":
			causes = append(causes, reason)
		case len(these) == 1:
			causes = append(causes, these[0]+": "+reason)
		default:
			causes = append(causes, fmt.Sprintf("%s (%s and %d more)", reason, these[0], len(these)-1))
		}
	}
	return causes
}
