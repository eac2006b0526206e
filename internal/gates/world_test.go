package gates

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

var update = flag.Bool("update", false, "write what is compared with files of testdata there")

// golden compares a text with that of a file in testdata, or writes it there with -update.
func golden(t *testing.T, file, text string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text)
}

const (
	pending    = workflow.Pending
	inProgress = workflow.InProgress
	completed  = workflow.Completed
)

func ids(all ...int64) []int64 { return all }

// q is a value in the text of an fsm.json.
func q(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// tb is the part of testing.TB that rapid's tests have too.
type tb interface {
	worlds.TB
	Helper()
	Context() context.Context
}

// list is a task list with a workflow, and its project.
type list struct {
	*Frame
	t       tb
	project string
	first   map[string]string // the files of its steps as they were at first
}

func newList(t tb) *list {
	t.Helper()
	root := worlds.MemoryDir(t)
	l := &list{t: t, first: map[string]string{}, project: filepath.Join(root, "project"), Frame: &Frame{
		Store:     state.Store{List: tasks.List{Dir: filepath.Join(root, "tasks", "s1"), Wait: 5 * time.Second}, Session: "s1"},
		Env:       os.Environ(),
		Questions: "AskUserQuestion",
	}}
	require.NoError(t, os.Mkdir(l.project, 0o755))
	return l
}

// hydrated returns a list that holds these steps, numbered from 1, and the manual task 99. Each is an entry of an fsm.json, which needs
// no id and no subject here.
func hydrated(t tb, entries ...string) *list {
	t.Helper()
	l := newList(t)
	l.hydrate(entries...)
	l.put(99, `{"id":"99","subject":"mine","description":"","status":"pending","blocks":[],"blockedBy":[]}`)
	return l
}

// parse returns the fsm.json with these entries.
func parse(entries ...string) (*fsmspec.Spec, error) {
	var all []map[string]jsontext.Value
	var file any = &all
	vars := map[string]string{}
	for i, text := range entries {
		members, id := map[string]jsontext.Value{}, int64(i)+1
		if err := json.Unmarshal([]byte(text), &members); err != nil {
			return nil, err
		}
		_ = json.Unmarshal(members["id"], &id)
		number := message.Itoa(id)
		for name, value := range map[string]any{"id": id, "subject": "Step " + number, "description": "How to do " + number + "."} {
			if _, there := members[name]; !there {
				members[name] = jsontext.Value(q(value))
			}
		}
		for name := range members {
			if name == "set" || name == "within" {
				vars["goal"] = "a goal"
			}
			if fsmspec.NeedsObject(name) {
				file = map[string]any{"fsm": 2, "vars": vars, "steps": &all}
			}
		}
		all = append(all, members)
	}
	return fsmspec.Parse([]byte(q(file)))
}

// planned returns the workflow of a file with these entries.
func planned(entries ...string) workflow.Workflow {
	spec, err := parse(entries...)
	if err != nil {
		panic(fmt.Sprint(err, ": ", entries))
	}
	w, _ := plan(spec, "release")
	return w
}

// plan returns the workflow of a skill with that fsm.json, and what it puts into an empty list.
func plan(spec *fsmspec.Spec, skill string) (workflow.Workflow, *fsmspec.Plan) {
	p, err := spec.Plan(skill, fsmspec.Snapshot{}, fsmspec.Policy{})
	if err != nil {
		panic(err)
	}
	w := workflow.Planned(spec, p)
	w.Command, w.Spec, w.Session, w.Dir = skill, "/skills/"+skill+"/fsm.json", "s1", "/project"
	if w.Values {
		w.Args, w.Vars = "the args", spec.Initial("")
	}
	return w, p
}

// ofSpec returns a list into which an fsm.json was hydrated; its steps are numbered from 1. Its project has these files, each a name
// and its text.
func ofSpec(t tb, file string, files ...string) *list {
	t.Helper()
	l := newList(t)
	l.writes(files)
	spec, err := fsmspec.Parse([]byte(file))
	l.add(workflow.Workflow{Command: "release"}, spec, err)
	return l
}

// hydrate puts steps into the list as a hydration does, and nest as that of a skill that was called does.
func (l *list) hydrate(entries ...string) {
	l.t.Helper()
	l.nest(workflow.Workflow{Command: "release"}, entries...)
}

func (l *list) nest(under workflow.Workflow, entries ...string) {
	l.t.Helper()
	spec, err := parse(entries...)
	l.add(under, spec, err)
}

func (l *list) add(under workflow.Workflow, spec *fsmspec.Spec, err error) {
	l.t.Helper()
	require.NoError(l.t, err)
	w, p := plan(spec, under.Command)
	w.Parent, w.Round, w.Called, w.Dir, w.Inode = under.Parent, under.Round, under.Called, l.project, state.Inode(l.project)
	w.Changed, w.Lost, w.Answerers = under.Changed, under.Lost, under.Answerers
	w.Files = FilesOf(l.t.Context(), l.project, spec.Tasks())
	change := txn.Change{Label: `{"command":"` + w.Command + `"}`}
	for _, c := range p.Creations() {
		file := tasks.Form.File(c)
		change.Creates, l.first[file.Name] = append(change.Creates, file), string(file.Data)
	}
	change.Record, err = w.Encode()
	require.NoError(l.t, err)
	l.commit(change)
}

func (l *list) commit(change txn.Change) {
	l.t.Helper()
	require.NoError(l.t, l.Locked(l.t.Context(), func(dir *txn.Dir) error { return dir.Commit(l.t.Context(), change) }))
}

// taskText is the file of a task of the workflow release as another program writes it.
func taskText(id, subject, status, blockedBy string) string {
	return fmt.Sprintf(`{"id":%q,"subject":%q,"description":"","status":%q,"blocks":[],"blockedBy":%s,"metadata":{"fsm":"release"}}`,
		id, subject, status, blockedBy)
}

// The tests read and write the files of the list themselves, in the client's form.
func fileName(id int64) string { return tasks.Form.Name(message.Itoa(id)) }

func (l *list) path(id int64) string { return filepath.Join(l.List.Dir, fileName(id)) }

// stateFile returns the path of a file of S.
func (f *Frame) stateFile(name string) string { return filepath.Join(state.StateDir(f.List.Dir), name) }

// put writes the file of a task as another program does, and remove removes it.
func (l *list) put(id int64, text string) {
	l.t.Helper()
	require.NoError(l.t, os.WriteFile(l.path(id), []byte(text), 0o644))
}

func (l *list) remove(ids ...int64) {
	l.t.Helper()
	for _, id := range ids {
		require.NoError(l.t, os.Remove(l.path(id)))
	}
}

// set changes the status of a task as the client does.
func (l *list) set(id int64, status string) {
	l.t.Helper()
	data, err := tasks.Form.SetStatus([]byte(l.text(id)), status)
	require.NoError(l.t, err)
	l.put(id, string(data))
}

// write writes a file of the project.
func (l *list) write(name, text string) {
	l.t.Helper()
	path := filepath.Join(l.project, name)
	require.NoError(l.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(l.t, os.WriteFile(path, []byte(text), 0o644))
}

// writes writes files, each a name and its text.
func (l *list) writes(files []string) {
	l.t.Helper()
	for pair := range slices.Chunk(files, 2) {
		l.write(pair[0], pair[1])
	}
}

// Update and the three below are those of the frame. What they say to the model is fit to be read, in every test.
func (l *list) Update(ctx context.Context, u Update) Verdict { return l.fit(l.Frame.Update(ctx, u)) }

func (l *list) Completed(ctx context.Context, u Update) Verdict {
	return l.fit(l.Frame.Completed(ctx, u))
}

func (l *list) Call(ctx context.Context, x ToolCall) Verdict { return l.fit(l.Frame.Call(ctx, x)) }

func (l *list) Answered(ctx context.Context, u Update, yes bool, how state.How) Verdict {
	return l.fit(l.Frame.Answered(ctx, u, yes, how))
}

// Seen and Chosen are those of the frame, with the text for the agent as a text.
func (l *list) Seen(ctx context.Context, task, agent string) (string, Verdict) {
	text, v := l.Frame.Seen(ctx, task, agent)
	return string(text), v
}

func (l *list) Chosen(ctx context.Context, choices []Choice, how state.How, agent string) (string, Verdict) {
	text, v := l.Frame.Chosen(ctx, choices, how, agent)
	return string(text), v
}

// fit fails the test unless what is said of a refusal is short but for the output of a command, names a step, and says of each command
// that goes round a rule that a person has to run it.
func (l *list) fit(v Verdict) Verdict {
	l.t.Helper()
	if v.Allowed() || v.Undecided() {
		return v
	}
	text, _, _ := strings.Cut(v.Reason, "\nThe end of its output:\n")
	assert.Less(l.t, len(text), 1000, text)
	assert.NotRegexp(l.t, `%!|[^\n ]  |\.\.\n`, text)
	assert.Contains(l.t, text, "#")
	for _, command := range []string{"fsmtx step ", "fsmtx undo "} {
		before, after, found := strings.Cut(text, command)
		assert.True(l.t, !found || strings.Contains(before, "person") || strings.HasPrefix(after, "is registered twice"), text)
	}
	return v
}

// ask requests an update, as the hook does.
func (l *list) ask(id int64, status string) Verdict {
	return l.Update(l.t.Context(), Update{Task: message.Itoa(id), Status: status})
}

// do requests an update and, if it is allowed, changes the status as the client does.
func (l *list) do(id int64, status string) Verdict {
	l.t.Helper()
	v := l.ask(id, status)
	if v.Allowed() {
		l.set(id, status)
	}
	return v
}

// allows fails the test unless the update is allowed, and returns what the agent is told.
func (l *list) allows(id int64, status string) string {
	l.t.Helper()
	v := l.do(id, status)
	require.True(l.t, v.Allowed(), "%+v", v)
	require.Empty(l.t, v.Trouble)
	return string(v.Told)
}

// denies fails the test unless the update is denied, and returns the reason.
func (l *list) denies(id int64, status string) string {
	l.t.Helper()
	v := l.do(id, status)
	require.Equal(l.t, state.Deny, v.Decision, "%+v", v)
	require.Equal(l.t, id, v.Step)
	return v.Reason
}

// begin starts steps as the client does, and returns what the agent is told about the last.
func (l *list) begin(ids ...int64) (told string) {
	l.t.Helper()
	for _, id := range ids {
		told = l.allows(id, inProgress)
	}
	return told
}

// gives completes a step with this metadata as the client does.
func (l *list) gives(id int64, metadata string) Verdict {
	l.t.Helper()
	return l.carries(id, l.Update(l.t.Context(), Update{Task: message.Itoa(id), Status: completed, Metadata: jsontext.Value(metadata)}))
}

// carries carries out a completion that was let through: the step is pending if it is open again.
func (l *list) carries(id int64, v Verdict) Verdict {
	l.t.Helper()
	switch {
	case !v.Allowed():
		return v
	case v.Turn != nil:
		l.set(id, pending)
	default:
		l.set(id, completed)
	}
	l.seen()
	return v
}

// end completes a step with an outcome, or without one.
func (l *list) end(id int64, outcome string) Verdict {
	l.t.Helper()
	if outcome == "" {
		return l.gives(id, "")
	}
	return l.gives(id, `{"outcome":"`+outcome+`"}`)
}

// ended completes steps, one after the other, which has to be allowed.
func (l *list) ended(ids ...int64) {
	l.t.Helper()
	for _, id := range ids {
		v := l.end(id, "")
		require.True(l.t, v.Allowed() && v.Turn == nil, "#%d: %+v", id, v)
	}
}

// seen is what the hook does after an update.
func (l *list) seen() string {
	l.t.Helper()
	text, v := l.Seen(l.t.Context(), "", "")
	require.Empty(l.t, v.Trouble)
	return text
}

// told completes a step and returns what the agent is told afterwards.
func (l *list) told(id int64, outcome string) string {
	l.t.Helper()
	require.True(l.t, l.Update(l.t.Context(), Update{Task: message.Itoa(id), Status: completed, Outcome: outcome}).Allowed())
	l.set(id, completed)
	text, v := l.Seen(l.t.Context(), message.Itoa(id), "")
	require.Empty(l.t, v.Trouble)
	return text
}

// past is what a person says about a step; skip and reopen are two of the words.
func (l *list) past(p Past) *state.State {
	l.t.Helper()
	p.Because = cmp.Or(p.Because, "x")
	s, err := l.GoPast(l.t.Context(), p, state.By{Who: state.ThePerson})
	require.NoError(l.t, err)
	return s
}

func (l *list) skip(id int64) { l.t.Helper(); l.past(Past{Step: id}) }

func (l *list) reopen(id int64) *state.State {
	l.t.Helper()
	s, err := l.Reopen(l.t.Context(), id, "x", state.By{Who: state.ThePerson})
	require.NoError(l.t, err)
	return s
}

// stops ends a turn: it returns what the agent and the person are told.
func (l *list) stops(x Stopping) (string, string) {
	l.t.Helper()
	agent, person, err := l.Stop(l.t.Context(), x)
	require.NoError(l.t, err)
	return string(agent), string(person)
}

func (l *list) resumes() string {
	l.t.Helper()
	text, err := l.Resume(l.t.Context(), "")
	require.NoError(l.t, err)
	return text
}

func (l *list) state() *state.State {
	l.t.Helper()
	s, err := state.Load(l.t.Context(), l.List.Dir)
	require.NoError(l.t, err)
	return s
}

func ready(s *state.State) (ids []int64) {
	for _, c := range s.Ready() {
		ids = append(ids, c.ID)
	}
	return ids
}

// lastLine returns the newest line of evidence.
func (l *list) lastLine() state.Evidence {
	l.t.Helper()
	all := l.state().Evidence
	return all[len(all)-1]
}

// text returns the file of a task, file a member of it, and shown what the list shows of it.
func (l *list) text(id int64) string {
	l.t.Helper()
	data, err := os.ReadFile(l.path(id))
	require.NoError(l.t, err)
	return string(data)
}

func (l *list) file(id int64, member string) string {
	l.t.Helper()
	return jsonx.StringMember([]byte(l.text(id)), member)
}

func (l *list) shown(id int64) string {
	l.t.Helper()
	return l.file(id, "subject") + ": " + l.file(id, "status")
}

// shows returns what the list shows of its five steps.
func (l *list) shows() string {
	l.t.Helper()
	return strings.Join([]string{l.shown(1), l.shown(2), l.shown(3), l.shown(4), l.shown(5)}, "\n")
}

// all returns what the list shows of every task: its subject, its status, and what it waits for.
func (l *list) all() string {
	l.t.Helper()
	var lines []string
	for id := int64(1); id < 60; id++ {
		data, err := os.ReadFile(l.path(id))
		if err != nil {
			continue
		}
		line := fmt.Sprintf("%d %s", id, l.shown(id))
		if t := tasks.Form.Decode(data); len(t.BlockedBy) > 0 {
			line += " <" + strings.Join(t.BlockedBy, " ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// beside returns the list as another process has it.
func (l *list) beside() *list {
	frame := *l.Frame
	frame.Known = nil
	return &list{Frame: &frame, t: l.t, project: l.project}
}

// rewrite writes the file of a step as it was at first, but for these members, as another program does.
func (l *list) rewrite(id int64, changed string) {
	l.t.Helper()
	var members map[string]jsontext.Value
	for _, text := range []string{l.first[fileName(id)], changed} {
		require.NoError(l.t, json.Unmarshal([]byte(text), &members))
	}
	l.put(id, q(members))
}
