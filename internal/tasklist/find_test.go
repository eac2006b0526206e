package tasklist

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/fsmtx/fsmtx/internal/agent" // which agents show their session
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// world has a home, a project and its lists.
type world struct {
	t             *testing.T
	home, project string
	env           map[string]string
	n             int // hydrations so far
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &world{t, filepath.Join(root, "home"), filepath.Join(root, "home", "src", "shop"), map[string]string{}, 0}
	require.NoError(t, os.MkdirAll(w.project, 0o755))
	w.env["HOME"] = w.home
	return w
}

func (w *world) lookup(name string) (string, bool) {
	value, ok := w.env[name]
	return value, ok
}

func (w *world) find(q Query) (Found, error) {
	q.Lookup = w.lookup
	if q.Dir == "" {
		q.Dir = w.project
	}
	return Find(w.t.Context(), q)
}

func (w *world) finds(q Query) Found {
	w.t.Helper()
	f, err := w.find(q)
	require.NoError(w.t, err)
	f.Known = nil // which list it is does not depend on it
	return f
}

// hydrated gives the list a workflow of the project.
func (w *world) hydrated(dir, session, project string) {
	w.t.Helper()
	w.n++
	record, err := workflow.Workflow{Command: "ship", Session: session, Dir: project,
		FSM: `[{"id": 1, "subject": "S"}]`, Base: int64(w.n) - 1}.Encode()
	require.NoError(w.t, err)
	d, err := tasks.List{Dir: dir}.Open(w.t.Context())
	require.NoError(w.t, err)
	defer d.Close()
	require.NoError(w.t, d.Commit(w.t.Context(), txn.Change{Creates: []txn.File{{Name: fmt.Sprintf("%d.json", w.n), Data: []byte(`{}`),
		Mode: 0o644}}, Record: record}))
}

func (w *world) claudes(session string) string {
	return filepath.Join(w.home, ".claude/tasks", session)
}

func who(k caller.Kind, program string) func() caller.Caller {
	return func() caller.Caller { return caller.Caller{Kind: k, Program: program} }
}

func TestInClaudeCodeItIsTheListOfTheSession(t *testing.T) {
	w := newWorld(t)
	w.hydrated(w.finds(Query{Begins: true}).Dir, "", w.project)
	want := Found{Dir: w.claudes("s1"), Session: "s1"}
	assert.Equal(t, want, w.finds(Query{Session: "s1"}), "of an event")
	w.env["CLAUDE_CODE_SESSION_ID"] = "s1"
	assert.Equal(t, want, w.finds(Query{Who: who(caller.Agent, caller.Claude)}), "of a command")
	assert.Equal(t, want, w.finds(Query{Serves: true}), "of a server")
	assert.Equal(t, want, w.finds(Query{Begins: true}), "of a workflow that begins")
	w.env["CLAUDE_CODE_TASK_LIST_ID"] = "team"
	assert.Equal(t, Found{Dir: w.claudes("team"), Session: "s1"}, w.finds(Query{}), "that the client was told to use")
}

func TestBelowAnotherAgentItIsTheListOfTheProject(t *testing.T) {
	w := newWorld(t)
	w.hydrated(w.claudes("s1"), "s1", w.project)
	f := w.finds(Query{Who: who(caller.Agent, "codex")})
	assert.Equal(t, w.project, f.Project)
	assert.Regexp(t, "^"+regexp.QuoteMeta(w.home)+"/.local/state/fsmtx/tasks/shop-[0-9a-f]{10}$", f.Dir)
	assert.Equal(t, f.Name(), f.Session)
	assert.Equal(t, f, w.finds(Query{Agent: "gemini"}), "of its event")
	assert.Equal(t, f, w.finds(Query{Agent: "gemini", Own: "0b54"}), "whatever its session is")
	assert.Equal(t, f, w.finds(Query{Begins: true}), "of a workflow that anybody begins")
	w.env["CLAUDE_CODE_SESSION_ID"], w.env["CLAUDE_CODE_TASK_LIST_ID"] = "s1", "team"
	assert.Equal(t, f, w.finds(Query{Who: who(caller.Agent, "codex"), Serves: true}), "started in the shell of Claude Code")
	w.env["XDG_STATE_HOME"] = filepath.Join(w.home, "state")
	assert.Equal(t, filepath.Join(w.home, "state/fsmtx/tasks", f.Name()), w.finds(Query{Agent: "codex"}).Dir)
	w.env["XDG_STATE_HOME"] = "relative"
	assert.Equal(t, f, w.finds(Query{Agent: "codex"}), "a relative path is ignored")
}

// TestASessionThatIsShownHasAListOfItsOwn, in an agent whose shell shows it.
func TestASessionThatIsShownHasAListOfItsOwn(t *testing.T) {
	w := newWorld(t)
	shared := w.finds(Query{Begins: true})
	own := Found{Dir: filepath.Join(filepath.Dir(shared.Dir), "0b54"), Session: "0b54", Project: w.project}
	ofEvent, ofShell := Query{Agent: "codex", Own: "0b54", Begins: true}, Query{Who: who(caller.Agent, "codex")}
	w.env["CODEX_SESSION_ID"] = "0b54"
	everywhere := func(want Found, why string) {
		t.Helper()
		assert.Equal(t, want, w.finds(ofEvent), why)
		assert.Equal(t, want, w.finds(ofShell), why)
	}
	everywhere(own, "also before it has a workflow")
	assert.True(t, own.IsOfSession())
	assert.False(t, shared.IsOfSession())
	w.hydrated(shared.Dir, shared.Session, w.project)
	everywhere(shared, "that has none works on what was begun for the project")
	w.completes(shared.Dir)
	everywhere(own, "as long as a step is open")
	ofShell.Over = true
	assert.Equal(t, shared, w.finds(ofShell), "which can concern what is over")
	w.hydrated(own.Dir, own.Session, w.project)
	everywhere(own, "once it has one")
	assert.Equal(t, own.Dir, w.finds(Query{Named: "0b54", Who: who(caller.Person, "")}).Dir)
	w.completes(own.Dir)
	everywhere(own, "also when that is over")

	w.hydrated(filepath.Join(filepath.Dir(own.Dir), "0b55"), "0b55", w.project)
	require.NoError(t, os.RemoveAll(shared.Dir))
	require.NoError(t, os.RemoveAll(filepath.Join(filepath.Dir(shared.Dir), "."+shared.Name()+".fsmtx")))
	assert.Equal(t, shared, w.finds(Query{Who: who(caller.Agent, "gemini")}), "an agent that shows none is sent to none of theirs")
	delete(w.env, "CODEX_SESSION_ID")
	assert.Equal(t, "0b55", w.finds(Query{Who: who(caller.Agent, "codex")}).Name(), "an older version, to the only open one")
}

// TestWithoutAnAgentItIsTheOnlyListOfTheProject with open steps, or the only one: else nothing is done.
func TestWithoutAnAgentItIsTheOnlyListOfTheProject(t *testing.T) {
	w := newWorld(t)
	person := who(caller.Person, "")
	_, err := w.find(Query{Who: person})
	require.ErrorIs(t, err, ErrNoList)
	w.hydrated(w.claudes("s1"), "s1", w.project)
	w.hydrated(w.claudes("s2"), "s2", filepath.Join(w.home, "src", "other"))
	one := Found{Dir: w.claudes("s1"), Session: "s1"}
	assert.Equal(t, one, w.finds(Query{Who: person}))
	assert.Equal(t, one, w.finds(Query{Who: person, Over: true}))
	own := w.finds(Query{Begins: true})
	w.hydrated(own.Dir, own.Session, w.project)
	several := func(q Query) (names []string) {
		t.Helper()
		_, err := w.find(q)
		var several *SeveralError
		require.ErrorAs(t, err, &several)
		for _, l := range several.Lists {
			names = append(names, l.Name())
		}
		return names
	}
	assert.ElementsMatch(t, []string{"s1", own.Name()}, several(Query{Who: person}))
	assert.Equal(t, own, w.finds(Query{Who: who(caller.Script, "")}), "an agent may not be known")
	assert.Equal(t, own, w.finds(Query{Who: person, Serves: true}))
	w.completes(own.Dir)
	assert.Equal(t, one, w.finds(Query{Who: person}), "the other has no open step")
	assert.ElementsMatch(t, []string{"s1", own.Name()}, several(Query{Who: person, Over: true}))
	w.completes(w.claudes("s1"))
	assert.ElementsMatch(t, []string{"s1", own.Name()}, several(Query{Who: person}), "none has")
}

// completes has the tasks of a list completed.
func (w *world) completes(dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(w.t, err)
	for _, file := range files {
		require.NoError(w.t, os.WriteFile(file, []byte(`{"id": "1", "subject": "S", "status": "completed"}`), 0o644))
	}
}

func TestAServerWithoutAListOfTheProjectTakesTheOnlyOne(t *testing.T) {
	w := newWorld(t)
	w.hydrated(w.claudes("s1"), "s1", w.project)
	assert.Equal(t, Found{Dir: w.claudes("s1"), Session: "s1"}, w.finds(Query{Serves: true}))
}

// TestEveryWorkTreeIsOfTheProject, and so is each folder.
func TestEveryWorkTreeIsOfTheProject(t *testing.T) {
	w := newWorld(t)
	git := func(args ...string) {
		c := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		c.Dir = w.project
		require.NoError(t, c.Run())
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "a")
	linked := filepath.Join(w.home, "linked")
	git("worktree", "add", "-q", linked)
	folder := filepath.Join(w.project, "a")
	require.NoError(t, os.Mkdir(folder, 0o755))
	w.hydrated(w.claudes("s1"), "s1", w.project)
	for _, dir := range []string{w.project, folder, linked} {
		assert.Equal(t, w.claudes("s1"), w.finds(Query{Who: who(caller.Person, ""), Dir: dir}).Dir, dir)
	}
	w.hydrated(w.claudes("s2"), "s2", linked)
	for _, dir := range []string{w.project, folder, linked} {
		_, err := w.find(Query{Who: who(caller.Person, ""), Dir: dir})
		var several *SeveralError
		require.ErrorAs(t, err, &several, dir)
	}
}

// TestABeginningNamesAList of at least four characters, if it is of no other.
func TestABeginningNamesAList(t *testing.T) {
	w := newWorld(t)
	first, second := "0b54e1c2-7c1e", "0b54f000-1111"
	w.hydrated(w.claudes(first), first, w.project)
	assert.Equal(t, "0b54", ShortName(w.lookup, w.claudes(first)))
	assert.Equal(t, w.claudes(first), w.finds(Query{Named: "0b54"}).Dir)
	w.hydrated(w.claudes(second), second, filepath.Join(w.home, "elsewhere"))
	assert.Equal(t, "0b54e", ShortName(w.lookup, w.claudes(first)))
	assert.Equal(t, w.claudes(second), w.finds(Query{Named: "0b54f"}).Dir)
	for named, want := range map[string]string{
		"0b54": "is the beginning of " + first + " and " + second, "0b5": "there is", "9999": "there is",
	} {
		_, err := w.find(Query{Named: named})
		require.ErrorIs(t, err, ErrNoSuchList)
		require.ErrorContains(t, err, want)
	}
	w.hydrated(w.claudes("0b54"), "0b54", w.project)
	assert.Equal(t, w.claudes("0b54"), w.finds(Query{Named: "0b54"}).Dir, "a whole name is no beginning")
	w.env["CLAUDE_CODE_TASK_LIST_ID"] = "team"
	assert.Equal(t, w.claudes(first), w.finds(Query{Named: first}).Dir, "whatever list the client was told to use")
}

func TestANamedList(t *testing.T) {
	w := newWorld(t)
	w.hydrated(w.claudes("s1"), "s1", w.project)
	own := w.finds(Query{Begins: true})
	w.hydrated(own.Dir, own.Session, w.project)
	named := map[string]bool{}
	assert.Equal(t, Found{Dir: w.claudes("s1"), Session: "s1"}, w.finds(Query{Named: "s1"}), "a session's")
	_, err := w.find(Query{Named: "s9"})
	require.ErrorIs(t, err, ErrNoSuchList, "a session's that has none yet")
	assert.Equal(t, own, w.finds(Query{Named: own.Name()}), "the project's")
	elsewhere := w.finds(Query{Named: own.Name(), Dir: w.home})
	assert.Equal(t, own.Dir, elsewhere.Dir, "another project's, by its whole name")
	other := w.finds(Query{Named: "docs/2", Agent: "codex", Begins: true})
	assert.Regexp(t, "^"+regexp.QuoteMeta(own.Dir)+"-docs-2-[0-9a-f]{10}$", other.Dir, "another one of the project")
	assert.Equal(t, own.Dir+"-docs-2", w.finds(Query{Named: "docs-2", Agent: "codex", Begins: true}).Dir, "no other name has the same list")
	for _, person := range []string{"docs-3", "s1x"} {
		_, err = w.find(Query{Named: person, Begins: true, Who: func() caller.Caller { return caller.Caller{Kind: caller.Person} }})
		require.ErrorIs(t, err, ErrNoSuchList, "a person's is a mistake in typing")
	}
	_, err = w.find(Query{Named: "abc", Agent: "codex", Begins: true})
	require.ErrorIs(t, err, ErrNoSuchList, "too short for a name of its own")
	long := strings.Repeat("y", maxName)
	for _, name := range []string{long, long + "1", long + "2", "../" + long, "-xyz", "xyzw", "....", "////"} {
		dir := w.finds(Query{Named: name, Agent: "codex", Begins: true}).Dir
		assert.Equal(t, filepath.Dir(own.Dir), filepath.Dir(dir), name)
		assert.NotContains(t, named, dir, name)
		named[dir] = true
	}
	w.hydrated(other.Dir, other.Session, w.project)
	assert.Equal(t, other, w.finds(Query{Named: "docs/2"}), "from a terminal too")
	assert.Equal(t, other.Dir, w.finds(Query{Named: other.Name()}).Dir, "by its whole name")
	w.env["CLAUDE_CODE_SESSION_ID"] = "s1"
	assert.Equal(t, other, w.finds(Query{Named: "docs/2", Begins: true}))
	assert.Equal(t, Found{Dir: w.claudes("s9-1"), Session: "s9-1"}, w.finds(Query{Named: "s9-1", Begins: true}),
		"a workflow that begins in Claude Code")
}

func TestTheProject(t *testing.T) {
	w := newWorld(t)
	below := filepath.Join(w.project, "a", "b")
	require.NoError(t, os.MkdirAll(below, 0o755))
	assert.Equal(t, below, Project(w.lookup, below), "without git it is the directory")

	whole := w.finds(Query{Begins: true})
	w.hydrated(whole.Dir, whole.Session, w.project)
	assert.Equal(t, w.project, Project(w.lookup, below), "or the nearest one above that has a list")

	atHome := w.finds(Query{Begins: true, Dir: w.home})
	w.hydrated(atHome.Dir, atHome.Session, w.home)
	require.NoError(t, os.Symlink(w.home, w.home+"-link"))
	for _, w.env["HOME"] = range []string{w.home + "-link", w.home} {
		assert.Equal(t, w.home, Project(w.lookup, w.home))
		assert.Equal(t, filepath.Dir(w.project), Project(w.lookup, filepath.Dir(w.project)), "the home directory is a project only for itself")
	}

	require.NoError(t, exec.Command("git", "init", "-q", filepath.Join(w.project, "a")).Run())
	assert.Equal(t, filepath.Join(w.project, "a"), Project(w.lookup, below), "with git it is the root of the work tree")

	link := filepath.Join(w.home, "link")
	require.NoError(t, os.Symlink(w.project, link))
	assert.Equal(t, whole, w.finds(Query{Begins: true, Dir: link}), "whatever path leads to it")
}

func TestListsOfAllAgents(t *testing.T) {
	w := newWorld(t)
	own := w.finds(Query{Begins: true})
	w.hydrated(own.Dir, own.Session, w.project)
	w.hydrated(w.claudes("s1"), "s1", w.project)
	require.NoError(t, os.MkdirAll(w.claudes("s2"), 0o755))
	dirs, err := WithHistory(w.lookup)
	require.NoError(t, err)
	assert.Equal(t, []string{w.claudes("s1"), own.Dir}, dirs)
	dirs, err = All(w.lookup)
	require.NoError(t, err)
	assert.Equal(t, []string{w.claudes("s1"), w.claudes("s2"), own.Dir}, dirs)

	w.env = map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(w.home, ".claude")}
	dirs, err = All(w.lookup)
	require.NoError(t, err)
	assert.Equal(t, []string{w.claudes("s1"), w.claudes("s2")}, dirs, "without a home there are no lists of projects")
	_, err = w.find(Query{Agent: "codex"})
	assert.ErrorIs(t, err, client.ErrNoHome)
	assert.ErrorContains(t, err, "neither XDG_STATE_HOME nor HOME is set")
}

func TestNamesOfProjectsAreSafe(t *testing.T) {
	assert.Regexp(t, "^rm--rf-[0-9a-f]{10}$", nameOf("/x/-rm -rf"))
	assert.Regexp(t, "^root-[0-9a-f]{10}$", nameOf("/"))
	assert.LessOrEqual(t, len(nameOf("/x/"+string(make([]byte, 255)))), 80)
	assert.NotEqual(t, nameOf("/x/shop"), nameOf("/y/shop"))
}

// TestForgetKeepsTheQuarantine of other programs' files, also if it cannot be listed.
func TestForgetKeepsTheQuarantine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "list")
	require.NoError(t, Forget(t.Context(), dir), "there is nothing to forget")
	d, err := txn.Open(t.Context(), dir)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	aside := filepath.Join(dir, "..", ".list.fsmtx", "conflicts")
	require.NoError(t, os.WriteFile(aside, nil, 0o600)) // not a directory
	require.ErrorContains(t, Forget(t.Context(), dir), "conflicts: not a directory")
	require.FileExists(t, aside)
	require.NoError(t, os.Remove(aside))
	require.NoError(t, os.MkdirAll(aside+"/1", 0o700))
	require.ErrorIs(t, Forget(t.Context(), dir), errInUse)
	require.DirExists(t, aside+"/1")
	require.NoError(t, os.Remove(aside+"/1"))
	require.NoError(t, Forget(t.Context(), dir))
	require.NoDirExists(t, filepath.Dir(aside))
}
