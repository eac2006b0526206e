package rules

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// element is one part of a blueprint.
type element struct {
	name  string
	found bool
}

// readBlueprint looks for the five elements by the words and notations that are usual for
// them. Answers can be long and a hook must be quick, so words are searched for as plain
// text, and a pattern is tried only on a line with a character that every match has.
func readBlueprint(text string) []element {
	words := plainWords(text)
	b := blueprint{path: regexp.MustCompile(filePath), signature: regexp.MustCompile(signature)}
	for line := range strings.Lines(text) {
		b.read(line)
	}
	return []element{
		{"component design", b.namedPath || b.anyPath && mentions(words, "component", "module", "service", "class", "model", "layer",
			"controller", "repository")},
		{"data flow", b.arrows || mentions(words, "data flow", "dataflow", "flow of data", "data moves", "data passes", "data travels",
			"flow from", "flow into", "flow through")},
		{"interfaces", b.calls || mentions(words, "interface", "api contract", "contract", "signature", "prop")},
		{"files to create/modify", b.changes || mentions(words, fileLists()...)},
		{"build sequence", mentions(words, sequences()...)},
	}
}

const (
	// filePath matches src/models/user.ts: a folder, a name and a suffix.
	filePath = `[\w@.\[\]-]+/(?:[\w@.\[\]-]+/)*[\w@\[\]-]+(?:\.[A-Za-z]\w{0,7})+\b`
	// signature matches getUser(id: string): User and func Open(path string).
	signature = `\b(func|function|def|fn)\s+\w+\s*\(|\w\([^()]*\)\s*(:|->|→|=>)\s*\S`
)

// blueprint collects what the lines of an answer contain.
type blueprint struct {
	path, signature *regexp.Regexp

	anyPath   bool // a line names a file
	namedPath bool // a line names a file and has a name like UserService
	changes   bool // a line names a file and has a verb like create or modify
	calls     bool // a line has the signature of a function
	arrows    bool // a line has at least two arrows
}

func (b *blueprint) read(line string) {
	if !(b.namedPath && b.changes) && strings.Contains(line, "/") && b.path.MatchString(line) {
		b.anyPath = true
		b.namedPath = b.namedPath || slices.ContainsFunc(strings.FieldsFunc(line, endsName), isCamelCase)
		b.changes = b.changes || mentions(plainWords(line), "create", "modify", "add", "update", "new")
	}
	if !b.calls && strings.Contains(line, "(") {
		b.calls = b.signature.MatchString(line)
	}
	b.arrows = b.arrows || strings.Count(line, "->")+strings.Count(line, "→")+strings.Count(line, "=>") > 1
}

// endsName reports whether r cannot be part of a name or a path.
func endsName(r rune) bool { return !isWordRune(r) && r != '.' && r != '/' }

// isCamelCase reports whether a word is like UserService. A word like User and a path are
// not.
func isCamelCase(word string) bool {
	word = strings.Trim(word, ".")
	if strings.ContainsAny(word, "./") || len(word) < 3 || !unicode.IsUpper(rune(word[0])) {
		return false
	}
	return strings.IndexFunc(word, unicode.IsLower) > 0 && strings.IndexFunc(word[1:], unicode.IsUpper) >= 0
}

// plainWords returns the words of a text in lower case, with a space around each.
func plainWords(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 2)
	b.WriteByte(' ')
	gap := true
	for _, r := range text {
		if isWordRune(r) {
			b.WriteRune(unicode.ToLower(r))
			gap = false
		} else if !gap {
			b.WriteByte(' ')
			gap = true
		}
	}
	b.WriteByte(' ')
	return b.String()
}

// mentions reports whether a text, as plainWords returns it, contains one of the phrases,
// in singular or plural.
func mentions(words string, phrases ...string) bool {
	return slices.ContainsFunc(phrases, func(phrase string) bool {
		for rest := words; ; {
			_, after, ok := strings.Cut(rest, " "+phrase)
			if !ok {
				return false
			}
			if after[0] == ' ' || strings.HasPrefix(after, "s ") {
				return true
			}
			rest = after
		}
	})
}

// fileLists returns usual headings of lists of files.
func fileLists() []string {
	lists := []string{"new file", "modified file", "created file", "changed file", "affected file", "file list", "list of files"}
	for _, verb := range []string{"create", "modify", "add", "change", "touch", "update", "delete"} {
		past := strings.TrimSuffix(verb, "e") + "ed"
		if verb == "modify" {
			past = "modified"
		}
		lists = append(lists, "files to "+verb, "file to "+verb, "files to be "+past, "files "+past)
	}
	return lists
}

// sequences returns usual names of the order in which to build.
func sequences() []string {
	all := []string{"order of implementation", "order of work", "sequence of implementation", "sequence of work", "step 1", "phase 1"}
	for _, kind := range []string{"build", "implementation", "development", "delivery", "construction"} {
		for _, noun := range []string{"sequence", "order", "step", "plan", "phase"} {
			all = append(all, kind+" "+noun)
		}
	}
	return all
}
