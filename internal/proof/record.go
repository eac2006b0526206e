package proof

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/facts"
	"github.com/fsmtx/fsmtx/internal/git"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// Of returns what is on record of a run (see state.Runs) that is in the list in dir, without what depends on a repository.
func Of(s *state.State, dir string) Run {
	w := s.Run()
	o := recorder{state: s, rounds: map[int64]int{}, steps: map[int64]*Step{}}
	r := Run{Skill: w.Command, Project: ".", FSM: fileOf(w), Fsmtx: programs.GetBuild().Version,
		Agent: agentOf(w.Client), Began: s.Began(), Content: contentOf(w.Content), Steps: []Step{}, Overrides: []Override{}, Unenforced: []Span{}}
	r.BegunBy, _ = BegunBy(w)
	if !w.First.IsZero() {
		r.Began = w.First
	}
	way := append(w.Way(), workflow.From{List: dir, Session: w.Session, Client: w.Client, Root: w.Steps[0].ID})
	for began, i := r.Began, 0; len(way) > 1 && i < len(way); i++ {
		was := way[i]
		r.Lists = append(r.Lists, Place{List: filepath.Base(was.List), Session: was.Session, Agent: agentOf(was.Client), Began: began})
		began = was.Time
	}
	id := sha256.Sum256(fmt.Appendf(nil, "%s %s %d %s", way[0].Session, w.SHA256, way[0].Root, r.Began.Format(time.RFC3339Nano)))
	r.ID = hex.EncodeToString(id[:16])
	for _, c := range s.Steps {
		o.order = append(o.order, c.ID)
		o.steps[c.ID] = o.step(c, w)
		if was := c.Workflow.Reloaded; was != nil && c.Step.Status == fsmspec.Completed {
			past := Override{Time: c.Workflow.Began, Kind: isReload, Step: c.ID, Subject: o.steps[c.ID].Subject, How: was.How,
				Because: was.Because + " (the step was done with the fsm.json of sha256 " + was.SHA256 + ")"}
			if r.Overrides = append(r.Overrides, past); was.Young {
				r.Overrides = append(r.Overrides, young(past))
			}
		}
	}
	o.decisions(&r)
	open, ended := len(s.Cleared()) > 0, r.Began // fsmtx continue brings back the tasks that are gone
	for _, id := range o.order {
		s := o.steps[id]
		if s.State == isOpen || s.State == isGone {
			open, s.Ended = open || s.State == isOpen && !s.Earlier, time.Time{}
		}
		if s.Ended.After(ended) {
			ended = s.Ended
		}
		r.Steps = append(r.Steps, *s)
	}
	if !open {
		r.Ended = ended // nothing that comes later renews it
	}
	return r
}

// BegunBy returns who began a workflow, nil if that is not on record, and with which agent.
func BegunBy(w *workflow.Workflow) (*Beginner, Agent) {
	if who, how, ok := strings.Cut(w.BegunBy, " "); ok {
		return &Beginner{who, how}, agentOf(w.Beginner())
	}
	return nil, agentOf(w.Beginner())
}

func agentOf(client string) Agent {
	name, version := workflow.AgentOf(client)
	return Agent{Name: name, Version: version}
}

// recorder makes a Run of the evidence.
type recorder struct {
	state  *state.State
	order  []int64
	steps  map[int64]*Step
	rounds map[int64]int // how often a step was opened again
	last   time.Time     // of the last decision
}

func (o *recorder) step(c *state.Current, w *workflow.Workflow) *Step {
	s := &Step{ID: c.ID, Subject: cmp.Or(c.Template, &c.Step).Subject, Outcome: c.Outcome, Rounds: c.Round, Earlier: o.state.IsEarlier(c),
		Decisions: []Decision{}}
	if c.Workflow.Command != w.Command {
		s.Skill = c.Workflow.Command
	}
	if p := o.state.Parent(c.Workflow); p != nil {
		s.Under = p.ID
	}
	s.State = isOpen
	if word := o.state.Word(c); !word.IsOpen() {
		s.State = string(word)
	}
	if s.State == notNeeded { // in no outcome
		s.Outcome = ""
	}
	return s
}

// decisions adds what the evidence says.
func (o *recorder) decisions(r *Run) {
	lines := slices.Concat(o.state.Evidence, o.state.Calls)
	slices.SortStableFunc(lines, func(a, b state.Evidence) int { return a.Time.Compare(b.Time) })
	sum := sha256.New()
	o.last = r.Began
	for _, e := range lines {
		s := o.steps[e.Step]
		if s == nil {
			continue
		}
		text, _ := json.Marshal(e, jsonx.Tolerant)
		sum.Write(append(text, '\n'))
		r.Evidence.Lines++
		o.add(r, s, e)
		o.last = e.Time
	}
	r.Evidence.SHA256 = hex.EncodeToString(sum.Sum(nil))
	for _, c := range o.state.Steps {
		if o.state.Otherwise(c) != "" { // no event has seen it yet
			r.Unenforced = append(r.Unenforced, Span{o.last, o.state.Time,
				state.Evidence{Gaps: []state.Gap{state.Otherwise}}.NotEnforced(o.steps[c.ID].Subject)})
		}
	}
	if m, ok := o.state.Missed(); ok {
		r.Unenforced = append(r.Unenforced, Span{m.First, m.Last, "fsmtx could not be run: no hook saw what was done"})
	}
	if slices.ContainsFunc(o.state.Troubles, func(err error) bool { return !errors.Is(err, state.ErrMissing) }) {
		r.Unenforced = append(r.Unenforced, Span{r.Began, o.state.Time, "what is on record could not all be read, or was changed"})
	}
}

// young returns what stands beside a decision that was taken in a young terminal.
func young(past Override) Override {
	past.Kind, past.Because = isYoung, "the terminal was opened after the session began, so its agent could have opened it"
	return past
}

// add adds a line of evidence. That the person was told of a time limit decides nothing: the times of the steps show it.
func (o *recorder) add(r *Run, s *Step, e state.Evidence) {
	if e.IsQuiet() || e.Verdict == state.Over {
		return
	}
	if kind := e.GonePast(); kind != "" {
		past := Override{Time: e.Time, Kind: kind, Step: s.ID, Subject: s.Subject, Because: e.Why, Rule: e.Rule,
			Wrong: e.Wrong, How: string(e.By.How)}
		for _, id := range e.NotNeeded {
			if made := o.steps[id]; made != nil && id != s.ID {
				past.NotNeeded = append(past.NotNeeded, made.Subject)
			}
		}
		r.Overrides = append(r.Overrides, past)
	}
	if e.By.Young {
		r.Overrides = append(r.Overrides, young(Override{Time: e.Time, Step: s.ID, Subject: s.Subject, How: string(e.By.How)}))
	}
	if why := e.NotEnforced(s.Subject); why != "" {
		r.Unenforced = append(r.Unenforced, Span{o.last, e.Time, why})
	}
	d := Decision{Time: e.Time, Round: max(e.Round, o.rounds[s.ID]+1), To: e.To, Decision: string(e.Verdict), Times: e.Times,
		Outcome: e.Outcome, Answer: e.Answer(), Who: string(e.By.Who), How: string(e.By.How), Young: e.By.Young,
		Question: e.Question, Reopens: e.Reopens,
		Skips: e.NotNeeded,
		Same:  e.Unchanged, Gate: string(e.Gate), Watched: e.Watched}
	if e.GonePast() == "" { // else it is the person's reason, which Overrides has
		d.Why = e.Short()
	}
	if e.Rule != "" {
		d.Gate = "only"
	}
	if c := e.Check; c != nil {
		d.Check = &Check{Run: c.Run, Exit: c.Exit, Seconds: c.Seconds, SHA256: c.SHA256, Bytes: c.Bytes}
	}
	d.Content = contentOf(e.Content)
	if e.Tree != "" {
		d.Tree = relative(o.state.Step(s.ID).Workflow.Dir, e.Tree)
	}
	s.Decisions = append(s.Decisions, d)
	o.times(s, e)
}

// times notes when steps began and ended. A step ended when it was first completed since it was last opened.
func (o *recorder) times(s *Step, e state.Evidence) {
	end := func(id int64) {
		if s := o.steps[id]; s != nil && s.Ended.IsZero() {
			s.Ended = e.Time
		}
	}
	switch {
	case e.Verdict == state.Lapsed:
		s.Ended = time.Time{}
	case !e.Lets():
		return
	case e.To == "in_progress" && s.Began.IsZero():
		s.Began = e.Time
	case e.To == "completed":
		end(s.ID)
	}
	for _, id := range e.NotNeeded {
		end(id)
	}
	for _, id := range e.Reopens {
		o.rounds[id]++
		if s := o.steps[id]; s != nil {
			s.Ended = time.Time{}
		}
	}
}

// fileOf returns the file of a workflow, without its path.
func fileOf(w *workflow.Workflow) File {
	if w.Unticked != "" {
		return File{SHA256: w.Unticked, Plan: true}
	}
	return File{SHA256: w.SHA256}
}

// contentOf returns what is on record of the content, without what depends on the subject.
func contentOf(c *git.Content) *Content {
	if c == nil {
		return nil
	}
	return &Content{Head: c.Head, Trees: c.Trees, Unknown: c.Unknown}
}

// relative returns a path relative to a directory, with slashes; its last element if there is none.
func relative(dir, name string) string {
	if rel, err := filepath.Rel(dir, name); err == nil {
		return filepath.ToSlash(rel)
	}
	return filepath.Base(name)
}

// place is where a run is in a repository.
type place struct {
	repository
	head  string // its commit
	tree  string // that of the subject
	store string // directory with objects that the repository may not have

	inTree *Tree // of a subject that is a tree; nil if there is no commit, or too much differs from it
}

// describe notes what is in the tree.
func (p *place) describe(ctx context.Context) error {
	base, err := p.Head(ctx)
	if err != nil || base == "" {
		return err
	}
	files, err := (repository{p.With(p.store)}).entries(ctx, base, p.tree)
	if err == nil && len(files) <= maxFiles {
		p.inTree = &Tree{Base: base, Files: append([]InTree{}, files...)}
	}
	return err
}

// compare says in which paths the trees differ on which decisions stood.
func (p place) compare(ctx context.Context, r *Run) {
	known := map[string][]string{p.tree: {}}
	for _, c := range r.contents() {
		differs := map[string]bool{}
		for _, id := range c.Trees {
			names, ok := known[id]
			if !ok {
				var err error
				if names, err = (repository{p.With(p.store)}).changed(ctx, id, p.tree); err != nil {
					c.Trees, c.Unknown = nil, "the tree "+short(id)+" is not stored any more"
					break
				}
				known[id] = names
			}
			for _, name := range names {
				differs[name] = true
			}
		}
		if c.Unknown == "" {
			c.Differs = slices.Sorted(maps.Keys(differs))
			c.More = max(0, len(c.Differs)-maxDiffers)
			c.Differs = c.Differs[:len(c.Differs)-c.More]
		}
	}
}

// bind adds to a run what depends on the repository, and returns the files that its steps have produced.
func (p place) bind(ctx context.Context, r *Run, s *state.State) ([]Subject, error) {
	w := s.Run()
	r.Project = p.Sub
	p.compare(ctx, r)
	trees := p.trees(ctx)
	r.FSM.Path = inside(trees, w.Spec)
	for _, n := range s.Workflows() {
		if !n.Part && n.Parent != 0 {
			r.Nested = append(r.Nested, Nested{n.Command, n.Parent, fileOf(n)})
			r.Nested[len(r.Nested)-1].FSM.Path = inside(trees, n.Spec)
		}
	}
	skill := filepath.Join(filepath.Dir(w.Spec), "SKILL.md")
	if sum, err := p.sum(ctx, inside(trees, skill), skill); err == nil {
		r.Skillmd = &File{Path: inside(trees, skill), SHA256: sum}
	}
	var files []Subject
	for _, name := range produced(ctx, s) {
		sum, err := p.sum(ctx, path.Join(p.Sub, name), filepath.Join(w.Dir, filepath.FromSlash(name)))
		if errors.Is(err, errLink) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, fileSubject(name, sum))
	}
	return files, nil
}

// trees returns the directories of the work trees of the repository: a workflow may go on in another one than that of its fsm.json.
func (p place) trees(ctx context.Context) []string {
	all := []string{p.Dir}
	listed, _ := p.Line(ctx, "worktree", "list", "--porcelain") // else this one alone is known
	for line := range strings.Lines(listed) {
		if dir, ok := strings.CutPrefix(strings.TrimSpace(line), "worktree "); ok {
			all = append(all, dir)
		}
	}
	return all
}

// inside returns the path of a file relative to the innermost of these work trees that has it; empty if none has.
func inside(trees []string, file string) (name string) {
	for _, dir := range trees {
		rel, err := filepath.Rel(safefile.Resolve(dir), safefile.Resolve(file))
		if err == nil && filepath.IsLocal(rel) && (name == "" || len(rel) < len(name)) {
			name = filepath.ToSlash(rel)
		}
	}
	return name
}

// sum returns the SHA-256 of a file as the commit has it; of the file itself if the commit does not have it.
func (p place) sum(ctx context.Context, name, file string) (string, error) {
	if name != "" && p.head != "" {
		if sum, err := p.digest(ctx, p.head, name); sum != "" || err != nil {
			return sum, err
		}
	}
	f, err := safefile.Open(file, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// produced returns the names of the files that steps which are done had to produce, relative to the directory of the run.
func produced(ctx context.Context, s *state.State) []string {
	var patterns []string
	for _, c := range s.Steps {
		if s.Word(c) == state.IsDone {
			patterns = append(patterns, slices.Concat(c.Produces, c.Step.Declared(c.Outcome).Produces)...)
		}
	}
	return slices.Sorted(maps.Keys(facts.Digests(ctx, s.Run().Dir, patterns)))
}
