package guard

import "time"

// maxLogDetail bounds the detail of a log line, in bytes: with PLANNING_HOOKS_VERBOSE
// whole events are logged, and an event can contain a file of many megabytes.
const maxLogDetail = 1 << 20

// logLine is one line of the decision log.
func logLine(at time.Time, name, word, detail string) string {
	if len(detail) > maxLogDetail {
		detail = detail[:maxLogDetail] + " (cut)"
	}
	return Timestamp(at) + " " + name + ": " + word + " | " + OneLine(detail) + "\n"
}

// Timestamp formats a time for a log, in UTC.
func Timestamp(at time.Time) string { return at.UTC().Format(timeLayout) }

const timeLayout = "[2006-01-02T15:04:05Z]"

// ParseTimestamp parses the timestamp at the beginning of a log line.
func ParseTimestamp(line string) (time.Time, error) {
	return time.Parse(timeLayout, line[:min(len(timeLayout), len(line))])
}
