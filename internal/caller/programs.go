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
