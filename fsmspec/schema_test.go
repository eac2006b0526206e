package fsmspec_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
)

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(fsmspec.Schema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	require.NoError(t, c.AddResource("fsm.schema.json", document))
	schema, err := c.Compile("fsm.schema.json")
	require.NoError(t, err)
	return schema
}

// beyondSchema matches the problems that the schema cannot express.
var beyondSchema = regexp.MustCompile(`duplicate id|there is no task with id|nested deeper|duplicate key|invalid ` +
	`UTF-8|surrogate|byte order mark|` +
	`not a valid pattern|check.timeout must be|put the command into a script|approval must be true or a question, not the string|` +
	`can ever start|cycle|lists the task itself|it is a path|leads back|does not lead back|cannot end as|not an outcome of|chooses ` +
	`among|ends as (?:failed|late) when|skipped cannot be|goes forward|depends on step|overlap|circle of then|` +
	`its part|ends by itself|listed more than once|` +
	`has no value|names \{|is not a regular expression|completed step gives|cannot stand between|late cannot|within must be`)

// checkSchema fails if the schema and Parse disagree about a file, except in what the doc
// comment of Schema says.
func checkSchema(t require.TestingT, schema *jsonschema.Schema, file string) {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(file))
	if err != nil {
		return // not JSON
	}
	refusal := schema.Validate(value)
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
	schema := compiledSchema(t)
	files, err := filepath.Glob("../testdata/workflows/*/fsm.json")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 10)
	for _, path := range append(files, "testdata/every-field.fsm.json", "../internal/install/skills/release-checklist/fsm.json") {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		_, err = fsmspec.Parse(data)
		require.NoError(t, err, path)
		checkSchema(t, schema, string(data))
	}
}

func TestSchemaAgreesOnMistakes(t *testing.T) {
	schema := compiledSchema(t)
	for _, file := range []string{
		`[]`, `{}`, `null`, `"x"`, `[1]`, `[null]`, `[{}]`, `[{"id":1}]`, `[{"subject":"a"}]`,
		`[{"id":null,"subject":"a"}]`, `[{"id":1,"subject":null}]`, `[{"id":"1","subject":"a"}]`, `[{"id":1.5,"subject":"a"}]`,
		`[{"id":0,"subject":"a"}]`, `[{"id":-1,"subject":"a"}]`, `[{"id":1000000,"subject":"a"}]`, `[{"id":1000001,"subject":"a"}]`,
		`[{"id":1e0,"subject":"a"}]`, `[{"id":1.0,"subject":"a"}]`, `[{"id":1,"subject":""}]`, `[{"id":1,"subject":" \t\u00a0\u200b\u0007"}]`,
		`[{"id":1,"subject":"\u2028"}]`, `[{"id":1,"subject":"\u0085"}]`, `[{"id":1,"subject":7}]`, `[{"id":1,"subject":"a","status":"done"}]`,
		`[{"id":1,"subject":"a","status":null,"blocks":null,"blockedBy":null,"metadata":null,"owner":null,"activeForm":null,"description":null}]`,
		`[{"id":1,"subject":"a","status":3}]`, `[{"id":1,"subject":"a","blockedBy":1}]`, `[{"id":1,"subject":"a","blockedBy":["1"]}]`,
		`[{"id":1,"subject":"a","blockedBy":[1]}]`, `[{"id":1,"subject":"a","blockedBy":[0]}]`, `[{"id":1,"subject":"a","blocks":[2]}]`,
		`[{"id":1,"subject":"a","metadata":[]}]`, `[{"id":1,"subject":"a","metadata":{"x":[{}]}}]`, `[{"id":1,"subject":"a","colour":1}]`,
		`[{"id":1,"subject":"a","depends_on":[]}]`, `[{"id":1,"subject":"a","owner":1}]`, `[{"id":1,"subject":"a","activeForm":{}}]`,
		`[{"id":1,"subject":"a"},{"id":1,"subject":"b"}]`,
		`[{"id":1,"subject":"a","produces":null,"check":null,"approval":null,"ready":null}]`,
	} {
		checkSchema(t, schema, file)
	}
	for members := range refusedFlows {
		checkSchema(t, schema, flowCase(members))
	}
	for _, file := range []string{
		review, `{"steps":[]}`, `{"fsm":2}`, `{"fsm":2,"steps":[]}`, `{"fsm":2.0,"steps":[]}`, `{"fsm":1,"steps":[]}`,
		`{"fsm":3,"steps":[]}`, `{"fsm":2,"steps":[],"x":1}`, `{"fsm":2,"steps":{}}`, `{"fsm":2,"steps":[{}]}`,
		`{"fsm":2,"steps":null}`, `{"tasks":[]}`, `[{"id":1,"subject":"a","outcomes":["a"]}]`, `[{"id":1,"subject":"a","when":null}]`,
	} {
		checkSchema(t, schema, file)
	}
	for _, members := range []string{
		`"outcomes": null, "decides": null, "when": null`, `"outcomes": {"a": null}`, `"outcomes": {"a": {}}`,
		`"outcomes": {"a": {"back": null, "max": null, "then": null, "stop": null, "check": null}}`,
		`"outcomes": ["a"], "decides": "agent"`, `"when": {"1": "x"}`, `"when": {"1": ["x", "skipped"]}`, `"when": {"1000001": "x"}`,
		`"when": {"1": null}`, `"do": "x"`,
		`"outcomes": {"a": {"back": 1, "max": 1}}`, `"outcomes": {"a": {"back": 1.0, "max": 1e0}}`, `"outcomes": {"a": {"back": 1, "max": 1.5}}`,
		`"outcomes": ["a", "b"], "decides": {"run": "x", "dir": ".."}`, `"each": 1`, `"set": null`, `"x": 1`,
	} {
		checkSchema(t, schema, flowCase(members))
	}
	for _, members := range []string{
		`"do": null`, `"do": []`, `"do": {}`, `"do": [1]`, `"do": [{}]`, `"do": [{"id": 1, "subject": "p"}]`,
		`"do": [{"id": 1, "subject": "p", "do": [{"id": 1, "subject": "q"}]}]`, `"do": [{"id": 1, "subject": "p", "x": 1}]`,
		`"each": null`, `"each": {}`, `"each": []`, `"each": "a"`, `"each": {"lines": "a"}`, `"each": {"lines": null}`,
		`"each": {"lines": "a", "run": "b"}`, `"each": {"lines": "a", "run": null}`, `"each": {"run": "b"}`, `"each": {"run": ""}`,
		`"each": {"lines": "a", "inTurn": null}`, `"each": {"lines": "a", "inTurn": true}`, `"each": {"lines": "a", "inTurn": false}`,
		`"each": {"lines": "a", "inTurn": 1}`, `"each": {"lines": "a", "x": 1}`,
		`"each": {"lines": "a", "timeout": 1}`, `"each": {"lines": "a", "timeout": null}`,
		`"each": {"run": "b", "timeout": 1, "dir": "c", "env": []}`,
		`"each": {"run": "b", "timeout": null, "dir": null, "env": null, "inTurn": true}`,
		`"each": {"lines": ""}`, `"each": {"lines": "/a"}`, `"each": {"lines": "a/"}`, `"each": {"lines": "."}`, `"each": {"lines": "../a"}`,
		`"each": {"lines": "a*"}`, `"each": {"lines": "a?"}`, `"each": {"lines": "[a]"}`, `"each": {"lines": "a\\b"}`,
		`"each": {"lines": "specs/{feature}/tasks.list"}`, `"each": {"lines": "a/./b"}`,
	} {
		checkSchema(t, schema, flowCase(members))
	}
	for field, values := range map[string][]string{
		"produces": {`[]`, `["a"]`, `"a"`, `{}`, `[1]`, `[null]`, `[""]`, `["\u200b"]`, `["/a"]`, `["~a"]`, `["c:/a"]`, `["é:/a"]`,
			`["${A}"]`, `["$a"]`, `["../a"]`, `["a/.."]`, `["..a"]`, `["a/../b"]`,
			`["a\\\\b"]`, `["a\\b"]`, `["\\*"]`, `["a\\"]`, `["a\nb"]`, `["\u0085"]`, `["a/"]`, `["."]`, `["a/."]`, `["./a"]`, `["a."]`,
			`["**"]`, `["!a"]`, `["a!"]`, `["[!a]"]`, `["[^a]"]`, `["{a,b}"]`, `["{a}"]`, `["{a}b,"]`, `["[a"]`,
			"[" + strings.Repeat(`"a",`, 99) + `"a"]`, "[" + strings.Repeat(`"a",`, 100) + `"a"]`},
		"check": {`""`, `"a"`, `" "`, `"\u0000a"`, `{}`, `[]`, `1`, `true`, `{"run":""}`, `{"run":"a"}`, `{"run":null}`, `{"run":1}`,
			`{"run":"\u0000a"}`, `{"run":"a","x":1}`, `{"run":"a","timeout":null,"dir":null}`,
			`{"run":"a","timeout":0}`, `{"run":"a","timeout":0.1}`, `{"run":"a","timeout":1800}`, `{"run":"a","timeout":1800.5}`,
			`{"run":"a","timeout":-1}`, `{"run":"a","timeout":true}`,
			`{"run":"a","timeout":"90s"}`, `{"run":"a","timeout":"+1.m.5s"}`, `{"run":"a","timeout":"90"}`, `{"run":"a","timeout":"-1s"}`,
			`{"run":"a","timeout":"1µs1μs"}`, `{"run":"a","timeout":"31m"}`,
			`{"run":"a","dir":"."}`, `{"run":"a","dir":"b/"}`, `{"run":"a","dir":"*"}`, `{"run":"a","dir":""}`, `{"run":"a","dir":".."}`,
			`{"run":"a","dir":"\\*"}`, `{"run":"a","dir":"/"}`, `{"run":"a","dir":1}`,
			`{"run":"a","env":null}`, `{"run":"a","env":[]}`, `{"run":"a","env":["PATH","_x9"]}`, `{"run":"a","env":["A","A"]}`,
			`{"run":"a","env":"PATH"}`, `{"run":"a","env":{}}`, `{"run":"a","env":[1]}`, `{"run":"a","env":[""]}`,
			`{"run":"a","env":["9a"]}`, `{"run":"a","env":["a=b"]}`, `{"run":"a","env":["é"]}`, `{"run":"a","env":["A\n"]}`,
			`{"run":"a","env":[` + strings.Repeat(`"A",`, 99) + `"B"]}`, `{"run":"a","env":[` + strings.Repeat(`"A",`, 100) + `"B"]}`},
		"approval": {`true`, `false`, `"a"`, `""`, `" "`, `"a\n\tb"`, `"a\u001b"`, `"a\u0085"`, `"yes"`, `1`, `{}`},
	} {
		for _, value := range values {
			checkSchema(t, schema, `[{"id":1,"subject":"a","`+field+`":`+value+`}]`)
		}
	}
}

func TestSchemaAgreesOnGeneratedFiles(t *testing.T) {
	schema := compiledSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		w := workflows().Draw(t, "workflow")
		checkSchema(t, schema, w.file)
		checkSchema(t, schema, string(damage(t, []byte(w.file))))
	})
}

func TestSchemaLimitsTheNumberOfTasks(t *testing.T) {
	schema := compiledSchema(t)
	tasks := func(n int) any {
		list := make([]any, n)
		for i := range list {
			list[i] = map[string]any{"id": i + 1, "subject": "a"}
		}
		return list
	}
	require.NoError(t, schema.Validate(tasks(fsmspec.MaxTasks)))
	require.Error(t, schema.Validate(tasks(fsmspec.MaxTasks+1)))
}

func TestSchemaDescribesEveryField(t *testing.T) {
	require.NotContains(t, string(fsmspec.Schema()), `"description": ""`)
}
