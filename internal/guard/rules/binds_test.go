package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard/rules"
)

// In an ordinary session, one that does not plan, the guards of the installed plugin must
// not deny, block, inject or write anything.

// ruleEvent is an event for one rule. Without fields, it cannot be read.
type ruleEvent struct {
	id     string
	fields object
}

// session is a session with the files and the transcript that it finds.
type session struct {
	branch     string // "" for none: the project is not in git
	files      map[string]string
	transcript []string
	events     []ruleEvent
}

const (
	completed = "---\nphase: COMPLETION\nmode: complete\nuser_decisions:\n  Cache: Redis\ngate_results: [{phase: 1, verdict: RED}]\n---\n"
	underWay  = "---\nphase: ARCHITECTURE\nmode: complete\nuser_decisions:\n  Cache: Redis\n---\n"

	statePath = "specs/login/.planning-state.local.md"
	lockPath  = "specs/login/.planning.lock"
)

// userMessage and the functions below return lines of a transcript.
func userMessage(text string) string {
	return `{"type":"user","message":{"role":"user","content":"` + text + `"}}`
}

// slashCommand is a command that the user typed, as the client stores it.
func slashCommand(name, args string) string {
	return userMessage(`<command-message>` + name + `</command-message>\n<command-name>/` + name + `</command-name>\n<command-args>` +
		args + `</command-args>`)
}

// skillCall is a call of the Skill tool.
func skillCall(name string) string {
	return `{"type":"assistant","timestamp":"2020-01-01T00:00:00Z","message":{"role":"assistant","content":[{"type":"tool_use",` +
		`"name":"Skill","input":{"skill":"` + name + `"}}]}}`
}

// prompt and the functions below return fields of events.
func prompt(text string) object { return object{"prompt": text} }

func editing(path string) object {
	return object{"tool_name": "Edit", "tool_input": object{"file_path": path, "old_string": "a", "new_string": "b"},
		"tool_response": object{"filePath": path}}
}

func researchCalls(times int) []ruleEvent {
	var all []ruleEvent
	for i := range times {
		all = append(all, ruleEvent{"H03", research(i)})
	}
	return all
}

// bothStops is the end of a turn, for both rules that decide it.
func bothStops(lastWords string) []ruleEvent {
	return []ruleEvent{{"H11a", ending(lastWords)}, {"H11b", ending(lastWords)}}
}

// writes is a write of a file, for the three rules that decide it.
func writes(path string) []ruleEvent {
	return []ruleEvent{{"H02", writing(path)}, {"H04", writing(path)}, {"H05", editing(path)}}
}

func ordinarySessions() map[string]session {
	active := map[string]string{statePath: underWay, lockPath: `{"session_id":"` + session1 + `"}`}
	done := map[string]string{statePath: completed, "specs/login/tasks.md": "- [ ] [T001] a\n"}
	login := func(files map[string]string, events ...[]ruleEvent) session {
		return session{branch: "feature/login", files: files, events: slices.Concat(events...)}
	}
	main := func(events ...[]ruleEvent) session {
		return session{branch: "main", events: slices.Concat(events...)}
	}
	return map[string]session{
		"thirty research calls on main":             main(researchCalls(30)),
		"thirty research calls on a feature branch": login(nil, researchCalls(30)),
		"thirty research calls without git":         {events: researchCalls(30)},
		"a test beside a spec": login(map[string]string{"specs/login/login.spec.ts": "x"},
			writes("specs/login/login.spec.ts")),
		"a new file in a folder of specs":                  login(map[string]string{"specs/login/README.md": "x"}, writes("specs/login/new.md")),
		"spec.md before any planning":                      login(map[string]string{"specs/login/spec.md": "x"}, writes("specs/login/spec.md")),
		"a box in tasks.md after completion":               login(done, writes("specs/login/tasks.md")),
		"spec.md after completion":                         login(done, writes("specs/login/spec.md")),
		"the state file is reset after completion":         login(done, writes("specs/login/notes.md"), []ruleEvent{{"H05", editing(statePath)}}),
		"a turn ends after completion, with a RED gate":    login(done, bothStops("All done.")),
		"a prompt after completion":                        login(done, []ruleEvent{{"H06", prompt("next")}}),
		"a decided question is asked after completion":     login(done, []ruleEvent{{"H01", question("Which cache?")}}),
		"another session asks a plain question":            login(active, bothStops("It is in login.ts. Anything else?")),
		"another session asks three times":                 login(active, bothStops("a"), bothStops("b"), bothStops("c"), bothStops("d")),
		"another session, while the planner holds no lock": login(map[string]string{statePath: underWay}, bothStops("It is in login.ts.")),
		"another session writes outside the feature":       login(done, writes("src/login.ts"), writes("specs/other/plan.md")),
		"an agent of the plugin, used casually": main([]ruleEvent{{"H10", agent("researcher", "found it")}, {"H07",
			agent("tech-lead", "done")}, {"H08", agent("software-architect", "layers")}, {"H09", agent("qa-strategist", "done")}}),
		"an agent of the plugin on a feature branch": login(map[string]string{"specs/login/spec.md": "x"}, []ruleEvent{{"H10",
			agent("researcher", "found it")}, {"H07", agent("tech-lead", "done")}, {"H09", agent("qa-strategist", "done")}}),
		"an agent of the plugin after completion": login(done, []ruleEvent{{"H10", agent("researcher", "found it")},
			{"H07", agent("tech-lead", "done")}}),
		"an agent of another plugin": main([]ruleEvent{{"H10", object{"agent_type": "general-purpose",
			"last_assistant_message": "ok"}}, {"H10", object{"agent_type": "Explore"}}}),
		"a session starts on main":     main([]ruleEvent{{"H13", object{"source": "startup"}}}),
		"a session starts without git": {events: []ruleEvent{{"H13", object{"source": "startup"}}}},
		"a session starts on a feature branch": login(map[string]string{"specs/login/spec.md": "x"},
			[]ruleEvent{{"H13", object{"source": "startup"}}}),
		"a session is resumed after completion": login(done, []ruleEvent{{"H13", object{"source": "resume"}}}),
		"a session is compacted on main":        main([]ruleEvent{{"H12", object{"trigger": "auto"}}, {"H13", object{"source": "compact"}}}),
		"a session is compacted after completion": login(done, []ruleEvent{{"H12", object{"trigger": "auto"}},
			{"H13", object{"source": "compact"}}}),
		"a prompt on main":    main([]ruleEvent{{"H06", prompt("what does this do?")}}),
		"a question on main":  main([]ruleEvent{{"H01", question("Which cache?")}}),
		"a turn ends on main": main(bothStops("Shall I go on?")),
		"a broken state file": login(map[string]string{statePath: "phase: ["}, bothStops("done"),
			[]ruleEvent{{"H06", prompt("x")}, {"H12", nil}, {"H04", writing("specs/login/spec.md")}}),
		"a state file without a phase": login(map[string]string{statePath: "mode: x\n"}, bothStops("done"),
			[]ruleEvent{{"H02", writing("specs/login/a.md")}}),
		"a state file of another project": main([]ruleEvent{{"H05", editing("elsewhere/.planning-state.local.md")}}),
		"a folder in place of the lock":   login(map[string]string{lockPath + "/x": ""}, writes("specs/login/a.md")),
		"a notebook": login(nil, []ruleEvent{{"H02", object{"tool_name": "NotebookEdit",
			"tool_input": object{"notebook_path": "specs/login/a.ipynb"}}}}),
		"the user talks about the plugin": {branch: "main", transcript: []string{userMessage("how does /product-planning:plan work?"),
			userMessage("<b>product-planning:plan</b>"), slashCommand("help", "/product-planning:plan")},
			events: slices.Concat(researchCalls(12), bothStops("so"))},
		"another plugin's command of that name": {branch: "main", transcript: []string{slashCommand("plan", "login"),
			slashCommand("planning:plan", ""), skillCall("plan")}, events: researchCalls(12)},
		"the plugin was called, and has completed": {branch: "feature/login", files: done,
			transcript: []string{slashCommand("product-planning:plan", "login"), userMessage("thanks")},
			events:     slices.Concat(researchCalls(12), writes("specs/login/tasks.md"), bothStops("ok"), []ruleEvent{{"H06", prompt("x")}})},
		"a skill of the plugin was called, and has completed": {branch: "feature/login", files: done,
			transcript: []string{skillCall("product-planning:plan")}, events: slices.Concat(researchCalls(12), bothStops("ok"))},
		"an event that cannot be read": {branch: "main", events: []ruleEvent{{"H02", nil}}},
	}
}

func TestOrdinarySessionsAreNotBound(t *testing.T) {
	all := ordinarySessions()
	require.GreaterOrEqual(t, len(all), 25)
	for name, s := range all {
		t.Run(name, func(t *testing.T) {
			w := newSession(t, s)
			before := w.tree()
			for _, e := range s.events {
				assert.Equal(t, client.Answer{}, w.answer(e), "%s %v", e.id, e.fields)
			}
			assert.Equal(t, before, w.tree(), "something was written")
		})
	}
}

// newSession returns a world in which the session takes place, with the default of
// workflow.binds.
func newSession(t *testing.T, s session) *world {
	w := newWorld(t, scenario{Git: &repository{Branch: s.branch}, NoGit: s.branch == ""})
	delete(w.env, "PLANNING_BINDS")
	w.env["CLAUDE_ENV_FILE"], w.env["CLAUDE_PROJECT_DIR"] = w.at("outside", "env.sh"), w.at("proj")
	for path, text := range s.files {
		w.file(path, text)
	}
	if s.transcript != nil {
		w.file("transcript.jsonl", strings.Join(s.transcript, "\n")+"\n")
	}
	return w
}

// answer returns the rule's answer to the event.
func (w *world) answer(e ruleEvent) client.Answer {
	if e.fields == nil {
		w.env["CLAUDE_CODE_SESSION_ID"] = testSession
		return w.call(e.id, "{")
	}
	return w.call(e.id, w.event("x", e.fields))
}

// tree returns every file of the world with its content.
func (w *world) tree() map[string]string { return rules.Contents(w, w.dir) }

// In sessions that plan, the rules act on such events.
func TestPlanningSessionsAreBound(t *testing.T) {
	const plan = "specs/login/plan.md"
	mine := map[string]string{statePath: underWay, lockPath: `{"session_id":"` + testSession + `"}`}
	begun := map[string]string{statePath: underWay}
	called := []string{userMessage("hello"), slashCommand("product-planning:plan", "login"), userMessage("go on")}
	login := func(files map[string]string, transcript []string, id string, fields object) session {
		return session{"feature/login", files, transcript, []ruleEvent{{id, fields}}}
	}
	again := []string{skillCall("product-planning:plan"),
		`{"type":"user","timestamp":"2999-01-01T00:00:00Z","message":{"content":"<command-name>/product-planning:plan</command-name>"}}`}
	for name, c := range map[string]struct {
		session
		says string
	}{
		"a lock is needed where planning is under way":    {login(begun, nil, "H02", writing(plan)), "No planning lock acquired"},
		"a lock is needed after the plugin was called":    {login(nil, called, "H02", writing(plan)), "No planning lock acquired"},
		"the spec is frozen":                              {login(mine, nil, "H04", writing("specs/login/spec.md")), "spec.md is immutable"},
		"a decision is not asked again":                   {login(mine, nil, "H01", question("Which cache?")), "'Cache' -> 'Redis'"},
		"research is counted after the plugin was called": {session{"main", nil, called, researchCalls(11)}, "phase budget exhausted"},
		"research is counted where planning is under way": {session{"feature/login", mine, nil, researchCalls(11)}, "phase budget exhausted"},
		"the holder of the lock does not stop":            {session{"feature/login", mine, nil, bothStops("done")[:1]}, "Missing artifacts"},
		"a session that called the plugin does not stop": {session{"feature/login", begun, called,
			bothStops("done")[1:]}, "Workflow at phase ARCHITECTURE, not complete"},
		"an agent of the plugin is judged": {session{"main", nil, called,
			[]ruleEvent{{"H10", agent("researcher", "found it")}}}, "Insufficient output"},
		"the state comes with a prompt":   {login(mine, nil, "H06", prompt("go")), "phase: ARCHITECTURE"},
		"the state survives a compaction": {login(mine, nil, "H12", object{"trigger": "auto"}), "phase: ARCHITECTURE"},
		"a session starts in the middle":  {login(mine, nil, "H13", object{"source": "startup"}), "phase=ARCHITECTURE"},
		"planning again after a completion": {login(map[string]string{statePath: completed}, again, "H02", writing(plan)),
			"No planning lock acquired"},
		"a broken state file of a session that plans": {login(map[string]string{statePath: "phase: ["}, called, "H05", editing(statePath)),
			"YAML frontmatter is malformed"},
		"a phase that the workflow does not have": {login(map[string]string{statePath: "phase: DONE\n"}, nil, "H05", editing(statePath)),
			"names the phase 'DONE'"},
		"an event that cannot be read where planning is done": {login(mine, nil, "H02", nil), "Failing open"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSession(t, c.session)
			r, _ := rules.Find(c.events[0].id)
			var a client.Answer
			for _, e := range c.events {
				a = w.answer(e)
			}
			v := asSeen(r.Event, a)
			assert.Contains(t, v.model+v.user, c.says)
			assert.Contains(t, w.logged(), r.Name, "it is logged")
		})
	}
}

// H05 still binds at the write that completes the workflow.
func TestTheLastCheckpointIsLogged(t *testing.T) {
	w := newSession(t, session{branch: "feature/login", files: map[string]string{statePath: underWay}})
	require.NotEmpty(t, w.answer(ruleEvent{"H05", editing(statePath)}).Output)
	w.file(statePath, completed)
	assert.Contains(t, w.answer(ruleEvent{"H05", editing(statePath)}).Output, "ARCHITECTURE → COMPLETION")
	assert.Empty(t, w.answer(ruleEvent{"H05", editing(statePath)}).Output, "it is logged once")
}

// The rules do not bind a session that has completed its workflow and changes the branch.
func TestACompletedSessionIsNotBoundOnAnotherBranch(t *testing.T) {
	w := newSession(t, session{branch: "feature/login", files: map[string]string{statePath: underWay},
		transcript: []string{skillCall("product-planning:plan")}})
	w.answer(ruleEvent{"H05", editing(statePath)})
	w.file(statePath, completed)
	w.answer(ruleEvent{"H05", editing(statePath)})
	w.repository(&repository{Branch: "main"})
	before := w.tree()
	for _, a := range researchCalls(12) {
		assert.Equal(t, client.Answer{}, w.answer(a))
	}
	assert.Equal(t, before, w.tree())
}

// The environment takes precedence over the project's configuration, and that over the
// plugin's.
func TestWorkflowBinds(t *testing.T) {
	for _, c := range []struct {
		plugin, project, env string
		binds                bool
	}{
		{"", "", "", false}, {"always", "", "", true}, {"planning", "always", "", true}, {"always", "planning", "", false},
		{"always", "always", "planning", false}, {"", "", "always", true}, {"", "", "nonsense", false}, {"nonsense", "", "", false},
	} {
		w := newSession(t, session{branch: "feature/login"})
		for file, value := range map[string]string{w.at("plugin", "config", "planning-config.yaml"): c.plugin,
			w.at("proj", ".claude", "planning-config.yaml"): c.project} {
			w.write(file, fmt.Sprintf("workflow: {binds: %q}\n", value), 0o600)
		}
		w.env["PLANNING_BINDS"] = c.env
		a := w.answer(ruleEvent{"H02", writing("specs/login/plan.md")})
		assert.Equal(t, c.binds, a.Exit == 2, "%+v", c)
	}
}
