package settings

import "github.com/tailscale/hujson"

// list is an object or an array: a sequence of elements with white space before
// each of them and before the closing bracket.
type list interface {
	len() int
	before(i int) *hujson.Extra
	end() *hujson.Extra
	drop(i int)
}

type object struct{ *hujson.Object }

func (o object) len() int                   { return len(o.Members) }
func (o object) before(i int) *hujson.Extra { return &o.Members[i].Name.BeforeExtra }
func (o object) end() *hujson.Extra         { return &o.AfterExtra }

func (o object) drop(i int) {
	o.Members = append(o.Members[:i], o.Members[i+1:]...)
	if n := len(o.Members); n > 0 {
		o.Members[n-1].Value.AfterExtra = nil // hujson would print it with a trailing comma
	}
}

// add appends a member, with the white space before its name.
func (o object) add(before hujson.Extra, name string, value hujson.ValueTrimmed) {
	o.Members = append(o.Members, hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: before, Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: value},
	})
}

// index returns the index of the member called name, -1 if there is none.
func (o object) index(name string) int {
	for i := range o.Members {
		if o.Members[i].Name.Value.(hujson.Literal).String() == name {
			return i
		}
	}
	return -1
}

// member returns the value of the member called name, nil if there is none.
func (o object) member(name string) hujson.ValueTrimmed {
	if i := o.index(name); i >= 0 {
		return o.Members[i].Value.Value
	}
	return nil
}

// text returns the string member called name. ok is false if it is absent or not a
// string.
func (o object) text(name string) (s string, ok bool) {
	return text(o.member(name))
}

type array struct{ *hujson.Array }

func (a array) len() int                   { return len(a.Elements) }
func (a array) before(i int) *hujson.Extra { return &a.Elements[i].BeforeExtra }
func (a array) end() *hujson.Extra         { return &a.AfterExtra }

func (a array) drop(i int) {
	a.Elements = append(a.Elements[:i], a.Elements[i+1:]...)
	if n := len(a.Elements); n > 0 {
		a.Elements[n-1].AfterExtra = nil // hujson would print it with a trailing comma
	}
}

func text(v hujson.ValueTrimmed) (s string, ok bool) {
	if v == nil || v.Kind() != '"' {
		return "", false
	}
	return v.(hujson.Literal).String(), true
}

// value returns the place of the member called name, which must be there.
func (o object) value(name string) *hujson.ValueTrimmed {
	return &o.Members[o.index(name)].Value.Value
}
