package outline

import (
	"slices"
	"strconv"
	"strings"
)

// label is the identifier before a step: "Phase 1", "T001", "2.1".
type label struct {
	class   string // "phase", "T", or "#" for a number alone; "" for none
	text    string // as it is written
	from    int    // its number, and the last one of a range
	to      int
	below   string // what follows the number: "1" of 2.1, "a" of 2a
	comment string // what is in parentheses behind it
}

// inWords are the numbers that are written as words: "Phase ONE".
const inWords = `one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve`

var (
	wordLabel = pattern{text: `^((?i:steps?|phases?|(?:sub)?tasks?|stages?|gates?|schritt|étape|etape|paso|passo))\s*#?` +
		`(\d+|[IVX]+\b|[A-H]\b|(?i:` + inWords + `)\b)((?:\.\d+)*[a-z]?\b)?((?:\s?[-–—+&]\s?|\s+(?:to|and)\s+)\d+\b|\+|` +
		`(?:\s+of\s+|\s?/\s?)\d+)?` +
		`(?:\s*\(([^)]*)\))?\s*(?:[:.)\]|]+|[-–—→]+|$|\*\*|` + "`" + `|\s)\s*`}
	codeLabel = pattern{text: `^([A-Z]{1,8}-?)(\d+)((?:\.\d+)*[a-z]?\b)?` +
		`(?:\s*\[[\p{L}\p{N}/_-]+\??\])*(?:\s*\(([^)]*)\))?\s*(?:[:.)]|[-–—]|\*\*|` + "`" + `|\s|$)\s*`}
	numberLabel = pattern{text: `^(\d+)(?:((?:\.\d+)+[a-z]?)[.:)]?|[.:)]|\s[-–—])(?:\s+|\*\*|$)\s*`}
	ownComment  = pattern{text: `(?i)^(?:this|AC)\b`} // says nothing about the step
	tagsBehind  = pattern{text: `^(?:\[(?:P|US\d+|Story|x)\]\s*)+`}
)

// cutLabel returns the label of a text and what is behind it.
func cutLabel(text string) (l label, title string) {
	text = strings.TrimSpace(text)
	open := strings.HasPrefix(text, "**") || strings.HasPrefix(text, "__")
	if inner := strings.TrimLeft(text, "*_`"); open || strings.HasPrefix(text, "`") {
		if l, title = cutPlain(inner); l.class == "" {
			return l, text
		}
		title = strings.TrimLeft(title, "`:–—- ")
		if strings.HasPrefix(title, "**") { // the label alone is bold
			return l, strings.TrimLeft(title, "*:. –—-")
		}
		if open && strings.Count(title, "**")%2 == 1 {
			title = "**" + title
		}
		return l, title
	}
	return cutPlain(text)
}

func cutPlain(text string) (l label, title string) {
	if m := wordLabel.find(text); m != nil {
		l = label{class: strings.TrimSuffix(strings.ToLower(m[1]), "s"), text: m[0], below: m[3], comment: m[5]}
		l.from = number(m[2])
		l.to = l.from
		if m[4] != "" && !strings.ContainsAny(m[4], "/f") { // "of"
			l.to, _ = strconv.Atoi(strings.TrimLeft(m[4], " -–—+&toand"))
			l.to = max(l.to, l.from)
		}
	} else if m := codeLabel.find(text); m != nil {
		l = label{class: m[1], text: m[0], below: m[3]}
		l.from, _ = strconv.Atoi(m[2])
		l.to = l.from
	} else if m := numberLabel.find(text); m != nil {
		l = label{class: "#", text: m[0], below: m[2]}
		l.from, _ = strconv.Atoi(m[1])
		l.to = l.from
	} else {
		return l, text
	}
	title = tagsBehind.without(text[len(l.text):])
	if l.comment != "" && title != "" && !ownComment.in(l.comment) {
		title += " (" + l.comment + ")"
	}
	return l, title
}

// number returns the number that digits, a Roman figure, a word or a letter stand for.
func number(text string) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	if i := slices.Index(strings.Fields("I II III IV V VI VII VIII IX X XI XII"), text); i >= 0 {
		return i + 1
	}
	if i := slices.Index(strings.Split(inWords, "|"), strings.ToLower(text)); i >= 0 {
		return i + 1
	}
	return int(text[0]-'A') + 1
}

// follows reports whether a label is the next one after another in a sequence.
func (l label) follows(before label) bool {
	if l.from == before.to+1 {
		return true
	}
	return l.from == before.to && l.below != "" && l.below != before.below
}
