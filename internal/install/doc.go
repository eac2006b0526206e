// Package install puts the hooks and the MCP server of this program into the files of Claude Code
// and of other agents, compares them with what should be there, and removes them.
//
// A Request says what should be there, and where. It knows nothing of a command line: commands fill
// it from their flags, and doctor asks the same questions with values of its own.
//
// # Plugins
//
// A plugin is written as a whole of the client: its manifest, a marketplace that
// offers it, its hooks, this program, and skills. Nothing else has to be installed.
//
// A Plugin is a list of parts; writing it does not depend on what the parts do.
//
// Files are written one by one, each atomically. After a crash some may be missing or
// outdated; writing the plugin again completes it. Files are replaced as a whole or kept.
//
// It relies on these facts about the client (docs/internals/client-facts.md): it expands
// ${CLAUDE_PLUGIN_ROOT}, the plugin's directory, in hooks (24), and one mistake in hooks.json
// disables the plugin's hooks (58).
//
// # Doctor
//
// Examine finds the reasons why workflows are not found, shown or followed in a directory, and
// the copies of this program that run there. Fault.Repair repairs what can be repaired safely.
package install

import (
	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/settings"
)

// Scope is whom an installation is for.
type Scope int

// The scopes. Other agents than Claude Code have no file for Local.
const (
	Local   Scope = iota // the person, in this project
	Project              // everyone who works on this project
	User                 // the person, in all projects
)

// Flag returns the flag of fsmtx install for the scope.
func (s Scope) Flag() string { return [...]string{"--local", "--project", "--user"}[s] }

// place returns where the hooks of the scope are for the client.
func (s Scope) place() settings.Place {
	return [...]settings.Place{settings.Local, settings.Project, settings.User}[s]
}

// Request says what should be installed, and where. In the zero value it is the hooks of tasks and
// steps of Claude Code, for the person in this project.
type Request struct {
	Scope     Scope
	Agents    []string // words of Agents; none stands for Claude Code
	Steps     Steps
	Guards    bool     // those of a planning workflow, too; those that are there are kept anyway
	MCP       bool     // the MCP server, too; one that is there is kept anyway
	Line      Switch   // the status line shows the workflow, beside the line that is there
	TaskTools Switch   // the variable without which newer models have no task tools
	Hydrate   []string // flags of fsmtx hydrate; nil keeps those that are there, empty resets them
}

// Switch is what is wanted of a part that a file may have.
type Switch int

const (
	Kept    Switch = iota // as it is
	With                  // there
	Without               // not there
)

// Steps says what is installed to enforce the steps of a workflow. An empty text keeps the value
// that is registered, or else stands for the default of fsmtx step.
type Steps struct {
	None         bool   // no hooks that enforce steps
	Observe      bool   // nothing is refused, and the first gate that would is put on record
	Only         bool   // decide about the calls of every tool that a workflow can list
	Stop, Checks string // one of the words of the flag
}

// Status is how an installation is found. The values are the exit codes of install --check.
type Status int

const (
	Installed  Status = iota // as install would write it
	Outdated                 // something is missing, or is not as install would write it
	Absent                   // nothing is there
	Unreadable               // a file cannot be read or understood
	Off                      // installed, but the client or the agent does not run the hooks
)

// All is the word for every agent that is found.
const All = "all"

// Agents returns the words that name agents: Claude Code, All, and the others.
func Agents() []string { return append(agent.Names(), All) }

// verb is what is to be done with an installation.
type verb int

const (
	put verb = iota
	compare
	remove
)

// job is one installation of one agent.
type job struct {
	Request
	verb    verb
	preview bool // print the resulting file instead of writing it
	quiet   bool // do not mention files that have nothing to remove
}
