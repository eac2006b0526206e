package jsonx

import (
	"bytes"
	"errors"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// Part is a member of an object or an element of an array.
type Part struct {
	Name   string         // of a member, without quotes and escapes; "" for an element
	Value  jsontext.Value // shares memory with the text
	Offset int            // of the value in the text, in bytes
}

// Parts yields the members of an object, or the elements of an array, in the order of the
// text, each name as often as it is there. The last pair has an error if the text is not
// exactly one object or array as [Tolerant] has it; its Part has the name of the member whose
// value is wrong. Every reader here that needs the order or the places of values uses it;
// hujson, which keeps comments and white space, is for files that are edited.
func Parts(text jsontext.Value) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		dec := jsontext.NewDecoder(bytes.NewBuffer(text), Tolerant)
		open, err := dec.ReadToken()
		kind := open.Kind()
		if err == nil && kind != '{' && kind != '[' {
			err = errors.New(Got(kind, "an object or an array"))
		}
		for err == nil && dec.PeekKind() != closing(kind) {
			var p Part
			if p, err = part(dec, text, kind); !yield(p, err) {
				return
			}
			if err != nil {
				return // it has been told
			}
		}
		if err == nil {
			err = end(dec, text)
		}
		if err != nil {
			yield(Part{}, err)
		}
	}
}

func closing(kind jsontext.Kind) jsontext.Kind {
	if kind == '{' {
		return '}'
	}
	return ']'
}

// part reads a member if kind is that of an object, otherwise an element.
func part(dec *jsontext.Decoder, text jsontext.Value, kind jsontext.Kind) (p Part, err error) {
	if kind == '{' {
		name, err := dec.ReadToken()
		if err != nil {
			return p, err
		}
		p.Name = name.String() // the token is valid only until the next call
	}
	value, err := dec.ReadValue()
	if err != nil {
		return p, err
	}
	end := int(dec.InputOffset())
	p.Offset = end - len(value)
	p.Value = text[p.Offset:end:end]
	return p, nil
}

// end reads the closing bracket. Only white space may follow.
func end(dec *jsontext.Decoder, text jsontext.Value) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	return CheckEnd(text, int(dec.InputOffset()))
}
