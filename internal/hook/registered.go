package hook

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/locator"
)

// Registration is a hook of Claude Code that enforces steps, as a file registers it.
type Registration struct {
	Place  string // the file
	Checks string
	Stop   string
	Steps  string // "on" or "observe"
}

// Registered returns the hooks that enforce steps in a session of Claude Code in a project, one for each file. What
// counts is read from the files, and not from which of several hooks comes first.
func Registered(lookup func(string) (string, bool), project string) (all []Registration) {
	ofPlugins := settings.CallsOfPlugins(locator.OS{}, runningPlugins(lookup, project))
	for _, h := range append(settings.Here(lookup, project).Calls(), ofPlugins...) {
		if !h.Enforces() {
			continue
		}
		f := hydrate.DefaultFlags()
		set := pflag.NewFlagSet("hook", pflag.ContinueOnError)
		set.ParseErrorsAllowlist.UnknownFlags = true
		set.Usage = func() {}
		f.Add(set)
		if set.Parse(h.Args[1:]) != nil || f.Check() != nil || f.Steps == "off" {
			continue // such a hook decides nothing
		}
		one := Registration{h.Place, f.Checks, f.Stop, f.Steps}
		if i := slices.IndexFunc(all, func(r Registration) bool { return r.Place == h.Place }); i >= 0 {
			all[i] = all[i].stricter(one)
		} else {
			all = append(all, one)
		}
	}
	return all
}

// stricter returns what counts of two.
func (r Registration) stricter(other Registration) Registration {
	if other.Checks != "off" {
		r.Checks = other.Checks
	}
	if other.Steps != hydrate.Observe {
		r.Steps = other.Steps
	}
	order := []string{string(gates.StopOff), string(gates.Remind), string(gates.Hold)}
	if slices.Index(order, other.Stop) > slices.Index(order, r.Stop) {
		r.Stop = other.Stop
	}
	return r
}

// ChecksOff reports whether no command of a workflow may be run for a list, whichever agent works on it, and whichever way: every hook
// of Claude Code that enforces steps there says so. It is a function of the files: neither an environment nor a directory of the agent
// changes it. The hooks of other agents do not say it.
func ChecksOff(lookup func(string) (string, bool), list tasklist.Found) func() bool {
	return func() bool {
		lookup, project := lookup, list.Project
		if project == "" {
			lookup, project = asClient(lookup, list)
		}
		return ofRegistered(Registered(lookup, project))
	}
}

// Observing reports whether nothing is refused in a list, whichever way the agent takes, because every hook that decides about its steps
// says so. Like ChecksOff it is a function of the files. In the list of a project that is so for who works outside of any
// agent: the other agents, whose list this is, have no hooks that observe.
func Observing(lookup func(string) (string, bool), list tasklist.Found, outside bool) func() bool {
	return func() bool {
		lookup, project := lookup, list.Project
		if project == "" {
			lookup, project = asClient(lookup, list)
		} else if !outside {
			return false
		}
		return Observes(Registered(lookup, project)) != ""
	}
}

// Observes says that nothing is refused, and where that is registered; empty if the steps are enforced.
func Observes(all []Registration) string {
	if len(all) == 0 || slices.ContainsFunc(all, func(r Registration) bool { return r.Steps != hydrate.Observe }) {
		return ""
	}
	return message.Sprintf("observing: nothing is refused, because %s registers the hook with --steps observe; "+
		"fsmtx install enforces the steps again", all[0].Place)
}

func ofRegistered(all []Registration) (checksOff bool) {
	return len(all) > 0 && !slices.ContainsFunc(all, func(r Registration) bool { return r.Checks != "off" })
}

// asClient returns the environment with the client that works on a list, and the directory of its project, as its own events have told it.
func asClient(lookup func(string) (string, bool), list tasklist.Found) (_ func(string) (string, bool), project string) {
	frame := gates.Frame{Store: state.Store{List: tasks.List{Dir: list.Dir}, Session: list.Session, Known: list.Known}}
	m, _ := frame.Memory()
	c, _ := m.Latest(caller.Claude)
	if project = c.Dir; project == "" {
		project = cmp.Or(frame.Directory(context.Background()), Here())
	}
	return func(name string) (string, bool) {
		if name == "CLAUDE_PID" && c.IsAlive() {
			return strconv.Itoa(c.PID), true
		}
		return lookup(name)
	}, project
}

// ChecksAreOff says that no command of a workflow is run, and where that is registered; empty if they are run.
func ChecksAreOff(all []Registration) string {
	if !ofRegistered(all) {
		return ""
	}
	return message.Sprintf("checks are off: no command of a workflow is run, because %s registers the hook with --checks off", all[0].Place)
}

// Differing says that hooks are registered that differ, and what counts; empty if they do not.
func Differing(all []Registration) string {
	var words []string
	differ := slices.ContainsFunc(all, func(r Registration) bool { return r.Steps != all[0].Steps })
	for _, r := range all {
		steps := ""
		if differ {
			steps = " --steps " + r.Steps
		}
		words = append(words, message.Sprintf("%s has --checks %s --stop %s%s", r.Place, r.Checks, r.Stop, steps))
	}
	if len(all) < 2 || !slices.ContainsFunc(all, func(r Registration) bool {
		return r.Checks != all[0].Checks || r.Stop != all[0].Stop || r.Steps != all[0].Steps
	}) {
		return ""
	}
	return "hooks of fsmtx are registered that differ: " + message.Sentence(words) + ". The stricter counts"
}

// runningPlugins returns the directories of the plugins whose hooks the client runs in a project.
func runningPlugins(lookup func(string) (string, bool), dir string) []string {
	roots := pluginRoots(lookup, dir)
	if named, err := client.ReadDirs(lookup, dir); err == nil {
		roots = append(roots, named.Plugins...)
	}
	for i := range roots {
		roots[i] = filepath.Clean(roots[i])
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}
