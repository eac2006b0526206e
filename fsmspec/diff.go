package fsmspec

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// String is the plan as a diff, one line a file, each ended by a line feed: what goes
// begins with "-", what comes with "+", and a raised high-water mark with "!". The
// lines between the quotes are such a plan.
//
//	"- 3.json   Set up (in_progress)"
//	"+ 10.json  Set up"
//	"+ 11.json  Deploy (blocked by #10)"
//	"! .highwatermark 3 -> 9"
//
// It is empty if the plan is.
func (p *Plan) String() string {
	width := p.width()
	var diff strings.Builder
	for _, d := range p.deletions {
		writeLine(&diff, '-', width, d.Name, d.Subject, remark(d.Status))
	}
	for i, c := range p.creations {
		writeLine(&diff, '+', width, c.Name, c.Subject, p.tasks[i].note(p.base))
	}
	if mark, raise := p.HighWater(); raise {
		fmt.Fprintf(&diff, "! .highwatermark %d -> %d\n", p.from, mark)
	}
	return diff.String()
}

// width is that of the longest file name, in code points.
func (p *Plan) width() int {
	width := 0
	for _, d := range p.deletions {
		width = max(width, utf8.RuneCountInString(oneLine(d.Name)))
	}
	for _, c := range p.creations {
		width = max(width, len(c.Name))
	}
	return width
}

func writeLine(diff *strings.Builder, sign rune, width int, name, subject, note string) {
	text := oneLine(subject)
	if note != "" {
		text = strings.TrimLeft(text+" ("+note+")", " ")
	}
	line := fmt.Sprintf("%c %-*s  %s", sign, width, oneLine(name), text)
	diff.WriteString(strings.TrimRight(line, " "))
	diff.WriteByte('\n')
}

// remark is a status worth a word.
func remark(status string) string {
	if status == Pending {
		return ""
	}
	return oneLine(status)
}

// note says of a task what the diff shows beside its subject. Ids are actual.
func (t task) note(base int64) string {
	var notes []string
	if status := remark(t.Status); status != "" {
		notes = append(notes, status)
	}
	if len(t.BlockedBy) > 0 {
		notes = append(notes, "blocked by "+list(base, t.BlockedBy))
	}
	if len(t.Blocks) > 0 {
		notes = append(notes, "blocks "+list(base, t.Blocks))
	}
	return strings.Join(notes, ", ")
}

func list(base int64, local []int64) string {
	names := make([]string, len(local))
	for i, id := range local {
		names[i] = fmt.Sprintf("#%d", base+id)
	}
	return strings.Join(names, ", ")
}
