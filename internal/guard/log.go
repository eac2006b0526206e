package guard

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/statefile"
)

// maxLogDetail bounds the detail of a log line, in bytes: with PLANNING_HOOKS_VERBOSE
// whole events are logged, and an event can contain a file of many megabytes.
const maxLogDetail = 1 << 20

// verboseWord is in place of the decision in a line that has a whole event or reply.
const verboseWord = "VERBOSE"

// logLine is one line of the session's log, in the form that the requirements prescribe.
func logLine(at time.Time, name, word, detail string) string {
	return Timestamp(at) + " " + name + ": " + word + " | " + OneLine(bounded(detail)) + "\n"
}

func bounded(detail string) string {
	if len(detail) > maxLogDetail {
		return detail[:maxLogDetail] + " (cut)"
	}
	return detail
}

// decision returns a decision as it is in the log of all decisions.
func decision(at time.Time, name, word, detail string) decisions.Record {
	return decisions.Record{
		Time: at, Source: decisions.Guard, Decision: strings.ToLower(word), Why: OneLine(bounded(detail)), Guard: name,
		Who: "fsmtx", How: "hook",
	}
}

// parseLog returns the decisions in a session's log. Lines that a crash has torn are skipped.
func parseLog(data []byte) (all []decisions.Record) {
	for line := range bytes.Lines(data) {
		text := strings.TrimSuffix(string(line), "\n")
		at, err := ParseTimestamp(text)
		if err != nil {
			continue
		}
		name, rest, named := strings.Cut(strings.TrimPrefix(text[len(timeLayout):], " "), ": ")
		word, detail, whole := strings.Cut(rest, " | ")
		if named && whole && word != verboseWord {
			all = append(all, decision(at, name, word, detail))
		}
	}
	return all
}

// maxDecided limits how much of a log is read at once, in bytes.
const maxDecided = 16 << 20

// Decided returns the decisions in the log at path, oldest first: of a long log those in its
// last maxDecided bytes. Without a log there are none.
func Decided(path string) ([]decisions.Record, error) {
	data, err := statefile.Tail(path, maxDecided)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return parseLog(data), err
}

// Timestamp formats a time for a log, in UTC.
func Timestamp(at time.Time) string { return at.UTC().Format(timeLayout) }

const timeLayout = "[2006-01-02T15:04:05Z]"

// ParseTimestamp parses the timestamp at the beginning of a log line.
func ParseTimestamp(line string) (time.Time, error) {
	return time.Parse(timeLayout, line[:min(len(timeLayout), len(line))])
}
