package hydrate_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

func env(vars ...string) hydrate.Env {
	return func(name string) (string, bool) {
		for i := 0; i+1 < len(vars); i += 2 {
			if vars[i] == name {
				return vars[i+1], true
			}
		}
		return "", false
	}
}

const list = "/home/u/.claude/tasks/s"

// TestExplainHasAHintForEachFault: each fault that a person has to repair has a hint.
func TestExplainHasAHintForEachFault(t *testing.T) {
	for _, test := range []struct {
		fault error
		hint  string
	}{
		{txn.ErrNoLinks, list + " and its parent must be on one file system with hard links"},
		{txn.ErrUntrustedDir, "fsmtx did not create that"},
		{vfs.ErrNotRegular, "fsmtx did not create that"},
		{syscall.EISDIR, "fsmtx did not create that"},
		{syscall.ENOTDIR, "fsmtx did not create that"},
		{syscall.ENOSPC, "free some space on the disk of " + list},
		{syscall.EDQUOT, "free some space on the disk of " + list},
		{syscall.EFBIG, "ulimit -f"},
		{syscall.EMFILE, "ulimit -n"},
		{syscall.ENFILE, "ulimit -n"},
		{syscall.EROFS, "make the file system of " + list + " writable"},
		{syscall.EACCES, "repair the permissions and the owner of " + list},
		{syscall.EPERM, "repair the permissions and the owner of " + list},
		{syscall.EIO, "check the disk of " + list},
	} {
		err := &os.PathError{Op: "open", Path: list + "/1.json", Err: test.fault}
		message, hint := hydrate.Explain(err, hydrate.Result{List: list, Spec: "/fsm.json"}, env())
		assert.Equal(t, err.Error()+" - the task list is as it was before; nothing needs to be cleaned up", message)
		assert.Contains(t, hint, test.hint, "%v", test.fault)
	}
	_, hint := hydrate.Explain(errors.New("something else"), hydrate.Result{List: list, Spec: "/fsm.json"}, env())
	assert.Empty(t, hint)
	made := &os.PathError{Op: "mkdir", Path: "/ro/.local", Err: syscall.EACCES}
	_, hint = hydrate.Explain(made, hydrate.Result{List: "/ro/.local/state/fsmtx/tasks/a", Spec: "/fsm.json"}, env())
	assert.Equal(t, "you may not write into /ro: change its permissions or its owner, then invoke the skill again", hint)
	// Specific errors come first: a link that is not permitted needs a file system with links.
	_, hint = hydrate.Explain(fmt.Errorf("%w: %w", txn.ErrNoLinks, syscall.EPERM), hydrate.Result{List: list, Spec: "/fsm.json"}, env())
	assert.Contains(t, hint, "hard links")
}

func TestExplainReturnsTheStateOfTheList(t *testing.T) {
	known := hydrate.Result{List: list, Spec: "/fsm.json"}
	for name, test := range map[string]struct {
		err           error
		result        hydrate.Result
		message, hint string
	}{
		"unchanged": {errors.New("x"), known, "x - the task list is as it was before; nothing needs to be cleaned up", ""},
		"changed": {errors.New("x"), hydrate.Result{List: list, Spec: "/fsm.json",
			Outcome: tasks.Outcome{Restored: []string{"1"}}}, "x", ""},
		"no workflow known": {errors.New("x"), hydrate.Result{List: list}, "x", ""},
		"invalid":           {&hydrate.SpecError{Path: "/fsm.json", Err: syscall.EIO}, known, syscall.EIO.Error(), ""},
		"rollback failed": {fmt.Errorf("x: %w", txn.ErrRecoveryRequired), known,
			"x: recovery required - the rollback failed too, so the task list is only partly changed: recovery required",
			"free some disk space or repair the permissions, then run: fsmtx recover --list s"},
		"unknown": {txn.ErrUnknown, known, txn.ErrUnknown.Error(),
			"either all of the tasks come into the list or the list stays as it was; to decide which, run: fsmtx recover --list s"},
		"version": {txn.ErrJournalVersion, known, txn.ErrJournalVersion.Error(),
			"run fsmtx recover of the version that wrote the journal; or a person has to inspect the list, then run fsmtx recover --list s " +
				"--force in a terminal outside the client"},
		"torn":    {txn.ErrJournalTorn, known, txn.ErrJournalTorn.Error(), untrusted},
		"foreign": {txn.ErrJournalForeign, known, txn.ErrJournalForeign.Error(), untrusted},
		"broken":  {txn.ErrJournalInvalid, known, txn.ErrJournalInvalid.Error(), untrusted},
		"numbers": {fsmspec.ErrIDTooLarge, known, fsmspec.ErrIDTooLarge.Error() + "; no task was changed",
			"the task list is in " + list + "; when that is done, invoke the skill again"},
		"create": {&txn.FileError{Op: "create", Name: "3.json", Err: syscall.EIO}, known,
			"Failed to write task 3: " + syscall.EIO.Error() + " - the task list is as it was before; nothing needs to be cleaned up",
			"check the disk of " + list + "; once it works, invoke the skill again"},
		"delete": {&txn.FileError{Op: "delete", Name: "3.json", Err: txn.ErrChanged}, known,
			"Failed to delete task 3: " + txn.ErrChanged.Error() + " - the task list is as it was before; nothing needs to be cleaned up", ""},
		"delete, not rolled back": {errors.Join(&txn.FileError{Op: "delete", Name: "3.json", Err: txn.ErrChanged},
			txn.ErrRecoveryRequired), known,
			"Failed to delete task 3: " + txn.ErrChanged.Error() +
				". Manual cleanup required at ~/.claude/tasks/s/ - the rollback failed too, so the task list is only partly changed: recovery required",
			"free some disk space or repair the permissions, then run: fsmtx recover --list s"},
	} {
		message, hint := hydrate.Explain(test.err, test.result, env("HOME", "/home/u"))
		assert.Equal(t, test.message, message, name)
		assert.Equal(t, test.hint, hint, name)
	}
}

const untrusted = "the journal is not trusted and was not applied; a person has to inspect the list, then run fsmtx recover --list s " +
	"--force in a terminal outside the client"

func TestPathsBelowHomeAreShortened(t *testing.T) {
	err := errors.Join(&txn.FileError{Op: "delete", Name: "3.json", Err: syscall.EIO}, txn.ErrRecoveryRequired)
	for home, want := range map[string]string{"/home/u": " ~/.claude/tasks/s/", "/home/other": " " + list + "/", "": " " + list + "/",
		"relative": " " + list + "/"} {
		message, _ := hydrate.Explain(err, hydrate.Result{List: list}, env("HOME", home))
		assert.Contains(t, message, "Manual cleanup required at"+want, home)
	}
}

func TestUnderstand(t *testing.T) {
	const called = `"tool_response": {"success": true, "commandName": "p:s"}`
	for name, test := range map[string]struct {
		event string
		want  hydrate.Request
		skip  string
		err   string
	}{
		"called": {event: `{"session_id": "1", "cwd": "/d", "hook_event_name": "PostToolUse", "tool_name": "Skill", "tool_use_id": "u", ` +
			called + `}`,
			want: hydrate.Request{Event: "PostToolUse", Session: "1", Command: "p:s", Cwd: "/d", Invocation: "tool:u"}},
		"without a name": {event: `{"session_id": "1", ` + called + `}`, want: hydrate.Request{Event: "PostToolUse", Session: "1",
			Command: "p:s"}},
		"by a subagent": {event: `{"session_id": "1", "agent_id": "a", ` + called + `}`,
			want: hydrate.Request{Event: "PostToolUse", Session: "1", Command: "p:s", Agent: "a"}},
		"typed": {event: `{"session_id": "1", "hook_event_name": "UserPromptExpansion", "command_name": "s", "prompt_id": "p"}`,
			want: hydrate.Request{Event: "UserPromptExpansion", Session: "1", Command: "s", Prompt: "p", Invocation: "prompt:p:s", Typed: true}},
		"null is absent": {event: `{"session_id": "1", "tool_response": {"success": null, "agentId": null, "commandName": "s"}}`,
			want: hydrate.Request{Event: "PostToolUse", Session: "1", Command: "s"}},
		"other tool":  {event: `{"session_id": "1", "tool_name": "Read"}`, skip: `the event is about the tool "Read", not about Skill`},
		"other event": {event: `{"session_id": "1", "hook_event_name": "Stop"}`, skip: `hydrate does not handle the event "Stop"`},
		"forked": {event: `{"session_id": "1", "tool_response": {"agentId": "a", "commandName": "s"}}`,
			want: hydrate.Request{Event: "PostToolUse", Session: "1", Command: "s", Apart: true}},
		"empty session": {event: `{"session_id": "", ` + called + `}`, err: "session_id is empty"},
		"wrong success": {event: `{"session_id": "1", "tool_response": {"success": "yes", "commandName": "s"}}`,
			err: "missing tool_response.commandName: tool_response is not a response of the Skill tool"},
		"wrong response": {event: `{"session_id": "1", "tool_response": "Error"}`,
			err: "missing tool_response.commandName: tool_response is not a response of the Skill tool"},
		"null command":         {event: `{"session_id": "1", "tool_response": {"commandName": null}}`, err: "missing tool_response.commandName"},
		"empty command":        {event: `{"session_id": "1", "tool_response": {"commandName": ""}}`, err: "tool_response.commandName is empty"},
		"typed without a name": {event: `{"session_id": "1", "hook_event_name": "UserPromptExpansion"}`, err: "missing command_name"},
		"two mistakes": {event: `{"hook_event_name": "UserPromptExpansion", "command_name": ""}`,
			err: "command_name is empty; missing session_id"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := client.Parse([]byte(test.event))
			require.NoError(t, err)
			got, skip, err := hydrate.Understand(e)
			assert.Equal(t, test.skip, skip)
			switch {
			case test.err != "":
				require.ErrorIs(t, err, hydrate.ErrEvent)
				require.EqualError(t, err, "the event cannot be used: "+test.err)
			case test.skip == "":
				require.NoError(t, err)
				assert.Equal(t, test.want, got)
			}
		})
	}
}

// TestArgumentsAreCut: 10,000 characters are kept, of more the beginning.
func TestArgumentsAreCut(t *testing.T) {
	for n, want := range map[int]string{9_999: strings.Repeat("é", 9_999), 10_000: strings.Repeat("é", 10_000),
		10_001: strings.Repeat("é", 10_000) + "…"} {
		r, _, err := hydrate.Understand(&client.Event{Name: client.UserPromptExpansion, SessionID: "1", CommandName: "s",
			CommandArgs: strings.Repeat("é", n)})
		require.NoError(t, err)
		assert.Equal(t, want, r.Args, n)
	}
}

func TestFailed(t *testing.T) {
	r := hydrate.Request{Event: client.UserPromptExpansion}
	a := hydrate.Failed(r, hydrate.Result{}, "m", "h")
	assert.Equal(t, client.ExitOK, a.Exit, "a prompt is not stopped unless the skill has an fsm.json")
	assert.Contains(t, a.Output, `"continue": true`)
	assert.Contains(t, a.Output, "none were put into the task list: m")
	a = hydrate.Failed(r, hydrate.Result{Spec: "/fsm.json"}, "m", "h")
	assert.Equal(t, client.Answer{ErrorText: "fsmtx: m\nhint: h\n", Exit: client.ExitBlock}, a)
}

func TestDecision(t *testing.T) {
	start := time.Date(2026, 11, 21, 10, 0, 0, 0, time.FixedZone("", 3600))
	result := hydrate.Result{List: list, Spec: "/fsm.json", Steps: make([]fsmspec.Task, 1), Lost: []string{"old"}, Outcome: tasks.Outcome{
		Deleted: []fsmspec.Deletion{{ID: "1"}}, Created: []fsmspec.Creation{{ID: 2}},
	}}
	got := hydrate.Call{Request: hydrate.Request{Command: "s", Session: "x", Cwd: "/p"}, Result: result}.Decision(start,
		start.Add(1500*time.Microsecond))
	one := 1
	assert.Equal(t, decisions.Record{
		Time: start, Source: decisions.Hydrate, Decision: "hydrated", Who: "agent", How: "skill", Session: "x",
		List: list, Project: "/p", Workflow: "s", Spec: "/fsm.json", Run: 2, Steps: 1, Open: &one,
		Deleted: []int64{1}, Created: []int64{2}, Lost: []string{"old"}, Duration: 1.5,
	}, got)
	typed := hydrate.Call{Request: hydrate.Request{Typed: true}, Result: hydrate.Result{Nested: &hydrate.Nested{ID: 7}}}.Decision(start, start)
	assert.EqualValues(t, 7, typed.Parent)
	assert.Equal(t, "person", typed.Who)
	assert.Equal(t, "prompt", typed.How)
	begun := hydrate.Call{Request: hydrate.Request{Typed: true, By: "person terminal /dev/pts/7"}}.Decision(start, start)
	assert.Equal(t, []string{"person", "terminal", "/dev/pts/7"}, []string{begun.Who, begun.How, begun.TTY})
	retracted := hydrate.Call{Result: restoring(hydrate.Result{}, "1.json")}
	retracted.Result.Deleted = result.Deleted
	assert.Equal(t, "hydrated", retracted.Decision(start, start).Decision)
	for want, call := range map[string]hydrate.Call{
		"failed":        {Result: result, Err: errors.New("why")},
		"skipped":       {Skipped: "why"},
		"duplicate":     {Result: hydrate.Result{Outcome: tasks.Outcome{Duplicate: true}}},
		"nothing to do": {},
	} {
		got := call.Decision(start, start)
		assert.Equal(t, want, got.Decision)
		assert.Equal(t, want == "failed" || want == "skipped", got.Why == "why")
	}
	deletedOnly := hydrate.Call{Result: hydrate.Result{Outcome: tasks.Outcome{Deleted: result.Deleted}}}
	assert.Equal(t, "hydrated", deletedOnly.Decision(start, start).Decision)
}

// skillHome creates a home directory with skills. skills maps their names to the text of
// their fsm.json.
func skillHome(t *testing.T, skills map[string]string) (dir string, e hydrate.Env) {
	h := newHome(t)
	for name, text := range skills {
		h.write(".claude/skills/"+name+"/fsm.json", text)
	}
	return h.dir, h.env
}

func TestFindWithoutAWorkflow(t *testing.T) {
	_, e := skillHome(t, nil)
	r := hydrate.Request{Session: "s", Command: "none"}
	h, result, err := hydrate.Find(r, e, hydrate.Options{})
	require.NoError(t, err)
	assert.Nil(t, h)
	assert.Empty(t, result.Spec)
	_, _, err = hydrate.Find(r, env(), hydrate.Options{})
	require.ErrorIs(t, err, hydrate.ErrLookup, "without HOME")
}

// TestUnreadableSpec distinguishes a file that exists and cannot be used from one
// whose existence cannot be determined.
func TestUnreadableSpec(t *testing.T) {
	home, e := skillHome(t, map[string]string{"s": `[]`})
	path := filepath.Join(home, ".claude/skills/s/fsm.json")
	require.NoError(t, os.Truncate(path, fsmspec.MaxBytes+1))
	_, result, err := hydrate.Find(hydrate.Request{Session: "s", Command: "s"}, e, hydrate.Options{})
	require.ErrorAs(t, err, new(*hydrate.SpecError))
	assert.Equal(t, path, result.Spec)

	require.NoError(t, os.RemoveAll(filepath.Dir(path)))
	require.NoError(t, os.Symlink("s", filepath.Dir(path)))
	_, result, err = hydrate.Find(hydrate.Request{Session: "s", Command: "s"}, e, hydrate.Options{})
	require.ErrorIs(t, err, hydrate.ErrLookup)
	assert.Empty(t, result.Spec)
}

func TestErrorOfReadingTheListIsReturned(t *testing.T) {
	home, e := skillHome(t, map[string]string{"none": `[]`})
	require.NoError(t, os.WriteFile(filepath.Join(home, ".claude/tasks"), nil, 0o644))
	_, err := hydrate.Run(t.Context(), hydrate.Request{Session: "s", Command: "none"}, e, hydrate.Options{})
	require.ErrorIs(t, err, syscall.ENOTDIR)
}

func TestAbsolute(t *testing.T) {
	wd, err := os.Getwd()
	require.NoError(t, err)
	assert.Equal(t, []string{"/a", filepath.Join(wd, "b")}, hydrate.Absolute([]string{"/a", "b"}))
}

// TestACallIsHydratedOnce: the hook may be registered both by a plugin and in the settings.
func TestACallIsHydratedOnce(t *testing.T) {
	h := newHome(t)
	h.write(".claude/skills/skill/fsm.json", `[{"id": 1, "subject": "a"}]`)
	for use, duplicates := range map[string][]bool{"u1": {false, true}, "u2": {false, true}, "": {false, false}} {
		for _, duplicate := range duplicates {
			r := call
			r.Invocation = use
			result, err := hydrate.Run(t.Context(), r, h.env, hydrate.Options{LockTimeout: 5 * time.Second})
			require.NoError(t, err)
			assert.Equal(t, duplicate, result.Duplicate, use)
			assert.Len(t, result.Created, map[bool]int{false: 1, true: 0}[duplicate], use)
		}
	}
}
