package command

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// valuesFlag is a flag with which a command line gives values of a step: --set name=text, as
// often as there are values.
type valuesFlag map[string]string

// addSet adds the flag to a command.
func addSet(c *cobra.Command) valuesFlag {
	f := valuesFlag{}
	c.Flags().Var(f, "set", "a value that the step sets (repeatable)")
	return f
}

func (f valuesFlag) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	switch _, again := f[name]; {
	case !ok || name == "":
		return errors.New("want NAME=TEXT, such as version=1.4.0")
	case again:
		return errors.New(name + " is given twice")
	}
	f[name] = value
	return nil
}

func (f valuesFlag) String() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		all = append(all, name+"="+f[name])
	}
	return strings.Join(all, " ")
}

// object returns the values as a JSON object, nil if there are none.
func (f valuesFlag) object() jsontext.Value {
	if len(f) == 0 {
		return nil
	}
	object, err := json.Marshal(map[string]string(f), jsonx.Tolerant, json.Deterministic(true))
	if err != nil {
		return nil // not possible for a map of texts
	}
	return object
}

func (f valuesFlag) Type() string { return "name=text" }
