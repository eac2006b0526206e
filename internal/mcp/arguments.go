package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
)

// inputs has the schema of each tool's arguments, by the tool's name. The library validates by
// the same ones, but its errors are those of a Go programmer, and the model reads them.
type inputs map[string]*jsonschema.Schema

// addTool adds a tool whose arguments are described by In.
func addTool[In, Out any](s *mcp.Server, all inputs, t *mcp.Tool, handle mcp.ToolHandlerFor[In, Out]) {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic(err) // In is a type of this package
	}
	all[t.Name], t.InputSchema = schema, schema
	mcp.AddTool(s, t, visibly(handle))
}

// checked is middleware that refuses a call of a tool with wrong arguments. An argument that
// is null counts as left out: some agents give every argument that a tool has.
func (all inputs) checked(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		params, ok := r.GetParams().(*mcp.CallToolParamsRaw)
		if !ok || params == nil || all[params.Name] == nil {
			return next(ctx, method, r)
		}
		given, wrong := all.read(params.Name, jsontext.Value(params.Arguments))
		if wrong != "" {
			refused := &mcp.CallToolResult{}
			refused.SetError(errors.New(message.Text(wrong)))
			return refused, nil
		}
		text, err := json.Marshal(given, jsonx.Tolerant, json.Deterministic(true))
		if err != nil {
			return nil, err
		}
		params.Arguments = []byte(text)
		return next(ctx, method, r)
	}
}

// read returns the arguments of a call without those that are null, or what is wrong with
// them, a line for each mistake.
func (all inputs) read(tool string, text jsontext.Value) (given map[string]jsontext.Value, wrong string) {
	schema := all[tool]
	given = map[string]jsontext.Value{}
	switch members, err := jsonx.Members(text); {
	case len(text) == 0 || text.Kind() == 'n':
	case text.Kind() != '{' || err != nil:
		return nil, fmt.Sprintf("the arguments of %s have to be an object, and are %s. %s", tool, jsonx.KindName(text.Kind()), all.takes(tool))
	default:
		maps.Copy(given, members)
	}
	maps.DeleteFunc(given, func(_ string, v jsontext.Value) bool { return v.Kind() == 'n' })
	var mistakes []string
	for _, name := range schema.Required {
		if given[name] == nil {
			mistakes = append(mistakes, fmt.Sprintf("%s needs the argument %s, which is %s", tool, name, describe(schema.Properties[name])))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		property := schema.Properties[name]
		if property != nil && property.Type == "integer" {
			given[name] = whole(given[name])
		}
		switch {
		case property == nil:
			mistakes = append(mistakes, all.unknown(tool, name))
		case !fitsType(property.Type, given[name]):
			mistakes = append(mistakes, fmt.Sprintf("%s of %s cannot be %s: it has to be %s", name, tool,
				message.Clip(message.Words(string(given[name])), maxShown), describe(property)))
		}
	}
	return given, strings.Join(mistakes, "\n")
}

// maxShown limits a wrong argument in an answer, in characters.
const maxShown = 100

// describe says what an argument has to be.
func describe(s *jsonschema.Schema) string {
	text := map[string]string{"integer": "a whole number", "string": "a text", "object": "an object"}[s.Type]
	return text + ": " + s.Description
}

// whole returns a number such as 1.0 as 1: by JSON Schema it is a whole number too, and agents whose numbers are
// all floats send it so. Other values stay.
func whole(v jsontext.Value) jsontext.Value {
	n, err := strconv.ParseFloat(string(v), 64)
	if err != nil || v.Kind() != '0' || n != math.Trunc(n) || math.Abs(n) > 1<<53 {
		return v
	}
	return jsontext.Value(strconv.FormatInt(int64(n), 10))
}

// fitsType reports whether a value has the type of a schema. A whole number is one as Go reads it.
func fitsType(name string, v jsontext.Value) bool {
	switch v.Kind() {
	case '"':
		return name == "string"
	case '{':
		return name == "object"
	case '0':
		_, err := strconv.ParseInt(string(v), 10, 64)
		return name == "integer" && err == nil
	}
	return false
}

// unknown says that a tool has no such argument, which it may have by another name, or another
// tool may have.
func (all inputs) unknown(tool, name string) string {
	own := all.names(tool)
	slices.SortStableFunc(own, func(a, b string) int { return message.Distance(name, a, 40) - message.Distance(name, b, 40) })
	text := fmt.Sprintf("%s has no argument %s", tool, message.Clip(message.Words(name), maxShown))
	if len(own) > 0 && message.SimilarNames(name, own[0]) {
		return text + ": did you mean " + own[0] + "?"
	}
	var others []string
	for _, other := range slices.Sorted(maps.Keys(all)) {
		if slices.Contains(all.names(other), name) {
			others = append(others, other)
		}
	}
	if len(others) > 0 {
		text += ", which is one of " + strings.Join(others, ", ")
	}
	return text + ". " + all.takes(tool)
}

// takes names the arguments of a tool.
func (all inputs) takes(tool string) string {
	names := all.names(tool)
	if len(names) == 0 {
		return tool + " needs no arguments"
	}
	return "Its arguments are: " + strings.Join(names, ", ")
}

// names returns the arguments of a tool that the agent gives, those first that it has to give.
// The others are filled in by the client's hook.
func (all inputs) names(tool string) []string {
	s := all[tool]
	names := slices.Clone(s.Required)
	for _, name := range s.PropertyOrder {
		if !slices.Contains(names, name) && !strings.HasPrefix(s.Properties[name].Description, leaveOut) {
			names = append(names, name)
		}
	}
	return names
}

// leaveOut begins the description of an argument that the agent does not give.
const leaveOut = "leave it out"
