package state

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
)

// Weakened says for the person, behind "of", what was removed or made shorter; empty if nothing was.
func (w *Watched) Weakened() string {
	switch {
	case w != nil && w.Unknown != "":
		return "the files on which its check stands nothing is known: " + w.Unknown
	case w == nil || len(w.Removed)+len(w.Shorter) == 0:
		return ""
	}
	var parts []string
	if len(w.Removed) > 0 {
		parts = append(parts, Quoted(clipped(w.Removed))+" removed")
	}
	if len(w.Shorter) > 0 {
		parts = append(parts, Quoted(clipped(w.Shorter))+" shorter")
	}
	return fmt.Sprintf("the files on which its check stands: %s; files: %d before, %d now; lines: %d before, %d now",
		strings.Join(parts, ", "), w.Before.Files, w.After.Files, w.Before.Lines, w.After.Lines)
}

// clipped returns the first few of the names, and how many others there are.
func clipped(names []string) []string {
	const most = 5
	if len(names) <= most {
		return names
	}
	return append(slices.Clone(names[:most]), fmt.Sprintf("%d others", len(names)-most))
}

// Quoted joins names of files for a sentence.
func Quoted(names []string) string {
	var quoted []string
	for _, n := range names {
		quoted = append(quoted, message.Clip(message.Words(n), message.MaxSubject))
	}
	return message.Sentence(quoted)
}
