package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/continuation"
	"github.com/fsmtx/fsmtx/internal/git"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/txn"
)

func (d *doctor) recovery(ctx context.Context) (found []Fault, err error) {
	dirs, err := tasklist.WithHistory(d.Getenv)
	if err != nil {
		return nil, err
	}
	reports, err := tasklist.RecoverAll(ctx, dirs, time.Second, tasklist.RecoverOptions{DryRun: true})
	if err != nil {
		return nil, err
	}
	for _, r := range reports {
		dir := r.List
		recovers := shell.Join("fsmtx", "recover", "--list", tasklist.ShortName(d.Getenv, dir))
		switch r.State {
		case tasklist.Clean, tasklist.Damaged: // see enforcement
		case tasklist.Refused:
			if r.Is(safefile.ErrOfOther) { // see enforcement
				continue
			}
			found = append(found, Fault{Kind: "recovery", What: r.Reason, File: dir, Command: recovers})
		default:
			found = append(found, Fault{Kind: "recovery", What: "a call of a skill was interrupted", File: dir, Command: recovers, Safe: true,
				repair: func(ctx context.Context) error {
					if now := tasklist.Recover(ctx, dir, tasklist.Wait, tasklist.RecoverOptions{}); now.Pending() {
						return errors.New(now.Reason)
					}
					return nil
				}})
		}
		if s, err := txn.StateDir(dir); err == nil {
			aside := filepath.Join(s, "conflicts")
			if entries, err := os.ReadDir(aside); err == nil && len(entries) > 0 {
				found = append(found, Fault{Kind: "recovery", What: "contains files that recovery moved aside; check them, then remove the directory",
					File: aside, Command: "rm -r " + shell.Join(aside)})
			}
		}
	}
	return found, nil
}

// enforcement finds the lists whose steps are not enforced, or not fully. A list may have no
// state directory any more.
func (d *doctor) enforcement(ctx context.Context) (found []Fault, err error) {
	dirs, err := tasklist.All(d.Getenv)
	recorded, unread := tasklist.WithHistory(d.Getenv)
	if err = cmp.Or(err, unread); err != nil {
		return nil, err
	}
	for _, dir := range recorded {
		if isOrphan(dir) {
			found = append(found, d.ofProject(ctx, &state.Store{List: tasks.List{Dir: dir}})...)
		}
	}
	var unrecorded []Fault // of lists of every project, as many as a purge has left
	for _, dir := range dirs {
		if isOrphan(dir) {
			continue
		}
		st := &state.Store{List: tasks.List{Dir: dir}}
		troubles, err := st.AllTroubles(ctx)
		found = append(found, d.ofProject(ctx, st)...)
		if err != nil {
			troubles = append(troubles, err)
		}
		for _, trouble := range troubles {
			fault := Fault{Kind: "steps", What: "its steps are not fully enforced: " + trouble.Error() + state.WithRemedy(trouble),
				File: dir}
			if errors.Is(trouble, state.ErrUnrecorded) {
				unrecorded = append(unrecorded, fault)
			} else {
				found = append(found, fault)
			}
		}
	}
	if len(unrecorded) < 2 {
		return append(found, unrecorded...), nil
	}
	var names []string
	for _, fault := range unrecorded {
		names = append(names, filepath.Base(fault.File))
	}
	return append(found, Fault{Kind: "steps", What: message.Sprintf("%v, in %d task lists, as after fsmtx install --remove --purge: %s; "+
		"to go on with one, %s", state.ErrUnrecorded, len(names), strings.Join(names, ", "), state.Remedy)}), nil
}

// ofProject finds, of the workflows of this project in a list, those whose fsm.json has changed since they began, and those whose tasks
// were all removed with steps open.
func (d *doctor) ofProject(ctx context.Context, list *state.Store) (found []Fault) {
	dir := list.List.Dir
	st, err := list.Now(ctx)
	if err != nil {
		return nil // enforcement says so
	}
	if m, ok := st.Missed(); ok && st.Count().Open > 0 {
		found = append(found, Fault{Kind: "steps", File: dir, What: m.String()})
	}
	for _, w := range st.Workflows() {
		away := state.AwayText(w)
		switch name := tasklist.ShortName(d.Getenv, dir); {
		case away == "" || len(st.OpenIn(w)) == 0 || st.Parent(w) != nil:
		case w.Inode != 0 && w.Inode == state.Inode(d.cwd) && state.IsRemoved(w.Dir):
			found = append(found, Fault{Kind: "steps", File: w.Dir, What: message.Sprintf("is gone, and this directory was it: the gates of %s "+
				"look nowhere until a person says that it is here", w.Command), Command: tasklist.MoveLine(".", name)})
		case tasklist.IsOf(d.Getenv, w, d.cwd):
			found = append(found, Fault{Kind: "steps", File: dir, What: tasklist.AwayText(w, away, name)})
		}
		rel, err := filepath.Rel(w.Dir, d.cwd)
		if err != nil || !filepath.IsLocal(rel) || st.Parent(w) != nil {
			continue
		}
		if what, takes := state.FileChange(w); len(st.OpenIn(w)) > 0 && what != "" {
			fault := Fault{Kind: "workflow", File: w.Spec, What: what + "; the gates of the open workflow of " + message.Words(w.Command) +
				" are those of then"}
			if why := st.CannotReload(w); takes && why != "" {
				fault.What += ", and it cannot be reloaded: " + why + ": " + state.InsteadOfReload
			} else if takes {
				fault.Command = `fsmtx step reload --because "..." --list ` + shell.Join(tasklist.ShortName(d.Getenv, dir))
			}
			found = append(found, fault)
		}
		if gone := st.Emptied(w); len(gone) > 0 {
			found = append(found, Fault{Kind: "steps", File: dir, What: message.Sprintf("the tasks of %s were removed with steps open: %s. Nothing "+
				"of it is enforced until they are back", w.Command, state.Names(gone)), Command: continuation.Line(d.Getenv, w.Command, dir, dir)})
		}
	}
	return found
}

// taskRoots tests the operations that a hydration needs in the directories of the task lists.
func (d *doctor) taskRoots(context.Context) (found []Fault, err error) {
	roots, err := tasklist.Roots(d.Getenv)
	if err != nil {
		return nil, err
	}
	for i, root := range roots {
		more, err := taskRoot(root, []string{"CLAUDE_CONFIG_DIR", "XDG_STATE_HOME"}[i])
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// taskRoot tests one of these directories, which the variable can put elsewhere.
func taskRoot(root, variable string) (found []Fault, err error) {
	info, err := os.Stat(root)
	if errors.Is(err, fs.ErrNotExist) {
		return uncreatable(root, variable), nil // the client or the first workflow creates it
	}
	if err != nil || !info.IsDir() {
		return []Fault{{Kind: "task list", What: "is not a directory", File: root}}, nil
	}
	if kind := networkFS(root); kind != "" {
		found = append(found, Fault{Kind: "task list", What: "is on " + kind +
			", where locks and the order of changes are not reliable; set " + variable + " to a local directory", File: root})
	}
	dir, err := os.MkdirTemp(root, ".fsmtx-doctor-")
	if err != nil {
		command := "chmod u+rwx " + shell.Join(root)
		if owner, known := safefile.OwnerOf(info); known && owner != os.Geteuid() {
			command = fmt.Sprintf("sudo chown -R %d %s", os.Geteuid(), shell.Join(root))
		}
		return append(found, Fault{Kind: "task list", What: "is not writable: " + err.Error(), File: root, Command: command}), nil
	}
	defer os.RemoveAll(dir)
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := safefile.Unheld.WriteNew(a, nil, 0o600); err == nil {
		if err := safefile.Unheld.Link(a, safefile.Unheld, b); err != nil {
			found = append(found, Fault{Kind: "task list", What: "has no hard links, so every call of a skill fails; set " + variable +
				" to another file system", File: root})
		}
	}
	return found, nil
}

// uncreatable returns why a directory that does not exist cannot be created.
func uncreatable(root, variable string) []Fault {
	place := filepath.Dir(root)
	for place != filepath.Dir(place) {
		if _, err := os.Lstat(place); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		place = filepath.Dir(place)
	}
	if err := safefile.IsWritable(place); err != nil {
		return []Fault{{Kind: "task list", What: fmt.Sprintf("cannot be created in %s: %v; repair that, or set %s to a directory of yours",
			place, err, variable), File: root}}
	}
	return nil
}

// staleAfter is the age at which a lock is certainly stale: the client takes a lock over
// after ten seconds (fact 15, client 2.1.197).
const staleAfter = time.Minute

func (d *doctor) locks(context.Context) (found []Fault, err error) {
	roots, err := tasklist.Roots(d.Getenv)
	if err != nil {
		return nil, err
	}
	var locks []string
	for _, root := range roots {
		more, err := filepath.Glob(filepath.Join(globEscape(root), "*", "*.lock"))
		if err != nil {
			return nil, err
		}
		locks = append(locks, more...)
	}
	for _, lock := range locks {
		info, err := os.Lstat(lock)
		switch {
		case err != nil || filepath.Base(lock) == ".lock":
		case !info.IsDir():
			found = append(found, Fault{Kind: "lock", What: "a file at the path of a lock: the client waits for it indefinitely", File: lock,
				Command: "rm " + shell.Join(lock)})
		case time.Since(info.ModTime()) > staleAfter:
			found = append(found, Fault{Kind: "lock", What: "a lock that no program has refreshed since " +
				info.ModTime().Format("2006-01-02 15:04:05"), File: lock, Command: "rmdir " + shell.Join(lock),
				Safe: true, repair: func(context.Context) error { return removeStale(lock, info.ModTime()) }})
		case time.Until(info.ModTime()) > staleAfter:
			found = append(found, Fault{Kind: "lock", What: "a lock with a time in the future, " + info.ModTime().Format("2006-01-02 15:04:05") +
				", which no program takes over: a clock was set back", File: lock, Command: "rmdir " + shell.Join(lock)})
		}
	}
	return found, nil
}

// removeStale removes a lock, unless another program has taken it since its time was read.
func removeStale(lock string, seen time.Time) error {
	info, err := os.Lstat(lock)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.ModTime().Equal(seen) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Remove(lock)
}

func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// repository finds a repository that git refuses, where a proof needs it: there is a policy, or a workflow is open.
func (d *doctor) repository(ctx context.Context) ([]Fault, error) {
	if root, _, _ := state.WorkTreeOf(d.cwd); root == "" {
		return nil, nil
	}
	if !state.HasPolicy(d.cwd) {
		all, err := tasklist.OfProject(ctx, d.Getenv, d.cwd, tasklist.Recent)
		if err != nil || !slices.ContainsFunc(all, func(l tasklist.Listed) bool { return l.Open }) {
			return nil, err
		}
	}
	_, err := git.Open(ctx, d.cwd)
	if other, ok := errors.AsType[*git.OfOtherError](err); ok {
		return []Fault{{Kind: "repository", What: other.Error() + ", so nothing that is done here can be proved; if you trust it, run this",
			Command: other.Command}}, nil
	}
	return nil, nil // any other error is not about the owner
}

// leftovers finds state directories whose lists no longer exist: one sentence for all of them.
func (d *doctor) leftovers(context.Context) (found []Fault, err error) {
	dirs, err := tasklist.WithHistory(d.Getenv)
	if err != nil {
		return nil, err
	}
	var gone, names []string
	var at string
	for _, dir := range dirs {
		s, err := txn.StateDir(dir)
		if err != nil || !isOrphan(dir) {
			continue
		}
		if info, err := os.Lstat(s); err != nil || time.Since(info.ModTime()) < d.age {
			continue
		}
		if at = s; len(gone) > 0 {
			at = filepath.Dir(s)
		}
		gone, names = append(gone, dir), append(names, filepath.Base(dir))
	}
	what := "the state directory of a list that no longer exists"
	switch {
	case len(gone) == 0:
		return nil, nil
	case len(gone) > 1:
		what = fmt.Sprintf("has the state directories of %d lists that no longer exist: %s", len(gone),
			message.Clip(strings.Join(names, ", "), 200))
	}
	return []Fault{{Kind: "leftover", What: what, File: at, Command: "fsmtx doctor --fix", Safe: true,
		repair: func(ctx context.Context) error {
			var failed []error
			for _, dir := range gone {
				failed = append(failed, tasklist.Forget(ctx, dir))
			}
			return errors.Join(failed...)
		}}}, nil
}

// isOrphan reports whether a list is gone of which there is a state directory.
func isOrphan(dir string) bool {
	_, err := os.Lstat(dir)
	return errors.Is(err, fs.ErrNotExist)
}
