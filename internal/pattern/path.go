package pattern

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// A pattern is a path with slashes in which * is any characters of a name and ? is one of them. A \ before one of these or another
// \ takes the meaning away. In some places ** is any directories. All else stands for itself: a name may have [ and ] in it.

// Path reports whether a path with slashes matches a pattern with **.
func Path(pattern, name string) bool {
	first, rest, more := strings.Cut(pattern, "/")
	if first == "**" {
		if !more {
			return name != ""
		}
		for below := name; ; {
			if Path(rest, below) {
				return true
			}
			if _, below, more = strings.Cut(below, "/"); !more {
				return false
			}
		}
	}
	element, below, deeper := strings.Cut(name, "/")
	if !Name(first, element) || deeper != more {
		return false
	}
	return !more || Path(rest, below)
}

// Name reports whether a name without slashes matches an element of a pattern.
func Name(pattern, name string) bool {
	of, letters := units(pattern), []rune(name)
	star, from := -1, 0 // the last *, and where the name goes on behind what it has taken
	p, n := 0, 0
	for n < len(letters) {
		switch {
		case p < len(of) && of[p] == anyText:
			star, from = p, n
			p++
		case p < len(of) && (of[p] == anyLetter || of[p] == unit(letters[n])):
			p++
			n++
		case star >= 0:
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	for p < len(of) && of[p] == anyText {
		p++
	}
	return p == len(of)
}

// unit is a character of a pattern, or what stands for characters.
type unit rune

const (
	anyText   unit = -1
	anyLetter unit = -2
)

func units(pattern string) (all []unit) {
	escaped := false
	for _, r := range pattern {
		switch {
		case !escaped && r == '\\':
			escaped = true
			continue
		case !escaped && r == '*':
			all = append(all, anyText)
		case !escaped && r == '?':
			all = append(all, anyLetter)
		default:
			all = append(all, unit(r))
		}
		escaped = false
	}
	return all
}

// wildcards are the characters that do not stand for themselves.
const wildcards = `*?\`

// IsPattern reports whether an element of a path does not stand for itself alone.
func IsPattern(element string) bool { return strings.ContainsAny(element, wildcards) }

// Literal returns the pattern that a name alone matches.
func Literal(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`).Replace(name)
}

// Fault returns why text is not a pattern of files below a directory, and how to write it, or "". Syntax that other programs
// have is refused: taken literally the pattern would not match what its author meant.
func Fault(text string) string {
	if wrong := PathFault(text); wrong != "" {
		return wrong
	}
	switch {
	case strings.HasSuffix(text, "/"), path.Base(text) == ".":
		return "this is a directory, want a file"
	case strings.Contains(text, "**"):
		return "** is not supported: write * for each directory, or look for the files in a check"
	case strings.HasPrefix(text, "!"):
		return "a pattern cannot be negated: list what is wanted (? stands for a ! in a name)"
	case strings.Contains(text, "{"):
		return "braces are not expanded: list each pattern (? stands for a { in a name)"
	}
	return ClassFault(text)
}

// DeepFault is Fault for a pattern in which ** may stand for any directories.
func DeepFault(text string) string {
	elements := strings.Split(text, "/")
	for i, element := range elements {
		if element == "**" {
			elements[i] = "*"
		}
	}
	wrong := Fault(strings.Join(elements, "/"))
	switch {
	case strings.HasSuffix(text, "/") && wrong != "" && Fault(text+"*") == "":
		return "this is a directory: write " + text + "** for what is in it"
	case strings.Contains(strings.Join(elements, "/"), "**"):
		return "** has to stand alone between slashes, as in docs/**/*.md"
	}
	return wrong
}

// PathFault returns why text is not a path below a directory, or "".
func PathFault(text string) string {
	if len(text) > 1 && text[1] == ':' && 'a' <= text[0]|0x20 && text[0]|0x20 <= 'z' {
		return "want a path relative to the project's directory, with / between directories"
	}
	escaped := false
	for _, r := range text {
		switch {
		case unicode.IsControl(r): // "docs\notes.md" in JSON has a line break
			return "a path cannot have control characters: write / between directories, not a backslash"
		case escaped && (r == '[' || r == ']'):
			return "[ and ] stand for themselves: write them without a backslash"
		case escaped && !strings.ContainsRune(wildcards, r):
			return "write / between directories, not a backslash"
		}
		escaped = r == '\\' && !escaped
	}
	switch {
	case strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) == "":
		return "the path is blank"
	case escaped:
		return "write / between directories, not a backslash"
	case path.IsAbs(text), strings.HasPrefix(text, "~"):
		return "want a path relative to the project's directory"
	case strings.Contains(text, "${"):
		return "variables are not expanded: want a path relative to the project's directory"
	case slices.Contains(strings.Split(text, "/"), ".."):
		return ".. is not allowed: the path has to stay inside the project's directory"
	}
	return ""
}

// ClassFault returns the problem with a text in which something is a class of characters, such as [0-9], in other programs, or "".
// Nobody names a file so: [slug] and [...rest] are names, and [a-z_] and [!a] are not.
func ClassFault(text string) string {
	for rest := text; ; {
		_, after, open := strings.Cut(rest, "[")
		inside, behind, closed := strings.Cut(after, "]")
		if !open || !closed {
			return ""
		}
		if isClass([]rune(inside)) {
			return "[" + inside + "] is no class of characters here: write ? for any character (? stands for a [ in a name, too)"
		}
		rest = behind
	}
}

// isClass reports whether characters begin with a negation, or are ranges such as a-z0-9 with nothing but signs between them.
func isClass(letters []rune) (ranges bool) {
	if len(letters) > 1 && (letters[0] == '!' || letters[0] == '^') {
		return true
	}
	for len(letters) > 0 {
		switch {
		case len(letters) > 2 && letters[1] == '-' && isWord(letters[0]) && letters[0] < letters[2] && isWord(letters[2]):
			ranges, letters = true, letters[3:]
		case isWord(letters[0]):
			return false
		default:
			letters = letters[1:]
		}
	}
	return ranges
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
