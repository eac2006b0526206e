package settings

import (
	"fmt"
	"slices"
	"strings"
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
// there is no file. It returns ErrNotJSON, ErrShape or jsontext.ErrDuplicateName.
func Inspect(data []byte, hooks []Hook) (Report, error) {
	if blank(data) {
		return Report{State: Absent}, nil
	}
	doc, err := parse(data)
	if err != nil {
		return Report{}, err
	}
	var report Report
	seen, earlier := 0, false
	for _, h := range hooks {
		found, err := doc.find(h)
		if err != nil {
			return Report{}, err
		}
		seen += len(found)
		earlier = earlier || len(found) > 0 && h.Obsolete == replaced
		if why := h.compare(found); why != "" {
			report.Why = append(report.Why, h.name()+": "+why)
		}
	}
	if earlier {
		report.Why = []string{replaced} // the others are missing then
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

// name returns the name of the hook in messages: its event, and its tool if the event
// has several hooks.
func (h Hook) name() string {
	if len(h.Tools) > 0 {
		return h.Event + " of " + h.Tools[h.Tool]
	}
	return h.Event
}

// Keep returns the hooks with the flags that they have in the settings, so that
// installing from another path keeps the user's flags. A hook that the settings do not
// have gets the flags of another hook with the same subcommand, or those of the hooks that it
// replaces. Errors are those of Inspect.
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
		switch {
		case len(found) == 0 && h.Obsolete == "":
			missing = append(missing, i)
		case h.Obsolete == "":
			kept[i].Flags = h.flagsOf(found[0].call)
			flags[h.subcommand()] = kept[i].Flags
		case len(found) > 0 && flags[h.subcommand()] == nil:
			flags[h.subcommand()] = h.flagsOf(found[0].call)
		}
	}
	for _, i := range missing {
		if same, ok := flags[kept[i].subcommand()]; ok {
			kept[i].Flags = same
		} else if kept[i].Runs("hook") {
			kept[i].Flags = replacing(flags, kept[i].Flags)
		}
	}
	return kept, nil
}

// replacing returns the flags of the hook that replaces those of earlier versions, given their
// flags by subcommand: both had --log, of which hydrate's counts, and hydrate announced nothing
// without --announce. own are the flags if there were no such hooks.
func replacing(earlier map[string][]string, own []string) []string {
	hydrate, hydrates := earlier["hydrate"]
	step, steps := earlier["step"]
	if !hydrates && !steps {
		return own
	}
	flags := []string{}
	announces, logs := !hydrates, false
	for _, flag := range hydrate {
		announces = announces || flag == "--announce" || strings.HasPrefix(flag, "--announce=")
		logs = logs || flag == "--log" || strings.HasPrefix(flag, "--log=")
		if flag != "--announce" {
			flags = append(flags, flag)
		}
	}
	if !announces {
		flags = append(flags, "--announce=false")
	}
	for i := 0; i < len(step); i++ {
		switch {
		case logs && step[i] == "--log":
			i++
		case logs && strings.HasPrefix(step[i], "--log="):
		default:
			flags = append(flags, step[i])
		}
	}
	return flags
}

// compare describes how the entries found for the hook differ from it. It returns "" if
// there is exactly one and it is equal, or none of an obsolete one.
func (h Hook) compare(found []entry) string {
	switch {
	case h.Obsolete != "" && len(found) == 0:
		return ""
	case h.Obsolete != "":
		return h.Obsolete
	case len(found) == 0:
		return "is missing"
	case len(found) > 1:
		return fmt.Sprintf("appears %d times", len(found))
	}
	e := found[0]
	switch {
	case e.form == argued:
		return `has "args", which other agents ignore`
	case h.Script != "" && e.script != h.Script:
		return "is another script"
	case h.Script == "" && e.form == bare:
		return "does not allow for a missing program"
	case e.program != h.Command && h.Script == "":
		return fmt.Sprintf("runs %s, want %s", e.program, h.Command)
	case h.Script == "" && h.report != "" && e.report != h.report:
		return "does not report a missing program"
	case e.timeout == 0:
		return fmt.Sprintf("has no timeout, want %d s", h.Timeout)
	case e.timeout != float64(h.Timeout):
		return fmt.Sprintf("has timeout %v s, want %d s", e.timeout, h.Timeout)
	case e.matcher != h.Matcher:
		return has("matcher", e.matcher, h.Matcher)
	case e.condition != h.If:
		return has("if", e.condition, h.If)
	case e.async != "":
		return fmt.Sprintf("has %q, so the client does not wait for its answer", e.async)
	case h.Script == "" && !slices.Equal(h.flagsOf(e.call), h.Flags):
		return has("flags", strings.Join(h.flagsOf(e.call), " "), strings.Join(h.Flags, " "))
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
