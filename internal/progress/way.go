package progress

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
)

// Way is how an agent works on steps: by the client's task tools, the tools of the MCP
// server, or the commands of this program.
type Way struct {
	Kind    Kind
	Program string // the path of this program; of Commands
	Named   string // the list that --list has to name; of Commands, usually empty
	Prefix  string // what the client puts before the names of the server's tools; of Tools

	// Linked is set if the agent is in a linked work tree of git: the client may then refuse each line
	// of the shell with the word complete (fact 165, client 2.1.329).
	Linked bool

	// Unasked is set if nothing asks the person about a step where the agent works: the flag that names the list, with a space
	// before it, in the command with which they approve one in a terminal.
	Unasked string

	// PowerShell is set if the shell is that, should the path be one of Windows.
	PowerShell bool

	// Person is set if it is a person who works on the steps, in a terminal.
	Person bool

	// NoChecks reports whether no command of a workflow is run; nil is no.
	NoChecks func() bool

	// Unlisted is set if the client has not said yet which tools the agent has: it may have other
	// ways than Commands, which come first then.
	Unlisted bool
}

// Kind is a kind of Way.
type Kind int

const (
	Commands  Kind = iota // fsmtx next, start and complete
	Tools                 // of the MCP server
	TaskTools             // TaskList, TaskGet and TaskUpdate of the client
)

// Offered returns how the agent of a session of Claude Code works on steps: what the
// transcript says that it has, and else what the environment says. Every agent with a shell
// has the commands. lookup is os.LookupEnv or a stand-in for it.
//
// A background subagent has no task tools even if its session has them (fact 33, client
// 2.1.329), so a subagent is not told of them.
//
// promptID is the prompt_id of an event that comes after the client has told the agent what it
// has, for which Offered waits (see client.Tools); else it is empty. A skill that is typed as
// the first prompt comes before: then the agent is told of every way, and sees which one it has.
func Offered(lookup func(string) (string, bool), path, promptID string, subagent bool, program string) Way {
	offer := client.Tools(path, promptID)
	variable, _ := lookup("CLAUDE_CODE_ENABLE_TODO_TOOLS")
	switch {
	case !subagent && (offer.TaskTools || !offer.Known && variable == "1"):
		return Way{Kind: TaskTools}
	case offer.Server != "":
		return Way{Kind: Tools, Prefix: offer.Server}
	}
	return Way{Kind: Commands, Program: program, Unlisted: !offer.Known && path != ""}
}

// In returns the way of an agent whose working directory is dir.
func (w Way) In(dir string) Way {
	w.Linked = w.Kind == Commands && state.InLinkedTree(dir)
	return w
}

// Finish is another name of the command complete.
const Finish = "finish"

// complete is the name of the command that completes a step.
func (w Way) complete() string {
	if w.Linked {
		return Finish
	}
	return "complete"
}

// How returns the way as the evidence names it.
func (w Way) How() state.How {
	switch w.Kind {
	case Commands:
		return state.ByShell
	case Tools:
		return state.ByMCP
	}
	return state.ByUpdate
}

// maxProgram limits the program's path, in bytes: texts have it several times.
const maxProgram = 300

// Command returns the line of the shell that runs a command of this program.
func (w Way) Command(words ...string) string {
	program := w.Program
	if program == "" || len(program) > maxProgram {
		program = "fsmtx"
	}
	words = append([]string{message.Line(program)}, words...)
	if w.Named != "" {
		words = append(words, "--list", message.Line(w.Named))
	}
	if w.PowerShell && strings.HasSuffix(program, ".exe") {
		return shell.JoinInPowerShell(words...)
	}
	return shell.Join(words...)
}

// Manual tells the agent how to work on the steps, in one paragraph.
func (w Way) Manual() string {
	const order = "Do the steps in order, and do not end your turn while one is ready, unless you need the person."
	switch w.Kind {
	case TaskTools:
		return "Use TaskList to see the steps, TaskGet for the description of a later one, and TaskUpdate to keep their status up to date as " +
			"you work; if these tools are not at hand, load them with ToolSearch."
	case Tools:
		return fmt.Sprintf("Work on the steps with %[1]sstep_start, before you begin with one, and %[1]sstep_complete, when its work is done: "+
			"a refusal says what is missing. %[1]sworkflow_status shows what is ready, in full. %[2]s",
			w.Prefix, order)
	}
	with := "these commands"
	if w.Unlisted {
		with = "the first of these that you have: TaskList, TaskGet and TaskUpdate, which ToolSearch loads; tools named step_start, " +
			"step_complete and workflow_status; or these commands"
	}
	if w.Person {
		return fmt.Sprintf("%s N begins with step N, and %s N ends it when its work is done; %s shows what is ready, in full.",
			w.Command("start"), w.Command(w.complete()), w.Command("next"))
	}
	return fmt.Sprintf("Work on the steps with %s, each as a call of its own: %s N before you begin with step N, and %s N when its work is "+
		"done: a refusal says what is missing. %s shows what is ready, in full. %s",
		with, w.Command("start"), w.Command(w.complete()), w.Command("next"), order)
}

// Rest tells the agent how to get what did not fit into a text.
func (w Way) Rest() string {
	switch w.Kind {
	case TaskTools:
		return "TaskList shows all steps, TaskGet one with its description."
	case Tools:
		return w.Prefix + "workflow_status shows all steps, and what is ready in full."
	}
	return w.Command("next") + " shows what is ready, in full."
}

// toStart tells the agent how to start a step.
func (w Way) toStart(c *state.Current) string {
	if w.Kind == Tools {
		return "Call step_start before you work on a step."
	}
	return "Before you work on it: " + w.Command("start", fmt.Sprint(c.ID))
}

// toComplete tells the agent how to complete a step. chosen is how the person has decided that it ends, if they have.
func (w Way) toComplete(c *state.Current, chosen string) string {
	if choices := c.Choices(); w.Person && c.Decides == fsmspec.ByPerson && chosen == "" {
		line := "When its work is done, say how it ends: " + state.ApproveCommand(c.ID, choices[0], "--list "+message.Line(w.Named))
		return line + ", or with --outcome " + message.Alternatives(choices[1:])
	}
	line, outcome := "When its work is done: "+w.Command(w.complete(), fmt.Sprint(c.ID)), " --outcome NAME, which is "
	if w.Kind == Tools {
		line, outcome = "Call step_complete when the work of a step is done", ", with an outcome, which is "
	}
	choices := strings.Join(c.Choices(), " or ")
	if len(c.Choices()) > 1 && c.Decides == fsmspec.ByAgent {
		line += outcome + choices
	}
	if given := c.Given(); len(given) > 0 {
		line += ", with " + gates.Say(w.How(), "", given...)
	}
	switch {
	case chosen != "":
		line += ". The person has chosen how it ends: " + chosen
	case c.Decides != fsmspec.ByAgent:
		line += fmt.Sprintf(". A %s decides how it ends: %s", c.Decides, choices)
	}
	if w.Kind == Tools {
		line += "."
	}
	return line
}

// Spoken returns a description of a step in the words of this way: the list has it in those
// of the client's TaskUpdate, as metadata. Where no command is run, none decides.
func (w Way) Spoken(description string) string {
	if plain := fsmspec.WithoutCommand(description); plain != description && w.NoChecks != nil && w.NoChecks() {
		description = plain
	}
	if w.Person {
		description = strings.Replace(description, fsmspec.PersonDecides, "You decide how it ends.", 1)
	}
	const with, before, after = "Complete it with ", "metadata ", "}."
	at := strings.LastIndex(description, with+before+"{")
	if w.Kind == TaskTools || at < 0 {
		return description
	}
	at += len(with)
	length := strings.Index(description[at:], after)
	if length < 0 {
		return description
	}
	end := at + length + 1
	members, err := jsonx.Members(jsontext.Value(description[at+len(before) : end]))
	if err != nil {
		return description
	}
	outcome := jsonx.StringMember(jsontext.Value(description[at+len(before):end]), "outcome")
	delete(members, "outcome")
	return description[:at] + gates.Say(w.How(), outcome, slices.Sorted(maps.Keys(members))...) + description[end:]
}
