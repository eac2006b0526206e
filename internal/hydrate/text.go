package hydrate

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// changes describes what a hydration created and deleted:
//
//	12 tasks #13–#24, replaced #1–#12 (1 was under way)
//	no tasks, removed #1–#12
func changes(result Result) string {
	text, verb := "no tasks", "removed"
	if n := len(result.Created); n > 0 {
		text, verb = fmt.Sprintf("%s %s", terminal.Count(n, "task"), numbers(idsOf(result.Created))), "replaced"
	}
	if len(result.Deleted) > 0 {
		text += ", " + verb + " " + deletions(result.Deleted)
	}
	if len(result.Restored) > 0 {
		text += ", restored " + numbered(result.Restored)
	}
	if n := result.Nested; n != nil {
		text += fmt.Sprintf(", under %s of %s", n.Step, clip(n.Skill))
	}
	return text
}

// Numbers names the steps that were created.
func (r Result) Numbers() string { return numbers(idsOf(r.Created)) }

func idsOf(created []fsmspec.Creation) []int64 {
	var ids []int64
	for _, c := range created {
		ids = append(ids, c.ID)
	}
	return ids
}

// numbered lists the tasks with these ids by number. The client shows tasks with ids like abc,
// too (fact 4, client 2.1.197); these are only counted.
func numbered(ids []string) string {
	known := Numbers(ids)
	text := numbers(known)
	switch others := len(ids) - len(known); {
	case len(known) == 0:
		text = terminal.Count(others, "task") + " without a number"
	case others > 0:
		text += " and " + terminal.Count(others, "task") + " without a number"
	}
	return text
}

// deletions lists the deleted tasks, and how many of them were under way.
func deletions(deleted []fsmspec.Deletion) string {
	var ids []string
	active := 0
	for _, d := range deleted {
		ids = append(ids, d.ID)
		if d.Status == fsmspec.InProgress.String() {
			active++
		}
	}
	text := numbered(ids)
	switch active {
	case 0:
	case 1:
		text += " (1 was under way)"
	default:
		text += fmt.Sprintf(" (%d were under way)", active)
	}
	return text
}

// numbers lists task numbers: #1, #2, #4–#9.
func numbers(ids []int64) string {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	var ranges []string
	for len(ids) > 0 {
		if len(ranges) == maxRanges {
			return fmt.Sprintf("%s and %d more", strings.Join(ranges, ", "), len(ids))
		}
		n := 1
		for n < len(ids) && ids[n] == ids[n-1]+1 {
			n++
		}
		if n < 3 {
			n = 1
			ranges = append(ranges, fmt.Sprintf("#%d", ids[0]))
		} else {
			ranges = append(ranges, fmt.Sprintf("#%d–#%d", ids[0], ids[n-1]))
		}
		ids = ids[n:]
	}
	return strings.Join(ranges, ", ")
}

// bounded escapes a message as for a terminal and shortens it to limit UTF-16 code units.
func bounded(text string, limit int) string {
	return shorten(message.Text(text), limit, "… (the rest is left out; --log keeps the whole message)")
}

// shorten returns a text of at most limit UTF-16 code units. A longer one is cut and ends
// in note.
func shorten(text string, limit int, note string) string {
	if client.Length(text) <= limit {
		return text
	}
	return cut(text, limit-client.Length(note)) + note
}

// cut returns the beginning of text, at most limit UTF-16 code units.
func cut(text string, limit int) string {
	for i, r := range text {
		if limit -= utf16.RuneLen(r); limit < 0 {
			return text[:i]
		}
	}
	return text
}

// clip returns a text on one line, cut to maxLine characters.
func clip(s string) string {
	s = message.Words(s)
	if utf8.RuneCountInString(s) <= maxLine {
		return s
	}
	return message.Clip(s, maxLine-1)
}
