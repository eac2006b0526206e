package fsmspec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// reader takes a file apart token by token, and finds what is wrong with it
// whatever the tokens mean: syntax, keys, strings, nesting. Only a syntax error
// stops it.
type reader struct {
	data     []byte
	pos      *jsonx.Index
	decoder  *jsontext.Decoder
	root     string // what the file should hold, for the message if it does not
	skipped  int    // bytes of data that the decoder was not given
	end      int    // offset of the end of the last token
	open     []frame
	suspect  bool     // some string may hold what UTF-8 cannot
	broken   *finding // the syntax error that stopped it
	entry    int      // the task being read, or nowhere
	findings findings
	warnings findings
}

// frame is an object or array that is not closed yet. The bottom one stands
// for the file.
type frame struct {
	kind  byte // '{', '[' or 0
	at    int
	count int // of names and values read in it
	keys  keys
}

// token is one token of the file; that of a string includes its quotes.
type token struct {
	kind       byte // as in jsontext.Kind: n, f, t, ", 0, {, }, [ or ]
	start, end int
}

// newReader leaves out the first bytes of data, but counts them. Duplicate names
// and strings that are no UTF-8 get past the decoder, which would stop there, and
// are found here.
func newReader(data []byte, skipped int, root string) *reader {
	return &reader{
		data: data,
		pos:  jsonx.NewIndex(data),
		decoder: jsontext.NewDecoder(bytes.NewBuffer(data[skipped:]),
			jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
		root:    root,
		skipped: skipped,
		end:     skipped,
		open:    make([]frame, 1, 8),
		suspect: !utf8.Valid(data) || bytes.Contains(data, []byte(`\ud`)) || bytes.Contains(data, []byte(`\uD`)),
		entry:   nowhere,
	}
}

// next returns the next token, or false at a syntax error, which it has noted.
func (r *reader) next() (token, bool) {
	tok, err := r.decoder.ReadToken()
	if err != nil {
		r.stop(err)
		return token{}, false
	}
	t := token{byte(tok.Kind()), r.skipGap(r.end), r.skipped + int(r.decoder.InputOffset())}
	r.end = t.end
	r.account(t)
	if r.isGlued(t) {
		// The decoder takes 01 for two numbers; nothing should be said of the first.
		return r.next()
	}
	return t, true
}

// isGlued reports whether t is a number with text right behind it, which makes
// the next token a syntax error.
func (r *reader) isGlued(t token) bool {
	return t.kind == '0' && len(r.open) > 1 && t.end < len(r.data) && !isEnd(r.data[t.end])
}

// account keeps the stack of open objects and arrays.
func (r *reader) account(t token) {
	if t.kind == '}' || t.kind == ']' {
		r.open = r.open[:len(r.open)-1]
		return
	}
	top := &r.open[len(r.open)-1]
	isKey := top.kind == '{' && top.count%2 == 0
	top.count++
	switch t.kind {
	case '"':
		if r.checkString(t) && isKey {
			r.checkKey(top, t)
		}
	case '{', '[':
		r.push(t)
	}
}

func (r *reader) push(t token) {
	r.open = append(r.open, frame{kind: t.kind, at: t.start})
	if len(r.open)-1 == MaxDepth+1 {
		r.problem(t.start, "nested deeper than %d levels", MaxDepth)
	}
}

func (r *reader) checkKey(object *frame, t token) {
	name := r.text(t)
	if first, twice := object.keys.add(name, t.start); twice {
		r.problem(t.start, "duplicate key %s in one object, at %s and again at %s", quoted(name), r.pos.At(first), r.pos.At(t.start))
	}
}

// checkString reports whether the string t can be represented.
func (r *reader) checkString(t token) bool {
	if !r.suspect {
		return true
	}
	n := len(r.findings.list) + r.findings.more
	r.checkUTF8(t)
	r.checkSurrogates(t)
	return n == len(r.findings.list)+r.findings.more
}

// skip reads on to the end of the value that begins with t.
func (r *reader) skip(t token) bool {
	if t.kind != '{' && t.kind != '[' {
		return true
	}
	for depth := len(r.open) - 1; len(r.open) > depth; {
		if _, ok := r.next(); !ok {
			return false
		}
	}
	return true
}

// finish finds what follows the one value that a file may hold.
func (r *reader) finish() {
	at := r.skipSpace(r.end)
	if at < len(r.data) {
		r.halt(finding{at, "", "expected the end of the file, found " + found(r.data, at), nowhere})
	}
}

// text returns what the string t means. It is ill-formed only if checkString
// has said so.
func (r *reader) text(t token) string {
	raw := r.raw(t)
	if strings.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, raw)
	return string(text)
}

// raw returns a copy of how the file spells t.
func (r *reader) raw(t token) string { return string(r.data[t.start:t.end]) }

// problem notes what is wrong with the last token.
func (r *reader) problem(at int, format string, args ...any) {
	if !r.findings.turnsAway() {
		r.findings.add(finding{at, r.pointer(), fmt.Sprintf(format, args...), r.entry})
	}
}

func (r *reader) warn(at int, format string, args ...any) {
	if !r.warnings.turnsAway() {
		r.warnings.add(finding{at, r.pointer(), fmt.Sprintf(format, args...), r.entry})
	}
}

// pointer is that of the last token, or of the object or array it closed.
func (r *reader) pointer() string { return string(r.decoder.StackPointer()) }

func (r *reader) stop(err error) {
	at, text := r.explain()
	pointer := ""
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		pointer = string(syntax.JSONPointer)
	}
	if text == "" {
		// What is left is the decoder's own bound on nesting.
		text = "not readable from here on: " + reason(err)
	}
	r.halt(finding{at, pointer, text, r.entry})
}

// halt notes a syntax error, however many problems there were before it.
func (r *reader) halt(syntax finding) {
	r.broken = &syntax
	r.findings.list = append(r.findings.list, finding{syntax.at, syntax.pointer, "malformed JSON: " + syntax.text, syntax.entry})
}

func reason(err error) string {
	if cause := errors.Unwrap(err); cause != nil && !errors.Is(err, io.EOF) {
		return cause.Error()
	}
	return err.Error()
}

func (r *reader) skipSpace(at int) int {
	for at < len(r.data) && isSpace(r.data[at]) {
		at++
	}
	return at
}

// skipGap skips all that may lie between two tokens.
func (r *reader) skipGap(at int) int {
	for at < len(r.data) && (isSpace(r.data[at]) || r.data[at] == ',' || r.data[at] == ':') {
		at++
	}
	return at
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }
