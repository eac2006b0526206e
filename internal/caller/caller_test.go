package caller

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

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
		if p.uid == 0 && p.pid != 1 {
			p.uid = me
		}
		if p.uid == root {
			p.uid = 0
		}
		chain = append([]process{p}, chain...)
	}
	return chain
}

const (
	me   = 1000
	root = -1
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

func with(all []process, more ...process) []process {
	return append(append([]process{}, all...), more...)
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

		"only the environment shows an agent": {chain: chainOf(with([]process{initd, gnome}, typed("bash", pts)...)...),
			env: map[string]string{"GEMINI_CLI": "1"}, want: Agent, why: "GEMINI_CLI is set"},
		"only that of a process above shows one": {chain: chainOf(with([]process{initd, gnome, tool}, typed("bash", pts)...)...),
			want: Agent, why: "in the environment of bash"},
		"a terminal that the agent has made": {chain: chainOf(with([]process{initd, gnome, claude, clean, {comm: "script"}},
			typed("sh", pts)...)...), want: Agent},

		"a terminal of GNOME": {chain: chainOf(with([]process{initd, manager, gnome}, typed("zsh", pts)...)...),
			want: Person, why: "foreground of " + pts},
		"below a window manager": {chain: chainOf(with([]process{initd, {comm: "sddm-helper", uid: root}, {comm: "sway"},
			{comm: "strangeterm", session: 61}}, typed("zsh", pts)...)...), want: Person},
		"ssh": {chain: chainOf(with([]process{initd, {comm: "sshd", uid: root}, {comm: "sshd"}},
			typed("bash", pts)...)...), want: Person},
		"a console": {chain: chainOf(with([]process{initd, {comm: "login", uid: root}},
			typed("bash", "/dev/tty1")...)...), want: Person},
		"a shell that is a container's first": {chain: chainOf(process{pid: 1, comm: "bash", session: 1, group: 1, foreground: 9,
			terminal: pts}, process{pid: 9, comm: "fsmtx", session: 1, group: 9, foreground: 9, terminal: pts}), want: Person},
		"a shell put into a container": {chain: chainOf(typed("bash", pts)...), want: Person},
		"other users' processes are hidden": {chain: chainOf(with([]process{{pid: 77, hidden: true, parent: 1}}, typed("bash", pts)...)...),
			want: Person},
		"a pseudo-terminal of a service": {chain: chainOf(with([]process{{pid: 1, comm: "api"}, {comm: "backend"},
			{comm: "bash", session: 300}, {comm: "script", session: 300}}, typed("sh", pts)...)...), want: Person},

		"in the background of a terminal": {chain: chainOf(initd, gnome, process{pid: 900, comm: "bash", session: 900, terminal: pts},
			process{comm: "fsmtx", session: 900, group: 901, foreground: 900, terminal: pts}), want: Script},
		"a script over ssh": {chain: chainOf(initd, process{comm: "sshd", uid: root}, process{comm: "bash"}, program_), want: Script,
			why: "no terminal"},
		"a service of the machine": {chain: chainOf(process{pid: 1, comm: "api"}, process{comm: "backend"},
			process{comm: "bash", session: 300}, program_), want: Script},

		"an orphan": {chain: chainOf(initd, program_), want: Unknown,
			why: "fsmtx (process 101) is a child of systemd (process 1)"},
		"an orphan in the session of the first":     {chain: chainOf(process{pid: 1, comm: "api"}, process{comm: "fsmtx"}), want: Unknown},
		"an orphan that the user's manager adopted": {chain: chainOf(initd, manager, clean, program_), want: Unknown},
		"an orphan that has made a terminal": {chain: chainOf(with([]process{initd, {comm: "script", session: 300}},
			typed("sh", pts)...)...), want: Unknown},
		"and runs below a shell": {chain: chainOf(with([]process{{pid: 1, comm: "api"}, {comm: "sh", session: 300},
			{comm: "script", session: 300}}, typed("sh", pts)...)...), want: Unknown},
		"an orphan that has become another user": {chain: chainOf(with([]process{initd, {comm: "sudo", uid: root, session: 300},
			{comm: "script", session: 300}}, typed("sh", pts)...)...), want: Unknown},
		"the session of tmux, which nobody looks at": {chain: chainOf(with([]process{initd, {comm: "tmux: server", session: 300}},
			typed("bash", pts)...)...), want: Unknown},
		"a time of at": {chain: chainOf(initd, process{comm: "atd", uid: root}, clean, program_), want: Unknown, why: "atd"},
		"a time of cron, with a terminal": {chain: chainOf(with([]process{initd, {comm: "cron", uid: root}, {comm: "script"}},
			typed("sh", pts)...)...), want: Unknown, why: "cron"},
	} {
		t.Run(name, func(t *testing.T) {
			got := judge(c.chain, func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }, me)
			assert.Equal(t, c.want, got.Kind, got.Why)
			assert.Contains(t, got.Why, c.why)
			assert.Equal(t, c.want == Person, got.Terminal != "")
		})
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
		got := judge(c.chain, func(string) (string, bool) { return c.env, true }, me)
		assert.Equal(t, Claude, got.Program, name)
		assert.Equal(t, c.shell, got.Shell, name)
		assert.Equal(t, c.shell, got.Imitates(), name)
	}
	assert.False(t, Caller{Kind: Script}.Imitates())
	assert.False(t, Caller{Kind: Unknown}.Imitates(), "it may be a client that is not known")
	assert.False(t, Caller{Kind: Agent, Shell: true}.Imitates(), "no process shows the client")

	// Another agent leaves the variable as Claude Code's shell has set it.
	shell := func(string) (string, bool) { return "claude-code_2_agent", true }
	hook := judge(chainOf(initd, gnome, claude, tool, process{comm: "codex"}, program_), shell, me)
	assert.Equal(t, "codex", hook.Program)
	assert.False(t, hook.Imitates(), "a hook of an agent that the agent has started")
	gemini := func(name string) (string, bool) { return map[string]string{"GEMINI_CLI": "1"}[name], true }
	assert.False(t, judgeUnread(gemini, nil).Imitates(), "no process can be read")
}

// TestServersOfOtherAgents: an agent without Claude Code's variables is the parent of its hooks and servers. What a
// command of its shell starts could play the person.
func TestServersOfOtherAgents(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	for _, agent := range []process{{comm: "codex"}, {comm: "MainThread", args: []string{"/usr/local/bin/copilot"}},
		{comm: "node", args: []string{"node", "/usr/bin/gemini"}}, {comm: "opencode"}} {
		server := judge(chainOf(initd, gnome, agent, program_), none, me)
		assert.True(t, server.FromClient(), agent)
		twice := judge(chainOf(initd, gnome, agent, agent, program_), none, me)
		assert.True(t, twice.FromClient(), "%v has started itself again", agent)
		for _, between := range []process{clean, {comm: "python3"}, {comm: "timeout"}} {
			command := judge(chainOf(initd, gnome, agent, between, program_), none, me)
			assert.Equal(t, Agent, command.Kind, agent)
			assert.False(t, command.FromClient(), "%v %v", agent, between)
			assert.False(t, command.Imitates())
		}
	}
}
