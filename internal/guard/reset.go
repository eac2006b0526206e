package guard

import (
	"os"
	"strings"

	"github.com/fsmtx/fsmtx/internal/statefile"
)

// Reset forgets what a session has counted and returns the names of what it
// forgot.
func Reset(s Session) ([]string, error) {
	var done []string
	for _, file := range []struct{ name, path string }{
		{"circuit breaker", s.Breaker()},
		{"research budget", s.Budget()},
		{"consecutive blocks", s.Blocks()},
	} {
		forgot, err := forget(file.path)
		if err != nil {
			return done, err
		}
		if forgot {
			done = append(done, file.name)
		}
	}
	return done, nil
}

// ResetGuard is Reset for what one guard counts.
func ResetGuard(s Session, g Guard) ([]string, error) {
	var done []string
	reset := func(name string, forgot bool, err error) error {
		if forgot {
			done = append(done, name)
		}
		return err
	}
	forgot, err := zero(s.Breaker(), func(name string) bool { return name == g.Name })
	if err := reset("circuit breaker", forgot, err); err != nil {
		return done, err
	}
	if g.ID == researchBudget().ID {
		forgot, err := forget(s.Budget())
		return done, reset("research budget", forgot, err)
	}
	if g.stops() {
		forgot, err := zero(s.Blocks(), func(name string) bool { return strings.HasPrefix(name, g.ID+":") })
		return done, reset("consecutive blocks", forgot, err)
	}
	return done, nil
}

// forget removes a file and reports whether there was one.
func forget(path string) (bool, error) {
	if _, err := os.Lstat(path); os.IsNotExist(err) {
		return false, nil
	}
	return true, statefile.Remove(path, lockWait)
}

// zero sets the named counters of a file to 0 and reports whether one was not.
func zero(path string, named func(string) bool) (changed bool, err error) {
	if _, err := os.Lstat(path); os.IsNotExist(err) {
		return false, nil
	}
	err = statefile.Update(path, lockWait, func(old []byte) ([]byte, error) {
		c := parseCounters(old)
		var next []byte
		for name := range c {
			if named(name) && c.get(name) > 0 {
				changed = true
				if next, err = c.with(name, 0); err != nil {
					return nil, err
				}
			}
		}
		return next, nil
	})
	return changed, err
}
