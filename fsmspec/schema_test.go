package fsmspec_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
)

// schema is the compiled one.
var schema = sync.OnceValue(func() *jsonschema.Schema {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("fsm.schema.json", must(jsonschema.UnmarshalJSON(bytes.NewReader(fsmspec.Schema())))); err != nil {
		panic(err)
	}
	return must(c.Compile("fsm.schema.json"))
})

// beyondSchema matches the problems that the schema cannot express.
var beyondSchema = regexp.MustCompile(`duplicate id|there is no task with id|nested deeper|duplicate key|invalid ` +
	`UTF-8|surrogate|byte order mark|` +
	`braces are not expanded|is no class of characters|values need|` +
	`check.timeout must be|put the command into a script|approval must be true or a question, not the string|` +
	`can ever start|cycle|lists the task itself|it is a path|leads back|does not lead back|cannot end as|not an outcome of|chooses ` +
	`among|ends as (?:failed|late) when|skipped cannot be|goes forward|depends on step|overlap|circle of then|` +
	`its part|ends by itself|listed more than once|` +
	`has no value|names \{|is not a regular expression|completed step gives|late cannot|within must be|` +
	`only: "|only tasks of the same array`)

// checkSchema fails if the schema and Parse disagree about a file, except in what the doc
// comment of Schema says.
func checkSchema(t require.TestingT, file string) {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(file))
	if err != nil {
		return // not JSON
	}
	refusal := schema().Validate(value)
	spec, err := fsmspec.Parse([]byte(file))
	if err == nil {
		for _, w := range spec.Warnings() {
			if strings.Contains(w.Message, "unknown field") {
				require.Error(t, refusal, "an unknown field should be refused by the schema:\n%s", file)
				return
			}
		}
		require.NoError(t, refusal, "the validator accepts it, the schema does not:\n%s", file)
		return
	}
	if refusal != nil {
		return
	}
	invalid, _ := errors.AsType[*fsmspec.InvalidError](err)
	for _, p := range invalid.Problems {
		require.Regexp(t, beyondSchema, p.Message, "the schema accepts it, the validator does not:\n%s", file)
	}
}

func TestSchemaAgreesWithTheWorkflows(t *testing.T) {
	files := must(filepath.Glob("../testdata/workflows/*/fsm.json"))
	require.GreaterOrEqual(t, len(files), 10)
	for _, path := range append(files, "testdata/every-field.fsm.json", "../internal/install/skills/release-checklist/fsm.json") {
		data := must(os.ReadFile(path))
		_, err := fsmspec.Parse(data)
		require.NoError(t, err, path)
		checkSchema(t, string(data))
	}
}

// TestSchemaAgreesOnValues of what is not in the files of other tests, all of which are held against the schema.
func TestSchemaAgreesOnValues(t *testing.T) {
	for _, file := range []string{
		`[]`, `null`, `[null]`, `[{"id":null,"subject":"a"}]`, `[{"id":1,"subject":null}]`, `[{"id":1000000,"subject":"a"}]`,
		`[{"id":1e0,"subject":"a"}]`, `[{"id":1.0,"subject":"a"}]`, `[{"id":1,"subject":" \t\u00a0\u200b\u0007"}]`,
		`[{"id":1,"subject":"\u2028"}]`, `[{"id":1,"subject":"\u0085"}]`, `[{"id":1,"subject":"a","metadata":{"x":[{}]}}]`,
		`[{"id":1,"subject":"a","status":null,"blocks":null,"blockedBy":null,"metadata":null,"owner":null,"activeForm":null,"description":null}]`,
		`{"fsm":2,"steps":[]}`, `{"fsm":2.0,"steps":[]}`, `{"fsm":2,"steps":null}`, `[{"id":1,"subject":"a","when":null}]`,
	} {
		checkSchema(t, file)
	}
	for _, members := range []string{
		`"outcomes": null, "decides": null, "when": null`, `"outcomes": {"a": null}`, `"outcomes": {"a": {}}`,
		`"outcomes": {"a": {"back": null, "max": null, "then": null, "stop": null, "check": null}}`, `"set": null`, `"x": 1`,
		`"outcomes": ["a"], "decides": "agent"`, `"when": {"1": ["x", "skipped"]}`, `"when": {"1000001": "x"}`, `"when": {"1": null}`,
		`"outcomes": {"a": {"back": 1.0, "max": 1e0}}`, `"outcomes": {"a": {"back": 1, "max": 1.5}}`,
		`"outcomes": ["a", "b"], "decides": {"run": "x", "dir": ".."}`,
		`"do": null`, `"do": "x"`, `"do": [{}]`, `"do": [{"id": 1, "subject": "p", "x": 1}]`, `"each": null`, `"each": []`, `"each": "a"`,
		`"each": {"lines": null}`, `"each": {"lines": "a", "run": null}`, `"each": {"run": ""}`, `"each": {"lines": "a", "inTurn": null}`,
		`"each": {"lines": "a", "inTurn": false}`, `"each": {"lines": "a", "inTurn": 1}`, `"each": {"lines": "a", "timeout": null}`,
		`"each": {"run": "b", "timeout": null, "dir": null, "env": null, "inTurn": true}`, `"each": {"lines": ""}`,
		`"each": {"run": "b", "shell": "powershell"}`, `"each": {"lines": "b", "shell": "powershell"}`, `"each": {"lines": "b", "shell": null}`,
		`"set": {"a": {"run": "b", "shell": "powershell"}}`, `"set": {"a": {"run": "b", "shell": 1}}`,
		`"outcomes": {"a": {"check": {"run": "b", "shell": "powershell"}}}`,
		`"each": {"lines": "/a"}`, `"each": {"lines": "."}`, `"each": {"lines": "a?"}`, `"each": {"lines": "[a]"}`, `"each": {"lines": "a\\b"}`,
		`"each": {"lines": "specs/{feature}/tasks.list"}`, `"each": {"lines": "a/./b"}`,
	} {
		checkSchema(t, flowCase(members))
	}
	for field, values := range map[string][]string{
		"produces": {`[]`, `["a"]`, `"a"`, `{}`, `[1]`, `[null]`, `[""]`, `["\u200b"]`, `["/a"]`, `["~a"]`, `["c:/a"]`, `["é:/a"]`,
			`["${A}"]`, `["$a"]`, `["../a"]`, `["a/.."]`, `["..a"]`, `["a/../b"]`,
			`["a\\\\b"]`, `["a\\b"]`, `["\\*"]`, `["a\\"]`, `["a\nb"]`, `["\u0085"]`, `["a/"]`, `["."]`, `["a/."]`, `["./a"]`, `["a."]`,
			`["**"]`, `["!a"]`, `["a!"]`, `["[!a]"]`, `["[^a]"]`, `["{a,b}"]`, `["{a}"]`, `["{a}b,"]`, `["[a"]`, `["a{"]`, `["a}"]`, `["\\["]`,
			"[" + strings.Repeat(`"a",`, 99) + `"a"]`, "[" + strings.Repeat(`"a",`, 100) + `"a"]`},
		"check": {`""`, `"a"`, `" "`, `"\u0000a"`, `{}`, `[]`, `1`, `true`, `{"run":""}`, `{"run":"a"}`, `{"run":null}`, `{"run":1}`,
			`{"run":"\u0000a"}`, `{"run":"a","x":1}`, `{"run":"a","timeout":null,"dir":null}`,
			`{"run":"a","timeout":0}`, `{"run":"a","timeout":0.1}`, `{"run":"a","timeout":1800}`, `{"run":"a","timeout":1800.5}`,
			`{"run":"a","timeout":-1}`, `{"run":"a","timeout":true}`,
			`{"run":"a","timeout":"90s"}`, `{"run":"a","timeout":"+1.m.5s"}`, `{"run":"a","timeout":"90"}`, `{"run":"a","timeout":"-1s"}`,
			`{"run":"a","timeout":"1µs1μs"}`, `{"run":"a","timeout":"31m"}`,
			`{"run":"a","dir":"."}`, `{"run":"a","dir":"b/"}`, `{"run":"a","dir":"*"}`, `{"run":"a","dir":""}`, `{"run":"a","dir":".."}`,
			`{"run":"a","dir":"\\*"}`, `{"run":"a","dir":"/"}`, `{"run":"a","dir":1}`,
			`{"run":"a","shell":"powershell"}`, `{"run":"a","shell":null}`, `{"run":"a","shell":"sh"}`, `{"run":"a","shell":1}`,
			`{"run":"a","env":null}`, `{"run":"a","env":[]}`, `{"run":"a","env":["PATH","_x9"]}`, `{"run":"a","env":["A","A"]}`,
			`{"run":"a","env":"PATH"}`, `{"run":"a","env":{}}`, `{"run":"a","env":[1]}`, `{"run":"a","env":[""]}`,
			`{"run":"a","env":["9a"]}`, `{"run":"a","env":["a=b"]}`, `{"run":"a","env":["é"]}`, `{"run":"a","env":["A\n"]}`,
			`{"run":"a","env":[` + strings.Repeat(`"A",`, 99) + `"B"]}`, `{"run":"a","env":[` + strings.Repeat(`"A",`, 100) + `"B"]}`},
		"approval": {`true`, `false`, `"a"`, `""`, `" "`, `"a\n\tb"`, `"a\u001b"`, `"a\u0085"`, `"yes"`, `1`, `{}`},
	} {
		for _, value := range values {
			checkSchema(t, `[{"id":1,"subject":"a","`+field+`":`+value+`}]`)
		}
	}
}

func TestSchemaAgreesOnGeneratedFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := workflows().Draw(t, "workflow")
		checkSchema(t, w.file)
		checkSchema(t, string(damage(t, []byte(w.file))))
	})
}

func TestSchemaLimitsTheNumberOfTasks(t *testing.T) {
	tasks := func(n int) any {
		list := make([]any, n)
		for i := range list {
			list[i] = map[string]any{"id": i + 1, "subject": "a"}
		}
		return list
	}
	require.NoError(t, schema().Validate(tasks(fsmspec.MaxTasks)))
	require.Error(t, schema().Validate(tasks(fsmspec.MaxTasks+1)))
}

func TestSchemaDescribesEveryField(t *testing.T) {
	require.NotContains(t, string(fsmspec.Schema()), `"description": ""`)
}
