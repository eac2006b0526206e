package hooks

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// mistakes returns the mistakes outside the hooks of a file for which an agent with a list of members
// drops it: other members, a description that is not a text, and a name that it knows and finds twice
// in an object.
func mistakes(d dialect.Dialect, text jsontext.Value) (all []string) {
	if d.Settings.Members == nil {
		return nil
	}
	file, _ := jsonx.ParseObject(text)
	for name, value := range file.All() {
		if !slices.Contains(d.Settings.Members, name) {
			all = append(all, fmt.Sprintf("%s does not know the member %q beside \"hooks\"", d.Title, name))
		} else if name == "description" && value.Kind() != '"' && value.Kind() != 'n' {
			all = append(all, "description: "+jsonx.Got(value.Kind(), "a string"))
		}
	}
	return append(all, twice(d, text)...)
}

// innermost is the depth of the fields of a hook: /hooks/EVENT/0/hooks/0/FIELD.
const innermost = 6

func twice(d dialect.Dialect, text jsontext.Value) (all []string) {
	known := append([]string{"matcher"}, d.Settings.Members...)
	for _, kind := range d.Hooks.Types {
		known = append(known, d.Fields(kind)...)
	}
	seen := map[jsontext.Pointer]bool{}
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsonx.Tolerant)
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return all // the end
		}
		at := dec.StackPointer()
		if kind, length := dec.StackIndex(dec.StackDepth()); kind != '{' || length%2 == 0 || strings.Count(string(at), "/") > innermost {
			continue
		}
		name := token.String()
		if _, isEvent := d.Event(name); seen[at] && (isEvent || slices.Contains(known, name)) {
			all = append(all, fmt.Sprintf("%q is there twice in one object", name))
		}
		seen[at] = true
	}
}
