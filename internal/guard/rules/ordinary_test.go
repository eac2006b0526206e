package rules_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/guard/rules"
)

// Ordinary sessions, with the plugin installed and its defaults: nothing may be denied,
// blocked, injected or written.

// asked is one event for one guard.
type asked struct {
	id     string
	fields object
}

// session is an ordinary session.
type session struct {
	branch     string // "" for none: the project is not in git
	files      map[string]string
	transcript []string
	asks       []asked
}

const (
	completed = "---\nphase: COMPLETION\nmode: complete\nuser_decisions:\n  Cache: Redis\ngate_results: [{phase: 1, verdict: RED}]\n---\n"
	underWay  = "---\nphase: ARCHITECTURE\nmode: complete\nuser_decisions:\n  Cache: Redis\n---\n"

	statePath = "specs/login/.planning-state.local.md"
	lockPath  = "specs/login/.planning.lock"
)

func said(text string) string {
	return `{"type":"user","message":{"role":"user","content":"` + text + `"}}`
}

// typed is a command as the client stores it.
func typed(name, args string) string {
	return said(`<command-message>` + name + `</command-message>\n<command-name>/` + name + `</command-name>\n<command-args>` + args + `</command-args>`)
}

func skilled(name string) string {
	return `{"type":"assistant","timestamp":"2020-01-01T00:00:00Z","message":{"role":"assistant","content":[{"type":"tool_use","name":"Skill","input":{"skill":"` + name + `"}}]}}`
}

func prompted(text string) object { return object{"prompt": text} }

func edited(path string) object {
	return object{"tool_name": "Edit", "tool_input": object{"file_path": path, "old_string": "a", "new_string": "b"}, "tool_response": object{"filePath": path}}
}

func researched(times int) []asked {
	var all []asked
	for i := range times {
		all = append(all, asked{"H03", research(i)})
	}
	return all
}

// bothStops is the end of a turn.
func bothStops(lastWords string) []asked {
	return []asked{{"H11a", ending(lastWords)}, {"H11b", ending(lastWords)}}
}

// writes is a write that all three guards of it see.
func writes(path string) []asked {
	return []asked{{"H02", writing(path)}, {"H04", writing(path)}, {"H05", edited(path)}}
}

func join(all ...[]asked) (joined []asked) {
	for _, some := range all {
		joined = append(joined, some...)
	}
	return joined
}

func ordinarySessions() map[string]session {
	active := map[string]string{statePath: underWay, lockPath: `{"session_id":"` + session1 + `"}`}
	done := map[string]string{statePath: completed, "specs/login/tasks.md": "- [ ] [T001] a\n"}
	login := func(files map[string]string, asks ...[]asked) session {
		return session{branch: "feature/login", files: files, asks: join(asks...)}
	}
	main := func(asks ...[]asked) session { return session{branch: "main", asks: join(asks...)} }
	return map[string]session{
		"thirty research calls on main":                    main(researched(30)),
		"thirty research calls on a feature branch":        login(nil, researched(30)),
		"thirty research calls without git":                {asks: researched(30)},
		"a test beside a spec":                             login(map[string]string{"specs/login/login.spec.ts": "x"}, writes("specs/login/login.spec.ts")),
		"a new file in a folder of specs":                  login(map[string]string{"specs/login/README.md": "x"}, writes("specs/login/new.md")),
		"spec.md before any planning":                      login(map[string]string{"specs/login/spec.md": "x"}, writes("specs/login/spec.md")),
		"a box in tasks.md after completion":               login(done, writes("specs/login/tasks.md")),
		"spec.md after completion":                         login(done, writes("specs/login/spec.md")),
		"the state file is reset after completion":         login(done, writes("specs/login/notes.md"), []asked{{"H05", edited(statePath)}}),
		"a turn ends after completion, with a RED gate":    login(done, bothStops("All done.")),
		"a prompt after completion":                        login(done, []asked{{"H06", prompted("next")}}),
		"a decided question is asked after completion":     login(done, []asked{{"H01", question("Which cache?")}}),
		"another session asks a plain question":            login(active, bothStops("It is in login.ts. Anything else?")),
		"another session asks three times":                 login(active, bothStops("a"), bothStops("b"), bothStops("c"), bothStops("d")),
		"another session, while the planner holds no lock": login(map[string]string{statePath: underWay}, bothStops("It is in login.ts.")),
		"another session writes outside the feature":       login(done, writes("src/login.ts"), writes("specs/other/plan.md")),
		"an agent of the plugin, used casually":            main([]asked{{"H10", agent("researcher", "found it")}, {"H07", agent("tech-lead", "done")}, {"H08", agent("software-architect", "layers")}, {"H09", agent("qa-strategist", "done")}}),
		"an agent of the plugin on a feature branch":       login(map[string]string{"specs/login/spec.md": "x"}, []asked{{"H10", agent("researcher", "found it")}, {"H07", agent("tech-lead", "done")}, {"H09", agent("qa-strategist", "done")}}),
		"an agent of the plugin after completion":          login(done, []asked{{"H10", agent("researcher", "found it")}, {"H07", agent("tech-lead", "done")}}),
		"an agent of somebody else's":                      main([]asked{{"H10", object{"agent_type": "general-purpose", "last_assistant_message": "ok"}}, {"H10", object{"agent_type": "Explore"}}}),
		"a session starts on main":                         main([]asked{{"H13", object{"source": "startup"}}}),
		"a session starts without git":                     {asks: []asked{{"H13", object{"source": "startup"}}}},
		"a session starts on a feature branch":             login(map[string]string{"specs/login/spec.md": "x"}, []asked{{"H13", object{"source": "startup"}}}),
		"a session is resumed after completion":            login(done, []asked{{"H13", object{"source": "resume"}}}),
		"a session is compacted on main":                   main([]asked{{"H12", object{"trigger": "auto"}}, {"H13", object{"source": "compact"}}}),
		"a session is compacted after completion":          login(done, []asked{{"H12", object{"trigger": "auto"}}, {"H13", object{"source": "compact"}}}),
		"a prompt on main":                                 main([]asked{{"H06", prompted("what does this do?")}}),
		"a question on main":                               main([]asked{{"H01", question("Which cache?")}}),
		"a turn ends on main":                              main(bothStops("Shall I go on?")),
		"a broken state file of nobody's":                  login(map[string]string{statePath: "phase: ["}, bothStops("done"), []asked{{"H06", prompted("x")}, {"H12", nil}, {"H04", writing("specs/login/spec.md")}}),
		"a state file without a phase":                     login(map[string]string{statePath: "mode: x\n"}, bothStops("done"), []asked{{"H02", writing("specs/login/a.md")}}),
		"a state file of another project":                  main([]asked{{"H05", edited("elsewhere/.planning-state.local.md")}}),
		"a folder in place of the lock":                    login(map[string]string{lockPath + "/x": ""}, writes("specs/login/a.md")),
		"a notebook":                                       login(nil, []asked{{"H02", object{"tool_name": "NotebookEdit", "tool_input": object{"notebook_path": "specs/login/a.ipynb"}}}}),
		"somebody talks about the plugin": {branch: "main", transcript: []string{said("how does /product-planning:plan work?"), said("<b>product-planning:plan</b>"), typed("help", "/product-planning:plan")},
			asks: join(researched(12), bothStops("so"))},
		"another plugin's command of that name": {branch: "main", transcript: []string{typed("plan", "login"), typed("planning:plan", ""), skilled("plan")}, asks: researched(12)},
		"the plugin was called, and has completed": {branch: "feature/login", files: done, transcript: []string{typed("product-planning:plan", "login"), said("thanks")},
			asks: join(researched(12), writes("specs/login/tasks.md"), bothStops("ok"), []asked{{"H06", prompted("x")}})},
		"a skill of the plugin was called, and has completed": {branch: "feature/login", files: done, transcript: []string{skilled("product-planning:plan")}, asks: join(researched(12), bothStops("ok"))},
		"an event that cannot be read":                        {branch: "main", asks: []asked{{"H02", nil}}},
	}
}

func TestOrdinarySessionsAreLeftAlone(t *testing.T) {
	all := ordinarySessions()
	require.GreaterOrEqual(t, len(all), 25)
	for name, s := range all {
		t.Run(name, func(t *testing.T) {
			w := ordinary(t, s)
			before := w.tree()
			for _, a := range s.asks {
				assert.Equal(t, event.Answer{}, w.answer(a), "%s %v", a.id, a.fields)
			}
			assert.Equal(t, before, w.tree(), "something was written")
		})
	}
}

// ordinary returns a world with the defaults, in which the session takes place.
func ordinary(t *testing.T, s session) *world {
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

// answer returns the answer to an event; without fields it cannot be read.
func (w *world) answer(a asked) event.Answer {
	if a.fields == nil {
		w.env["CLAUDE_CODE_SESSION_ID"] = testSession
		return w.call(a.id, "{")
	}
	e := object{"session_id": testSession, "cwd": w.at("proj"), "transcript_path": w.at("proj", "transcript.jsonl"), "hook_event_name": "x"}
	for name, value := range a.fields {
		e[name] = value
	}
	return w.call(a.id, e)
}

// tree returns every file of the world with its content.
func (w *world) tree() map[string]string {
	all := map[string]string{}
	require.NoError(w, filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			all[path] = "directory"
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	}))
	return all
}

// The same events in a session that plans: there the guards act.
func TestThoseWhoPlanAreHeld(t *testing.T) {
	mine := map[string]string{statePath: underWay, lockPath: `{"session_id":"` + testSession + `"}`}
	called := []string{said("hello"), typed("product-planning:plan", "login"), said("go on")}
	again := []string{skilled("product-planning:plan"), `{"type":"user","timestamp":"2999-01-01T00:00:00Z","message":{"content":"<command-name>/product-planning:plan</command-name>"}}`}
	for name, c := range map[string]struct {
		session
		id    string
		says  string
		after func(w *world)
	}{
		"a lock is needed where planning is under way":        {session{"feature/login", map[string]string{statePath: underWay}, nil, []asked{{"H02", writing("specs/login/plan.md")}}}, "H02", "No planning lock acquired", nil},
		"a lock is needed after the plugin was called":        {session{"feature/login", nil, called, []asked{{"H02", writing("specs/login/plan.md")}}}, "H02", "No planning lock acquired", nil},
		"the spec is frozen":                                  {session{"feature/login", mine, nil, []asked{{"H04", writing("specs/login/spec.md")}}}, "H04", "spec.md is immutable", nil},
		"a decision is not asked again":                       {session{"feature/login", mine, nil, []asked{{"H01", question("Which cache?")}}}, "H01", "'Cache' -> 'Redis'", nil},
		"research is counted after the plugin was called":     {session{"main", nil, called, researched(11)}, "H03", "phase budget exhausted", nil},
		"research is counted where planning is under way":     {session{"feature/login", mine, nil, researched(11)}, "H03", "phase budget exhausted", nil},
		"the holder of the lock does not stop":                {session{"feature/login", mine, nil, bothStops("done")[:1]}, "H11a", "Missing artifacts", nil},
		"a session that called the plugin does not stop":      {session{"feature/login", map[string]string{statePath: underWay}, called, bothStops("done")[1:]}, "H11b", "Workflow at phase ARCHITECTURE, not complete", nil},
		"an agent of the plugin is judged":                    {session{"main", nil, called, []asked{{"H10", agent("researcher", "found it")}}}, "H10", "Insufficient output", nil},
		"the state comes with a prompt":                       {session{"feature/login", mine, nil, []asked{{"H06", prompted("go")}}}, "H06", "phase: ARCHITECTURE", nil},
		"the state survives a compaction":                     {session{"feature/login", mine, nil, []asked{{"H12", object{"trigger": "auto"}}}}, "H12", "phase: ARCHITECTURE", nil},
		"a session starts in the middle":                      {session{"feature/login", mine, nil, []asked{{"H13", object{"source": "startup"}}}}, "H13", "phase=ARCHITECTURE", nil},
		"planning again after a completion":                   {session{"feature/login", map[string]string{statePath: completed}, again, []asked{{"H02", writing("specs/login/plan.md")}}}, "H02", "No planning lock acquired", nil},
		"a broken state file of a session that plans":         {session{"feature/login", map[string]string{statePath: "phase: ["}, called, []asked{{"H05", edited(statePath)}}}, "H05", "YAML frontmatter is malformed", nil},
		"a phase that the workflow does not have":             {session{"feature/login", map[string]string{statePath: "phase: DONE\n"}, nil, []asked{{"H05", edited(statePath)}}}, "H05", "names the phase 'DONE'", nil},
		"an event that cannot be read where planning is done": {session{"feature/login", mine, nil, []asked{{"H02", nil}}}, "H02", "Failing open", nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := ordinary(t, c.session)
			r, ok := rules.Find(c.id)
			require.True(t, ok)
			var a event.Answer
			for _, ask := range c.asks {
				a = w.answer(ask)
			}
			v := asSeen(r.Event, a)
			assert.Contains(t, v.model+v.user, c.says)
			assert.Contains(t, w.logged(), r.Name, "it is logged")
		})
	}
}

// The step that ends the planning is part of it.
func TestTheLastCheckpointIsLogged(t *testing.T) {
	w := ordinary(t, session{branch: "feature/login", files: map[string]string{statePath: underWay}})
	require.NotEmpty(t, w.answer(asked{"H05", edited(statePath)}).Output)
	w.file(statePath, completed)
	assert.Contains(t, w.answer(asked{"H05", edited(statePath)}).Output, "ARCHITECTURE → COMPLETION")
	assert.Empty(t, w.answer(asked{"H05", edited(statePath)}).Output, "it is logged once")
}

// A session that has completed its plan and goes to another branch is ordinary again.
func TestACompletedSessionIsFreeOnEveryBranch(t *testing.T) {
	w := ordinary(t, session{branch: "feature/login", files: map[string]string{statePath: underWay}, transcript: []string{skilled("product-planning:plan")}})
	w.answer(asked{"H05", edited(statePath)})
	w.file(statePath, completed)
	w.answer(asked{"H05", edited(statePath)})
	w.repository(&repository{Branch: "main"})
	before := w.tree()
	for _, a := range researched(12) {
		assert.Equal(t, event.Answer{}, w.answer(a))
	}
	assert.Equal(t, before, w.tree())
}

// The configuration and the environment decide whom the guards bind, in this order.
func TestBindsIsAChoice(t *testing.T) {
	for _, c := range []struct {
		plugin, project, env string
		binds                bool
	}{
		{"", "", "", false}, {"always", "", "", true}, {"planning", "always", "", true}, {"always", "planning", "", false},
		{"always", "always", "planning", false}, {"", "", "always", true}, {"", "", "nonsense", false}, {"nonsense", "", "", false},
	} {
		w := ordinary(t, session{branch: "feature/login"})
		for file, value := range map[string]string{w.at("plugin", "config", "planning-config.yaml"): c.plugin, w.at("proj", ".claude", "planning-config.yaml"): c.project} {
			w.write(file, fmt.Sprintf("workflow: {binds: %q}\n", value), 0o600)
		}
		w.env["PLANNING_BINDS"] = c.env
		a := w.answer(asked{"H02", writing("specs/login/plan.md")})
		assert.Equal(t, c.binds, a.Exit == 2, "%+v", c)
	}
}
