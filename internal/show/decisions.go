package show

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/state"
)

// Extent is what Decided reads.
type Extent struct {
	List    string                   // directory of the task list
	Session string                   // id of the session that it was found by; may be empty
	Project string                   // directory whose configuration of the guards counts if no workflow names one; may be empty
	Env     func(name string) string // os.Getenv or a stand-in for it
	Alone   bool                     // not the lists in which its workflows were before
}

// Decided returns what was decided about a list and in its sessions, oldest first:
// hydrations from the history, steps from the evidence, guards from the logs of the sessions.
// Guards tell the time in whole seconds, so they may be up to a second too early among the
// others. troubles are why some decisions are missing. It takes no lock and creates nothing.
//
// Errors: that nothing can be read about the list.
func Decided(s Extent) (all []decisions.Record, troubles []error, err error) {
	st := storeOf(s.List)
	decided, missing, decidedErr := st.Decided()
	hydrations, broken, err := readHistories(st, false)
	if err != nil {
		return nil, nil, err
	}
	troubles = append(troubles, broken...)
	read := map[string]bool{s.List: true}
	var lists []loggedList
	if !s.Alone {
		lists, broken = before(hydrations, read) // their evidence is here
		troubles = append(troubles, broken...)
	}
	for _, l := range append(lists, loggedList{List: s.List, Hydrations: hydrations}) {
		for _, h := range l.Hydrations {
			if h.went == "" || l.List == s.List && (s.Alone || !read[h.went]) { // the next list says it, too
				all = append(all, h.decision(l.List))
			}
		}
	}
	if decidedErr != nil {
		missing = append(missing, decidedErr)
	}
	for _, e := range missing {
		if !slices.ContainsFunc(troubles, func(t error) bool { return strings.Contains(t.Error(), e.Error()) }) {
			troubles = append(troubles, e)
		}
	}
	all = append(all, decided...)
	guards, missing := s.guards(all)
	all, troubles = append(all, guards...), append(troubles, missing...)
	slices.SortStableFunc(all, func(a, b decisions.Record) int { return a.Time.Compare(b.Time) })
	return all, troubles, nil
}

// guards returns the decisions of guards in the sessions of the list. known are the other
// decisions, which name sessions and projects.
func (s Extent) guards(known []decisions.Record) (all []decisions.Record, troubles []error) {
	sessions, projects := []string{s.Session}, []string{s.Project}
	for _, r := range known {
		sessions, projects = append(sessions, r.Session), append(projects, r.Project)
	}
	read := map[string]bool{}
	for _, project := range distinct(projects) {
		config := guard.ReadConfig(s.Env, project)
		for _, session := range distinct(sessions) {
			path := guard.SessionOf(session, s.Env).Logging(config, s.Env).Log()
			if read[path] {
				continue
			}
			read[path] = true
			decided, err := guard.Decided(path)
			if err != nil {
				troubles = append(troubles, fmt.Errorf("what the guards decided in session %s is missing: %w", session, err))
			}
			for _, r := range decided {
				r.Session = session
				all = append(all, r)
			}
		}
	}
	return all, troubles
}

// distinct returns the texts without repetitions, and without the empty one.
func distinct(all []string) (kept []string) {
	for _, text := range all {
		if text != "" && !slices.Contains(kept, text) {
			kept = append(kept, text)
		}
	}
	return kept
}

// decision returns the hydration as it is in the log of decisions.
func (h Hydration) decision(list string) decisions.Record {
	r := decisions.Record{
		Time: h.Time, Source: decisions.Hydrate, Decision: "hydrated", Session: h.Session,
		List: list, Project: h.project, Workflow: h.Skill, Spec: h.Spec, Digest: h.SHA256, Parent: h.Parent, Created: numbers(h.Created),
		Deleted: numbers(h.Deleted), Lost: h.Lost,
	}
	by := h.by
	switch {
	case h.Undoes != 0 || h.State == undoing:
		r.Decision, r.Why = "undone", "call "+strconv.FormatInt(h.Undoes, 10)+" was undone"
		r.Restored, r.Created = r.Created, nil
	case h.went != "":
		r.Decision, r.Why = "continued", "it goes on in the task list "+h.went
	case h.From != nil:
		r.Decision, r.Why, r.FromList, r.FromRun = "continued", "it was in the task list "+h.From.List, h.From.List, h.From.Root
	case h.isBack():
		r.Why, r.FromList, r.FromRun = state.CameBack, list, h.Step
	case h.Reloaded != nil:
		r.Why, r.FromList, r.FromRun = "reloaded: "+h.Reloaded.Because, list, h.Reloaded.Root
	case h.Step != 0:
		r.Why, by = "the tasks for the lines of #"+strconv.FormatInt(h.Step, 10), string(state.Fsmtx)
	}
	r.DecidedBy(by)
	if len(r.Created) > 0 {
		r.Run, r.Steps = r.Created[0], len(r.Created)
	}
	if len(h.record.Steps) > 0 && r.Run != 0 { // the first step of one that came from another list may have been gone
		r.Run = h.record.Steps[0].ID
	}
	return r
}

func numbers(all []ChangedTask) (ids []int64) {
	for _, t := range all {
		if n, err := strconv.ParseInt(t.ID, 10, 64); err == nil {
			ids = append(ids, n)
		}
	}
	return ids
}
