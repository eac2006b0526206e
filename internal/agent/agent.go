package agent

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// Moment is what an event is about, whatever the agent calls it.
type Moment string

const (
	Start    Moment = "start"    // a session begins or is resumed
	Prompt   Moment = "prompt"   // the person has sent a prompt
	Typed    Moment = "typed"    // the person has typed a skill
	Before   Moment = "before"   // a tool is about to run
	After    Moment = "after"    // a tool has run
	Failed   Moment = "failed"   // a tool has failed
	Approved Moment = "approved" // the agent is about to complete a task of its list, perhaps after a person's yes
	Stop     Moment = "stop"     // the turn is about to end
	SubStop  Moment = "substop"  // the turn of a subagent is about to end
)

// Agent is what is known about one agent.
type Agent struct {
	Name  string // as package caller has it, and as install --agent takes it
	Title string // for people

	// packages are those of npm that have its program, and variables those that only its processes have.
	packages, variables []string
	// session is the one of the variables in which its shell shows its session, as its hooks name it. It is empty in Claude Code, and
	// if there is none.
	session string

	// Session is set if the agent names the session to hook, shell and server alike: it is Claude Code.
	Session bool
	// Asks is set if the agent asks its person about a call when a hook wants that.
	Asks bool
	// Updates is its tool that changes a task of its list, and Questions the one by which its model asks the person. Empty: it
	// has none of which hooks hear enough.
	Updates, Questions string
	Looks              []string // its other tools for the list, about which no rule decides
	// Native is set if rules of steps have its names of tools, and hooks answer in its form: it is Claude Code.
	Native bool
	// Holds is how often in a row a hook may keep a turn without progress from ending. 0 means that the agent counts itself.
	Holds int

	// Registrations are the events that need a hook; none if the agent runs no hooks.
	Registrations []Registration
	// PowerShell is set if it runs a hook's line of PowerShell, "commandWindows", on Windows, and its shell is that there.
	PowerShell bool
	// TimeoutUnit is the unit of the time limit of a hook.
	TimeoutUnit time.Duration

	// Hooks and Server are the files in which the agent reads hooks and MCP servers.
	Hooks, Server Files
	// ServerPath names the objects that contain the server in a JSON file; nil for TOML.
	ServerPath []string
	// ServerList reports whether a server's program and arguments are one list.
	ServerList bool
	// ServerFields are further fields of a server.
	ServerFields map[string]any
	// Demands is what a person has to do before the agent reads the files, per scope.
	Demands Demands
	// Home is the directory of the agent's own files.
	Home Home

	Skills Dirs // in which skills are looked for, the first first; then the plugins

	heading          heading                    // of a SKILL.md that it takes for that of a skill
	plugins          pluginDirs                 // nil if its plugins bring no skills
	scoped           bool                       // the names of these have the plugin's and a colon before them
	anyCase          bool                       // the case of a skill's name does not count
	ownsEvent        func(e *client.Event) bool // it is this agent's event
	skillTool        tool                       // the tool that takes up a skill
	shells           []string                   // the tools that run a shell command
	edits            []string                   // the tools that change a file
	typed            string                     // begins a word of a prompt that names a skill
	anywhereInPrompt bool                       // that word may be anywhere in the prompt
	takenByReading   bool                       // a skill is taken up by reading its SKILL.md in the shell
	patches          bool                       // the shell takes apply_patch for the tool that changes files
	said             string                     // the field of the agent's last message, if it is not Claude Code's
	sent             string                     // the field of what the person has typed, if it is not the whole prompt
	denies           form                       // of a refusal
	context          form                       // of a text for the model
}

// SeesShell reports whether its hooks see the commands of its shell before they run.
func (a *Agent) SeesShell() bool { return len(a.shells) > 0 }

// Registration is an event at which a hook is registered.
type Registration struct {
	Event   string
	Matcher string // empty matches everything
	Moment  Moment
}

// Files is a file of the person and one of the project. Empty: there is none.
type Files struct {
	User     string // below HOME, unless the variable of Home is set
	Project  string // below the project's directory
	Comments bool   // they may have comments
	Beside   string // what the name of another file ends with that the agent reads after it, such as opencode.jsonc; "" for none
}

// Demands is what has to be done by hand after install.
type Demands struct {
	User, Project string // sentences; empty: nothing

	// Unmet reports whether a demand is known not to be met. Nil: it cannot be known.
	Unmet func(Trust) bool
}

// Trust is what Demands.Unmet is asked about.
type Trust struct {
	File    string // absolute path of the file with hooks
	Project string // absolute path of the project if the file is the project's, else empty
	Config  string // the directory of the agent's own files

	Table func(file string, keys ...string) map[string]any // returns a table of a TOML file, none if it cannot be read
}

// Home is a directory below HOME, and the variable that moves it.
type Home struct{ Dir, Variable string }

// In returns the directory; it is empty if neither the variable nor HOME is set.
func (h Home) In(lookup func(string) (string, bool)) string {
	if h.Variable != "" {
		if dir, _ := lookup(h.Variable); dir != "" {
			return dir
		}
	}
	home, _ := lookup("HOME")
	if home == "" {
		return ""
	}
	return filepath.Join(home, h.Dir)
}

// UserFile returns the absolute path of a file of the person, empty if HOME is not set.
func (a *Agent) UserFile(lookup func(string) (string, bool), file string) string {
	home := a.Home.In(lookup)
	if home == "" {
		return ""
	}
	if rest, err := filepath.Rel(a.Home.Dir, file); err == nil && a.Home.Dir != "" {
		file = rest
	}
	return filepath.Join(home, file)
}

// IsInstalled reports whether the person seems to have the agent: it has been run, or its program is on PATH.
func (a *Agent) IsInstalled(lookup func(string) (string, bool)) bool {
	_, err := exec.LookPath(a.Name)
	return err == nil || a.hasRun(lookup)
}

// hasRun reports whether the directory of the agent exists.
func (a *Agent) hasRun(lookup func(string) (string, bool)) bool {
	home, _ := lookup("HOME")
	for _, file := range []string{a.Hooks.User, a.Server.User} {
		path := a.UserFile(lookup, file)
		if dir := filepath.Dir(path); file != "" && path != "" && safefile.IsDir(dir) && dir != filepath.Clean(home) {
			return true
		}
	}
	return false
}

// IsHere reports whether the agent has been run by the person, or the project of dir has skills where it looks and Claude Code
// does not.
func (a *Agent) IsHere(lookup func(string) (string, bool), dir string) bool {
	home, _ := lookup("HOME")
	for _, above := range upwards(dir, home) {
		for _, sub := range a.Skills.Project {
			if !strings.HasPrefix(sub, ".claude/") && safefile.IsDir(filepath.Join(above, sub)) {
				return true
			}
		}
	}
	return a.hasRun(lookup)
}

// Dirs are directories with a folder for each skill.
type Dirs struct {
	Project []string // below the project's directory
	User    []string // below HOME

	Deep   bool // folders in folders are skills too
	Inside bool // Deep also in a folder that is a skill
	Hidden bool // so are folders whose name begins with a dot
}

// tool is a tool that takes up a skill, and the field of its input with the skill's name.
type tool struct{ name, field string }

// form is where a part of an answer is in the JSON object.
type form int

const (
	nested   form = iota // in hookSpecificOutput, as in Claude Code
	topLevel             // beside it
)

// maxHolds is how often in a row --stop hold sends an agent back that makes no progress: as often as Claude Code lets a hook
// do that (fact 40). Codex and Gemini would never end the turn.
const maxHolds = 8

func init() { caller.Others = sync.OnceValue(marks) }

// marks returns the marks of every agent except Claude Code.
func marks() (all []caller.Marks) {
	for _, a := range Others() {
		all = append(all, caller.Marks{Program: a.Name, Paths: a.packages, Variables: a.variables, Session: a.session})
	}
	return all
}

// every yields every agent, by name. Each is made when it is asked for, and not at each start of the program.
func every(yield func(*Agent) bool) {
	for _, make := range []func() *Agent{Claude, Codex, Copilot, Gemini, OpenCode, Qwen} {
		if !yield(make()) {
			return
		}
	}
}

// Others returns the agents other than Claude Code.
func Others() []*Agent {
	return slices.DeleteFunc(slices.Collect(every), func(a *Agent) bool { return a.Native })
}

// Named returns the agent with the name, nil if there is none.
func Named(name string) *Agent {
	for a := range every {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Unasked returns the title of the agent with the name if it cannot ask its person about a call; empty if it asks, or is unknown.
func Unasked(name string) string {
	if a := Named(name); a != nil && !a.Asks {
		return a.Title
	}
	return ""
}

// Other returns the agent with the name, nil if it is Claude Code or unknown.
func Other(name string) *Agent {
	if a := Named(name); a != nil && !a.Native {
		return a
	}
	return nil
}

// Names returns the names of all agents.
func Names() (names []string) {
	for a := range every {
		names = append(names, a.Name)
	}
	return names
}

// Of returns the agent that sent the event, nil if an unknown one sent it.
func Of(e *client.Event) *Agent {
	for a := range every {
		if a.Native != e.Foreign() && a.Sent(e) {
			return a
		}
	}
	return nil
}

// Sent reports whether the event has this agent's marks. It may have those of Claude Code too.
func (a *Agent) Sent(e *client.Event) bool {
	return a.moment(e.Name) != "" && a.ownsEvent(e)
}

// moment returns what an event is about, empty for an event that needs no hook.
func (a *Agent) moment(name string) Moment {
	for _, r := range a.Registrations {
		if r.Event == name {
			return r.Moment
		}
	}
	return ""
}
