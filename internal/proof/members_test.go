package proof

import (
	"context"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/checklist"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/state"
)

// aShipment is a workflow with a step of each kind. It ends in order.
const aShipment = `{"fsm": 2, "steps": [
	{"id": 1, "subject": "Test", "check": "make test"},
	{"id": 2, "subject": "Build", "check": "make build", "blockedBy": [1]},
	{"id": 3, "subject": "Choose", "decides": "person", "outcomes": {"go": {}, "wait": {}}, "blockedBy": [2]},
	{"id": 4, "subject": "Approve", "approval": "Ship it?", "blockedBy": [3]},
	{"id": 5, "subject": "Wait", "when": {"3": ["wait"]}},
	{"id": 6, "subject": "Find", "do": "notes", "blockedBy": [4]},
	{"id": 7, "subject": "Sign", "blockedBy": [6]}]}`

// shipped is a run of aShipment in which Sign was skipped. Its first check passed on other content.
func shipped(tree string) Run {
	at := func(minutes int) time.Time { return someTime.Add(time.Duration(minutes-60) * time.Minute) }
	r := aRun()
	r.Skill, r.FSM, r.Began, r.Ended = "ship", File{Path: "skills/ship/fsm.json", SHA256: digest(aShipment)}, at(0), at(8)
	r.Nested = []Nested{{"notes", 6, File{Path: "skills/notes/fsm.json", SHA256: digest(aNested)}}}
	step := func(id int64, subject, outcome string, more ...Decision) Step {
		d := Decision{Time: at(int(id)), Round: 1, To: "completed", Decision: "allow", Outcome: outcome, Who: "agent", How: "update"}
		return Step{ID: id, Subject: subject, State: isDone, Outcome: outcome, Rounds: 1, Began: at(int(id) - 1), Ended: at(int(id)),
			Decisions: append(more, d)}
	}
	r.Steps = []Step{step(1, "Test", "done"), step(2, "Build", "done"),
		step(3, "Choose", "go", Decision{Time: at(3), Round: 1, Decision: "chosen", Outcome: "go", Who: "person",
			How: "question", Answer: "a choice"}),
		step(4, "Approve", "done"), step(5, "Wait", "skipped"),
		step(6, "Find", "done", Decision{Time: at(6), Round: 1, Decision: "called", Who: "agent", How: "call"}),
		step(7, "Sign", "skipped"), step(8, "List", "done")}
	for i, content := range []*Content{
		{Head: strings.Repeat("b", 40), Trees: []string{strings.Repeat("d", 40)}, Differs: []string{"a.go"}, More: 1},
		{Head: strings.Repeat("b", 40), Trees: []string{tree}}} {
		r.Steps[i].Decisions[0].Check = &Check{Run: "make " + []string{"test", "build"}[i], SHA256: strings.Repeat("c", 64), Bytes: 12}
		r.Steps[i].Decisions[0].Content = content
	}
	yes := &r.Steps[3].Decisions[0]
	yes.Who, yes.How, yes.Question, yes.Answer = "person", "approval", "Ship it?", "yes"
	r.Steps[4].State, r.Steps[4].Decisions = notNeeded, []Decision{}
	past := &r.Steps[6].Decisions[0]
	past.Decision, past.Who, past.How, r.Steps[6].State = "skip", "person", "terminal", isSkipped
	r.Overrides = []Override{{Time: at(7), Kind: "skip", Step: 7, Subject: "Sign", Because: "no key", How: "terminal",
		NotNeeded: []string{"Tell"}}}
	r.Steps[7].ID, r.Steps[7].Under, r.Steps[7].Skill = 8, 6, "notes"
	return r
}

// compared is what a statement is judged with, in tests that change a statement and sign it again.
type compared struct {
	r      testRepository
	j      judge
	base   string // a commit before the one that is judged
	looked map[string][]string
}

const aPlan = "- [x] Test\n- [x] Sign\n"

func newCompared(t *testing.T) *compared {
	c := &compared{r: aRepository(t), looked: map[string][]string{}}
	c.r.put("skills/notes/fsm.json", aNested)
	c.r.put("skills/ship/fsm.json", aShipment)
	c.r.put("docs/release.md", aPlan)
	c.base = c.r.git("rev-parse", "HEAD")
	c.j = judge{in: c.r.repository, commit: c.r.commitAll(), now: someTime.Add(time.Hour)}
	return c
}

func (c *compared) about(r Run) Statement {
	return newStatement(commitSubject(c.j.commit), []Subject{fileSubject("dist/notes.md", digest("notes"))}, r)
}

func (c *compared) tree() string { return c.r.git("rev-parse", c.j.commit+"^{tree}") }

func (c *compared) by(policy string) {
	var err error
	c.j.policy, err = parsePolicy([]byte(policy))
	require.NoError(c.r.t, err, policy)
}

// problems returns what does not hold. What git says is asked once for the same parts of a statement.
func (c *compared) problems(s Statement) (all []string) {
	s, err := parseStatement(must(s.encode()))
	if err != nil {
		return []string{err.Error()}
	}
	r, t := s.Predicate, c.r.t
	passes, _ := r.passes(c.j.policy.standingOf(r.Skill).Checks)
	key := fmt.Sprintf("%s %v", must(json.Marshal([]any{s.Subject, r.Skill, r.Project, r.FSM, r.Nested, r.Tree})), c.j.policy)
	for _, p := range passes {
		key += p.what + string(must(json.Marshal(p.content)))
	}
	looked, ok := c.looked[key]
	if !ok {
		for _, look := range []func(context.Context, Statement) (problems, notes []string, err error){c.j.subject, c.j.workflow, c.j.content,
			c.j.produced} {
			problems, _, err := look(t.Context(), s)
			require.NoError(t, err)
			looked = append(looked, problems...)
		}
		missing, err := c.j.missing(t.Context(), []verdict{{Skill: r.Skill, project: r.Project, Holds: true}})
		require.NoError(t, err)
		for _, v := range missing {
			looked = append(looked, v.Problems...)
		}
		c.looked[key] = looked
	}
	found, _ := c.j.policy.judge(r, c.j.now)
	all = append(slices.Clone(looked), found...)
	var specs []*fsmspec.Spec
	for _, w := range r.workflows() {
		text, ok := map[string]string{"skills/ship/fsm.json": aShipment, "skills/notes/fsm.json": aNested, "docs/release.md": aPlan}[w.FSM.Path]
		if !ok {
			return append(all, "another workflow")
		}
		spec, _, err := r.spec(w.FSM, []byte(text))
		if err != nil {
			return append(all, err.Error())
		}
		specs = append(specs, spec)
	}
	return append(all, r.agree(specs)...)
}

// TestWhatIsCompared changes one member of a statement after the other, leaves each out, adds each that is not there, and signs it again.
// Those of which the answer depends are those that docs/internals/attestation.md names; the others are for the reader.
func TestWhatIsCompared(t *testing.T) {
	worlds.Long(t)
	c := newCompared(t)
	whole := c.about(shipped(c.tree())) // with every member that a statement about a commit can have
	x := &whole.Predicate
	x.Agent, x.BegunBy = Agent{"claude-code", "2.1.329"}, &Beginner{"person", "prompt"}
	x.Skillmd = &File{Path: "skills/ship/SKILL.md", SHA256: digest("x")}
	x.Lists = []Place{{List: "a", Session: "b", Began: someTime}}
	d := &x.Steps[0].Decisions[0]
	fill(reflect.ValueOf(&d.Watched).Elem())
	d.Why, d.Same, d.Reopens, d.Skips = "its check passed", []string{"a"}, []int64{1}, []int64{2}

	onTree := c.about(shipped(strings.Repeat("d", 40))) // which is not in this clone, and has a file more than the commit
	other := aRepository(t)
	other.git("fetch", "-q", c.r.Dir, "main")
	other.git("reset", "-q", "--hard", c.j.commit)
	other.put("docs/more.md", "more")
	tree := must(other.Tree(t.Context(), other.Dir+"/.git/objects"))
	onTree.Subject[0] = treeSubject(tree)
	onTree.Predicate.Tree = &Tree{Base: c.base, Files: must(other.entries(t.Context(), c.base, tree))}
	onTree.Predicate.Steps[1].Decisions[0].Content = &Content{Head: c.base, Trees: []string{c.j.commit}, Differs: []string{"docs/more.md"}}
	onTree.Predicate.Content = &Content{Unknown: "git took long"}

	byPlan := c.about(aRun())
	stands(c.r, &byPlan)
	byPlan.Predicate.FSM = File{Path: "docs/release.md", SHA256: digest(checklist.Unticked(aPlan)), Plan: true}
	byPlan.Predicate.Unenforced = []Span{{someTime, someTime, "hooks were off"}}

	changed, left, tried := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, s := range []Statement{whole, onTree, byPlan} {
		r := s.Predicate
		c.by(`{"policy": 1, "unenforced": ` + strconv.FormatBool(r.FSM.Plan) + `, "overrides": {"skip": ["Sign", "Tell"]},
			"approvals": "question", "maxAge": "30d", "ignore": ["docs/**"],
			"skills": {"` + r.Skill + `": {"workflow": "` + r.FSM.Path + `", "project": ".", "paths": ["dist/**"]}}}`)
		require.Empty(t, c.problems(s))
		vary(reflect.ValueOf(&s).Elem(), "", func(path string) {
			switch path = strings.TrimPrefix(path, "predicate."); {
			case tried[path], changed[path]: // in a statement before this one
			case len(c.problems(s)) == 0:
				left[path] = true
			default:
				changed[path] = true
				delete(left, path)
			}
		})
		maps.Copy(tried, changed)
		require.Empty(t, c.problems(s))
	}
	for _, path := range paths(reflect.TypeFor[Statement](), "") {
		require.True(t, changed[path] || left[path], "%s was not tried", path)
	}
	page := string(must(os.ReadFile("../../docs/internals/attestation.md")))
	_, section, _ := strings.Cut(page, "## What is compared\n")
	section, _, _ = strings.Cut(section, "\n## ")
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(section, -1) {
		named[m[1]] = true
	}
	require.Equal(t, slices.Sorted(maps.Keys(changed)), slices.Sorted(maps.Keys(named)), "left: %v, changed: `%s`",
		slices.Sorted(maps.Keys(left)), strings.Join(slices.Sorted(maps.Keys(changed)), "`, `"))
}

// TestNoMemberMakesAStatementHold: a statement that does not hold is changed in one member after the other. None of these changes makes it
// hold but those of the member that says what is wrong, where that is the only one that does.
func TestNoMemberMakesAStatementHold(t *testing.T) {
	specs := []*fsmspec.Spec{must(fsmspec.Parse([]byte(aShipment))), must(fsmspec.Parse([]byte(aNested)))}
	yes := func(r *Run) *Decision { return &r.Steps[3].Decisions[0] }
	span := func(r *Run, i int) {
		e := state.Evidence{Gaps: []state.Gap{state.ChecksOff}, Verdict: state.Allow}
		r.Unenforced = []Span{{r.Began, r.Ended, e.NotEnforced(r.Steps[i].Subject)}}
	}
	const usual = `"overrides": {"skip": ["Sign", "Tell"]}`
	for name, row := range map[string]struct {
		policy string
		change func(*Run)
		but    []string
	}{
		"a yes in a terminal": {usual + `, "approvals": "question"`, func(r *Run) { yes(r).How = "terminal" }, nil},
		"no answer":           {usual, func(r *Run) { yes(r).Answer = "" }, nil},
		"a no":                {usual, func(r *Run) { yes(r).Answer = "no" }, nil},
		"a yes of nobody":     {usual, func(r *Run) { yes(r).Decision = "ask" }, nil},
		"no choice":           {usual, func(r *Run) { r.Steps[2].Decisions = r.Steps[2].Decisions[1:] }, nil},
		"another choice":      {usual, func(r *Run) { r.Steps[2].Decisions[0].Outcome = "wait" }, nil},
		"a young terminal": {usual, func(r *Run) {
			yes(r).How, yes(r).Young = "terminal", true
			r.Overrides = append(r.Overrides, young(Override{Time: yes(r).Time, Step: 4, Subject: "Approve", How: "terminal"}))
		}, nil},
		"a skip": {`"overrides": {"end": ["Sign", "Tell"]}`, func(*Run) {}, nil},
		"a skip that is not listed": {usual, func(r *Run) { r.Overrides = []Override{} },
			[]string{"steps.decisions", "steps.decisions.decision"}},
		"a reload": {usual, func(r *Run) {
			r.Overrides = append(r.Overrides, Override{Time: someTime, Kind: isReload, Step: 1, Subject: "Test"})
		}, []string{"overrides"}},
		"a check that failed":         {usual, func(r *Run) { r.Steps[0].Decisions[0].Check.Exit = 1 }, []string{"steps.decisions.check.exit"}},
		"a check that was let pass":   {usual, func(r *Run) { r.Steps[0].Decisions[0].Check.Exit = 1; span(r, 0) }, nil},
		"no check":                    {usual, func(r *Run) { r.Steps[0].Decisions[0].Check = nil }, nil},
		"checks off":                  {usual, func(r *Run) { r.Steps[0].Decisions[0].Check = nil; span(r, 0) }, nil},
		"another command":             {usual, func(r *Run) { r.Steps[0].Decisions[0].Check.Run = "true" }, nil},
		"a command of the shell":      {usual, func(r *Run) { r.Steps[5].Decisions[1].How = "shell"; span(r, 5) }, nil},
		"one that is not listed":      {usual, func(r *Run) { r.Steps[5].Decisions[1].How = "shell" }, []string{"steps.decisions.how"}},
		"done in another way":         {usual, func(r *Run) { r.Steps[5].Decisions[1].Decision = "seen"; span(r, 5) }, nil},
		"hooks off while it was done": {usual, func(r *Run) { r.Steps[5].Decisions = nil; span(r, 5) }, nil},
		"a refusal":                   {usual, func(r *Run) { r.Steps[5].Decisions[1].Decision = "deny" }, nil},
		"no call of the skill":        {usual, func(r *Run) { r.Steps[5].Decisions = r.Steps[5].Decisions[1:] }, nil},
		"a step less":                 {usual, func(r *Run) { r.Steps = slices.Delete(r.Steps, 1, 2) }, nil},
		"only the first step":         {usual, func(r *Run) { r.Steps, r.Ended = r.Steps[:1], r.Steps[0].Ended }, nil},
		"a nested step less":          {usual, func(r *Run) { r.Steps, r.Ended = r.Steps[:7], r.Steps[6].Ended }, nil},
		"a step of an earlier round":  {usual, func(r *Run) { r.Steps[1].Earlier = true }, []string{"steps.earlier"}},
		"a step more": {usual, func(r *Run) { r.Steps = append(r.Steps, Step{ID: 9, Subject: "More", State: isDone}) },
			[]string{"steps", "steps.earlier"}},
		"an open step": {usual, func(r *Run) { r.Steps[1].State = isOpen }, nil},
		"a step without need": {usual, func(r *Run) { r.Steps[1].State, r.Steps[1].Decisions = notNeeded, nil },
			nil},
		"a step that was needed": {usual, func(r *Run) {
			r.Steps[2].Outcome, r.Steps[2].Decisions[0].Outcome, r.Steps[2].Decisions[1].Outcome = "wait", "wait", "wait"
		}, nil},
		"an end that was not": {usual, func(r *Run) { r.Ended = r.Ended.AddDate(0, 0, 1) }, nil},
		"long ago":            {usual + `, "maxAge": "1m"`, func(*Run) {}, nil},
	} {
		policy, err := parsePolicy([]byte(`{"policy": 1, ` + row.policy + `}`))
		require.NoError(t, err)
		s := newStatement(commitSubject(strings.Repeat("a", 40)), nil, shipped(strings.Repeat("d", 40)))
		problems := func() []string {
			parsed, err := parseStatement(must(s.encode()))
			if err != nil {
				return []string{err.Error()}
			}
			if len(parsed.Predicate.Nested) != 1 {
				return []string{"the workflows are others"}
			}
			found, _ := policy.judge(parsed.Predicate, someTime.Add(time.Hour))
			return append(found, parsed.Predicate.agree(specs)...)
		}
		row.change(&s.Predicate)
		require.NotEmpty(t, problems(), name)
		but := map[string]bool{}
		vary(reflect.ValueOf(&s).Elem(), "", func(path string) {
			if path = strings.TrimPrefix(path, "predicate."); len(problems()) == 0 {
				but[path] = true
			}
		})
		assert.Equal(t, row.but, slices.Sorted(maps.Keys(but)), name)
	}
}

// TestEveryMemberIsThere: a statement without one that every statement has is none, whatever it says.
func TestEveryMemberIsThere(t *testing.T) {
	r := shipped(strings.Repeat("d", 40))
	whole := newStatement(commitSubject(strings.Repeat("a", 40)), []Subject{fileSubject("x", digest("x"))}, r)
	value, tried := any(nil), 0
	require.NoError(t, json.Unmarshal(must(whole.encode()), &value))
	var without func(v any, required []string)
	schema := map[string]any{}
	require.NoError(t, json.Unmarshal(must(os.ReadFile(schemaFile)), &schema))
	without = func(v any, path []string) {
		switch v := v.(type) {
		case map[string]any:
			for name, was := range v {
				without(was, append(path, name))
				delete(v, name)
				_, err := parseStatement(must(json.Marshal(value)))
				if tried++; isRequired(schema, append(slices.Clone(path), name)) {
					require.Error(t, err, "%v %s", path, name)
				}
				v[name] = was
			}
		case []any:
			for _, element := range v {
				without(element, path)
			}
		}
	}
	without(value.(map[string]any)["predicate"], []string{"predicate"})
	require.Greater(t, tried, 100)
}

// isRequired reports whether a schema demands the member with this path.
func isRequired(schema map[string]any, path []string) bool {
	at := schema
	for i, name := range path {
		for at["properties"] == nil {
			if ref, ok := at["$ref"].(string); ok {
				at = schema["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
			} else if items, ok := at["items"].(map[string]any); ok {
				at = items
			} else {
				return true
			}
		}
		required, _ := at["required"].([]any)
		if i == len(path)-1 {
			return slices.Contains(required, any(name))
		}
		at, _ = at["properties"].(map[string]any)[name].(map[string]any)
	}
	return false
}

// paths returns the paths of all members of a type that have none themselves.
func paths(t reflect.Type, path string) (all []string) {
	switch {
	case t.Kind() == reflect.Pointer, t.Kind() == reflect.Slice:
		return paths(t.Elem(), path)
	case t.Kind() != reflect.Struct, t == reflect.TypeFor[time.Time]():
		return []string{strings.TrimPrefix(path, "predicate.")}
	}
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" {
			all = append(all, paths(t.Field(i).Type, strings.TrimPrefix(path+"."+name, "."))...)
		}
	}
	return all
}

// vary gives each member of a value other values, one after the other: other ones of its form, none, and one element more or less.
func vary(v reflect.Value, path string, try func(path string)) {
	with := func(other reflect.Value) {
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		v.Set(other)
		try(path)
		v.Set(was)
	}
	filled := func(t reflect.Type) reflect.Value {
		made := reflect.New(t).Elem()
		fill(made)
		return made
	}
	switch v.Kind() {
	case reflect.Struct:
		if at, ok := v.Interface().(time.Time); ok {
			for _, other := range []time.Time{at.AddDate(-1, 0, 0), at.AddDate(1, 0, 0), at.Add(-4 * time.Minute), at.Add(4 * time.Minute)} {
				with(reflect.ValueOf(other))
			}
			return
		}
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			vary(v.Field(i), strings.TrimPrefix(path+"."+name, "."), try)
		}
	case reflect.Pointer:
		if v.IsNil() {
			with(filled(v.Type()))
			return
		}
		vary(v.Elem(), path, try)
		with(reflect.Zero(v.Type()))
	case reflect.Slice:
		with(reflect.Append(v.Slice3(0, v.Len(), v.Len()), filled(v.Type().Elem())))
		for i := range v.Len() {
			vary(v.Index(i), path, try)
			with(reflect.AppendSlice(v.Slice3(0, i, i), v.Slice(i+1, v.Len())))
		}
	default:
		for _, other := range others(v.Interface()) {
			with(reflect.ValueOf(other))
		}
	}
}

// others returns other values of the same form.
func others(v any) []any {
	switch v := v.(type) {
	case int:
		return []any{v + 1, v - 1}
	case int64:
		return []any{v + 1, v - 1}
	case float64:
		return []any{v + 1}
	case bool:
		return []any{!v}
	case string:
		if regexp.MustCompile(`^[0-9a-f]{40,64}$`).MatchString(v) {
			return []any{strings.Repeat("9", len(v))}
		}
		if strings.Contains(v, "/") {
			return []any{"x" + v, ""}
		}
		return []any{v + "x", ""}
	}
	panic(v)
}
