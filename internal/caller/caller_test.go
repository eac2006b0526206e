package caller

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// at makes processes from the top down: each is the child of the one before it.
func chainOf(all ...process) []process {
	var chain []process
	for i, p := range all {
		if p.PID == 0 {
			p.PID = 100 + i
		}
		if i > 0 && p.Parent == 0 {
			p.Parent = chain[0].PID
		}
		if p.UID == 0 && p.PID != 1 {
			p.UID = me
		}
		if p.UID == root {
			p.UID = 0
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
	initd    = process{PID: 1, Name: "systemd", Session: 1}
	manager  = process{Name: "systemd", Args: []string{"/lib/systemd/systemd", "--user"}, Session: 50}
	gnome    = process{Name: "gnome-terminal-", Args: []string{"/usr/libexec/gnome-terminal-server"}, Session: 60}
	claude   = process{Name: "claude", Session: 70}
	tool     = process{Name: "bash", Session: 80, Env: []string{"AI_AGENT=claude-code_2-1-329_agent", "CLAUDECODE=1"}}
	clean    = process{Name: "sh", Session: 80}
	program_ = process{Name: "fsmtx", Session: 80}
)

// typed returns a shell with a terminal and, in its foreground, the program.
func typed(shell string, in string) []process {
	return []process{
		{PID: 900, Name: shell, Session: 900, Group: 900, Foreground: 901, Terminal: in},
		{PID: 901, Name: "fsmtx", Session: 900, Group: 901, Foreground: 901, Terminal: in},
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
		"the client as a script of Node": {chain: chainOf(initd, gnome, process{Name: "node",
			Args: []string{"node", "--max-old-space-size=1", "/usr/bin/claude"}}, clean, program_), want: Agent, why: "node"},
		"the client's package": {chain: chainOf(initd, gnome,
			process{Name: "MainThread", Args: []string{"/opt/node_modules/@anthropic-ai/claude-code/bin/x"}}, program_), want: Agent},
		"the client in the package of the SDK": {chain: chainOf(initd, gnome,
			process{Name: "node", Args: []string{"node", "/opt/node_modules/@anthropic-ai/claude-agent-sdk/cli.js"}}, program_), want: Agent},
		"a shell script of that name": {chain: chainOf(initd, gnome,
			process{Name: "claude", Args: []string{"/bin/sh", "/tmp/claude", "-p"}}, program_), want: Agent},
		"codex": {chain: chainOf(initd, gnome, process{Name: "codex"}, clean, program_), want: Agent},
		"copilot, whose thread has another name": {chain: chainOf(initd, gnome,
			process{Name: "MainThread", Args: []string{"/usr/local/bin/copilot", "-p"}}, program_), want: Agent},
		"gemini": {chain: chainOf(initd, gnome, process{Name: "node", Args: []string{"/usr/bin/node", "/usr/bin/gemini"}}, program_),
			want: Agent},

		"only the environment shows an agent": {chain: chainOf(with([]process{initd, gnome}, typed("bash", pts)...)...),
			env: map[string]string{"GEMINI_CLI": "1"}, want: Agent, why: "GEMINI_CLI is set"},
		"only that of a process above shows one": {chain: chainOf(with([]process{initd, gnome, tool}, typed("bash", pts)...)...),
			want: Agent, why: "in the environment of bash"},
		"a terminal that the agent has made": {chain: chainOf(with([]process{initd, gnome, claude, clean, {Name: "script"}},
			typed("sh", pts)...)...), want: Agent},

		"a terminal of GNOME": {chain: chainOf(with([]process{initd, manager, gnome}, typed("zsh", pts)...)...),
			want: Person, why: "foreground of " + pts},
		"below a window manager": {chain: chainOf(with([]process{initd, {Name: "sddm-helper", UID: root}, {Name: "sway"},
			{Name: "strangeterm", Session: 61}}, typed("zsh", pts)...)...), want: Person},
		"ssh": {chain: chainOf(with([]process{initd, {Name: "sshd", UID: root}, {Name: "sshd"}},
			typed("bash", pts)...)...), want: Person},
		"a console": {chain: chainOf(with([]process{initd, {Name: "login", UID: root}},
			typed("bash", "/dev/tty1")...)...), want: Person},
		"a shell that is a container's first": {chain: chainOf(process{PID: 1, Name: "bash", Session: 1, Group: 1, Foreground: 9,
			Terminal: pts}, process{PID: 9, Name: "fsmtx", Session: 1, Group: 9, Foreground: 9, Terminal: pts}), want: Person},
		"a shell put into a container": {chain: chainOf(typed("bash", pts)...), want: Person},
		"other users' processes are hidden": {chain: chainOf(with([]process{{PID: 77, Hidden: true, Parent: 1}}, typed("bash", pts)...)...),
			want: Person},
		"a pseudo-terminal of a service": {chain: chainOf(with([]process{{PID: 1, Name: "api"}, {Name: "backend"},
			{Name: "bash", Session: 300}, {Name: "script", Session: 300}}, typed("sh", pts)...)...), want: Person},

		"in the background of a terminal": {chain: chainOf(initd, gnome, process{PID: 900, Name: "bash", Session: 900, Terminal: pts},
			process{Name: "fsmtx", Session: 900, Group: 901, Foreground: 900, Terminal: pts}), want: Script},
		"a script over ssh": {chain: chainOf(initd, process{Name: "sshd", UID: root}, process{Name: "bash"}, program_), want: Script,
			why: "no terminal"},
		"a service of the machine": {chain: chainOf(process{PID: 1, Name: "api"}, process{Name: "backend"},
			process{Name: "bash", Session: 300}, program_), want: Script},

		"an orphan": {chain: chainOf(initd, program_), want: Unknown,
			why: "fsmtx (process 101) is a child of systemd (process 1)"},
		"an orphan in the session of the first":     {chain: chainOf(process{PID: 1, Name: "api"}, process{Name: "fsmtx"}), want: Unknown},
		"an orphan that the user's manager adopted": {chain: chainOf(initd, manager, clean, program_), want: Unknown},
		"an orphan that has made a terminal": {chain: chainOf(with([]process{initd, {Name: "script", Session: 300}},
			typed("sh", pts)...)...), want: Unknown},
		"and runs below a shell": {chain: chainOf(with([]process{{PID: 1, Name: "api"}, {Name: "sh", Session: 300},
			{Name: "script", Session: 300}}, typed("sh", pts)...)...), want: Unknown},
		"an orphan that has become another user": {chain: chainOf(with([]process{initd, {Name: "sudo", UID: root, Session: 300},
			{Name: "script", Session: 300}}, typed("sh", pts)...)...), want: Unknown},
		"the session of tmux, which nobody looks at": {chain: chainOf(with([]process{initd, {Name: "tmux: server", Session: 300}},
			typed("bash", pts)...)...), want: Unknown},
		"a time of at": {chain: chainOf(initd, process{Name: "atd", UID: root}, clean, program_), want: Unknown, why: "atd"},
		"a time of cron, with a terminal": {chain: chainOf(with([]process{initd, {Name: "cron", UID: root}, {Name: "script"}},
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
		"an editor with a file of that name": {Name: "vim", Args: []string{"vim", "claude"}},
		"a text that names it":               {Name: "bash", Args: []string{"bash", "-c", "claude"}},
		"a directory of that name":           {Name: "x", Args: []string{"/home/claude/x"}},
		"a longer name":                      {Name: "claudette"},
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
		"a hook": {chainOf(initd, gnome, claude, process{Name: "sh", Env: []string{"AI_AGENT=claude-code_2_harness"}},
			program_), "claude-code_2_harness", false},
		"the shell":                    {chainOf(initd, gnome, claude, tool, program_), "claude-code_2_agent", true},
		"the shell, dressed as a hook": {chainOf(initd, gnome, claude, tool, program_), "claude-code_2_harness", true},
		"a client below a client":      {chainOf(initd, gnome, claude, tool, claude, program_), "claude-code_2_harness", false},
		"a hook of another one of its team": {chainOf(initd, process{Name: "tmux: server", Session: 300}, process{Name: "2.1.329",
			Args: []string{"/home/me/.local/share/claude/versions/2.1.329", "--agent-id", "one@team"}}, program_), "claude-code_2_harness", false},
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
	hook := judge(chainOf(initd, gnome, claude, tool, process{Name: "codex"}, program_), shell, me)
	assert.Equal(t, "codex", hook.Program)
	assert.False(t, hook.Imitates(), "a hook of an agent that the agent has started")
	gemini := func(name string) (string, bool) { return map[string]string{"GEMINI_CLI": "1"}[name], true }
	assert.False(t, judgeUnread(gemini, nil).Imitates(), "no process can be read")
}
