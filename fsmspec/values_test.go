package fsmspec_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/pattern"
)

// release names the version that its third step sets.
const release = `{"fsm": 2, "vars": {"goal": "release {args}", "plain": "{{args}}"}, "steps": [
 {"id": 1, "subject": "Choose the kind of {goal}", "decides": "person", "outcomes": {"major": {}, "minor": {"produces": ["minor"]}, "patch": {}}},
 {"id": 3, "subject": "Write the version", "description": "For {args}.", "blockedBy": [1], "within": "30m",
  "set": {"version": "^[0-9]+\\.[0-9]+$", "channel": ["beta", "stable", 1, true], "branch": {"run": "git branch --show-current", "timeout": 9}},
  "check": "bump-ok \"$FSM_OUTCOME_1\" \"$FSM_VERSION\"", "produces": ["v/{version}.txt"]},
 {"id": 4, "subject": "Publish {version}", "activeForm": "Publishing {version}", "blockedBy": [3], "produces": ["notes/{version}/*.md"], "check": {"run": "true", "dir": "out/{branch}"},
  "approval": "Is {version} published?", "outcomes": {"late": {}}, "within": 90}
]}`

func TestParseValues(t *testing.T) {
	spec := parsed(t, release)
	assert.Empty(t, lines(spec.Warnings()))
	assert.True(t, spec.HasValues())
	assert.Equal(t, []fsmspec.Var{{"goal", "release {args}"}, {"plain", "{{args}}"}}, spec.Vars())
	tasks := spec.Tasks()
	assert.Equal(t, []fsmspec.Value{{Name: "version", Pattern: `^[0-9]+\.[0-9]+$`},
		{Name: "channel", OneOf: []string{"beta", "stable", "1", "true"}},
		{Name: "branch", Command: &fsmspec.Check{Run: "git branch --show-current", Timeout: 9 * time.Second}}}, tasks[1].Set)
	assert.Equal(t, 30*time.Minute, tasks[1].Within)
	assert.Equal(t, 90*time.Second, tasks[2].Within)
	assert.Equal(t, "git branch --show-current", tasks[1].Commands()[0].Run)
	assert.Equal(t, map[string]string{"args": "2", "goal": "release 2", "plain": "{args}"}, spec.Initial("2"))

	plain := parsed(t, `[{"id": 1, "subject": "Write {version} and {{args}}", "produces": ["version"]}]`)
	assert.False(t, plain.HasValues())
	assert.Nil(t, plain.Initial("x"))
	assert.Equal(t, "Write {version} and {{args}}", flat(t, plain, "x", 0)[0].Subject)
	assert.False(t, parsed(t, review).HasValues())
	for _, members := range []string{`"within": 1`, `"set": {"a": "x"}`, `"description": "{round}"`, `"description": "{{round}}"`} {
		assert.True(t, parsed(t, flowCase(`"when": {"1": "x"}, `+members)).HasValues(), members)
	}
}

// flat returns the tasks that a plan with these arguments creates behind the largest id.
func flat(t *testing.T, spec *fsmspec.Spec, args string, largest int64) []fsmspec.Task {
	t.Helper()
	return must(spec.Plan("release", fsmspec.Snapshot{MaxID: largest}, fsmspec.Policy{Args: args})).Tasks()
}

func TestShownValues(t *testing.T) {
	spec := parsed(t, release)
	var all []string
	for _, task := range flat(t, spec, "2\n 0", 40) {
		all = append(all, task.Subject+"|"+task.Description)
	}
	assert.Equal(t, []string{
		`Choose the kind of release 2 0|Ends as: major, or minor, or patch. The person decides how it ends: they are asked, with exactly ` +
			`these options.`,
		"Write the version|For 2\n 0.\n" +
			`Sets: version (matches ^[0-9]+\.[0-9]+$), channel (beta or stable or 1 or true). Complete it with metadata {"version": "…", ` +
			`"channel": "…"}. Time limit: 30m from its start.`,
		`Publish {version}|Time limit: 1m30s from its start, then it ends as late.`,
	}, all)
	plan := must(spec.Plan("release", fsmspec.Snapshot{}, fsmspec.Policy{Args: "2"}))
	assert.Equal(t, "Choose the kind of release 2", plan.Creations()[0].Subject)
	assert.Contains(t, plan.Creations()[1].Description, "For 2.\n")
	assert.Equal(t, "Publishing {version}", plan.Creations()[2].ActiveForm)

	// A pattern that looks like a name is shown as it is.
	greek := parsed(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "A", "set": {"name": "x{greek}|{{x}}"}}]}`)
	plan = must(greek.Plan("x", fsmspec.Snapshot{}, fsmspec.Policy{}))
	assert.Contains(t, plan.Creations()[0].Description, `Sets: name (matches x{greek}|{{x}}).`)
}

// refusedValues are members of the step of flowCase, and its problems.
var refusedValues = map[string]string{
	`"set": 1`:  `/set set must be an object such as {"version": "^[0-9.]+$"}, not the number 1`,
	`"set": {}`: `/set set is empty: leave it out, or write {"version": "^[0-9.]+$"}`,
	`"set": {"Version": "x"}`: `/set/Version set: "Version" is not a name for a value: use a lower-case letter, ` +
		`then up to 30 lower-case letters, digits and _`,
	`"set": {"a-b": "x"}`: `/set/a-b set: "a-b" is not a name for a value: use a lower-case letter, ` +
		`then up to 30 lower-case letters, digits and _`,
	`"set": {"args": "x"}`:    `/set/args set: args is the arguments of the skill's call, which are always there: give the value another name`,
	`"set": {"round": "x"}`:   `/set/round set: round is the round of the step: give the value another name`,
	`"set": {"item": "x"}`:    `/set/item set: item is the item of a step with each: give the value another name`,
	`"set": {"outcome": "x"}`: `/set/outcome set: outcome is how a step ends: give the value another name`,
	`"set": {"fsm": "x"}`:     `/set/fsm set: fsm is the mark of a step: give the value another name`,
	`"set": {"outcome_2": "x"}`: `/set/outcome_2 set: in commands outcome_2 would be the variable FSM_OUTCOME_2, ` +
		`which says how a step ended: give it another name`,
	`"set": {"a": 1}`: `/set/a set.a must be a regular expression, an array of values, ` +
		`or an object such as {"run": "git branch --show-current"}, not the number 1`,
	`"set": {"a": null}`: `/set/a set.a must be a regular expression, an array of values, ` +
		`or an object such as {"run": "git branch --show-current"}, not null`,
	`"set": {"a": "(?=x)"}`:      `/set/a set.a: "(?=x)" is not a regular expression: invalid or unsupported Perl syntax: "(?="`,
	`"set": {"a": "a)|(b"}`:      `/set/a set.a: "a)|(b" is not a regular expression: unexpected ): "a)|(b"`,
	`"set": {"a": ""}`:           `/set/a set.a must be a regular expression of 1 to 1000 bytes`,
	`"set": {"a": []}`:           `/set/a set.a is empty: list the values that it can have`,
	`"set": {"a": ["x", "x"]}`:   `/set/a/1 set.a lists "x" more than once`,
	`"set": {"a": [null]}`:       `/set/a/0 set.a must hold texts, numbers or booleans, not null`,
	`"set": {"a": [" "]}`:        `/set/a/0 set.a has a blank value`,
	`"set": {"a": ["x\ny"]}`:     `/set/a/0 set.a: "x\ny": it has line breaks or control characters`,
	`"set": {"a": {"cmd": "x"}}`: `/set/a/cmd unknown field "cmd" in set.a (did you mean "run"?)`,
	`"set": {"a": {"timeout": "x"}}`: `/set/a set.a: missing "run", the shell command` + "\n" +
		`/set/a/timeout set.a.timeout must be a number of seconds or a text such as "90s" or "5m", not the string "x"`,
	`"within": 0`:          `/within within must be more than 0, not 0`,
	`"within": "soon"`:     `/within within must be a number of seconds or a text such as "30m" or "2h", not the string "soon"`,
	`"within": "721h"`:     `/within within must be at most 2592000 seconds (30 days), not "721h"`,
	`"outcomes": ["late"]`: `/outcomes/late a step ends as late when its time limit has passed, and this step has none: add "within"`,
	`"within": 1, "outcomes": {"late": {"back": 1, "max": 1}}`: `/outcomes/late/back late cannot lead back: nobody would be there to go on`,
	`"within": 1, "outcomes": {"late": {"check": "x"}}`:        `/outcomes/late late cannot have gates: the clock decides it, and asks none`,
	`"set": {"version": "x"}, "description": "Read {verison}."`: `/description description names {verison}, ` +
		`which is not a value of this workflow (did you mean "version"?) (write {{verison}} for the text itself)`,
	`"set": {"version": "x"}, "description": "Read {version}."`: `/description description names {version}, ` +
		`which is not set before this step is completed`,
	`"set": {"version": "x"}, "ready": ["a/{version}"]`: `/ready/0 ready names {version}, which is not set before this step is completed`,
	`"set": {"version": "x"}, "produces": ["a/{version}{"]`: `/produces/0 produces: "a/{version}{": braces are not expanded: ` +
		`list each pattern (? stands for a { in a name)`,
	`"set": {"version": "x"}, "status": "completed"`: `/set/version a completed step gives no values`,
	`"activeForm": "{item}"`: `/activeForm activeForm names {item}, which only what is done for each line has: ` +
		`a step with each, or if it has a do, the steps in that (write {{item}} for the text itself)`,
	`"approval": "Take {thing}?"`: `/approval approval names {thing}, which is not a value of this ` +
		`workflow (write {{thing}} for the text itself)`,
	`"check": {"run": "x", "dir": "{thing}"}`: `/check/dir check.dir names {thing}, which is not a value of ` +
		`this workflow (write {{thing}} for the text itself)`,
	`"outcomes": {"a": {"produces": ["{thing}"]}, "b": {}}`: `/outcomes/a/produces/0 outcomes.a.produces names {thing}, ` +
		`which is not a value of this workflow (write {{thing}} for the text itself)`,
	`"set": {"a": {"run": "x", "dir": "{b}"}, "b": "x"}`: `/set/a/dir set.a.dir names {b}, which is not set before this step is completed`,
}

func TestRefusedValues(t *testing.T) {
	for members, want := range refusedValues {
		var all []string
		for _, p := range refused(t, flowCase(members)).Problems {
			all = append(all, strings.TrimPrefix(p.Pointer, "/steps/1")+" "+strings.TrimPrefix(p.Message, `task 2 ("B"): `))
			assert.Equal(t, 3, p.Line, members)
		}
		assert.Equal(t, want, strings.Join(all, "\n"), members)
	}
	for _, members := range []string{`"when": {"1": "x"}, "set": {"a": [1.50, true, "b"], "b": {"run": "x", "timeout": null}}, "within": "1h"`,
		`"when": {"1": "x"}, "set": {"a": "x", "b": ["y"]}`} {
		parsed(t, flowCase(members))
	}
}

func TestLimitsOfValues(t *testing.T) {
	many := func(n int) string {
		var values []string
		for i := range n {
			values = append(values, strconv.Itoa(i+1))
		}
		return strings.Join(values, ", ")
	}
	numbered := func(n int) string {
		var names []string
		for i := range n {
			names = append(names, `"v`+strconv.Itoa(i)+`": "x"`)
		}
		return strings.Join(names, ", ")
	}
	parsed(t, flowCase(`"when": {"1": "x"}, "set": {`+numbered(fsmspec.MaxSet)+`}`))
	parsed(t, flowCase(`"when": {"1": "x"}, "set": {"a": [`+many(fsmspec.MaxPatterns)+`]}`))
	for members, want := range map[string]string{
		`"set": {` + numbered(fsmspec.MaxSet+2) + `}`:         `task 2 ("B"): set may have at most 20 names`,
		`"set": {"a": [` + many(fsmspec.MaxPatterns+2) + `]}`: `task 2 ("B"): set.a may hold at most 100 elements`,
	} {
		problems := refused(t, flowCase(members)).Problems
		assert.Len(t, problems, 1)
		assert.Equal(t, want, problems[0].Message)
	}
}

func TestRefusedVars(t *testing.T) {
	for vars, want := range map[string]string{
		`[]`:            `/vars vars must be an object of names and default texts, such as {"goal": "{args}"}, not an array`,
		`{"args": "x"}`: `/vars/args vars: args is the arguments of the skill's call, which are always there: give the value another name`,
		`{"A": "x"}`: `/vars/A vars: "A" is not a name for a value: use a lower-case letter, ` +
			`then up to 30 lower-case letters, digits and _`,
		`{"a": 1}`:            `/vars/a vars.a must be a text, not the number 1`,
		`{"a": "{b} {args}"}`: `/vars/a vars.a names {b}: a default can only have {args} (write {{b}} for the text itself)`,
	} {
		file := `{"fsm": 2, "vars": ` + vars + `, "steps": [{"id": 1, "subject": "A"}]}`
		problems := refused(t, file).Problems
		require.Len(t, problems, 1, vars)
		assert.Equal(t, want, problems[0].Pointer+" "+problems[0].Message)
		assert.Equal(t, 1, problems[0].Line)
	}
	checkSchema(t, `{"fsm": 2, "vars": {}, "steps": []}`)
}

// TestValuesAreSet: a value has to be set on every path to where it is used.
func TestValuesAreSet(t *testing.T) {
	const choose = `{"id": 1, "subject": "Choose", "outcomes": ["a", "b", "c"]}, `
	sets := func(id, more string) string {
		return `{"id": ` + id + `, "subject": "Set", "set": {"v": "x"}` + more + `}, `
	}
	const use = `"subject": "Use {v}"`
	for name, c := range map[string]struct{ steps, want string }{
		"before": {sets("2", "") + `{"id": 3, ` + use + `, "blockedBy": [2]}`, ""},
		"beside": {sets("2", "") + `{"id": 3, ` + use + `}`,
			"subject names {v}, which is not set when this step starts: only step 2 gives it, which does not come before"},
		"far before": {sets("2", "") + `{"id": 3, "subject": "B", "blockedBy": [2]}, {"id": 4, ` + use + `, "blockedBy": [3]}`, ""},
		"on one branch": {choose + sets("2", `, "when": {"1": "a"}`) + `{"id": 3, ` + use + `, "blockedBy": [1, 2]}`,
			"subject names {v}, which is not set if step 1 ends as b and step 2 is not worked on"},
		"on the same branch": {choose + sets("2", `, "when": {"1": ["a", "b"]}`) + `{"id": 3, ` + use +
			`, "blockedBy": [2], "when": {"1": "a"}}`, ""},
		"on another branch": {choose + sets("2", `, "when": {"1": "a"}`) + `{"id": 3, ` + use +
			`, "blockedBy": [2], "when": {"1": ["a", "b"]}}`, "subject names {v}, which is not set if step 1 ends as b and step 2 is not worked on"},
		"on every branch": {choose + sets("2", `, "when": {"1": ["a", "c"]}`) + sets("4", `, "when": {"1": "b"}`) + `{"id": 3, ` +
			use + `, "blockedBy": [2, 4]}`, ""},
		"where it was left out": {choose + sets("2", `, "when": {"1": "a"}`) + `{"id": 3, ` + use + `, "when": {"2": "skipped"}}`,
			"subject names {v}, which is not set if step 1 ends as a and step 2 is not worked on"},
		"where it was not": {choose + sets("2", `, "when": {"1": "a"}`) + `{"id": 3, ` + use + `, "when": {"2": "done"}}`, ""},
		"where a person skips": {sets("2", "") + `{"id": 3, ` + use + `, "when": {"2": "skipped"}}`,
			"subject names {v}, which is not set if step 2 is not worked on"},
		"where it is late": {sets("2", `, "within": 9, "outcomes": {"late": {}}`) + `{"id": 3, ` + use + `, "blockedBy": [2]}`,
			"subject names {v}, which is not set if step 2 ends as late"},
		"where it is not late": {sets("2", `, "within": 9, "outcomes": {"late": {}}`) + `{"id": 3, ` + use + `, "when": {"2": "done"}}`, ""},
		"where the others stop": {`{"id": 1, "subject": "C", "outcomes": {"a": {}, "b": {"stop": true}}}, ` +
			sets("2", `, "when": {"1": "a"}`) + `{"id": 3, ` + use + `, "blockedBy": [1, 2]}`, ""},
		"in a loop": {sets("2", "") + `{"id": 3, ` + use + `, "blockedBy": [2], "outcomes": {"again": {"back": 2, "max": 2}}}`, ""},
		"in the loop, later": {`{"id": 3, ` + use + `}, ` +
			`{"id": 2, "subject": "S", "blockedBy": [3], "set": {"v": "x"}, "outcomes": {"again": {"back": 3, "max": 2}}}`,
			"subject names {v}, which is not set when this step starts: only step 2 gives it, which does not come before"},
		"a part": {`{"id": 2, "subject": "D", "do": [{"id": 1, "subject": "P", "set": {"v": "x"}}, ` +
			`{"id": 2, "subject": "Q", "blockedBy": [1], "outcomes": {"a": {}, "over": {"stop": true}}}]}, ` +
			`{"id": 3, ` + use + `, "blockedBy": [2]}`, ""},
		"a part that is stopped": {`{"id": 2, "subject": "D", "do": [{"id": 1, "subject": "P", "outcomes": {"a": {}, "over": {"stop": true}}}, ` +
			`{"id": 2, "subject": "Q", "blockedBy": [1], "set": {"v": "x"}}]}, {"id": 3, ` + use + `, "blockedBy": [2]}`,
			"subject names {v}, which is not set when this step starts: only step 2 in step 2 gives it, and it is not sure " +
				`that step 2 ends with it: give it a default in "vars"`},
		"a part that is late": {`{"id": 2, "subject": "D", "do": [{"id": 1, "subject": "P", "set": {"v": "x"}, "within": 9, ` +
			`"outcomes": {"late": {}}}]}, {"id": 3, ` + use + `, "blockedBy": [2]}`,
			"subject names {v}, which is not set when this step starts: only step 1 in step 2 gives it, and it is not sure " +
				`that step 2 ends with it: give it a default in "vars"`},
		"a part that is late, and one for then": {`{"id": 2, "subject": "D", "do": [{"id": 1, "subject": "P", "set": {"v": "x"}, "within": 9, ` +
			`"outcomes": {"done": {}, "late": {}}}, {"id": 2, "subject": "Q", "when": {"1": "late"}, "set": {"v": "x"}}]}, ` +
			`{"id": 3, ` + use + `, "blockedBy": [2]}`, ""},
		"a part of a step beside": {`{"id": 2, "subject": "D", "do": [{"id": 1, "subject": "P", "when": {"2": "a"}, "set": {"v": "x"}}, ` +
			`{"id": 2, "subject": "Q", "outcomes": ["a", "b"]}]}, {"id": 3, ` + use + `}`,
			"subject names {v}, which is not set when this step starts: only step 1 gives it, which does not come before"},
		"a part on a branch": {`{"id": 2, "subject": "D", "do": [` + choose + sets("2", `, "when": {"1": "a"}`) +
			`{"id": 3, "subject": "E"}]}, {"id": 3, ` + use + `, "blockedBy": [2]}`,
			"subject names {v}, which is not set when this step starts: only step 2 in step 2 gives it, and it is not sure " +
				`that step 2 ends with it: give it a default in "vars"`},
		"parts on every branch": {`{"id": 2, "subject": "D", "do": [` + choose + sets("2", `, "when": {"1": "a"}`) +
			`{"id": 3, "subject": "E", "when": {"1": ["b", "c"]}, "do": [{"id": 1, "subject": "S", "set": {"v": "x"}}]}]}, ` +
			`{"id": 3, ` + use + `, "blockedBy": [2]}`, ""},
		"parts on every branch, of which one stops": {`{"id": 2, "subject": "D", "do": [{"id": 1, "subject": "C", ` +
			`"outcomes": {"a": {}, "b": {}, "over": {"stop": true}}}, ` + sets("2", `, "when": {"1": "a"}`) +
			strings.TrimSuffix(sets("3", `, "when": {"1": "b"}`), ", ") + `]}, {"id": 3, ` + use + `, "blockedBy": [2]}`,
			"subject names {v}, which is not set when this step starts: only step 2 or step 3 in step 2 gives it, and it is not sure " +
				`that step 2 ends with it: give it a default in "vars"`},
		"its own part": {`{"id": 2, "subject": "D", "produces": ["{v}"], "do": [` + strings.TrimSuffix(sets("1", ""), ", ") + `]}`, ""},
		"its own part on a branch": {`{"id": 2, "subject": "D", "produces": ["{v}"], "do": [` + choose +
			strings.TrimSuffix(sets("2", `, "when": {"1": "a"}`), ", ") + `]}`,
			"produces names {v}, which is not set when this step is completed: only step 2 in it gives it, and it is not sure that its parts " +
				`end with it: give it a default in "vars"`},
		"its own part, too early": {`{"id": 2, ` + use + `, "do": [` + strings.TrimSuffix(sets("1", ""), ", ") + `]}`,
			"subject names {v}, which is not set when this step starts: step 1 in it gives it, which is done later"},
		"a default": {`{"id": 3, "subject": "Use {d}"}`, ""},
		"a command, not set": {choose + sets("2", `, "when": {"1": "a"}`) +
			`{"id": 3, "subject": "Use", "blockedBy": [1, 2], "check": "test \"$FSM_V\""}`,
			"warning: check reads FSM_V, which is not set if step 1 ends as b and step 2 is not worked on"},
		"a command with a default": {choose + sets("2", `, "when": {"1": "a"}`) +
			`{"id": 3, "subject": "Use", "blockedBy": [1, 2], "check": "test \"${FSM_V:-}\""}`, ""},
		"a command, misspelt": {sets("2", "") +
			`{"id": 3, "subject": "Use", "blockedBy": [2], "check": "test \"${FSM_DD}\" $FSM_ITEM $FSM_ARGS $FSM_D $FSM_ROUND $X $"}`,
			`warning: check reads FSM_DD, which no value of this workflow sets`},
		"a command, no such step": {`{"id": 3, "subject": "Use", "check": "test \"$FSM_OUTCOME_7\""}`,
			`warning: check reads FSM_OUTCOME_7, and there is no step 7`},
		"a wildcard": {sets("2", "") + `{"id": 3, "subject": "U", "blockedBy": [2], "produces": ["specs/*/spec.md", "*.md"]}`,
			`warning: produces: "specs/*/spec.md" has a wildcard for a directory, so a file of an earlier run is enough: name the ` +
				`directory by a value, such as {d}`},
	} {
		t.Run(name, func(t *testing.T) {
			file := `{"fsm": 2, "vars": {"d": "D"}, "steps": [` + strings.TrimSuffix(c.steps, ", ") + `]}`
			var got []string
			spec, err := fsmspec.Parse([]byte(file))
			if err != nil {
				for _, p := range refused(t, file).Problems {
					got = append(got, p.Message)
				}
			} else {
				for _, p := range spec.Warnings() {
					if !p.ChangesMeaning {
						got = append(got, "warning: "+p.Message)
					}
				}
			}
			want := c.want
			if strings.Contains(want, "which is not set if ") {
				want += `: give it a default in "vars", or this step a "when"`
			}
			if want != "" {
				warning := strings.HasPrefix(want, "warning: ")
				want = strings.TrimPrefix(want, "warning: ")
				require.Len(t, got, 1, "%v", got)
				assert.Equal(t, warning, strings.HasPrefix(got[0], "warning: "), got[0])
				_, got[0], _ = strings.Cut(strings.TrimPrefix(got[0], "warning: "), "): ")
			}
			assert.Equal(t, want, strings.Join(got, "\n"))
		})
	}
	// Without values to name it by there is no warning.
	assert.Empty(t, parsed(t, `{"fsm": 2, "steps": [{"id": 3, "subject": "U", "produces": ["specs/*/spec.md"]}]}`).Warnings())
}

func TestFill(t *testing.T) {
	values := map[string]string{"a": "1", "b": "{a} [x]\n* y"}
	for text, want := range map[string]string{
		"": "", "{a}": "1", "x{a}y{a}z": "x1y1z", "{b}": "{a} [x]\n* y", "{{a}}": "{a}", "{{{a}}}": "{{a}}",
		"{c} {A} {} { a} {a": "{c} {A} {} { a} {a",
		`{"a": {a}}`:         `{"a": 1}`, "{{a}": "{1", "{a}}": "1}", "{{c}}": "{c}", "{a-b}": "{a-b}", strings.Repeat("{a", 3) + "}": "{a{a1",
	} {
		assert.Equal(t, want, fsmspec.Fill(text, values), text)
	}
	assert.Equal(t, "{a} [x] * y", fsmspec.FillLine("{b}", values))
	assert.Less(t, len(fsmspec.FillLine("{a}", map[string]string{"a": strings.Repeat("x", 1000)})), 300)
	assert.Equal(t, []string{"a", "c"}, fsmspec.Named("{a}{{b}}{c} {a}"))
}

func TestFillPaths(t *testing.T) {
	values := map[string]string{"a": "v*[1]?", "dots": "..", "dot": ".", "slash": "x/y", "root": "/etc", "empty": "", "line": "a\nb"}
	assert.Equal(t, `s/v\*[1]\?-x/*.md`, must(fsmspec.FillPattern("s/{a}-x/*.md", values)))
	assert.Equal(t, `s/v*[1]?`, must(fsmspec.FillPath("s/{a}", values)))
	for name, want := range map[string]string{
		"dots":  "{dots} stands in a path, and its value is .., which is a directory",
		"dot":   "{dot} stands in a path, and its value is ., which is a directory",
		"slash": "{slash} stands in a path, and its value has a /, and it has to be one segment",
		"root":  "{root} stands in a path, and its value has a /, and it has to be one segment",
		"empty": "{empty} stands in a path, and its value is empty", "line": "{line} stands in a path, and its value has control characters",
		"none": "{none} stands in a path, and has no value yet",
	} {
		_, err := fsmspec.FillPattern("s/x{"+name+"}y/z", values)
		assert.EqualError(t, err, want)
		_, err = fsmspec.FillPath("{"+name+"}", values)
		assert.EqualError(t, err, want)
	}
}

// TestAValueNeverLeavesItsSegment: whatever the values are, a path keeps its elements, none of
// them leads elsewhere, and it matches only the file whose name has the values.
func TestAValueNeverLeavesItsSegment(t *testing.T) {
	nasty := rapid.OneOf(rapid.SampledFrom([]string{"..", ".", "", "/", "a/b", "../..", "{a}", "*", "[a-z]", `\`, `\*`, "~", "]", "é"}),
		rapid.String(),
		rapid.StringOfN(rapid.RuneFrom([]rune(`./\*?[]{}ab`)), 0, 6, -1))
	rapid.Check(t, func(t *rapid.T) {
		values := map[string]string{"a": nasty.Draw(t, "a"), "b": nasty.Draw(t, "b")}
		template := rapid.SampledFrom([]string{"{a}", "x/{a}", "{a}/x", "{a}{b}", "{a}.{b}/y", "x/v{a}-{b}/{a}.md",
			".{a}/{b}."}).Draw(t, "template")
		pattern, err := fsmspec.FillPattern(template, values)
		if err != nil {
			return
		}
		literal := must(fsmspec.FillPath(template, values))
		elements := strings.Split(literal, "/")
		assert.Len(t, elements, strings.Count(template, "/")+1)
		for _, e := range elements {
			assert.NotContains(t, []string{"", ".", ".."}, e)
		}
		assert.True(t, matched(pattern, literal))
		assert.False(t, matched(pattern, literal+"x"))
	})
}

func matched(text, name string) bool { return pattern.Path(text, name) }

func TestFaultsOfValues(t *testing.T) {
	version := fsmspec.Value{Name: "version", Pattern: "[0-9.]+|x"}
	for value, want := range map[string]string{
		"1.2": "", "x": "", "1.2x": "it does not match [0-9.]+|x", "x1": "it does not match [0-9.]+|x",
		"1\n":                     "it has line breaks or control characters",
		strings.Repeat("1", 1001): "it has more than 1000 characters", "..": "it stands in a path, and its value is .., which is a directory",
	} {
		assert.Equal(t, want, version.Fault(value, true), value)
	}
	assert.Equal(t, "", version.Fault("..", false))
	kind := fsmspec.Value{OneOf: []string{"a", "b"}}
	assert.Equal(t, "", kind.Fault("b", false))
	assert.Equal(t, "it is not one of a, b", kind.Fault("", false))
	assert.Equal(t, "it does not match (?i)a|b", fsmspec.Value{Pattern: "(?i)a|b"}.Fault("ab", false))
}

// TestValuesOfParts: parts share the values of their workflow, and what is set for one line is known
// only there.
func TestValuesOfParts(t *testing.T) {
	for name, c := range map[string]struct{ steps, want string }{
		"from outside": {`{"id": 1, "subject": "S", "set": {"v": "x"}}, {"id": 2, "subject": "P", "blockedBy": [1], ` +
			`"do": [{"id": 1, "subject": "Use {v}"}]}`, ""},
		"beside": {`{"id": 1, "subject": "S", "set": {"v": "x"}}, {"id": 2, "subject": "P", "do": [{"id": 1, "subject": "Use {v}"}]}`,
			"only step 1 gives it, which does not come before"},
		"from a part": {`{"id": 1, "subject": "P", "do": [{"id": 1, "subject": "S", "set": {"v": "x"}}]}, {"id": 2, ` +
			`"subject": "Use {v}", "blockedBy": [1]}`, ""},
		"for each line": {`{"id": 1, "subject": "P", "each": {"lines": "l"}, "do": [{"id": 1, "subject": "S", "set": {"v": "x"}}, {"id": 2, ` +
			`"subject": "Use {v} {item}", "blockedBy": [1]}]}`, ""},
		"of a line, outside": {`{"id": 1, "subject": "P", "each": {"lines": "l"}, "set": {"v": "x"}}, {"id": 2, ` +
			`"subject": "Use {v}", "blockedBy": [1]}`,
			"subject names {v}, which is not set when this step starts: step 1 for each line gives one, which only the steps for that line can use"},
		"the item of a join": {`{"id": 1, "subject": "P {item}", "each": {"lines": "l"}, "do": [{"id": 1, "subject": "S"}]}`,
			"which only what is done for each line has: a step with each, or if it has a do, the steps in that "},
		"the item, itself": {`{"id": 1, "subject": "P {item}", "each": {"lines": "l"}}`, ""},
		"lines by a value": {`{"id": 1, "subject": "S", "set": {"v": "x"}}, {"id": 2, "subject": "P", "blockedBy": [1], ` +
			`"each": {"lines": "specs/{v}/tasks"}}`, ""},
		"lines before a value": {`{"id": 2, "subject": "P", "set": {"v": "x"}, "each": {"lines": "specs/{v}/tasks"}}`, "which is not set"},
	} {
		t.Run(name, func(t *testing.T) {
			file := `{"fsm": 2, "steps": [` + c.steps + `]}`
			if c.want == "" {
				assert.True(t, parsed(t, file).HasValues())
				return
			}
			problems := lines(refused(t, file).Problems)
			require.Len(t, problems, 1)
			assert.Contains(t, problems[0], c.want)
		})
	}
	// A line is never read as the name of a value.
	tasks := parsed(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "S", "set": {"v": "x"}}, {"id": 2, "subject": "P", "blockedBy": [1], `+
		`"each": {"lines": "l"}, "do": [{"id": 1, "subject": "Use {v} for {item}"}]}]}`).Tasks()
	for _, line := range []string{"{v}", "{{v}}", "{x", "{{{v}}}", "}}"} {
		copied := must(fsmspec.ForItem(tasks[1].Each.Workflow, line))
		plan := must(fsmspec.PlanItems(fsmspec.ItemPlan{Command: "x", Parent: 2, Copies: []*fsmspec.Spec{copied},
			Values: map[string]string{"v": "1"}}, fsmspec.Snapshot{MaxID: 2}))
		assert.Equal(t, "Use 1 for "+line, plan.Creations()[0].Subject)
	}
}

// TestNothingIsReplacedInCommands: who writes {version} into a command means the value.
func TestNothingIsReplacedInCommands(t *testing.T) {
	const file = `{"fsm": 2, "vars": {"goal": "x"}, "steps": [{"id": 1, "subject": "A", "set": {"version": "^.+$"}},
		{"id": 2, "subject": "B", "blockedBy": [1], "check": %q}]}`
	for command, want := range map[string]string{
		"bump {version}":                        `check has {version}, and nothing is replaced in commands: write "$FSM_VERSION"`,
		`grep "{goal}" notes`:                   `check has {goal}, and nothing is replaced in commands: write "$FSM_GOAL"`,
		"echo {args}":                           `check has {args}, and nothing is replaced in commands: write "$FSM_ARGS"`,
		`bump "$FSM_VERSION"`:                   "",
		"version=1; bump ${version}":            "",
		"awk '{other}' notes; echo {{version}}": "",
		"echo {item}":                           "",
	} {
		var got []string
		for _, w := range parsed(t, fmt.Sprintf(file, command)).Warnings() {
			got = append(got, strings.TrimPrefix(w.Message, `task 2 ("B"): `))
			assert.Equal(t, "/steps/1/check", w.Pointer)
		}
		assert.Equal(t, want, strings.Join(got, "\n"), command)
	}
}

// TestAFixedValueThatIsNoPartOfAPath would be refused whenever the step is completed.
func TestAFixedValueThatIsNoPartOfAPath(t *testing.T) {
	const file = `{"fsm": 2, "vars": {"dir": %q}, "steps": [{"id": 1, "subject": "A", %s"produces": ["{dir}/x"]}]}`
	for _, dir := range []string{"../../etc", "a/b", "..", ""} {
		problems := refused(t, fmt.Sprintf(file, dir, "")).Problems
		require.Len(t, problems, 1, dir)
		assert.Contains(t, problems[0].Message, "produces names {dir}, which no step sets and which vars has: "+
			"it stands in a path, and its value ")
		assert.Equal(t, "/steps/0/produces/0", problems[0].Pointer)
		parsed(t, fmt.Sprintf(file, dir, `"set": {"dir": "^.+$"}, `))
	}
	parsed(t, fmt.Sprintf(file, "a", ""))
	parsed(t, fmt.Sprintf(file, "{args}", ""))
}
