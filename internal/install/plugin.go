package install

import (
	"cmp"
	_ "embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/testdata/workflows"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/rules"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/pattern"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/settings"
)

const (
	readmePath = "README.md"
	hooksPath  = "hooks/hooks.json"
	serverPath = ".mcp.json"
)

// errName is returned for a name that cannot be part of skill names and directories.
var errName = message.NewError("a plugin's name consists of lower-case letters and digits, separated by single hyphens",
	"for example: --name my-workflows")

var nameShape = pattern.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Plugin describes a plugin.
type Plugin struct {
	Name     string
	Version  string // of the programs, semantic and without "v"
	Programs []Program
	MCP      bool // it has the MCP server
	Drop     bool // remove programs for platforms that are not in Programs
	Parts    []Part
}

// Part is one feature of a plugin.
type Part struct {
	Hooks  []settings.Hook
	Files  fs.FS  // copied into the plugin's directory; may be nil
	Skills fs.FS  // folders that are copied below skills; may be nil
	Sample bool   // the files are examples, which are not written again after the author has removed them
	Brief  string // what the plugin is with this part, for its manifest; may be empty
	About  string // a paragraph of the plugin's README.md about what the hooks read and write
}

// Workflows is the part that turns a skill's workflow into tasks and, if the hooks say so,
// enforces its steps, with a sample skill. hooks are those of settings.Hooks.
func Workflows(hooks []settings.Hook) Part {
	about := "`hook` reads the folders of skills and plugins, and changes the session's task list\n" +
		"and a hidden directory beside it. When a session starts it finishes or rolls back a change\n" +
		"of the task list that was interrupted."
	if enforces(hooks) {
		about += "\n\nIt refuses a step before those that it depends on are done, and refuses to complete a\n" +
			"step whose gates do not pass; it reminds the agent of the steps that are left. It runs the\n" +
			"commands that a workflow declares as checks of its steps, with the rights of the client:\n" +
			"trust workflows only as far as you trust scripts. It records its decisions in `steps.jsonl`\n" +
			"in the list's hidden directory. A person can skip a step with `bin/fsmtx step skip`, or\n" +
			"mark it as done with `bin/fsmtx step done`."
	} else {
		about += "\n\nThe order of the steps is not enforced: this plugin was made with `--no-steps`."
	}
	return Part{Hooks: hooks, Files: Skills, Sample: true, About: about}
}

// enforces reports whether the hooks enforce the steps of workflows: they then have one for a
// task that is completed.
func enforces(hooks []settings.Hook) bool {
	return slices.ContainsFunc(hooks, func(h settings.Hook) bool { return h.Event == client.TaskCompleted })
}

// Planning is the part that enforces the rules of a planning workflow, for the plugin of
// this name in dir. If dir already has a configuration, it determines the matchers.
func Planning(name, dir string) Part {
	return Part{Hooks: rules.Hooks(Command, name, guard.PluginConfig(dir)), Files: rules.Files, Skills: workflows.Planning,
		Brief: "Plans a feature in nine phases, which are enforced as steps, and guards its decisions, lock, budget, spec and artifacts",
		About: "The skill `planning` plans a feature in nine phases, which are enforced as steps. Fourteen\n" +
			"guards hold what steps cannot say: `fsmtx guard list` shows them. They take the phase from\n" +
			"the current step, or without that skill from the state file. They read the feature's files and the session's\n" +
			"transcript. They write an audit log into the feature's folder, and counters and a log\n" +
			"into `PLANNING_STATE_DIR` (default `/tmp`). `config/planning-config.yaml` configures\n" +
			"them, and switches them off.\n\n" + guardTable()}
}

// guardTable is the list of the guards, as "fsmtx guard list" has it.
func guardTable() string {
	var b strings.Builder
	b.WriteString("| Guard | Event | What it does |\n| --- | --- | --- |\n")
	for _, r := range rules.All() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.ID, r.Event, r.Brief)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// SkillFiles is the part that keeps the agent from reading workflow files.
func SkillFiles() Part {
	return Part{Hooks: rules.SkillFileHooks(Command),
		About: "`guard skill-files` keeps the agent from reading `fsm.json` files, because it already has\ntheir content as tasks."}
}

// files returns the files of a new plugin in the order in which they must be written: the
// manifest first, so that an interrupted Write can be repeated; the hooks after the programs
// that they run; the version of the programs last, as a sign that the plugin is complete. It
// returns errName.
func (p Plugin) files() ([]file, error) {
	if !nameShape.Regexp().MatchString(p.Name) {
		return nil, fmt.Errorf("%q: %w", p.Name, errName)
	}
	manifest, err := p.manifest()
	if err != nil {
		return nil, err
	}
	files := []file{{path: client.ManifestPath, mode: 0o644, data: manifest}, {path: readmePath, mode: 0o644, data: p.readme()}}
	files = append(files, p.programs()...)
	for _, part := range p.Parts {
		if files, err = appendAll(files, part); err != nil {
			return nil, err
		}
	}
	hooksFile, err := settings.Add(nil, p.hooks())
	if err != nil {
		return nil, err
	}
	if p.MCP {
		server, err := settings.AddServer(nil, pluginServer())
		if err != nil {
			return nil, err
		}
		files = append(files, file{path: serverPath, mode: 0o644, data: server})
	}
	marketplace, err := p.marketplace()
	return append(files,
		file{path: hooksPath, mode: 0o644, data: hooksFile},
		file{path: client.MarketplacePath, mode: 0o644, data: marketplace, keep: true},
		file{path: programs.PluginVersion, mode: 0o644, data: []byte(p.Version + "\n")}), err
}

// hooks returns the hooks of all parts.
func (p Plugin) hooks() (hooks []settings.Hook) {
	for _, part := range p.Parts {
		hooks = append(hooks, part.Hooks...)
	}
	if p.onWindows() {
		return settings.ForWindows(hooks)
	}
	return hooks
}

// onWindows reports whether the plugin has a program for Windows.
func (p Plugin) onWindows() bool {
	return slices.ContainsFunc(p.Programs, func(one Program) bool { return one.Platform.isWindows() })
}

func appendAll(files []file, part Part) ([]file, error) {
	for i, from := range []fs.FS{part.Files, part.Skills} {
		if from == nil {
			continue
		}
		dir := [...]string{".", "skills"}[i]
		err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := fs.ReadFile(from, name)
			files = append(files, file{path: path.Join(dir, name), mode: 0o644, data: data, keep: true,
				sample: part.Sample || dir == "skills"})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

//go:embed plugin.md
var readme string

// readme returns README.md with a list of all hooks.
func (p Plugin) readme() []byte {
	var b strings.Builder
	b.WriteString(readme + "\n")
	for _, h := range p.hooks() {
		matcher := ""
		if h.Matcher != "" {
			matcher = fmt.Sprintf(" of `%s`", cmp.Or(h.If, h.Matcher))
		}
		fmt.Fprintf(&b, "- %s%s: `fsmtx %s`\n", h.Event, matcher, strings.Join(slices.Concat(h.Args, h.Flags), " "))
	}
	if p.onWindows() {
		b.WriteString("\nIf the plugin has no program for a system, `bin/fsmtx` reports that at the start of a session.\n")
	} else {
		b.WriteString("- SessionStart: `sh`, which reports if `bin/fsmtx` does not run here\n")
	}
	b.WriteString(p.platforms())
	if p.MCP {
		b.WriteString("\nThe MCP server `fsmtx` (`bin/fsmtx mcp`) serves the steps of the workflow as tools, for\n" +
			"models without tools for the task list. The same rules apply to them as to those.\n")
	}
	for _, part := range p.Parts {
		if part.About != "" {
			b.WriteString("\n" + part.About + "\n")
		}
	}
	return []byte(b.String())
}

// platforms returns the paragraph of README.md about the programs.
func (p Plugin) platforms() string {
	var names []string
	for _, one := range p.Programs {
		names = append(names, string(one.Platform))
	}
	text := "\nThis is fsmtx " + p.Version + ", for " + strings.Join(names, ", ") + ".\n"
	if len(names) > 1 {
		text += "`bin/fsmtx` is a script, which starts the program for the platform that it runs on.\n"
	}
	if p.onWindows() {
		text += "Windows, also on arm64, runs `bin/fsmtx.exe`.\n"
	}
	return text
}

const description = "Puts a skill's workflow into the task list when the skill is called: all of it or none of it"

// author is the author of a plugin that this program writes.
const author = "fsmtx"

type person struct {
	Name string `json:"name"`
}

// description returns what the plugin is.
func (p Plugin) description() string {
	text := description
	for _, part := range p.Parts {
		if part.Brief != "" {
			text = part.Brief
		}
	}
	return text
}

func (p Plugin) manifest() ([]byte, error) {
	return marshal(struct {
		Name        string `json:"name"`
		Version     string `json:"version"`
		Description string `json:"description"`
		Author      person `json:"author"`
		License     string `json:"license"`
	}{p.Name, p.Version, p.description(), person{author}, "Apache-2.0"})
}

func (p Plugin) marketplace() ([]byte, error) {
	type listed struct {
		Name        string `json:"name"`
		Source      string `json:"source"`
		Description string `json:"description"`
	}
	return marshal(struct {
		Name        string   `json:"name"`
		Owner       person   `json:"owner"`
		Description string   `json:"description"`
		Plugins     []listed `json:"plugins"`
	}{p.Name, person{author}, "One plugin: " + p.Name, []listed{{p.Name, "./", p.description()}}})
}

// pluginServer returns the MCP server. The client starts it in every session of the plugin's
// users.
func pluginServer() settings.Server {
	return settings.Server{Path: []string{"mcpServers"}, Command: Command, Args: []string{"mcp"}}
}

func marshal(v any) ([]byte, error) {
	data, err := json.Marshal(v, jsontext.WithIndent("  "))
	return append(data, '\n'), err
}
