//go:build unix

package agents

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// Agent is a coding agent that tests run.
type Agent struct {
	Package realclient.Package
	Program string // its name, as fsmtx install has it
	path    string // below node_modules; .bin/Program if it is empty

	platform string // GOOS/GOARCH of the only platform for which it is pinned; empty for all

	// Events are the names of the agent's events at which it runs hooks in these tests; none if
	// it runs no hooks.
	Events []string

	skillTool string // takes up a skill; empty if the model reads its SKILL.md in the shell
	skillName string // the field of its input with the skill's name

	hooksFile string // of a person's hooks, relative to HOME
	hooksForm string // of that file, with %s for an object of hooks in Claude Code's form

	pluginDir    string                    // of the plugin p, relative to the world
	pluginFiles  [][2]string               // what makes that directory a plugin: paths relative to the world, and texts
	addPlugin    func(w *World) [][]string // the commands that install it; nil if its files are enough
	pluginPrefix string                    // of its skills' names

	serverFile   string // of a person's MCP servers, relative to HOME
	serverPrefix string // of the names of the tools of the server fsmtx
	resume       string // the arguments that resume the session before
	shell        string // the tool that runs a command
	input        func(command string) map[string]any
	prompt       func(url, prompt string) []string  // the arguments that send a prompt
	env          func(url string) map[string]string // where the model is
	files        func(w *World) map[string]string   // settings, by path relative to HOME
}

// String returns the agent's name and version.
func (a *Agent) String() string { return a.Program + " " + a.Package.Version }

// Bash is a call of the agent's tool that runs a shell command.
func (a *Agent) Bash(id, command string) fakemodel.Block {
	return fakemodel.Call(id, a.shell, a.input(command))
}

// TakeUp is the call by which the agent's model takes up a skill in .agents/skills.
func (a *Agent) TakeUp(id, skill string) fakemodel.Block {
	if a.skillTool == "" {
		return a.Bash(id, "cat .agents/skills/"+skill+"/SKILL.md")
	}
	return fakemodel.Call(id, a.skillTool, map[string]any{a.skillName: skill})
}

// AddPlugin installs a plugin that has the skill, and returns the call by which the agent's model
// takes it up. ok is false if the agent's plugins have no skills.
func (w *World) AddPlugin(id, skill string, files map[string]string) (call fakemodel.Block, ok bool) {
	w.t.Helper()
	if w.pluginDir == "" {
		return call, false
	}
	for _, f := range w.pluginFiles {
		w.Write(f[0], f[1])
	}
	for name, text := range files {
		w.Write(w.pluginDir+"/skills/"+skill+"/"+name, text)
	}
	if w.addPlugin != nil {
		for _, args := range w.addPlugin(w) {
			r := w.Command(args...)
			require.Zero(w.t, r.Code, "%q\n%v", args, r.Output)
		}
	}
	if w.skillTool == "" {
		return w.Bash(id, "cat ~/.codex/plugins/cache/mk/p/1.0.0/skills/"+skill+"/SKILL.md"), true
	}
	return w.TakeUp(id, w.pluginPrefix+skill), true
}

// PluginFile returns a file of the plugin, relative to the world.
func (a *Agent) PluginFile(name string) string { return a.pluginDir + "/" + name }

// PluginSkill returns the name by which the agent knows a skill of the plugin.
func (a *Agent) PluginSkill(skill string) string { return a.pluginPrefix + skill }

// Served is a call of a tool of the MCP server fsmtx.
func (a *Agent) Served(id, tool string, input map[string]any) fakemodel.Block {
	return fakemodel.Call(id, a.serverPrefix+tool, input)
}

// HooksFile returns the file with the person's hooks, relative to the world.
func (a *Agent) HooksFile() string { return "home/" + a.hooksFile }

// ServerFile returns the file with the person's MCP servers, relative to the world.
func (a *Agent) ServerFile() string { return "home/" + a.serverFile }

// claudeEvents are Claude Code's names.
var claudeEvents = []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"}

// All returns every agent.
func All() []*Agent { return []*Agent{Codex(), Copilot(), gemini(), Qwen(), OpenCode()} }

// Codex is OpenAI's Codex. It runs hooks that nobody has trusted.
func Codex() *Agent {
	return &Agent{
		Package: realclient.Codex, Program: "codex",
		Events: claudeEvents, hooksFile: ".codex/hooks.json", hooksForm: `{"hooks": %s}`,
		pluginDir: "home/mk/p",
		pluginFiles: [][2]string{
			{"home/mk/p/.claude-plugin/plugin.json", `{"name": "p", "version": "1.0.0", "description": "d"}`},
			{"home/mk/.claude-plugin/marketplace.json",
				`{"name": "mk", "owner": {"name": "x"}, "plugins": [{"name": "p", "source": "./p", "description": "d"}]}`},
		},
		addPlugin: func(w *World) [][]string {
			return [][]string{{"plugin", "marketplace", "add", w.Path("home/mk")}, {"plugin", "add", "p@mk"}}
		},
		pluginPrefix: "p:",
		serverFile:   ".codex/config.toml", serverPrefix: "mcp__fsmtx/",
		shell: "exec_command",
		input: func(command string) map[string]any { return map[string]any{"cmd": command} },
		prompt: func(url, prompt string) []string {
			return []string{"exec", "-c", `model_providers.fake.base_url="` + url + `/v1"`, "--skip-git-repo-check",
				"--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", "--", prompt}
		},
		files: func(w *World) map[string]string {
			return map[string]string{".codex/config.toml": fmt.Sprintf(`model = "gpt-5"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "http://127.0.0.1:9/v1"
wire_api = "responses"
requires_openai_auth = false
[projects.%q]
trust_level = "trusted"
`, w.Project)}
		},
	}
}

// Copilot is the GitHub Copilot CLI. It trusts the project.
func Copilot() *Agent {
	return &Agent{
		resume:  "--continue",
		Package: realclient.Package{Name: "@github/copilot", Version: "1.0.102"}, Program: "copilot",
		Events: claudeEvents, hooksFile: ".copilot/hooks/hooks.json", hooksForm: `{"version": 1, "hooks": %s}`,
		pluginDir: "home/mk/p",
		pluginFiles: [][2]string{
			{"home/mk/p/.claude-plugin/plugin.json", `{"name": "p", "version": "1.0.0", "description": "d"}`},
			{"home/mk/.claude-plugin/marketplace.json",
				`{"name": "mk", "owner": {"name": "x"}, "plugins": [{"name": "p", "source": "./p", "description": "d"}]}`},
		},
		addPlugin: func(w *World) [][]string {
			return [][]string{{"plugin", "marketplace", "add", w.Path("home/mk")}, {"plugin", "install", "p@mk"}}
		},
		serverFile: ".copilot/mcp-config.json", serverPrefix: "fsmtx-",
		skillTool: "skill", skillName: "skill",
		shell:  "bash",
		input:  func(command string) map[string]any { return map[string]any{"command": command, "description": "run"} },
		prompt: func(_, prompt string) []string { return []string{"--allow-all", "-p", prompt} },
		env: func(url string) map[string]string {
			return map[string]string{
				"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": url + "/v1", "COPILOT_PROVIDER_API_KEY": "no-key", "COPILOT_MODEL": "fake",
				"COPILOT_ALLOW_ALL": "true",
			}
		},
	}
}

// gemini is the Gemini CLI.
func gemini() *Agent {
	return &Agent{
		resume:  "--resume latest",
		Package: realclient.Package{Name: "@google/gemini-cli", Version: "0.61.0"}, Program: "gemini",
		Events:    []string{"SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent"},
		hooksFile: ".gemini/settings.json", hooksForm: `{"security": {"auth": {"selectedType": "gemini-api-key"}}, "hooks": %s}`,
		pluginDir: "home/.gemini/extensions/p", pluginFiles: [][2]string{{"home/.gemini/extensions/p/gemini-extension.json",
			`{"name": "p", "version": "1.0.0"}`}},
		serverFile: ".gemini/settings.json", serverPrefix: "mcp_fsmtx_",
		skillTool: "activate_skill", skillName: "name",
		shell: "run_shell_command",
		input: func(command string) map[string]any { return map[string]any{"command": command} },
		prompt: func(_, prompt string) []string {
			return []string{"-m", "gemini-2.5-flash", "--yolo", "--skip-trust", "-p", prompt}
		},
		env: func(url string) map[string]string {
			return map[string]string{"GEMINI_API_KEY": "no-key", "GOOGLE_GEMINI_BASE_URL": url}
		},
	}
}

// Qwen is Qwen Code.
func Qwen() *Agent {
	return &Agent{
		resume:  "--continue",
		Package: realclient.Package{Name: "@qwen-code/qwen-code", Version: "0.24.4"}, Program: "qwen",
		Events: claudeEvents, hooksFile: ".qwen/settings.json", hooksForm: `{"hooks": %s}`,
		pluginPrefix: "p:",
		pluginDir:    "home/.qwen/extensions/p", pluginFiles: [][2]string{{"home/.qwen/extensions/p/qwen-extension.json",
			`{"name": "p", "version": "1.0.0"}`}},
		serverFile: ".qwen/settings.json", serverPrefix: "mcp__fsmtx__",
		skillTool: "skill", skillName: "skill",
		shell:  "run_shell_command",
		input:  func(command string) map[string]any { return map[string]any{"command": command, "is_background": false} },
		prompt: func(_, prompt string) []string { return []string{"--yolo", "-p", prompt} },
		env: func(url string) map[string]string {
			return map[string]string{"OPENAI_API_KEY": "no-key", "OPENAI_BASE_URL": url + "/v1", "OPENAI_MODEL": "fake"}
		},
	}
}

// OpenCode is opencode, which runs no hooks. Its package is one for each platform; the one that
// the tests pin is that of Linux on amd64.
func OpenCode() *Agent {
	return &Agent{
		Package: realclient.Package{Name: "opencode-linux-x64", Version: "1.18.33"}, Program: "opencode",
		path: "opencode-linux-x64/bin/opencode", platform: "linux/amd64",
		serverFile: ".config/opencode/opencode.json", serverPrefix: "fsmtx_",
		skillTool: "skill", skillName: "name",
		shell:  "bash",
		input:  func(command string) map[string]any { return map[string]any{"command": command, "description": "run"} },
		prompt: func(_, prompt string) []string { return []string{"run", prompt} },
		env: func(url string) map[string]string {
			return map[string]string{"OPENCODE_CONFIG_CONTENT": fmt.Sprintf(`{
  "model": "fake/fake", "small_model": "fake/fake", "share": "disabled", "autoupdate": false, "permission": "allow",
  "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "fake", "options": {"baseURL": %q, "apiKey": "no-key"}, "models": {"fake": {"name": "fake", "tool_call": true}}}}
}`, url+"/v1")}
		},
	}
}
