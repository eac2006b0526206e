package hydrate

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
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
	if r.Spec != "" && !isSpecError(err) {
		message += " - the task list is as it was before; nothing needs to be cleaned up"
		hint = remedy(err, r.List)
	}
	return message, hint
}

// remedies are the faults that a person has to mend, in the order in which they
// are looked for: the first says more than what comes below it.
var remedies = []struct {
	faults []error
	hint   string // %s is the task list's directory
}{
	{[]error{txn.ErrNoLinks}, "%s and the directory it is in have to be on one file system, one that has hard links, and the tasks have to be yours"},
	{[]error{txn.ErrUntrustedDir, vfs.ErrNotRegular, syscall.EISDIR, syscall.ENOTDIR}, "fsmtx did not put that there: look at it, then move it away"},
	{[]error{syscall.ENOSPC, syscall.EDQUOT}, "free some space where %s is, then invoke the skill again"},
	{[]error{syscall.EFBIG}, "raise the limit on the size of files (ulimit -f), then invoke the skill again"},
	{[]error{syscall.EMFILE, syscall.ENFILE}, "raise the limit on open files (ulimit -n), then invoke the skill again"},
	{[]error{syscall.EROFS}, "make the file system writable that %s is on, then invoke the skill again"},
	{[]error{syscall.EACCES, syscall.EPERM}, "mend the permissions and owners of %s and of the directory it is in, then invoke the skill again"},
	{[]error{syscall.EIO}, "look after the disk that %s is on; once it works, invoke the skill again"},
}

// remedy says what to do about a fault of the system; empty if err is none.
func remedy(err error, list string) string {
	for _, r := range remedies {
		for _, fault := range r.faults {
			if errors.Is(err, fault) {
				return strings.ReplaceAll(r.hint, "%s", list)
			}
		}
	}
	return ""
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
