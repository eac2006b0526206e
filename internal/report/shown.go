package report

import (
	"cmp"
	_ "embed"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/state"
)

// shown is what the report says, for programs. Its schema is in schema.json.
type shown struct {
	Since    *time.Time   `json:"since"` // null: from the beginning
	Skills   []shownSkill `json:"skills"`
	Findings []finding    `json:"findings"`
	Damaged  []damage     `json:"damaged"`

	Forgotten int `json:"forgotten"` // changes of lists that are not on record any more
}

type shownSkill struct {
	Skill    string         `json:"skill"`
	Versions []shownVersion `json:"versions"` // the oldest first
}

type shownVersion struct {
	Digest        string      `json:"digest"`
	Spec          string      `json:"spec"`
	Observing     bool        `json:"observing"`
	First         time.Time   `json:"first"`
	Last          time.Time   `json:"last"`
	Begun         int         `json:"begun"`
	Ended         int         `json:"ended"`
	EndedByPerson int         `json:"endedByPerson"`
	Undone        int         `json:"undone"`
	Replaced      int         `json:"replaced"`
	Open          int         `json:"open"`
	Unenforced    int         `json:"unenforced"`    // decisions
	Median        float64     `json:"medianSeconds"` // of the runs that ended
	Steps         []shownStep `json:"steps"`
}

type shownStep struct {
	Step     string         `json:"step"`
	Subject  string         `json:"subject"`
	Done     int            `json:"done"`
	Back     int            `json:"back"`
	Rounds   int            `json:"rounds"`
	Order    int            `json:"refusedByOrder"`
	Other    int            `json:"refusedByRules"`
	Gates    []shownGate    `json:"gates"`
	Asked    int            `json:"asked"`
	Yes      int            `json:"yes"`
	No       int            `json:"no"`
	Chosen   int            `json:"chosen"`
	Late     int            `json:"late"`
	Without  int            `json:"notNeeded"`
	Gone     int            `json:"gone"`
	Past     map[string]int `json:"past"`
	ByScript int            `json:"byScript"`
	Wrong    int            `json:"wrong"`
	Median   float64        `json:"medianSeconds"`
	Reasons  []string       `json:"reasons,omitempty"`
}

type shownGate struct {
	Gate    string `json:"gate"`
	Runs    int    `json:"runs"`
	Refused int    `json:"refused"`
	Passed  int    `json:"passed"`
	Same    int    `json:"passedOnSameContent"`
	Changed int    `json:"passedAfterChange"`
	Unknown int    `json:"passedUnknown"`
	Past    int    `json:"past"`
	Wrong   int    `json:"wrong"`
	Broken  int    `json:"couldNotRun"`

	Unreached int `json:"notReached"`
}

// The kinds of findings, in the order of the report.
const (
	neverRefused = "never refused"
	wrongly      = "refused wrongly"
	wentPast     = "gone past"
	skipped      = "skipped"
)

// finding is a line of the lists of a report.
type finding struct {
	Kind    string `json:"kind"`
	Skill   string `json:"skill"`
	Step    string `json:"step"`
	Subject string `json:"subject"`
	Gate    string `json:"gate"` // empty if it is about the step
	Runs    int    `json:"runs"` // in which the gate was judged, or that were begun
	Times   int    `json:"times"`
	Of      int    `json:"of"` // refusals
	Marked  int    `json:"marked"`
	Few     bool   `json:"tooFew"`  // runs, to tell anything
	Version string `json:"version"` // the newest in which it was so

	newer   string // a version after that one
	after   []part // of Times: the gates that had refused last
	reasons []reason
}

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of what the report prints with --json.
func Schema() []byte { return schema }

func (c *counter) shown(reasons bool) shown {
	c.finish()
	x := shown{Skills: []shownSkill{}, Findings: []finding{}, Damaged: []damage{}, Forgotten: c.forgotten}
	if !c.since.IsZero() {
		x.Since = &c.since
	}
	for _, name := range slices.Sorted(maps.Keys(c.skills)) {
		s := c.skills[name]
		if len(s.versions) == 0 {
			continue
		}
		one := shownSkill{Skill: name}
		for _, v := range s.sorted() {
			one.Versions = append(one.Versions, v.shown(reasons))
		}
		x.Skills = append(x.Skills, one)
		x.Findings = append(x.Findings, s.findings()...)
	}
	kinds := []string{neverRefused, wrongly, wentPast, skipped}
	slices.SortStableFunc(x.Findings, func(a, b finding) int {
		return cmp.Or(slices.Index(kinds, a.Kind)-slices.Index(kinds, b.Kind), b.Times-a.Times, b.Runs-a.Runs)
	})
	return x
}

// sorted returns the versions, the oldest first; what was observed before what was enforced.
func (s *skill) sorted() []*version {
	return slices.SortedFunc(maps.Values(s.versions), func(a, b *version) int {
		return cmp.Or(a.first.Compare(b.first), strings.Compare(a.digest, b.digest))
	})
}

// inOrder compares places in a file: 2.10 comes after 2.9.
func inOrder(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		m, _ := strconv.Atoi(x[i])
		n, _ := strconv.Atoi(y[i])
		if m != n {
			return m - n
		}
	}
	return len(x) - len(y)
}

func (v *version) shown(reasons bool) shownVersion {
	x := shownVersion{Digest: v.digest, Spec: v.spec, Observing: v.observing, First: v.first, Last: v.last, Begun: v.begun, Ended: v.ended,
		EndedByPerson: v.byPerson, Undone: v.undone, Replaced: v.replaced, Open: v.open, Unenforced: v.unenforced,
		Median: v.times.median(), Steps: []shownStep{}}
	for _, place := range slices.SortedFunc(maps.Keys(v.steps), inOrder) {
		s := v.steps[place]
		one := shownStep{Step: place, Subject: s.subject, Done: s.done, Back: s.back, Rounds: max(1, s.rounds), Order: s.order, Other: s.other,
			Gates: []shownGate{}, Asked: s.asked, Yes: s.yes, No: s.no, Chosen: s.chosen, Late: s.late, Without: s.notNeeded,
			Gone: s.gone, Past: s.past, ByScript: s.byScript, Wrong: s.wrong, Median: s.times.median()}
		for _, name := range slices.Sorted(maps.Keys(s.gates)) {
			g := s.gates[name]
			one.Gates = append(one.Gates,
				shownGate{name, g.runs, g.refused, g.passed, g.same + g.asIs, g.changed, g.un, g.past, g.wrong, g.broken, g.unreached})
		}
		if reasons {
			for _, r := range s.reasons {
				if !slices.Contains(one.Reasons, r.why) {
					one.Reasons = append(one.Reasons, r.why)
				}
			}
		}
		x.Steps = append(x.Steps, one)
	}
	return x
}

// findings returns what there is to say about the steps of all versions, and in which each was last seen: a version that is new does not
// hide what is known of those before it.
func (s *skill) findings() (all []finding) {
	versions := s.sorted()
	newest := versions[len(versions)-1].digest
	type name struct{ place, subject string }
	seen := map[name]bool{}
	for _, v := range slices.Backward(versions) {
		for _, place := range slices.SortedFunc(maps.Keys(v.steps), inOrder) {
			one := name{place, v.steps[place].subject}
			if seen[one] {
				continue
			}
			seen[one] = true
			for _, f := range findingsOf(versions, finding{Skill: s.name, Step: one.place, Subject: one.subject}) {
				if f.Version != newest {
					f.newer = newest
				}
				all = append(all, f)
			}
		}
	}
	return all
}

// findingsOf returns what there is to say about a step of the versions.
func findingsOf(versions []*version, about finding) (all []finding) {
	type name struct{ kind, gate string }
	begun, sum, last := 0, step{past: map[string]int{}, gates: map[string]*gate{}}, map[name]string{}
	for _, v := range versions {
		one := v.steps[about.Step]
		if one == nil || one.subject != about.Subject {
			continue
		}
		begun += v.begun
		sum.plus(one)
		for _, f := range one.findings(about, v.begun) {
			last[name{f.Kind, f.Gate}] = v.digest
		}
	}
	about.reasons = sum.reasons
	all = sum.findings(about, begun)
	for i := range all {
		all[i].Version = last[name{all[i].Kind, all[i].Gate}]
	}
	return all
}

// plus adds another version of the step.
func (s *step) plus(o *step) {
	for name, n := range o.past {
		s.past[name] += n
	}
	for name, g := range o.gates {
		was := s.gates[name]
		if was == nil {
			was = &gate{}
			s.gates[name] = was
		}
		was.refused, was.passed, was.runs = was.refused+g.refused, was.passed+g.passed, was.runs+g.runs
		was.same, was.past, was.wrong = was.same+g.same, was.past+g.past, was.wrong+g.wrong
	}
	s.wrong += o.wrong
	for _, r := range o.reasons {
		s.because(r)
	}
}

func (s *step) findings(about finding, begun int) (all []finding) {
	add := func(kind, gate string, runs, times int) *finding {
		one := about
		one.Kind, one.Gate, one.Runs, one.Times, one.Few = kind, gate, runs, times, runs < few
		all = append(all, one)
		return &all[len(all)-1]
	}
	marked, skips := s.wrong, s.past[string(state.Skip)]
	var after []part
	for _, name := range slices.Sorted(maps.Keys(s.gates)) {
		g := s.gates[name]
		if g.refused == 0 && g.passed > 0 && name != "approval" { // of which each asks
			add(neverRefused, name, g.runs, 0)
		}
		if wrong := g.same + g.wrong; wrong > 0 {
			one := add(wrongly, name, g.runs, wrong)
			one.Of, one.Marked = g.refused, g.wrong
			marked -= g.wrong
		}
		if g.past > 0 {
			after = append(after, part{g.past, "after a refusal of " + nameOf(name)})
		}
	}
	if marked > 0 {
		add(wrongly, "", begun, marked).Marked = marked
	}
	if past := skips + s.past[string(state.CallsIt)]; past > 0 {
		add(wentPast, "", begun, past).after = after
	}
	if skips > 0 {
		add(skipped, "", begun, skips)
	}
	return all
}
