package rules

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/message"
)

var (
	// errNoFeature is returned by Unlock when there is no feature directory.
	errNoFeature = message.NewError("no feature directory here", "run it in the project, on the feature's branch, or set PLANNING_FEATURE_DIR")
	// errOtherOwner is returned by Unlock when the lock does not belong to the given
	// session.
	errOtherOwner = message.NewError("the lock belongs to another session",
		"without --session the lock is removed, whichever session holds it")
)

// Unlock removes the lock of the feature directory, which is searched for from the
// directory here. It returns a sentence about what it has done. If session is not empty,
// the lock is removed only if that session holds it. Errors are errNoFeature,
// errOtherOwner and those of the system.
func Unlock(here, session string, env func(string) string) (done string, err error) {
	project := cmp.Or(env("CLAUDE_PROJECT_DIR"), here)
	c := callOf(guard.NewCall(&client.Event{Cwd: here}, guard.ReadConfig(env, project), time.Now(), env))
	if c.place.feature == "" {
		return "", errNoFeature
	}
	lock := c.readLock()
	if !lock.exists {
		return "there is no lock at " + guard.OneLine(lock.path), nil
	}
	if session != "" && lock.owner != session {
		return "", fmt.Errorf("%w: %s is %s", errOtherOwner, lock.path, guard.OneLine(lock.describe()))
	}
	if err := os.Remove(lock.path); err != nil {
		return "", err
	}
	return guard.OneLine(fmt.Sprintf("removed %s, %s", lock.path, lock.describe())), nil
}
