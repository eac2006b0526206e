package guard

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/statefile"
)

// counters is the content of a small JSON file that maps names to numbers. The breaker and
// the consecutive blocks have one such file each. A member that is not a whole number of
// at least 0 reads as 0 and is kept until its own counter changes.
type counters map[string]jsontext.Value

// parseCounters reads a broken file as one without counters.
func parseCounters(data []byte) counters {
	var c counters
	if json.Unmarshal(data, &c, jsonx.Tolerant) != nil || c == nil {
		return counters{}
	}
	return c
}

func (c counters) get(name string) int {
	var n int
	if json.Unmarshal(c[name], &n) != nil || n < 0 {
		return 0
	}
	return n
}

// with sets one counter and returns the file's new content.
func (c counters) with(name string, n int) ([]byte, error) {
	value, err := json.Marshal(n)
	if err != nil {
		return nil, err
	}
	c[name] = value
	return json.Marshal(c, json.Deterministic(true), jsonx.Tolerant)
}

// counter reads one counter without the lock. That is safe because the file is only
// ever replaced as a whole. In a missing file every counter is 0. An error is returned for
// anything but a regular file of this user.
func (c *Call) counter(path, name string) (int, error) {
	data, err := c.Read(path)
	return parseCounters(data).get(name), err
}

// changeCounter replaces one counter by the result of change. A counter that
// stays the same leaves the file untouched.
func changeCounter(path, name string, change func(int) int) error {
	return statefile.Update(path, LockWait, func(old []byte) ([]byte, error) {
		c := parseCounters(old)
		n := c.get(name)
		if next := change(n); next != n {
			return c.with(name, next)
		}
		return nil, nil
	})
}
