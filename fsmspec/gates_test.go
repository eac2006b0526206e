package fsmspec_test

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
)

// gatesOf parses a file of one task with the given members.
func gatesOf(t *testing.T, members string) fsmspec.Task {
	t.Helper()
	spec := parsed(t, `[{"id": 1, "subject": "Deploy", `+members+`}]`)
	assert.Empty(t, spec.Warnings())
	task := spec.Tasks()[0]
	return fsmspec.Task{Produces: task.Produces, Ready: task.Ready, Check: task.Check, Approval: task.Approval}
}

func TestGates(t *testing.T) {
	for members, want := range map[string]fsmspec.Task{
		`"owner": "a"`: {},
		`"produces": ["dist/*.tar.gz", "./a//b.md"]`:                       {Produces: []string{"dist/*.tar.gz", "a/b.md"}},
		`"produces": [], "ready": []`:                                      {},
		`"produces": null, "ready": null, "check": null, "approval": null`: {},
		`"ready": ["spec.md", "app/[slug]/[...rest].tsx", "[a]", "[", "a\\*b", "$id.ts", "a..b"]`: {Ready: []string{"spec.md",
			"app/[slug]/[...rest].tsx", "[a]", "[", `a\*b`, "$id.ts", "a..b"}},
		`"check": "make test"`: {Check: &fsmspec.Check{Run: "make test", Timeout: 5 * time.Minute}},
		`"check": {"run": "go test ./...\ngo vet ./...", "timeout": 90, "dir": "app/./core"}`: {
			Check: &fsmspec.Check{Run: "go test ./...\ngo vet ./...",
				Timeout: 90 * time.Second, Dir: "app/core"}},
		`"check": {"run": "x", "env": ["PATH", "MY_VAR"]}`: {Check: &fsmspec.Check{Run: "x", Timeout: 5 * time.Minute,
			Env: &[]string{"PATH", "MY_VAR"}}},
		`"check": {"run": "x", "watch": ["**/*_test.go", "./Makefile", "a/**", "**"]}`: {Check: &fsmspec.Check{Run: "x",
			Timeout: 5 * time.Minute, Watch: []string{"**/*_test.go", "Makefile", "a/**/*", "**/*"}}},
		`"check": {"run": "x", "shell": "powershell"}`:       {Check: &fsmspec.Check{Run: "x", Shell: "powershell", Timeout: 5 * time.Minute}},
		`"check": {"run": "x", "env": []}`:                   {Check: &fsmspec.Check{Run: "x", Timeout: 5 * time.Minute, Env: &[]string{}}},
		`"check": {"run": "x", "env": null}`:                 {Check: &fsmspec.Check{Run: "x", Timeout: 5 * time.Minute}},
		`"check": {"run": "x", "timeout": null, "dir": "."}`: {Check: &fsmspec.Check{Run: "x", Timeout: 5 * time.Minute}},
		`"approval": true`:                                   {Approval: `May "Deploy" be completed?`},
		`"approval": "Publish?"`:                             {Approval: "Publish?"},
	} {
		assert.Equal(t, want, gatesOf(t, members), members)
		assert.Equal(t, !reflect.DeepEqual(want, fsmspec.Task{}), len(want.Gates()) > 0, members)
	}
	spec := parsed(t, `[{"approval": true, "id": 1, "subject": "Later in the entry\u0007"}]`)
	assert.Equal(t, `May "Later in the entry\a" be completed?`, spec.Tasks()[0].Approval)
}

// TestTinyTimeoutTakesNoMemory: without its exponent the number would have a billion digits.
func TestTinyTimeoutTakesNoMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := fsmspec.Parse([]byte(`[{"id": 1, "subject": "A", "check": {"run": "x", "timeout": 1e-999999999}}]`))
	require.Error(t, err)
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20))
}

func TestTimeouts(t *testing.T) {
	for spelling, want := range map[string]time.Duration{
		`90`: 90 * time.Second, `0.5`: 500 * time.Millisecond, `1.5e2`: 150 * time.Second, `1800`: 30 * time.Minute, `18e2`: 30 * time.Minute,
		`1800000e-3`: 30 * time.Minute, `1e-9`: time.Nanosecond, `1.25e-3`: 1250 * time.Microsecond, `12.0`: 12 * time.Second,
		`"90s"`: 90 * time.Second, `"5m"`: 5 * time.Minute, `"1m30s"`: 90 * time.Second, `"0.5h"`: 30 * time.Minute,
	} {
		assert.Equal(t, want, gatesOf(t, `"check": {"run": "x", "timeout": `+spelling+`}`).Check.Timeout, spelling)
	}
	const limit = "check.timeout must be at most 1800 seconds (30 minutes), not "
	const want = `check.timeout must be a number of seconds or a text such as "90s" or "5m", not `
	for spelling, message := range map[string]string{
		`1800.1`: limit + "1800.1", `1e400`: limit + "1e400", `1801`: limit + "1801", `99999`: limit + "99999", `"31m"`: limit + `"31m"`,
		`0`: "check.timeout must be more than 0, not 0", `-3`: "check.timeout must be more than 0, not -3",
		`"-3s"`: `check.timeout must be more than 0, not "-3s"`,
		`1e-10`: "check.timeout must be more than 0, not 1e-10",
		`"90"`:  want + `the string "90"`, `"soon"`: want + `the string "soon"`, `true`: want + "true", `[90]`: want + "an array",
		`""`: want + `the string ""`,
	} {
		invalid := refused(t, `[{"id": 1, "subject": "A", "check": {"run": "x", "timeout": `+spelling+`}}]`)
		assert.Equal(t, []string{`1:61 /0/check/timeout task 1 ("A"): ` + message}, lines(invalid.Problems), spelling)
	}
}

// An invalid gate must be an error: if it were ignored, the task would have no gate.
func TestGatesThatAreRefused(t *testing.T) {
	for members, message := range map[string]string{
		`"produces": "a.md"`:      `1:40 /0/produces produces must be an array of strings, not the string "a.md" (put it in brackets)`,
		`"produces": {}`:          `1:40 /0/produces produces must be an array of strings, not an object`,
		`"produces": [1]`:         `1:41 /0/produces/0 produces must hold strings, not the number 1`,
		`"ready": ["a", null]`:    `1:43 /0/ready/1 ready must hold strings, not null`,
		`"produces": [""]`:        `1:41 /0/produces/0 produces: "": the path is blank`,
		`"produces": [" \u200b"]`: `1:41 /0/produces/0 produces: " \u200b": the path is blank`,
		`"produces": ["/etc/a"]`:  `1:41 /0/produces/0 produces: "/etc/a": want a path relative to the project's directory`,
		`"produces": ["~/a"]`:     `1:41 /0/produces/0 produces: "~/a": want a path relative to the project's directory`,
		`"produces": ["C:/a"]`: `1:41 /0/produces/0 produces: "C:/a": want a path relative to the project's directory, ` +
			`with / between directories`,
		`"produces": ["C:\\x"]`: `1:41 /0/produces/0 produces: "C:\\x": want a path relative to the project's directory, ` +
			`with / between directories`,
		`"produces": ["docs\notes.md"]`: `1:41 /0/produces/0 produces: "docs\notes.md": a path cannot have control characters: ` +
			`write / between directories, not a backslash`,
		`"produces": ["${D}/a"]`: `1:41 /0/produces/0 produces: "${D}/a": variables are not expanded: want a path ` +
			`relative to the project's directory`,
		`"produces": ["a/../../b"]`: `1:41 /0/produces/0 produces: "a/../../b": .. is not allowed: the path has to stay ` +
			`inside the project's directory`,
		`"produces": ["a\\b"]`:  `1:41 /0/produces/0 produces: "a\\b": write / between directories, not a backslash`,
		`"produces": ["a\\"]`:   `1:41 /0/produces/0 produces: "a\\": write / between directories, not a backslash`,
		`"produces": ["dist/"]`: `1:41 /0/produces/0 produces: "dist/": this is a directory, want a file`,
		`"produces": ["."]`:     `1:41 /0/produces/0 produces: ".": this is a directory, want a file`,
		`"produces": ["a/."]`:   `1:41 /0/produces/0 produces: "a/.": this is a directory, want a file`,
		`"produces": ["a/**/b"]`: `1:41 /0/produces/0 produces: "a/**/b": ** is not supported: write * for each directory, ` +
			`or look for the files in a check`,
		`"produces": ["!a"]`: `1:41 /0/produces/0 produces: "!a": a pattern cannot be negated: list what is wanted ` +
			`(? stands for a ! in a name)`,
		`"produces": ["{a,b}"]`: `1:41 /0/produces/0 produces: "{a,b}": braces are not expanded: list each pattern ` +
			`(? stands for a { in a name)`,
		`"produces": ["{v}"]`:     `1:41 /0/produces/0 produces: "{v}": values need {"fsm": 2, "steps": […]} (? stands for a { in a name)`,
		`"produces": ["\\[a\\]"]`: `1:41 /0/produces/0 produces: "\\[a\\]": [ and ] stand for themselves: write them without a backslash`,

		`"check": 3`: `1:37 /0/check check must be a shell command or an object such as {"run": "make test", ` +
			`"timeout": 90}, not the number 3`,
		`"check": ["a"]`: `1:37 /0/check check must be a shell command or an object such as {"run": "make test", ` +
			`"timeout": 90}, not an array`,
		`"check": true`: `1:37 /0/check check must be a shell command or an object such as {"run": "make ` +
			`test", "timeout": 90}, not true`,
		`"check": " "`:                       `1:37 /0/check check is blank`,
		`"check": "a\u0000"`:                 `1:37 /0/check check has a NUL character, which no command can`,
		`"check": {}`:                        `1:37 /0/check check: missing "run", the shell command`,
		`"check": {"run": null}`:             `1:37 /0/check check: missing "run", the shell command`,
		`"check": {"run": 3}`:                `1:45 /0/check/run check.run must be a shell command, not the number 3`,
		`"check": {"run": ""}`:               `1:45 /0/check/run check.run is blank`,
		`"check": {"cmd": "a"}`:              `1:38 /0/check/cmd unknown field "cmd" in check (did you mean "run"?)`,
		`"check": {"run": "a", "timout": 3}`: `1:50 /0/check/timout unknown field "timout" in check (did you mean "timeout"?)`,
		`"check": {"run": "a", "cwd": "b"}`:  `1:50 /0/check/cwd unknown field "cwd" in check (did you mean "dir"?)`,
		`"check": {"run": "a", "note": "b"}`: `1:50 /0/check/note unknown field "note" in check`,
		`"check": {"run": "a", "dir": "../b"}`: `1:57 /0/check/dir check.dir: "../b": .. is not allowed: the path has to stay ` +
			`inside the project's directory`,
		`"check": {"run": "a", "dir": "a\\*b"}`: `1:57 /0/check/dir check.dir: "a\\*b": write / between directories, not a backslash`,
		`"check": {"run": "a", "env": "PATH"}`: `1:57 /0/check/env check.env must be an array of the names of the variables that the ` +
			`command gets, such as ["PATH", "HOME"], not the string "PATH" (put it in brackets)`,
		`"check": {"run": "a", "shell": "pwsh"}`: `1:59 /0/check/shell check.shell must be "sh" or "powershell", not the string "pwsh": ` +
			`a command itself is in "run"`,
		`"check": {"run": "a", "env": [1]}`: `1:58 /0/check/env/0 check.env must hold names of variables, not the number 1`,
		`"check": {"run": "a", "env": ["A=b"]}`: `1:58 /0/check/env/0 check.env: "A=b" is not the name of a variable: ` +
			`letters, digits and _, such as PATH`,
		`"check": {"run": "a", "environment": ["A"]}`: `1:50 /0/check/environment unknown field "environment" in check (did you mean "env"?)`,
		`"check": {"run": "a", "watch": "Makefile"}`: `1:59 /0/check/watch check.watch must be an array of strings, not the string ` +
			`"Makefile" (put it in brackets)`,
		`"check": {"run": "a", "watch": ["../a"]}`: `1:60 /0/check/watch/0 check.watch: "../a": .. is not allowed: the path has to stay ` +
			`inside the project's directory`,
		`"check": {"run": "a", "watch": ["a**"]}`: `1:60 /0/check/watch/0 check.watch: "a**": ** has to stand alone between slashes, ` +
			`as in docs/**/*.md`,
		`"check": {"run": "a", "watch": ["{version}/a"]}`: `1:60 /0/check/watch/0 check.watch: "{version}/a": values are not filled in here`,
		`"check": {"run": "a", "wacth": ["a"]}`:           `1:50 /0/check/wacth unknown field "wacth" in check (did you mean "watch"?)`,
		`"check": {"run": "a", "dir": 1}`:                 `1:57 /0/check/dir check.dir must be a string, not the number 1`,
		`"check": {"run": "a", "run": "b"}`:               `1:50 /0/check/run duplicate key "run" in one object, at 1:38 and again at 1:50`,
		`"approval": false`: `1:40 /0/approval approval must be true or a question, ` +
			`not false: leave it out if nobody is asked`,
		`"approval": "true"`:       `1:40 /0/approval approval must be true or a question, not the string "true" (write true without the quotes)`,
		`"approval": "No"`:         `1:40 /0/approval approval must be true or a question, not the string "No": leave it out if nobody is asked`,
		`"approval": 1`:            `1:40 /0/approval approval must be true or a question, not the number 1`,
		`"approval": "\t"`:         `1:40 /0/approval approval is blank`,
		`"approval": "a\u001b[2J"`: `1:40 /0/approval approval has control characters, which a terminal would obey`,
		`"check": "` + strings.Repeat("a", fsmspec.MaxCommandBytes+1) +
			`"`: `1:37 /0/check check is longer than 65536 bytes: put the command into a script`,
		`"ready": ["a"` + strings.Repeat(`, "b"`, fsmspec.MaxPatterns) + `]`: `1:538 /0/ready/100 ready may hold at most 100 elements`,
	} {
		invalid := refused(t, `[{"id": 1, "subject": "A", `+members+`}]`)
		require.Len(t, invalid.Problems, 1, members)
		got := strings.Replace(lines(invalid.Problems)[0], `task 1 ("A"): `, "", 1)
		assert.Equal(t, message, got, members)
	}
}

func TestMisspelledGates(t *testing.T) {
	for field, meant := range map[string]string{
		"checks": "check", "Check": "check", "chek": "check", "cmd": "check", "command": "check", "run": "check", "verify": "check",
		"validation": "check", "test": "check",
		"produce": "produces", "product": "produces", "produced": "produces", "output": "produces", "artifacts": "produces",
		"approve": "approval", "approvals": "approval", "aproval": "approval", "requires_approval": "approval", "confirm": "approval",
		"question": "approval",
		"readys":   "ready", "Ready": "ready", "readyWhen": "ready", "inputs": "ready", "preconditions": "ready",
		"requires": "blockedBy",
	} {
		invalid := refused(t, fmt.Sprintf(`[{"id": 1, "subject": "A", %q: "x"}]`, field))
		assert.Equal(t, []string{fmt.Sprintf(`1:28 /0/%s task 1 ("A"): unknown field %q: write %q, or move it into metadata`, field, field,
			meant)}, lines(invalid.Problems))
	}
	for _, field := range []string{"timeout", "dir", "cwd", "check_timeout"} {
		invalid := refused(t, fmt.Sprintf(`[{"id": 1, "subject": "A", "check": "x", %q: 90}]`, field))
		assert.Equal(t, []string{fmt.Sprintf(`1:42 /0/%s task 1 ("A"): unknown field %q: it belongs in the object of "check"`, field,
			field)}, lines(invalid.Problems))
	}
	for _, field := range []string{"estimate", "priority", "phase", "tags", "checklist", "notes", "reviewer"} {
		assert.Len(t, parsed(t, fmt.Sprintf(`[{"id": 1, "subject": "A", %q: 1}]`, field)).Warnings(), 1, field)
	}
}

func TestAPatternListedTwice(t *testing.T) {
	spec := parsed(t, `[{"id": 1, "subject": "A", "produces": ["a", "./a"]}]`)
	assert.Equal(t, []string{"a"}, spec.Tasks()[0].Produces)
	assert.Equal(t, []string{`1:46 /0/produces/1 task 1 ("A"): produces lists "./a" more than once`}, lines(spec.Warnings()))
}

// The agent can edit the tasks of a list, and so could remove a gate there.
func TestNoTaskHasAGate(t *testing.T) {
	const gates = `, "produces": ["a"], "check": {"run": "b"}, "approval": "c", "ready": ["d"]`
	plan := func(file string) fsmspec.Creation {
		plan := must(parsed(t, file).Plan("s", fsmspec.Snapshot{}, fsmspec.Policy{}))
		return plan.Creations()[0]
	}
	assert.Equal(t, plan(`[{"id": 1, "subject": "A"}]`), plan(`[{"id": 1, "subject": "A"`+gates+`}]`))
}

// TestAClassOfCharactersIsRefused in every place of a pattern: it would match nothing that its author meant.
func TestAClassOfCharactersIsRefused(t *testing.T) {
	for where, name := range map[string]string{`"produces": ["%s"]`: "produces", `"ready": ["%s"]`: "ready",
		`"check": {"run": "x", "watch": ["%s"]}`: "check.watch", `"only": ["Edit(%s)"]`: "only"} {
		of := func(pattern string) string {
			return `{"fsm": 2, "steps": [{"id": 1, "subject": "A", ` + fmt.Sprintf(where, pattern) + `}]}`
		}
		for pattern, class := range map[string]string{"v[0-9].md": "[0-9]", "[!a]*": "[!a]", "x/[a-c]/y": "[a-c]"} {
			text := pattern
			if name == "only" {
				text = "Edit(" + pattern + ")"
			}
			problems := refused(t, of(pattern)).Problems
			require.Len(t, problems, 1)
			assert.Equal(t, fmt.Sprintf(`task 1 ("A"): %s: "%s": %s is no class of characters here: write ? for any character `+
				`(? stands for a [ in a name, too)`, name, text, class), problems[0].Message)
		}
		assert.Empty(t, parsed(t, of("app/[slug]/x")).Warnings())
	}
}
