package hydrate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// again is what a message advises when a skill's call put nothing into the list.
const again = "invoke the skill again"

// Explain returns the message about a failed hydration, for the agent and the person:
// what failed, with which file, and in which state the task list is now. hint is what to
// do about it; it may be empty.
func Explain(err error, r Result, env Env) (text, hint string) {
	text = message.Error(err)
	if failed, ok := errors.AsType[*txn.FileError](err); ok && failed.Op == "delete" {
		text = message.Sprintf("Failed to delete task %s: %v", tasks.Form.ID(failed.Name), failed.Err)
		if errors.Is(err, txn.ErrRecoveryRequired) {
			text += message.Sprintf(". Manual cleanup required at %s/", tilde(r.List, env))
		}
	} else if ok && failed.Op == "create" {
		text = message.Sprintf("Failed to write task %s: %v", tasks.Form.ID(failed.Name), failed.Err)
	}
	named := nameOfList(r.List, env)
	recovers := "fsmtx recover" + named
	switch {
	case errors.Is(err, txn.ErrRecoveryRequired):
		return text + " - the rollback failed too, so the task list is only partly changed: recovery required",
			"free some disk space or repair the permissions, then run: " + recovers
	case errors.Is(err, ErrAbandoned):
		return text, "check the disks of the task list and of the skill; the next skill with a workflow, or " + recovers +
			", completes or rolls back what was begun"
	case errors.Is(err, ErrInternal):
		return text, "the next skill with a workflow, or " + recovers +
			", completes or rolls back what was begun; please report this error"
	case errors.Is(err, txn.ErrUnknown):
		return text, "either all of the tasks come into the list or the list stays as it was; to decide which, run: " + recovers
	case errors.Is(err, txn.ErrJournalVersion):
		return text, "run fsmtx recover of the version that wrote the journal; or a person has to inspect the list, then run " + recovers +
			" --force in a terminal outside the client"
	case errors.Is(err, txn.ErrJournalTorn), errors.Is(err, txn.ErrJournalForeign), errors.Is(err, txn.ErrJournalInvalid):
		return text, "the journal is not trusted and was not applied; a person has to inspect the list, then run " + recovers +
			" --force in a terminal outside the client"
	case errors.Is(err, state.ErrOpenAbove):
		return text + "; no task was changed",
			"to have it start over, a person first ends its workflow: fsmtx step end N --because \"...\"" + named + ", where N is one of its steps"
	case errors.Is(err, ErrReplaces):
		return text + "; no task was changed",
			"tell the person, or run fsmtx begin SKILL as a call of its own, so that the client can ask them"
	case errors.Is(err, state.ErrCircle):
		return text + "; no task was changed", "take do out of one of the two fsm.json files"
	case errors.Is(err, fsmspec.ErrIDTooLarge):
		return text + "; no task was changed", fmt.Sprintf("the task list is in %s; when that is done, invoke the skill again", r.List)
	}
	invalid, ok := errors.AsType[*SpecError](err)
	if ok {
		return invalid.Brief(), ""
	}
	if r.Unreleased != nil {
		text += "; " + Unreleased(r.Unreleased)
	}
	if r.Spec == "" {
		return text, ""
	}
	if len(r.Created)+len(r.Deleted)+len(r.Restored) == 0 {
		text += " - the task list is as it was before; nothing needs to be cleaned up"
	}
	return text, remedy(err, r.List)
}

// nameOfList returns the flag that names a list, empty if no list is known.
func nameOfList(list string, env Env) string {
	if list == "" {
		return ""
	}
	return " " + shell.Join("--list", tasklist.ShortName(env, list))
}

// Notes returns what else a successful hydration has to say. The hook prints it on standard
// error, which the client does not show.
func Notes(result Result) (notes []string) {
	if result.Recovered.Outcome == txn.RolledBack {
		notes = append(notes, fmt.Sprintf("an interrupted change of %s was %s first", result.List, result.Recovered.Outcome))
	}
	for _, c := range result.Recovered.Conflicts {
		notes = append(notes, conflictText(c))
	}
	if result.Unreleased != nil {
		notes = append(notes, Unreleased(result.Unreleased))
	}
	if result.Duplicate {
		notes = append(notes, "nothing to do: this call was taken up before")
	}
	return notes
}

// Unreleased returns the message about locks that could not be released.
func Unreleased(err error) string {
	return message.Sprintf("a lock on the task list could not be released: %v; the next call releases it, and others wait ten seconds at most",
		err)
}

// fault is errors that a person has to repair, and how.
type fault struct {
	errors []error
	hint   string // %s is the task list's directory
}

// faults returns the errors that a person has to repair. The first match counts, so specific
// errors come first.
func faults() []fault {
	return []fault{
		{[]error{txn.ErrNoLinks}, "%s and its parent must be on one file system with hard links"},
		{[]error{txn.ErrProtected}, "make it an ordinary file of yours (chown, chattr -i -a) in %s, then invoke the skill again"},
		{[]error{txn.ErrName}, "give the task list a name in UTF-8 of at most 248 bytes (CLAUDE_CODE_TASK_LIST_ID)"},
		{[]error{safefile.ErrOfOther}, "do that, then invoke the skill again"},
		{[]error{txn.ErrUntrustedDir, vfs.ErrNotRegular, vfs.ErrNotOwn, syscall.EISDIR, syscall.ENOTDIR},
			"fsmtx did not create that: inspect it, then move it away"},
		{[]error{syscall.ENOSPC, syscall.EDQUOT}, "free some space on the disk of %s, then invoke the skill again"},
		{[]error{syscall.EFBIG}, "raise the limit on the size of files (ulimit -f), then invoke the skill again"},
		{[]error{syscall.EMFILE, syscall.ENFILE}, "raise the limit on open files (ulimit -n), then invoke the skill again"},
		{[]error{syscall.EROFS}, "make the file system of %s writable, then invoke the skill again"},
		{[]error{syscall.EACCES, syscall.EPERM}, "repair the permissions and the owner of %s and of its parent, then invoke the skill again"},
		{[]error{syscall.EIO}, "check the disk of %s; once it works, invoke the skill again"},
	}
}

// remedy returns the hint for err, "" if there is none.
func remedy(err error, list string) string {
	if made, ok := errors.AsType[*fs.PathError](err); ok && made.Op == "mkdir" && errors.Is(err, fs.ErrPermission) {
		dir := filepath.Dir(made.Path)
		if text := ofOther(dir); text != "" && dir == filepath.Dir(list) {
			return text
		}
		return "you may not write into " + dir + ": change its permissions or its owner, then invoke the skill again"
	}
	if text := ofOther(list); text != "" && errors.Is(err, fs.ErrPermission) {
		return text
	}
	for _, f := range faults() {
		for _, one := range f.errors {
			if errors.Is(err, one) {
				return strings.ReplaceAll(f.hint, "%s", list)
			}
		}
	}
	return ""
}

// ofOther says that a directory belongs to another user and what changes that, "" if it does not.
func ofOther(dir string) string {
	info, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	owner, ok := safefile.OwnerOf(info)
	if !ok || owner == os.Geteuid() {
		return ""
	}
	return message.Sprintf("%s belongs to user %d; make it yours: sudo chown -R %d %s; then invoke the skill again", dir, owner,
		os.Geteuid(), shell.Join(dir))
}

// tilde shortens a path below HOME to ~/….
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
