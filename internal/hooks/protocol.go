package hooks

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// protocolVersion is the version of the machine interface, that is of the members of its requests
// and results. A new optional member does not change it.
const protocolVersion = 1

// requestMember is a member of a request, with the kind of its value: '"' a string, '{' an
// object, '[' an array, '0' a number, 't' a boolean, '*' anything.
type requestMember struct {
	name string
	kind jsontext.Kind
}

// violation returns what is wrong with the type of a value, "" if nothing is. null is accepted.
func (m requestMember) violation(value jsontext.Value) string {
	wants := map[jsontext.Kind]string{'"': "a string", '{': "an object", '[': "an array", '0': "a number", 't': "a boolean"}
	got := value.Kind()
	if want, typed := wants[m.kind]; typed && got != m.kind && got != 'n' && !(m.kind == 't' && got == 'f') {
		return jsonx.Got(got, want)
	}
	return ""
}

// requestMembers returns the members that a request of a mode may have.
func requestMembers(mode string) []requestMember {
	shared := []requestMember{
		{"version", '0'}, {"mode", '"'}, {"dialect", '"'}, {"session_id", '"'}, {"transcript_path", '"'}, {"cwd", '"'}, {"project", '"'},
		{"settings", '{'}, {"extensions", '['}, {"plugins", '['},
	}
	return append(shared, map[string][]requestMember{
		"fire":      {{"event", '"'}, {"input", '*'}, {"context", '{'}},
		"tool":      {{"tool", '{'}},
		"model":     {{"request", '*'}, {"model_command", '"'}},
		"translate": {{"op", '"'}, {"args", '['}},
		"factory":   {{"event", '"'}, {"class", '"'}, {"data", '*'}},
	}[mode]...)
}

// checkRequest returns an error if a request has another version, a member that its mode
// does not have, or a value of a wrong type.
func checkRequest(o jsonx.Object) error {
	mode := cmp.Or(o.Text("mode"), "fire")
	if version := o.Get("version"); version != nil && string(version) != fmt.Sprint(protocolVersion) {
		return fmt.Errorf("its version is %s; this program speaks version %d", jsonx.Excerpt(version), protocolVersion)
	}
	if err := checkMembers("", o, requestMembers(mode)); err != nil {
		return err
	}
	tool := []requestMember{{"name", '"'}, {"command", '"'}, {"input", '*'}}
	if err := checkMembers("tool.", o.Object("tool"), tool); mode == "tool" && err != nil {
		return err
	}
	for _, list := range []struct {
		name    string
		members []requestMember
	}{
		{"extensions", []requestMember{{"name", '"'}, {"isActive", 't'}, {"hooks", '*'}}},
		{"plugins", []requestMember{{"name", '"'}, {"root", '"'}, {"data", '"'}, {"hooks", '*'}}},
	} {
		for i, raw := range o.Array(list.name) {
			one, isObject := jsonx.ParseObject(raw)
			if !isObject {
				return fmt.Errorf("%s.%d: %s", list.name, i, jsonx.Got(raw.Kind(), "an object"))
			}
			if err := checkMembers(fmt.Sprintf("%s.%d.", list.name, i), one, list.members); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkMembers(prefix string, o jsonx.Object, members []requestMember) error {
	var names []string
	for _, m := range members {
		names = append(names, m.name)
	}
	for name, value := range o.All() {
		at := slices.Index(names, name)
		if at < 0 {
			return fmt.Errorf("unknown member %q; known are %s", prefix+name, dialect.InWords(names))
		}
		if why := members[at].violation(value); why != "" {
			return fmt.Errorf("%s: %s", prefix+name, why)
		}
	}
	return nil
}
