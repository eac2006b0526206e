package caller

import (
	"path/filepath"
	"slices"
	"strings"
)

// identity is by what the processes of an agent are known.
type identity struct {
	name      string   // of its program
	paths     []string // one of them is in the path of its program if that has another name
	variables []string // that only its processes have
}

// identities has one row for each agent, those without hooks too.
func identities() []identity {
	return []identity{
		// The file of an installed version is named as the version; the client starts others of its team by it.
		{Claude, []string{"@anthropic-ai/claude-code", "@anthropic-ai/claude-agent-sdk", "claude/versions"},
			[]string{"CLAUDECODE", aiAgent, "CLAUDE_PID"}},
		{"codex", []string{"@openai/codex"}, []string{"CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_CI"}},
		{"copilot", []string{"@github/copilot"}, []string{"COPILOT_CLI", "COPILOT_AGENT_SESSION_ID"}},
		{"gemini", []string{"@google/gemini-cli"}, []string{"GEMINI_CLI"}},
		{"qwen", []string{"@qwen-code/qwen-code"}, []string{"QWEN_CODE"}},
		{"opencode", []string{"opencode-ai"}, []string{"OPENCODE", "OPENCODE_PID"}},
		{"cline", nil, []string{"CLINE_CONNECTOR_CLI_LAUNCH"}},
	}
}

// Programs returns the names of the agents that are known.
func Programs() (names []string) {
	for _, a := range identities() {
		names = append(names, a.name)
	}
	return names
}

// Variables returns the names of the variables that only the processes of an agent have.
func Variables() (names []string) {
	for _, a := range identities() {
		names = append(names, a.variables...)
	}
	return names
}

// Claude is Claude Code, which can ask its person before a command runs.
const Claude = "claude"

// agentOf returns the agent that the process is, empty if it is none. The program may be
// the agent itself, or an interpreter that runs it.
func agentOf(p process) string {
	texts := []string{p.comm}
	if len(p.args) > 0 {
		texts = append(texts, p.args[0], scriptOf(p.args))
	}
	for _, text := range texts {
		for _, a := range identities() {
			if slices.ContainsFunc(a.paths, func(path string) bool { return strings.Contains(text, "/"+path+"/") }) {
				return a.name
			}
		}
		name := strings.ToLower(filepath.Base(text))
		name = strings.TrimSuffix(name, filepath.Ext(name))
		if slices.Contains(Programs(), name) {
			return name
		}
	}
	return ""
}

// scriptOf returns the file that an interpreter runs, empty if the program is none or runs
// a text of its command line.
func scriptOf(args []string) string {
	name := strings.TrimRight(strings.TrimPrefix(filepath.Base(args[0]), "-"), "0123456789.")
	if !slices.Contains([]string{"node", "nodejs", "bun", "deno", "sh", "bash", "dash", "zsh", "ksh", "python", "ruby", "perl", "env"}, name) {
		return ""
	}
	for _, arg := range args[1:] {
		switch {
		case !strings.HasPrefix(arg, "-"):
			return arg
		case strings.HasPrefix(arg, "--"):
		case strings.ContainsAny(arg, "cep"):
			return ""
		}
	}
	return ""
}

// schedulers run a command later, for whoever asked them to.
func schedulers() []string {
	return []string{"atd", "at", "batch", "cron", "crond", "anacron", "fcron", "dcron"}
}

// changers run a command as another user, for whoever may do so without a password too.
func changers() []string {
	return []string{"sudo", "su", "doas", "pkexec", "runuser", "setpriv", "newgrp", "sg", "machinectl", "systemd-run"}
}

// terminals are the programs that give a person a terminal, and the logins below which one
// works. tmux and screen are not among them: their server outlives the terminal from which
// it was started, and an agent can start one.
func terminals() []string {
	return []string{
		"sshd", "sshd-session", "login", "mosh-server", "telnetd", "dropbear", "getty", "agetty", "weston", "ttyd",
		"gnome-terminal-server", "gnome-terminal-", "gnome-console", "kgx", "ptyxis", "ptyxis-agent", "konsole", "yakuake", "xterm", "uxterm",
		"urxvt", "urxvtd", "rxvt", "st", "foot", "footclient", "alacritty", "kitty", "ghostty", "wezterm", "wezterm-gui", "wezterm-mux-server",
		"terminator", "tilix", "guake", "xfce4-terminal", "mate-terminal", "lxterminal", "qterminal", "deepin-terminal", "terminology",
		"cool-retro-term", "rio", "contour", "warp", "warp-terminal", "hyper", "tabby", "blackbox", "cosmic-term", "zutty",
		"terminal", "iterm2", "iterm", "itermserver", "code", "code-insiders", "codium", "code helper", "idea", "goland", "pycharm",
		"webstorm", "emacs",
	}
}
