//go:build fidelity

package fidelity

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// TestClaudeCode asks the real client about every case and compares with its recorded
// answers, and fire with it. FSMTX_FIDELITY_VERSION=latest asks the newest client and
// prints what changed; FSMTX_FIDELITY_UPDATE=1 records the answers.
func TestClaudeCode(t *testing.T) {
	version := newest(t)
	cases := claude().cases(t)
	claude().compared(t, version, version == realclient.Version, cases, askClaude(t, cases, version))
}

// compared records what a version of an agent has answered, if it is the pinned one and was told to, reports what differs from
// the recorded answers, and compares fire with them.
func (a agent) compared(t *testing.T, version string, isPinned bool, cases []fidelityCase, theirs map[string]answer) {
	if isPinned && os.Getenv("FSMTX_FIDELITY_UPDATE") != "" {
		writeAnswers(t, a.name, version, cases, theirs)
	}
	pinned, recorded := readAnswers(t, a.name)
	report(t, a.name, pinned, version, cases, theirs, recorded, isPinned)
	if isPinned {
		compare(t, a.name, version, cases, recorded, fireAll(t, cases, a.fire))
	}
}

// report prints the answers that differ from the recorded ones. For the pinned version a
// difference is a failure.
func report(t *testing.T, agent, pinned, version string, cases []fidelityCase, theirs map[string]answer, recorded map[string]string,
	isPinned bool) {
	changed := 0
	for _, c := range cases {
		got, asked := theirs[c.name]
		if !asked || got.String() == recorded[c.name] {
			continue
		}
		changed++
		say := t.Errorf
		if !isPinned {
			say = t.Logf
		}
		say("%s (%s): changed\n  %-8s %s\n  %-8s %s", c.name, c.event, pinned, recorded[c.name], version, got)
	}
	t.Logf("%s %s: %d of %d answers are those recorded with %s", agent, version, len(theirs)-changed, len(theirs), pinned)
}

// newest returns the version to ask: the pinned one unless FSMTX_FIDELITY_VERSION names
// another.
func newest(t *testing.T) string {
	version := os.Getenv("FSMTX_FIDELITY_VERSION")
	switch version {
	case "":
		return realclient.Version
	case "latest":
		found, err := realclient.Newest(t.Context())
		require.NoError(t, err)
		return found
	}
	return version
}

// askClaude returns the client's answers. Cases of one command on a tool's event share a
// session; the others have one each.
func askClaude(t *testing.T, cases []fidelityCase, version string) map[string]answer {
	cases = slices.DeleteFunc(slices.Clone(cases), func(c fidelityCase) bool {
		slow := c.isSlow() && !withSlow()
		if slow {
			t.Logf("%s: not asked: it takes half a minute; FSMTX_FIDELITY_SLOW=1 asks", c.name)
		}
		return slow
	})
	return askEach(t, cases, toolEvents(),
		func(t *testing.T, batch []fidelityCase, keep func(string, answer)) {
			askTogether(t, batch, version, keep)
		},
		func(t *testing.T, c fidelityCase) answer { return askAlone(t, c, version) })
}

// askEach asks about every case that FSMTX_FIDELITY_ONLY selects: about those with one
// command on one of the events in batches, by together, and about the others by alone.
func askEach(t *testing.T, cases []fidelityCase, events []string,
	together func(*testing.T, []fidelityCase, func(string, answer)), alone func(*testing.T, fidelityCase) answer,
) map[string]answer {
	var mutex sync.Mutex
	theirs := map[string]answer{}
	keep := func(name string, a answer) {
		mutex.Lock()
		defer mutex.Unlock()
		theirs[name] = a
	}
	var batched, single []fidelityCase
	for _, c := range cases {
		switch only := os.Getenv("FSMTX_FIDELITY_ONLY"); {
		case only != "" && !regexp.MustCompile(only).MatchString(c.name):
		case c.command != "" && slices.Contains(events, c.event):
			batched = append(batched, c)
		default:
			single = append(single, c)
		}
	}
	t.Run("asking", func(t *testing.T) {
		for batch := range slices.Chunk(batched, 24) {
			t.Run("together", func(t *testing.T) { t.Parallel(); together(t, batch, keep) })
		}
		for _, c := range single {
			t.Run(c.name, func(t *testing.T) { t.Parallel(); keep(c.name, alone(t, c)) })
		}
	})
	return theirs
}

// installed installs a package, in the version that the environment variable names if it
// is set. It skips the test if npm is needed and not installed.
func installed(t *testing.T, p realclient.Package, variable string) (wanted realclient.Package, dir string) {
	wanted = p
	if v := os.Getenv(variable); v != "" {
		wanted.Version = v
	}
	dir, err := wanted.Install(t.Context())
	if errors.Is(err, realclient.ErrNoNPM) {
		t.Skipf("skipped: %v", err)
	}
	require.NoError(t, err)
	return wanted, dir
}

func toolEvents() []string {
	return []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"}
}

func sandboxOf(t *testing.T, version string) (*realclient.Sandbox, string) {
	s := realclient.NewVersion(t, version)
	s.Allow = nil
	ran := s.Path("ran")
	s.Env["PATH"] = s.Path("bin") + ":/usr/local/bin:/usr/bin:/bin"
	s.Env["FIDELITY_RAN"] = ran
	s.Env["FIDELITY_MARK"] = headerMark
	s.Write("project/"+notes, toolOutput+"\n")
	writeFile(t, s.Path("bin/ran"), ranProgram)
	return s, ran
}

// dispatcher is a shell script that runs the command of the case that an event belongs to,
// as the agent would have run it.
const dispatcher = `in=$(mktemp) && cat > "$in"
name=$(sed -n 's/.*case:\([a-z0-9.-]*\).*/\1/p' "$in")
[ -f "$1/$name" ] || exit 0
exec sh -c "$(cat "$1/$name")" < "$in"
`

// askTogether asks about several cases in one session, each with its own calls. If a case
// stops the session, the remaining ones continue in another session.
func askTogether(t *testing.T, cases []fidelityCase, version string, keep func(string, answer)) {
	for len(cases) > 0 {
		s, _ := sandboxOf(t, version)
		s.Write("project/"+claudeSettings, dispatching(t, s.Path("dispatch"), toolEvents(), cases))
		var turns []Turn
		for _, c := range cases {
			turns = append(turns, callTurn(c, s.Project, false), callTurn(c, s.Project, true))
		}
		r := s.Try(Script{Main: append(turns, Say("done"))}, "go")
		cases = keepAnswers(cases, keep, func(c fidelityCase) answer { return toolAnswer(r, c) })
	}
}

// dispatching returns settings with a hook on each of the events that runs the dispatcher.
// It writes the dispatcher and the commands of the cases below dir.
func dispatching(t *testing.T, dir string, events []string, cases []fidelityCase) (settings string) {
	script := filepath.Join(dir, "dispatch.sh")
	writeFile(t, script, dispatcher)
	for _, c := range cases {
		writeFile(t, filepath.Join(dir, c.event, c.name), c.command)
	}
	hooks := map[string]any{}
	for _, event := range events {
		hooks[event] = []any{map[string]any{"hooks": []any{map[string]any{
			"type": "command", "command": fmt.Sprintf("exec sh %s %s", script, filepath.Join(dir, event)),
		}}}}
	}
	text, err := json.Marshal(map[string]any{"hooks": hooks})
	require.NoError(t, err)
	return string(text)
}

// keepAnswers keeps the answers to the cases of one session, in order. It returns the
// cases after the first one that ended the session.
func keepAnswers(cases []fidelityCase, keep func(string, answer), read func(fidelityCase) answer) (rest []fidelityCase) {
	for i, c := range cases {
		a := read(c)
		keep(c.name, a)
		if a.verdict == stopped {
			return cases[i+1:]
		}
	}
	return nil
}

func callTurn(c fidelityCase, project string, needsPermission bool) Turn {
	id, call := c.name, callFor(c, project, needsPermission)
	if needsPermission {
		id += "+"
	}
	return Do(Call(id, call.name, call.input))
}

// toolAnswer derives the answer to a case from the results of its calls.
func toolAnswer(r *realclient.Run, c fidelityCase) answer {
	a := answer{verdict: undecided}
	x := r.After(c.name)
	if x == nil {
		a.verdict = stopped
		return a
	}
	news := withoutCommands(c, x.Request.News())
	a.model = c.marksOf(news)
	first, _ := r.Result(c.name)
	second, _ := r.Result(c.name + "+")
	switch c.event {
	case "PreToolUse":
		switch {
		case first.IsError && strings.Contains(first.Text, "hook error"):
			a.verdict = denied
		case first.IsError:
			a.verdict = asks // nobody can be asked
		case c.tool == "" && !second.IsError:
			a.verdict = allowed
		}
	case "PermissionRequest":
		switch {
		case !first.IsError:
			a.verdict = allowed
		case !strings.Contains(first.Text, "needs approval"):
			a.verdict = denied
		}
	default:
		if strings.Contains(news, "hook blocking error") || strings.Contains(news, "hook stopped") {
			a.verdict = denied
		}
	}
	if os.Getenv("FSMTX_FIDELITY_SHOW") != "" {
		fmt.Printf("== %s: %v\n   1 %v %.300q\n   2 %v %.300q\n   news %.600q\n", c.name, a, first.IsError, first.Text, second.IsError,
			second.Text, news)
	}
	return a
}

// commandOf matches the commands in settings.
var commandOf = regexp.MustCompile(`"command":\s*("(?:[^"\\]|\\.)*")`)

// withoutCommands removes the hooks' commands from a text: the client tells the model which
// command blocked, and the marks in a command are not output of the hook.
func withoutCommands(c fidelityCase, text string) string {
	if c.command != "" {
		text = strings.ReplaceAll(text, c.command, "")
	}
	for _, content := range c.files {
		for _, m := range commandOf.FindAllStringSubmatch(content, -1) {
			if command, err := strconv.Unquote(m[1]); err == nil {
				text = strings.ReplaceAll(text, command, "")
			}
		}
	}
	return text
}

const plainSkill = "---\nname: plain\ndescription: a skill\n---\nDo the plain thing.\n"

// askAlone asks about a case in a session of its own.
func askAlone(t *testing.T, c fidelityCase, version string) answer {
	s, ran := sandboxOf(t, version)
	server := newServer(t)
	for path, content := range settingsOf(c, claudeSettings) {
		if !strings.HasPrefix(path, "home/") {
			path = "project/" + path
		}
		writeFile(t, s.Path(path), strings.NewReplacer("{{PROJECT}}", s.Project, "{{HTTP}}", server).Replace(content))
	}
	var args []string
	for _, dir := range pluginsOf(c) {
		args = append(args, "--plugin-dir", filepath.Join(s.Project, dir))
	}
	script, prompt := Script{Main: []Turn{Say("done"), Say("again"), Say("and again")}}, "go"
	switch {
	case c.tool == "TaskStop":
		s.Allow = []string{"Bash", "TaskStop"}
		script.Main = []Turn{Do(Call("begin", "Bash", map[string]any{"command": "sleep 60", "description": "x", "run_in_background": true})),
			stopTask(c.name), Say("done")}
	case slices.Contains(toolEvents(), c.event):
		script.Main = []Turn{callTurn(c, s.Project, false), Say("done")}
		if c.tool == "" {
			script.Main = slices.Insert(script.Main, 1, callTurn(c, s.Project, true))
		}
		script.Agents = map[string][]Turn{"helper": {Say("helped"), Say("helped again")}}
	case c.event == "FileChanged":
		s.Allow = []string{"Bash"}
		script.Main = []Turn{Do(Bash("change", "sleep 1; echo x >> "+notes+"; sleep 2")), Say("done")}
	case strings.HasSuffix(c.event, "Compact"):
		s.Try(Script{Main: []Turn{Say("done")}}, "go")
		prompt = "/compact"
	case strings.HasSuffix(c.event, "ModelSwitch"):
		prompt = "/model " + otherModel
	case strings.HasPrefix(c.event, "Elicitation"):
		self, err := os.Executable()
		require.NoError(t, err)
		s.Write("project/mcp.json", fmt.Sprintf(`{"mcpServers": {"forms": {"command": %q, "env": {%q: "1"}}}}`, self, formsServer))
		s.Allow, args = []string{"mcp__forms__ask"}, append(args, "--mcp-config", s.Path("project/mcp.json"))
		script.Main = []Turn{Do(Call(c.name, "mcp__forms__ask", nil)), Say("done")}
	case strings.HasPrefix(c.event, "Subagent"):
		script.Main = []Turn{Do(Agent("agent", "general-purpose", "be a helper")), Say("done")}
		script.Agents = map[string][]Turn{"helper": {Say("helped"), Say("helped again"), Say("helped again")}}
	case c.event == "UserPromptExpansion":
		s.Write("project/.claude/skills/plain/SKILL.md", plainSkill)
		prompt = "/plain"
	}
	for i, skill := range skillsOf(c) {
		script.Main = slices.Insert(script.Main, 0, Do(Skill(fmt.Sprint("skill", i), skill)))
		s.Allow = append(s.Allow, "Skill")
	}
	r := s.Try(script, prompt, args...)
	if os.Getenv("FSMTX_FIDELITY_SHOW") != "" {
		fmt.Printf("== %s\n%s\n", c.name, r)
	}
	a := answer{verdict: undecided}
	if slices.Contains(toolEvents(), c.event) {
		a = toolAnswer(r, c)
	} else {
		a = otherAnswer(r, c)
	}
	a.ran = ranIn(ran)
	if c.tool == "" && slices.Contains(toolEvents(), c.event) {
		a.ran = slices.Compact(a.ran) // two calls were made
	}
	return a
}

// taskID matches how the client names a command in the background.
var taskID = regexp.MustCompile(`ID: (\w+)`)

// stopTask stops the command that is running in the background.
func stopTask(id string) Turn {
	return func(r *Request) []Block {
		task := ""
		if m := taskID.FindStringSubmatch(r.News()); m != nil {
			task = m[1]
		}
		return []Block{Call(id, "TaskStop", map[string]any{"task_id": task})}
	}
}

// elicited matches the answer of the server's tool.
var elicited = regexp.MustCompile(`the user: \{"action":"(\w+)"`)

// otherAnswer derives the answer to a case about an event that is not a tool's.
func otherAnswer(r *realclient.Run, c fidelityCase) answer {
	a := answer{verdict: undecided}
	all := r.Exchanges(Main)
	said := func(all []*Exchange) {
		for _, x := range all {
			a.model = append(a.model, c.marksOf(withoutCommands(c, x.Request.Text()))...)
		}
		a.model = slices.Compact(slices.Sorted(slices.Values(a.model)))
	}
	switch c.event {
	case "Stop":
		if len(all) > 1+len(skillsOf(c)) {
			a.verdict = denied
		}
		said(all)
	case "SubagentStop", "SubagentStart":
		agents := r.Exchanges(Subagent)
		if len(agents) > 1 {
			a.verdict = denied
		}
		said(agents)
	case "Elicitation", "ElicitationResult":
		if x := r.After(c.name); x != nil {
			a.model = c.marksOf(x.Request.News())
			if m := elicited.FindStringSubmatch(x.Request.News()); m != nil {
				a.verdict = map[string]string{"accept": allowed, "decline": denied, "cancel": undecided}[m[1]] // nobody is there: cancel
			}
		}
	case "PreModelSwitch", "PostModelSwitch":
		if strings.Contains(r.Final, "blocked by a PreModelSwitch hook") {
			a.verdict = denied
		}
	case "PreCompact", "PostCompact":
		all = r.Exchanges()
		if len(all) == 0 {
			a.verdict = denied
		}
		said(all)
	default:
		if len(all) == 0 {
			a.verdict = denied
		}
		said(all)
	}
	return a
}

// writeAnswers records what an agent answered, in the order of the table.
func writeAnswers(t testing.TB, agent, version string, cases []fidelityCase, answers map[string]answer) {
	var b strings.Builder
	fmt.Fprintf(&b, "# version %s\n", version)
	_, before := readAnswers(t, agent)
	for _, c := range cases {
		text := before[c.name] // of a case that was not asked now
		if a, asked := answers[c.name]; asked {
			text = a.String()
		}
		fmt.Fprintf(&b, "%-32s %s\n", c.name, text)
	}
	require.NoError(t, os.WriteFile(answersPath(agent), []byte(b.String()), 0o644))
}
