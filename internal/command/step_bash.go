package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/pflag"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/steps"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// bash makes the client ask the person when the agent's shell is about to run commands that
// take something away, and adds to each the token of a grant for exactly that command.
func (h *stepHook) bash(ctx context.Context) event.Answer {
	line := jsonx.StringMember(h.event.ToolInput, "command")
	if !strings.Contains(line, "fsmtx") {
		return event.Answer{}
	}
	script, err := shell.Parse(line)
	if err != nil {
		return event.Answer{} // the shell cannot run it either
	}
	var found []held
	dir := h.event.Cwd
	for _, words := range script.Calls() {
		one, ok := findHeld(words, h.Session)
		if !ok {
			one, ok = h.heldBegin(ctx, words, dir)
		}
		dir = changesDirectory(dir, words)
		if ok {
			found = append(found, one)
		}
	}
	if len(found) == 0 {
		return h.complete(ctx, line, script)
	}
	v, input := h.askPerson(ctx, line, found)
	h.log(v)
	switch v.Decision {
	case steps.Deny:
		return event.Refuse(v.Reason)
	case steps.Ask:
		return event.AskAbout(v.Reason, input)
	}
	return h.troubled(v.Trouble)
}

// invocation is a call of this program in a line of the agent's shell.
type invocation struct {
	rule   Loosening
	flags  *pflag.FlagSet // of a command that fsmtx itself does not have, those that the rule reads
	args   []string       // of the command
	line   string         // the call, as a shell reads it
	at     int            // offset in the shell's line after the name of the command
	hidden bool           // some of its words are known to the shell only: they are left out
	fails  bool           // its arguments are wrong
}

// heldBegin returns the call of "fsmtx begin" in the words if a person has to agree to it: it would replace unfinished workflows, or
// dir, in which it runs, is not in the session's project.
func (h *stepHook) heldBegin(ctx context.Context, words []shell.Word, dir string) (one held, ok bool) {
	call, ok := invoked(words)
	if !ok || call.rule.Command != "begin" || call.fails && !call.hidden {
		return one, false
	}
	if h.project() != "" && h.streams.Who().FromClient() {
		_ = h.KeepDirectory(ctx, h.project()) // without it the command takes its own, and the person is told
	}
	frame := h.Frame
	if !h.isAboutOwnList(call) {
		var err error
		if frame, err = FrameOf(ctx, h.streams, call.flags.Lookup("list").Value.String()); err != nil {
			return one, false // the command says so
		}
	}
	skill := "a skill"
	if len(call.args) > 0 {
		skill = call.args[0]
	}
	lost := frame.WouldReplace(ctx, steps.Calling{Command: hydrate.CommandOf(skill), Session: h.Session, Agent: h.event.AgentID})
	project := h.project()
	if len(lost) == 0 && (project == "" || dir != "" && steps.IsIn(project, dir)) {
		return one, false
	}
	call.rule = beginning(call.rule, skill, lost, dir, project)
	one = held{invocation: call, token: isSet(call.flags, GrantFlag)}
	one.person = elsewhere(one.rule, call.flags, call.args, call.line, h.Session)
	return one, true
}

// beginning returns the rule about a command that begins a skill in place of unfinished workflows, or in a directory that is not in
// the session's project. Each may be empty.
func beginning(rule Loosening, skill string, lost []string, dir, project string) Loosening {
	rule.What = "begin " + message.Words(skill)
	if project != "" && (dir == "" || !steps.IsIn(project, dir)) {
		rule.What += message.Sprintf(" in %s, outside of %s", cmp.Or(dir, "another directory"), project)
	}
	if len(lost) > 0 {
		rule.What += " in place of " + strings.Join(lost, ", ")
	}
	return rule
}

// project returns the directory of the session's project, as the client tells it; empty if it does not.
func (h *stepHook) project() string { return h.streams.Env("CLAUDE_PROJECT_DIR") }

// changesDirectory returns where the shell is after a command, if it is in dir before; empty if that cannot be told.
func changesDirectory(dir string, words []shell.Word) string {
	program, _ := words[0].Literal()
	switch {
	case program == "pushd" || program == "popd" || program == "cd" && (dir == "" || len(words) != 2):
		return ""
	case program != "cd":
		return dir
	}
	to, known := words[1].Literal()
	if !known || strings.HasPrefix(to, "-") {
		return ""
	}
	if filepath.IsAbs(to) {
		return to
	}
	return filepath.Join(dir, to)
}

// invoked returns the call of this program that the words are; ok is false if they are none.
func invoked(words []shell.Word) (call invocation, ok bool) {
	program := slices.IndexFunc(words, func(w shell.Word) bool {
		text, known := w.Literal()
		return known && filepath.Base(text) == "fsmtx"
	})
	if program < 0 || program > 0 && runsNothing(words[0]) {
		return call, false
	}
	var args []string
	hidden := false
	for _, w := range words[program+1:] {
		text, known := w.Literal()
		hidden = hidden || !known
		if known {
			args = append(args, text)
		}
	}
	call, behind, ok := readCall(args)
	call.line, call.hidden, call.at = lineFrom(args), hidden, words[program].End()
	if !hidden {
		call.at = words[program+len(args)-behind].End()
	}
	return call, ok
}

// readCall returns what this program would run with the arguments, and how many of them are behind the name of the command. Of a
// command that fsmtx itself does not have it knows what the rule about it needs. ok is false if nothing would be run, or only
// a command that takes nothing away and that fsmtx does not have.
func readCall(args []string) (call invocation, behind int, ok bool) {
	_, words := leadingDirectory(args)
	if own := (Program{Commands: Subcommands()}); own.has(args) {
		none := terminal.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard,
			Getenv: func(string) (string, bool) { return "", false }}
		_, _, rest := findSubcommand(own.Commands, words)
		c := own.Root(args, none, new(error))
		if c.ParseFlags(rest) != nil {
			return call, 0, false
		}
		call = invocation{rule: ruleOf(c), flags: c.Flags(), args: c.Flags().Args()}
		call.fails = c.ValidateArgs(call.args) != nil
		return call, len(rest), true
	}
	names := slices.DeleteFunc(slices.Clone(words), func(arg string) bool { return strings.HasPrefix(arg, "-") }) // flags may come first
	for _, rule := range Loosenings() {
		name := strings.Fields(rule.Command)
		if rule.When == nil || !slices.Equal(names[:min(len(names), len(name))], name) {
			continue
		}
		flags := rule.read(words)
		return invocation{rule: rule, flags: flags}, len(args), flags != nil
	}
	return call, 0, false
}

// read returns the flags that the rule reads, as the arguments set them; nil if the arguments ask for help, or are wrong.
func (l Loosening) read(args []string) *pflag.FlagSet {
	flags := pflag.NewFlagSet(l.Command, pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	for _, name := range append(l.flags, GrantFlag+"=") {
		if name, ok := strings.CutSuffix(name, "="); ok {
			flags.String(name, "", "")
		} else {
			flags.Bool(name, false, "")
		}
	}
	if flags.Parse(args) != nil {
		return nil
	}
	return flags
}

// held is a call of a command that an agent may not run by itself.
type held struct {
	invocation
	person string // the command as a person runs it in another terminal
	past   *pastFlags
	token  bool // it has a token already
}

// findHeld returns the call of a command that takes something away, if the words are one.
// session is that of the agent; it may be empty.
func findHeld(words []shell.Word, session string) (one held, ok bool) {
	call, ok := invoked(words)
	if !ok || !call.rule.takes(call.flags) || call.fails && !call.hidden {
		return one, false
	}
	one = held{invocation: call, token: isSet(call.flags, GrantFlag)}
	one.person = elsewhere(one.rule, one.flags, one.args, one.line, session)
	if !one.hidden {
		one.past = pastOf(call)
	}
	return one, true
}

// runsNothing reports whether the program of a command only prints or looks at its arguments. Any
// other program may run them. If the hook does not see it, the command itself refuses.
func runsNothing(program shell.Word) bool {
	text, _ := program.Literal()
	return slices.Contains([]string{":", "[", "cat", "cp", "diff", "echo", "egrep", "fgrep", "grep", "head", "ls", "man", "mkdir", "mv",
		"printf", "rg", "rm", "tail", "tar", "test", "touch", "true", "wc", "which"}, filepath.Base(text))
}

// pastOf returns the step that a command decides about, nil if the command is another one.
func pastOf(call invocation) *pastFlags {
	because, session := call.flags.Lookup("because"), call.flags.Lookup("session")
	if because == nil || len(call.args) != 1 {
		return nil
	}
	f := &pastFlags{session: session.Value.String()}
	f.past.Done = call.rule.Command == "step done"
	f.past.Because = because.Value.String()
	f.past.WithBlockers = isSet(call.flags, "with-blockers")
	if outcome := call.flags.Lookup("outcome"); outcome != nil {
		f.past.Outcome = outcome.Value.String()
		f.past.Values, _ = call.flags.Lookup("set").Value.(valuesFlag)
	}
	if f.read(call.args) != nil {
		return nil
	}
	return f
}

// askPerson returns the question about the calls, and the tool's input with a token in each of them.
func (h *stepHook) askPerson(ctx context.Context, line string, found []held) (steps.Verdict, jsontext.Value) {
	const why = "takes something away"
	refuse := func(reason string) (steps.Verdict, jsontext.Value) {
		return steps.Verdict{Decision: steps.Deny, Why: why, Reason: reason}, nil
	}
	switch who := h.streams.Who(); {
	case !who.FromClient():
		return refuse("this event does not come from the client, so nobody is asked: " + who.Why)
	case who.Kind == caller.Agent && who.Program != "" && who.Program != caller.Claude:
		return refuse(who.Program + " cannot ask its person about a command. " + onlyAPerson(who, h.event.Cwd, found[0].person))
	}
	if hook := h.newAnswerer(ctx); hook != "" {
		return refuse(steps.NotByPerson(hook, inTerminal(h.event.Cwd, found[0].person)))
	}
	if len(found) == 1 { // of several, one may make the next one possible
		why, err := h.futile(ctx, found[0])
		if err != nil {
			return steps.Verdict{Trouble: message.Sprintf("the person could not be asked about %s: %v", found[0].line, err)}, nil
		}
		if why != nil {
			return refuse(strings.TrimSuffix(message.Words(why.Error())+"; "+message.Hint(why), "; "))
		}
	}
	var questions []string
	var offers []string
	rewritten := line
	for _, one := range slices.Backward(found) { // from the end, so that offsets stay valid
		switch {
		case one.hidden:
			return refuse("write the command literally, without variables, substitutions or patterns, so that the person " +
				"can see it: an agent cannot " +
				one.rule.What + " by itself")
		case one.token:
			return refuse("leave out --" + GrantFlag + ": the hook adds it when it asks the person")
		}
		question, ok, err := h.question(ctx, one)
		if err != nil {
			return steps.Verdict{Trouble: message.Sprintf("the person could not be asked about %s: %v", one.line, err)}, nil
		}
		if !ok {
			continue
		}
		token, err := h.Grant(ctx, steps.Grant{
			Command: one.line, Session: h.Session, Agent: h.event.AgentID, Prompt: h.event.PromptID, Use: h.event.ToolUseID, Written: h.transcript(),
		})
		if err != nil {
			return steps.Verdict{Trouble: message.Sprintf("the person could not be asked about %s: %v", one.line, err)}, nil
		}
		rewritten = rewritten[:one.at] + " --" + GrantFlag + "=" + token + rewritten[one.at:]
		questions, offers = append(questions, question), append(offers, one.person)
	}
	if len(questions) == 0 {
		return steps.Verdict{}, nil
	}
	slices.Reverse(questions)
	slices.Reverse(offers)
	input, err := withMembers(h.event.ToolInput, map[string]any{"command": rewritten})
	if err != nil {
		return steps.Verdict{Trouble: err.Error()}, nil
	}
	reason := strings.Join(questions, "\n") +
		"\nIf nobody answers, this is refused: only the person can decide it. They can run it in a terminal outside " +
		"the client, not with ! in it: " +
		inTerminal(h.event.Cwd, strings.Join(offers, " && "))
	return steps.Verdict{Decision: steps.Ask, Why: why, Reason: reason}, input
}

// question returns the question to the person about one call. ok is false if the command would
// fail anyway.
func (h *stepHook) question(ctx context.Context, one held) (question string, ok bool, err error) {
	if one.past == nil {
		return fmt.Sprintf("The agent wants to %s: %s", one.rule.What, one.line), true, nil
	}
	s, err := h.stateFor(ctx, one)
	if err != nil {
		return "", false, err
	}
	c := s.Step(one.past.past.Step)
	if c == nil {
		return "", false, nil
	}
	return fmt.Sprintf("The agent wants to %s. Its reason: %s", one.deed(s, c), message.Words(one.past.past.Because)), true, nil
}

// stateFor returns the state of the list that a command decides about.
func (h *stepHook) stateFor(ctx context.Context, one held) (_ *steps.State, err error) {
	frame := h.Frame
	if one.past.session != "" && one.past.session != h.Session {
		if frame, err = FrameOf(ctx, h.streams, one.past.session); err != nil {
			return nil, err
		}
	}
	return steps.LoadNow(ctx, frame.List.Dir)
}

// futile returns why a command would fail whatever the person says: they are not asked then, and the agent reads why.
func (h *stepHook) futile(ctx context.Context, one held) (why, err error) {
	if one.past == nil {
		return nil, nil
	}
	s, err := h.stateFor(ctx, one)
	if err != nil || len(s.Steps) == 0 { // without a workflow the hook says nothing, and the command itself refuses
		return nil, err
	}
	switch step := one.past.past.Step; one.rule.Command {
	case "step skip", "step done":
		return s.MayPass(one.past.past), nil
	case "step reopen":
		return s.MayReopen(step), nil
	default:
		if s.Step(step) == nil {
			return s.MayPass(one.past.past), nil
		}
		return nil, nil
	}
}

// deed says what a command of "fsmtx step" does to a step, behind "to": all of it, because the person agrees to all of it.
func (one held) deed(s *steps.State, c *steps.Current) string {
	step := fmt.Sprintf("the step %s of the workflow %s", c.Name(), message.Words(c.Workflow.Command))
	switch one.rule.Command {
	case "step end":
		level := c.Workflow.Level()
		if level == "the workflow" {
			level += " " + message.Words(c.Workflow.Command)
		}
		open := slices.DeleteFunc(s.In(c.Workflow), (*steps.Current).Done)
		if len(open) == 0 {
			return "end " + level + ", of which nothing is open"
		}
		return fmt.Sprintf("end %s, whose open steps are then not needed: %s", level, steps.Names(open))
	case "step reopen":
		return "open " + step + " again, and the steps that come after it"
	}
	what, gates := "skip ", "its gates"
	if p := one.past.past; p.Done {
		what = "count as done "
		if p.Outcome != "" {
			step += ", as " + message.Words(p.Outcome)
		}
		for _, name := range slices.Sorted(maps.Keys(p.Values)) {
			step += message.Sprintf(", with %s %q", name, p.Values[name])
		}
	}
	if one.past.past.WithBlockers {
		step, gates = step+", and to skip the open steps before it", "their gates"
	}
	return what + step + ", past " + gates
}

// transcript returns the path of the transcript in which the calls of this agent are.
func (h *stepHook) transcript() string {
	path := h.event.TranscriptPath
	if path == "" || h.event.AgentID == "" {
		return path
	}
	return filepath.Join(strings.TrimSuffix(path, filepath.Ext(path)), "subagents", "agent-"+h.event.AgentID+".jsonl")
}
