package tasks

import (
	"math"
	"strconv"
	"strings"
)

// isTaskName reports whether the client takes a name for that of a task file.
func isTaskName(name string) bool {
	return strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".")
}

// number returns what the name of a task file counts for in the numbering: its
// leading digits, so that 007.json counts 7 and 5a.json 5; 0 if there are none.
// The client loses precision past 2^53, and a name of any length is legal, so a
// larger number counts as the largest.
func number(name string) int64 {
	digits := len(name) - len(strings.TrimLeft(name, "0123456789"))
	if digits == 0 {
		return 0
	}
	n, err := strconv.ParseInt(name[:digits], 10, 64)
	if err != nil {
		return math.MaxInt64
	}
	return n
}
