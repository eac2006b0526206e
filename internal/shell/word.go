package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Word is one word of a command.
type Word struct{ word *syntax.Word }

func wordsOf(args []*syntax.Word) []Word {
	words := make([]Word, len(args))
	for i, arg := range args {
		words[i] = Word{arg}
	}
	return words
}

// End returns the offset in the command line of the byte after the word.
func (w Word) End() int { return int(w.word.End().Offset()) }

// In returns the word as it stands in its command line, without quotes around all of it.
func (w Word) In(line string) string {
	text := line[w.word.Pos().Offset():w.word.End().Offset()]
	if n := len(text); n > 1 && text[0] == text[n-1] && (text[0] == '"' || text[0] == '\'') {
		return text[1 : n-1]
	}
	return text
}

// Literal returns the text of a word without expansions. known is false for any other
// word.
func (w Word) Literal() (text string, known bool) { return w.Text(none) }

// Text returns the word without quotes and escapes, with the values from lookup for its
// variables and for a leading ~ (HOME). known is false if the word has a variable that
// lookup does not know, any other expansion, or a pattern that matches files.
func (w Word) Text(lookup func(name string) (value string, known bool)) (text string, known bool) {
	var b strings.Builder
	for i, part := range w.word.Parts {
		if lit, ok := part.(*syntax.Lit); ok && i == 0 {
			home, rest, known := tilde(lit.Value, lookup)
			if !known {
				return "", false
			}
			b.WriteString(home)
			part = &syntax.Lit{Value: rest}
		}
		if !writePart(&b, part, lookup) {
			return "", false
		}
	}
	return b.String(), true
}

// tilde returns the value of a leading ~ as home, and the rest of lit. known is false for
// the home directory of another user (~name).
func tilde(lit string, lookup func(string) (string, bool)) (home, rest string, known bool) {
	after, ok := strings.CutPrefix(lit, "~")
	if !ok {
		return "", lit, true
	}
	if after != "" && after[0] != '/' {
		return "", "", false
	}
	home, known = lookup("HOME")
	return home, after, known
}

// writePart writes the value of a part of a word. It returns false if the value is not
// known.
func writePart(b *strings.Builder, part syntax.WordPart, lookup func(string) (string, bool)) bool {
	switch part := part.(type) {
	case *syntax.Lit:
		return writeUnquoted(b, part.Value)
	case *syntax.SglQuoted:
		b.WriteString(part.Value)
		return !part.Dollar
	case *syntax.DblQuoted:
		for _, inner := range part.Parts {
			if lit, ok := inner.(*syntax.Lit); ok {
				b.WriteString(unescaped(lit.Value, "$`\"\\\n"))
				continue
			}
			if !writePart(b, inner, lookup) {
				return false
			}
		}
		return !part.Dollar
	case *syntax.ParamExp:
		if !isPlainParam(part) {
			return false
		}
		value, known := lookup(part.Param.Value)
		b.WriteString(value)
		return known
	}
	return false
}

// writeUnquoted writes a literal that is not in quotes. It returns false if the literal is
// a pattern or a list in braces.
func writeUnquoted(b *strings.Builder, lit string) bool {
	escaped := false
	for _, c := range lit {
		if !escaped && strings.ContainsRune("*?[{", c) {
			return false
		}
		escaped = c == '\\' && !escaped
	}
	b.WriteString(unescaped(lit, ""))
	return true
}

// unescaped removes backslashes that escape one of the characters in escapable, or any
// character if escapable is empty. An escaped newline is removed with its backslash.
func unescaped(lit, escapable string) string {
	var b strings.Builder
	for i := 0; i < len(lit); i++ {
		if lit[i] != '\\' || i+1 == len(lit) || escapable != "" && strings.IndexByte(escapable, lit[i+1]) < 0 {
			b.WriteByte(lit[i])
			continue
		}
		if i++; lit[i] != '\n' {
			b.WriteByte(lit[i])
		}
	}
	return b.String()
}

// isPlainParam reports whether an expansion is $name or ${name}.
func isPlainParam(p *syntax.ParamExp) bool {
	return p.Param != nil && !p.Excl && !p.Length && !p.Width && !p.IsSet && p.Flags == nil && p.Index == nil &&
		len(p.Modifiers) == 0 && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}
