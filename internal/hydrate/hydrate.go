package hydrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/git"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Options are the options of the hook's command line.
type Options struct {
	Policy      fsmspec.Policy
	PluginDirs  []string      // the client's --plugin-dir options
	AddDirs     []string      // the client's --add-dir options
	LockTimeout time.Duration // limit on waiting for all locks together
	History     int           // how many hydrations can be undone; 0 means the default
	FS          vfs.FS        // nil means the operating system's
	Flat        bool          // replace the tasks of another skill also if work on them has begun
	// Mine reports whether the caller works the workflows of a skill. The open ones of others stay as they
	// are, and the workflow does not come under them, except under a step in progress that demands the skill.
	// Nil: all are the caller's.
	Mine func(command string) bool
	// FromClient reports whether the event comes from the client, or a person has agreed to what the agent does. Nil: it does.
	// Else the hydration replaces no unfinished workflow of another skill; see ErrReplaces.
	FromClient func() bool
	// Forged reports whether the event was written in the agent's shell. A call without a hydration is then not
	// recorded, because the event is the only evidence of it. Nil: it was not.
	Forged func() bool

	Program string // the agent, as package caller names it; empty if it is not known

	// Answerers returns the sums of the hooks that can answer for the person; see state.Answerer. Nil is none.
	Answerers func() []string

	// Committing is called before the list is changed, with the context for that, which it may replace. Most skills have no
	// workflow, and for them a handler of signals would be a good part of the hook's cost. It may be nil.
	Committing func(context.Context) context.Context

	Log func(decisions.Record) // is called with what Begin has decided; it may be nil
}

// Env looks up an environment variable, as os.LookupEnv does.
type Env func(name string) (string, bool)

func (env Env) get(name string) string {
	v, _ := env(name)
	return v
}

// with returns the environment with another value of a variable.
func (env Env) with(variable, value string) Env {
	return func(name string) (string, bool) {
		if name == variable {
			return value, true
		}
		return env(name)
	}
}

// Result is what a hydration did. If a function also returns an error, the fields are set
// as far as the hydration got.
type Result struct {
	List       string            // the task list's directory
	Spec       string            // path of the fsm.json; empty if the skill has none
	SHA256     string            // of the fsm.json, in hexadecimal digits
	Definition map[string]string // what the fsm.json says; see state.Definition
	tasks.Outcome
	Nested  *Nested  // the step that the workflow came under; nil if it came under none
	Undo    string   // the command that undoes it, if it came under a step or replaced unfinished workflows
	Outside string   // the folder of the workflow, if it is not in the session's project and no skill of the agent; with ErrElsewhere
	Lost    []string // the workflows of other skills or sessions that were not finished and were replaced, with how much of them was done
	// Changed says in what the fsm.json differs from that of the unfinished workflow of the same skill; usually empty.
	Changed    string
	Unrecorded int // how many open steps were replaced of which nothing is on record: what they were is not known

	Steps    []fsmspec.Task    // the step of each of Created; see fsmspec.Plan.Tasks
	PartOf   []int64           // the number of the step that each of Created is a part of, or 0
	Warnings []fsmspec.Problem // those about Steps that change the meaning of the fsm.json
	Flows    bool              // the workflow has outcomes: no step waits for ever, so the warnings are only for its author
	Args     string            // the arguments of the call that nothing in the workflow uses; usually empty
	Lacking  string            // see the function Lacking, which the caller calls; usually empty
	Mistake  *Mistake          // the mistake that Check corrects, nil if the skill was invoked just now
	Apart    bool              // the skill has an fsm.json, and runs in an agent of its own
}

// isOfClient is FromClient.
func (o Options) isOfClient() bool { return o.FromClient == nil || o.FromClient() }

// Hydration is a hydration that is ready to be applied: the skill has a valid fsm.json.
type Hydration struct {
	env      Env
	request  Request
	policy   fsmspec.Policy
	list     tasks.List
	spec     *fsmspec.Spec
	dir      string            // project directory
	files    map[string]string // digests of what it has of the files that steps produce
	content  *git.Content      // on what the workflow begins
	result   Result
	options  Options              // if the agent started the hook, only the agent reads its output
	others   []*workflow.Workflow // the open ones that are not the caller's, by the last plan
	place    state.Place          // where the workflow comes, by the last plan
	state    *state.State         // of the whole list then; nil if it has no task of a workflow
	demanded bool                 // whether a step that was in the list demands the skill, so that the call has to be recorded
	planned  *fsmspec.Plan        // that was carried out

	reloads  *Reload // nil unless it is the one of a reload
	retracts string  // id of the change to undo instead of hydrating; usually empty
}

// Find finds, reads and checks the skill's fsm.json. It returns a nil *Hydration if the
// skill has none.
//
// Errors: ErrLookup, or *SpecError once the fsm.json is found.
func Find(r Request, env Env, o Options) (*Hydration, Result, error) {
	var result Result
	var err error
	if result.List, err = r.list(env); err != nil {
		return nil, result, fmt.Errorf("%w: %w", ErrLookup, err)
	}
	spec, err := findSpec(r, env, o, &result)
	if err != nil || spec == nil {
		return nil, result, err
	}
	return newHydration(r, env, o, spec, result), result, nil
}

func (r Request) list(env Env) (string, error) {
	if r.List != "" {
		return r.List, nil
	}
	return tasklist.OfSession(env, r.Session)
}

// newHydration returns the hydration of result.List with spec.
func newHydration(r Request, env Env, o Options, spec *fsmspec.Spec, result Result) *Hydration {
	o.Policy.Args = r.Args
	h := &Hydration{
		env:     env,
		request: r,
		policy:  o.Policy,
		list:    tasks.List{Dir: result.List, Wait: o.LockTimeout, Keep: o.History, FS: o.FS},
		spec:    spec,
		result:  result,
		options: o,
	}
	if r.Project == "" && !o.isOfClient() { // the agent has chosen the environment
		f := gates.Frame{Store: state.Store{List: h.list, Session: r.Session}}
		h.request.Project = f.Directory(context.Background())
		h.request.Chosen = h.request.Project == ""
	}
	h.dir = projectDir(h.request, env)
	if r.Root && r.Plan == nil {
		h.dir = startIn(h.dir, result.Spec)
	}
	if !spec.TakesArgs() {
		h.result.Args = r.Args
	}
	if r.Agent != "" {
		h.policy.Scope = fsmspec.ScopeSkill
	}
	return h
}

// Apply puts the workflow's tasks into the list: in place of those of earlier workflows, or
// under the step of another workflow that is worked on. If ctx is cancelled, Apply stops
// waiting or staging, or rolls back a transaction that is being applied.
//
// Errors: state.ErrOpenAbove, state.ErrCircle, *fsmspec.ActiveError, fsmspec.ErrIDTooLarge, and those of
// tasks.List.Replace.
func (h *Hydration) Apply(ctx context.Context) (Result, error) {
	if h.retracts != "" {
		return h.retract(ctx)
	}
	isNew := h.request.Invocation == ""
	if isNew { // by it an undo takes back, too, that the skill of a step was called
		h.request.Invocation = state.NewCallID()
	}
	plan := h.planner(ctx)
	if h.spec.Len() == 0 { // otherwise there are tasks to create
		if idle, err := h.list.Idle(ctx, plan); idle || err != nil {
			return h.result, err
		}
	}
	h.files, h.content = gates.FilesOf(ctx, h.dir, h.spec.Tasks()), state.ContentNow(ctx, h.dir, "")
	r := h.request
	label := tasks.Label{Invocation: r.Invocation, New: isNew, By: r.By, Command: r.Command, Spec: h.result.Spec, Session: r.Session,
		Reloads: h.reloads != nil}
	h.list.Record = h.record
	var err error
	if h.result.Outcome, err = h.list.Replace(ctx, label, plan); err == nil && h.demanded {
		under := int64(0)
		if h.place.Parent != nil {
			under = h.place.Parent.ID
		}
		err = noteCall(ctx, h.request, under, h.list, nil)
	}
	h.result.Nested = h.nested()
	if err != nil && !errors.Is(err, ErrReplaces) || h.result.Duplicate {
		h.result.Lost = nil
	}
	if err != nil || h.result.Duplicate {
		h.result.Changed, h.result.Unrecorded = "", 0
	}
	if err == nil && !h.result.Duplicate && (h.result.Nested != nil || len(h.result.Lost) > 0) {
		h.result.Undo = h.undoLine()
	}
	if len(h.result.Created) > 0 {
		h.result.Steps, h.result.PartOf = h.planned.Tasks(), h.planned.PartOf()
		h.result.Warnings = slices.DeleteFunc(h.spec.Warnings(), func(p fsmspec.Problem) bool { return !p.ChangesMeaning })
		h.result.Flows = h.spec.Version() == fsmspec.WithOutcomes
	}
	return h.result, err
}

// undoLine returns the command that undoes the last change of the list.
func (h *Hydration) undoLine() string {
	line := []string{"fsmtx", "undo", "--list", tasklist.ShortName(h.env, h.list.Dir)}
	if last, err := h.list.LastChange(); err == nil {
		line = append(line, strconv.FormatInt(last.Number, 10))
	}
	return shell.Join(line...)
}

// retract undoes the change h.retracts. If that was undone or replaced since, there is
// nothing to do.
func (h *Hydration) retract(ctx context.Context) (Result, error) {
	u, err := h.list.Retract(ctx, h.retracts, h.request.Invocation)
	h.result.Unreleased = u.Unreleased
	if errors.Is(err, tasks.ErrUndone) || errors.Is(err, tasks.ErrReplaced) || errors.Is(err, tasks.ErrNoChange) {
		return h.result, nil
	}
	if err == nil {
		for _, id := range h.list.IDs(u.Removed) {
			h.result.Deleted = append(h.result.Deleted, fsmspec.Deletion{ID: id})
		}
		h.result.Restored = h.list.IDs(u.Restored)
	}
	return h.result, err
}

// Run calls Find and, if there is a hydration, Apply, else NoteCall.
func Run(ctx context.Context, r Request, env Env, o Options) (Result, error) {
	h, result, err := Find(r, env, o)
	if h == nil {
		return result, NoteCall(ctx, r, env, o, err)
	}
	return h.commit(ctx, o)
}

func (h *Hydration) commit(ctx context.Context, o Options) (Result, error) {
	if o.Committing != nil {
		ctx = o.Committing(ctx)
	}
	return h.Apply(ctx)
}

// Correct does what Check finds. nothing is set if there is nothing to correct. Errors are those of Find and of Apply.
func Correct(ctx context.Context, e *client.Event, env Env, o Options) (r Request, result Result, nothing bool, err error) {
	r, h, result, err := Check(ctx, e, env, o)
	if err == nil && h != nil {
		result, err = h.commit(ctx, o)
	}
	return r, result, h == nil, err
}

// NoteCall records that a skill was called for which Find has returned no hydration, for the
// step in progress that demands it; Apply does that for the others. found is the error of Find:
// with ErrLookup it is not known whether the skill has an fsm.json, and the call counts; with
// another error the skill has to be called again. Without such a step, NoteCall returns at once and
// does not take the lock.
//
// Errors: found, and that the call could not be recorded.
func NoteCall(ctx context.Context, r Request, env Env, o Options, found error) error {
	if found != nil && !errors.Is(found, ErrLookup) {
		return found
	}
	dir, err := r.list(env)
	if err != nil {
		return cmp.Or(found, err)
	}
	return errors.Join(found, noteCall(ctx, r, 0, tasks.List{Dir: dir, Wait: o.LockTimeout, FS: o.FS}, o.Forged))
}

func noteCall(ctx context.Context, r Request, under int64, list tasks.List, forged func() bool) error {
	f := gates.Frame{Store: state.Store{List: list, Session: r.Session, Forged: forged}}
	if err := f.Calls(ctx, state.SkillCall{Skill: r.tag(), Agent: r.Agent, Use: r.use(), Under: under}); err != nil {
		return fmt.Errorf("a step demands the skill %s, and the call could not be recorded, so call it again: %w", r.tag(), err)
	}
	return nil
}
