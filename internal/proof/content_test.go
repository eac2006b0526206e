package proof

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestOnWhichContentChecksPassed: each row has the policy, and a run of a test, a build and a note whose checks stood on the commit's
// tree, but for one thing.
func TestOnWhichContentChecksPassed(t *testing.T) {
	r := aRepository(t)
	commit := r.git("rev-parse", "HEAD")
	tree := r.git("rev-parse", "HEAD^{tree}")
	r.put(".fsmtx/release.intoto.json", "x")
	later := r.commitAll()
	r.put("dist/notes.md", "other")
	latest := r.commitAll()
	other := strings.Repeat("d", 40)

	at := func(minutes int) time.Time { return someTime.Add(time.Duration(minutes) * time.Minute) }
	passed := func(minutes int, c *Content) Decision {
		return Decision{Time: at(minutes), To: "completed", Decision: "allow", Check: &Check{Run: "make"}, Content: c}
	}
	here := func() *Content { return &Content{Trees: []string{tree}} }
	run := func() (x Run) {
		x = aRun()
		x.Steps = []Step{
			{ID: 1, Subject: "Test", State: isDone, Ended: at(-9), Decisions: []Decision{
				{Time: at(-10), To: "completed", Decision: "deny", Check: &Check{Exit: 1}, Content: &Content{Trees: []string{other},
					Differs: []string{"a.go"}}},
				passed(-9, here())}},
			{ID: 2, Subject: "Build", State: isDone, Ended: at(-5), Decisions: []Decision{passed(-5, here())}},
			{ID: 3, Subject: "Tell", State: isDone, Ended: at(0), Decisions: []Decision{{Time: at(0), To: "completed", Decision: "allow",
				Content: here()}}},
		}
		return x
	}
	on := func(id string, differs ...string) *Content { return &Content{Trees: []string{id}, Differs: differs} }
	for name, c := range map[string]struct {
		policy string
		change func(*Run)
		commit string // that is judged
		want   string // empty: it holds
	}{
		"all on the commit's": {},
		"the last check on other content": {
			change: func(r *Run) { r.Steps[1].Decisions[0].Content = on(other, "a.go", "b.go") },
			want:   `the check of step "Build" passed on other content than the commit has: a.go, b.go`,
		},
		"an earlier check on other content": {change: func(r *Run) { r.Steps[0].Decisions[1].Content = on(other, "a.go") }},
		"the end on other content":          {change: func(r *Run) { r.Steps[2].Decisions[0].Content = on(other, "a.go") }},
		"without checks the end on it":      {change: func(r *Run) { r.Steps = r.Steps[2:] }},
		"without checks the end on other": {
			change: func(r *Run) { r.Steps = r.Steps[2:]; r.Steps[0].Decisions[0].Content = on(other, "a.go") },
			want:   "the run ended on other content than the commit has: a.go",
		},
		"without checks the end is not known": {
			change: func(r *Run) { r.Steps = r.Steps[2:]; r.Steps[0].Decisions[0].Content = nil },
			want:   "the run ended, and it is not on record on which content",
		},
		"without anything": {
			change: func(r *Run) { r.Steps = r.Steps[2:]; r.Steps[0].Decisions = nil },
			want:   "the run ended, and it is not on record",
		},
		"it is not on record": {
			change: func(r *Run) { r.Steps[1].Decisions[0].Content = nil },
			want:   `the check of step "Build" passed, and it is not on record on which content: the repository had no policy`,
		},
		"it is not known": {
			change: func(r *Run) { r.Steps[1].Decisions[0].Content = &Content{Unknown: "git took long"} },
			want:   "not known on which content: git took long",
		},
		"a check that changed files": {change: func(r *Run) {
			r.Steps[1].Decisions[0].Content = &Content{Trees: []string{other, tree}, Differs: []string{"a.go"}}
		}, want: "other content than the commit has: a.go"},
		"a named check on other content": {policy: `"checks": ["Test"]`,
			change: func(r *Run) { r.Steps[0].Decisions[1].Content = on(other, "a.go") },
			want:   `the check of step "Test" passed on other content`,
		},
		"a named check on it, another not": {policy: `"checks": ["Test"]`,
			change: func(r *Run) { r.Steps[1].Decisions[0].Content = on(other, "a.go") },
		},
		"two named checks, one on other": {policy: `"checks": ["Test", "Build"]`,
			change: func(r *Run) { r.Steps[1].Decisions[0].Content = on(other, "a.go") },
			want:   `"Build" passed on other`,
		},
		"a named check that is not there": {policy: `"checks": ["Lint"]`,
			want: `the policy wants the check of step "Lint", and the run has no such step`,
		},
		"a named step without a check": {policy: `"checks": ["Tell"]`,
			want: `the policy wants the check of step "Tell", and none has passed`,
		},
		"a named check that never passed": {policy: `"checks": ["Test"]`,
			change: func(r *Run) { r.Steps[0].Decisions = r.Steps[0].Decisions[:1] },
			want:   `"Test", and none has passed`,
		},
		"a named check of the skill only": {policy: `"checks": ["Lint"], "skills": {"release": {"paths": ["x"], "checks": ["Test"]}}`},
		"a named check of a copy": {policy: `"checks": ["Test"]`,
			change: func(r *Run) { r.Steps[1].Under = 1; r.Steps[1].Decisions[0].Content = on(other, "a.go") },
			want:   `"Build" passed on other`,
		},
		"a check that passed and was refused": {change: func(r *Run) {
			r.Steps[1].Decisions[0].Decision = "deny"
			r.Steps[1].Decisions[0].Content = on(other, "a.go")
		}},
		"a later pass on other content": {policy: `"checks": ["Test"]`,
			change: func(r *Run) { r.Steps[0].Decisions = append(r.Steps[0].Decisions, passed(-8, on(other, "a.go"))) },
			want:   "other content",
		},
		"content that differs where it may": {policy: `"ignore": ["*.md"]`,
			change: func(r *Run) { r.Steps[1].Decisions[0].Content = on(other, "A.md") },
		},
		"content that later steps write": {policy: `"after": ["A.md"]`,
			change: func(r *Run) { r.Steps[1].Decisions[0].Content = on(other, "A.md") },
		},
		"content that later steps of it write": {policy: `"skills": {"release": {"paths": ["x"], "after": ["A.md"]}}`,
			change: func(r *Run) { r.Steps[1].Decisions[0].Content = on(other, "A.md") },
		},
		"content that others' later steps write": {policy: `"skills": {"write": {"paths": ["x"], "after": ["A.md"]}}`,
			change: func(r *Run) { r.Steps[1].Decisions[0].Content = on(other, "A.md") },
			want:   "other content than the commit has: A.md",
		},
		"content that differs also elsewhere": {policy: `"after": ["A.md"]`,
			change: func(r *Run) { r.Steps[1].Decisions[0].Content = on(other, "A.md", "b.go") },
			want:   "other content than the commit has: b.go",
		},
		"more than is listed": {policy: `"after": ["A.md"]`, change: func(r *Run) {
			r.Steps[1].Decisions[0].Content = &Content{Trees: []string{other}, Differs: []string{"A.md"}, More: 7}
		}, want: "7 more"},
		"the policy gives it up": {policy: `"content": "any"`,
			change: func(r *Run) { r.Steps[1].Decisions[0].Content = on(other, "b.go") },
		},
		"the policy gives it up for another": {policy: `"skills": {"write": {"paths": ["x"], "content": "any"}}`,
			change: func(r *Run) { r.Steps[1].Decisions[0].Content = on(other, "b.go") },
			want:   "other content",
		},
		"another tree of which nothing differs": {
			change: func(r *Run) { r.Steps[1].Decisions[0].Content = on(other) },
			want:   "contradicts itself",
		},
		"the tree, of which something differs": {policy: `"ignore": ["A.md"]`,
			change: func(r *Run) { r.Steps[1].Decisions[0].Content = on(tree, "A.md") },
			want:   "contradicts itself",
		},
		"a later commit": {commit: latest,
			want: `the check of step "Build" passed on other content than the commit has: .fsmtx/release.intoto.json, dist/notes.md`,
		},
		"a later commit with what may differ": {policy: `"ignore": [".fsmtx/*.intoto.json"]`, commit: later},
		"a later commit with what steps write": {policy: `"after": [".fsmtx/*.intoto.json"]`, commit: later,
			want: "since then these have changed: .fsmtx/release.intoto.json",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := parsePolicy([]byte(`{"policy": 1` + strings.TrimSuffix(", "+c.policy, ", ") + "}"))
			require.NoError(t, err)
			s := about(commit)
			s.Predicate = run()
			s.Predicate.FSM.SHA256 = digest("[]")
			if c.change != nil {
				c.change(&s.Predicate)
			}
			if c.commit == "" {
				c.commit = commit
			}
			j := judge{in: r.repository, commit: c.commit, policy: p, now: someTime}
			problems, notes, err := j.content(t.Context(), s)
			require.NoError(t, err)
			about, _, err := j.subject(t.Context(), s)
			require.NoError(t, err)
			problems = append(problems, about...)
			noted := strings.Contains(c.policy, "any") && c.want == "" || strings.HasPrefix(name, "without")
			require.Equal(t, noted, len(notes) > 0, "that it is given up is said, and that no check has passed")
			require.Equal(t, c.want == "", len(problems) == 0, problems)
			require.Contains(t, strings.Join(problems, "\n"), c.want)
		})
	}
}
