package hydrate

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/txn"
)

// Explain puts a failed hydration into words for the agent and the user: what
// happened, to which file, and what state the task list is in now.
func Explain(err error, r Result, env Env) (message, hint string) {
	message = err.Error()
	if failed, ok := errors.AsType[*txn.FileError](err); ok && failed.Op == "delete" {
		message = fmt.Sprintf("Failed to delete task %s: %v. Manual cleanup required at %s/",
			strings.TrimSuffix(failed.Name, ".json"), failed.Err, tilde(r.List, env))
	} else if ok && failed.Op == "create" {
		message = fmt.Sprintf("Failed to write task %s: %v", strings.TrimSuffix(failed.Name, ".json"), failed.Err)
	}
	switch {
	case errors.Is(err, txn.ErrRecoveryRequired):
		return message + " - the rollback failed too, and the task list is half changed: recovery required",
			"free the disk or mend the permissions, then run: fsmtx recover"
	case errors.Is(err, txn.ErrUnknown):
		return message, "the tasks are there now; run: fsmtx recover"
	case errors.Is(err, txn.ErrJournalVersion):
		return message, "run fsmtx recover of the version that wrote it; or look at it, then set it aside with: fsmtx recover --force"
	case errors.Is(err, txn.ErrJournalTorn), errors.Is(err, txn.ErrJournalForeign), errors.Is(err, txn.ErrJournalInvalid):
		return message, "look at it, then set it aside with: fsmtx recover --force"
	}
	if errors.Is(err, txn.ErrNotDirectory) {
		hint = "fsmtx did not put that there: look at it, then move it away"
	}
	if r.Spec != "" && !isSpecError(err) {
		message += " - the task list is as it was before; nothing needs to be cleaned up"
	}
	return message, hint
}

func isSpecError(err error) bool {
	_, ok := errors.AsType[*SpecError](err)
	return ok
}

// tilde writes a path below HOME as people do.
func tilde(path string, env Env) string {
	home := env.get("HOME")
	if home == "" {
		return path
	}
	if rest, err := filepath.Rel(home, path); err == nil && filepath.IsLocal(rest) {
		return "~/" + rest
	}
	return path
}
