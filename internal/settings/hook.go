package settings

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// Program is this program's base name. An entry whose command has this base name is
// recognised as this program's, in any directory. It is also the command of hooks that
// find the program on PATH (fact 67, client 2.1.329).
const Program = "fsmtx"

// Hook is one command that the client runs on one event. Unless it is Exec it is registered as a line of the
// shell, in "command" alone: other agents read the client's files too, ignore "args" and run
// "command" in a shell whose standard input is the event (fact 127). The line does nothing if
// the program is missing, because some of these agents refuse every call whose hook fails
// (fact 129).
type Hook struct {
	Event   string   // as the client spells it
	Matcher string   // tool or agent names, a regular expression; empty matches all
	Command string   // path of the program, or its name on PATH
	Args    []string // the subcommand and the flags that identify the hook
	Flags   []string // chosen by the user; they follow Args
	Timeout int      // seconds, or what the agent counts in
	If      string   // permission rule that selects calls, such as "Bash(git *)"; empty selects all; other agents ignore it

	// Closed makes the client refuse the call if the program fails or runs past its limit ("onFailure": "block", which
	// clients before 2.1.295 ignore).
	Closed   bool
	inList   bool           // the program is started only if the session's list has a state directory
	fallback shell.Fallback // if the program cannot be started

	// Exec registers the hook with "args", without a shell: on Windows the client's shell may be Git Bash or PowerShell.
	// Nothing then tells a session with a workflow from others, so the program is always started.
	Exec bool

	Report string // what the shell prints if the program does not run; empty for nothing

	PowerShell bool // it has a line of PowerShell, too, which the agent runs in place of the other on Windows ("commandWindows")
}

// taskTools are the tools before which hydrate checks that the tasks belong to the skill
// that is running.
const taskTools = otherTaskTools + "|" + steppingTool

const (
	otherTaskTools = "TaskCreate|TaskGet|TaskList"
	steppingTool   = "TaskUpdate"
)

// listTools are the tools of which a list without a state directory decides nothing: those that change files, and the question to the
// person, which has to have all the outcomes of its step.
const listTools = "Write|Edit|NotebookEdit|" + client.QuestionTool

// ofClaude is the flag of fsmtx hook by which a hook is Claude Code's: other agents read its files
// too.
const ofClaude = "--agent=claude"

// Duty is what the hook is registered for.
type Duty struct {
	NoSteps bool // leave out the events that only the enforcement of steps needs
	Only    Only // tools whose calls belong to steps, as far as they have no other hook
}

// Hooks returns the hooks of "fsmtx install" and "fsmtx plugin": one command, registered once
// for each event that it needs. flags are its flags.
//
// PreToolUse has four registrations; no call matches two. That of the tools which change a step is closed: it refuses
// them in a list with a workflow if the program cannot run. That of files and questions, of which a session has most, and that of prompts
// start the program only if the list has a state directory: without one nothing is decided about them. "if" restricts the one on
// Bash to commands that run this program, by whatever path (facts 41 and 151, client 2.1.329), unless the duty has
// commands; it stays open, so that what mends the program always runs. The events also occur in subagents. TaskCompleted covers a
// task that is completed without the hook of PreToolUse (fact 38, client 2.1.329). PostToolUse
// shows that an update was carried out, and what a person chose (fact 186, client 2.1.329); with PostToolUseFailure (fact 192)
// it is when the person is told what came of a command or of a tool of the server. At the
// next prompt it is known that an update was not: after an interruption no Stop comes (fact 54).
// That of SessionStart reports a missing program.
func Hooks(binary string, flags []string, d Duty) []Hook {
	short := HookLimit(defaultWait)
	on := func(event, matcher string, timeout int) Hook {
		return Hook{Event: event, Matcher: matcher, Command: binary, Args: []string{"hook", ofClaude}, Flags: flags, Timeout: timeout}
	}
	start := on(client.SessionStart, "", short)
	start.Report = MissingReport(binary)
	if d.NoSteps {
		return []Hook{on(client.PostToolUse, "Skill", short), on(client.UserPromptExpansion, "", short),
			on(client.PreToolUse, taskTools, short),
			on(client.Stop, "", short), start}
	}
	stepping := on(client.PreToolUse, "^("+steppingTool+"|"+servedTools+")$", StepTimeout)
	stepping.Closed, stepping.fallback = true, shell.Refuse
	inList := func(event, matcher string) Hook {
		h := on(event, matcher, short)
		h.inList = true
		return h
	}
	tools := "^(" + strings.Join(append([]string{listTools}, d.Only.Tools...), "|") + ")$"
	stop := on(client.Stop, "", short)
	stop.fallback = shell.Tell
	bash := on(client.PreToolUse, "Bash", StepTimeout) // completing a step that a person has to approve runs its check first
	if bash.If = onProgram; d.Only.Shell {
		bash.Matcher, bash.If = "Bash|Monitor|PowerShell", ""
	}
	ran := on(client.PostToolUse, "Bash", short)
	ran.If = onProgram
	answered, unanswered := on(client.PostToolUse, "^"+servedTools+"$", short), on(client.PostToolUseFailure, "^"+servedTools+"$", short)
	failed := ran
	failed.Event = client.PostToolUseFailure
	all := []Hook{on(client.PostToolUse, "Skill|TaskUpdate|AskUserQuestion", short), ran, answered, failed, unanswered,
		on(client.UserPromptExpansion, "", short),
		stepping, on(client.PreToolUse, "^("+otherTaskTools+")$", short), inList(client.PreToolUse, tools), bash,
		on(client.TaskCompleted, "", StepTimeout), inList(client.UserPromptSubmit, ""), stop, on(client.SubagentStop, "", short), start}
	if isExec(binary) {
		return ForWindows(all)
	}
	return all
}

// ForWindows returns hooks that Windows runs, too: they are Exec, and look at each line of both shells, because without Git Bash the
// model has PowerShell only, of which "if" knows nothing.
func ForWindows(hooks []Hook) []Hook {
	all := slices.Clone(hooks)
	for i, h := range all {
		if all[i].Exec = true; h.If == onProgram {
			all[i].Matcher, all[i].If = "Bash|PowerShell", ""
		}
	}
	return all
}

// onProgram selects the lines of the shell that may run this program. Its path may be quoted, so that no blank need come after its name.
const onProgram = "Bash(*" + Program + "*)"

// servedTools matches the tools of "fsmtx mcp", under any name of the server. The hook
// adds the session's id to their input: after /clear the server still has the id of the
// session before (fact 92, client 2.1.329).
const servedTools = "mcp__.*__(workflow_status|step_start|step_complete|step_skip|workflow_begin|workflow_continue)"

// IsServed reports whether a tool is one of "fsmtx mcp", under any name of the server.
func IsServed(tool string) bool {
	_, names, _ := strings.Cut(strings.TrimSuffix(servedTools, ")"), "(")
	return strings.HasPrefix(tool, "mcp__") && slices.ContainsFunc(strings.Split(names, "|"),
		func(name string) bool { return strings.HasSuffix(tool, "__"+name) })
}

// StepTimeout is the timeout in seconds of a hook that may run checks. It is longer than
// fsmspec.MaxCheckTimeout, the limit on a check in any workflow, because the model is not
// informed when the client kills a hook (fact 46, client 2.1.329).
const StepTimeout = 1860

const (
	// defaultWait is how long the hook waits for locks without flags.
	defaultWait = 5 * time.Second
	// margin is how long a hook may run in addition to its wait for locks. It reads and
	// commits in milliseconds; the seconds are for a machine under load and a disk that
	// is slow to sync. A hook whose wait times out needs time to roll back and report
	// why, because the model is not informed when the client kills a hook (fact 46,
	// client 2.1.329).
	margin = 5 * time.Second
)

// TimeLimit returns the timeout, in seconds, of a hook that waits for locks as long as
// wait: wait and a margin of 5 s, rounded up.
func TimeLimit(wait time.Duration) int {
	return int((wait + margin + time.Second - 1) / time.Second)
}

// HookLimit returns the timeout, in seconds, of a registered hook that waits for locks as long
// as wait. It may do what waits for them and then decide about a step, for which 5 s are added.
func HookLimit(wait time.Duration) int { return TimeLimit(wait) + int(margin/time.Second) }

// Runs reports whether the hook runs a subcommand of this program.
func (h Hook) Runs(subcommand string) bool { return h.Args[0] == subcommand }

// form is the form of the hooks that this program writes: it rises with each change of a hook or of its line. The hook that reports a
// missing program carries it as a comment, so that of two programs that share a file the older one leaves the newer one's hooks alone.
const form = 1

const formMark = " # " + Program + " form "

// isExec reports whether the hook is registered with "args".
func (h Hook) isExec() bool { return (h.Exec || isExec(h.Command)) && !h.isOthers() }

func isExec(program string) bool { return strings.EqualFold(filepath.Ext(program), ".exe") }

// isOthers reports whether the hook is that of another agent than Claude Code.
func (h Hook) isOthers() bool {
	return slices.ContainsFunc(h.Args, func(arg string) bool { return strings.HasPrefix(arg, "--agent=") && arg != ofClaude })
}

// powerShell returns the line of PowerShell; empty if there is none.
func (h Hook) powerShell() string {
	if !h.PowerShell {
		return ""
	}
	return shell.JoinInPowerShell(slices.Concat([]string{h.Command}, h.Args, h.Flags)...)
}

// Line returns the line of the shell that the client runs; empty if it runs none.
func (h Hook) Line() string {
	if h.isExec() {
		return ""
	}
	if h.inList {
		return shell.InList(h.start())
	}
	return h.start()
}

// start returns the line that starts the program.
func (h Hook) start() string {
	args := append(h.Args[:len(h.Args):len(h.Args)], h.Flags...)
	if h.Report != "" && h.isOthers() {
		return shell.GuardWellReporting(word(h.Command), args, h.Report) + formMark + strconv.Itoa(form)
	}
	if h.Report != "" {
		return shell.GuardReporting(word(h.Command), args, h.Report) + formMark + strconv.Itoa(form)
	}
	if h.fallback != shell.Nothing || strings.HasPrefix(h.Command, pluginRoot) { // a plugin goes to other machines
		return shell.GuardOr(h.fallback, word(h.Command), args)
	}
	if h.isOthers() {
		return shell.GuardWell(word(h.Command), args)
	}
	return shell.Guard(word(h.Command), args)
}

// owns reports whether a call is this hook. The hook's path and flags may differ.
func (h Hook) owns(c call) bool {
	if h.Runs("hook") {
		return isHook(c.args, h.Args[1]) && h.isProgram(c.program)
	}
	missing := slices.ContainsFunc(h.Args, func(arg string) bool { return !slices.Contains(c.args, arg) })
	return len(c.args) > 0 && c.args[0] == h.Args[0] && !missing && h.isProgram(c.program)
}

// IsNamed reports whether a path ends in this program's name, on Windows with its suffix.
func IsNamed(path string) bool {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	return name == Program || strings.EqualFold(name, Program+".exe")
}

// isProgram reports whether the path is this program: by its base name, by the path in
// h.Command, or through a link to that.
func (h Hook) isProgram(path string) bool {
	if IsNamed(path) || path == h.Command {
		return true
	}
	own, err := exec.LookPath(h.Command) // Command may be a name
	return err == nil && filepath.IsAbs(path) && safefile.Same(path, own)
}

// flagsOf returns the arguments of a call that h owns, without h.Args. It never returns
// nil.
func (h Hook) flagsOf(c call) []string {
	return append([]string{}, slices.DeleteFunc(slices.Clone(c.args[1:]), func(arg string) bool { return slices.Contains(h.Args, arg) })...)
}
