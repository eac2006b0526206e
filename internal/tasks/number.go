package tasks

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Name returns "3.json" for "3".
func (ClientForm) Name(id string) string { return id + suffix }

// ID returns "3" for "3.json".
func (ClientForm) ID(name string) string { return strings.TrimSuffix(name, suffix) }

// suffix ends the names of task files.
const suffix = ".json"

// IsTask reports whether the client treats a file with this name as a task
// (fact 5, client 2.1.197).
func (ClientForm) IsTask(name string) bool {
	return strings.HasSuffix(name, suffix) && !strings.HasPrefix(name, ".")
}

// Number returns the id that the client derives from the name of a task file when
// it looks for the next free one: its leading digits, so 7 for 007.json and 5 for
// 5a.json, or 0 if there are none (fact 5, client 2.1.197). A number that is too large
// becomes math.MaxInt64.
func (ClientForm) Number(name string) int64 {
	digits := name[:len(name)-len(strings.TrimLeft(name, "0123456789"))]
	n, err := strconv.ParseInt(digits, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return math.MaxInt64
	}
	return n
}
