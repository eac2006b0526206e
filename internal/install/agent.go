package install

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// runAgents does the job for each agent that is asked for. The status is the largest of theirs.
func (j *job) runAgents(s terminal.Streams) (status Status, err error) {
	names := chosen(s, j.Agents)
	if len(names) == 0 {
		return Unreadable, message.NewError("no agent was found: none has a directory in your home or a program on PATH",
			"name one: fsmtx install --agent codex")
	}
	var failures []error
	for _, name := range names {
		one, err := j.runAgent(s, name)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		status = max(status, one)
	}
	if err := errors.Join(failures...); err != nil {
		return Unreadable, err
	}
	return status, nil
}

// runAgent does the job for one agent. With all agents, those of Claude Code are the person's in all
// projects, as those of the others are, unless a scope is given that others have, too.
func (j *job) runAgent(s terminal.Streams, name string) (Status, error) {
	one := *j
	if name == caller.Claude && one.Scope == Local && slices.Contains(j.Agents, All) {
		one.Scope = User
	}
	return one.run(s, agent.Named(name))
}

// run does the job for an agent, once again while another program keeps changing a file, up to 100 times.
func (j *job) run(s terminal.Streams, a *agent.Agent) (status Status, err error) {
	if self, err := programs.Path(); err == nil && j.verb == put && !a.Native && !a.PowerShell && filepath.Ext(self) == ".exe" {
		return Unreadable, fmt.Errorf("%s: %w", a.Title, errNotOnWindows)
	}
	for range 100 {
		if status, err = (agentInstall{j, a}).once(s); !errors.Is(err, safefile.ErrChanged) {
			break
		}
	}
	return status, err
}

// errNotOnWindows is returned for the agents of which it is not known how they run a hook there.
var errNotOnWindows = message.NewError("not on Windows yet", "install them in WSL, with the agent in WSL as well")

// chosen returns the names of the agents that the given words stand for.
func chosen(s terminal.Streams, words []string) (names []string) {
	if !slices.Contains(words, All) {
		return slices.Compact(slices.Sorted(slices.Values(words)))
	}
	if dir, err := client.ConfigDir(s.Getenv); err == nil && (safefile.IsDir(dir) || onPath(caller.Claude)) {
		names = append(names, caller.Claude)
	}
	for _, a := range agent.Others() {
		if a.IsInstalled(s.Getenv) {
			names = append(names, a.Name)
		}
	}
	return names
}

func onPath(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// agentInstall is install for one agent.
type agentInstall struct {
	*job
	agent *agent.Agent
}

// once does the job for the agent. Only compare returns another status than Installed.
func (a agentInstall) once(s terminal.Streams) (Status, error) {
	files, unusable, err := a.files(s)
	if err != nil {
		return Unreadable, err
	}
	if unusable != nil && a.verb != remove {
		for i, w := range files {
			if w.report.State == settings.Installed {
				files[i].report = settings.Report{State: settings.Outdated, Why: []string{unusable.Error()}}
			}
		}
	}
	switch {
	case a.verb == compare:
		return a.printState(s, files), nil
	case a.verb == remove:
		slices.Reverse(files) // the first may have created the directory
	case !a.preview:
		if err := renewCopy(s); err != nil {
			return Installed, err
		}
	}
	var failed error
	for _, w := range files {
		if failed = errors.Join(failed, a.write(s, w)); failed != nil && a.verb != remove {
			return Installed, failed
		}
	}
	if a.verb == put && !a.preview {
		a.printAfter(s, files)
	}
	return Installed, failed
}

// write replaces one file, or prints what it would be.
func (a agentInstall) write(s terminal.Streams, w wanted) error {
	whose := ""
	if !a.agent.Session {
		whose = " for " + a.agent.Title
	}
	is, was := w.what()+whose, w.report.State
	switch {
	case w.unknown != nil && a.verb == remove:
		return fmt.Errorf("cannot find out whether the MCP server fsmtx is registered, so it was not removed: %w", w.unknown)
	case w.unknown != nil:
		return w.printUnknown(s)
	case a.preview:
		if _, isTOML := w.members[0].(tomlServer); isTOML && len(w.data) > 0 {
			return s.Printf("%s", message.Lines(w.data))
		}
		_, err := s.Out.Write(message.JSON(bytes.TrimPrefix(w.data, []byte(mark))))
		return err
	case was == settings.Absent && a.verb == remove && a.quiet:
		return nil
	}
	done := "installed " + is + " in %s\n"
	switch {
	case a.verb == remove && was == settings.Absent:
		done = "nothing to remove of " + is + " from %s\n"
	case w.beside != "" && a.verb == put:
		done = "removed " + is + " from %s, which overrules the file that install writes\n"
	case a.verb == remove && w.data == nil:
		done = "removed " + is + ": %s, which held nothing else\n"
	case a.verb == remove:
		done = "removed " + is + " from %s\n"
	case was == settings.Outdated:
		done = "updated " + is + " in %s\n"
	case was == settings.Installed:
		done = is + ": already installed in %s\n"
	}
	if err := w.Replace(w.data); err != nil {
		return err
	}
	return s.Printf(done, w.Path)
}

// printUnknown says why it is not known whether the server is registered.
func (w wanted) printUnknown(s terminal.Streams) error {
	return s.Printf("  it is not known whether the MCP server fsmtx is registered: %v\n", w.unknown)
}

// files returns the files that install writes for the agent, with what they should have, and why the command of the hooks would not
// run this program, nil if it would.
func (a agentInstall) files(s terminal.Streams) (files []wanted, unusable, err error) {
	command, unusable, err := a.program(s)
	if err != nil {
		return nil, nil, err
	}
	if a.agent.Session {
		files, err = a.claudeFiles(s, command)
	} else {
		files, err = a.otherFiles(s, command)
	}
	for i := range files {
		switch w := &files[i]; {
		case err != nil || w.unknown != nil:
		case a.isIrrelevant(w.File):
			w.data = w.Data
		default:
			err = w.edit(a.verb == remove)
		}
	}
	return files, unusable, err
}

// otherFiles returns the files of an agent other than Claude Code. That of the MCP server is among them with --mcp, for an agent
// without hooks, and if it has the server.
func (a agentInstall) otherFiles(s terminal.Streams, command string) (files []wanted, err error) {
	hooksPath, err := a.path(s, a.agent.Hooks)
	if err != nil {
		return nil, err
	}
	serverPath, err := a.path(s, a.agent.Server)
	if err != nil {
		return nil, err
	}
	if hooksPath != "" {
		file, err := settings.Read(hooksPath)
		if err != nil {
			return nil, err
		}
		if err := a.check(file, a.agent.Hooks); err != nil {
			return nil, err
		}
		h := agentHooks(a.agent, command)
		if !a.isIrrelevant(file) {
			if h, err = settings.Keep(file.Data, h); err != nil {
				return nil, inFile(file, err)
			}
		}
		for i := range h {
			h[i].Flags = a.Steps.Applied(h[i].Flags)
		}
		files = append(files, wanted{File: file, members: []member{hooks(h)}})
	}
	if serverPath == "" {
		return files, nil
	}
	if files, err = a.withServer(files, serverPath, command); err != nil || a.agent.Server.Beside == "" {
		return files, err
	}
	// The file that the agent reads after that of the server, if it has our server.
	file, err := settings.Read(serverPath + a.agent.Server.Beside)
	if err != nil || !bytes.Contains(file.Data, []byte(settings.Program)) {
		return files, err
	}
	had, err := a.has(a.server(command), file.Data)
	switch {
	case err != nil && !a.isTheirs(err):
		return nil, inFile(file, err)
	case err == nil && had:
		files = append(files, wanted{File: file, members: []member{a.server(command)}, beside: filepath.Base(serverPath)})
	}
	return files, nil
}

// check returns an error for a file with comments if the agent reads none in its files of this kind. From such a file
// something can be removed nevertheless.
func (a agentInstall) check(file *settings.File, of agent.Files) error {
	if of.Comments || a.verb == remove || a.isIrrelevant(file) {
		return nil
	}
	return inFile(file, settings.Strict(file.Data))
}

// isIrrelevant reports whether a file that is only looked at, or from which something is to be
// removed, has nothing of this program. It may then be in a form that cannot be edited.
func (a agentInstall) isIrrelevant(file *settings.File) bool {
	return a.verb != put && !bytes.Contains(file.Data, []byte(settings.Program))
}

// path returns the absolute path of the agent's file of the chosen scope, empty if it has none.
func (a agentInstall) path(s terminal.Streams, files agent.Files) (string, error) {
	if a.Scope == Project {
		if files.Project == "" {
			return "", nil
		}
		return filepath.Abs(files.Project)
	}
	if files.User == "" {
		return "", nil
	}
	path := a.agent.UserFile(s.Getenv, files.User)
	if path == "" {
		return "", client.ErrNoHome
	}
	return path, nil
}

// agentHooks returns the hooks of an agent.
func agentHooks(a *agent.Agent, command string) (hooks []settings.Hook) {
	for _, r := range a.Registrations {
		h := settings.Hook{
			Event: r.Event, Matcher: r.Matcher, Command: command, Args: []string{"hook", "--agent=" + a.Name}, Flags: []string{},
			Timeout:    settings.HookLimit(tasklist.Wait) * int(time.Second/a.TimeoutUnit),
			PowerShell: a.PowerShell && filepath.Ext(command) == ".exe",
		}
		if r.Moment == agent.Start {
			person, model := settings.Missing(command)
			answer := a.Answer(agent.Call{Event: &client.Event{Name: r.Event}, Moment: r.Moment}, client.Tell(client.SessionStart, model, person))
			h.Report = strings.TrimSpace(answer.Output)
		}
		hooks = append(hooks, h)
	}
	return hooks
}

// withServer adds the MCP server to the files: to that of the hooks if it is the same.
func (a agentInstall) withServer(files []wanted, path, command string) ([]wanted, error) {
	asked := a.MCP || len(a.agent.Registrations) == 0
	i := slices.IndexFunc(files, func(w wanted) bool { return w.Path == path })
	if i < 0 {
		file, err := settings.Read(path)
		if err != nil {
			return nil, err
		}
		if a.agent.ServerPath != nil {
			if err := a.check(file, a.agent.Server); err != nil {
				return nil, err
			}
		}
		i, files = len(files), append(files, wanted{File: file})
	}
	w, server := &files[i], a.server(command)
	had, err := false, error(nil)
	if !a.isIrrelevant(w.File) {
		had, err = a.has(server, w.Data)
	}
	switch {
	case err != nil && !(a.isTheirs(err) && (a.verb == remove || !asked)):
		return nil, inFile(w.File, err)
	case had, asked && a.verb != remove:
		w.members = append(w.members, server)
	case len(w.members) == 0 && asked:
		w.members = []member{server} // of which there is nothing to remove
	case len(w.members) == 0:
		files = slices.Delete(files, i, i+1)
	}
	return files, nil
}

// has reports whether a file has the member. A file from which it is to be removed may have mistakes elsewhere.
func (a agentInstall) has(m member, data []byte) (bool, error) {
	if a.verb == remove {
		rest, err := m.remove(data)
		return err == nil && (rest == nil || !bytes.Equal(rest, data)) && data != nil, err
	}
	r, err := m.inspect(data)
	return r.State != settings.Absent, err
}

// isTheirs reports whether an error says that the file has no server of ours.
func (a agentInstall) isTheirs(err error) bool {
	return errors.Is(err, errServer) || errors.Is(err, settings.ErrForeign) || a.verb != remove && errors.Is(err, errTOML)
}

// server returns the MCP server of the agent.
func (a agentInstall) server(command string) member {
	if a.agent.ServerPath == nil {
		return tomlServer{command}
	}
	fields := a.agent.ServerFields
	if fields == nil {
		fields = map[string]any{}
	}
	return jsonServer{Path: a.agent.ServerPath, Command: command, Args: []string{"mcp"}, Fields: fields, List: a.agent.ServerList}
}

// printState prints what is found, and returns the worst of it.
func (a agentInstall) printState(s terminal.Streams, files []wanted) (status Status) {
	whose := ""
	if !a.agent.Session {
		whose = a.agent.Title + ": "
	}
	for _, w := range files {
		if w.unknown != nil {
			_ = w.printUnknown(s)
			continue
		}
		word, worse := "installed in", Installed
		switch w.report.State {
		case settings.Absent:
			word, worse = "absent from", Absent
		case settings.Outdated:
			word, worse = "outdated in", Outdated
		}
		status = max(status, worse)
		message.Fprintf(s.Out, "%s%s: %s %s\n", whose, w.what(), word, w.Path)
		for _, why := range w.report.Why {
			message.Fprintf(s.Out, "  %s\n", why)
		}
		if worse == Installed {
			a.printClaude(s, w)
		}
	}
	off := a.agent.Session && a.printOff(s)
	if (a.printDemands(s, files, false) || off) && status == Installed {
		return Off
	}
	return status
}

// printAfter prints what a person has to know when the files are written.
func (a agentInstall) printAfter(s terminal.Streams, files []wanted) {
	for _, w := range files {
		a.printClaude(s, w)
	}
	changed := slices.ContainsFunc(files, func(w wanted) bool { return w.report.State != settings.Installed })
	if a.agent.Session {
		a.hintClaude(s, files[0])
	}
	if a.Scope == Project && changed {
		hintColleagues(s)
	}
	if copied, ok, err := findCopy(s.Getenv); a.Scope == Project && changed && a.agent.Session && err == nil && ok {
		s.Hintf("on this PATH that name is npm's launcher, which starts Node for each hook; put %q before it on PATH to avoid that",
			filepath.Dir(copied.Path()))
	}
	if tools := files[0].tools; tools != nil && tools.hint() != "" {
		s.Hintf("%s", tools.hint())
	}
	a.printDemands(s, files, true)
}

// printDemands prints what the person has to do before the agent reads the files and runs the hooks, and
// returns whether it is known that they have not done it. always prints it also where it is not known.
func (a agentInstall) printDemands(s terminal.Streams, files []wanted, always bool) (unmet bool) {
	d := a.agent.Demands
	for _, one := range files {
		if one.report.State != settings.Absent || always {
			unmet = unmet || a.isUnmet(s, one)
		}
	}
	if text := a.demand(); text != "" && (unmet || always && d.Unmet == nil) {
		s.Hintf("%s", text)
	}
	return unmet
}

// isUnmet reports whether a demand is known not to be met for a file.
func (a agentInstall) isUnmet(s terminal.Streams, one wanted) bool {
	if len(one.hooks()) == 0 || a.demand() == "" || a.agent.Demands.Unmet == nil {
		return false
	}
	t := agent.Trust{File: one.Path, Config: a.agent.Home.In(s.Getenv), Table: tomlTable}
	if a.Scope == Project {
		t.Project, _ = os.Getwd()
	}
	return a.agent.Demands.Unmet(t)
}
