package guard

import (
	"errors"
	"io/fs"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/statefile"
)

// lockWait bounds how long a guard waits for another process's change of a
// session file. The client gives the quickest guards three seconds. Tests set it.
var lockWait = 1500 * time.Millisecond

// counters is a small file of numbers by name, as the breaker and the
// consecutive blocks are kept. A member that is no number from 0 counts as 0
// and is kept as it is until its own counter changes.
type counters map[string]jsontext.Value

// parseCounters takes anything for a file: what cannot be read counts nothing.
func parseCounters(data []byte) counters {
	var c counters
	if json.Unmarshal(data, &c, lenient) != nil || c == nil {
		return counters{}
	}
	return c
}

// lenient reads what a model or a person may have written into a JSON file.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func (c counters) get(name string) int {
	var n int
	if json.Unmarshal(c[name], &n) != nil || n < 0 {
		return 0
	}
	return n
}

// with returns the file with one counter changed.
func (c counters) with(name string, n int) ([]byte, error) {
	value, err := json.Marshal(n)
	if err != nil {
		return nil, err
	}
	c[name] = value
	return json.Marshal(c, json.Deterministic(true), lenient)
}

// readCounter reads one counter without the lock: the file is only ever
// replaced as a whole. A missing file counts nothing; one that is no regular
// file of this user is an error.
func readCounter(path, name string) (int, error) {
	data, err := statefile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return parseCounters(data).get(name), nil
}

// changeCounter replaces one counter by what change makes of it, leaving the
// file untouched if that is what it was.
func changeCounter(path, name string, change func(int) int) error {
	return statefile.Update(path, lockWait, func(old []byte) ([]byte, error) {
		c := parseCounters(old)
		n := c.get(name)
		if next := change(n); next != n {
			return c.with(name, next)
		}
		return nil, nil
	})
}
