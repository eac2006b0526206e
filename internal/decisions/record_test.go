package decisions

import (
	"bytes"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSchemaDescribesEveryField: a record with a value in every field is valid, and each field
// is described, and no other.
func TestSchemaDescribesEveryField(t *testing.T) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("log.json", document))
	schema, err := c.Compile("log.json")
	require.NoError(t, err)

	n := 1
	r := Record{Time: time.Now(), Source: Step, Decision: "allow", Who: "agent", Exit: &n, Open: &n}
	fields := reflect.ValueOf(&r).Elem()
	var names []string
	for i := range fields.NumField() {
		name, _, _ := strings.Cut(fields.Type().Field(i).Tag.Get("json"), ",")
		names = append(names, name)
		f := fields.Field(i)
		if !f.IsZero() {
			continue
		}
		switch f.Interface().(type) {
		case string:
			f.SetString("x")
		case int, int64:
			f.SetInt(1)
		case float64:
			f.SetFloat(1.5)
		case bool:
			f.SetBool(true)
		case []int64:
			f.Set(reflect.ValueOf([]int64{1}))
		case []string:
			f.Set(reflect.ValueOf([]string{"x"}))
		case []Other:
			f.Set(reflect.ValueOf([]Other{{1, 1, "x", "x", "x"}}))
		default:
			t.Fatalf("no value for %s", name)
		}
	}
	text, err := r.JSON()
	require.NoError(t, err)
	line, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	require.NoError(t, schema.Validate(line))
	require.Len(t, line, len(names), "no field was left out")

	described := document.(map[string]any)["properties"].(map[string]any)
	for _, name := range names {
		assert.Contains(t, described, name)
	}
	assert.Len(t, described, len(names))

	require.True(t, strings.HasPrefix(string(text), begin), "File recognises a log by it")
	line.(map[string]any)["v"] = 2
	assert.Error(t, schema.Validate(line))
}

// TestTheCollectorReadsFields: the configuration in docs/ci.md reads fields that lines have.
func TestTheCollectorReadsFields(t *testing.T) {
	page, err := os.ReadFile("../../docs/ci.md")
	require.NoError(t, err)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	require.NoError(t, err)
	described := document.(map[string]any)["properties"].(map[string]any)
	found := regexp.MustCompile(`log\.attributes\["(\w+)"\]|- key: (\w+)|attributes\.(\w+)`).FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(found), 10)
	for _, m := range found {
		assert.Contains(t, described, m[1]+m[2]+m[3])
	}
}
