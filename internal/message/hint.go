package message

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

// NewError returns an error with advice, for a variable to which errors.Is compares. As with
// errors.New the compiler makes the value, and the start of the program allocates nothing.
func NewError(text, advice string) error { return &fixed{text, advice} }

type fixed struct{ text, hint string }

func (f *fixed) Error() string { return f.text }
func (f *fixed) Hint() string  { return f.hint }

// WithHint returns err with advice, which comes before that of the errors in err. It returns nil
// if err is nil.
func WithHint(err error, advice string) error {
	if err == nil {
		return nil
	}
	return &advised{err, advice}
}

// Hint returns the advice of the outermost error in err that has some. It is empty if none has.
func Hint(err error) string {
	if a, ok := errors.AsType[hinter](err); ok {
		return a.Hint()
	}
	return ""
}
