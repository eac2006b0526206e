package hydrate

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/locator"
)

// When a skill is invoked, the folder that the client runs is predicted. The client
// writes the folder into the transcript a little later (fact 47, client 2.1.329). So the
// hook also runs before the agent uses a task tool, to make sure that it finds the right
// tasks, and when the agent is about to stop.

// Mistake is a prediction that the transcript contradicts.
type Mistake struct {
	Dir   string // the folder that the client runs
	Spec  string // the fsm.json in Dir, empty if there is none
	Taken string // the fsm.json that was used instead, empty if none was
}

// IsCheck reports whether Check handles the event.
func IsCheck(e *client.Event) bool {
	return e.Name == client.Stop || e.Name == client.PreToolUse && strings.HasPrefix(e.ToolName, "Task")
}

// Check looks for a skill of the current turn whose tasks are not those of the folder
// that the client ran. It returns the hydration that corrects this, nil if there is
// nothing to correct. It checks the skills of the turn from the last one back to the
// first that has a workflow, because that one has replaced the tasks of earlier ones.
//
// The skills of a subagent are not checked: a subagent has a transcript of its own, whose
// path is not in its events.
//
// Errors are those of Find.
func Check(ctx context.Context, e *client.Event, env Env, o Options) (Request, *Hydration, Result, error) {
	r := Request{Event: e.Name, Session: e.SessionID, Cwd: e.Cwd, Stopped: e.StopHookActive}
	if e.AgentID != "" || e.SessionID == "" {
		return r, nil, Result{}, nil
	}
	start := cmp.Or(env.get("CLAUDE_PROJECT_DIR"), e.Cwd)
	for _, run := range client.SkillRuns(e.TranscriptPath, e.PromptID, start, lookBack(e)) {
		c := check{request: r, run: run, prompt: e.PromptID, env: env, options: o}
		c.request.Command, c.request.Args, c.request.Typed = run.Name, arguments(run.Args), run.ToolUse == ""
		h, result, over, err := c.compare(ctx)
		if over || err != nil {
			return c.request, h, result, err
		}
	}
	return r, nil, Result{}, nil
}

// lookBack returns how much of a turn is searched for skills, from its end, in bytes. An agent uses a task tool soon after
// it has called a skill with a workflow. One without task tools is checked at the end of its turn.
func lookBack(e *client.Event) int64 {
	if e.Name == client.Stop {
		return 1 << 20
	}
	return 256 << 10
}

// check compares one skill that ran with what was hydrated for it.
type check struct {
	request Request
	run     client.SkillRun
	prompt  string
	env     Env
	options Options
}

// compare returns the hydration that corrects the skill's tasks. over reports whether
// this skill has a workflow, or one was hydrated for it; then earlier skills need no
// check.
//
// If the prediction, made again now, is the folder that the client ran, nothing is wrong.
// Otherwise the history of the list decides, because files may have been moved since the
// hydration.
func (c check) compare(ctx context.Context) (h *Hydration, result Result, over bool, err error) {
	spec := filepath.Join(c.run.Dir, specName)
	if _, err := os.Lstat(spec); err != nil {
		spec = ""
	}
	if predicted, err := locate(c.request, c.env, c.options); err == nil && safefile.Same(predicted.Path, spec) {
		return nil, result, spec != "", nil
	}
	if result.List, err = tasklist.OfSession(c.env, c.request.Session); err != nil {
		return nil, result, false, fmt.Errorf("%w: %w", ErrLookup, err)
	}
	list := tasks.List{Dir: result.List, Wait: c.options.LockTimeout, Keep: c.options.History, FS: c.options.FS}
	labels, err := list.Labels(ctx)
	if err != nil {
		return nil, result, false, err
	}
	taken, hydrated := c.taken(labels)
	switch {
	case hydrated && (taken.Undo != "" || taken.Spec == spec || safefile.Same(filepath.Dir(taken.Spec), c.run.Dir)):
		return nil, result, true, nil
	case !hydrated && spec == "":
		return nil, result, false, nil
	case !c.options.isOfClient(): // an agent can write the event and the transcript
		return nil, result, true, nil
	}
	result.Mistake = &Mistake{Dir: c.run.Dir, Spec: spec, Taken: taken.Spec}
	c.request.Invocation = corrects(c.invocation())
	h, err = c.hydration(&result, taken.ID)
	return h, result, true, err
}

// hydration returns the hydration with the tasks of the folder that the client ran. If
// that folder has no workflow, the hydration undoes the change taken.
func (c check) hydration(result *Result, taken string) (*Hydration, error) {
	if result.Mistake.Spec == "" {
		h := newHydration(c.request, c.env, c.options, new(fsmspec.Spec), *result)
		h.retracts = taken
		return h, nil
	}
	result.Spec = result.Mistake.Spec
	spec, err := readSpec(locator.OS{}, result.Spec, c.request, result)
	if err != nil {
		return nil, err
	}
	return newHydration(c.request, c.env, c.options, spec, *result), nil
}

// taken returns the last change that was made for this call of the skill, by the
// hydration or by a later check.
func (c check) taken(labels []tasks.Label) (change tasks.Label, hydrated bool) {
	for _, l := range slices.Backward(labels) {
		if c.is(l.Invocation) {
			return l, true
		}
	}
	return tasks.Label{}, false
}

// invocation returns Request.Invocation of this call of the skill. For a typed skill it
// leaves out the name: the typed name may differ from the one in the event (fact 63,
// client 2.1.329), and a prompt has only one.
func (c check) invocation() string {
	if c.run.ToolUse != "" {
		return join("tool", c.run.ToolUse)
	}
	return join("prompt", c.prompt)
}

// is reports whether the invocation is this call of the skill, or a check of it.
func (c check) is(invocation string) bool {
	own := c.invocation()
	return invocation == own || invocation == corrects(own) || c.run.ToolUse == "" && strings.HasPrefix(invocation, own+":")
}

// corrects returns the invocation of a check that corrects the given one.
func corrects(invocation string) string { return checked + invocation }

// use identifies the call of the skill, also in a check that corrects it.
func (r Request) use() string { return strings.TrimPrefix(r.Invocation, checked) }

// checked begins the invocation of a check.
const checked = "check:"
