package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/continuation"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/permission"
	"github.com/fsmtx/fsmtx/internal/presence"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
)

// shell decides about a line of the agent's shell that runs this program. The client asks the person about commands that take
// something away, and each gets a grant for exactly that command.
func (h *hook) shell(ctx context.Context) client.Answer {
	if !strings.Contains(h.call.Command, "fsmtx") {
		return client.Answer{}
	}
	if h.call.ToolName == permission.PowerShell {
		h.call.Command = shell.FromPowerShell(h.call.Command)
	}
	line := h.call.Command
	script, err := shell.Parse(line)
	if err != nil {
		return client.Answer{} // the shell cannot run it either
	}
	var calls []Invocation
	var found []restrictedCall
	dir := h.call.Cwd
	for _, words := range script.Calls() {
		if call, ok := h.invoked(words); ok {
			calls = append(calls, call)
			if one, ok := h.restricted(ctx, call, dir); ok {
				found = append(found, one)
			}
		}
		dir = changesDirectory(dir, words)
	}
	vouchers, a := h.vouchers(script)
	if a == (client.Answer{}) {
		if a = h.judgeLine(ctx, line, calls, found); a.Exit != client.ExitBlock && len(vouchers) > 0 {
			presence.Vouch(ctx, &h.Store, vouchers)
		}
	}
	return a
}

// judgeLine decides about a line with these calls, of which those that were found need a person.
func (h *hook) judgeLine(ctx context.Context, line string, calls []Invocation, found []restrictedCall) client.Answer {
	switch {
	case !h.agent.Asks:
		return h.refused(ctx, calls, found)
	case len(found) == 0:
		return h.complete(ctx, line, calls)
	}
	v := h.askPerson(ctx, found)
	h.noted(v)
	switch v.Decision {
	case state.Deny:
		return client.Refuse(message.ForAgent(v.Reason))
	case state.Ask:
		return client.Ask(message.ForBoth(v.Reason), nil)
	}
	return h.troubled(v.Trouble)
}

// refused refuses commands that take something away where nobody can be asked. The command would refuse by itself; here the
// model reads at once what the person can do. A command that begins a workflow makes it the session's.
func (h *hook) refused(ctx context.Context, calls []Invocation, found []restrictedCall) client.Answer {
	if len(found) > 0 {
		return client.Refuse(message.ForAgent(message.Sprintf("an agent cannot %s by itself, and %s cannot ask its person about a "+
			"command. Only the person can decide this. They can run it in a terminal outside %[2]s: %[3]s",
			found[0].Rule.What, h.agent.Title, inTerminal(h.call.Cwd, found[0].person))))
	}
	begins := func(call Invocation) bool { return slices.Contains([]string{"begin", "continue"}, call.Rule.Command) }
	if !slices.ContainsFunc(calls, begins) {
		return client.Answer{}
	}
	return h.failed("the session could not be recorded", h.joins(ctx, ""))
}

// Invocation is a call of this program in a line of the agent's shell.
type Invocation struct {
	Rule   Loosening
	Flags  *pflag.FlagSet    // of a command that fsmtx itself does not have, those that the rule reads
	Args   []string          // of the command
	Values map[string]string // that it sets
	Fails  bool              // its arguments are wrong

	line   string // the call, as a shell reads it
	hidden bool   // some of its words are known to the shell only: they are left out
}

// Reader returns what this program would run with the arguments. ok is false if nothing would be run, or only a command that fsmtx
// does not have and that loosens nothing.
type Reader func(args []string) (call Invocation, ok bool)

// PlanFlag is the flag of begin with which the other program has to run it.
const PlanFlag = "plan"

// byState returns to what a person has to agree before a command runs in dir that begins a workflow, goes on with one or works on a step:
// that depends on what is on record. It is empty for other commands, and if they need not agree.
func (h *hook) byState(ctx context.Context, call Invocation, dir string) (what string) {
	deciding := map[string]func(context.Context, Invocation, string) string{"begin": h.begins, "continue": h.takes, "start": h.works,
		"complete": h.works}[call.Rule.Command]
	if deciding == nil || !h.agent.Asks { // without a question the command itself refuses
		return ""
	}
	if h.project() != "" && h.fromClient() {
		_ = h.KeepDirectory(ctx, h.project()) // without it the command takes its own, and the person is told
	}
	return deciding(ctx, call, dir)
}

// takes returns to what a person has to agree before the workflow of a list that is named goes on here; empty if to nothing, and
// if the command refuses by itself.
func (h *hook) takes(ctx context.Context, call Invocation, dir string) (what string) {
	named := call.Flags.Lookup("list").Value.String()
	if named == "" || call.hidden {
		return ""
	}
	q := continuation.Query{Lookup: h.streams.Getenv, Here: cmp.Or(h.project(), dir), List: h.List.Dir, Own: h.List.Dir, Who: h.streams.Who}
	if to := call.Flags.Lookup("to").Value.String(); to != "" {
		var err error
		if q.List, err = h.listNamed(ctx, to); err != nil {
			return ""
		}
		q.Named = true
	}
	u, err := continuation.Choose(ctx, q, named, strings.Join(call.Args, ""))
	if err != nil {
		return ""
	}
	return q.Needs(u)
}

// works returns to what a person has to agree before the agent starts or completes a step in a list that it names; see inOther.
func (h *hook) works(ctx context.Context, call Invocation, dir string) (what string) {
	return h.inOther(ctx, call, dir, call.Rule.Command+" a step")
}

// inOther returns that a command does something in the list of another session, which is at work on it, or in which the gates look in
// another project or work tree; empty for any other list.
func (h *hook) inOther(ctx context.Context, call Invocation, at, does string) string {
	if h.isAboutOwnList(call) {
		return ""
	}
	dir, err := h.listNamed(ctx, call.Flags.Lookup("list").Value.String())
	if err != nil {
		return ""
	}
	if _, others := presence.AtWork(h.streams.Getenv, dir); others {
		return does + " in the list of another session, which is at work on it"
	}
	now, err := state.LoadNow(ctx, dir)
	here := cmp.Or(h.project(), at)
	if err != nil || here == "" {
		return ""
	}
	for _, w := range now.Workflows() {
		if len(now.OpenIn(w)) > 0 && !tasklist.IsIn(h.streams.Getenv, w.Dir, here) {
			return message.Sprintf("%s in the list of another session, whose gates look in %s", does, w.Dir)
		}
	}
	return ""
}

// begins returns to what a person has to agree before a workflow is begun: it would replace unfinished workflows, or dir or its folder is
// not in the session's project. It is empty if to nothing.
func (h *hook) begins(ctx context.Context, call Invocation, dir string) (what string) {
	frame := *h.Frame
	if !h.isAboutOwnList(call) {
		var err error
		if frame.List.Dir, err = h.listNamed(ctx, call.Flags.Lookup("list").Value.String()); err != nil {
			return "" // the command says so
		}
	}
	skill := "a skill"
	if plan := call.Flags.Lookup(PlanFlag).Value.String(); plan != "" {
		skill = hydrate.PlanName(plan)
	} else if len(call.Args) > 0 {
		skill = call.Args[0]
	}
	spec, folder := hydrate.SpecOf(skill, call.Flags.Lookup(PlanFlag).Value.String(), cmp.Or(dir, h.call.Cwd), h.project(),
		h.streams.Getenv)
	lost := frame.WouldReplace(ctx, state.Calling{Command: hydrate.CommandOf(skill), Spec: spec, Session: h.Session, Agent: h.call.AgentID})
	project := h.project()
	if len(lost) == 0 && folder == "" && (project == "" || dir != "" && gates.IsIn(project, dir)) {
		return h.inOther(ctx, call, dir, "begin a workflow")
	}
	return Beginning(skill, lost, dir, folder, project)
}

// Beginning says that a command begins a skill in place of unfinished workflows, in a directory that is not in the session's project, or
// from such a folder. Each may be empty.
func Beginning(skill string, lost []string, dir, folder, project string) (what string) {
	what = "begin " + message.Words(skill)
	switch {
	case folder == skill:
		what += message.Sprintf(", outside of %s,", project)
	case folder != "":
		what += message.Sprintf(" from %s, outside of %s,", folder, project)
	case project != "" && (dir == "" || !gates.IsIn(project, dir)):
		what += message.Sprintf(" in %s, outside of %s,", cmp.Or(dir, "another directory"), project)
	}
	if len(lost) == 0 {
		return strings.TrimSuffix(what, ",")
	}
	return what + " in place of " + strings.Join(lost, ", ")
}

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
func (h *hook) invoked(words []shell.Word) (call Invocation, ok bool) {
	program := slices.IndexFunc(words, func(w shell.Word) bool {
		text, known := w.Text(h.homely)
		return known && settings.IsNamed(text)
	})
	if program < 0 || program > 0 && runsNothing(words[0]) {
		return call, false
	}
	var args []string
	hidden := false
	for _, w := range words[program+1:] {
		text, known := w.Literal()
		if !known {
			hidden, text = true, w.In(h.call.Command)
		}
		args = append(args, text)
	}
	call, ok = h.flags.Read(args)
	call.line = Line(args)
	typed := strings.ReplaceAll(shell.Bare(h.call.Command), "fsmtx.exe", "fsmtx")
	call.hidden = hidden || !strings.Contains(typed, shell.Bare(call.line)) // such as in $'…'
	return call, ok
}

// homely is the lookup for the words of a program's path: of the variables it knows HOME.
func (h *hook) homely(name string) (value string, known bool) {
	if name != "HOME" {
		return "", false
	}
	return h.streams.Getenv(name)
}

// restrictedCall is a call of a command that an agent may not run by itself.
type restrictedCall struct {
	Invocation
	person   string      // the command as a person runs it in another terminal
	override *gates.Past // what it decides about a step; nil for another command
}

// restricted returns a call in dir as one to which a person has to agree; ok is false if they need not, or if it would fail.
func (h *hook) restricted(ctx context.Context, call Invocation, dir string) (one restrictedCall, ok bool) {
	if call.Fails && !call.hidden {
		return one, false
	}
	if !call.Rule.Takes(call.Flags) {
		if call.Rule.What = h.byState(ctx, call, dir); call.Rule.What == "" {
			return one, false
		}
	}
	one = restrictedCall{Invocation: call, person: h.outside(call)}
	if dir != h.call.Cwd && !strings.HasPrefix(call.Rule.Command, "step ") { // which names its list
		one.person = inTerminal(dir, one.person)
	}
	if !one.hidden {
		one.override = overrideOf(call)
	}
	return one, true
}

// outside returns the command as a person runs it outside the session.
func (h *hook) outside(call Invocation) string {
	return Outside(call.Rule, call.Flags, call.Args, call.line, tasklist.ShortName(h.streams.Getenv, h.List.Dir))
}

// runsNothing reports whether the program of a command only prints or looks at its arguments. Any
// other program may run them. If the hook does not see it, the command itself refuses.
func runsNothing(program shell.Word) bool {
	text, _ := program.Literal()
	return slices.Contains([]string{":", "[", "cat", "cp", "diff", "echo", "egrep", "fgrep", "grep", "head", "ls", "man", "mkdir", "mv",
		"printf", "rg", "rm", "tail", "tar", "test", "touch", "true", "wc", "which"}, filepath.Base(text))
}

// overrideOf returns what a command decides about a step, nil if it is another one.
func overrideOf(call Invocation) *gates.Past {
	because := call.Flags.Lookup("because")
	other := call.Rule.Command
	if other == "step end" && len(call.Args) == 0 && because != nil {
		return &gates.Past{Because: strings.TrimSpace(because.Value.String())} // the only workflow that is open
	}
	if because == nil || len(call.Args) != 1 || other == "step move" || other == "step reload" {
		return nil
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(call.Args[0], "#"), 10, 64)
	if err != nil {
		return nil
	}
	p := &gates.Past{Step: n, Done: call.Rule.Command == "step done", Because: strings.TrimSpace(because.Value.String()),
		WithBlockers: isSet(call.Flags, "with-blockers"), Values: call.Values}
	if outcome := call.Flags.Lookup("outcome"); outcome != nil {
		p.Outcome = outcome.Value.String()
	}
	return p
}

// askPerson returns the question about the calls.
func (h *hook) askPerson(ctx context.Context, found []restrictedCall) gates.Verdict {
	refuse := func(reason string) gates.Verdict {
		return gates.Verdict{Decision: state.Deny, Why: takesAway, Reason: reason}
	}
	if why := h.unaskable(ctx, found[0]); why != "" {
		return refuse(why)
	}
	if len(found) == 1 { // of several, one may make the next one possible
		why, err := h.wouldFail(ctx, &found[0])
		if err != nil {
			return unasked(found[0].line, err)
		}
		if why != nil {
			return refuse(strings.TrimSuffix(message.Words(why.Error())+"; "+message.Hint(why), "; "))
		}
	}
	var questions, offers []string
	for _, one := range found {
		if one.hidden {
			return refuse("write the command literally, without variables, substitutions or patterns, so that the person " +
				"can see it: an agent cannot " + one.Rule.What + " by itself")
		}
		question, ok, err := h.question(ctx, one)
		if err == nil && !ok {
			continue
		}
		if err == nil && one.Rule.Command != "start" && one.Rule.Command != "complete" { // there a yes to the call is not one to the step
			err = h.grant(ctx, one.Invocation)
		}
		if err != nil {
			return unasked(one.line, err)
		}
		questions, offers = append(questions, question), append(offers, one.person)
	}
	if len(questions) == 0 {
		return gates.Verdict{}
	}
	reason := strings.Join(questions, "\n") + "\nIf nobody answers, this is refused. A person can also run it in a terminal outside " +
		"the client, not with ! in it: " + inTerminal(h.call.Cwd, strings.Join(offers, shell.Then()))
	return gates.Verdict{Decision: state.Ask, Why: takesAway, Reason: reason}
}

// takesAway is why a command is asked about or refused.
const takesAway = "takes something away"

// unaskable returns why the person cannot be asked about a call, empty if they can.
func (h *hook) unaskable(ctx context.Context, one restrictedCall) string {
	switch who := h.who(); {
	case !who.FromClient():
		return "this event does not come from the client, so nobody is asked: " + who.Why
	case who.Kind == caller.Agent && who.Program != "" && who.Program != h.agent.Name:
		return who.Program + " cannot ask its person about a command. " + OnlyAPerson(who, h.call.Cwd, one.person)
	}
	if hook := h.newAnswerer(ctx); hook != "" {
		return state.NotByPerson(hook, inTerminal(h.call.Cwd, one.person))
	}
	return ""
}

// unasked returns the verdict on a call about which the person could not be asked.
func unasked(what string, err error) gates.Verdict {
	return gates.Verdict{Trouble: message.ForPerson(message.Sprintf("the person could not be asked about %s: %v", what, err))}
}

// grant lets a yes count for the call.
func (h *hook) grant(ctx context.Context, call Invocation) error {
	return h.Grant(ctx, state.Grant{Command: call.line, Session: h.Session, Agent: h.call.AgentID,
		Use: h.call.ToolUseID, Written: h.transcript()})
}

// question returns the question to the person about one call. ok is false if the command would
// fail anyway.
func (h *hook) question(ctx context.Context, one restrictedCall) (question string, ok bool, err error) {
	if one.Rule.Command == "step reload" {
		question, why, err := h.reloads(ctx, one)
		return question, why == nil, err
	}
	if one.override == nil {
		return fmt.Sprintf("The agent wants to %s: %s", one.Rule.What, one.line), true, nil
	}
	s, err := h.stateFor(ctx, one)
	if err != nil {
		return "", false, err
	}
	step := one.override.Step
	if step == 0 {
		step, _ = gates.OnlyOpen(s)
	}
	c := s.Step(step)
	if c == nil {
		return "", false, nil
	}
	return fmt.Sprintf("The agent wants to %s. Its reason: %s", one.deed(s, c), message.Words(one.override.Because)), true, nil
}

// reloads returns the question about a reload, which has each gate that goes or is another; or why there is nothing to reload.
func (h *hook) reloads(ctx context.Context, one restrictedCall) (question string, why, err error) {
	s, err := h.stateFor(ctx, one)
	if err != nil {
		return "", nil, err
	}
	r, why := hydrate.PrepareReload(s, h.List.Dir, strings.Join(one.Args, ""))
	if why != nil {
		return "", why, nil
	}
	what := "no gate goes or gets weaker"
	if len(r.Weaker) > 0 {
		what = "these gates go or are others: " + strings.Join(r.Weaker, "; ")
	}
	return fmt.Sprintf("The agent wants to take the changed fsm.json of %s (%s). Its reason: %s", message.Words(r.Workflow.Command),
		message.Words(what), message.Words(one.Flags.Lookup("because").Value.String())), nil, nil
}

// stateFor returns the state of the list that a command decides about.
func (h *hook) stateFor(ctx context.Context, one restrictedCall) (*state.State, error) {
	dir, err := h.listFor(ctx, one)
	if dir == "" || err != nil {
		return new(state.State), err
	}
	return state.LoadNow(ctx, dir)
}

// listFor returns the directory of the list that a command decides about, empty if it names none that there is: it says so itself.
func (h *hook) listFor(ctx context.Context, one restrictedCall) (string, error) {
	list := one.Flags.Lookup("list")
	if list == nil || list.Value.String() == "" {
		return h.List.Dir, nil
	}
	dir, err := h.listNamed(ctx, list.Value.String())
	if errors.Is(err, tasklist.ErrNoSuchList) {
		return "", nil
	}
	return dir, err
}

// listNamed returns the directory of another list.
func (h *hook) listNamed(ctx context.Context, name string) (dir string, err error) {
	found, err := tasklist.Find(ctx, tasklist.Query{Lookup: h.streams.Getenv, Named: name, Who: h.streams.Who})
	return found.Dir, err
}

// wouldFail returns why a command would fail whatever the person says: they are not asked then, and the agent reads why.
func (h *hook) wouldFail(ctx context.Context, call *restrictedCall) (why, err error) {
	one := *call
	switch one.Rule.Command {
	case "step reload":
		_, why, err = h.reloads(ctx, one)
		return why, err
	case "undo":
		dir, err := h.listFor(ctx, one)
		if dir == "" || err != nil || one.hidden {
			return nil, err
		}
		number, why := TryUndo(ctx, dir, isSet(one.Flags, "force"), one.Args)
		if number != "" && len(one.Args) == 0 {
			call.person += " " + number // when it is pasted, another call may be the last one
		}
		return why, nil
	}
	if one.override == nil {
		return nil, nil
	}
	s, err := h.stateFor(ctx, one)
	if err != nil || len(s.Steps) == 0 { // without a workflow the hook says nothing, and the command itself refuses
		return nil, err
	}
	return one.Decides(s), nil
}

// Decides returns why a command that decides about a step of this list would fail.
func (x Invocation) Decides(s *state.State) error {
	past := overrideOf(x)
	switch {
	case len(s.Steps) == 0 && s.Departed.Last() == "":
		return errors.New("there is no workflow in this task list")
	case past == nil:
		return nil
	case x.Rule.Command == "step skip", x.Rule.Command == "step done":
		return gates.MayPass(s, *past)
	case x.Rule.Command == "step reopen":
		return gates.MayReopen(s, past.Step, "")
	case past.Step == 0:
		_, why := gates.OnlyOpen(s)
		return why
	}
	return gates.MayEnd(s, past.Step)
}

// TryUndo returns the number of the call that undo would undo in a list, or why it would fail, which the command itself says; nothing if
// that is not known.
func TryUndo(ctx context.Context, list string, force bool, args []string) (number string, why error) {
	program, err := programs.FindTools()
	if err != nil {
		return "", nil
	}
	more := []string{"undo", "--dry-run", "--json", "--list", list, "--force=" + strconv.FormatBool(force)}
	var out, said strings.Builder
	trial := exec.CommandContext(ctx, program, append(more, args...)...)
	trial.Stdout, trial.Stderr = &out, &said
	if err = trial.Run(); err == nil {
		return string(jsonx.Member(jsonx.Member([]byte(out.String()), "hydration"), "number")), nil
	}
	failed, ok := errors.AsType[*exec.ExitError](err)
	if !ok || failed.ExitCode() != 1 {
		return "", nil
	}
	text, hint, _ := strings.Cut(strings.TrimPrefix(said.String(), "fsmtx: "), "\nhint: ")
	return "", message.WithHint(errors.New(text), strings.TrimSpace(hint))
}

// deed says what a command of "fsmtx step" does to a step, behind "to": all of it, because the person agrees to all of it.
func (one restrictedCall) deed(s *state.State, c *state.Current) string {
	step := fmt.Sprintf("the step %s of the workflow %s", c.Name(), message.Words(c.Workflow.Command))
	switch one.Rule.Command {
	case "step end":
		level := c.Workflow.Level()
		if level == "the workflow" {
			level += " " + message.Words(c.Workflow.Command)
		}
		return fmt.Sprintf("end %s, whose open steps are then not needed: %s", level, state.Names(gates.EndedWith(s, c.Workflow)))
	case "step reopen":
		return "open " + step + " again, and the steps that come after it"
	}
	what, found := "skip ", "its gates"
	if p := one.override; p.Done {
		what, step = "mark ", step+" as done"
		if p.Outcome != "" {
			step += ", with the outcome " + message.Words(p.Outcome)
		}
		for _, name := range slices.Sorted(maps.Keys(p.Values)) {
			step += message.Sprintf(", with %s %q", name, p.Values[name])
		}
	}
	if one.override.WithBlockers {
		step, found = step+", and to skip the open steps before it", "their gates"
	}
	return what + step + ", past " + found
}

// transcript returns the path of the transcript in which the calls of this agent are.
func (h *hook) transcript() string {
	path := h.call.TranscriptPath
	if path == "" || h.call.AgentID == "" {
		return path
	}
	return filepath.Join(strings.TrimSuffix(path, filepath.Ext(path)), "subagents", "agent-"+h.call.AgentID+".jsonl")
}
