package install

import (
	"bytes"
	"errors"
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
	if name != caller.Claude {
		return retried(s, agentInstall{&one, agent.Other(name)}.once)
	}
	if one.Scope == Local && slices.Contains(j.Agents, All) {
		one.Scope = User
	}
	return retried(s, one.once)
}

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

// agentInstall is install for one agent other than Claude Code.
type agentInstall struct {
	*job
	agent *agent.Agent
}

// agentFile is what one file of an agent should have.
type agentFile struct {
	*settings.File
	hooks  []settings.Hook
	server *settings.Server // in a JSON file
	table  *tomlServer      // in a TOML file
	data   []byte           // the file as it should be
	report settings.Report
	beside bool   // the agent reads it after the file of the server, and the server does not belong there
	demand string // what the person has to do before the agent runs the hooks; empty if nothing is known
}

// once does the job for the agent. Only compare returns another status than Installed.
func (a agentInstall) once(s terminal.Streams) (Status, error) {
	command, unusable, err := a.program(s)
	if err != nil {
		return Unreadable, err
	}
	files, err := a.files(s, command)
	if err != nil {
		return Unreadable, err
	}
	switch {
	case a.verb == compare:
		return a.printState(s, files, unusable), nil
	case a.verb == remove:
		slices.Reverse(files) // the first may have created the directory
	case !a.preview:
		if err := renewCopy(s); err != nil {
			return Installed, err
		}
	}
	for _, one := range files {
		if err := a.write(s, one); err != nil {
			return Installed, err
		}
	}
	if a.verb == put && !a.preview {
		if a.Scope == Project && slices.ContainsFunc(files, func(f agentFile) bool { return f.report.State != settings.Installed }) {
			hintColleagues(s)
		}
		a.printDemands(s, files, true)
	}
	return Installed, nil
}

// write replaces one file, or prints what it would be.
func (a agentInstall) write(s terminal.Streams, one agentFile) error {
	done := map[settings.State]string{
		settings.Absent: "installed %s for %s in %s\n", settings.Outdated: "updated %s for %s in %s\n",
		settings.Installed: "%s for %s: already installed in %s\n",
	}[one.report.State]
	switch {
	case a.quiet && one.report.State == settings.Absent:
		return nil
	case a.verb == remove && one.report.State == settings.Absent:
		done = "nothing to remove of %s for %s from %s\n"
	case one.beside && a.verb == put:
		done = "removed %s for %s from %s, which overrules the file that install writes\n"
	case a.verb == remove && one.data == nil:
		done = "removed %s for %s: %s, which held nothing else\n"
	case a.verb == remove:
		done = "removed %s for %s from %s\n"
	}
	if a.preview {
		if len(one.data) > 0 && one.table != nil {
			return s.Printf("%s", message.Lines(one.data))
		}
		_, err := s.Out.Write(message.JSON(one.data))
		return err
	}
	return write(s, one.File, one.data, done, one.what(), a.agent.Title, one.Path)
}

// what names what the file has.
func (one agentFile) what() string {
	switch {
	case len(one.hooks) == 0:
		return "the MCP server"
	case one.server != nil:
		return "the hooks and the MCP server"
	}
	return "the hooks"
}

// files returns the files that install writes for the agent, with what they should have. The
// file of the MCP server is among them with --mcp, for an agent without hooks, and if it has the
// server.
func (a agentInstall) files(s terminal.Streams, command string) (files []agentFile, err error) {
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
		hooks := agentHooks(a.agent, command)
		if !a.isIrrelevant(file) {
			if hooks, err = settings.Keep(file.Data, hooks); err != nil {
				return nil, inFile(file, err)
			}
		}
		for i := range hooks {
			hooks[i].Flags = a.Steps.Applied(hooks[i].Flags)
		}
		files = append(files, agentFile{File: file, hooks: hooks})
	}
	if files, err = a.withServer(files, serverPath, command); err != nil {
		return nil, err
	}
	if files, err = a.withOther(files, serverPath, command); err != nil {
		return nil, err
	}
	for i := range files {
		if err := a.edit(&files[i]); err != nil {
			return nil, inFile(files[i].File, err)
		}
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
			Timeout: settings.HookLimit(tasklist.Wait) * int(time.Second/a.TimeoutUnit),
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
func (a agentInstall) withServer(files []agentFile, path, command string) ([]agentFile, error) {
	if path == "" {
		return files, nil
	}
	wanted := a.MCP || len(a.agent.Registrations) == 0
	one := agentFile{}
	if i := slices.IndexFunc(files, func(f agentFile) bool { return f.Path == path }); i >= 0 {
		one = files[i]
		files = slices.Delete(files, i, i+1)
	} else {
		file, err := settings.Read(path)
		if err != nil {
			return nil, err
		}
		if a.agent.ServerPath != nil {
			err = a.check(file, a.agent.Server)
		}
		if one.File = file; err != nil {
			return nil, err
		}
	}
	if a.isIrrelevant(one.File) {
		if wanted || len(one.hooks) > 0 {
			files = append(files, one)
		}
		return files, nil
	}
	had, err := a.addServer(&one, command)
	switch {
	case err != nil && !(a.isTheirs(err) && (a.verb == remove || !wanted)):
		return nil, inFile(one.File, err)
	case !had && (a.verb == remove || !wanted):
		one.table, one.server = nil, nil
	}
	if len(one.hooks) == 0 && one.table == nil && one.server == nil && !wanted {
		return files, nil
	}
	return append(files, one), nil
}

// withOther adds the file that the agent reads after that of the server, if it has our server.
func (a agentInstall) withOther(files []agentFile, path, command string) ([]agentFile, error) {
	if path == "" || a.agent.Server.Beside == "" {
		return files, nil
	}
	file, err := settings.Read(path + a.agent.Server.Beside)
	if err != nil || !bytes.Contains(file.Data, []byte(settings.Program)) {
		return files, err
	}
	one := agentFile{File: file, beside: true}
	had, err := a.addServer(&one, command)
	if err != nil && !a.isTheirs(err) {
		return nil, inFile(file, err)
	}
	if err == nil && had {
		files = append(files, one)
	}
	return files, nil
}

// isTheirs reports whether an error of addServer says that the file has no server of ours.
func (a agentInstall) isTheirs(err error) bool {
	return errors.Is(err, errServer) || errors.Is(err, settings.ErrForeign) || a.verb != remove && errors.Is(err, errTOML)
}

// addServer sets the server that the file should have, and reports whether it has one.
func (a agentInstall) addServer(one *agentFile, command string) (had bool, err error) {
	if a.agent.ServerPath == nil {
		one.table = &tomlServer{command}
		if a.verb == remove {
			_, had, err = one.table.remove(one.Data)
			return had, err
		}
		_, had, err = one.table.inspect(one.Data)
		return had, err
	}
	fields := a.agent.ServerFields
	if fields == nil {
		fields = map[string]any{}
	}
	one.server = &settings.Server{Path: a.agent.ServerPath, Command: command, Args: []string{"mcp"}, Fields: fields, List: a.agent.ServerList}
	report, err := settings.InspectServer(one.Data, *one.server)
	return report.State != settings.Absent, err
}

// edit sets the report about the file, and its data with or without what it should have.
func (a agentInstall) edit(one *agentFile) error {
	one.data = one.Data
	if a.isIrrelevant(one.File) {
		return nil
	}
	var parts []settings.Report
	if one.table != nil {
		why, had, err := one.table.inspect(one.data)
		if err != nil {
			return err
		}
		switch {
		case why != "":
			parts = append(parts, settings.Report{State: settings.Outdated, Why: []string{why}})
		case had:
			parts = append(parts, settings.Report{State: settings.Installed})
		default:
			parts = append(parts, settings.Report{State: settings.Absent})
		}
	}
	if len(one.hooks) > 0 {
		r, err := settings.Inspect(one.data, one.hooks)
		if err != nil && !a.removes(err) {
			return err
		}
		parts = append(parts, r)
	}
	if one.server != nil {
		r, err := settings.InspectServer(one.data, *one.server)
		if err != nil {
			return err
		}
		if r.State == settings.Absent {
			r.Why = []string{"MCP server: is missing"}
		}
		parts = append(parts, r)
	}
	one.report = joined(parts)
	if one.beside {
		one.report = settings.Report{State: settings.Outdated, Why: []string{"MCP server: this file overrules " +
			filepath.Base(strings.TrimSuffix(one.Path, a.agent.Server.Beside)) + ", where install writes it; install takes it out here"}}
	}
	return one.change(a.verb == remove || one.beside)
}

// joined returns the report about a file with these parts: it is outdated unless all are alike.
func joined(parts []settings.Report) (all settings.Report) {
	for i, r := range parts {
		if i == 0 {
			all.State = r.State
		} else if r.State != all.State {
			all.State = settings.Outdated
		}
		all.Why = append(all.Why, r.Why...)
	}
	if all.State == settings.Absent {
		all.Why = nil
	}
	return all
}

// change sets the data of the file with or without what it should have. What was put last is
// removed first: the first may have created the file.
func (one *agentFile) change(remove bool) (err error) {
	switch {
	case one.table != nil && remove:
		one.data, _, err = one.table.remove(one.data)
	case one.table != nil:
		one.data, err = one.table.add(one.data)
	case remove:
		if one.server != nil {
			if one.data, err = settings.RemoveServer(one.data, *one.server); err != nil {
				return err
			}
		}
		if len(one.hooks) > 0 {
			one.data, err = settings.Remove(one.data, one.hooks)
		}
	default:
		if len(one.hooks) > 0 {
			if one.data, err = settings.Add(one.data, one.hooks); err != nil {
				return err
			}
		}
		if one.server != nil {
			one.data, err = settings.AddServer(one.data, *one.server)
		}
	}
	return err
}

// printState prints what is found, and returns the worst of it.
func (a agentInstall) printState(s terminal.Streams, files []agentFile, unusable error) (status Status) {
	for _, one := range files {
		if unusable != nil && one.report.State == settings.Installed {
			one.report = settings.Report{State: settings.Outdated, Why: []string{unusable.Error()}}
		}
		word, worse := "installed in", Installed
		switch one.report.State {
		case settings.Absent:
			word, worse = "absent from", Absent
		case settings.Outdated:
			word, worse = "outdated in", Outdated
		}
		status = max(status, worse)
		message.Fprintf(s.Out, "%s: %s: %s %s\n", a.agent.Title, one.what(), word, one.Path)
		for _, why := range one.report.Why {
			message.Fprintf(s.Out, "  %s\n", why)
		}
	}
	if a.printDemands(s, files, false) && status == Installed {
		return Off
	}
	return status
}

// printDemands prints what the person has to do before the agent reads the files and runs the hooks, and
// returns whether it is known that they have not done it. always prints it also where it is not known.
func (a agentInstall) printDemands(s terminal.Streams, files []agentFile, always bool) (unmet bool) {
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
func (a agentInstall) isUnmet(s terminal.Streams, one agentFile) bool {
	if len(one.hooks) == 0 || a.demand() == "" || a.agent.Demands.Unmet == nil {
		return false
	}
	t := agent.Trust{File: one.Path, Config: a.agent.Home.In(s.Getenv), Table: tomlTable}
	if a.Scope == Project {
		t.Project, _ = os.Getwd()
	}
	return a.agent.Demands.Unmet(t)
}
