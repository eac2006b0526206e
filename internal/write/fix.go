package write

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx/commented"
	"github.com/fsmtx/fsmtx/internal/pattern"
)

// Fix repairs mistakes that can be repaired in only one way. It returns the file, whose
// other bytes it does not change, and a description of each repair. It repairs
//
//   - a byte order mark, a Markdown code block around the file, and trailing commas
//   - ids that are strings of digits
//   - misspelt names of fields and names that other programs use, unless the task also has
//     the right field
//   - a single text or id where an array of them is wanted
//   - an array of steps with fields that need the object form
//
// A file that cannot be parsed after the repairs of its text, those of the first item, gets
// only these.
func Fix(data []byte) (fixed []byte, done []string) {
	f := &fixer{}
	text := f.unwrapText(data)
	root, err := commented.Parse(text)
	if err != nil {
		if len(f.done) > 0 {
			return text, f.done
		}
		return data, nil
	}
	f.commas(&root)
	if list := stepsOf(&root); list != nil {
		f.tasks(list)
		if root.Value == hujson.ValueTrimmed(list) && needsObject(list) {
			f.note("put the array into an object, which its steps need")
			root = inObject(root)
		}
	}
	if len(f.done) == 0 {
		return data, nil
	}
	return root.Pack(), f.done
}

type fixer struct{ done []string }

func (f *fixer) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(f.done, text) {
		f.done = append(f.done, text)
	}
}

var fence = pattern.New("(?s)^\\s*(?:```|~~~)[a-zA-Z0-9]*[ \t]*\r?\n(.*\n)[ \t]*(?:```|~~~)\\s*$")

// unwrapText removes what surrounds the JSON text.
func (f *fixer) unwrapText(data []byte) []byte {
	if rest, found := bytes.CutPrefix(data, []byte("\uFEFF")); found {
		f.note("removed the byte order mark")
		data = rest
	}
	if inside := fence.Regexp().FindSubmatch(data); inside != nil {
		f.note("removed the Markdown code block around the file")
		data = inside[1]
	}
	// hujson does not accept a comma after the outermost value
	if before, found := bytes.CutSuffix(bytes.TrimRight(data, " \t\r\n"), []byte(",")); found {
		f.note("removed trailing commas")
		data = slices.Concat(before, data[len(before)+1:])
	}
	return data
}

// stepsOf returns the array of the steps, or nil if there is none.
func stepsOf(root *hujson.Value) *hujson.Array {
	if object, ok := root.Value.(*hujson.Object); ok {
		if root = member(object, "steps"); root == nil {
			return nil
		}
	}
	list, _ := root.Value.(*hujson.Array)
	return list
}

// needsObject reports whether one of these steps has a field that only the object form has.
func needsObject(list *hujson.Array) bool {
	return slices.ContainsFunc(list.Elements, func(v hujson.ArrayElement) bool {
		task, ok := v.Value.(*hujson.Object)
		return ok && slices.ContainsFunc(task.Members, func(m hujson.ObjectMember) bool {
			return fsmspec.NeedsObject(m.Name.Value.(hujson.Literal).String())
		})
	})
}

// inObject returns the object form of an array of steps.
func inObject(steps hujson.Value) hujson.Value {
	object := &hujson.Object{Members: []hujson.ObjectMember{
		{Name: hujson.Value{Value: hujson.String("fsm")},
			Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: hujson.Int(fsmspec.WithOutcomes)}},
		{Name: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: hujson.String("steps")},
			Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: steps.Value}},
	}}
	return hujson.Value{BeforeExtra: steps.BeforeExtra, Value: object, AfterExtra: steps.AfterExtra}
}

// member returns the value of a field, nil if it is not there or if object is nil.
func member(object *hujson.Object, name string) *hujson.Value {
	if object == nil {
		return nil
	}
	for i := range object.Members {
		if object.Members[i].Name.Value.(hujson.Literal).String() == name {
			return &object.Members[i].Value
		}
	}
	return nil
}

// commas removes commas before a closing bracket or brace.
func (f *fixer) commas(root *hujson.Value) {
	for v := range root.All() {
		var last *hujson.Value
		var after *hujson.Extra
		switch v := v.Value.(type) {
		case *hujson.Array:
			if n := len(v.Elements); n > 0 {
				last, after = &v.Elements[n-1], &v.AfterExtra
			}
		case *hujson.Object:
			if n := len(v.Members); n > 0 {
				last, after = &v.Members[n-1].Value, &v.AfterExtra
			}
		}
		if last != nil && last.AfterExtra != nil { // hujson represents a trailing comma so
			f.note("removed trailing commas")
			*after = append(slices.Clone(last.AfterExtra), *after...)
			last.AfterExtra = nil
		}
	}
}

// tasks repairs the tasks of a list, and their parts.
func (f *fixer) tasks(list *hujson.Array) {
	for i := range list.Elements {
		task, ok := list.Elements[i].Value.(*hujson.Object)
		if !ok {
			continue
		}
		f.task(task)
		if v := member(task, "do"); v != nil {
			if parts, ok := v.Value.(*hujson.Array); ok {
				f.tasks(parts)
			}
		}
	}
}

// task repairs the names and the ids of a task.
func (f *fixer) task(task *hujson.Object) {
	for i := range task.Members {
		m := &task.Members[i]
		name := m.Name.Value.(hujson.Literal).String()
		if slices.Contains(fsmspec.Fields(), name) {
			continue
		}
		meant := fsmspec.FieldMeant(name)
		if meant == "" || member(task, meant) != nil {
			continue
		}
		f.note("renamed %q to %q", name, meant)
		m.Name.Value = hujson.String(meant)
	}
	f.unquote(member(task, "id"))
	f.brackets(task, "blocks", "blockedBy", "produces", "ready", "only")
	f.brackets(objectIn(task, "check"), "watch", "env")
	if outcomes := objectIn(task, "outcomes"); outcomes != nil {
		for i := range outcomes.Members {
			outcome, _ := outcomes.Members[i].Value.Value.(*hujson.Object)
			f.brackets(outcome, "produces")
			f.brackets(objectIn(outcome, "check"), "watch", "env")
		}
	}
	if v := member(task, "do"); v != nil && v.Value.Kind() == '{' {
		f.bracket("do", v)
	}
	for _, name := range []string{"blocks", "blockedBy"} {
		if v := member(task, name); v != nil {
			if list, ok := v.Value.(*hujson.Array); ok {
				for i := range list.Elements {
					f.unquote(&list.Elements[i])
				}
			}
		}
	}
}

// brackets puts a single value of each of these fields into brackets. A text with a comma may be several: how it is meant is not known.
func (f *fixer) brackets(object *hujson.Object, names ...string) {
	for _, name := range names {
		v := member(object, name)
		if v == nil {
			continue
		}
		kind := v.Value.Kind()
		if kind == '0' || kind == '"' && !strings.Contains(v.Value.(hujson.Literal).String(), ",") {
			f.bracket(name, v)
		}
	}
}

func (f *fixer) bracket(name string, v *hujson.Value) {
	f.note("put the value of %q into brackets", name)
	v.Value = &hujson.Array{Elements: []hujson.ArrayElement{{Value: v.Value}}}
}

// objectIn returns the object in a field, or nil.
func objectIn(object *hujson.Object, name string) *hujson.Object {
	if v := member(object, name); v != nil {
		inner, _ := v.Value.(*hujson.Object)
		return inner
	}
	return nil
}

// unquote replaces a string of digits by the number.
func (f *fixer) unquote(v *hujson.Value) {
	if v == nil || v.Value.Kind() != '"' || !digits.Regexp().MatchString(v.Value.(hujson.Literal).String()) {
		return
	}
	text := v.Value.(hujson.Literal).String()
	f.note("made ids numbers, which were strings")
	v.Value = hujson.Literal(text)
}

var digits = pattern.New(`^[1-9][0-9]{0,6}$`)
