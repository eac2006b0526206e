package hydrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/claude"
	"github.com/fsmtx/fsmtx/internal/claude/tasks"
	"github.com/fsmtx/fsmtx/locator"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Options are the choices of whoever installed the hook.
type Options struct {
	Policy      fsmspec.Policy
	PluginDirs  []string
	LockTimeout time.Duration // bounds the wait for all locks together
	FS          vfs.FS        // nil for the operating system's
}

// Env looks up a variable of the environment, as os.LookupEnv does.
type Env func(name string) (string, bool)

func (env Env) get(name string) string {
	v, _ := env(name)
	return v
}

// Result is what a hydration did. It is filled as far as it came, also beside an
// error.
type Result struct {
	List      string // the task list's directory
	Spec      string // the path of the fsm.json; empty if the skill has none
	Duplicate bool   // the same invocation was hydrated before; nothing was done
	Deleted   []fsmspec.Deletion
	Created   []fsmspec.Creation
	Recovered txn.Report // what an interrupted transaction had left over
}

var (
	// ErrLookup means that it could not be found out whether the skill has an
	// fsm.json.
	ErrLookup = errors.New("looking for the skill's fsm.json failed")
	// ErrLockTimeout is the cause of giving up on a lock.
	ErrLockTimeout = errors.New("gave up waiting")
)

// SpecError means that the skill's fsm.json cannot be read or is not valid. It
// wraps the reader's error or a *fsmspec.InvalidError.
type SpecError struct {
	Path string
	Err  error
}

func (e *SpecError) Error() string {
	if invalid, ok := errors.AsType[*fsmspec.InvalidError](e.Err); ok {
		return fmt.Sprintf("%s is not valid, and no task was changed (%s):\n%v", e.Path, count(len(invalid.Problems), "problem"), e.Err)
	}
	return e.Err.Error()
}

func (e *SpecError) Unwrap() error { return e.Err }

// Hydration is one that has something to do: the skill has a valid fsm.json.
type Hydration struct {
	request Request
	options Options
	spec    *fsmspec.Spec
	result  Result
	files   vfs.FS
	dir     *txn.Dir
}

// Find looks for the skill's fsm.json, and reads and checks it. It returns nil if
// the skill has none. The result tells how far it came, also beside an error.
//
// Errors: ErrLookup before it is known that the skill has an fsm.json, then
// *SpecError.
func Find(r Request, env Env, o Options) (*Hydration, Result, error) {
	var result Result
	list, err := tasks.Dir(env, r.Session)
	if err != nil {
		return nil, result, fmt.Errorf("%w: %w", ErrLookup, err)
	}
	result.List = list
	spec, err := findSpec(r, env, o, &result)
	if err != nil || spec == nil {
		return nil, result, err
	}
	h := &Hydration{request: r, options: o, spec: spec, result: result, files: o.FS}
	if h.files == nil {
		h.files = vfs.OS{}
	}
	if r.Subagent {
		h.options.Policy.Scope = fsmspec.ScopeSkill
	}
	return h, result, nil
}

// Apply brings the tasks into the list. Ending ctx stops it while it waits or
// stages, and rolls it back while it applies. The result tells how far it came,
// also beside an error.
//
// Errors: *fsmspec.ActiveError, fsmspec.ErrIDTooLarge, ErrLockTimeout, and those
// of txn and tasks.
func (h *Hydration) Apply(ctx context.Context) (Result, error) {
	idle, err := h.idle(ctx)
	if err == nil && !idle {
		err = h.run(ctx)
	}
	return h.result, err
}

// Run is Find and Apply.
func Run(ctx context.Context, r Request, env Env, o Options) (Result, error) {
	h, result, err := Find(r, env, o)
	if h == nil {
		return result, err
	}
	return h.Apply(ctx)
}

// findSpec locates, reads and parses the skill's fsm.json; nil if it has none.
func findSpec(r Request, env Env, o Options, result *Result) (*fsmspec.Spec, error) {
	config, err := claude.ConfigDir(env)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLookup, err)
	}
	files := locator.OS{}
	l := &locator.Locator{FS: files, ConfigDir: config, ProjectDir: env.get("CLAUDE_PROJECT_DIR"), PluginDirs: Absolute(o.PluginDirs)}
	found, err := l.Locate(r.Command, r.Cwd)
	if err != nil {
		return nil, lookupError{err}
	}
	if !found.Found() {
		return nil, nil
	}
	result.Spec = found.Path
	spec, err := readSpec(files, found.Path)
	if _, unseen := errors.AsType[lookupError](err); unseen {
		result.Spec = ""
	}
	return spec, err
}

// readSpec tells a file that is of no use from one of which it cannot even be told
// whether it is there: in a directory that may not be searched, any name would be.
func readSpec(files locator.FS, path string) (*fsmspec.Spec, error) {
	data, err := locator.ReadSpec(files, path, fsmspec.MaxBytes)
	if err != nil {
		if _, unseen := files.Lstat(path); unseen != nil {
			return nil, lookupError{err}
		}
		return nil, &SpecError{path, err}
	}
	spec, err := fsmspec.Parse(data)
	if err != nil {
		return nil, &SpecError{path, err}
	}
	return spec, nil
}

// Absolute returns the directories as seen from the current one.
func Absolute(dirs []string) []string {
	var list []string
	for _, dir := range dirs {
		if abs, err := filepath.Abs(dir); err == nil {
			list = append(list, abs)
		}
	}
	return list
}

// lookupError is ErrLookup with the locator's own words, which are documented.
type lookupError struct{ error }

func (e lookupError) Is(target error) bool { return target == ErrLookup }
func (e lookupError) Unwrap() error        { return e.error }

// idle reports whether there is nothing to create and nothing to delete: then
// no lock is taken and no directory made.
func (h *Hydration) idle(ctx context.Context) (bool, error) {
	if h.spec.Len() > 0 {
		return false, nil
	}
	snap, torn, err := tasks.Read(ctx, h.files, h.result.List)
	if err != nil || len(torn) > 0 {
		return false, err
	}
	plan, err := h.plan(snap)
	return err == nil && plan.Empty() && h.alone(), nil
}

// alone reports whether no other hydration can have been at work while the list
// was read without a lock. A directory is not read in one step: of tasks that are
// being replaced, the old ones may be gone before they are read and the new ones
// have come after the names were. Whoever replaces tasks makes the sibling first.
func (h *Hydration) alone() bool {
	if _, err := h.files.Lstat(h.result.List); errors.Is(err, fs.ErrNotExist) {
		return true
	}
	s, err := txn.StateDir(h.result.List)
	if err != nil {
		return false
	}
	_, err = h.files.Lstat(s)
	return errors.Is(err, fs.ErrNotExist)
}

func (h *Hydration) plan(snap fsmspec.Snapshot) (*fsmspec.Plan, error) {
	return h.spec.Plan(h.request.Command, snap, h.options.Policy)
}

func (h *Hydration) run(ctx context.Context) (err error) {
	waiting, cancel := context.WithTimeoutCause(ctx, h.options.LockTimeout, fmt.Errorf("%w after %v", ErrLockTimeout, h.options.LockTimeout))
	defer cancel()
	h.dir, err = txn.Open(waiting, h.result.List, txn.WithFS(h.files), txn.WithLocker(new(tasks.Locks)))
	if err != nil {
		return err
	}
	defer h.dir.Close()
	h.result.Recovered = h.dir.Recovered()
	if h.result.Duplicate, err = h.isDuplicate(); err != nil || h.result.Duplicate {
		return err
	}
	for {
		plan, err := h.lockAndPlan(waiting)
		if err != nil {
			return err
		}
		err = h.commit(ctx, plan)
		if err == nil {
			h.result.Deleted, h.result.Created = plan.Deletions(), plan.Creations()
		}
		if !errors.Is(err, txn.ErrChanged) || errors.Is(err, txn.ErrRecoveryRequired) {
			return err
		}
		if waiting.Err() != nil { // that a task was changed would be no reason to give up
			return fmt.Errorf("%w; the last try: %v", context.Cause(waiting), err)
		}
	}
}

// lockAndPlan takes the list's lock, reads the list, plans, and takes the locks
// of the files that the plan deletes. If one of them was held, all were let go
// for a while; and the client may have updated or deleted a file before its lock
// was ours. In either case what was planned is out of date, and is planned again
// with the same locks held.
func (h *Hydration) lockAndPlan(ctx context.Context) (*fsmspec.Plan, error) {
	if _, err := h.dir.Lock(ctx); err != nil {
		return nil, err
	}
	for {
		snap, err := h.snapshot(ctx)
		if err != nil {
			return nil, err
		}
		plan, err := h.plan(snap)
		if err != nil {
			return nil, err
		}
		kept, err := h.dir.Lock(ctx, names(plan.Deletions())...)
		if err != nil {
			return nil, err
		}
		if !kept {
			continue
		}
		same, err := h.unchanged(ctx, snap, plan)
		if err != nil {
			return nil, err
		}
		if same {
			return plan, nil
		}
	}
}

// snapshot reads the list under its lock. A file that is not JSON may be one
// that the client is writing: it is read again once its own lock is held. By then
// the client may be writing another one, hence until none is left.
func (h *Hydration) snapshot(ctx context.Context) (fsmspec.Snapshot, error) {
	var locked []string
	for {
		snap, torn, err := tasks.Read(ctx, h.files, h.dir.Path())
		torn = slices.DeleteFunc(torn, func(name string) bool { return slices.Contains(locked, name) })
		if err != nil || len(torn) == 0 {
			return snap, err
		}
		if _, err := h.dir.Lock(ctx, torn...); err != nil {
			return snap, err
		}
		locked = append(locked, torn...)
	}
}

// unchanged reports whether the files to be deleted, now that their locks are
// held, still are what the plan was made from.
func (h *Hydration) unchanged(ctx context.Context, snap fsmspec.Snapshot, plan *fsmspec.Plan) (bool, error) {
	doomed := names(plan.Deletions())
	if len(doomed) == 0 {
		return true, nil
	}
	now, _, err := tasks.ReadAgain(ctx, h.dir.Path(), doomed)
	if err != nil || len(now) != len(doomed) {
		return false, err
	}
	for _, task := range now {
		if !slices.Contains(snap.Tasks, task) {
			return false, nil
		}
	}
	return true, nil
}

func (h *Hydration) commit(ctx context.Context, plan *fsmspec.Plan) error {
	if plan.Empty() {
		return nil
	}
	change := txn.Change{Label: h.label(), Deletes: names(plan.Deletions())}
	for _, c := range plan.Creations() {
		change.Creates = append(change.Creates, txn.File{Name: c.Name, Data: []byte(c.Content), Mode: 0o644})
	}
	if mark, raise := plan.HighWater(); raise {
		change.Prepare = func(files vfs.FS, dir, scratch string) error {
			return tasks.RaiseHighWater(files, dir, scratch, mark)
		}
	}
	return h.dir.Commit(ctx, change)
}

func names(deletions []fsmspec.Deletion) []string {
	list := make([]string, len(deletions))
	for i, d := range deletions {
		list[i] = d.Name
	}
	return list
}

// Label is what a transaction's record in the history says of a hydration.
type Label struct {
	Invocation string `json:"invocation,omitzero"`
	Command    string `json:"command"`
	Spec       string `json:"spec"`
	Session    string `json:"session"`
}

func (h *Hydration) label() string {
	text, err := json.Marshal(Label{h.request.Invocation, h.request.Command, h.result.Spec, h.request.Session})
	if err != nil {
		return "" // a name that is no UTF-8: such an invocation is never a duplicate
	}
	return string(text)
}

// isDuplicate reports whether this very invocation was hydrated before: the hook
// may be registered by a plugin and in the settings as well.
func (h *Hydration) isDuplicate() (bool, error) {
	if h.request.Invocation == "" {
		return false, nil
	}
	history, err := h.dir.History()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(history, func(e txn.Entry) bool {
		var l Label
		return json.Unmarshal([]byte(e.Label), &l) == nil && l.Invocation == h.request.Invocation
	}), nil
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
