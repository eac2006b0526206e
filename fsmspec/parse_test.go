package fsmspec_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
)

// lines writes problems as "line:column pointer message", with a dash for the whole file.
func lines(problems []fsmspec.Problem) []string {
	var text []string
	for _, p := range problems {
		pointer := p.Pointer
		if pointer == "" {
			pointer = "-"
		}
		text = append(text, fmt.Sprintf("%d:%d %s %s", p.Line, p.Column, pointer, p.Message))
	}
	return text
}

// must returns the value of a call that has to succeed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// refused returns the problems of a file. The schema refuses it, too, as far as it can.
func refused(t *testing.T, file string) *fsmspec.InvalidError {
	t.Helper()
	agrees(t, file)
	spec, err := fsmspec.Parse([]byte(file))
	require.Nil(t, spec)
	invalid, ok := errors.AsType[*fsmspec.InvalidError](err)
	require.True(t, ok, "%T: %v", err, err)
	require.NotEmpty(t, invalid.Problems)
	return invalid
}

// agrees fails if the schema and Parse disagree about a file that is not large.
func agrees(t *testing.T, file string) {
	t.Helper()
	if len(file) < 1<<16 {
		checkSchema(t, file)
	}
}

func parsed(t *testing.T, file string) *fsmspec.Spec {
	t.Helper()
	agrees(t, file)
	return must(fsmspec.Parse([]byte(file)))
}

func TestParseEveryField(t *testing.T) {
	spec := parsed(t, `[{"owner":"me","metadata":{"b": 1.50,"a":[]},"blockedBy":[2.0],"blocks":[2e0],"status":"completed",
		"activeForm":"Doing","description":"D","subject":"Do \u0041","id":1},{"id":2,"subject":"\ud83d\ude00\u0000"}]`)
	assert.Equal(t, []fsmspec.Task{
		{ID: 1, Local: 1, Subject: "Do A", Description: "D", ActiveForm: "Doing", Owner: "me", Status: fsmspec.Completed,
			Blocks: []int64{2}, BlockedBy: []int64{2}, Circular: []int64{2}, Metadata: `{"b": 1.50,"a":[]}`},
		{ID: 2, Local: 2, Subject: "😀\x00", BlockedBy: []int64{1}, Circular: []int64{1}},
	}, spec.Tasks())
}

func TestParseIntegers(t *testing.T) {
	for spelling, id := range map[string]int64{
		"1": 1, "1.0": 1, "1e0": 1, "1E+0": 1, "1e-0": 1, "10e-1": 1, "0.1e1": 1, "0.001e3": 1, "100.00e-2": 1, "12e3": 12000,
		"1000000": fsmspec.MaxLocalID, "1000000.000": fsmspec.MaxLocalID, "1e6": fsmspec.MaxLocalID, "999999": 999999,
	} {
		t.Run(spelling, func(t *testing.T) {
			spec := parsed(t, `[{"id":`+spelling+`,"subject":"A","status":"in_progress","blocks":[`+spelling+`]}]`)
			assert.Equal(t, id, spec.Tasks()[0].ID)
			assert.Equal(t, []int64{id}, spec.Tasks()[0].Blocks)
		})
	}
}

func TestParseDoesNotKeepTheInput(t *testing.T) {
	data := []byte(`[{"id":1,"subject":"A","metadata":{"k":"v"}}]`)
	spec := must(fsmspec.Parse(data))
	before := spec.Tasks()
	for i := range data {
		data[i] = 'x'
	}
	assert.Equal(t, before, spec.Tasks())
}

// Each way in which JSON can be an invalid file, with the position and the message.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"root an object", ` {"x": 1}`, `1:2 - the file must hold an array of tasks, not an object, or be {"fsm": 2, "steps": […]}`},
		{"root one task", ` {"id": 1, "subject": "A"}`,
			`1:2 - the file must hold an array of tasks, not an object: put brackets around the task, [{…}]`},
		{"root a state machine", `{"id": "m", "initial": "a", "states": {}}`,
			`1:1 - the file must hold an array of tasks, not an object, or be {"fsm": 2, "steps": […]}`},
		{"root an object with tasks", `{"version": 1, "tasks": [{"id": 1, "subject": "A"}]}`,
			`1:1 - the file must hold an array of tasks, not an object: keep only the array in "tasks"`},
		{"one task a line", "{\"id\": 1, \"subject\": \"A\"}\n{\"id\": 2, \"subject\": \"B\"}",
			"1:1 - the file must hold an array of tasks, not an object: put the tasks into one array, [{…}, {…}]\n2:1 - malformed JSON: " +
				"unexpected text after the JSON value"},
		{"root an object that is cut", `{"id": 1`,
			"1:1 - the file must hold an array of tasks, not an object\n1:9 - malformed JSON: unexpected end of file: the { at 1:1 is not closed"},

		{"root a number", `05`, "1:1 - the file must hold an array of tasks, not the number 0\n1:2 - malformed JSON: unexpected text after the " +
			"JSON value: a number cannot begin with 0"},
		{"root null", `null`, `1:1 - the file must hold an array of tasks, not null`},
		{"entry a string", "[\n \"a\"]", `2:2 /0 entry 1 must be an object, not the string "a"`},
		{"entry null", `[null]`, `1:2 /0 entry 1 must be an object, not null`},
		{"entry an array", `[[]]`, `1:2 /0 entry 1 must be an object, not an array`},

		{"no id", "[\n  {\"subject\": \"A\"}]", `2:3 /0 entry 1 ("A"): missing "id"`},
		{"no subject", `[{"id": 3}]`, `1:2 /0 task 3: missing "subject"`},
		{"id misspelled", `[{"ID": 3, "subject": "A"}]`, `1:2 /0 entry 1 ("A"): missing "id" (misspelled as "ID"?)`},
		{"id null", `[{"id": null, "subject": "A"}]`, `1:9 /0/id entry 1 ("A"): missing "id": it is null`},
		{"subject null", `[{"id": 1, "subject": null}]`, `1:23 /0/subject task 1: missing "subject": it is null`},
		{"subject empty", `[{"id": 1, "subject": ""}]`, `1:23 /0/subject task 1: subject is blank`},
		{"subject blank", `[{"id": 1, "subject": " \t\u00a0\u200b"}]`, "1:23 /0/subject task 1 (\" \\t\u00a0\\u200b\"): subject is blank"},

		{"id true", `[{"id": true, "subject": "A"}]`, `1:9 /0/id entry 1 ("A"): id must be a positive integer, not true`},
		{"id a string", `[{"id": "1", "subject": "A"}]`,
			`1:9 /0/id entry 1 ("A"): id must be a positive integer, not the string "1" (write 1 without the quotes)`},
		{"a subject for an id", `[{"id": 1, "subject": "A"}, {"id": 2, "subject": "B", "blockedBy": ["A"]}]`,
			`1:69 /1/blockedBy/0 task 2 ("B"): blockedBy must hold ids, which are positive integers, not the string "A" (its id is 1)`},
		{"a subject that two tasks have", `[{"id": 1, "subject": "A"}, {"id": 3, "subject": "A"}, {"id": 2, "subject": "B", "blockedBy": ["A"]}]`,
			`1:96 /2/blockedBy/0 task 2 ("B"): blockedBy must hold ids, which are positive integers, not the string "A"`},
		{"id the largest in quotes", `[{"id": "1000000", "subject": "A"}]`,
			`1:9 /0/id entry 1 ("A"): id must be a positive integer, not the string "1000000" (write 1000000 without the quotes)`},
		{"id too large in quotes", `[{"id": "1000001", "subject": "A"}]`,
			`1:9 /0/id entry 1 ("A"): id must be a positive integer, not the string "1000001"`},
		{"id zero in quotes", `[{"id": "0", "subject": "A"}]`, `1:9 /0/id entry 1 ("A"): id must be a positive integer, not the string "0"`},
		{"id in quotes with zeros before it", `[{"id": "007", "subject": "A"}]`,
			`1:9 /0/id entry 1 ("A"): id must be a positive integer, not the string "007" (write 7 without the quotes)`},
		{"id negative in quotes", `[{"id": "-7", "subject": "A"}]`,
			`1:9 /0/id entry 1 ("A"): id must be a positive integer, not the string "-7"`},
		{"id with a plus in quotes", `[{"id": "+7", "subject": "A"}]`,
			`1:9 /0/id entry 1 ("A"): id must be a positive integer, not the string "+7"`},
		{"id the empty string", `[{"id": "", "subject": "A"}]`, `1:9 /0/id entry 1 ("A"): id must be a positive integer, not the string ""`},
		{"id a word", `[{"id": "a1", "subject": "A"}]`, `1:9 /0/id entry 1 ("A"): id must be a positive integer, not the string "a1"`},
		{"id an object", `[{"id": {"id": 1}, "subject": "A"}]`, `1:9 /0/id entry 1 ("A"): id must be a positive integer, not an object`},
		{"id a fraction", `[{"id": 1.5, "subject": "A"}]`, `1:9 /0/id entry 1 ("A"): id must be a positive integer, not 1.5`},
		{"id a small fraction", `[{"id": 1e-400, "subject": "A"}]`, `1:9 /0/id entry 1 ("A"): id must be a positive integer, not 1e-400`},
		{"id a fraction by its exponent", `[{"id": 15e-1, "subject": "A"}]`, `1:9 /0/id entry 1 ("A"): id must be a positive integer, not 15e-1`},
		{"id negative and huge", `[{"id": -1e400, "subject": "A"}]`, `1:9 /0/id entry 1 ("A"): id must be a positive integer, not -1e400`},
		{"id beyond 64 bits", `[{"id": 18446744073709551617, "subject": "A"}]`,
			`1:9 /0/id entry 1 ("A"): id must be a positive integer, at most 1000000, not 18446744073709551617`},
		{"id beyond 64 bits by its exponent", `[{"id": 1e19, "subject": "A"}]`,
			`1:9 /0/id entry 1 ("A"): id must be a positive integer, at most 1000000, not 1e19`},
		{"id with exponent beyond 64 bits and a zero", `[{"id": 10e99999999999999999999, "subject": "A"}]`,
			`1:9 /0/id entry 1 ("A"): id must be a positive integer, at most 1000000, not 10e99999999999999999999`},
		{"id with exponent beyond 64 bits and a fraction", `[{"id": 0.1e-99999999999999999999, "subject": "A"}]`,
			`1:9 /0/id entry 1 ("A"): id must be a positive integer, not 0.1e-99999999999999999999`},
		{"id far below 1", `[{"id": 1e-99999999999999999999, "subject": "A"}]`,
			`1:9 /0/id entry 1 ("A"): id must be a positive integer, not 1e-99999999999999999999`},
		{"id zero", `[{"id": 0, "subject": "A"}]`, `1:9 /0/id entry 1 ("A"): id must be a positive integer, not 0`},
		{"id minus zero", `[{"id": -0.0e9, "subject": "A"}]`, `1:9 /0/id entry 1 ("A"): id must be a positive integer, not -0.0e9`},
		{"id negative", `[{"id": -1, "subject": "A"}]`, `1:9 /0/id entry 1 ("A"): id must be a positive integer, not -1`},
		{"id huge", `[{"id": 1e400, "subject": "A"}]`, `1:9 /0/id entry 1 ("A"): id must be a positive integer, at most 1000000, not 1e400`},
		{"id beyond an int", `[{"id": 1e99999999999999999999, "subject": "A"}]`,
			`1:9 /0/id entry 1 ("A"): id must be a positive integer, at most 1000000, not 1e99999999999999999999`},
		{"id one too large", "[\n{\"id\": 1000001, \"subject\": \"A\"}]",
			`2:8 /0/id entry 1 ("A"): id must be a positive integer, at most 1000000, not 1000001`},
		{"id the largest of a list", `[{"id": 9007199254740991, "subject": "A"}]`,
			`1:9 /0/id entry 1 ("A"): id must be a positive integer, at most 1000000, not 9007199254740991`},
		{"reference one too large", `[{"id": 1, "subject": "A", "blocks": [1000001]}]`,
			`1:39 /0/blocks/0 task 1 ("A"): blocks must hold ids, which are positive integers, at most 1000000, not 1000001`},

		{"subject a number", `[{"id": 1, "subject": 5}]`, `1:23 /0/subject task 1: subject must be a string, not the number 5`},
		{"description an array", `[{"id": 1, "subject": "A", "description": ["x"]}]`,
			`1:43 /0/description task 1 ("A"): description must be a string, not an array`},
		{"activeForm false", `[{"id": 1, "subject": "A", "activeForm": false}]`,
			`1:42 /0/activeForm task 1 ("A"): activeForm must be a string, not false`},
		{"owner a number", `[{"id": 1, "subject": "A", "owner": 7}]`, `1:37 /0/owner task 1 ("A"): owner must be a string, not the number 7`},
		{"metadata a string", `[{"id": 1, "subject": "A", "metadata": "m"}]`,
			`1:40 /0/metadata task 1 ("A"): metadata must be an object, not the string "m"`},
		{"metadata an array", `[{"id": 1, "subject": "A", "metadata": [1]}]`,
			`1:40 /0/metadata task 1 ("A"): metadata must be an object, not an array`},
		{"status a number", `[{"id": 1, "subject": "A", "status": 1}]`, `1:38 /0/status task 1 ("A"): status must be a string, not the number 1`},
		{"status unknown", `[{"id": 1, "subject": "A", "status": "done"}]`,
			`1:38 /0/status task 1 ("A"): status must be pending, in_progress or completed, not "done" (did you mean "completed"?)`},
		{"status far from any", `[{"id": 1, "subject": "A", "status": "later"}]`,
			`1:38 /0/status task 1 ("A"): status must be pending, in_progress or completed, not "later"`},
		{"status near", `[{"id": 1, "subject": "A", "status": "In-Progress"}]`,
			`1:38 /0/status task 1 ("A"): status must be pending, in_progress or completed, not "In-Progress" (did you mean "in_progress"?)`},
		{"status empty", `[{"id": 1, "subject": "A", "status": ""}]`,
			`1:38 /0/status task 1 ("A"): status must be pending, in_progress or completed, not ""`},
		{"blockedBy a string", `[{"id": 1, "subject": "A", "blockedBy": "1"}]`,
			`1:41 /0/blockedBy task 1 ("A"): blockedBy must be an array of ids, not the string "1"`},
		{"blocks a number", `[{"id": 1, "subject": "A", "blocks": 1}]`,
			`1:38 /0/blocks task 1 ("A"): blocks must be an array of ids, not the number 1 (put it in brackets)`},
		{"blockedBy of strings", `[{"id": 1, "subject": "A"}, {"id": 2, "subject": "B", "blockedBy": [1, "1"]}]`,
			`1:72 /1/blockedBy/1 task 2 ("B"): blockedBy must hold ids, which are positive integers, not the string "1" ` +
				`(write 1 without the quotes)`},
		{"blocks of null", `[{"id": 1, "subject": "A", "blocks": [null]}]`,
			`1:39 /0/blocks/0 task 1 ("A"): blocks must hold ids, which are positive integers, not null`},
		{"blocks of arrays", `[{"id": 1, "subject": "A", "blocks": [[1]]}]`,
			`1:39 /0/blocks/0 task 1 ("A"): blocks must hold ids, which are positive integers, not an array`},
		{"reference a fraction", `[{"id": 1, "subject": "A", "blocks": [1.5]}]`,
			`1:39 /0/blocks/0 task 1 ("A"): blocks must hold ids, which are positive integers, not 1.5`},
		{"reference zero", `[{"id": 1, "subject": "A", "blocks": [0]}]`,
			`1:39 /0/blocks/0 task 1 ("A"): blocks must hold ids, which are positive integers, not 0`},

		{"reference unknown", `[{"id": 3, "subject": "Deploy", "blockedBy": [7]}, {"id": 6, "subject": "B"}]`,
			`1:47 /0/blockedBy/0 task 3 ("Deploy"): blockedBy refers to 7, but there is no task with id 7 (did you mean 6?)`},
		{"reference never near itself", `[{"id": 6, "subject": "A", "blocks": [7]}, {"id": 3, "subject": "B"}]`,
			`1:39 /0/blocks/0 task 6 ("A"): blocks refers to 7, but there is no task with id 7 (did you mean 3?)`},
		{"reference far off", `[{"id": 1, "subject": "A", "blocks": [99.0]}, {"id": 3, "subject": "B"}]`,
			`1:39 /0/blocks/0 task 1 ("A"): blocks refers to 99, but there is no task with id 99 (the ids of this file go from 1 to 3)`},
		{"reference ten off", `[{"id": 1, "subject": "A", "blocks": [11]}, {"id": 21, "subject": "B"}, {"id": 22, "subject": "C"}]`,
			`1:39 /0/blocks/0 task 1 ("A"): blocks refers to 11, but there is no task with id 11 (did you mean 21?)`},
		{"reference eleven off", `[{"id": 1, "subject": "A", "blocks": [12]}, {"id": 23, "subject": "B"}]`,
			`1:39 /0/blocks/0 task 1 ("A"): blocks refers to 12, but there is no task with id 12 (the ids of this file go from 1 to 23)`},
		{"reference between two ids", `[{"id": 1, "subject": "A", "blocks": [7]}, {"id": 9, "subject": "B"}, {"id": 5, "subject": "C"}]`,
			`1:39 /0/blocks/0 task 1 ("A"): blocks refers to 7, but there is no task with id 7 (did you mean 5?)`},
		{"references of a task with two problems", `[{"id": 1, "subject": "", "blocks": [1], "blockedBy": [2]}]`,
			"1:23 /0/subject task 1: subject is blank\n1:56 /0/blockedBy/0 task 1: blockedBy refers to 2, but there is no task with id 2"},
		{"reference without another", `[{"id": 1, "subject": "A", "blocks": [2]}]`,
			`1:39 /0/blocks/0 task 1 ("A"): blocks refers to 2, but there is no task with id 2`},
		{"id twice", "[{\"id\": 1, \"subject\": \"A\"},\n {\"subject\": \"B\", \"id\": 1.0}]",
			`2:25 /1/id task 1 ("B"): duplicate id 1, used at 1:9 ("A") and again at 2:25`},

		{"field misspelled", `[{"id": 1, "subject": "A", "blocked_by": []}]`,
			`1:28 /0/blocked_by task 1 ("A"): unknown field "blocked_by": write "blockedBy", or move it into metadata`},
		{"field under another name, before the subject",
			`[{"id": 1, "depends/on": [2], "subject": "A"}, {"id": 2, "subject": "B", "assignee": null}]`,
			"1:74 /1/assignee task 2 (\"B\"): unknown field \"assignee\": write \"owner\", or move it into metadata"},
		{"field misspelled, key escaped", `[{"id": 1, "subject": "A", "\u0073ubjec~": "B", "Subject": "C"}]`,
			"1:28 /0/subjec~0 task 1 (\"A\"): unknown field \"subjec~\": write \"subject\", or move it into metadata\n" +
				`1:49 /0/Subject task 1 ("A"): unknown field "Subject": write "subject", or move it into metadata`},
		{"subject under two other names", `[{"id": 1, "title": "A", "name": "B"}]`,
			"1:2 /0 task 1: missing \"subject\" (misspelled as \"title\"?)\n" +
				`1:26 /0/name task 1: unknown field "name": write "subject", or move it into metadata`},
		{"misspelled in an entry that is cut off", `[{"id": 1, "Subject": "A", "blocked_by": []`,
			"1:12 /0/Subject task 1: unknown field \"Subject\": write \"subject\", or move it into metadata\n" +
				"1:28 /0/blocked_by task 1: unknown field \"blocked_by\": write \"blockedBy\", or move it into metadata\n" +
				`1:44 /0 task 1: malformed JSON: unexpected end of file: the { at 1:2 is not closed`},

		{"key twice", `[{"id": 1, "subject": "A", "subject": "A"}]`,
			`1:28 /0/subject task 1 ("A"): duplicate key "subject" in one object, at 1:12 and again at 1:28`},
		{"key twice by an escape", `[{"id": 1, "\u0069d": 1, "subject": "A"}]`,
			`1:12 /0/id task 1 ("A"): duplicate key "id" in one object, at 1:3 and again at 1:12`},
		{"key twice in metadata", `[{"id": 1, "subject": "A", "metadata": {"a/b": {"k": 1, "k": 1}}}]`,
			`1:57 /0/metadata/a~1b/k task 1 ("A"): duplicate key "k" in one object, at 1:49 and again at 1:57`},
		{"key twice in an unknown field", `[{"id": 1, "subject": "A", "x": [{"": 1, "": 1}]}]`,
			`1:42 /0/x/0/ task 1 ("A"): duplicate key "" in one object, at 1:35 and again at 1:42`},
		{"key twice outside of tasks", `{"k": {"k": 1}, "k": 2}`,
			"1:1 - the file must hold an array of tasks, not an object, or be {\"fsm\": 2, " +
				"\"steps\": […]}\n1:17 /k duplicate key \"k\" in one object, at 1:2 and again at 1:17"},

		{"byte order mark", "\uFEFF[{\"id\": 1, \"subject\": \"\"}]",
			"1:1 - the file begins with a byte order mark (BOM): save it without one\n1:23 /0/subject task 1: subject is blank"},
		{"UTF-16", "\xff\xfe[\x00]\x00", `1:1 - the file is UTF-16: save it as UTF-8`},
		{"UTF-16, big-endian", "\xfe\xff\x00[", `1:1 - the file is UTF-16: save it as UTF-8`},
		{"invalid UTF-8", "[{\"id\": 1, \"subject\": \"é\xff\xfe!\xff\"}]", `1:25 /0/subject task 1 ("é\xff\xfe!\xff"): invalid UTF-8`},
		{"lone high surrogate", `[{"id": 1, "subject": "A\ud83d"}]`,
			"1:25 /0/subject task 1 (\"A\ufffd\"): invalid surrogate pair `\\ud83d\"` in string"},
		{"lone low surrogate", `[{"id": 1, "subject": "A", "metadata": {"k": "\\\uDE00"}}]`,
			"1:49 /0/metadata/k task 1 (\"A\"): invalid surrogate pair `\\uDE00\"` in string"},
		{"surrogate in a key", `[{"id": 1, "subject": "A", "\ud800\ud83d\ude00": 1}]`,
			"1:29 /0/\ufffd😀 task 1 (\"A\"): invalid surrogate pair `\\ud800\\ud83d` in string"},

		{"text of 40 characters", `[{"id": 1, "subject": "` + strings.Repeat("é", 40) + `", "owner": 1}]`,
			`1:76 /0/owner task 1 ("` + strings.Repeat("é", 40) + `"): owner must be a string, not the number 1`},
		{"text of 41 characters is cut", `[{"id": 1, "subject": "` + strings.Repeat("é", 41) + `", "owner": 1}]`,
			`1:77 /0/owner task 1 ("` + strings.Repeat("é", 40) + `…"): owner must be a string, not the number 1`},
		{"long text is cut", `[{"id": "` + strings.Repeat("é", 100) + `", "subject": "A"}]`,
			`1:9 /0/id entry 1 ("A"): id must be a positive integer, not the string "` + strings.Repeat("é", 39) + `…`},
		{"columns count code points", `[{"id": 1, "subject": "Ünï😀", "owner": 1}]`,
			`1:40 /0/owner task 1 ("Ünï😀"): owner must be a string, not the number 1`},
		{"lines end at line feeds", "[{\"id\": 1,\r\n\"subject\":\r\"A\u2028\",\n\"owner\":1}]",
			"3:9 /0/owner task 1 (\"A\\u2028\"): owner must be a string, not the number 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, strings.Split(c.want, "\n"), lines(refused(t, c.file).Problems))
		})
	}
}

// TestFieldMeantIsAFieldOfATask: a member of check is not, though Parse recognises it too.
func TestFieldMeantIsAFieldOfATask(t *testing.T) {
	for name, want := range map[string]string{"depends_on": "blockedBy", "Subject": "subject", "timeout": "", "cwd": "", "colour": ""} {
		assert.Equal(t, want, fsmspec.FieldMeant(name), name)
	}
}

// An unknown field is refused if its name is similar to that of a field, or if other formats
// use it for one. Otherwise it is ignored.
func TestMisspelledFields(t *testing.T) {
	for field, want := range map[string]string{
		"ID": "id", "i_d": "id", "di": "", "i": "", "idd": "", "ids": "", "uid": "", "taskId": "id",
		"subject ": "subject", "subjcet": "subject", "object": "subject", "subjects12": "", "title": "subject", "name": "subject",
		"Content": "subject", "heading": "subject", "summary": "subject", "task": "subject", "task_subject": "subject",
		"statsu": "status", "states": "status", "stats": "status", "stas": "", "state": "status", "done": "status",
		"owenr": "owner", "owners": "owner", "onwer1": "", "owne": "owner", "own": "", "assigned_to": "owner",
		"active_form": "activeForm", "active____form": "activeForm", "Active----Form": "activeForm", "active    form": "activeForm",
		"x" + strings.Repeat("y", 38): "",
		"desc":                        "description", "des": "", "details": "description", "meta": "metadata", "met": "", "data": "",
		"block": "blocks", "blockz": "blocks", "blocking": "blocks", "before": "blocks", "addBlocks": "blocks",
		"blocked": "blockedBy", "blockedB": "blockedBy", "blockedby": "blockedBy", "blocked_by": "blockedBy", "blocked-by": "blockedBy",
		"Blocked By": "blockedBy",
		"depends_on": "blockedBy", "dependsOn": "blockedBy", "dependencies": "blockedBy", "needs": "blockedBy", "after": "blockedBy",
		"addBlockedBy": "blockedBy",
		"notes":        "", "priority": "", "type": "", "colour": "", "": "", "____": "", "s___": "",
	} {
		file := fmt.Sprintf(`[{"id": 1, "subject": "A", %q: {"a": [1]}}]`, field)
		if want == "" {
			warnings := parsed(t, file).Warnings()
			require.Len(t, warnings, 1)
			assert.Equal(t, fmt.Sprintf(`task 1 ("A"): unknown field %q is ignored`, field), warnings[0].Message)
			assert.Equal(t, "/0/"+field, warnings[0].Pointer)
			continue
		}
		problems := refused(t, file).Problems
		require.Len(t, problems, 1)
		assert.Equal(t, fmt.Sprintf(`task 1 ("A"): unknown field %q: write %q, or move it into metadata`, field, want), problems[0].Message)
		assert.Equal(t, "/0/"+field, problems[0].Pointer)
	}
}

func TestSuggestedStatuses(t *testing.T) {
	for word, want := range map[string]string{
		"Pending": "pending", "pend": "pending", "todo": "pending", "not started": "pending",
		"in progress": "in_progress", "inProgress": "in_progress", "doing": "in_progress", "in_": "",
		"complete": "completed", "completd": "completed", "done": "completed", "Finished": "completed", "failed": "", "cancelled": "", "": "",
	} {
		message := fmt.Sprintf(`task 1 ("A"): status must be pending, in_progress or completed, not %q`, word)
		if want != "" {
			message += fmt.Sprintf(" (did you mean %q?)", want)
		}
		problems := refused(t, fmt.Sprintf(`[{"id": 1, "subject": "A", "status": %q}]`, word)).Problems
		require.Len(t, problems, 1)
		assert.Equal(t, message, problems[0].Message)
	}
}

func TestMisspelledRequiredField(t *testing.T) {
	assert.Equal(t, []string{`1:2 /0 entry 1: missing "id" (misspelled as "Id"?)`,
		`1:2 /0 entry 1: missing "subject" (misspelled as "Subject"?)`},
		lines(refused(t, `[{"x": 1, "Subject": "A", "Id": 1}]`).Problems))
}

// SCN-THS-4.6
func TestAllProblemsAtOnceInFileOrder(t *testing.T) {
	err := refused(t, `[
  {"id": 1, "subject": "Build", "blockedBy": [9]},
  {"id": 1, "subject": "", "metadata": {"a": 1, "a": 2}},
  {"subject": "Test", "status": "later"},
  7,
  {"id": 4, "colour": "red"}
]`)
	assert.Equal(t, []string{
		`2:47 /0/blockedBy/0 task 1 ("Build"): blockedBy refers to 9, but there is no task with id 9 (did you mean 4?)`,
		`3:10 /1/id task 1: duplicate id 1, used at 2:10 ("Build") and again at 3:10`,
		`3:24 /1/subject task 1: subject is blank`,
		`3:49 /1/metadata/a task 1: duplicate key "a" in one object, at 3:41 and again at 3:49`,
		`4:3 /2 entry 3 ("Test"): missing "id"`,
		`4:33 /2/status entry 3 ("Test"): status must be pending, in_progress or completed, not "later"`,
		`5:3 /3 entry 4 must be an object, not the number 7`,
		`6:3 /4 task 4: missing "subject"`,
	}, lines(err.Problems))
	assert.Equal(t, []string{`6:13 /4/colour task 4: unknown field "colour" is ignored`}, lines(err.Warnings))

	text := strings.Split(err.Error(), "\n")
	require.Len(t, text, len(err.Problems))
	for i, p := range err.Problems {
		assert.Equal(t, fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Message), text[i])
		assert.ErrorIs(t, err, p)
		assert.False(t, p.Warning)
	}
}

func TestDuplicateKeysInALargeObject(t *testing.T) {
	var members []string
	for i := range 100 {
		members = append(members, fmt.Sprintf(`"k%d": 0`, i))
	}
	members = append(members, `"k0": 1`, `"k99": 1`, `"k99": 2`)
	problems := lines(refused(t, `{`+strings.Join(members, "\n,")+`}`).Problems)
	assert.Equal(t, []string{
		`101:2 /k0 duplicate key "k0" in one object, at 1:2 and again at 101:2`,
		`102:2 /k99 duplicate key "k99" in one object, at 100:2 and again at 102:2`,
		`103:2 /k99 duplicate key "k99" in one object, at 100:2 and again at 103:2`,
	}, problems[1:])
}

func TestOffsetsAreBytes(t *testing.T) {
	const file = "[\n{\"id\": 1, \"subject\": \"é\", \"owner\": 7}]"
	p := refused(t, file).Problems[0]
	assert.EqualValues(t, strings.Index(file, "7"), p.Offset)
	assert.Equal(t, 2, p.Line)
	assert.Equal(t, len("{'id': 1, 'subject': 'e', 'owner': 7"), p.Column)
}
