package hydrate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/locator"
)

// Reload is a new version of the fsm.json of an open workflow, and what becomes of the steps with it. The new steps come in the place
// of the old ones in one transaction, as at a call of the skill, so that one undo takes it back. What is done stays done where nothing of
// it is new, see compare: those steps are in the list as done from the beginning, and the record of the workflow names them.
type Reload struct {
	Workflow *workflow.Workflow // as it is on record
	Spec     string             // the path of its fsm.json

	New, Gone, Changed []string // steps of the file, such as `2 "Test"`
	Kept               []string // those that stay done
	Again              []string // those that were done or begun and are open then
	Weaker             []string // each gate that goes or is another, and each rule that differs

	data    []byte
	because string
	by      state.By
	done    []int64           // the ids of Kept in the file
	values  map[string]string // that these have given
	request Request
	kept    []decisions.Other // for the log
}

// errKept is returned for a workflow of which something cannot be kept.
var errKept = message.NewError("cannot be reloaded", state.InsteadOfReload)

// errSame is returned by PrepareReload if the fsm.json is the one that the workflow has.
var errSame = errors.New("has not changed since the workflow")

// ErrNotOpen is returned by PrepareReload if the list has no open workflow, or none of the skill.
var ErrNotOpen = errors.New("is open in this task list")

// PrepareReload reads the fsm.json of the open workflow of a skill again, or of the only one that is open if skill is empty, and finds
// out what a reload would do. It changes nothing.
//
// Errors: ErrNotOpen, errSame, errKept, *SpecError, and those of reading.
func PrepareReload(s *state.State, list, skill string) (*Reload, error) {
	w, err := reloadable(s, skill)
	if err != nil {
		return nil, err
	}
	if w.Plan != nil {
		hint := state.BeginPlan(w, s.ListName()) + " takes it up again"
		if !safefile.IsFile(w.Spec) {
			hint = "it is gone or has another name: put it back, then " + hint
		}
		return nil, message.WithHint(fmt.Errorf("%s cannot be reloaded: it is a plan", message.Words(w.Command)), hint)
	}
	r := &Reload{Workflow: w, Spec: w.Spec, values: map[string]string{}}
	if why := s.CannotReload(w); why != "" {
		return nil, fmt.Errorf("%s %w: %s", message.Words(w.Command), errKept, why)
	}
	data, err := locator.ReadSpec(locator.OS{}, w.Spec, fsmspec.MaxBytes)
	if err != nil {
		return nil, &SpecError{w.Spec, err}
	}
	r.data = data
	r.request = Request{Begun: true, Session: w.Session, List: list, Command: w.Command, File: &File{w.Spec, data}, Args: w.Args,
		Project: w.Dir, Cwd: w.Dir}
	var read Result
	spec, err := parseSpec(w.Spec, r.request, data, &read)
	if err != nil {
		return nil, err
	}
	if read.SHA256 == w.SHA256 {
		since := "began"
		if w.Reloaded != nil {
			since = "was reloaded"
		}
		return nil, fmt.Errorf("%s %w %s", w.Spec, errSame, since)
	}
	if err := r.compare(s, spec, read.Definition); err != nil {
		return nil, err
	}
	r.Weaker = append(r.Weaker, differing(jsontext.Value(w.FSM), data, r.Weaker)...)
	return r, nil
}

// differing says which rules of the file, and of each step that both files have, are others: all but texts, and what named says already.
// A gate that a step did not have is none of them, but a rule of "only" lets calls through in that step, too; and a new step may have
// such rules, or end the workflow.
func differing(old, now jsontext.Value, named []string) (all []string) {
	_, was := entriesOf(old)
	ids, is := entriesOf(now)
	for _, id := range ids {
		name := fmt.Sprintf("step %s %q: ", id, is[id].Text("subject"))
		if id == "" {
			name = ""
		}
		before, ok := was[id]
		if !ok {
			for _, field := range []string{"only", "outcomes", "status"} {
				if is[id].Has(field) {
					all = append(all, name+field+" is new")
				}
			}
			continue
		}
		isNamed := slices.ContainsFunc(named, func(line string) bool { return name != "" && strings.HasPrefix(line, name) })
		if fields := fieldsOf(before, is[id], isNamed); len(fields) > 0 {
			all = append(all, name+message.Sentence(fields)+map[bool]string{true: " is another", false: " are others"}[len(fields) == 1])
		}
	}
	return all
}

// fieldsOf returns the rules of a step, or of a file, that are not as before. named is set if the change of its gates is said.
func fieldsOf(before, after jsonx.Object, named bool) (fields []string) {
	for _, field := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(namesOf(before), namesOf(after))))) {
		isGate := slices.Contains([]string{"ready", "produces", "check", "approval"}, field)
		switch {
		case slices.Contains(texts, field) || bytes.Equal(before.Get(field), after.Get(field)):
		case field == "status" && after.Text(field) != workflow.Completed:
		case field == "only" && named && before.Has(field), isGate && (named || !before.Has(field)):
		default:
			fields = append(fields, field)
		}
	}
	return fields
}

// texts are the members of a step, and of a file, that are no rules. The steps of a file are compared one by one.
var texts = []string{"fsm", "id", "subject", "description", "activeForm", "owner", "metadata", "steps", "$schema"}

func namesOf(o jsonx.Object) (names []string) {
	for name := range o.All() {
		names = append(names, name)
	}
	return names
}

// entriesOf returns the steps of a file by their ids, which are in the order of the file, and what else it has under "", the first.
func entriesOf(data jsontext.Value) (ids []string, all map[string]jsonx.Object) {
	file, ok := jsonx.ParseObject(data)
	if !ok {
		file = jsonx.Object{}.With("steps", data)
	}
	ids, all = []string{""}, map[string]jsonx.Object{"": file}
	for _, entry := range file.Array("steps") {
		if step, ok := jsonx.ParseObject(entry); ok {
			id := string(step.Get("id"))
			ids, all[id] = append(ids, id), step
		}
	}
	return ids, all
}

// SeveralOpenError is returned by PrepareReload if several workflows are open and none was named.
type SeveralOpenError struct{ Skills []string }

func (e *SeveralOpenError) Error() string {
	return "several workflows are open: " + strings.Join(e.Skills, ", ")
}

// Hint is for an agent, whose list needs no name.
func (e *SeveralOpenError) Hint() string { return "give the name of one, such as " + e.Skills[0] }

// reloadable returns the open workflow of a skill, or the only one.
func reloadable(s *state.State, skill string) (*workflow.Workflow, error) {
	var open []*workflow.Workflow
	var names []string
	for _, w := range s.Workflows() {
		if s.Parent(w) == nil && len(s.OpenIn(w)) > 0 && (skill == "" || w.Command == skill) {
			open, names = append(open, w), append(names, message.Words(w.Command))
		}
	}
	switch {
	case len(open) == 1:
		return open[0], nil
	case len(open) > 1:
		return nil, &SeveralOpenError{names}
	case skill != "":
		return nil, fmt.Errorf("no workflow of %s %w", message.Words(skill), ErrNotOpen)
	}
	return nil, message.WithHint(fmt.Errorf("no workflow %w", ErrNotOpen), "fsmtx status shows what is there")
}

// compare finds out what becomes of the steps.
func (r *Reload) compare(s *state.State, spec *fsmspec.Spec, now map[string]string) error {
	plan, err := spec.Plan(r.Workflow.Command, fsmspec.Snapshot{}, fsmspec.Policy{Args: r.Workflow.Args})
	if err != nil {
		return err
	}
	steps := workflow.Planned(spec, plan).Steps
	old := map[int64]*state.Current{}
	for _, c := range s.In(r.Workflow) {
		old[c.Local] = c
	}
	seen, kept, parts := map[int64]bool{}, map[int64]bool{}, map[int64]bool{}
	for _, l := range plan.Levels() {
		parts[l.Parent] = true
	}
	for _, step := range steps {
		id := step.Local
		name, was := fmt.Sprintf("%d %q", id, step.Subject), old[id]
		seen[id] = true
		if was == nil {
			r.New = append(r.New, name)
			continue
		}
		before := was.Step
		if was.Template != nil {
			before = *was.Template
		}
		key := message.Itoa(id)
		same := before.Subject == step.Subject
		if !same || r.Workflow.Definition[key] != now[key] {
			r.Changed = append(r.Changed, name)
		}
		r.Weaker = append(r.Weaker, weaker(name, before, step)...)
		kept[step.ID] = s.Word(was) == state.IsDone && same && len(before.Outcomes)+len(step.Outcomes) == 0 &&
			len(newGates(before, step)) == 0 && (!parts[step.ID] || r.Workflow.Definition[key] == now[key])
	}
	for range steps { // what waits for a step that is open is open
		for _, step := range steps {
			kept[step.ID] = kept[step.ID] && !slices.ContainsFunc(step.BlockedBy, func(id int64) bool { return !kept[id] })
		}
	}
	for _, step := range steps {
		was := old[step.Local]
		name := fmt.Sprintf("%d %q", step.Local, step.Subject)
		switch {
		case kept[step.ID]:
			r.Kept, r.done = append(r.Kept, name), append(r.done, step.Local)
			maps.Copy(r.values, was.Values)
		case was != nil && (!s.Word(was).IsOpen() || was.Status != workflow.Pending):
			r.Again = append(r.Again, fmt.Sprintf("%s (was %s)", name, s.Word(was)))
		}
	}
	for _, was := range s.In(r.Workflow) {
		if !seen[was.Local] {
			name := fmt.Sprintf("%d %q", was.Local, was.Subject)
			r.Gone = append(r.Gone, name)
			r.Weaker = append(r.Weaker, weaker(name, was.Step, workflow.Step{})...)
		}
	}
	return nil
}

// weaker returns the gates of a step that are not there any more as they were.
func weaker(name string, old, now workflow.Step) (all []string) {
	for _, g := range newGates(now, old) {
		word := "goes"
		for _, n := range now.Gates() {
			if n.Kind == g.Kind {
				word = "becomes: " + n.String()
			}
		}
		all = append(all, fmt.Sprintf("step %s: %s %s", name, g, word))
	}
	for _, rule := range old.Only {
		if !slices.Contains(now.Only, rule) {
			all = append(all, fmt.Sprintf("step %s: only %s goes", name, rule))
		}
	}
	return all
}

// newGates returns the gates of a step that it did not have before, as they are.
func newGates(before, step workflow.Step) []fsmspec.Gate {
	had := before.Gates()
	return slices.DeleteFunc(step.Gates(), func(g fsmspec.Gate) bool {
		return slices.ContainsFunc(had, func(h fsmspec.Gate) bool { return h.Kind == g.Kind && h.String() == g.String() })
	})
}

// Apply takes the new version. because is the reason, and by says who decided it.
//
// Errors are those of Hydration.Apply.
func (r *Reload) Apply(ctx context.Context, env Env, o Options, because string, by state.By) (Result, error) {
	r.request.By, r.because, r.by = by.Words(), because, by
	o.FromClient = func() bool { return true }
	h, result, err := Find(r.request, env, o)
	if err != nil || h == nil {
		return result, cmp.Or(err, error(&SpecError{r.Spec, errors.New("has no steps")}))
	}
	if h.spec, err = fsmspec.Read(doneIn(r.data, r.done)); err != nil { // Find has proved it, with these steps open
		return result, &SpecError{r.Spec, err}
	}
	h.reloads = r
	start := time.Now()
	result, err = h.Apply(ctx)
	if o.Log != nil {
		d := Call{Request: r.request, Result: result, Err: err}.Decision(start, time.Now())
		d.Why, d.FromList, d.FromRun = cmp.Or(d.Why, "reloaded: "+because), d.List, r.Workflow.Steps[0].ID
		d.Others = r.kept
		o.Log(d)
	}
	return result, err
}

// doneIn returns an fsm.json in which the steps with these ids, and their parts, are done.
func doneIn(data []byte, done []int64) []byte {
	var mark func(list []jsontext.Value, only []int64) jsontext.Value
	mark = func(list []jsontext.Value, only []int64) jsontext.Value {
		for i, entry := range list {
			step, ok := jsonx.ParseObject(entry)
			id := string(step.Get("id"))
			if !ok || only != nil && !slices.ContainsFunc(only, func(n int64) bool { return message.Itoa(n) == id }) {
				continue
			}
			step = step.WithText("status", workflow.Completed)
			if step.Get("do").Kind() == '[' {
				step = step.With("do", mark(step.Array("do"), nil))
			}
			list[i] = step.Raw()
		}
		return slices.Concat(jsontext.Value("["), bytes.Join(raw(list), []byte(",")), jsontext.Value("]"))
	}
	if len(done) == 0 {
		return data
	}
	if file, ok := jsonx.ParseObject(data); ok {
		return file.With("steps", mark(file.Array("steps"), done)).Raw()
	}
	wrapped := jsonx.Object{}.With("steps", data)
	return mark(wrapped.Array("steps"), done)
}

func raw(list []jsontext.Value) (all [][]byte) {
	for _, v := range list {
		all = append(all, v)
	}
	return all
}

// keep puts into the record what the workflow had before: what was there when it began, the values, and which steps were done.
func (r *Reload) keep(w *workflow.Workflow) {
	if r == nil {
		return
	}
	files := map[string]string{}
	maps.Copy(files, w.Files)
	maps.Copy(files, r.Workflow.Files)
	w.Files = files
	if r.Workflow.Content != nil {
		w.Content = r.Workflow.Content
	}
	was := r.Workflow
	w.BegunBy = was.BegunBy
	w.Reloaded = &workflow.Reloaded{SHA256: was.SHA256, Root: was.Steps[0].ID, Because: r.because, Who: string(r.by.Who),
		How: string(r.by.How), Young: r.by.Young}
	w.Client, w.Agent, w.Chosen, w.Answerers = was.Client, was.Agent, was.Chosen, was.Answerers
	if w.First, w.Earlier = was.First, was.Way(); w.First.IsZero() {
		w.First = was.Began
	}
	w.Kept = map[int64][]int64{}
	keptIn(w, was, was.Kept, w.Kept)
	r.kept = keptOf(w, w, "")
	w.Lost = nil // it goes on
	if w.Vars == nil && len(r.values) > 0 {
		w.Vars = map[string]string{}
	}
	maps.Copy(w.Vars, r.values)
}

// keptOf returns the steps of a workflow, whose place begins so, that are done from the beginning, and their parts.
func keptOf(of, w *workflow.Workflow, place string) (all []decisions.Other) {
	for _, step := range w.Steps {
		if of.Kept[step.ID] == nil {
			continue
		}
		own := place + message.Itoa(step.Local)
		all = append(all, decisions.Other{Run: of.Steps[0].ID, Step: step.ID, Place: own, Subject: step.Subject, State: string(state.IsDone)})
		for i := range of.Under {
			if u := &of.Under[i]; u.Parent == step.ID && u.Item == "" {
				all = append(all, keptOf(of, u, own+".")...)
			}
		}
	}
	return all
}

// keptIn notes of the steps of a workflow that are done from the beginning, and of their parts, the numbers that they had as steps of
// another one, and those that these had before.
func keptIn(w, was *workflow.Workflow, before, kept map[int64][]int64) {
	for _, step := range w.Steps {
		i := slices.IndexFunc(was.Steps, func(o workflow.Step) bool { return o.Local == step.Local })
		if i < 0 || step.Status != fsmspec.Completed {
			continue
		}
		old := was.Steps[i].ID
		kept[step.ID] = append(slices.Clone(before[old]), old)
		for j := range w.Under {
			for k := range was.Under {
				if u, o := &w.Under[j], &was.Under[k]; u.Parent == step.ID && o.Parent == old && u.Item == "" && o.Item == "" {
					keptIn(u, o, before, kept)
				}
			}
		}
	}
}
