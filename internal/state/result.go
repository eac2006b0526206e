package state

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/message"
)

// Passed reports whether the command exited with 0.
func (r Result) Passed() bool { return r.Failed == "" && r.Exit == 0 }

// Ran reports whether the command ran to its end.
func (r Result) Ran() bool { return r.Failed == "" && decisions.Ran(r.Exit) }

// Printed returns what the command has written to its output and to standard error.
func (r Result) Printed() string {
	if r.Output == "" || r.Errors == "" {
		return r.Output + r.Errors
	}
	return r.Output + "\n" + r.Errors
}

// Complaint returns the end of what the command has written to standard error, for the end of a
// sentence, if that is not part of its output.
func (r Result) Complaint() string {
	if text := LastLines(r.Errors); text != "" {
		return "\nOn standard error it printed:\n" + text
	}
	return ""
}

// How returns in a few words how a command failed.
func (r Result) How() string { return cmp.Or(r.Failed, fmt.Sprintf("exit status %d", r.Exit)) }

const (
	tailLines = 20
	tailChars = 2000
)

// LastLines returns the last 20 lines of a check's output, at most 2,000 characters.
func LastLines(output string) string {
	text := strings.TrimRight(message.Text(strings.ReplaceAll(output, "\r\n", "\n")), "\n ")
	lines := strings.Split(text, "\n")
	text = strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
	if all := []rune(text); len(all) > tailChars {
		text = "…" + string(all[len(all)-tailChars:])
	}
	return text
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
