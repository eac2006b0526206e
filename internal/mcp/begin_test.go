//go:build unix

package mcp

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
)

const shipped = `{"fsm": 2, "steps": [{"id": 1, "subject": "Collect", "description": "Commits since {args}."}, {"id": 2, ` +
	`"subject": "Write", "blockedBy": [1]}]}`

// skill writes a file of the project's skill ship, and returns the skill's folder.
func (w *world) skill(file, text string) string {
	w.t.Helper()
	w.env["CLAUDE_PROJECT_DIR"] = w.project
	dir := filepath.Join(w.project, ".claude", "skills", "ship")
	require.NoError(w.t, os.MkdirAll(dir, 0o755))
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("Ship.\n"), 0o644))
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
	return dir
}

// begins calls workflow_begin, which must succeed, and returns its answers.
func (c *officialClient) begins(a args) (text string, out begun) {
	c.t.Helper()
	r, err := c.CallTool(c.t.Context(), &mcp.CallToolParams{Name: "workflow_begin", Arguments: a})
	require.NoError(c.t, err)
	text = r.Content[0].(*mcp.TextContent).Text
	require.False(c.t, r.IsError, text)
	data, err := json.Marshal(r.StructuredContent)
	require.NoError(c.t, err)
	require.NoError(c.t, json.Unmarshal(data, &out))
	return text, out
}

// TestBegin: by the skill's name or by its folder, the steps come into the session's list and can be
// worked on. A second time they replace the first.
func TestBegin(t *testing.T) {
	for _, byName := range []bool{true, false} {
		w := newWorld(t)
		what := w.skill("fsm.json", shipped)
		if byName {
			what = "ship"
		}
		c := w.connect(nil)
		text, out := c.begins(args{"skill": what, "args": "1.4.0"})
		assert.Contains(t, text, "The skill ship has put its workflow into the task list: 2 tasks #1, #2.")
		assert.Contains(t, text, "Work on the steps with step_start")
		assert.NotContains(t, text, "fsm.json")
		assert.Equal(t, text, out.Text)
		assert.Equal(t, []int64{1, 2}, out.Created)
		assert.Equal(t, c.workflow(), out.Status)
		assert.Empty(t, out.Deleted)
		assert.Equal(t, "ship", out.Skill)
		require.Len(t, out.Current, 1)
		assert.Equal(t, "Commits since 1.4.0.", out.Current[0].Description)
		assert.Equal(t, []int64{1}, out.Steps[1].WaitsFor)
		assert.Equal(t, "pending", w.status("s1", 2))
		s, err := state.Load(t.Context(), w.list("s1"))
		require.NoError(t, err)
		assert.Equal(t, []string{"test_1_mcp", "agent mcp"}, []string{s.Workflows()[0].Client, s.Workflows()[0].BegunBy})

		c.does("step_complete", n(1))
		_, out = c.begins(args{"skill": what})
		assert.Equal(t, []string{"1", "2"}, out.Deleted)
		assert.Len(t, out.Created, 2)
	}
}

// TestBeginNamesTheList: that of the call, else of --list; without Claude Code it is the project's,
// which the other tools then find too.
func TestBeginNamesTheList(t *testing.T) {
	w := shipping(t)
	w.connect(nil).begins(args{"skill": "ship", "session": "s2-b"})
	assert.Equal(t, "pending", w.status("s2-b", 1))
	w.flags.Session = "s3-b"
	w.connect(nil).begins(args{"skill": "ship"})
	assert.Equal(t, "pending", w.status("s3-b", 1))
	w.flags.Session = ""
	assert.NoDirExists(t, w.list("s1"))

	delete(w.env, "CLAUDE_CODE_SESSION_ID")
	w.who = caller.Caller{Kind: caller.Agent, Program: "codex"}
	c := w.connect(nil)
	c.begins(args{"skill": "ship"})
	lists, err := os.ReadDir(filepath.Join(w.home, ".local/state/fsmtx/tasks"))
	require.NoError(t, err)
	assert.NotEmpty(t, lists)
	assert.Contains(t, c.does("step_start", n(1)), `#1 "Collect" is in progress.`)
}

// TestBeginMakesTheProjectsList where nobody in particular has started the server and there is no list yet.
func TestBeginMakesTheProjectsList(t *testing.T) {
	w := shipping(t)
	delete(w.env, "CLAUDE_CODE_SESSION_ID")
	w.who = caller.Caller{}
	_, out := w.connect(nil).begins(args{"skill": "ship"})
	assert.Equal(t, []int64{1, 2}, out.Created)
	assert.DirExists(t, filepath.Join(w.home, ".local/state/fsmtx/tasks"))
}

// TestACallNamesItsSession: Codex has one server for a session, without the variable of its shell.
func TestACallNamesItsSession(t *testing.T) {
	w := shipping(t)
	delete(w.env, "CLAUDE_CODE_SESSION_ID")
	w.who = caller.Caller{Kind: caller.Agent, Program: "codex"}
	c := w.connect(nil)
	call := func(session, tool string, arguments any) string {
		meta := mcp.Meta{"x-codex-turn-metadata": map[string]any{"session_id": session, "turn_id": "t"}}
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Meta: meta, Name: tool, Arguments: arguments})
		require.NoError(t, err)
		return r.Content[0].(*mcp.TextContent).Text
	}
	assert.Contains(t, call("0199a", "workflow_begin", args{"skill": "ship"}), "2 tasks #1, #2")
	assert.DirExists(t, filepath.Join(w.home, ".local/state/fsmtx/tasks/0199a"))
	assert.Contains(t, call("0199a", "step_start", n(1)), `#1 "Collect" is in progress.`)
	assert.NotContains(t, call("0199b", "workflow_status", args{}), "Collect")
	assert.Contains(t, call("0199b", "workflow_begin", args{"skill": "ship"}), "2 tasks #1, #2")
}

// TestWhatBeginSaysIsSafeToShow, both where the client reads it and where a program does.
func TestWhatBeginSaysIsSafeToShow(t *testing.T) {
	w := newWorld(t)
	w.skill("fsm.json", strings.ReplaceAll(shipped, "Collect", "Col\u202electing"))
	text, out := w.connect(nil).begins(args{"skill": "ship"})
	assert.Contains(t, text, `Col\u202electing`)
	assert.Equal(t, message.Text(text), text)
	assert.Equal(t, text, out.Text)
}

// TestBeginFindsTheSkillsOfTheAgent: where the agent looks that has started the server, by the name
// in SKILL.md, and not where another one does.
func TestBeginFindsTheSkillsOfTheAgent(t *testing.T) {
	for _, a := range agent.Others() {
		program := a.Name
		w := newWorld(t)
		dir := filepath.Join(w.project, agent.Named(program).Skills.Project[0], "folder")
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: theirs\n---\n"), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "fsm.json"), []byte(shipped), 0o644))
		w.env["CLAUDE_PROJECT_DIR"] = w.project
		w.connect(nil).refuses("workflow_begin", args{"skill": "theirs"})

		delete(w.env, "CLAUDE_CODE_SESSION_ID")
		w.who = caller.Caller{Kind: caller.Agent, Program: program}
		_, out := w.connect(nil).begins(args{"skill": "theirs"})
		assert.Equal(t, "theirs", out.Skill, program)

		atHome := filepath.Join(w.home, agent.Named(program).Skills.User[0])
		require.NoError(t, os.MkdirAll(atHome, 0o755))
		require.NoError(t, os.Rename(dir, filepath.Join(atHome, "folder")))
		w.env["XDG_STATE_HOME"] = t.TempDir() // it is another workflow there
		_, out = w.connect(nil).begins(args{"skill": "theirs"})
		assert.Equal(t, "theirs", out.Skill, "%s at home", program)
	}
}

// TestBeginIsRefused: what cannot be begun changes nothing, and the model reads why.
func TestBeginIsRefused(t *testing.T) {
	w := newWorld(t)
	w.skill("fsm.json", `[{"id": 1}]`)
	unasked := filepath.Join(w.project, "unasked:x")
	require.NoError(t, os.Mkdir(unasked, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(unasked, "fsm.json"), []byte(shipped), 0o644))
	c := w.connect(nil)
	for what, want := range map[string]string{
		"":             "skill is empty",
		"unasked:x":    "unasked:x is a relative path",
		" ":            "skill is empty",
		"ship":         "is not valid (1 problem); no task was changed",
		"shop":         `there is no skill with a workflow and no directory called "shop"`,
		"skills/ship":  "skills/ship is a relative path",
		"..":           ".. is a relative path",
		w.project:      "has no fsm.json\nname a skill",
		"/nonexistent": "/nonexistent is not a directory\nname a skill",
		"x\u202e\x1b":  `invalid command name "x\u202e\x1b"`,
	} {
		text := c.refuses("workflow_begin", args{"skill": what})
		assert.Contains(t, text, want, "%q", what)
		assert.Equal(t, message.Text(text), text)
	}
	for _, a := range []args{{}, {"skill": 1}, {"skill": "ship", "more": 1}} {
		c.refuses("workflow_begin", a)
	}
	assert.NoDirExists(t, w.list("s1"))
}

// TestBeginElsewhereIsRefused: in a server that the agent has started itself, outside of the directory of its session.
func TestBeginElsewhereIsRefused(t *testing.T) {
	w := shipping(t)
	w.connect(nil).begins(args{"skill": "ship"})
	frame := gates.Frame{Store: state.Store{List: tasks.List{Dir: w.list("s1")}, Session: "s1"}}
	require.NoError(t, frame.KeepDirectory(t.Context(), t.TempDir()))
	w.who.Shell = true
	assert.Contains(t, w.connect(nil).refuses("workflow_begin", args{"skill": "ship"}), "ship is not begun, because it is outside of /")
}

// TestBeginInTheAgentsShell: a server that the agent has started itself is past the hooks.
func TestBeginInTheAgentsShell(t *testing.T) {
	w := shipping(t)
	w.who.Shell = true
	w.connect(nil).begins(args{"skill": "ship"})
	s, err := state.Load(t.Context(), w.list("s1"))
	require.NoError(t, err)
	assert.Equal(t, "agent shell", s.Workflows()[0].BegunBy)
}

// TestBeginOfAFolderElsewhere: with one question, which has what is replaced.
func TestBeginOfAFolderElsewhere(t *testing.T) {
	w := shipping(t)
	w.connect(nil).begins(args{"skill": "ship"})
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "fsm.json"), []byte(shipped), 0o644))
	begin := args{"skill": folder}
	why := "outside of " + w.project
	assert.Contains(t, w.connect(nil).refuses("workflow_begin", begin), folder+" is not begun, because it is "+why+" and would replace ship "+
		"(0 of 2 done): only a person can decide that, and nobody has answered here. They can run, in a terminal outside the client: fsmtx "+
		"begin "+folder+" --list s1")
	var asked []string
	assert.Equal(t, folder+" is not begun: the person said no or did not answer",
		w.connect(answering("decline", &asked)).refuses("workflow_begin", begin))
	assert.Equal(t, []string{"The agent wants to begin " + folder + ", " + why + ", in place of ship (0 of 2 done). The checks in its " +
		"fsm.json are commands, which then run without a question. Begin it?"}, asked)
	w.connect(answering("accept", &asked)).refuses("workflow_begin", args{"skill": "../x"})
	assert.Len(t, asked, 1)
	_, out := w.connect(answering("accept", nil)).begins(begin)
	assert.Equal(t, []string{"1", "2"}, out.Deleted)
	s, err := state.Load(t.Context(), w.list("s1"))
	require.NoError(t, err)
	assert.Equal(t, w.project, s.Workflows()[0].Dir)
}

// TestBeginRecordsHooksOfPlugins that may answer for the person: one that comes later answers for nobody.
func TestBeginRecordsHooksOfPlugins(t *testing.T) {
	w := shipping(t)
	plugin := t.TempDir()
	w.env["CLAUDE_PLUGIN_ROOT"] = plugin
	hooks := func(event string) {
		require.NoError(t, os.MkdirAll(filepath.Join(plugin, "hooks"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(plugin, "hooks", "hooks.json"),
			[]byte(`{"hooks": {"`+event+`": [{"hooks": [{"type": "command", "command": "yes"}]}]}}`), 0o644))
	}
	hooks("PermissionRequest")
	w.connect(nil).begins(args{"skill": "ship"})
	s, err := state.Load(t.Context(), w.list("s1"))
	require.NoError(t, err)
	assert.NotEmpty(t, s.Workflows()[0].Answerers)

	hooks("Elicitation")
	assert.Contains(t, w.connect(answering("accept", nil)).refuses("step_skip", args{"step": 1, "because": "x"}), "nobody has answered here")
}

// TestTheCurrentSteps: the resource is listed, shows what is ready, and its subscribers hear of each
// change that a tool or another process makes, and of no refusal.
func TestTheCurrentSteps(t *testing.T) {
	w := newWorld(t)
	w.protocol = "2025-06-18"
	w.skill("fsm.json", shipped)
	updated := make(chan string, 10)
	c := w.connect(&mcp.ClientOptions{ResourceUpdatedHandler: func(_ context.Context,
		r *mcp.ResourceUpdatedNotificationRequest) {
		updated <- r.Params.URI
	}})
	list, err := c.ListResources(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, list.Resources, 1)
	assert.Equal(t, "fsmtx://current", list.Resources[0].URI)
	read := func() string {
		r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "fsmtx://current"})
		require.NoError(t, err)
		require.Len(t, r.Contents, 1)
		assert.Equal(t, "text/plain", r.Contents[0].MIMEType)
		return r.Contents[0].Text
	}
	hears := func() {
		t.Helper()
		select {
		case uri := <-updated:
			assert.Equal(t, "fsmtx://current", uri)
		case <-time.After(30 * time.Second):
			require.Fail(t, "no notification")
		}
	}
	require.NoError(t, c.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "fsmtx://current"}))
	require.Error(t, c.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "fsmtx://other"}))
	require.NoError(t, c.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: "fsmtx://other"}))
	assert.Equal(t, byTools.NoWorkflow()+"\n", read())
	assert.NoDirExists(t, w.list("s1"), "reading creates nothing")

	c.refuses("step_start", n(1))
	c.begins(args{"skill": "ship", "args": "1.4.0"})
	hears()
	assert.Equal(t, "0 of 2 steps are done. Ready: #1 \"Collect\". Call step_start before you work on a step.\n\n"+
		"#1 Collect (ready)\nCommits since 1.4.0.\n\n#2 \"Write\" waits for #1\n", read())
	c.does("step_complete", n(1))
	hears()
	assert.Contains(t, read(), "#2 Write (ready)")
	w.connect(nil).does("step_complete", n(2))
	hears() // of what another process did
	assert.Contains(t, read(), "2 of 2 steps are done")
	require.NoError(t, c.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: "fsmtx://current"}))

	delete(w.env, "CLAUDE_CODE_SESSION_ID")
	w.env["CLAUDE_PROJECT_DIR"] = t.TempDir()
	assert.Equal(t, byTools.NoWorkflow()+"\n", read(), "no list")
}

// TestThePrompt: it begins with a skill, or goes on with what is ready; and changes nothing itself.
func TestThePrompt(t *testing.T) {
	w := shipping(t)
	c := w.connect(nil)
	list, err := c.ListPrompts(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, list.Prompts, 1)
	says := func(a map[string]string) string {
		r, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "work", Arguments: a})
		require.NoError(t, err)
		require.Len(t, r.Messages, 1)
		return r.Messages[0].Content.(*mcp.TextContent).Text
	}
	assert.Contains(t, says(map[string]string{"skill": "ship", "args": "1.4.0"}),
		`Call workflow_begin with the skill "ship" and the args "1.4.0", read`)
	assert.Contains(t, says(map[string]string{"skill": "x\u202e"}), `with the skill "x\u202e", read`)
	assert.Contains(t, says(nil), byTools.NoWorkflow())
	assert.NoDirExists(t, w.list("s1"))
	c.begins(args{"skill": "ship"})
	assert.Contains(t, says(nil), "#1 Collect (ready)")
	assert.Contains(t, says(nil), "step_complete")
}

// TestEveryProtocolWorksAWorkflow: each version that an agent of docs/agents.md speaks, or may.
func TestEveryProtocolWorksAWorkflow(t *testing.T) {
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", ""} {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t)
			w.protocol = version
			w.skill("fsm.json", shipped)
			c := w.connect(nil)
			if version != "" {
				assert.Equal(t, version, c.InitializeResult().ProtocolVersion)
			}
			c.begins(args{"skill": "ship"})
			assert.Contains(t, c.refuses("step_start", n(2)), "cannot be started")
			assert.Contains(t, c.does("step_start", n(1)), "in progress")
			assert.Contains(t, c.does("step_complete", n(1)), `#1 "Collect" is done`)
			assert.Contains(t, c.does("step_complete", n(2)), "complete")
			r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "fsmtx://current"})
			require.NoError(t, err)
			assert.Contains(t, r.Contents[0].Text, "2 of 2 steps are done")
			_, err = c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "work"})
			require.NoError(t, err)
		})
	}
}

// TestBeginInPlaceOfAnotherWorkflow: only with a person's yes.
func TestBeginInPlaceOfAnotherWorkflow(t *testing.T) {
	w := shipping(t)
	w.hydrate("s1", `{}`, `{}`)
	refused := w.connect(nil).refuses("workflow_begin", args{"skill": "ship"})
	assert.Contains(t, refused, "ship is not begun, because it would replace release (0 of 2 done): only a person can decide that, and "+
		"nobody has answered here. They can run, in a terminal outside the client: fsmtx begin ship --list s1")
	var asked []string
	assert.Equal(t, "ship is not begun: the person said no or did not answer",
		w.connect(answering("decline", &asked)).refuses("workflow_begin", args{"skill": "ship"}))
	assert.Equal(t, []string{"The agent wants to begin ship in place of release (0 of 2 done). Begin it?"}, asked)
	assert.Equal(t, "pending", w.status("s1", 1))
	_, out := w.connect(answering("accept", nil)).begins(args{"skill": "ship"})
	assert.Equal(t, []string{"1", "2"}, out.Deleted)
}

// TestContinue: the workflow of a session that has ended goes on here; that of one at work does with the person's yes.
func TestContinue(t *testing.T) {
	for action, moves := range map[string]bool{"accept": true, "decline": false} {
		w := newWorld(t)
		w.env["CLAUDE_PROJECT_DIR"] = w.project
		w.hydrate("s2", `{}`, `{"blockedBy": [1]}`)
		w.works("s2")
		assert.Contains(t, w.connect(nil).refuses("workflow_continue", args{"list": "s1"}), "has no unfinished workflow")
		var asked []string
		c := w.connect(answering(action, &asked))
		assert.Contains(t, c.refuses("workflow_continue", args{}), "which is at work on it")
		text, isError := c.call("workflow_continue", args{"list": "s2"})
		assert.Equal(t, moves, !isError, text)
		require.Len(t, asked, 1)
		assert.Contains(t, asked[0], "take the workflow of release from a session that is at work on it")
		if !moves {
			assert.Contains(t, text, "fsmtx continue release --list s2 --to s1")
			w.rests("s2")
			assert.Contains(t, c.does("workflow_continue", args{}), "release goes on here (0 of 2 done)")
			require.Len(t, asked, 1)
		}
		assert.Equal(t, "pending", w.status("s1", 2))
		assert.NoFileExists(t, filepath.Join(w.list("s2"), "1.json"))
		assert.Contains(t, c.refuses("step_complete", n(2)), `#1 "Step 1" must be done first`)
	}
}

// clientOf is the file that says which client works on the list of a session.
func (w *world) clientOf(session string) string {
	return filepath.Join(w.home, ".claude/tasks", "."+session+".fsmtx", state.SessionFile)
}

// works makes the process of the test the client of a session.
func (w *world) works(session string) {
	p := state.Presence{Clients: []state.Client{{PID: os.Getpid(), Start: caller.StartOf(os.Getpid()), Program: caller.Claude}}}
	text, err := json.Marshal(p)
	require.NoError(w.t, err)
	require.NoError(w.t, os.WriteFile(w.clientOf(session), text, 0o600))
}

// rests ends it.
func (w *world) rests(session string) { require.NoError(w.t, os.Remove(w.clientOf(session))) }
