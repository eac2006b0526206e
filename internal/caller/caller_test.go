package caller

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// at makes processes from the top down: each is the child of the one before it.
func chainOf(all ...Process) []Process {
	var chain []Process
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
		chain = append([]Process{p}, chain...)
	}
	return chain
}

const (
	me   = 1000
	root = -1
)

var (
	initd    = Process{PID: 1, Name: "systemd", Session: 1}
	manager  = Process{Name: "systemd", Args: []string{"/lib/systemd/systemd", "--user"}, Session: 50}
	gnome    = Process{Name: "gnome-terminal-", Args: []string{"/usr/libexec/gnome-terminal-server"}, Session: 60}
	claude   = Process{Name: "claude", Session: 70}
	tool     = Process{Name: "bash", Session: 80, Env: []string{"AI_AGENT=claude-code_2-1-329_agent", "CLAUDECODE=1"}}
	clean    = Process{Name: "sh", Session: 80}
	program_ = Process{Name: "fsmtx", Session: 80}
)

// typed returns a shell with a terminal and, in its foreground, the program.
func typed(shell string, in string) []Process {
	return []Process{
		{PID: 900, Name: shell, Session: 900, Group: 900, Foreground: 901, Terminal: in},
		{PID: 901, Name: "fsmtx", Session: 900, Group: 901, Foreground: 901, Terminal: in},
	}
}

func with(all []Process, more ...Process) []Process {
	return append(append([]Process{}, all...), more...)
}

func TestWhoCalls(t *testing.T) {
	const pts = "/dev/pts/3"
	for name, c := range map[string]struct {
		chain []Process
		env   map[string]string
		want  Kind
		why   string
	}{
		"the agent's shell":                      {chain: chainOf(initd, manager, gnome, claude, tool, program_), want: Agent, why: "claude (process 103) is above it"},
		"without its variables":                  {chain: chainOf(initd, manager, gnome, claude, clean, program_), want: Agent, why: "claude"},
		"the client as a script of Node":         {chain: chainOf(initd, gnome, Process{Name: "node", Args: []string{"node", "--max-old-space-size=1", "/usr/bin/claude"}}, clean, program_), want: Agent, why: "node"},
		"the client's package":                   {chain: chainOf(initd, gnome, Process{Name: "MainThread", Args: []string{"/opt/node_modules/@anthropic-ai/claude-code/bin/x"}}, program_), want: Agent},
		"a shell script of that name":            {chain: chainOf(initd, gnome, Process{Name: "claude", Args: []string{"/bin/sh", "/tmp/claude", "-p"}}, program_), want: Agent},
		"codex":                                  {chain: chainOf(initd, gnome, Process{Name: "codex"}, clean, program_), want: Agent},
		"copilot, whose thread has another name": {chain: chainOf(initd, gnome, Process{Name: "MainThread", Args: []string{"/usr/local/bin/copilot", "-p"}}, program_), want: Agent},
		"gemini":                                 {chain: chainOf(initd, gnome, Process{Name: "node", Args: []string{"/usr/bin/node", "/usr/bin/gemini"}}, program_), want: Agent},

		"only the environment shows an agent":    {chain: chainOf(with([]Process{initd, gnome}, typed("bash", pts)...)...), env: map[string]string{"GEMINI_CLI": "1"}, want: Agent, why: "GEMINI_CLI is set"},
		"only that of a process above shows one": {chain: chainOf(with([]Process{initd, gnome, tool}, typed("bash", pts)...)...), want: Agent, why: "in the environment of bash"},
		"a terminal that the agent has made":     {chain: chainOf(with([]Process{initd, gnome, claude, clean, {Name: "script"}}, typed("sh", pts)...)...), want: Agent},

		"a terminal of GNOME":                 {chain: chainOf(with([]Process{initd, manager, gnome}, typed("zsh", pts)...)...), want: Person, why: "foreground of " + pts},
		"below a window manager":              {chain: chainOf(with([]Process{initd, {Name: "sddm-helper", UID: root}, {Name: "sway"}, {Name: "strangeterm", Session: 61}}, typed("zsh", pts)...)...), want: Person},
		"ssh":                                 {chain: chainOf(with([]Process{initd, {Name: "sshd", UID: root}, {Name: "sshd"}}, typed("bash", pts)...)...), want: Person},
		"a console":                           {chain: chainOf(with([]Process{initd, {Name: "login", UID: root}}, typed("bash", "/dev/tty1")...)...), want: Person},
		"a shell that is a container's first": {chain: chainOf(Process{PID: 1, Name: "bash", Session: 1, Group: 1, Foreground: 9, Terminal: pts}, Process{PID: 9, Name: "fsmtx", Session: 1, Group: 9, Foreground: 9, Terminal: pts}), want: Person},
		"a shell put into a container":        {chain: chainOf(typed("bash", pts)...), want: Person},
		"other users' processes are hidden":   {chain: chainOf(with([]Process{{PID: 77, Hidden: true, Parent: 1}}, typed("bash", pts)...)...), want: Person},
		"a pseudo-terminal of a service":      {chain: chainOf(with([]Process{{PID: 1, Name: "api"}, {Name: "backend"}, {Name: "bash", Session: 300}, {Name: "script", Session: 300}}, typed("sh", pts)...)...), want: Person},

		"in the background of a terminal": {chain: chainOf(initd, gnome, Process{PID: 900, Name: "bash", Session: 900, Terminal: pts}, Process{Name: "fsmtx", Session: 900, Group: 901, Foreground: 900, Terminal: pts}), want: Script},
		"a script over ssh":               {chain: chainOf(initd, Process{Name: "sshd", UID: root}, Process{Name: "bash"}, program_), want: Script, why: "no terminal"},
		"a service of the machine":        {chain: chainOf(Process{PID: 1, Name: "api"}, Process{Name: "backend"}, Process{Name: "bash", Session: 300}, program_), want: Script},

		"an orphan":                                  {chain: chainOf(initd, program_), want: Unknown, why: "fsmtx (process 101) is a child of systemd (process 1)"},
		"an orphan in the session of the first":      {chain: chainOf(Process{PID: 1, Name: "api"}, Process{Name: "fsmtx"}), want: Unknown},
		"an orphan that the user's manager adopted":  {chain: chainOf(initd, manager, clean, program_), want: Unknown},
		"an orphan that has made a terminal":         {chain: chainOf(with([]Process{initd, {Name: "script", Session: 300}}, typed("sh", pts)...)...), want: Unknown},
		"and runs below a shell":                     {chain: chainOf(with([]Process{{PID: 1, Name: "api"}, {Name: "sh", Session: 300}, {Name: "script", Session: 300}}, typed("sh", pts)...)...), want: Unknown},
		"an orphan that has become another user":     {chain: chainOf(with([]Process{initd, {Name: "sudo", UID: root, Session: 300}, {Name: "script", Session: 300}}, typed("sh", pts)...)...), want: Unknown},
		"the session of tmux, which nobody looks at": {chain: chainOf(with([]Process{initd, {Name: "tmux: server", Session: 300}}, typed("bash", pts)...)...), want: Unknown},
		"a time of at":                               {chain: chainOf(initd, Process{Name: "atd", UID: root}, clean, program_), want: Unknown, why: "atd"},
		"a time of cron, with a terminal":            {chain: chainOf(with([]Process{initd, {Name: "cron", UID: root}, {Name: "script"}}, typed("sh", pts)...)...), want: Unknown, why: "cron"},
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
	for name, p := range map[string]Process{
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
		chain []Process
		env   string
		shell bool
	}{
		"a hook":                       {chainOf(initd, gnome, claude, Process{Name: "sh", Env: []string{"AI_AGENT=claude-code_2_harness"}}, program_), "claude-code_2_harness", false},
		"the shell":                    {chainOf(initd, gnome, claude, tool, program_), "claude-code_2_agent", true},
		"the shell, dressed as a hook": {chainOf(initd, gnome, claude, tool, program_), "claude-code_2_harness", true},
		"a client below a client":      {chainOf(initd, gnome, claude, tool, claude, program_), "claude-code_2_harness", false},
	} {
		got := judge(c.chain, func(string) (string, bool) { return c.env, true }, me)
		assert.Equal(t, Claude, got.Program, name)
		assert.Equal(t, c.shell, got.Shell, name)
	}
}
