package caller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/shell"
)

func init() {
	Others = func() []Marks { // the facts themselves are in package agent
		return []Marks{{"codex", []string{"@openai/codex"}, []string{"CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_CI"},
			"CODEX_SESSION_ID"},
			{"copilot", []string{"@github/copilot"}, []string{"COPILOT_CLI"}, ""},
			{"gemini", []string{"@google/gemini-cli"}, []string{"GEMINI_CLI"}, ""}, {"qwen", nil, []string{"QWEN_CODE"}, ""},
			{"opencode", nil, []string{"OPENCODE"}, ""}}
	}
}

// chainOf returns processes from the top down: each is the child of the one before it.
func chainOf(all ...process) []process {
	var chain []process
	for i, p := range all {
		if p.pid == 0 {
			p.pid = 100 + i
		}
		if i > 0 && p.parent == 0 {
			p.parent = chain[0].pid
		}
		if p.began.IsZero() {
			p.began = old
		}
		chain = append([]process{p}, chain...)
	}
	return chain
}

// A client was started in between.
var (
	old   = time.Unix(1000, 0)
	began = time.Unix(5000, 0)
	young = time.Unix(9000, 0)
)

var (
	initd    = process{pid: 1, comm: "systemd", session: 1}
	manager  = process{comm: "systemd", args: []string{"/lib/systemd/systemd", "--user"}, session: 50}
	gnome    = process{comm: "gnome-terminal-", args: []string{"/usr/libexec/gnome-terminal-server"}, session: 60}
	claude   = process{comm: "claude", session: 70}
	tool     = process{comm: "bash", session: 80, env: []string{"AI_AGENT=claude-code_2-1-329_agent", "CLAUDECODE=1"}}
	clean    = process{comm: "sh", session: 80}
	program_ = process{comm: "fsmtx", session: 80}
)

// typed returns a shell with a terminal and, in its foreground, the program.
func typed(shell string, in string) []process {
	return []process{
		{pid: 900, comm: shell, session: 900, group: 900, foreground: 901, terminal: in},
		{pid: 901, comm: "fsmtx", session: 900, group: 901, foreground: 901, terminal: in},
	}
}

// under returns the processes of a shell with a terminal, typed into below these.
func under(shell, in string, above ...process) []process {
	return chainOf(append(above, typed(shell, in)...)...)
}

func TestWhoCalls(t *testing.T) {
	const pts = "/dev/pts/3"
	for name, c := range map[string]struct {
		chain []process
		env   map[string]string
		want  Kind
		why   string
	}{
		"the agent's shell": {chain: chainOf(initd, manager, gnome, claude, tool, program_), want: Agent,
			why: "claude (process 103) is above it"},
		"without its variables": {chain: chainOf(initd, manager, gnome, claude, clean, program_), want: Agent, why: "claude"},
		"the client as a script of Node": {chain: chainOf(initd, gnome, process{comm: "node",
			args: []string{"node", "--max-old-space-size=1", "/usr/bin/claude"}}, clean, program_), want: Agent, why: "node"},
		"the client's package": {chain: chainOf(initd, gnome,
			process{comm: "MainThread", args: []string{"/opt/node_modules/@anthropic-ai/claude-code/bin/x"}}, program_), want: Agent},
		"the client in the package of the SDK": {chain: chainOf(initd, gnome,
			process{comm: "node", args: []string{"node", "/opt/node_modules/@anthropic-ai/claude-agent-sdk/cli.js"}}, program_), want: Agent},
		"a shell script of that name": {chain: chainOf(initd, gnome,
			process{comm: "claude", args: []string{"/bin/sh", "/tmp/claude", "-p"}}, program_), want: Agent},
		"codex": {chain: chainOf(initd, gnome, process{comm: "codex"}, clean, program_), want: Agent},
		"copilot, whose thread has another name": {chain: chainOf(initd, gnome,
			process{comm: "MainThread", args: []string{"/usr/local/bin/copilot", "-p"}}, program_), want: Agent},
		"gemini": {chain: chainOf(initd, gnome, process{comm: "node", args: []string{"/usr/bin/node", "/usr/bin/gemini"}}, program_),
			want: Agent},

		"only the environment shows an agent": {chain: under("bash", pts, initd, gnome),
			env: map[string]string{"GEMINI_CLI": "1"}, want: Agent, why: "GEMINI_CLI is set"},
		"only that of a process above shows one": {chain: under("bash", pts, initd, gnome, tool), want: Agent, why: "in the environment of bash"},
		"a terminal that the agent has made":     {chain: under("sh", pts, initd, gnome, claude, clean, process{comm: "script"}), want: Agent},

		"a terminal of GNOME": {chain: under("zsh", pts, initd, manager, gnome), want: Person, why: "foreground of " + pts},
		"a terminal that was opened since, below the desktop": {chain: under("zsh", pts, initd, manager, process{comm: "gnome-shell"},
			process{comm: "xterm", began: young}), want: Person},
		"ssh":       {chain: under("bash", pts, initd, process{comm: "sshd"}, process{comm: "sshd", began: young}), want: Person},
		"a console": {chain: under("bash", "/dev/tty1", initd, process{comm: "login"}), want: Person},
		"a shell that is a container's first": {chain: chainOf(process{pid: 1, comm: "bash", session: 1, group: 1, foreground: 9,
			terminal: pts}, process{pid: 9, comm: "fsmtx", session: 1, group: 9, foreground: 9, terminal: pts}), want: Person},
		"a shell put into a container": {chain: under("bash", pts, process{comm: "bash", began: young}), want: Person},
		"other users' processes are hidden": {chain: under("bash", pts, process{pid: 77, hidden: true, parent: 1, began: young}),
			want: Person},
		"an old shell whose terminal has gone": {chain: under("bash", pts, initd), want: Person},
		"a session of tmux that is older":      {chain: under("bash", pts, initd, process{comm: "tmux: server", session: 300}), want: Person},
		"VS Code Remote": {chain: under("bash", pts, initd, process{comm: "node", args: []string{"node", "out/server-main.js"}}),
			want: Person},

		"an agent's variable that is empty": {chain: under("bash", pts, initd, gnome),
			env: map[string]string{"GEMINI_CLI": "", "CLAUDECODE": ""}, want: Person},
		"in the background of a terminal": {chain: chainOf(initd, gnome, process{pid: 900, comm: "bash", session: 900, terminal: pts},
			process{comm: "fsmtx", session: 900, group: 901, foreground: 900, terminal: pts}), want: Script, why: "not in the foreground"},
		"a script over ssh": {chain: chainOf(initd, process{comm: "sshd"}, process{comm: "bash"}, program_), want: Script,
			why: "not in the foreground of a terminal"},
		"su -c, which leaves the terminal": {chain: chainOf(initd, gnome, process{pid: 900, comm: "bash", session: 900, terminal: pts},
			process{comm: "su"}, process{pid: 902, comm: "bash", session: 902}, process{comm: "fsmtx", session: 902}), want: Script,
			why: "not in the foreground of a terminal"},
		"a service of the machine": {chain: chainOf(process{pid: 1, comm: "api"}, process{comm: "backend"},
			process{comm: "bash", session: 300}, program_), want: Script},
		"a job with a terminal": {chain: under("bash", pts, initd, process{comm: "runner"}),
			env: map[string]string{"CI": "true"}, want: Script, why: "CI is set"},

		"a service of a container that is not the first": {chain: chainOf(process{pid: 1, comm: "init"}, process{comm: "backend", began: young},
			process{comm: "bash", session: 300}, program_), want: Script},
	} {
		t.Run(name, func(t *testing.T) {
			lookup := func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }
			got := identify(c.chain, lookup)
			assert.Equal(t, c.want, got.Kind, got.Why)
			assert.Contains(t, got.Why, c.why)
			assert.Equal(t, c.want == Person, got.Terminal != "")
			assert.Equal(t, c.want == Person, got.Leader != 0)
			assert.False(t, got.Young)
			assert.Equal(t, got, got.Beside(time.Time{}), "no client works on the list")
		})
	}
}

// TestAPersonIsNotRefused: a client that began at 5000 works on the list. Whoever is taken for a person decides;
// one who is asked decides when they have typed a word; who is refused has no terminal.
func TestAPersonIsNotRefused(t *testing.T) {
	const person, asked, refused, script, agent = "person", "asked", "refused", "script", "agent"
	const pts = "/dev/pts/3"
	late := func(comm string) process { return process{comm: comm, began: young} }
	alone := func(p process) process { p.session = 300; return p }
	init1 := process{pid: 1, comm: "init"}
	for name, c := range map[string]struct {
		want  string
		chain []process
	}{
		"a terminal that is older":               {person, under("zsh", pts, initd, manager, gnome)},
		"a new window of it":                     {person, under("zsh", pts, initd, manager, gnome, late("sh"))},
		"a terminal program that began later":    {asked, under("zsh", pts, initd, manager, late("kitty"))},
		"below a desktop that is older":          {person, under("zsh", pts, initd, manager, process{comm: "gnome-shell"}, late("xterm"))},
		"VS Code's terminal":                     {person, under("zsh", pts, initd, manager, process{comm: "code"})},
		"VS Code's terminal, opened later":       {asked, under("zsh", pts, initd, manager, late("code"))},
		"ssh":                                    {person, under("bash", pts, initd, process{comm: "sshd"}, late("sshd"))},
		"ssh after its daemon was started again": {asked, under("bash", pts, initd, late("sshd"), late("sshd"))},
		"below a process of another user":        {person, under("bash", pts, process{pid: 77, hidden: true, parent: 1, began: young})},
		"a console":                              {asked, under("bash", "/dev/tty1", initd, late("login"))},
		"a console that is older":                {person, under("bash", "/dev/tty1", initd, process{comm: "login"})},
		"tmux that is older":                     {person, under("bash", pts, initd, alone(process{comm: "tmux: server"}))},
		"tmux that was started later":            {asked, under("bash", pts, initd, alone(late("tmux: server")))},
		"screen -d -m":                           {asked, under("bash", pts, initd, alone(late("screen")))},
		"su":                                     {person, under("bash", pts, initd, gnome, process{comm: "bash"}, late("su"))},
		"sudo, in a terminal of its own":         {person, under("sh", pts, initd, gnome, process{comm: "bash"}, late("sudo"))},
		"sudo in a terminal program of later":    {asked, under("sh", pts, initd, late("kitty"), late("sudo"))},
		"docker exec":                            {person, under("bash", pts, late("bash"))},
		"a terminal that a service offers":       {asked, under("bash", pts, init1, late("ttyd"))},
		"a second window of WSL":                 {asked, under("bash", pts, init1, late("SessionLeader"), late("Relay(9)"))},
		"Terminal.app, opened later": {asked, under("zsh", "/dev/ttys003", process{pid: 1, comm: "launchd"}, late("Terminal"),
			late("login"))},
		"an old shell whose terminal program has gone": {person, under("bash", pts, initd)},

		"an orphan": {refused, chainOf(initd, alone(late("fsmtx")))},
		"an orphan that the user's manager adopted": {refused, chainOf(initd, manager, late("sh"), program_)},
		"an orphan that is older":                   {script, chainOf(initd, manager, process{comm: "sh"}, program_)},
		"an orphan that has made a terminal":        {asked, under("sh", pts, initd, alone(late("script")))},
		"an orphan that has become another user":    {asked, under("sh", pts, initd, alone(late("sudo")), process{comm: "script"})},
		"a terminal that the agent has made":        {agent, under("sh", pts, initd, gnome, claude, clean, process{comm: "script"})},
		"a terminal with its variables": {agent, under("sh", pts, initd, process{comm: "tmux: server", began: young,
			env: []string{"CLAUDECODE=1"}})},
	} {
		t.Run(name, func(t *testing.T) {
			lookup := func(string) (string, bool) { return "", false }
			got := identify(c.chain, lookup).Beside(began)
			var is string
			switch {
			case got.Kind == Agent:
				is = agent
			case got.Kind == Unknown:
				is = refused
				assert.Contains(t, got.Why, "it began after an agent that works on this list")
			case got.Kind == Script:
				is = script
			case got.Young:
				is = asked
			default:
				is = person
			}
			assert.Equal(t, c.want, is, got.Why)
			for _, other := range []time.Time{{}, young.Add(1)} { // none works on the list, or one that began after everything
				if alone := identify(c.chain, lookup).Beside(other); is == asked {
					assert.Equal(t, Person, alone.Kind)
					assert.False(t, alone.Young)
				} else if is == refused {
					assert.Equal(t, Script, alone.Kind)
				}
			}
		})
	}
}

// TestAClientThatAnAgentHasStarted: the agent could answer for its person, who is not asked.
func TestAClientThatAnAgentHasStarted(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	script := process{comm: "python3", env: []string{"CLAUDECODE=1"}}
	bare := process{comm: "python3"}
	for name, c := range map[string]struct {
		chain  []process
		nested bool
	}{
		"its own":                         {chainOf(initd, gnome, claude, program_), false},
		"by a script in its shell":        {chainOf(initd, gnome, claude, tool, script, claude, program_), true},
		"without its variables":           {chainOf(initd, gnome, claude, clean, bare, claude, program_), true},
		"by an orphan with its variables": {chainOf(initd, script, claude, program_), true},
		"by another agent":                {chainOf(initd, gnome, process{comm: "codex"}, clean, claude, program_), true},
		"another agent by it":             {chainOf(initd, gnome, claude, tool, process{comm: "codex"}, program_), true},
		"itself again":                    {chainOf(initd, gnome, claude, claude, program_), false},
		"by the program of a desktop":     {chainOf(initd, process{comm: "Claude"}, process{comm: "helper"}, claude, program_), false},
		"by a script of its name, with a way": {chainOf(initd, gnome, process{comm: "claude", args: []string{"/bin/sh", "/usr/bin/claude"}},
			process{comm: "timeout"}, claude, program_), false},
	} {
		got := identify(c.chain, none)
		assert.Equal(t, Agent, got.Kind, name)
		assert.Equal(t, c.nested, got.Nested, name)
		assert.Equal(t, !c.nested, got.FromClient(), name)
		if c.nested {
			assert.Contains(t, got.Why, "was started by an agent: ", name)
		}
	}
}

// Not every word that resembles an agent is one.
func TestWhatIsNoAgent(t *testing.T) {
	for name, p := range map[string]process{
		"an editor with a file of that name": {comm: "vim", args: []string{"vim", "claude"}},
		"a text that names it":               {comm: "bash", args: []string{"bash", "-c", "claude"}},
		"a directory of that name":           {comm: "x", args: []string{"/home/claude/x"}},
		"a longer name":                      {comm: "claudette"},
	} {
		assert.Empty(t, agentOf(p), name)
	}
}

// The shell of the agent is told from the client's hooks, which its processes are not
// above.
func TestTheAgentsShell(t *testing.T) {
	for name, c := range map[string]struct {
		chain []process
		env   string
		shell bool
	}{
		"a hook": {chainOf(initd, gnome, claude, process{comm: "sh", env: []string{"AI_AGENT=claude-code_2_harness"}},
			program_), "claude-code_2_harness", false},
		"the shell":                    {chainOf(initd, gnome, claude, tool, program_), "claude-code_2_agent", true},
		"the shell, dressed as a hook": {chainOf(initd, gnome, claude, tool, program_), "claude-code_2_harness", true},
		"a client below a client":      {chainOf(initd, gnome, claude, tool, claude, program_), "claude-code_2_harness", false},
		"a hook of another one of its team": {chainOf(initd, process{comm: "tmux: server", session: 300}, process{comm: "2.1.329",
			args: []string{"/home/me/.local/share/claude/versions/2.1.329", "--agent-id", "one@team"}}, program_), "claude-code_2_harness", false},
	} {
		got := identify(c.chain, func(string) (string, bool) { return c.env, true })
		assert.Equal(t, Claude, got.Program, name)
		assert.Equal(t, c.shell, got.Shell, name)
		assert.Equal(t, c.shell, got.Imitates(), name)
	}
	assert.False(t, Caller{Kind: Script}.Imitates())
	assert.False(t, Caller{Kind: Unknown}.Imitates(), "it may be a client that is not known")
	assert.False(t, Caller{Kind: Agent, Shell: true}.Imitates(), "no process shows the client")

	// Another agent leaves the variable as Claude Code's shell has set it.
	shell := func(string) (string, bool) { return "claude-code_2_agent", true }
	hook := identify(chainOf(initd, gnome, claude, tool, process{comm: "codex"}, program_), shell)
	assert.Equal(t, "codex", hook.Program)
	assert.False(t, hook.Imitates(), "a hook of an agent that the agent has started")
	gemini := func(name string) (string, bool) { return map[string]string{"GEMINI_CLI": "1"}[name], true }
	assert.False(t, identifyByEnvironment(gemini, nil).Imitates(), "no process can be read")
}

// TestServersOfOtherAgents: an agent without Claude Code's variables is the parent of its hooks and servers. What a
// command of its shell starts could play the person.
func TestServersOfOtherAgents(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	for _, agent := range []process{{comm: "codex"}, {comm: "MainThread", args: []string{"/usr/local/bin/copilot"}},
		{comm: "node", args: []string{"node", "/usr/bin/gemini"}}, {comm: "opencode"}} {
		server := identify(chainOf(initd, gnome, agent, program_), none)
		assert.True(t, server.FromClient(), agent)
		twice := identify(chainOf(initd, gnome, agent, agent, program_), none)
		assert.True(t, twice.FromClient(), "%v has started itself again", agent)
		line := shell.GuardWell("/bin/fsmtx", []string{"hook", "--agent=codex"})
		reporting := shell.GuardWellReporting("/bin/fsmtx", []string{"hook"}, "it's gone") + " # form 1"
		for text, is := range map[string]bool{line: true, reporting: true, line + " <event.json": false, line + "; true; x": false,
			"fsmtx complete 1 || exit 0": false, "other hook || exit 0": false, "cat event | fsmtx hook": false} {
			hook := process{comm: "bash", args: []string{"/bin/bash", "--norc", "-c", text}}
			assert.Equal(t, is, identify(chainOf(initd, gnome, agent, hook, program_), none).FromClient(), "%v: %s", agent, text)
			below := identify(chainOf(initd, gnome, agent, clean, hook, program_), none)
			assert.False(t, below.FromClient(), "a shell of the agent has started it")
		}
		for _, between := range []process{clean, {comm: "python3"}, {comm: "timeout"}} {
			command := identify(chainOf(initd, gnome, agent, between, program_), none)
			assert.Equal(t, Agent, command.Kind, agent)
			assert.False(t, command.FromClient(), "%v %v", agent, between)
			assert.False(t, command.Imitates())
		}
	}
}
