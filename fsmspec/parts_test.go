package fsmspec_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
)

// migration migrates each package, and tests it at most four times.
const migration = `{"fsm": 2, "steps": [
 {"id": 1, "subject": "List the packages", "produces": ["packages.txt"]},
 {"id": 2, "subject": "Migrate every package", "blockedBy": [1], "each": {"lines": "packages.txt", "inTurn": true}, "do": [
   {"id": 1, "subject": "Migrate {item}", "metadata": {"k": 1}},
   {"id": 2, "subject": "Test it", "description": "As {item}/TEST says.", "blockedBy": [1], "check": "make -C \"$FSM_ITEM\" test", "produces": ["{item}/out"],
    "outcomes": {"failed": {"back": 1, "max": 3, "then": "parked"}, "parked": {"approval": true}}}]},
 {"id": 7, "subject": "Release", "blockedBy": [2], "check": "make", "do": [
   {"id": 1, "subject": "Tag"},
   {"id": 5, "subject": "Publish", "blockedBy": [1], "do": [{"id": 1, "subject": "Upload", "owner": "me"}, {"id": 2, "subject": "Announce"}]},
   {"id": 6, "subject": "Clean up", "status": "completed"}]}
]}`

func TestParseParts(t *testing.T) {
	spec := parsed(t, migration)
	assert.Empty(t, spec.Warnings())
	assert.Equal(t, 10, spec.Len())
	assert.Equal(t, 8, spec.Planned(), "what is done for the lines comes later")
	tasks := spec.Tasks()
	require.Len(t, tasks, 3)
	each := tasks[1].Each
	assert.Equal(t, "packages.txt", each.Lines)
	assert.True(t, each.InTurn)
	assert.Nil(t, each.Run)
	assert.Equal(t, "Test it", tasks[1].Parts[1].Subject)
	assert.Equal(t, []int64{1}, tasks[2].Parts[1].BlockedBy)
	assert.Equal(t, fsmspec.Task{ID: 1, Local: 1, Subject: "Upload", Owner: "me"}, tasks[2].Parts[1].Parts[0])

	run := parsed(t, flowCase(`"each": {"run": "ls", "timeout": 9, "dir": "a/", "env": ["PATH"]}`)).Tasks()[1].Each
	assert.Equal(t, &fsmspec.Check{Run: "ls", Timeout: 9 * time.Second, Dir: "a", Env: &[]string{"PATH"}}, run.Run)
	assert.Equal(t, `{"fsm":2,"steps":[{"id":2,"subject":"B"}]}`, run.Workflow)
}

// TestRefusedParts: each rule for do and each, with the place of the mistake.
func TestRefusedParts(t *testing.T) {
	for members, want := range map[string]string{
		`"do": {}`: `3:51 /steps/1/do task 2 ("B"): do must be an array of steps or the name of a skill, ` +
			`not an object (put it in brackets)`,
		`"do": []`:          `3:51 /steps/1/do task 2 ("B"): do has no steps: leave it out, or name the steps that this one consists of`,
		`"do": [1]`:         `3:52 /steps/1/do/0 task 2 ("B"): entry 1 must be an object, not the number 1`,
		`"do": [{"id": 1}]`: `3:52 /steps/1/do/0 task 1 in the do of task 2 ("B"): missing "subject"`,
		`"do": [{"id": 1, "subject": "p", "blockedBy": [3]}]`: `3:92 /steps/1/do/0/blockedBy/0 task 1 ("p") in the do of task 2 ` +
			`("B"): blockedBy refers to 3, but there is no task with id 3`,
		`"do": [{"id": 7, "subject": "p"}], "when": {"7": "x"}`: `/steps/1/when/7 task 2 ("B"): when refers to 7, which is a part of ` +
			`task 2: only tasks of the same array can be named`,
		`"do": [{"id": 1, "subject": "p"}, {"id": 1, "subject": "q"}]`: `3:86 /steps/1/do/1/id task 1 ("q") in the do of task 2 ("B"): ` +
			`duplicate id 1, used at 3:59 ("p") and again at 3:86`,
		`"do": [{"id": 1, "subject": "p", "when": {"1": "x"}}]`: `3:52 /steps/1/do/0 cycle 1 -> 1`,
		`"do": [{"id": 1, "subject": "p", "do": [{"id": 1, "subject": "q", "outcomes": {"a": {"back": 2, "max": 1}}}]}]`: `task 1 ("q") in the ` +
			`do of task 1 ("p"): a leads back to step 2, which is not in the same array`,
		`"do": [{"id": 1, "subject": "p", "outcomes": {"skipped": {}}}]`: `/steps/1/do/0/outcomes/skipped task 1 ("p") in the do of task 2 ` +
			`("B"): skipped cannot be declared`,
		`"do": [{"id": 1, "subject": "p"}], "status": "completed"`: `/steps/1/status task 2 ("B"): it is completed, ` +
			`and its part task 1 ("p") is not`,
		`"each": 1`: `3:53 /steps/1/each task 2 ("B"): each must be an object such as {"lines": ` +
			`"packages.txt"} or {"run": "ls packages"}, not the number 1`,
		`"each": {}`: `3:53 /steps/1/each task 2 ("B"): each names neither a file nor a command: write ` +
			`{"lines": "packages.txt"} or {"run": "ls packages"}`,
		`"each": {"lines": "a", "run": "b"}`: `/steps/1/each task 2 ("B"): each has both a file in lines and a command in run: leave one out`,
		`"each": {"lines": "a", "timeout": 1}`: `/steps/1/each task 2 ("B"): each: shell, timeout, ` +
			`dir and env are those of a command, and lines is a file`,
		`"each": {"line": "a"}`: `3:54 /steps/1/each/line task 2 ("B"): unknown field ` +
			`"each.line": each has lines, run, shell, timeout, dir, env, inTurn (did you mean "lines"?)`,
		`"each": {"lines": "a", "sequential": true}`: `unknown field "each.sequential": each has lines, run, shell, ` +
			`timeout, dir, env, inTurn (did you mean "inTurn"?)`,
		`"each": {"lines": "a", "inTurn": "yes"}`: `/steps/1/each/inTurn task 2 ("B"): each.inTurn must be true or false, not the string "yes"`,
		`"each": {"lines": 1}`:                    `/steps/1/each/lines task 2 ("B"): each.lines must be the path of a file, not the number 1`,
		`"each": {"lines": "../a"}`:               `each.lines: "../a": .. is not allowed: the path has to stay inside the project's directory`,
		`"each": {"lines": "a/"}`:                 `each.lines: "a/": this is a directory, want a file`,
		`"each": {"lines": "*.txt"}`:              `each.lines: "*.txt": want the path of one file, not a pattern`,
		`"each": {"run": " "}`:                    `each.run is blank`,
		`"each": {"lines": "a"}, "outcomes": {"again": {"back": 1, "max": 2}}`: `/steps/1/outcomes/again/back task 2 ` +
			`("B"): again leads back to step 1, but each line ends by itself: it can lead back only to this step; to repeat more for each ` +
			`line, put the steps into do`,
		`"each": {"lines": "a"}, "outcomes": {"again": {"back": 2}}`: `/steps/1/outcomes/again task 2 ` +
			`("B"): again leads back and has no "max": say how often it may, 1 to 100`,
		`"each": {"lines": "a"}, "outcomes": ["a", "b"]}, {"id": 3, "subject": "C", "when": {"2": "a"}`: `/steps/2/when/2/0 task 3 ("C"): ` +
			`when: step 2 cannot end as "a", only as done, skipped: each of its lines ends by itself`,
	} {
		got := strings.Join(lines(refused(t, flowCase(members)).Problems), "\n")
		assert.Contains(t, got, want, members)
		assert.NotContains(t, got, "\n", members)
	}
}

// TestSoundParts: what is allowed, without a warning.
func TestSoundParts(t *testing.T) {
	for _, members := range []string{
		`"each": {"lines": "a"}, "check": "x", "outcomes": {"failed": {"back": 2, "max": 2}}}, {"id": 3, "subject": "C", ` +
			`"when": {"2": ["done", "skipped"]}`,
		`"each": {"lines": "a"}, "do": [{"id": 1, "subject": "p"}], "outcomes": {"a": {"back": 1, "max": 1}, "b": {}}}, {"id": 3, ` +
			`"subject": "C", "when": {"2": "b"}`,
		`"do": [{"id": 2, "subject": "p", "each": {"run": "ls"}, "do": [{"id": 2, "subject": "q", "each": {"lines": "x/{item}"}}]}]`,
		`"do": [{"id": 1, "subject": "p", "status": "completed"}], "status": "completed"`,
		`"each": {"lines": "a"}, "status": "completed"`,
		`"each": {"lines": "a"}, "do": [{"id": 1, "subject": "p", "outcomes": ["stands", "open"]}]`,
	} {
		file := strings.Replace(flowCase(members), `, "outcomes": ["x", "y"]`, "", 1)
		assert.Empty(t, parsed(t, file).Warnings(), members)
	}
}

func TestBoundOfParts(t *testing.T) {
	assert.Equal(t, "at most 8 steps are completed, and 8 for each item: the loop 2.1–2.2 up to 4 times",
		parsed(t, migration).Bound().String())
	for members, want := range map[string]string{
		`"each": {"lines": "a"}`: "at most 2 steps are completed, and 1 for each item",
		`"each": {"lines": "a"}, "outcomes": {"again": {"back": 2, "max": 2}}`: "at most 2 steps are " +
			"completed, and 3 for each item: step 2.2 up to 3 times",
		`"do": [{"id": 1, "subject": "p"}, {"id": 2, "subject": "q"}], "outcomes": {"again": {"back": 1, "max": 2}}`: "at most 12 steps are " +
			"completed: the loop 1–2 up to 3 times",
		`"do": [{"id": 1, "subject": "p", "each": {"run": "ls"}, "do": [{"id": 1, "subject": "r", ` +
			`"each": {"lines": "x"}}]}, {"id": 2, "subject": "q"}]`: "at most 4 steps are completed, and 1 for each item of step 2.1, " +
			"and 1 for each item of step 2.1.1",
		`"each": {"lines": "a"}, "do": [{"id": 1, "subject": "p"}], "outcomes": {"again": {"back": 1, "max": 3}}`: "at most 8 steps are " +
			"completed, and 4 for each item: the loop 1–2 up to 4 times",
		`"each": {"lines": "a"}, "do": [{"id": 1, "subject": "p"}, {"id": 2, "subject": "q", "blockedBy": [1], "each": {"lines": "b"}}, ` +
			`{"id": 3, "subject": "r", "blockedBy": [1, 2], "outcomes": {"again": {"back": 1, "max": 2}, "b": {}}}], ` +
			`"outcomes": {"again": {"back": 1, "max": 1}}`: "at most 4 steps are completed, " +
			"and 18 for each item of step 2, and 6 for each item of step 2.2: the loop 2.1–2.3 up to 3 times, inside 1–2 up to 2 times",
	} {
		assert.Equal(t, want, parsed(t, flowCase(members)).Bound().String(), members)
	}
	var parts []string
	for i := range 30 {
		parts = append(parts, fmt.Sprintf(`{"id": %d, "subject": "p"}`, i+1))
	}
	big := parsed(t, flowCase(`"do": [`+strings.Join(parts, ",")+`], "outcomes": {"again": {"back": 1, "max": 20}}`))
	assert.Equal(t, []string{"2:1 /steps/0 up to 672 steps may have to be completed until this workflow ends: lower max of its loops"},
		lines(big.Warnings())[:1])
}

func TestPlanOfParts(t *testing.T) {
	plan := must(parsed(t, migration).Plan("x", fsmspec.Snapshot{MaxID: 40}, fsmspec.Policy{}))
	assert.Equal(t, `#41 List the packages
#42 Migrate every package (after 41)
#47 Release (after 42 52 53)
#48 Tag (after 42)
#52 Publish (after 48 54 55)
#53 Clean up (completed, after 42)
#54 Upload (after 48)
#55 Announce (after 48)
`, created(plan))
	assert.Equal(t, []int64{42, 52, 53}, plan.Creations()[2].BlockedBy)
	var levels []string
	for _, l := range plan.Levels() {
		levels = append(levels, fmt.Sprint(l.Parent, l.Tasks[0].ID-l.Tasks[0].Local, len(l.Tasks)))
	}
	assert.Equal(t, []string{"0 40 3", "47 47 3", "52 53 2"}, levels)

	_, err := parsed(t, migration).Plan("x", fsmspec.Snapshot{MaxID: fsmspec.MaxID - 14}, fsmspec.Policy{})
	assert.ErrorIs(t, err, fsmspec.ErrIDTooLarge)
	_, err = parsed(t, migration).Plan("x", fsmspec.Snapshot{MaxID: fsmspec.MaxID - 15}, fsmspec.Policy{})
	assert.NoError(t, err)
}

// What the first part of a part comes after, it has from the steps above.
func TestTheFirstPartsOfParts(t *testing.T) {
	plan := must(parsed(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "a"}, {"id": 2, "subject": "b", "blockedBy": [1], "do": [
		{"id": 1, "subject": "c", "do": [{"id": 1, "subject": "d"}]}]}]}`).Plan("x", fsmspec.Snapshot{}, fsmspec.Policy{}))
	assert.Equal(t, `#1 a
#2 b (after 1 3)
#3 c (after 1 4)
#4 d (after 1)
`, created(plan))
}

func TestItems(t *testing.T) {
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintln(&b, i)
		}
		return b.String()
	}
	for _, c := range []struct{ name, text, want, err string }{
		{"nothing", "", "", ""},
		{"blank lines", "\n \t\r\n\n", "", ""},
		{"trimmed, distinct", "\uFEFFb \r\n\ta\nb\n\na", "b|a", ""},
		{"a tab inside", "a\tb", "a\tb", ""},
		{"200 characters", strings.Repeat("é", 200), strings.Repeat("é", 200), ""},
		{"201 characters", "a\n" + strings.Repeat("é", 201), "", `line 2 has 201 characters, and at most 200 are allowed: "` +
			strings.Repeat("é", 40) + `…"`},
		{"a hundred", many(100) + "7\n\n", strings.TrimSuffix(strings.ReplaceAll(many(100), "\n", "|"), "|"), ""},
		{"one too many", "0\n" + many(101), "", "line 102 is one too many: at most 100 lines are allowed, not counting blank and repeated ones"},
		{"control characters", "a\nb\x1b[31m", "", `line 2 has control characters: b\x1b[31m`},
		{"not UTF-8", "a\nb\xff", "", "line 2 is not valid UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			items, err := fsmspec.Items([]byte(c.text))
			assert.Equal(t, c.want, strings.Join(items, "|"))
			if c.err == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, c.err)
			}
		})
	}
}

func TestForItem(t *testing.T) {
	tasks := must(fsmspec.ForItem(parsed(t, migration).Tasks()[1].Each.Workflow, "a/b*")).Tasks()
	assert.Equal(t, "Migrate a/b*", tasks[0].Subject)
	assert.Equal(t, `{"k":1}`, tasks[0].Metadata)
	assert.Equal(t, "Test it: a/b*", tasks[1].Subject)
	assert.Equal(t, "As a/b*/TEST says.", tasks[1].Description)
	assert.Equal(t, []string{`a/b\*/out`}, tasks[1].Produces)
	assert.Equal(t, `make -C "$FSM_ITEM" test`, tasks[1].Check.Run, "nothing is spliced into a command")
	assert.Equal(t, `May "Test it: a/b*" end as parked?`, tasks[1].Outcomes[1].Approval)

	nested := parsed(t, flowCase(`"each": {"lines": "a"}, "do": [
		{"id": 1, "subject": "{item}", "do": [{"id": 1, "subject": "in {item}"}]},
		{"id": 2, "subject": "own {item}", "activeForm": "{item}", "each": {"lines": "x/{item}"}},
		{"id": 3, "subject": "join", "activeForm": "{item}", "each": {"run": "echo {item}"}, "do": [{"id": 1, "subject": "{item}"}]}]`))
	tasks = must(fsmspec.ForItem(nested.Tasks()[1].Each.Workflow, `q"`)).Tasks()
	assert.Equal(t, `q"`, tasks[0].Subject)
	assert.Equal(t, `in q"`, tasks[0].Parts[0].Subject)
	assert.Equal(t, `own {item}: q"`, tasks[1].Subject, "its texts are those of its own lines, and the line around them tells it apart")
	assert.Equal(t, "{item}", tasks[1].ActiveForm)
	assert.Equal(t, `join: q"`, tasks[2].Subject)
	assert.Equal(t, `q"`, tasks[2].ActiveForm)
	assert.Equal(t, "{item}", tasks[2].Parts[0].Subject)
	assert.Equal(t, "echo {item}", tasks[2].Each.Run.Run)
}

// The directory of a command is a path like any other: a line may have several segments there.
func TestItemsInDirectories(t *testing.T) {
	file := parsed(t, flowCase(`"each": {"lines": "a"}, "do": [
		{"id": 1, "subject": "A", "check": {"run": "x", "dir": "{item}"}, "set": {"v": {"run": "x", "dir": "in/{item}"}, "w": "."}},
		{"id": 2, "subject": "B", "decides": {"run": "x", "dir": "{item}"},
			"outcomes": {"a": {}, "b": {"check": {"run": "x", "dir": "{item}"}}}},
		{"id": 3, "subject": "C", "each": {"run": "x", "dir": "{item}"}}]`)).Tasks()[1].Each.Workflow
	tasks := must(fsmspec.ForItem(file, "a/b")).Tasks()
	assert.Equal(t, "a/b", tasks[0].Check.Dir)
	assert.Equal(t, "in/a/b", tasks[0].Set[0].Command.Dir)
	assert.Equal(t, "a/b", tasks[1].Chooser.Dir)
	assert.Equal(t, "a/b", tasks[1].Outcomes[1].Check.Dir)
	assert.Equal(t, "a/b", tasks[2].Each.Run.Dir)
	_, err := fsmspec.ForItem(file, "../b")
	assert.ErrorContains(t, err, "the path has to stay inside the project's directory")
}

// A line that would lead out of the project is refused, and so is one that cannot be in a path.
func TestItemsInPaths(t *testing.T) {
	file := parsed(t, flowCase(`"each": {"lines": "a"}, "ready": ["{item}"]`)).Tasks()[1].Each.Workflow
	for item, want := range map[string]string{
		"..": "..", "a/../../b": "..", "/etc/passwd": "relative to the project's directory", "~/a": "relative", "{a,b}": "braces",
		"a/": "this is a directory", "a\tb": "control",
	} {
		_, err := fsmspec.ForItem(file, item)
		assert.ErrorContains(t, err, want, item)
	}
	for _, item := range []string{"a", "a/b", "**", "[a", "!"[:0] + "a?", "a b"} {
		_, err := fsmspec.ForItem(file, item)
		assert.NoError(t, err, item)
	}
}

func TestPlanItems(t *testing.T) {
	workflow := parsed(t, migration).Tasks()[1].Each.Workflow
	var copies []*fsmspec.Spec
	for _, item := range []string{"a", "b", "c"} {
		copies = append(copies, must(fsmspec.ForItem(workflow, item)))
	}
	what := fsmspec.ItemPlan{Command: "x", Parent: 42, After: []int64{41}, Copies: copies}
	plan := must(fsmspec.PlanItems(what, fsmspec.Snapshot{MaxID: 42, HighWater: 50}))
	assert.Equal(t, `#51 Migrate a (after 41)
#52 Test it: a (after 51)
#53 Migrate b (after 41)
#54 Test it: b (after 53)
#55 Migrate c (after 41)
#56 Test it: c (after 55)
`, created(plan))
	what.InTurn = true
	plan = must(fsmspec.PlanItems(what, fsmspec.Snapshot{MaxID: 42}))
	assert.Equal(t, []string{"#43 Migrate a (after 41)", "#45 Migrate b (after 44)",
		"#47 Migrate c (after 46)"}, []string{
		strings.Split(created(plan), "\n")[0], strings.Split(created(plan), "\n")[2], strings.Split(created(plan), "\n")[4]})
	for _, l := range plan.Levels() {
		assert.EqualValues(t, 42, l.Parent)
	}
	_, err := fsmspec.PlanItems(what, fsmspec.Snapshot{MaxID: fsmspec.MaxID - 5})
	assert.ErrorIs(t, err, fsmspec.ErrIDTooLarge)

	removal := fsmspec.PlanRemoval([]fsmspec.Existing{{ID: "43", Number: 43, Subject: "A", Status: "pending"}, {ID: "48", Number: 48}},
		fsmspec.Snapshot{MaxID: 48, HighWater: 2})
	assert.Equal(t, []fsmspec.Deletion{{ID: "43", Number: 43, Subject: "A", Status: "pending"}, {ID: "48", Number: 48}}, removal.Deletions())
	mark, raise := removal.HighWater()
	assert.True(t, raise)
	assert.EqualValues(t, 48, mark)
}

// TestWhatAStopEnds: the innermost of item, parts and workflow.
func TestWhatAStopEnds(t *testing.T) {
	const ends = `"outcomes": {"go": {}, "halt": {"stop": true}}`
	const part = `[{"id": 1, "subject": "P", ` + ends + `}]`
	spec := parsed(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "A", `+ends+`}, {"id": 2, "subject": "B", "do": `+part+`},
		{"id": 3, "subject": "C", "each": {"lines": "l"}, "do": `+part+`}]}`)
	plan := must(spec.Plan("x", fsmspec.Snapshot{}, fsmspec.Policy{}))
	assert.Contains(t, plan.Creations()[0].Description, "halt (ends the workflow).")
	assert.Contains(t, plan.Creations()[3].Description, "halt (ends the parts of #2).")
	one := must(fsmspec.ForItem(spec.Tasks()[2].Each.Workflow, "a"))
	plan = must(fsmspec.PlanItems(fsmspec.ItemPlan{Command: "x", Parent: 3, Copies: []*fsmspec.Spec{one}}, fsmspec.Snapshot{MaxID: 9}))
	assert.Contains(t, plan.Creations()[0].Description, "halt (ends this item).")
}

// trees generates the steps of a level, with parts and lines, some of them one under the other.
func trees(depth int) *rapid.Generator[[]map[string]any] {
	return rapid.Custom(func(t *rapid.T) []map[string]any {
		steps := make([]map[string]any, rapid.IntRange(1, 4).Draw(t, "steps"))
		ids := rapid.SliceOfNDistinct(rapid.IntRange(1, 9), len(steps), len(steps), rapid.ID[int]).Draw(t, "ids")
		for i := range steps {
			steps[i] = map[string]any{"id": ids[i], "subject": fmt.Sprint("Step ", ids[i])}
			if i > 0 && rapid.Bool().Draw(t, "blocked") {
				steps[i]["blockedBy"] = []int{ids[rapid.IntRange(0, i-1).Draw(t, "by")]}
			}
			if rapid.IntRange(0, 3).Draw(t, "each") == 0 {
				steps[i]["each"] = map[string]any{"lines": "lines.txt", "inTurn": rapid.Bool().Draw(t, "in turn")}
			}
			if depth > 0 && rapid.Bool().Draw(t, "do") {
				steps[i]["do"] = trees(depth-1).Draw(t, "parts")
			}
		}
		return steps
	})
}

// In the plan of any tree the numbers are distinct, and the order of the list alone lets every
// task be done once.
func TestPlansOfTrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := must(fsmspec.Parse(must(json.Marshal(map[string]any{"fsm": 2, "steps": trees(3).Draw(t, "steps")}))))
		plan := must(spec.Plan("x", fsmspec.Snapshot{MaxID: 7}, fsmspec.Policy{}))
		checkReferences(t, plan)
		n := 0
		for _, l := range plan.Levels() {
			for _, task := range l.Tasks {
				assert.Equal(t, task.ID, plan.Creations()[n].ID)
				n++
			}
		}
		assert.Len(t, plan.Creations(), n)
		done := map[int64]bool{}
		for again := true; again; {
			again = false
			for _, task := range plan.Creations() {
				waits := false
				for _, id := range task.BlockedBy {
					waits = waits || !done[id]
				}
				if !waits && !done[task.ID] {
					done[task.ID], again = true, true
				}
			}
		}
		assert.Len(t, done, n, "no task waits for ever")
	})
}
