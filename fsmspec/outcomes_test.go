package fsmspec_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
)

// review is implement, test, review, settle, open the pull request.
const review = `{"fsm": 2, "steps": [
 {"id": 1, "subject": "Implement the change"},
 {"id": 2, "subject": "Test it", "blockedBy": [1], "check": "make test", "outcomes": {"failed": {"back": 1, "max": 3}}},
 {"id": 3, "subject": "Review the diff", "blockedBy": [2], "produces": ["REVIEW.md"],
  "outcomes": {"approved": {"check": "! grep -q '^BLOCKER' REVIEW.md", "approval": true}, "changes": {"back": 1, "max": 3, "then": "disputed"}, "disputed": {}}},
 {"id": 4, "subject": "Let the person settle it", "when": {"3": "disputed"}, "decides": "person", "outcomes": {"merge": {}, "drop": {"stop": true}}},
 {"id": 5, "subject": "Choose", "blockedBy": [3, 4], "decides": {"run": "scripts/kind", "timeout": 9, "env": ["PATH"]}, "outcomes": ["major", "minor"]},
 {"id": 6, "subject": "Write the notes", "when": {"5": ["major", "minor"], "3": ["approved", "disputed"]}}
]}`

func TestParseOutcomes(t *testing.T) {
	spec := parsed(t, review)
	assert.Equal(t, fsmspec.WithOutcomes, spec.Version())
	assert.Empty(t, spec.Warnings())
	var flows []fsmspec.Task
	for _, task := range spec.Tasks() {
		flows = append(flows, fsmspec.Task{Outcomes: task.Outcomes, Decides: task.Decides, Chooser: task.Chooser, When: task.When})
	}
	assert.Equal(t, []fsmspec.Task{
		{},
		{Outcomes: []fsmspec.Outcome{{Name: "failed", Back: 1, Max: 3}}},
		{Outcomes: []fsmspec.Outcome{
			{Name: "approved", Check: &fsmspec.Check{Run: "! grep -q '^BLOCKER' REVIEW.md",
				Timeout: fsmspec.DefaultCheckTimeout}, Approval: `May "Review the diff" end as approved?`},
			{Name: "changes", Back: 1, Max: 3, Then: "disputed"}, {Name: "disputed"}}},
		{When: []fsmspec.Condition{{Step: 3, Outcomes: []string{"disputed"}}}, Decides: fsmspec.ByPerson,
			Outcomes: []fsmspec.Outcome{{Name: "merge"}, {Name: "drop", Stop: true}}},
		{Decides: fsmspec.ByCommand, Chooser: &fsmspec.Check{Run: "scripts/kind", Timeout: 9 * time.Second, Env: &[]string{"PATH"}},
			Outcomes: []fsmspec.Outcome{{Name: "major"}, {Name: "minor"}}},
		{When: []fsmspec.Condition{{Step: 5, Outcomes: []string{"major", "minor"}}, {Step: 3, Outcomes: []string{"approved", "disputed"}}}},
	}, flows)
}

func TestBound(t *testing.T) {
	assert.Equal(t, "at most 39 steps are completed: the loop 1–2 up to 4 times, inside 1–3 up to 4 times", parsed(t, review).Bound().String())
	assert.Equal(t, "at most 4 steps are completed: step 1 up to 4 times", parsed(t,
		`{"fsm": 2, "steps": [{"id": 1, "subject": "A", "outcomes": {"again": {"back": 1, "max": 3}}}]}`).Bound().String())
	assert.Equal(t, "at most 2 steps are completed", parsed(t, many(2)).Bound().String())
	back := func(id int, loops string) string {
		return fmt.Sprintf(`{"id": %[1]d, "subject": "%[1]d", "blockedBy": [%d], "outcomes": {"on": {}%s}}`, id, id-1, loops)
	}
	file := func(more ...string) string {
		return `{"fsm": 2, "steps": [{"id": 1, "subject": "A"}, ` + strings.Join(more, ", ") + `]}`
	}
	for text, want := range map[string]string{
		file(back(2, `, "a": {"back": 1, "max": 1}`), back(3, ``),
			back(4, `, "a": {"back": 3, "max": 2}`)): "at most 10 steps are completed: the loop 1–2 up to 2 times, the loop 3–4 up to 3 times",
		file(back(2, `, "a": {"back": 2, "max": 1}`), back(3, `, "a": {"back": 3, "max": 2}`),
			back(4, `, "a": {"back": 1, "max": 1}`)): "at most 14 steps are completed: step 2 up to 2 times, step 3 up to 3 times, " +
			"both inside 1–4 up to 2 times",
		file(back(2, `, "a": {"back": 2, "max": 1}`), back(3, `, "a": {"back": 1, "max": 1}`),
			back(4, `, "a": {"back": 1, "max": 1}`)): "at most 18 steps are completed: step 2 up to 2 times, inside 1–3 up to 2 " +
			"times, inside 1–4 up to 2 times",
		`{"fsm": 2, "steps": [{"id": 1, "subject": "A", "do": [{"id": 1, "subject": "p"}, {"id": 2, "subject": "q", "blockedBy": [1], ` +
			`"outcomes": {"a": {"back": 1, "max": 1}}}], "outcomes": {"again": {"back": 1, "max": 2}}}]}`: "at most 15 steps are completed: the " +
			"loop 1.1–1.2 up to 2 times, inside step 1 up to 3 times",
	} {
		assert.Equal(t, want, parsed(t, text).Bound().String())
	}
	assert.Equal(t, "at most 1 step is completed", parsed(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "A"}]}`).Bound().String())
}

func TestCommands(t *testing.T) {
	var all []string
	for _, task := range parsed(t, review).Tasks() {
		for _, c := range task.Commands() {
			all = append(all, c.Run)
		}
	}
	assert.Equal(t, []string{"make test", "! grep -q '^BLOCKER' REVIEW.md", "scripts/kind"}, all)
}

func TestShownDescriptions(t *testing.T) {
	spec := parsed(t, strings.Replace(review, `"Review the diff",`, `"Review the diff", "description": "Read it all.",`, 1))
	var all []string
	for i := range spec.Tasks() {
		all = append(all, shown(spec, i, 40))
	}
	assert.Equal(t, []string{"", "",
		"Read it all.\nEnds as: approved, or changes (back to #41, 3 times at most). Complete it with metadata {\"outcome\": \"approved\"}.",
		"Ends as: merge, or drop (ends the workflow). The person decides how it ends: they are asked, with exactly these options.",
		"Ends as: major, or minor. A command decides when you complete it.",
		""}, all)
	plan := must(parsed(t, review).Plan("x", fsmspec.Snapshot{MaxID: 40}, fsmspec.Policy{}))
	assert.Contains(t, plan.Creations()[2].Description, `(back to #41, 3 times at most)`)
}

// TestReservedFields: an array with a field that only the object form has is refused. An
// older program would ignore the field and run every branch at once.
func TestReservedFields(t *testing.T) {
	for _, field := range []string{"outcomes", "decides", "when", "do", "each", "set", "only", "within"} {
		for _, value := range []string{"1", "null", "{}"} {
			invalid := refused(t, `[{"id": 3, "subject": "A", "`+field+`": `+value+`}]`)
			assert.Equal(t, `1:28 /0/`+field+` task 3 ("A"): `+field+` needs {"fsm": 2, "steps": […]} instead of an array`,
				strings.Join(lines(invalid.Problems), "\n"))
		}
	}
}

func TestRefusedObjects(t *testing.T) {
	step := `{"id": 1, "subject": "A"}`
	for _, c := range []struct{ name, file, want string }{
		{"without fsm", `{"steps": [` + step + `]}`, `1:1 - missing "fsm", the version of the format: write {"fsm": 2, "steps": […]}`},
		{"fsm 1", `{"fsm": 1, "steps": [` + step + `]}`,
			`1:9 - "fsm": 1 is not written as an object: write the array of the steps alone, or {"fsm": 2, "steps": […]}`},
		{"a newer version", `{"fsm": 3, "steps": [{"new": "things"}], "more": 1}`,
			`1:9 - this file needs a newer fsmtx: it has version 3 of the format, and this program knows up to 2`},
		{"a newer version, last", `{"steps": [{"new": "things"}], "fsm": 17}`,
			`1:39 - this file needs a newer fsmtx: it has version 17 of the format, and this program knows up to 2`},
		{"fsm of another type", `{"fsm": "2", "steps": [` + step + `]}`, `1:9 - fsm must be the number 2, not "2"`},
		{"fsm null", `{"fsm": null, "steps": [` + step + `]}`, `1:9 - fsm must be the number 2, not null`},
		{"fsm 0", `{"fsm": 0, "steps": []}`, `1:9 - fsm must be the number 2, not 0`},
		{"without steps", `{"fsm": 2}`, `1:1 - missing "steps", the array of steps`},
		{"steps of another type", `{"fsm": 2, "steps": {}}`, `1:21 /steps steps must be an array of steps, not an object`},
		{"an unknown member", `{"fsm": 2, "stepz": [], "steps": []}`,
			`1:12 /stepz unknown member "stepz": the object has only fsm, shell, vars, steps (did you mean "steps"?)`},
		{"another object", `{"tasks": [` + step + `]}`,
			`1:1 - the file must hold an array of tasks, not an object: keep only the array in "tasks"`},
		{"malformed", `{"fsm": 2, "steps": [` + step, `1:47 /steps malformed JSON: unexpected end of file: the [ at 1:21 is not closed`},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, strings.Join(lines(refused(t, c.file).Problems), "\n"))
		})
	}
}

// flowCase is a step 2 with these members, after a step 1 that ends as x or y.
func flowCase(members string) string {
	return `{"fsm": 2, "steps": [
{"id": 1, "subject": "A", "outcomes": ["x", "y"]},
{"id": 2, "subject": "B", "blockedBy": [1], ` + members + `}
]}`
}

// refusedFlows are members of the step of flowCase, and the one problem of each.
var refusedFlows = map[string]string{
	`"outcomes": "a"`: `/outcomes outcomes must be an array of names, or an object such as {"approved": {}, ` +
		`"changes": {"back": 1, "max": 3}}, not the string "a"`,
	`"outcomes": []`:                 `/outcomes outcomes is empty: leave it out, or name the ways in which the step can end`,
	`"outcomes": {}`:                 `/outcomes outcomes is empty: leave it out, or name the ways in which the step can end`,
	`"outcomes": ["a", 1]`:           `/outcomes/1 outcomes must hold names, not the number 1`,
	`"outcomes": ["a", "a"]`:         `/outcomes/1 outcomes lists "a" more than once`,
	`"outcomes": {"a": {}, "a": {}}`: `/outcomes/a duplicate key "a" in one object, at 3:58 and again at 3:67`,
	`"outcomes": {"a": "end"}`: `/outcomes/a outcomes.a must be an object, ` +
		`{} if it has no effects, not the string "end" (write {"stop": true})`,
	`"outcomes": {"a": {"next": 3}}`: `/outcomes/a/next unknown field "outcomes.a.next": an outcome does not name what ` +
		`comes next: the step that does says "when": {"2": "a"}`,
	`"outcomes": ["a", "b"], "decides": "make kind"`: `/decides decides must be "agent", "person", or an object with the ` +
		`command that decides, not the string "make kind" (write {"run": "make kind"})`,
	`"outcomes": ["A"]`: `/outcomes/0 outcomes: "A" is not a name for an outcome: use a lower-case letter, ` +
		`then up to 30 lower-case letters, digits and hyphens`,
	`"outcomes": ["a_b"]`: `/outcomes/0 outcomes: "a_b" is not a name for an outcome: use a lower-case letter, ` +
		`then up to 30 lower-case letters, digits and hyphens`,
	`"outcomes": ["` + strings.Repeat("a", 32) + `"]`: `/outcomes/0 outcomes: "` + strings.Repeat("a", 32) +
		`" is not a name for an outcome: use a lower-case letter, then up to 30 lower-case letters, digits and hyphens`,
	`"outcomes": ["a","b","c","d","e","f","g","h","i","j","k"]`: `/outcomes/10 outcomes may have at most 10 names`,
	`"outcomes": {"a": 1}`: `/outcomes/a outcomes.a must be an object, {} if it has no effects, not the number 1`,
	`"outcomes": {"a": {"goto": 1}}`: `/outcomes/a/goto unknown field "outcomes.a.goto": an ` +
		`outcome has back, max, then, stop, produces, check, approval (did you mean "back"?)`,
	`"outcomes": {"a": {"back": "1", "max": 1}}`: `/outcomes/a/back outcomes.a.back must be the id of ` +
		`this step or of one before it, not the string "1" (write 1 without the quotes)`,
	`"outcomes": {"a": {"back": 1, "max": 0}}`:            `/outcomes/a/max outcomes.a.max must be a number from 1 to 100, not the number 0`,
	`"outcomes": {"a": {"back": 1, "max": 101}}`:          `/outcomes/a/max outcomes.a.max must be a number from 1 to 100, not the number 101`,
	`"outcomes": {"a": {"back": 1}}`:                      `/outcomes/a a leads back and has no "max": say how often it may, 1 to 100`,
	`"outcomes": {"a": {"back": 9, "max": 1}}`:            `/outcomes/a/back a leads back to step 9, which is not in the same array`,
	`"outcomes": {"a": {"back": 1, "max": 1, "then": 7}}`: `/outcomes/a/then outcomes.a.then must be the name of an outcome, not the number 7`,
	`"outcomes": {"a": {"back": 1, "max": 1, "then": "bb"}, "b": {}}`: `/outcomes/a/then then names "bb", which is not an ` +
		`outcome of this step (did you mean b?)`,
	`"outcomes": {"a": {"stop": false}}`: `/outcomes/a/stop outcomes.a.stop must be true, ` +
		`not false: leave it out if the workflow goes on`,
	`"outcomes": {"a": {"back": 1, "max": 1, "approval": true}}`: `/outcomes/a/approval a leads back, which needs no approval`,
	`"outcomes": {"a": {"produces": "x"}}`: `/outcomes/a/produces outcomes.a.produces must be an array ` +
		`of strings, not the string "x" (put it in brackets)`,
	`"outcomes": {"a": {"check": {"cmd": "x"}}}`: `/outcomes/a/check/cmd unknown field "cmd" in outcomes.a.check (did you mean "run"?)`,
	`"outcomes": {"a": {"approval": "yes"}}`: `/outcomes/a/approval outcomes.a.approval must be true or a question, ` +
		`not the string "yes" (write true without the quotes)`,
	`"outcomes": ["failed", "a"]`: `/outcomes/failed a step ends as failed when its check ` +
		`fails, and this step has none: add "check", or give the outcome another name`,
	`"decides": "user"`: `/decides decides must be "agent", "person", or an object with the command that decides, ` +
		`not the string "user" (did you mean "person"?)`,
	`"decides": "command"`: `/decides decides must be "agent", "person", or an object with the command that decides, ` +
		`not the string "command" (write {"run": …})`,
	`"decides": 1`:               `/decides decides must be "agent", "person", or an object such as {"run": "scripts/kind"}, not the number 1`,
	`"decides": {"timeout": 1}`:  `/decides decides: missing "run", the shell command`,
	`"decides": "person"`:        `/decides a person chooses among 2 to 4 outcomes, and this step has only done that can be chosen`,
	`"when": "1"`:                `/when when must be an object such as {"2": "major"}, not the string "1"`,
	`"when": {}`:                 `/when when is empty: leave it out, or write {"2": "major"}`,
	`"when": {"one": "x"}`:       `/when/one when must have ids of steps as keys, not "one"`,
	`"when": {"01": "x"}`:        `/when/01 when must have ids of steps as keys, not "01"`,
	`"when": {"7": "x"}`:         `/when/7 when refers to 7, but there is no task with id 7 (did you mean 1?)`,
	`"when": {"1": 1}`:           `/when/1 when.1 must be an outcome of step 1, or an array of outcomes, not the number 1`,
	`"when": {"1": []}`:          `/when/1 when.1 is empty: name the outcomes of step 1 for which this step is needed`,
	`"when": {"1": "z"}`:         `/when/1/0 when: step 1 cannot end as "z", only as x, y, skipped`,
	`"when": {"1": ["x", "yy"]}`: `/when/1/1 when: step 1 cannot end as "yy", only as x, y, skipped (did you mean y?)`,
	`"when": {"2": "done"}`:      ` cycle 2 -> 2: each step comes before the next, so none can start`,
	`"do": ""`:                   `/do do: "" is not the name of a skill: it is blank`,
	`"do": "../release-notes"`:   `/do do: "../release-notes" is not the name of a skill: it is a path`,
	`"do": "/release-notes"`:     `/do do: "/release-notes" is not the name of a skill: write it without the slash`,
	`"do": "release notes"`:      `/do do: "release notes" is not the name of a skill: it has spaces or control characters`,
	`"do": "p::notes"`:           `/do do: "p::notes" is not the name of a skill: a part of it is empty`,
	`"do": {}`:                   `/do do must be an array of steps or the name of a skill, not an object (put it in brackets)`,
	`"status": "completed", "outcomes": ["a", "b"]`: `/status a completed step cannot have more than one outcome that goes forward (a, b)`,
}

func TestRefusedFlows(t *testing.T) {
	for members, want := range refusedFlows {
		problems := refused(t, flowCase(members)).Problems
		require.Len(t, problems, 1, members)
		assert.Equal(t, want, strings.TrimPrefix(problems[0].Pointer, "/steps/1")+" "+strings.TrimPrefix(problems[0].Message, `task 2 ("B"): `),
			members)
		assert.Equal(t, 3, problems[0].Line, members)
		at := strings.Split(flowCase(members), "\n")[2][problems[0].Column-1:]
		assert.Contains(t, "\"[{0123456789tf", at[:1], "a problem is at the beginning of a value: %s", at)
	}
}

// TestCyclesOfAWorkflowWithOutcomes: every step of it must be able to start.
func TestCyclesOfAWorkflowWithOutcomes(t *testing.T) {
	for steps, want := range map[string]string{
		`{"id": 1, "subject": "A", "blockedBy": [2]}, {"id": 2, "subject": "B", "blockedBy": [1]}`: `1:46 /steps/0/blockedBy/0 cycle 1 -> 2 -> 1`,
		`{"id": 1, "subject": "A", "blocks": [1]}`: `1:59 /steps/0/blocks/0 ` +
			`task 1 ("A"): blocks lists the task itself`,
		`{"id": 1, "subject": "A", "outcomes": ["a"]}, {"id": 2, "subject": "B", "when": {"1": "a"}, "blocks": [1]}`: `1:22 /steps/0 cycle 1 ` +
			`-> 2 -> 1: each step comes before the next, so none can start`,
	} {
		problems := lines(refused(t, `{"fsm": 2, "steps": [`+steps+`]}`).Problems)
		require.Len(t, problems, 1)
		assert.Contains(t, problems[0], want[strings.Index(want, " "):])
	}
}

func TestWarningsOfFlows(t *testing.T) {
	for file, want := range map[string]string{
		`{"fsm": 2, "steps": [{"id": 1, "subject": "A", "outcomes": ["a", "b"]}]}`: `1:60 /steps/0/outcomes task 1 ("A"): the outcomes of this ` +
			`step change nothing: no "when" names them, and none leads back, stops or has gates`,
		`{"fsm": 2, "steps": [{"id": 1, "subject": "A", "outcomes": ["a", "b"]}, {"id": 2, "subject": "B", "when": {"1": "a"}}, {"id": 3, ` +
			`"subject": "C", "blockedBy": [2]}]}`: `1:159 /steps/2/blockedBy task 3 ("C"): it comes only after steps that are needed under one ` +
			`condition (1 as a) and has none: it is also needed when they are not; give it the same "when", ` +
			`or let it depend on step 1, too, if that is meant`,
	} {
		warnings := parsed(t, file).Warnings()
		assert.Equal(t, want, strings.Join(lines(warnings), "\n"))
		assert.True(t, warnings[0].ChangesMeaning)
	}
}

// TestMisplacedFlow: in a workflow with outcomes a field that would change its flow is not ignored,
// as "back" on a step beside its outcomes would be.
func TestMisplacedFlow(t *testing.T) {
	for field, hint := range map[string]string{
		"back": `in an outcome`, "max": `in an outcome`, "then": `in an outcome`, "stop": `in an outcome`,
		"loop": `what leads back is an outcome`, "onFailure": `what leads back is an outcome`, "max_rounds": `what leads back is an outcome`,
		"optional": `"outcomes": ["done", "no-need"]`, "if": `"when": {"1": "major"}`, "only_if": `"when": {"1": "major"}`,
		"forEach": `"each": {"lines"`, "inTurn": `in the object of "each"`, "lines": `in the object of "each"`,
		"on": `"outcomes": ["done", "no-need"]`, "transitions": `"outcomes": ["done", "no-need"]`, "cond": `"when": {"1": "major"}`,
		"guard": `"when": {"1": "major"}`, "Catch": `what leads back is an outcome`, "continue-on-error": `what leads back is an outcome`,
		"strategy": `"each": {"lines"`, "matrix": `"each": {"lines"`, "timeout-minutes": `"within"`, "TimeoutSeconds": `"within"`,
		"steps": `"do": […]`, "skill": `"do": "NAME"`, "deadline": `"within"`, "vars": `at the top of the file`,
	} {
		step := fmt.Sprintf(`{"id": 1, "subject": "A", %q: 1}`, field)
		problems := refused(t, `{"fsm": 2, "steps": [`+step+`]}`).Problems
		require.Len(t, problems, 1, field)
		assert.Contains(t, problems[0].Message, fmt.Sprintf(`task 1 ("A"): unknown field %q: `, field))
		assert.Contains(t, problems[0].Message, hint)
		assert.Contains(t, problems[0].Message, ", or move it into metadata")
		assert.Equal(t, "/steps/0/"+field, problems[0].Pointer)
		if field != "then" { // there it is like "when"
			assert.Len(t, parsed(t, "["+step+"]").Warnings(), 1, "an array means what it means")
		}
	}
}

// TestTheShellOfAFile is that of each command which names none, wherever it stands in the object.
func TestTheShellOfAFile(t *testing.T) {
	const steps = `"steps": [
		{"id": 1, "subject": "A", "check": "a", "set": {"v": {"run": "b"}}, "outcomes": {"x": {"check": {"run": "c"}}, "y": {}},
		 "decides": {"run": "d"}},
		{"id": 2, "subject": "B", "each": {"run": "e"}, "check": {"run": "f", "shell": "sh"}},
		{"id": 3, "subject": "C", "do": [{"id": 4, "subject": "D", "check": {"run": "g", "shell": null}}]}]`
	for _, file := range []string{`{"fsm": 2, "shell": "powershell", ` + steps + `}`, `{` + steps + `, "shell": "powershell", "fsm": 2}`} {
		checkSchema(t, file)
		spec := parsed(t, file)
		a, b := spec.Tasks()[0], spec.Tasks()[1]
		for _, c := range []*fsmspec.Check{a.Check, a.Set[0].Command, a.Outcomes[0].Check, a.Chooser, b.Each.Run,
			spec.Tasks()[2].Parts[0].Check} {
			assert.Equal(t, fsmspec.PowerShell, c.Shell, c.Run)
		}
		assert.Empty(t, b.Check.Shell)
	}
	assert.Empty(t, parsed(t, `{"fsm": 2, "shell": "sh", `+steps+`}`).Tasks()[0].Check.Shell)
	assert.Empty(t, parsed(t, `{"fsm": 2, "shell": null, `+steps+`}`).Tasks()[0].Check.Shell)
	for shell, want := range map[string]string{
		`"pwsh"`: `1:21 /shell shell must be "sh" or "powershell", not the string "pwsh": a command itself is in "run"`,
		`true`:   `1:21 /shell shell must be "sh" or "powershell", not true: a command itself is in "run"`,
	} {
		file := `{"fsm": 2, "shell": ` + shell + `, ` + steps + `}`
		checkSchema(t, file)
		assert.Equal(t, want, strings.Join(lines(refused(t, file).Problems), "\n"))
	}
}
