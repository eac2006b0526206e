package rules

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/guard"
)

var (
	// ErrNoFeature is returned by Unlock where there is no feature directory.
	ErrNoFeature = errors.New("no feature directory here")
	// ErrOtherOwner is returned by Unlock when the lock belongs to another session than
	// the one that was named.
	ErrOtherOwner = errors.New("the lock belongs to another session")
)

// Unlock removes the lock of the feature directory that is found from the directory
// here, and says what it has done. If session is not empty, the lock is removed only if
// that session holds it. It returns ErrNoFeature, ErrOtherOwner or the system's error.
func Unlock(here, session string, env func(string) string) (done string, err error) {
	project := env("CLAUDE_PROJECT_DIR")
	if project == "" {
		project = here
	}
	c := open(guard.NewCall(&event.Event{Cwd: here}, guard.ReadConfig(env, project), time.Now(), env))
	if c.place.feature == "" {
		return "", ErrNoFeature
	}
	lock := c.readLock()
	if !lock.exists {
		return "there is no lock at " + guard.OneLine(lock.path), nil
	}
	if session != "" && lock.owner != session {
		return "", fmt.Errorf("%w: %s is %s", ErrOtherOwner, lock.path, guard.OneLine(lock.describe()))
	}
	if err := os.Remove(lock.path); err != nil {
		return "", err
	}
	return guard.OneLine(fmt.Sprintf("removed %s, %s", lock.path, lock.describe())), nil
}
