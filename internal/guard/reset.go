package guard

import (
	"os"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/statefile"
)

// Reset removes what was counted in a session: the circuit breaker, the consecutive blocks
// and the files that the rules keep. It returns the names of what it removed. The decision
// log is kept.
func Reset(s Session, rules []Rule) ([]string, error) {
	files := []Kept{{"circuit breaker", Session.Breaker}}
	for _, r := range rules {
		files = append(files, r.Keeps...)
	}
	return removeAll(s, append(files, Kept{"consecutive blocks", Session.Blocks}))
}

// ResetRule does for one rule what Reset does for all.
func ResetRule(s Session, r Rule) (done []string, err error) {
	failed, err := zero(s.Breaker(), r.Name)
	if failed {
		done = append(done, "circuit breaker")
	}
	if err != nil {
		return done, err
	}
	blocked, err := removeMembers(s.Blocks(), r.ID+":")
	if blocked {
		done = append(done, "consecutive blocks")
	}
	if err != nil {
		return done, err
	}
	removed, err := removeAll(s, r.Keeps)
	return append(done, removed...), err
}

// removeAll removes the files that exist and returns the names of what they held.
func removeAll(s Session, files []Kept) (done []string, err error) {
	for _, f := range files {
		path := f.Path(s)
		if !present(path) {
			continue
		}
		if err := statefile.Remove(path, LockWait); err != nil {
			return done, err
		}
		done = append(done, f.What)
	}
	return done, nil
}

func present(path string) bool {
	_, err := os.Lstat(path)
	return !os.IsNotExist(err)
}

// zero sets one counter of a file to 0 and reports whether it was above.
func zero(path, name string) (changed bool, err error) {
	if !present(path) {
		return false, nil
	}
	err = changeCounter(path, name, func(n int) int {
		changed = n > 0
		return 0
	})
	return changed, err
}

// removeMembers removes the members of a file whose names have the prefix, and reports
// whether any was a counter above 0 or a text.
func removeMembers(path, prefix string) (changed bool, err error) {
	if !present(path) {
		return false, nil
	}
	err = statefile.Update(path, LockWait, func(old []byte) ([]byte, error) {
		c := parseCounters(old)
		for name := range c {
			if strings.HasPrefix(name, prefix) {
				changed = changed || c.get(name) > 0 || c.text(name) != ""
				delete(c, name)
			}
		}
		if !changed {
			return nil, nil
		}
		return json.Marshal(c, json.Deterministic(true), jsonx.Tolerant)
	})
	return changed, err
}
