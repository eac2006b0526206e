// Package report counts what was decided about the steps of workflows: fsmtx report. It reads decisions as the log has them, from the
// lists of this machine or from logs, a line at a time, and keeps counts only.
package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// few is the number of runs below which a count says nothing.
const few = 10

// most limits what is kept: runs that are open or over, and the reasons of a step.
const (
	mostRuns    = 200_000
	mostReasons = 20
)

// counter adds up decisions. Those of one list have to come in the order in which they were made.
type counter struct {
	since  time.Time
	skill  string // the only one that is counted; empty is all
	skills map[string]*skill
	runs   map[runKey]*run
	order  []runKey             // of runs, as they came
	undone map[place]bool       // the steps that an undo has taken out of a list
	again  map[place]int64      // how often a run with this number began anew: of another machine with the same paths
	began  map[begun]int64      // which of them a log has
	came   map[string][]arrival // by the lists, in the order of time
	from   *source              // the log that is read; nil of a list

	belongs func(project string) bool // which projects are counted; nil is all

	lines     counted // of logs
	forgotten int     // changes of lists that are not on record any more
}

func newCounter(since time.Time, only string) *counter {
	return &counter{since: since, skill: only, skills: map[string]*skill{}, runs: map[runKey]*run{},
		undone: map[place]bool{}, again: map[place]int64{}, began: map[begun]int64{}, came: map[string][]arrival{}}
}

// skill is what was counted of a workflow, by its versions.
type skill struct {
	name     string
	versions map[versionKey]*version
}

type versionKey struct {
	digest    string
	observing bool
}

// version is a fsm.json with certain bytes.
type version struct {
	versionKey
	spec  string
	first time.Time // when it was first used
	last  time.Time

	begun, ended, byPerson, undone int
	replaced, open                 int
	unenforced                     int // decisions
	times                          sample
	steps                          map[string]*step
}

// step is what was counted of a step, by its place in the fsm.json.
type step struct {
	place, subject string

	done, back, asked, yes, no, chosen, late, notNeeded, gone, rounds int

	past     map[string]int // by the way
	byScript int            // of them
	wrong    int
	order    int // refusals because of the order
	other    int // by other rules
	gates    map[string]*gate
	times    sample
	reasons  []reason
}

// reason is what persons gave as a reason for what they did.
type reason struct {
	how state.Decision
	why string
	n   int // how often
}

// gate is what was counted of a gate of a step.
type gate struct {
	refused, passed   int
	unreached         int // where nothing is refused: judgements that a gate before it ended
	broken            int // its command could not run, or did not end
	runs              int // in which it was judged
	same, changed, un int // refusals after which it passed: on the same content, on other content, on what is not known
	asIs              int // refusals after which it passed although its files are as they were: it refuses that once
	past, wrong       int // how often a person went past the step when it had refused last; how often they said that it was wrong
}

// place is a list and the number of a run in it.
type place struct {
	list string
	run  int64
}

// runKey names a run: lists of two machines may have the same path.
type runKey struct {
	place
	again int64
}

// begun is a run that has begun in a log.
type begun struct {
	from *source
	place
}

// arrival is that a workflow, with what is under its steps, came from another list: the steps from the first to the last are those that
// had smaller numbers there.
type arrival struct {
	time            time.Time
	from            string
	first, last, by int64
}

// arrives adds an arrival, unless it is known.
func (c *counter) arrives(list string, a arrival) {
	if !slices.ContainsFunc(c.came[list], func(o arrival) bool { return o.first == a.first && o.from == a.from }) {
		c.came[list] = append(c.came[list], a)
	}
}

// keyOf returns the run that has the number in a list: of those with the same the one that has begun in the log, else the last. One that
// came from another list is the one that has begun there.
func (c *counter) keyOf(list string, n int64) runKey {
	p, at := place{list, n}, time.Time{}
	for {
		again, ok := c.began[begun{c.from, p}]
		if !ok {
			again = c.again[p]
		}
		key, i := runKey{p, again}, -1
		for j, a := range c.came[p.list] {
			if a.first <= p.run && p.run <= a.last && (at.IsZero() || a.time.Before(at)) {
				i = j
			}
		}
		if ok || i < 0 || c.runs[key] != nil {
			return key
		}
		a := c.came[p.list][i]
		p, at = place{a.from, p.run - a.by}, a.time
	}
}

// at returns that run; nil if there is none.
func (c *counter) at(list string, n int64) *run { return c.runs[c.keyOf(list, n)] }

// run is a run that is counted.
type run struct {
	from           *source
	hydrated       time.Time // zero if that is not on record
	skill          *skill
	version        *version // nil as long as it is not known whether it is observed
	key            versionKey
	spec           string
	began          time.Time
	used           time.Time        // when this version of it was first used
	digests        map[int64]string // of its versions, by the number of its first step with each
	ended          bool
	at             time.Time // when it ended; zero if that is not on record
	byPerson       bool      // it ended by a person's word
	cut            bool      // it ended because the step that it is under did, which says nothing of the time that it takes
	undone, before bool      // before: it began before the time that is reported
	replaced       bool      // by another run in its list
	left           bool      // it goes on in a project that is not counted
	steps          map[int64]*runStep

	over map[int64]stood           // its steps that are over, by their numbers less that of the run
	outs map[int64]map[int64]stood // over as it was when a change took out the version whose first step has this number
}

// stood is how a step of a run is at last.
type stood struct {
	place, subject string
	word           state.Word
}

// is notes what became of a step.
func (x *run) is(n int64, s stood) {
	switch {
	case s.word.IsOpen():
		delete(x.over, n)
	case x.over == nil:
		x.over = map[int64]stood{n: s}
	default:
		x.over[n] = s
	}
}

// runStep is a step of a run.
type runStep struct {
	started time.Time
	refused string // by which gate it was last refused; empty if it passed since
	content string // on which content
	done    bool
	judged  map[string]bool
}

// add counts a decision.
func (c *counter) add(r *decisions.Record) {
	switch {
	case r.Source == decisions.Guard || r.Workflow == "":
	case r.Source == decisions.Hydrate:
		c.taken(r)
		if c.counts(r) {
			c.hydrated(r)
		}
	case !c.counts(r):
		c.follow(r)
	case r.Run != 0:
		c.decided(r)
	}
}

func (c *counter) counts(r *decisions.Record) bool {
	return (c.skill == "" || r.Workflow == c.skill || strings.HasSuffix(r.Workflow, ":"+c.skill)) &&
		(c.belongs == nil || c.belongs(r.Project))
}

// taken counts which runs a change of a list has taken out, and brought back or from elsewhere: those of any workflow.
func (c *counter) taken(r *decisions.Record) {
	if r.FromList != "" && r.Run != 0 {
		a := arrival{r.Time, r.FromList, r.Run, math.MaxInt64, r.Run - r.FromRun}
		if r.FromList == r.List {
			a.last = r.Run
		}
		c.arrives(r.List, a)
		for _, n := range append(r.Created, r.Run) {
			if x := c.at(r.List, n); x != nil && r.FromList != r.List {
				x.left = c.belongs != nil && !c.belongs(r.Project)
			}
		}
	}
	// The undo of an undo takes out again what had been replaced.
	again := slices.ContainsFunc(r.Restored, func(n int64) bool { return c.undone[place{r.List, n}] })
	for _, n := range r.Deleted {
		x := c.at(r.List, n)
		if r.Decision == "undone" && !again {
			c.undone[place{r.List, n}] = true
		}
		if x != nil && x.digests[n] != "" {
			x.outs[n] = maps.Clone(x.over)
		}
		switch {
		case x == nil:
		case c.undone[place{r.List, n}]:
			x.undone = true
		case r.Decision == "undone", r.Run != 0 && r.Decision != "continued" && x != c.at(r.List, r.Run):
			x.replaced = true
		}
	}
	for _, n := range r.Restored {
		delete(c.undone, place{r.List, n})
		if x := c.at(r.List, n); x != nil {
			x.undone, x.replaced = false, false
			x.use(x.digests[n], r.Time)
			if over, ok := x.outs[n]; ok {
				x.over = maps.Clone(over)
			}
		}
	}
}

// hydrated counts the beginning of a run.
func (c *counter) hydrated(r *decisions.Record) {
	if r.FromList == "" && r.Decision != "hydrated" || r.Run == 0 || r.Who == string(state.Fsmtx) { // the tasks for the lines of a step
		return
	}
	if r.FromList == "" {
		c.beginAgain(r)
	}
	x := c.run(r)
	if r.FromList == r.List && r.FromRun != r.Run {
		x.reloaded(r)
	}
}

// reloaded makes those steps of the run done that stay so with the new fsm.json.
func (x *run) reloaded(r *decisions.Record) {
	was := x.over
	x.over = nil
	for _, o := range r.Others {
		s := stood{o.Place, o.Subject, state.Word(o.State)}
		for _, w := range was {
			if w.place == s.place {
				s.word = w.word
			}
		}
		x.is(o.Step-o.Run, s)
	}
}

// beginAgain makes the run that a record begins one of its own, if one with this number has begun at another time.
func (c *counter) beginAgain(r *decisions.Record) {
	p := place{r.List, r.Run}
	if c.from == nil {
		return
	}
	if x := c.runs[runKey{p, c.again[p]}]; x != nil && !x.hydrated.IsZero() && !x.hydrated.Equal(r.Time) {
		c.again[p]++
	}
	c.began[begun{c.from, p}] = c.again[p]
	c.run(r).hydrated = r.Time
}

// run returns the run of a decision.
func (c *counter) run(r *decisions.Record) *run {
	key := c.keyOf(r.List, r.Run)
	x := c.runs[key]
	if x != nil {
		x.use(r.Digest, r.Time)
		x.digests[r.Run] = r.Digest
		return x
	}
	s := c.skills[r.Workflow]
	if s == nil {
		s = &skill{name: r.Workflow, versions: map[versionKey]*version{}}
		c.skills[r.Workflow] = s
	}
	x = &run{from: c.from, skill: s, key: versionKey{digest: r.Digest}, spec: r.Spec, began: r.Time, used: r.Time,
		before: r.Time.Before(c.since), steps: map[int64]*runStep{}, digests: map[int64]string{r.Run: r.Digest},
		outs: map[int64]map[int64]stood{}}
	c.runs[key] = x
	if c.order = append(c.order, key); len(c.order) > mostRuns {
		c.forget(c.order[0])
		c.order = c.order[1:]
	}
	return x
}

// use makes the run one of another version, with which it goes on.
func (x *run) use(digest string, at time.Time) {
	if digest != "" && digest != x.key.digest {
		x.key.digest, x.used, x.version = digest, at, nil
	}
}

// forget counts a run as it is, so that a log of any length takes no more memory.
func (c *counter) forget(key runKey) {
	if x := c.runs[key]; x != nil {
		c.conclude(x)
		delete(c.runs, key)
		delete(c.began, begun{x.from, key.place})
	}
}

// settle returns the version of a run, which is known with the first step that is decided, or at the end.
func (c *counter) settle(x *run, observing bool) *version {
	if x.version != nil {
		return x.version
	}
	if x.before {
		x.version = &version{steps: map[string]*step{}} // which nobody reads
		return x.version
	}
	x.key.observing = observing
	v := x.skill.versions[x.key]
	if v == nil {
		v = &version{versionKey: x.key, first: x.used, steps: map[string]*step{}}
		x.skill.versions[x.key] = v
	}
	if x.used.Before(v.first) {
		v.first = x.used
	}
	if !x.used.Before(v.last) {
		v.last, v.spec = x.used, cmp.Or(x.spec, v.spec)
	}
	x.version = v
	return v
}

// decided counts a decision about a step.
func (c *counter) decided(r *decisions.Record) {
	x := c.run(r)
	v := c.settle(x, slices.Contains(r.Gaps, string(state.Observing)))
	if !v.observing && isUnenforced(r) {
		v.unenforced++
	}
	ends := r.Decision == string(state.End)
	if r.Place != "" && !ends {
		s := v.step(r)
		s.add(r, x.step(r.Step))
		for _, n := range r.Reopens {
			x.step(n).done = false
			delete(x.over, n-r.Run)
		}
		if r.Decision == string(state.Expand) { // what was done for the lines of an earlier round counts no more
			maps.DeleteFunc(x.over, func(_ int64, o stood) bool { return strings.HasPrefix(o.place+".", r.Place+".") })
		}
		if word := wordOf(r); word != "" && !r.Join {
			x.is(r.Step-r.Run, stood{s.place, s.subject, word})
		}
	}
	c.follow(r)
	switch {
	case r.Decision == string(state.Reopen):
		x.ended, x.byPerson, x.cut = false, false, false
	case r.Finished && !x.ended:
		x.ended, x.at, x.byPerson = true, r.Time, ends
	}
	if x.ended {
		x.steps = nil
	}
}

// isUnenforced reports whether a statement has the decision among what was not enforced.
func isUnenforced(r *decisions.Record) bool {
	line := state.Evidence{Verdict: state.Decision(r.Decision), To: r.To, By: state.By{How: state.How(r.How)}}
	for _, g := range r.Gaps {
		line.Gaps = append(line.Gaps, state.Gap(g))
	}
	return line.NotEnforced("") != ""
}

// wordOf returns the state of a step after a decision about it; empty if that does not change it.
func wordOf(r *decisions.Record) state.Word {
	d := state.Decision(r.Decision)
	switch line := (state.Evidence{Verdict: d, To: r.To, Rule: r.Rule, Reopens: r.Reopens}); {
	case d == state.Lapsed:
		return state.Open
	case !line.Completes():
		return ""
	case d == state.Skip:
		return state.IsSkipped
	}
	return state.IsDone
}

// follow notes the steps whose states follow from a decision, also those of runs under its step, which end with that.
func (c *counter) follow(r *decisions.Record) {
	if r.Source != decisions.Step {
		return
	}
	own := c.at(r.List, r.Run)
	for _, o := range r.Others {
		x := c.at(r.List, o.Run)
		if x == nil || x != own && (x.replaced || x.undone) {
			continue
		}
		s := stood{o.Place, o.Subject, state.Word(o.State)}
		x.is(o.Step-o.Run, s)
		switch {
		case x == own:
		case s.word.IsOpen():
			x.ended, x.byPerson, x.cut = false, false, false
		case !x.ended:
			x.ended, x.cut, x.byPerson = true, true, r.Decision == string(state.End)
		}
	}
}

// finish counts what is open.
func (c *counter) finish() {
	for _, x := range c.runs {
		c.conclude(x)
	}
}

// conclude counts how a run stands at last.
func (c *counter) conclude(x *run) {
	v := c.settle(x, false)
	v.begun++
	for _, one := range x.over {
		s := v.at(one.place)
		s.subject = cmp.Or(s.subject, one.subject)
		switch one.word {
		case state.IsDone:
			s.done++
		case state.IsNotNeeded:
			s.notNeeded++
		case state.IsGone:
			s.gone++
		}
	}
	switch {
	case x.undone:
		v.undone++
	case x.ended && x.byPerson:
		v.byPerson++
	case x.ended:
		v.ended++
		if !x.cut {
			v.times.add(x.at.Sub(x.began))
		}
	case x.left:
	case x.replaced:
		v.replaced++
	default:
		v.open++
	}
}

func (x *run) step(n int64) *runStep {
	if x.steps == nil {
		x.steps = map[int64]*runStep{}
	}
	s := x.steps[n]
	if s == nil {
		s = &runStep{judged: map[string]bool{}}
		x.steps[n] = s
	}
	return s
}

func (v *version) step(r *decisions.Record) *step {
	s := v.at(r.Place)
	s.subject = cmp.Or(s.subject, r.Defined, r.Subject)
	return s
}

func (v *version) at(place string) *step {
	s := v.steps[place]
	if s == nil {
		s = &step{place: place, past: map[string]int{}, gates: map[string]*gate{}}
		v.steps[place] = s
	}
	return s
}

func (s *step) gateNamed(name string) *gate {
	g := s.gates[name]
	if g == nil {
		g = &gate{}
		s.gates[name] = g
	}
	return g
}

// gate returns the gate, which was judged in the run.
func (s *step) gate(name string, x *runStep) *gate {
	g := s.gateNamed(name)
	if !x.judged[name] {
		x.judged[name] = true
		g.runs++
	}
	return g
}

// add counts a decision about the step in a run.
func (s *step) add(r *decisions.Record, x *runStep) {
	s.rounds = max(s.rounds, r.Round)
	switch d := state.Decision(r.Decision); d {
	case state.Allow, state.SeenDone:
		s.allowed(r, x)
	case state.Deny, state.Declined:
		s.refused(r, x)
	case state.Ask:
		s.asked++
	case state.Late:
		s.late++
		s.completed(r, x)
	case state.Lapsed:
		x.done = false
	default:
		line := state.Evidence{Verdict: d}
		if line.GonePast() == "" {
			break
		}
		s.goPast(r, x, d)
		if line.Concludes() && r.To == workflow.Completed {
			s.completed(r, x)
		}
	}
	switch r.Answer {
	case "yes":
		s.yes++
	case "no":
		s.no++
	case "a choice":
		s.chosen++
		if r.How != string(state.AtTerminal) { // the question is on record with its answer only
			s.asked++
		}
	}
}

// refused counts a refusal. Where nothing is enforced it is what would have been refused.
func (s *step) refused(r *decisions.Record, x *runStep) {
	switch {
	case r.Answer != "": // a person's no, which is counted as that
		return
	case r.Rule != "":
		s.gate("only", x).refused++
		return
	case r.Gate == string(fsmspec.InOrder):
		s.order++
		return
	case r.Gate == "":
		s.other++
		return
	}
	s.refusedBy(gateOf(r), r, x)
}

// refusedBy counts the refusal of a gate, unless its command could not run: that says nothing about the work.
func (s *step) refusedBy(name string, r *decisions.Record, x *runStep) {
	g := s.gate(name, x)
	if r.CouldNotRun() {
		g.broken++
		return
	}
	g.refused++
	x.refused, x.content = name, r.Content
}

// gateOf returns the gate of a decision, with the outcome that it belongs to, as decisions.Record.Passed has it.
func gateOf(r *decisions.Record) string {
	if strings.HasPrefix(r.Gate, "outcome ") && r.Outcome != "" {
		return r.Gate + "/" + r.Outcome
	}
	return r.Gate
}

func (s *step) allowed(r *decisions.Record, x *runStep) {
	if r.Gate != "" && slices.Contains(r.Gaps, string(state.Observing)) {
		s.refused(r, x)
	}
	switch {
	case r.Rule != "": // a call, which is let through as the step is
	case r.To == workflow.InProgress:
		x.started = r.Time
	case len(r.Reopens) > 0:
		s.back++
		if r.Exit != nil && *r.Exit != 0 { // its check failed, and led back
			s.refusedBy(string(fsmspec.CheckPasses), r, x)
		}
	case r.To == workflow.Completed:
		s.completed(r, x)
	}
	for _, name := range r.Unreached {
		s.gateNamed(name).unreached++
	}
	for _, name := range r.Passed {
		g := s.gate(name, x)
		g.passed++
		if name != x.refused || r.Gate != "" {
			continue
		}
		switch {
		case slices.Contains([]string{string(fsmspec.ProducedFiles), string(fsmspec.ReadyFiles)}, name),
			strings.HasPrefix(name, string(fsmspec.OutcomeFiles)): // it looks at files
			if len(r.Unchanged) > 0 {
				g.asIs++
			} else {
				g.changed++
			}
		case x.content == "" || r.Content == "":
			g.un++
		case x.content == r.Content:
			g.same++
		default:
			g.changed++
		}
		x.refused = ""
	}
}

// completed counts how long it took to do the step, by whatever way. One that is done for each line was when what is done there was.
func (s *step) completed(r *decisions.Record, x *runStep) {
	if x.done || r.Join {
		return
	}
	x.done = true
	if !x.started.IsZero() {
		s.times.add(r.Time.Sub(x.started))
	}
}

// goPast counts that a person went past, allowed or took back something.
func (s *step) goPast(r *decisions.Record, x *runStep, d state.Decision) {
	s.past[string(d)]++
	if r.Who != string(state.ThePerson) {
		s.byScript++
	}
	if r.Wrong {
		s.wrong++
	}
	if r.Why != "" {
		s.because(reason{d, r.Why, 1})
	}
	if x.refused != "" && (d == state.Skip || d == state.CallsIt) {
		g := s.gate(x.refused, x)
		g.past++
		if r.Wrong {
			g.wrong++
		}
		x.refused = ""
	}
}

// because adds a reason.
func (s *step) because(given reason) {
	i := slices.IndexFunc(s.reasons, func(o reason) bool { return o.how == given.how && o.why == given.why })
	switch {
	case i >= 0:
		s.reasons[i].n += given.n
	case len(s.reasons) < mostReasons:
		s.reasons = append(s.reasons, given)
	}
}

// mostTimes is how many durations are kept for a median; of more it is that of a sample.
const mostTimes = 1000

// sample is durations, of which the median is wanted.
type sample struct {
	n   int
	all []float32 // in seconds
}

func (s *sample) add(d time.Duration) {
	if d < 0 {
		return
	}
	if s.n++; len(s.all) < mostTimes {
		s.all = append(s.all, float32(d.Seconds()))
		return
	}
	if i := uint64(s.n) * 0x9E3779B97F4A7C15 >> 11 % uint64(s.n); i < mostTimes { // each counts about alike
		s.all[i] = float32(d.Seconds())
	}
}

// median returns the median in seconds; 0 if there is none.
func (s sample) median() float64 {
	if len(s.all) == 0 {
		return 0
	}
	all := slices.Sorted(slices.Values(s.all))
	return float64(all[len(all)/2])
}
