package fsmspec

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Error returns "line:column: message".
func (p Problem) Error() string { return fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Message) }

// Error returns every problem on a line of its own, as "line:column: message".
func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the problems, each as a Problem.
func (e *InvalidError) Unwrap() []error {
	errs := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		errs[i] = p
	}
	return errs
}

// report collects problems while a file is read.
type report struct {
	findings []finding
	room     int // bytes left for pointers, which can be as long as the file; texts are short
	omitted  int
}

// finding is a problem whose message does not name the task yet: its id and subject
// may come later in the file.
type finding struct {
	at            int    // offset
	entry         *entry // the task it belongs to, or nil
	pointer, text string
}

// note adds a finding if there is room. words is called only then, because a file can
// hold millions of mistakes and putting them into words is slow.
func (r *report) note(at int, e *entry, words func() (pointer, text string)) {
	if len(r.findings) >= MaxProblems || r.room == 0 {
		r.omitted++
		return
	}
	pointer, text := words()
	r.room = max(0, r.room-len(pointer))
	r.findings = append(r.findings, finding{at, e, pointer, text})
}

// list returns the findings in the order of the file. skipped is added to their offsets.
func (r *report) list(data []byte, skipped int, warning bool) []Problem {
	if len(r.findings) == 0 {
		return nil
	}
	slices.SortStableFunc(r.findings, func(a, b finding) int { return cmp.Compare(a.at, b.at) })
	positions := jsonx.NewIndex(data)
	var problems []Problem
	for _, f := range r.findings {
		text := f.text
		if f.entry != nil {
			text = f.entry.name() + ": " + text
		}
		at := positions.At(f.at)
		problems = append(problems, Problem{at.Line, at.Column, int64(skipped + f.at), f.pointer, text, warning})
	}
	if r.omitted > 0 {
		last := problems[len(problems)-1]
		last.Pointer, last.Message = "", fmt.Sprintf("and %d more, which are not listed", r.omitted)
		problems = append(problems, last)
	}
	return problems
}

// lazy is a part of a message that is made only if the message is.
type lazy func() string

func (text lazy) String() string { return text() }

// quoted shortens text of the file for a message, and quotes it on one line.
func quoted(text string) lazy {
	return func() string { return strconv.QuoteToGraphic(short(text)) }
}

// short cuts text after as many characters as a message should repeat.
func short(text string) string {
	const longest = 40
	n := 0
	for i := range text {
		if n == longest {
			return text[:i] + "…"
		}
		n++
	}
	return text
}

// oneLine escapes what would break a line or control a terminal.
func oneLine(text string) string {
	var line []byte
	for _, r := range text {
		if unicode.IsGraphic(r) {
			line = utf8.AppendRune(line, r)
			continue
		}
		escape := strconv.AppendQuoteRune(nil, r)
		line = append(line, escape[1:len(escape)-1]...)
	}
	return string(line)
}

// taskName is what messages call a task: task 3 ("Deploy").
func taskName(id int64, subject string) string {
	if subject == "" {
		return fmt.Sprintf("task %d", id)
	}
	return fmt.Sprintf("task %d (%s)", id, quoted(subject))
}

// didYouMean returns a hint for a word that is probably a misspelling of a known
// one, or "".
func didYouMean(word string, known []string) lazy {
	return func() string {
		if meant := near(word, known); meant != "" {
			return fmt.Sprintf(" (did you mean %q?)", meant)
		}
		return ""
	}
}

// longestWord is how many bytes of a word are compared. The known words are shorter, but
// the keys of a file can be very long.
const longestWord = 32

// near returns the known word that word is probably a misspelling or the beginning
// of, or "".
func near(word string, known []string) string {
	limit := 3
	if len(word) < 6 {
		limit = 2
	}
	folded := fold(word[:min(len(word), longestWord)])
	best, bestDistance := "", limit
	for _, k := range known {
		d := distance(folded, fold(k), limit)
		if d < bestDistance && d < min(len(word), len(k)) {
			best, bestDistance = k, d
		}
	}
	if best != "" || len(word) < 4 {
		return best
	}
	for _, k := range known {
		if strings.HasPrefix(fold(k), folded) {
			return k
		}
	}
	return ""
}

// fold removes what different spellings of one name differ in: case and word breaks.
func fold(word string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("_- ", r) {
			return -1
		}
		return unicode.ToLower(r)
	}, word)
}

// distance returns the Levenshtein distance of a and b in bytes, or limit if it is
// not below limit.
func distance(a, b string, limit int) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, corner+1)
		}
	}
	return min(row[len(b)], limit)
}
