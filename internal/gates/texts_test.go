package gates

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/facts"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// modelText is the denial of an update.
type modelText struct {
	verdict Verdict
	next    string // words of it that say what to do next
}

// modelTexts returns every text of this package that a model reads when an update is not
// carried out, by what it is about, each with the words that say what to do next.
func modelTexts() map[string]modelText {
	s := stateOf(stepLine{id: 1, status: pending}, stepLine{id: 2, status: inProgress, after: ids(1), approval: "Publish it?"},
		stepLine{id: 3, status: inProgress, check: true}, stepLine{id: 4, status: completed, check: true, approval: "Publish?\nReally?"})
	one, two, three, four := s.Step(1), s.Step(2), s.Step(3), s.Step(4)
	f := &Frame{Store: state.Store{List: tasks.List{Dir: "/c/tasks/s1"}, Session: "s1"}}
	in := func(s *state.State, target *state.Current, u Update, v Verdict) Verdict {
		c := &call{Frame: f, update: u, target: &state.RecordedStep{Step: &target.Step, Workflow: target.Workflow}}
		return f.withPastHint(c, c.finalDecision(s, target, v, nil).verdict, untold)
	}
	of := func(target *state.Current, u Update, v Verdict) Verdict { return in(s, target, u, v) }
	complete := Update{Task: "2", Status: completed}
	running := *s
	running.Pending = []state.Pending{{Step: 1}}
	about := *s
	ago(&about, time.Second, 1, completed, state.Allow)
	circle := stateOf(stepLine{id: 1, status: pending, after: ids(2)}, stepLine{id: 2, status: pending, after: ids(1)})
	asked := stateFrom(ago(stateOf(stepLine{id: 2, status: inProgress}), 0, 2, completed, state.Ask), inProgress)
	many := *s
	for range 3 {
		many.Evidence = append(many.Evidence, state.Evidence{Step: 3, From: inProgress, To: completed, Verdict: state.Deny,
			Why: "check failed: exit status 1", Check: &state.Result{Run: "make"}})
	}
	failed := check(three, state.Result{Run: "make", Exit: 1, Output: "no"})
	third := (&call{Frame: f, update: Update{Task: "3", Status: completed},
		target: &state.RecordedStep{Step: &three.Step}}).finalDecision(&many, three,
		failed, nil).verdict
	all := map[string]modelText{
		"order":                {of(two, complete, order(s, two, complete)), `Ready now: #1 "A"`},
		"order, check running": {of(two, complete, order(&running, two, complete)), "wait until it ends, then try again"},
		"order, about to be":   {of(two, complete, order(&about, two, complete)), "try again in the next message"},
		"plan mode": {of(three, Update{Task: "3", Status: completed}, planning(three, &run{step: three, kind: workflow.CheckPasses,
			Check: &Check{Run: "make"}}, completed)), "Leave plan mode, then complete the step again"},
		"order, circle": {of(two, complete, order(circle, circle.Step(2), complete)), "only a person can go past that"},
		"moved": {of(two, complete, (&call{Frame: f}).nowhere(two, fact{dir: "/p", away: "is gone"})),
			`who can say where it is now: fsmtx step move DIR --because "..." --session=s1`},
		"unchanged": {of(two, complete, files(two, workflow.AtCompletion, fact{dir: "/p", Sight: facts.Sight{Unchanged: []string{"a"}}})),
			"complete the step again: it is recorded as unchanged, and the person is told"},
		"check, third time": {third, "for the 4th time: stop trying, and ask the person what to do"},
		"checks, too long": {of(three, complete, slow(three, three, time.Minute, time.Second)),
			`Tell the person: "fsmtx install" repairs the hook`},
		"check is running": {of(one, complete, runningOf(&running, one)), "wait until it ends"},
		"completed meanwhile": {of(one, Update{Task: "1", Status: inProgress}, (&call{Frame: f, update: Update{Status: inProgress, Use: "u"}}).
			running(&about, one)), "so it need not be started"},
		"another step":        {of(two, complete, blamed(four, unapproved(four))), "Set it to in_progress and complete it again"},
		"nobody can be asked": {of(two, complete, unattended(two)), "A person can go past this"},
		"said no": {of(two, complete, answered(asked, asked.Step(2), complete, false, state.ByElicitation)),
			"Ask them what is missing"},
		"out of date": {of(two, complete, answered(s, two, complete, true, state.ByElicitation)), "Complete it again"},
		"deletion": {of(one, complete, keep(s, one, Update{Task: "1", Status: workflow.Deleted})),
			`they can skip it with fsmtx step skip 1 --because "..." --session s1 (or: fsmtx step done ...), and end its whole workflow with ` +
				`fsmtx step end 1 --because "..." --session s1`},
		"edit": {edit("/c/tasks/s1/1.json", "/c/tasks/s1"),
			"Use your task tools, the tools of the workflow, or fsmtx start and fsmtx complete"},
		"registered twice":       {twinVerdict(s, one, state.Evidence{Verdict: state.Deny, Why: "order: #1 not done"}), "fsmtx doctor reports"},
		"registered twice, asks": {twinVerdict(s, two, state.Evidence{Verdict: state.Ask, Question: "Is it good?"}), "Yes completes the step"},
	}
	for i, g := range gateCases(four) {
		if !g.verdict.Allowed() {
			all[fmt.Sprint("gate ", i)] = modelText{of(four, complete, g.verdict), g.reason}
		}
	}
	kept, cases := keepCases()
	for name, k := range cases {
		if k.want != "" {
			all["keep "+name] = modelText{in(kept, kept.Step(2), complete, k.verdict(kept)), k.want}
		}
	}
	for _, more := range []map[string]modelText{flowTexts(f), treeTexts(f), callTexts(f), itemTexts(f)} {
		maps.Copy(all, more)
	}
	return all
}

// itemTexts are the texts of modelTexts about steps that are done for lines.
func itemTexts(f *Frame) map[string]modelText {
	s := flowState([]Step{{Subject: "A", Each: &workflow.Each{Run: runs("ls"), Workflow: `{"fsm":2,"steps":[{"id":1,"subject":"A"}]}`}}})
	one := s.Step(1)
	off := *f
	off.NoChecks = true
	c := &call{Frame: &off, update: Update{Task: "1", Status: inProgress}, target: &state.RecordedStep{Step: &one.Step}, begun: time.Now(),
		facts: map[factKey]fact{}}
	return map[string]modelText{
		"items first":   {itemsFirst(one), "cannot be completed before the tasks for the lines of its command"},
		"locked":        {listLocked(one), "Try again"},
		"no lines":      {noLines(one, "the file a does not exist", nil), "Mend that, then start it again"},
		"no lines, off": {f.withPastHint(c, c.decideLines(s, one, nil).verdict, untold), "A person can go past this"},
	}
}

// treeTexts are the texts of modelTexts about workflows under steps.
func treeTexts(f *Frame) map[string]modelText {
	w := &workflow.Workflow{Command: "notes", Parent: 1}
	s := stateOf(stepLine{id: 1, status: inProgress}, stepLine{id: 2, status: completed})
	for i, parent := range ids(1, 2) {
		under := *w
		under.Parent = parent
		s.Steps = append(s.Steps, &state.Current{Step: Step{ID: int64(11 + i), Subject: "inner"}, Workflow: &under, Status: pending})
	}
	s.Evidence = []state.Evidence{{Step: 2, To: completed, Verdict: state.SeenDone, Outcome: machine.Done}}
	proved(s).Fold()
	complete := Update{Task: "1", Status: completed}
	c := &call{Frame: f, update: complete, target: &state.RecordedStep{Step: &s.Step(1).Step}}
	return map[string]modelText{
		"skill": {f.withPastHint(c, c.finalDecision(s, s.Step(1), called(&state.Current{Step: Step{ID: 1, Subject: "A", Do: "notes"},
			Status: inProgress}), nil).verdict, untold), "call it, do what it says"},
		"under it": {f.withPastHint(c, c.finalDecision(s, s.Step(1), order(s, s.Step(1), complete), nil).verdict, untold),
			`Ready now: #11 "inner"`},
		"not any more": {isDone(s, s.Step(12), "s1"), `Ready now: #11 "inner"`},
	}
}

// flowTexts are the texts of modelTexts about a workflow with outcomes.
func flowTexts(f *Frame) map[string]modelText {
	s := flowState([]Step{
		{Subject: "A", Outcomes: []Outcome{{Name: "fine"}, {Name: "again", Back: 1, Max: 1},
			{Name: "late-one", Back: 1, Max: 1, Then: "never"}, {Name: "never"}}},
		{Subject: "B", Decides: "person", Outcomes: []Outcome{{Name: "merge"}, {Name: "drop", Stop: true}}},
		{Subject: "C", Decides: "command", Chooser: runs("cat kind"), Outcomes: []Outcome{{Name: "x"}, {Name: "y"}}},
		{Subject: "D"},
		{Subject: "E", Set: []Value{{Name: "version", Pattern: "^[0-9.]+$"}, {Name: "branch", Command: runs("git branch")}}},
		{Subject: "F", Produces: []string{"{version}/x"}, Ready: []string{"{goal}"}},
	})
	s.Evidence = []state.Evidence{{Step: 1, Verdict: state.Allow, To: pending, Outcome: "again", Reopens: ids(1)},
		{Step: 4, Verdict: state.SeenDone, To: completed, Outcome: "done"}}
	s.Fold()
	end := func(id int64, word string, change func(*call)) Verdict {
		c := &call{Frame: f, update: Update{Task: message.Itoa(id), Status: completed, Outcome: word},
			target: &state.RecordedStep{Step: &s.Step(id).Step},
			begun:  time.Now(), facts: map[factKey]fact{}}
		if change != nil {
			change(c)
		}
		e := &ending{c: c, s: s, step: s.Step(id)}
		_, _ = e.end()
		return f.withPastHint(c, c.finalDecision(s, s.Step(id), e.verdict, nil).verdict, untold)
	}
	chosen := func(output string) func(*call) {
		return func(c *call) {
			c.facts[factKey{3, workflow.CommandDecides}] = fact{result: &state.Result{Run: "cat kind", Output: output}}
		}
	}
	stands := func(*call) {
		s.Evidence = append(s.Evidence, state.Evidence{Time: s.Time, Step: 1, Verdict: state.Allow, To: completed, Outcome: "fine"})
		s.Fold()
	}
	answered := func(c *call) {
		s.Evidence = append(s.Evidence, state.Evidence{Step: 2, Verdict: state.Answer, Outcome: "merge", Round: 1})
	}
	off := *f
	off.NoChecks = true
	mute := *f
	f.Questions = "AskUserQuestion"
	values := func(object string) func(*call) {
		return func(c *call) { c.update.Values = []byte(object) }
	}
	printed := func(output string) func(*call) {
		return func(c *call) {
			c.update.Values = []byte(`{"version": "1"}`)
			c.facts[factKey{5, workflow.PrintedBy("branch")}] = fact{result: &state.Result{Run: "git branch", Output: output}}
		}
	}
	repeated := func(id int64, u Update) Verdict {
		applied := *f
		applied.Apply, u.Task, u.Status = true, message.Itoa(id), completed
		c := &call{Frame: &applied, update: u, target: &state.RecordedStep{Step: &s.Step(id).Step}}
		return applied.withPastHint(c, c.denyIgnored(s, s.Step(id)), untold)
	}
	noPath := func(g workflow.Gate) Verdict {
		return f.withPastHint(&call{Frame: f, target: &state.RecordedStep{Step: &s.Step(6).Step}}, pathFault(s, s.Step(6), g, "s1"), untold)
	}
	return map[string]modelText{
		"no outcome":      {end(1, "", nil), `Complete it with metadata {"outcome": "fine"}, or with late-one`},
		"unknown outcome": {end(1, "late-won", nil), `it cannot end as "late-won". Complete it with metadata {"outcome": "late-one"}`},
		"the machine's":   {end(1, "never", nil), `nobody chooses "never". Complete it with metadata`},
		"spent": {end(1, "again", nil),
			`it has led back as often as it may (once). Complete it with metadata {"outcome": "fine"}, or with late-one`},
		"let through already": {end(1, "late-one", stands),
			"is being let through as fine: another update of it is on its way. Try again in the next message"},
		"a person has to": {end(2, "merge", nil),
			"Ask them with AskUserQuestion: \"How does #2 end?\", with exactly these options: merge, drop. Then complete it"},
		"a person has to, in a terminal": {end(2, "merge", func(c *call) { c.Frame = &mute }),
			`Tell them: it can end as merge or drop, which they say in a terminal outside the client: fsmtx step done 2 --outcome NAME`},
		"the person chose":     {end(2, "drop", answered), "the person chose merge"},
		"a command decides":    {end(3, "x", nil), "leave the outcome out"},
		"no word of a command": {end(3, "", chosen("z")), "the last line of its command has to be x or y"},
		"commands are off":     {end(3, "", func(c *call) { c.Frame = &off }), "A person can say how it ends: fsmtx step done 3 --outcome NAME"},
		"no value":             {end(5, "", nil), `it has to give version, which matches ^[0-9.]+$. Complete it with metadata {"version": "…"}`},
		"a wrong value": {end(5, "", values(`{"version": "1.x"}`)),
			`version is "1.x", and it does not match ^[0-9.]+$. Complete it with metadata {"version": "…"}`},
		"not a value":           {end(5, "", values(`{"version": [1]}`)), `version has to be a text, a number or a boolean. Complete it`},
		"an unknown value":      {end(5, "", values(`{"version": "1", "verison": "1"}`)), `it sets version. Leave the others out`},
		"a command gives it":    {end(5, "", values(`{"version": "1", "branch": "main"}`)), `a command gives branch. Leave it out`},
		"no value of a command": {end(5, "", printed("a\nb")), `the output of its command is "a b", which has to be branch: one line`},
		"values are off": {end(5, "", func(c *call) { c.Frame, c.update.Values = &off, []byte(`{"version": "1"}`) }),
			`A person can give it: fsmtx step done 5 --set branch=... --because`},
		"no path": {noPath(workflow.Gate{When: workflow.AtCompletion, Patterns: s.Step(6).Produces}),
			`#5 "E" gives it. Tell the person, who can open that step again in a terminal: fsmtx step reopen 5`},
		"no path, args": {noPath(workflow.Gate{When: workflow.AtStart, Patterns: s.Step(6).Ready}),
			`Tell the person: the skill has to be called with other arguments`},
		"it is done":      {isDone(s, s.Step(4), "s1"), "A person can open it again in a terminal"},
		"ended otherwise": {repeated(4, Update{Outcome: "late"}), `#4 "D" ended as done and is done`},
		"no outcomes":     {end(6, "late", nil), `#6 "F" has no outcomes. Leave the outcome out`},
		"not on record":   {notSentBack(s.Step(1), syscall.ENOSPC), "Complete it again; if that does not help, tell the person"},
	}
}

// callTexts are the texts of modelTexts about calls that belong to steps.
func callTexts(f *Frame) map[string]modelText {
	s := flowState([]Step{{Subject: "A"}, {Subject: "B", BlockedBy: ids(1), Only: []string{"Bash(git push *)"}}})
	listed := rulesOf(state.RecordedSteps{{Step: &s.Steps[1].Step, Workflow: s.Steps[1].Workflow}})
	call := func(line string) Verdict {
		c := &call{Frame: f, begun: time.Now()}
		v, _, _ := c.decideCall(s, ToolCall{Tool: "Bash", Line: line}.covered(listed))
		return v
	}
	return map[string]modelText{
		"a call": {call("git push"), `git push belongs to #2 "B", which waits for #1 "A". Ready: #1 "A".` + "\n" +
			`A person can let one such call through, in a terminal outside the client: fsmtx step allow 'Bash(git push *)'`},
		"a line with a mistake": {call("git push \""), "Write the line plainly"},
	}
}

// flowState returns the state of a workflow with outcomes whose steps are in progress.
func flowState(all []Step) *state.State {
	w := &workflow.Workflow{Version: workflow.Version, Values: true, Command: "release", Dir: "/p", Vars: map[string]string{"goal": "a/b"}}
	s := &state.State{Time: time.Now()}
	for i, step := range all {
		step.ID, step.Local, step.Status = int64(i+1), int64(i+1), pending
		w.Steps = append(w.Steps, step)
		s.Steps = append(s.Steps, &state.Current{Step: step, Workflow: w, Status: inProgress})
	}
	text, err := w.Encode()
	if err != nil {
		panic(err)
	}
	if *w, err = workflow.ParseWorkflow(text); err != nil {
		panic(err)
	}
	s.Fold()
	return s
}

func runningOf(s *state.State, c *state.Current) Verdict {
	return (&call{Frame: &Frame{}, update: Update{Status: completed}}).running(s, c)
}

// stateFrom sets the status before the last decision.
func stateFrom(s *state.State, status string) *state.State {
	s.Evidence[len(s.Evidence)-1].From = status
	return s
}

// TestTextsForTheModel: each is short, names the step, says what to do next, and names no
// command that goes round a rule without saying that a person has to run it.
func TestTextsForTheModel(t *testing.T) {
	for name, m := range modelTexts() {
		t.Run(name, func(t *testing.T) {
			text := m.verdict.Reason
			require.False(t, m.verdict.Allowed())
			assert.Contains(t, text, m.next)
			assert.Less(t, len(text), 700, text)
			assert.NotContains(t, text, "  ")
			assert.NotContains(t, text, "..\n")
			assert.NotContains(t, text, "%!")
			if name != "edit" {
				assert.Contains(t, text, "#", "the step")
			}
			for _, command := range []string{"fsmtx step", "fsmtx undo"} {
				if before, _, ok := strings.Cut(text, command+" "); ok && !strings.HasPrefix(text[len(before):], "fsmtx step is registered") {
					assert.Regexp(t, "person", before, "who runs it")
				}
			}
			if name == "deletion" || strings.HasPrefix(name, "keep ") {
				assert.NotContains(t, text, "A person can go past this", "the commands do not do that")
			}
		})
	}
}

// TestTextsForTheModelAreAllInTheTable: every reason of a denial in the source is the Why of
// a verdict in the table.
func TestTextsForTheModelAreAllInTheTable(t *testing.T) {
	var whys []string
	for _, m := range modelTexts() {
		whys = append(whys, m.verdict.Why)
	}
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	found := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 2 {
				return true
			}
			name, ok := call.Fun.(*ast.Ident)
			if !ok || name.Name != "deny" && name.Name != "refuse" {
				return true
			}
			for _, part := range []ast.Expr{call.Args[0], call.Args[1]} {
				if sum, ok := part.(*ast.BinaryExpr); ok {
					part = sum.X
				}
				if literal, ok := part.(*ast.BasicLit); ok {
					found++
					why, err := strconv.Unquote(literal.Value)
					require.NoError(t, err)
					assert.True(t, slices.ContainsFunc(whys, func(w string) bool { return strings.Contains(w, why) }),
						"%s: no text in the table has the reason %q", e.Name(), why)
					break
				}
			}
			return true
		})
	}
	require.Greater(t, found, 12)
}

// untold is for a text that nobody has been told yet.
func untold(string) bool { return false }

// TestTheNewsOfAWorkflow names its own steps only.
func TestTheNewsOfAWorkflow(t *testing.T) {
	s := stateOf(stepLine{id: 1, status: completed, passed: true}, stepLine{id: 2, status: pending})
	other := stateOf(stepLine{id: 3, status: completed, passed: true})
	other.Steps[0].Workflow = &workflow.Workflow{Command: "ship"}
	s.Steps = append(s.Steps, other.Steps...)
	proved(s)
	done := []*state.Current{s.Steps[0], s.Steps[2]}
	assert.Equal(t, []string{`release: 1 of 2 done: #1 "A"`, `ship: 1 of 1 done: #3 "C"`}, progressOf(s, done))
	assert.Equal(t, []string{`release: 1 of 2 done: #1 "A"`}, progressOf(s, done[:1]))
}

// TestWrongLinesAreToldWithWhatToDo, on a line of its own behind the output of a command.
func TestWrongLinesAreToldWithWhatToDo(t *testing.T) {
	c := stateOf(stepLine{id: 1, status: pending}).Steps[0]
	c.Each = &workflow.Each{Lines: "list"}
	for wrong, mend := range map[string]string{"line 2 is twice": ". Mend", "it failed:\nno such file": "\nMend"} {
		assert.Equal(t, `#1 "A" cannot be started: it is done for each line of list, and `+wrong+mend+" that, then start it again",
			noLines(c, wrong, nil).Reason)
	}
}

// wide is a workflow of forty steps in two loops, one inside the other, with subjects that are
// as long as they may be: every outcome leads as far as it can.
func wide() *state.State {
	long := strings.Repeat("A subject that goes on and on, ", 12)
	all := make([]Step, 40)
	for i := range all {
		all[i].Subject, all[i].Description = long, strings.Repeat("D", 100)
		if i > 0 && i < 39 {
			all[i].BlockedBy = ids(1)
		}
	}
	for id := int64(1); id <= 39; id++ {
		all[39].BlockedBy = append(all[39].BlockedBy, id)
	}
	all[0].Outcomes = []Outcome{{Name: "done"}, {Name: "a-name-of-thirty-one-characters", Back: 1, Max: 100}}
	all[1].When = []Condition{{Step: 1, Outcomes: []string{"done"}}}
	all[38].BlockedBy, all[38].When = ids(1), nil
	all[39].Outcomes = []Outcome{{Name: "approved"}, {Name: "changes", Back: 1, Max: 3}, {Name: "over", Stop: true},
		{Name: "failed", Back: 2, Max: 3}}
	all[39].Check = runs("make test")
	return flowState(all)
}

// TestWhatTheAgentReadsAtATransition: every transition of every step, at most 600 characters
// beside the description of what is ready and the output of a check.
func TestWhatTheAgentReadsAtATransition(t *testing.T) {
	texts := map[string]string{}
	add := func(name string, s *state.State, id int64, outcome string) {
		c := s.Step(id)
		after, tr, err := s.Flows[c.Workflow].Conclude(id, outcome)
		require.NoError(t, err)
		if state.IsBack(tr) {
			texts[name+", back"] = s.Turned(c, tr, "", s.Numbered(after.Ready()), &state.Result{Output: "THE-OUTPUT"})
		}
		s.Evidence = append(s.Evidence, state.Evidence{Step: id, Verdict: state.SeenDone, To: completed, Outcome: outcome,
			NotNeeded: tr.NotNeeded,
			Reopens:   tr.Reopens})
		s.Fold()
		texts[name+", seen"] = s.SeenText(s.Evidence[len(s.Evidence)-1:], true)
	}
	for _, outcome := range []string{"approved", "changes", "over", "failed"} {
		s := wide()
		for id := int64(1); id < 40; id++ {
			s.Evidence = append(s.Evidence, state.Evidence{Step: id, Verdict: state.SeenDone, To: completed, Outcome: machine.Done})
		}
		s.Fold()
		add("the last step ends as "+outcome, s, 40, outcome)
	}
	for _, outcome := range []string{"done", "a-name-of-thirty-one-characters"} {
		add("the first step ends as "+outcome, wide(), 1, outcome)
	}
	s := wide()
	c := s.Step(1)
	many := s.Numbered(ids(2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13))
	s.Evidence = []state.Evidence{{Step: 40, Verdict: state.Override, Why: state.EndWord + "x"}}
	texts["not needed, with much that is ready"] = s.SeenText([]state.Evidence{{Step: 1,
		NotNeeded: ids(2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)}}, true)
	texts["a loop, with much that is ready"] = s.Turned(c, machine.Transition{Outcome: "changes", Times: 100,
		Max: 100, Reopens: ids(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)}, "a-name-of-thirty-one-characters", many, nil)
	longest := 0
	for name, text := range texts {
		text = strings.Replace(text, strings.Repeat("D", 100), "", 1)
		if at := strings.Index(text, "\nThe check failed ("); at >= 0 {
			text = text[:at]
		}
		n := utf8.RuneCountInString(text)
		longest = max(longest, n)
		assert.LessOrEqual(t, n, 600, "%s: %s", name, text)
	}
	assert.Greater(t, longest, 300, "the cases are not the long ones")
	assert.Contains(t, texts["a loop, with much that is ready"], "and 2 more are open again. Ready: #2")
}

// TestStopAndResumeSpeakOfRounds: an agent that has lost its context, or is sent back, reads
// what is open again, and in which round.
func TestStopAndResumeSpeakOfRounds(t *testing.T) {
	s := flowState([]Step{{Subject: "Implement"}, {Subject: "Review", BlockedBy: ids(1),
		Outcomes: []Outcome{{Name: "approved"}, {Name: "changes", Back: 1, Max: 2}}}})
	agent, _ := sentBack(s, s.Ready(), Stopping{Mode: Remind}, "")
	assert.NotContains(t, agent+resumed(s), "round")
	s.Evidence = []state.Evidence{{Step: 1, Verdict: state.SeenDone, To: completed, Outcome: "done"},
		{Step: 2, Verdict: state.Allow, To: pending, Outcome: "changes", Reopens: ids(1, 2)}}
	s.Fold()
	agent, told := sentBack(s, s.Ready(), Stopping{Mode: Remind}, "")
	assert.Contains(t, agent, `#1 "Implement" (round 2 of 3) is in progress.`)
	assert.Contains(t, told, `#1 "Implement" (round 2 of 3)`)
	assert.Contains(t, resumed(s), "Open again: #1 \"Implement\" (round 2 of 3) and #2 \"Review\" (round 2 of 3)\n")
}

// said returns all that other packages ask about the steps of a list: a line for each step, with
// what does not apply to it left out.
func said(t *testing.T, s *state.State) string {
	var lines []string
	for _, c := range s.Steps {
		words := []string{fmt.Sprint(c.ID, " ", s.Word(c))}
		add := func(what, text string) {
			if text != "" {
				words = append(words, what+text)
			}
		}
		add("as ", c.Outcome)
		add("because ", c.WhyNotNeeded())
		add("", strings.TrimSpace(c.Rounds()))
		add("", strings.TrimSpace(s.Items(c)))
		add("item ", s.Item(c))
		add("", strings.TrimSpace(s.Belongs(c)))
		add("", s.OverText(c)+s.OverLimit(c))
		if c.PartOf() != 0 {
			add("in ", message.Itoa(c.PartOf()))
		}
		if s.Copied(c) != (s.Item(c) != "") {
			add("", "copied or not")
		}
		if s.Undecided(c) {
			add("", "undecided")
		}
		if s.AwaitsPerson(c) {
			add("", "asked")
		}
		if waits := s.Waits(c); len(waits) > 0 {
			add("after ", fmt.Sprint(waits))
		}
		var choices []string
		for _, o := range s.Choosable(c) {
			text := fmt.Sprintf("%s by %s", o.Name, o.ChosenBy)
			if o.Back != 0 {
				text += fmt.Sprintf(" to %d, %d of %d", o.Back, o.Used, o.Max)
			}
			if o.Then != "" {
				text += ", then " + o.Then
			}
			if o.ChosenBy != "machine" {
				choices = append(choices, o.Name)
			}
			if text != "done by agent" {
				add("", text)
			}
		}
		if len(c.Outcomes) > 0 {
			assert.Equal(t, choices, c.Choices())
		}
		lines = append(lines, strings.Join(words, "; "))
	}
	return strings.Join(lines, "\n") + "\n\n"
}

// TestWhatIsSaidOfSteps: parts, copies, a loop, a condition, a time limit, and a person's choice.
func TestWhatIsSaidOfSteps(t *testing.T) {
	all := ""
	l := ofSpec(t, `{"fsm": 2, "steps": [
 {"id": 1, "subject": "List", "outcomes": {"some": {}, "none": {}}},
 {"id": 2, "subject": "Migrate", "blockedBy": [1], "when": {"1": "some"}, "each": {"lines": "lines"}, "do": [
   {"id": 1, "subject": "Change {item}", "do": [{"id": 1, "subject": "Edit", "within": "1h"}]},
   {"id": 2, "subject": "Test {item}", "check": "false", "blockedBy": [1], "outcomes": {"failed": {"back": 1, "max": 1, "then": "parked"}, "parked": {}}}]},
 {"id": 3, "subject": "Decide", "blockedBy": [2], "decides": "person", "outcomes": {"again": {"back": 2, "max": 2}, "fine": {}}},
 {"id": 4, "subject": "Mourn", "when": {"1": "none"}},
 {"id": 5, "subject": "Tell", "blockedBy": [3, 4], "approval": "Told?"}
]}`)
	all += said(t, l.state())
	l.end(1, "some")
	l.write("lines", "a\nb")
	l.begin(2)
	l.begin(8)
	s := l.state()
	s.Time = s.Time.Add(2*time.Hour + 3*time.Minute)
	all += said(t, s)
	assert.Equal(t, "", s.Returned(1)+s.Returned(8)+s.Returned(99))

	l.end(8, "")
	assert.Equal(t, `The parts of #6 are done. Go on with #6 "Change a" (for "a" of #2)`, l.state().Returned(8))
	l.end(6, "")
	require.NotNil(t, l.end(7, "").Turn)
	l.ended(8, 6, 7)
	all += said(t, l.state())
	assert.Equal(t, `The item "a" is done. #2 "Migrate" still waits for the item "b", of which #9 "Change b" and #10 "Test b" are `+
		`open. Ready now: #11 "Edit: b"`, l.state().Returned(7))
	l.ended(11, 9)
	l.skip(10)
	assert.Equal(t, `The item "b" is done. Every item is. Go on with #2 "Migrate" (its 2 items are done: complete it)`, l.state().Returned(10))
	l.end(2, "")
	l.past(Past{Step: 3, Done: true, Outcome: "fine"})
	require.Equal(t, state.Ask, l.end(5, "").Decision)
	l.remove(11)
	all += said(t, l.state())
	golden(t, "said.txt", all)
}
