package proof

import (
	"bytes"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

const schemaFile = "../../docs/internals/attestation.schema.json"

// TestTheSchemaDescribesStatements: a statement with every member is valid, one with the least is, and every member of the schema is
// one of a statement.
func TestTheSchemaDescribesStatements(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(schemaFile)
	require.NoError(t, err)
	valid := func(s Statement) error {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(must(s.encode())))
		require.NoError(t, err)
		return schema.Validate(value)
	}
	require.NoError(t, valid(aStatement()))
	var r Run
	fill(reflect.ValueOf(&r).Elem())
	r.Steps[0].State, r.Overrides[0].Kind = isGone, "skip"
	whole := newStatement(treeSubject(strings.Repeat("a", 64)), []Subject{fileSubject("a", strings.Repeat("b", 64))}, r)
	require.NoError(t, valid(whole))

	for name, change := range map[string]func(*Statement){
		"a state that it does not know": func(s *Statement) { s.Predicate.Steps[0].State = "almost" },
		"no subject":                    func(s *Statement) { s.Subject = nil },
		"a file first":                  func(s *Statement) { s.Subject = s.Subject[1:] },
		"a digest that is none":         func(s *Statement) { s.Predicate.FSM.SHA256 = "x" },
	} {
		s := aStatement()
		change(&s)
		require.Error(t, valid(s), name)
	}

	named := map[string]bool{}
	members(reflect.TypeFor[Statement](), named)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(must(os.ReadFile(schemaFile))))
	require.NoError(t, err)
	described := map[string]bool{}
	properties(value, described)
	require.ElementsMatch(t, slices.Collect(maps.Keys(named)), slices.Collect(maps.Keys(described)))
}

// fill gives every field a value that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(someTime))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i))
			if strings.HasPrefix(v.Type().Field(i).Tag.Get("json"), "sha256") {
				v.Field(i).SetString(strings.Repeat("d", 64))
			}
			switch id := strings.Repeat("a", 40); v.Type().Field(i).Name {
			case "Head", "Base", "Object":
				v.Field(i).SetString(id)
			case "Mode":
				v.Field(i).SetString("100644")
			case "Trees":
				v.Field(i).Set(reflect.ValueOf([]string{id}))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int64:
		v.SetInt(2)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic(v.Kind())
	}
}

// members adds the names of the members of a type.
func members(t reflect.Type, named map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		members(t.Elem(), named)
	case reflect.Struct:
		for i := range t.NumField() {
			if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" {
				named[name] = true
				members(t.Field(i).Type, named)
			}
		}
	}
}

// properties adds the names that a schema describes.
func properties(value any, described map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		for name, of := range v {
			if object, ok := of.(map[string]any); name == "properties" && ok {
				for property := range object {
					described[property] = true
				}
			}
			properties(of, described)
		}
	case []any:
		for _, of := range v {
			properties(of, described)
		}
	}
}
