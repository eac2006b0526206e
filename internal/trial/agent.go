package trial

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/orphans"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// Own are the commands of this program that a test can use, as the agent.
func own() []string {
	return []string{"begin", "next", "start", "complete", "finish", "continue", "step", "undo", "status", "log"}
}

// commands are what a test can use besides the commands of testscript.
func (x *session) commands() map[string]func(*testscript.TestScript, bool, []string) {
	all := map[string]func(*testscript.TestScript, bool, []string){
		"person": x.person, "tool": x.tool, "ended": x.ended, "is": x.is, "keep": x.keep, "later": later, "fsmtx": noPrefix,
		endWord: func(*testscript.TestScript, bool, []string) { orphans.EndAll() },
	}
	for _, name := range own() {
		all[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			x.agent(ts, neg, append([]string{name}, args...))
		}
	}
	return all
}

func noPrefix(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("leave out the word fsmtx: the commands are %s", message.Sentence(own()))
}

// The callers of a test: the client's hook, its agent's shell, and a terminal of the person.
func (x *session) client() caller.Caller {
	return caller.Caller{Kind: caller.Agent, Program: caller.Claude, PID: os.Getpid(), Why: "it is the agent of a test"}
}

func (x *session) shell(line string) caller.Caller {
	c := x.client()
	c.Shell, c.Started = true, []string{"sh", "-c", line}
	return c
}

func (x *session) terminal() caller.Caller {
	return caller.Caller{Kind: caller.Person, Terminal: "/dev/tty", Leader: os.Getpid(), Why: "it is the person of a test"}
}

// said is how a command ended.
type said struct {
	code     int
	out, err string
	refused  bool // by the hook, ahead of the command
}

// as runs a command of this program.
func (x *session) as(who caller.Caller, input string, args ...string) said {
	var out, errs bytes.Buffer
	env := x.lookup
	if who.Kind == caller.Person {
		env = func(name string) (string, bool) {
			if name == "CLAUDE_CONFIG_DIR" || name == "CLAUDE_CODE_SESSION_ID" { // the list is named, so a command is about this one
				return x.lookup(name)
			}
			if strings.HasPrefix(name, "CLAUDE") {
				return "", false
			}
			return x.lookup(name)
		}
	}
	code := x.run(args, terminal.Streams{In: strings.NewReader(input), Out: &out, Err: &errs, Getenv: env,
		Caller: func() caller.Caller { return who }})
	own := func(text string) string { return ownList.ReplaceAllString(text, "") }
	return said{code, own(out.String()), own(errs.String()), false}
}

// ownList matches the flag with which a line names the list of the test, which nobody has outside.
var ownList = regexp.MustCompile(` --(?:list|to) ` + sessionID[:4] + `[\w-]*`)

// event sends the client's event to the hook.
func (x *session) event(members map[string]any) reply {
	members["session_id"], members["cwd"] = sessionID, here()
	text, _ := json.Marshal(members) // strings and objects only: cannot fail
	s := x.as(x.client(), string(text), "hook", "--agent", caller.Claude)
	r := reply{said: s}
	r.specific = jsonx.Member(jsontext.Value(s.out), "hookSpecificOutput")
	switch decision := jsonx.StringMember(r.specific, "permissionDecision"); {
	case s.code == client.ExitBlock:
		r.refused = strings.TrimSpace(s.err)
	case decision == "deny":
		r.refused = jsonx.StringMember(r.specific, "permissionDecisionReason")
	case decision == "ask":
		r.question = jsonx.StringMember(r.specific, "permissionDecisionReason")
	}
	return r
}

func here() string { dir, _ := os.Getwd(); return dir }

// reply is what a hook answers.
type reply struct {
	said
	refused, question string
	specific          jsontext.Value
}

// tell writes to the log of the test what the person and the agent are told.
func (r reply) tell(ts *testscript.TestScript) {
	if text := jsonx.StringMember(jsontext.Value(r.out), "systemMessage"); text != "" {
		ts.Logf("[person] %s", text)
	}
	if text := jsonx.StringMember(r.specific, "additionalContext"); text != "" {
		fmt.Fprintln(ts.Stdout(), text)
	}
}

func (x *session) prepare(ts *testscript.TestScript) {
	x.takeEnvironment(ts)
	ts.Check(os.Chdir(ts.MkAbs(".")))
}

// agent runs a command as the agent does: a call of its shell, which the hook of the client sees before and after.
func (x *session) agent(ts *testscript.TestScript, neg bool, words []string) {
	x.prepare(ts)
	x.uses++
	line, step := hook.Line(words), stepIn(words)
	before := x.decided(ts, step)
	s := x.call(ts, line, step)
	fmt.Fprint(ts.Stdout(), s.out)
	fmt.Fprint(ts.Stderr(), s.err)
	now := x.decided(ts, step)
	switch denied := now.denied > before.denied; {
	case now.broken > before.broken:
		ts.Fatalf("%s: its command could not run, or did not end: that refuses nothing", line)
	case !neg && s.code != 0 && denied:
		ts.Fatalf("%s was refused", line)
	case !neg && s.code != 0:
		ts.Fatalf("%s failed", line)
	case neg && s.code == 0 && now.back > before.back:
		ts.Fatalf("%s was not refused: it led back, which is how this step ends. Leave out the !", line)
	case neg && s.code == 0:
		ts.Fatalf("%s was not refused", line)
	case neg && !denied && (step > 0 || !s.refused):
		ts.Fatalf("%s failed, but not because it was refused: ! holds only if a denial is on record", line)
	}
}

// stepIn returns the number of the step that a command is about; 0 if it is about none.
func stepIn(words []string) int64 {
	if !slices.Contains([]string{"start", "complete", "finish"}, words[0]) || len(words) < 2 {
		return 0
	}
	n, _ := strconv.ParseInt(strings.TrimPrefix(words[1], "#"), 10, 64)
	return max(n, 0)
}

// tally is how often a step was refused, or a person was asked about it, how often a command of it could not run, and how often it led
// back.
type tally struct{ denied, broken, back int }

func (x *session) decided(ts *testscript.TestScript, step int64) (n tally) {
	all, _, err := (&state.Store{List: tasks.List{Dir: x.list}}).Decided()
	ts.Check(err)
	for _, r := range all {
		switch d := state.Decision(r.Decision); {
		case r.Step != step:
		case r.CouldNotRun():
			n.broken++
		case d == state.Deny || d == state.Declined || d == state.Ask:
			n.denied++
		case len(r.Reopens) > 0:
			n.back++
		}
	}
	return n
}

// call is one call of the agent's shell.
func (x *session) call(ts *testscript.TestScript, line string, step int64) said {
	x.choose(ts, step)
	use := "toolu_" + strconv.Itoa(x.uses)
	call := func(event, line string) map[string]any {
		return map[string]any{"hook_event_name": event, "tool_name": "Bash", "tool_use_id": use,
			"tool_input": map[string]string{"command": line, "description": "Work on the workflow"}}
	}
	r := x.event(call(client.PreToolUse, line))
	r.tell(ts)
	if r.question != "" {
		if x.answered(ts, r.question) != "yes" {
			r.refused = r.question
		}
	}
	if r.refused != "" {
		return said{1, "", r.refused + "\n", true}
	}
	words, ok := shell.Call(line)
	if !ok {
		ts.Fatalf("%s: cannot be run as a command of its own", line)
	}
	s := x.as(x.shell(line), "", words[1:]...)
	event := call(client.PostToolUse, line)
	event["tool_response"] = map[string]string{}
	after := x.event(event)
	after.tell(ts)
	return s
}

// answered returns what the person says to a question; empty if nobody answers.
func (x *session) answered(ts *testscript.TestScript, question string) string {
	ts.Logf("[asked] %s", message.FirstLine(question, 300))
	if len(x.answers) == 0 {
		return ""
	}
	a := x.answers[0]
	if a != "yes" && a != "no" {
		ts.Fatalf("person %s: the question is to be answered with yes or no", a)
	}
	x.answers = x.answers[1:]
	return a
}

// choose lets the agent ask the person how a step ends, where the person decides it and has an answer.
func (x *session) choose(ts *testscript.TestScript, step int64) {
	if len(x.answers) == 0 || step == 0 {
		return
	}
	s, err := state.LoadNow(context.Background(), x.list)
	ts.Check(err)
	c := s.Step(step)
	if c == nil || c.Decides != fsmspec.ByPerson || c.Done() {
		return
	}
	chosen, question := x.answers[0], state.Question(c)
	options := []map[string]string{}
	for _, name := range s.Offered(c) {
		options = append(options, map[string]string{"label": name})
	}
	if !slices.Contains(s.Offered(c), chosen) {
		ts.Fatalf("person %s: #%d ends as %s", chosen, step, message.Alternatives(s.Offered(c)))
	}
	x.answers = x.answers[1:]
	x.event(map[string]any{"hook_event_name": client.PostToolUse, "tool_name": client.QuestionTool,
		"tool_use_id":   "toolu_ask_" + strconv.Itoa(x.uses),
		"tool_input":    map[string]any{"questions": []any{map[string]any{"question": question, "options": options}}},
		"tool_response": map[string]any{"answers": map[string]string{question: chosen}}}).tell(ts)
}

// person says what the person answers to the next question, or runs a command of "fsmtx step" in a terminal of theirs.
func (x *session) person(ts *testscript.TestScript, neg bool, args []string) {
	switch {
	case len(args) > 1 && args[0] == "step":
		x.prepare(ts)
		words := append(slices.Clone(args), "--list", filepath.Base(x.list))
		s := x.as(x.terminal(), "", words...)
		fmt.Fprint(ts.Stdout(), s.out)
		fmt.Fprint(ts.Stderr(), s.err)
		if neg != (s.code != 0) || neg && s.code != 1 {
			ts.Fatalf("%s: exit code %d", hook.Line(args), s.code)
		}
	case len(args) == 1 && !neg:
		x.answers = append(x.answers, args[0])
	default:
		ts.Fatalf("usage: person yes, person no, person OUTCOME, or person step skip 2 --because TEXT")
	}
}

// tool lets the agent call a tool, which is not run: tool Bash 'git push', tool Write src/a.go, tool Skill notes.
func (x *session) tool(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: tool NAME INPUT, such as tool Bash 'git push', tool Write PATH, tool Skill NAME")
	}
	x.prepare(ts)
	x.uses++
	name, text := args[0], args[1]
	input, response := map[string]string{"command": text}, map[string]any{}
	switch name {
	case "Write", "Edit", "NotebookEdit", "Read":
		input = map[string]string{"file_path": ts.MkAbs(text)}
	case "Skill":
		input, response = map[string]string{"skill": text}, map[string]any{"success": true, "commandName": text}
	}
	call := func(event string) map[string]any {
		return map[string]any{"hook_event_name": event, "tool_name": name, "tool_use_id": "toolu_" + strconv.Itoa(x.uses), "tool_input": input}
	}
	r := x.event(call(client.PreToolUse))
	r.tell(ts)
	if r.question != "" && x.answered(ts, r.question) != "yes" {
		r.refused = r.question
	}
	if r.refused != "" {
		fmt.Fprintln(ts.Stderr(), r.refused)
	} else {
		event := call(client.PostToolUse)
		event["tool_response"] = response
		after := x.event(event)
		after.tell(ts)
		r.refused = after.refused
		fmt.Fprint(ts.Stderr(), after.err)
	}
	switch {
	case neg && r.refused == "":
		ts.Fatalf("%s was not refused", name)
	case !neg && r.refused != "":
		ts.Fatalf("%s was refused", name)
	}
}

// ended asserts that the workflow is over.
func (x *session) ended(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) > 0 {
		ts.Fatalf("usage: ended")
	}
	s, err := state.LoadNow(context.Background(), x.list)
	ts.Check(err)
	var open []string
	for _, c := range s.Steps {
		if s.Word(c).IsOpen() {
			open = append(open, c.Name())
		}
	}
	switch {
	case len(s.Steps) == 0:
		ts.Fatalf("no workflow was begun")
	case neg && len(open) == 0:
		ts.Fatalf("the workflow is over")
	case !neg && len(open) > 0:
		ts.Fatalf("these steps are open: %s", strings.Join(open, ", "))
	}
}

// is asserts the state of a step: is 2 ready.
func (x *session) is(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: is STEP STATE, such as is 2 ready")
	}
	n, _ := strconv.ParseInt(strings.TrimPrefix(args[0], "#"), 10, 64)
	s, err := state.LoadNow(context.Background(), x.list)
	ts.Check(err)
	c, want := s.Step(n), state.Word(strings.Join(args[1:], " "))
	switch {
	case !slices.Contains(state.Words(), want):
		var words []string
		for _, w := range state.Words() {
			words = append(words, string(w))
		}
		ts.Fatalf("%q is not a state: want %s", want, message.Alternatives(words))
	case c == nil:
		ts.Fatalf("the list has no step %s", args[0])
	case (s.Word(c) == want) == neg:
		ts.Fatalf("%s is %s", c.Name(), s.Word(c))
	}
}

// later lets time pass for this program, before the next command: later 20m.
func later(ts *testscript.TestScript, neg bool, args []string) {
	d, err := time.ParseDuration(strings.Join(args, " "))
	if neg || err != nil || d <= 0 {
		ts.Fatalf("usage: later TIME, such as later 90m")
	}
	before := state.Now
	state.Now = func() time.Time { return before().Add(d) }
}

// keep brings a path of the project into the copy that git ignores.
func (x *session) keep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: keep PATH...")
	}
	for _, name := range args {
		if !filepath.IsLocal(name) {
			ts.Fatalf("%s is not a path in the project", name)
		}
		ts.Check(x.copyAll(filepath.Join(x.Root, name)))
	}
}
