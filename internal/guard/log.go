package guard

import "time"

// maxLogDetail bounds a line of the log, in bytes: with PLANNING_HOOKS_VERBOSE
// whole events are logged, and an event can carry a file of many megabytes.
const maxLogDetail = 1 << 20

// logLine is one line of the decision log.
func logLine(at time.Time, name, word, detail string) string {
	if len(detail) > maxLogDetail {
		detail = detail[:maxLogDetail] + " (cut)"
	}
	return Timestamp(at) + " " + name + ": " + word + " | " + OneLine(detail) + "\n"
}

// Timestamp is the time as a log has it, in UTC.
func Timestamp(at time.Time) string { return at.UTC().Format(timeLayout) }

const timeLayout = "[2006-01-02T15:04:05Z]"

// ParseTimestamp returns the time at the beginning of a log's line.
func ParseTimestamp(line string) (time.Time, error) {
	return time.Parse(timeLayout, line[:min(len(timeLayout), len(line))])
}
