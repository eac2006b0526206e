// Package outline finds the steps in a Markdown text, such as the body of a SKILL.md, so
// that an author who has written them as a list need not write them again.
//
// It does not parse all of Markdown, only lists and headings. It ignores quotes, tables and
// HTML.
package outline

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/frontmatter"
)

// Step is a task of an fsm.json.
type Step struct {
	ID          int64   `json:"id"`
	Subject     string  `json:"subject"`
	Description string  `json:"description,omitzero"`
	ActiveForm  string  `json:"activeForm,omitzero"`
	BlockedBy   []int64 `json:"blockedBy,omitzero"`
}

// maxSubject is the length of the longest subject in characters. The rest of a long line goes
// into the description.
const maxSubject = 65

// Template returns steps for an author who starts from scratch.
func Template() []Step {
	return []Step{
		{ID: 1, Subject: "Prepare", Description: "What is needed, and how to check that it is there."},
		{ID: 2, Subject: "Do the work", Description: "What to do, and when it is finished.", BlockedBy: []int64{1}},
		{ID: 3, Subject: "Check the result", Description: "How to check that it works.", BlockedBy: []int64{2}},
	}
}

// JSON returns the steps as an fsm.json.
func JSON(steps []Step) []byte {
	// A Step has no value that JSON cannot represent, so there is no error.
	text, _ := json.Marshal(steps, jsontext.AllowInvalidUTF8(true))
	return text
}

// Markdown returns the steps in a text, each blocked by the one before it. The steps are the
// items of numbered lists; without any, the headings below the title; with fewer than two
// of these, the items of other lists. The text below a step is its description. Front
// matter and code blocks are ignored.
func Markdown(text []byte) []Step {
	lines := parse(text)
	for _, kind := range []kind{numbered, heading, bullet} {
		if steps := collect(lines, kind); len(steps) >= 2 || len(steps) == 1 && kind == numbered {
			return steps
		}
	}
	return nil
}

type kind int

const (
	plain kind = iota
	numbered
	heading
	bullet
)

// line is one line of the text.
type line struct {
	kind  kind
	level int // level of a heading, or indentation of an item
	text  string
	raw   string
}

var (
	headings = lazy{text: `^(#{1,6})\s+(.*?)\s*#*\s*$`}
	numbers  = lazy{text: `^(\s*)\d{1,9}[.)]\s+(.*)$`}
	bullets  = lazy{text: `^(\s*)[-*+]\s+(.*)$`}
	ordinal  = lazy{text: `(?i)^(?:(?:step|phase)\s+)?\d+\s*[.:)\x{2013}\x{2014}-]\s*`}
	checkbox = lazy{text: `^\[[ xX]\]\s+`}
	bold     = lazy{text: `^\*\*(.+?)\*\*[.:]?\s*[\x{2013}\x{2014}:-]*\s*(.*)$`}
	fences   = lazy{text: "^\\s*(```|~~~)"}
	links    = lazy{text: `\[([^\]]*)\]\([^)]*\)`}
	emphasis = lazy{text: "(\\*\\*|__|`)"}
)

// lazy is an expression that is compiled at its first use: most runs of the program, which
// is also a hook, use none of them. As a variable it needs no initialisation.
type lazy struct {
	text string
	once sync.Once
	re   *regexp.Regexp
}

func (l *lazy) compiled() *regexp.Regexp {
	l.once.Do(func() { l.re = regexp.MustCompile(l.text) })
	return l.re
}

func parse(text []byte) (lines []line) {
	if _, own, body, err := frontmatter.CutSkill(text); err != nil {
		text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	} else if text = body; own != nil {
		_, text, _ = bytes.Cut(body, []byte("\n")) // the line that closes the frontmatter
	}
	all := strings.Split(strings.ReplaceAll(strings.ToValidUTF8(string(text), "\uFFFD"), "\r\n", "\n"), "\n")
	fence := ""
	for _, raw := range all {
		if found := fences.compiled().FindStringSubmatch(raw); found != nil && (fence == "" || fence == found[1]) {
			if fence == "" {
				fence = found[1]
			} else {
				fence = ""
			}
			lines = append(lines, line{raw: raw})
			continue
		}
		lines = append(lines, classify(raw, fence != ""))
	}
	return lines
}

func classify(raw string, code bool) line {
	if !code {
		if m := headings.compiled().FindStringSubmatch(raw); m != nil {
			return line{heading, len(m[1]), m[2], raw}
		}
		if m := numbers.compiled().FindStringSubmatch(raw); m != nil {
			return line{numbered, len(m[1]), m[2], raw}
		}
		if m := bullets.compiled().FindStringSubmatch(raw); m != nil {
			return line{bullet, len(m[1]), m[2], raw}
		}
	}
	return line{raw: raw}
}

// collect returns a step for each line of a kind at the outermost level.
func collect(lines []line, wanted kind) (steps []Step) {
	level := outermost(lines, wanted)
	var below []string // the lines below the last step
	open := false      // whether they belong to that step
	finish := func() {
		if open {
			last := &steps[len(steps)-1]
			last.Description = join(last.Description, paragraph(below))
		}
		below, open = nil, false
	}
	blank := false
	for _, l := range lines {
		switch {
		case l.kind == wanted && l.level == level:
			finish()
			subject, rest := subject(l.text)
			if subject == "" {
				break
			}
			step := Step{ID: int64(len(steps) + 1), Subject: subject, Description: rest}
			if len(steps) > 0 {
				step.BlockedBy = []int64{int64(len(steps))}
			}
			steps, open = append(steps, step), true
		case l.kind == heading && (wanted != heading || l.level < level),
			wanted != heading && blank && l.raw != "" && indent(l.raw) <= level: // ends the list
			finish()
		default:
			below = append(below, l.raw)
		}
		blank = strings.TrimSpace(l.raw) == ""
	}
	finish()
	return steps
}

func indent(text string) int { return len(text) - len(strings.TrimLeft(text, " \t")) }

// outermost returns the smallest level of the lines of a kind. A single heading of level 1
// is the title, and is not counted.
func outermost(lines []line, wanted kind) int {
	count := map[int]int{}
	for _, l := range lines {
		if l.kind == wanted {
			count[l.level]++
		}
	}
	for level := 0; level <= 40; level++ {
		if count[level] > 1 || count[level] == 1 && (wanted != heading || level > 1) {
			return level
		}
	}
	return 1
}

// subject splits the text of an item into the subject and the rest.
func subject(text string) (subject, rest string) {
	text = checkbox.compiled().ReplaceAllString(strings.TrimSpace(text), "")
	text = ordinal.compiled().ReplaceAllString(text, "")
	if m := bold.compiled().FindStringSubmatch(text); m != nil {
		return cut(clean(m[1]), m[2])
	}
	text = clean(text)
	if i := strings.Index(text, ". "); i > 0 {
		return cut(text[:i], strings.TrimSpace(text[i+1:]))
	}
	return cut(text, "")
}

// clean removes the markup of emphasis, code and links, and invisible characters.
func clean(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	text = links.compiled().ReplaceAllString(text, "$1")
	text = emphasis.compiled().ReplaceAllString(text, "")
	text = strings.Map(func(r rune) rune {
		if r != '\u200D' && unicode.In(r, unicode.Cc, unicode.Cf) { // U+200D joins emoji
			return -1
		}
		return r
	}, text)
	if strings.Trim(text, "\u200D ") == "" {
		return ""
	}
	return strings.Join(strings.Fields(text), " ")
}

// cut shortens a long subject between words, and puts the whole subject before rest.
func cut(subject, rest string) (string, string) {
	subject = strings.TrimRight(subject, ".:;, ")
	if len([]rune(subject)) <= maxSubject {
		return subject, rest
	}
	short := ""
	for _, word := range strings.Fields(subject) {
		if short != "" && len([]rune(short+" "+word)) > maxSubject-1 {
			break
		}
		short = strings.TrimSpace(short + " " + word)
	}
	if r := []rune(short); len(r) > maxSubject-1 {
		short = string(r[:maxSubject-1])
	}
	return short + "…", join(subject, rest)
}

// paragraph joins lines, without their common indentation and the blank lines around them.
func paragraph(lines []string) string {
	least := -1
	for _, l := range lines {
		if strings.TrimSpace(l) != "" && (least < 0 || indent(l) < least) {
			least = indent(l)
		}
	}
	var out []string
	for _, l := range lines {
		out = append(out, strings.TrimRight(l[min(len(l), max(least, 0)):], " \t"))
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

func join(a, b string) string {
	return strings.TrimSpace(strings.TrimSpace(a) + "\n" + strings.TrimSpace(b))
}
