// Package hint lets an error say what to do about it, where the error arises. The command line
// prints the advice on a line of its own, behind "hint: ".
//
// Much advice is a guess what a misspelt word should have been: the package measures how different
// two words are. The callers choose the known words and the limit.
package hint

import "errors"

// hinter is an error that says what to do about it.
type hinter interface {
	error
	Hint() string
}

type advised struct {
	error
	hint string
}

func (a *advised) Hint() string  { return a.hint }
func (a *advised) Unwrap() error { return a.error }

// New returns an error with advice, for a variable to which errors.Is compares. As with
// errors.New the compiler makes the value, and the start of the program allocates nothing.
func New(text, advice string) error { return &fixed{text, advice} }

type fixed struct{ text, hint string }

func (f *fixed) Error() string { return f.text }
func (f *fixed) Hint() string  { return f.hint }

// With returns err with advice, which comes before that of the errors in err. It returns nil
// if err is nil.
func With(err error, advice string) error {
	if err == nil {
		return nil
	}
	return &advised{err, advice}
}

// Of returns the advice of the outermost error in err that has some. It is empty if none has.
func Of(err error) string {
	if a, ok := errors.AsType[hinter](err); ok {
		return a.Hint()
	}
	return ""
}
