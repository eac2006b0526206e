package install

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// AskPurge says what Purge would forget and what it leaves, and reports whether the person agrees. Without a terminal nobody is asked:
// it returns an error then.
func AskPurge(ctx context.Context, s terminal.Streams) (agreed bool, err error) {
	lists, open, dirs, err := forgotten(ctx, s)
	if err != nil {
		return false, err
	}
	out := askedOn(s)
	message.Fprintf(out, "This removes the hooks of this project and your own, of every agent, and the record of %s:\n"+
		"after it no step is enforced, and fsmtx undo has nothing to undo. The tasks are kept.\n", terminal.Count(lists, "task list"))
	if shared := shared(s, agent.Names()); len(shared) > 0 {
		message.Fprintf(out, "Shared with everyone who works on the project: %s.\n", strings.Join(shared, ", "))
	}
	if len(open) > 0 {
		message.Fprintf(out, "Open, and forgotten:\n")
	}
	for _, line := range open {
		message.Fprintf(out, "  %s\n", line)
	}
	kept := keptHooks(s, dirs)
	if len(kept) > 0 {
		message.Fprintf(out, "Other projects in which a workflow has begun keep their hooks:\n")
	}
	for _, k := range kept {
		message.Fprintf(out, "  %s (%s takes them out)\n", k.path, k.command)
	}
	return agrees(s, "--purge", "Remove all of that?")
}

// AskShared says which files a removal changes that everyone who works on the project shares, and reports whether the person agrees.
// It asks nothing where there are none. Without a terminal it returns an error.
func AskShared(s terminal.Streams, r Request) (agreed bool, err error) {
	names := r.Agents
	if len(names) == 0 {
		names = []string{caller.Claude}
	}
	shared := shared(s, chosen(s, names))
	if r.Scope != Project || len(shared) == 0 {
		return true, nil
	}
	out := askedOn(s)
	message.Fprintf(out, "%s: shared with everyone who works on the project; what fsmtx has there, it has for all of them.\n",
		strings.Join(shared, ", "))
	return agrees(s, "--remove --project", "Remove what fsmtx has there?")
}

// askedOn is where the person reads what is asked about, or why nothing is.
func askedOn(s terminal.Streams) io.Writer {
	if s.InputIsTerminal() {
		return s.Out
	}
	return s.Err
}

// agrees asks the person who runs install with the flags.
func agrees(s terminal.Streams, flags, question string) (bool, error) {
	if !s.InputIsTerminal() {
		return false, message.NewError(flags+" asks, and standard input is not a terminal: nothing was removed", "add --yes to agree to that")
	}
	return NewPerson(s).Agrees(question, false), nil
}

// shared returns the files of this project that a removal for the agents changes, but for those of the person, as a project in HOME has
// them. One that cannot be edited is not among them: the removal reports it.
func shared(s terminal.Streams, agents []string) (paths []string) {
	for _, name := range agents {
		j := &job{Request: Request{Scope: Project}, verb: remove}
		files, _, err := agentInstall{j, agent.Named(name)}.files(s)
		if err != nil {
			continue
		}
		for _, w := range files {
			if !bytes.Equal(w.data, w.Data) && !isUsers(s, w.Path) {
				paths = append(paths, w.Path)
			}
		}
	}
	return paths
}

// forgotten returns how many lists have a record, a line for each workflow in them that is open, and the directories of the workflows.
func forgotten(ctx context.Context, s terminal.Streams) (lists int, open, dirs []string, err error) {
	all, err := tasklist.WithHistory(s.Getenv)
	if err != nil {
		return 0, nil, nil, err
	}
	for _, dir := range all {
		st, err := state.LoadNow(ctx, dir)
		if ctx.Err() != nil {
			return 0, nil, nil, context.Cause(ctx)
		}
		if err != nil {
			open = append(open, fmt.Sprintf("the list %s, which cannot be read: %v", filepath.Base(dir), err))
			continue
		}
		for _, w := range st.Workflows() {
			dirs = append(dirs, w.Dir)
			if st.Parent(w) == nil && len(st.OpenIn(w)) > 0 {
				open = append(open, fmt.Sprintf("%s: %s, in %s", message.Words(w.Command), st.CountIn(w).Short(), w.Dir))
			}
		}
	}
	return len(all), open, dirs, nil
}

// keptFile is a settings file of another project that Purge does not touch.
type keptFile struct{ path, command string }

// keptHooks returns the files with our hooks of the projects that the client knows, and of those in dirs, but for this project. A file
// that cannot be read is not known to have any.
func keptHooks(s terminal.Streams, dirs []string) (kept []keptFile) {
	if path, err := client.ConfigFile(s.Getenv); err == nil {
		if known, err := settings.Read(path); err == nil && len(known.Data) > 0 {
			more, _ := projectsIn(known.Data)
			dirs = append(dirs, more...)
		}
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		if !filepath.IsAbs(dir) || safefile.Same(dir, cwd) {
			continue
		}
		add := func(name, flags string) {
			path := filepath.Join(dir, name)
			data, err := safefile.ReadFile(path, settings.MaxBytes, 0)
			if err == nil && len(settings.Calls(data)) > 0 && !isUsers(s, path) {
				kept = append(kept, keptFile{path, strings.TrimSpace("cd " + shell.Join(dir) + shell.Then() + "fsmtx install --remove " + flags)})
			}
		}
		add(client.LocalSettings, "")
		add(client.ProjectSettings, "--project")
		for _, a := range agent.Others() {
			if a.Hooks.Project != "" {
				add(a.Hooks.Project, "--project --agent "+a.Name)
			}
		}
	}
	return kept
}

// isUsers reports whether a file is one of the person's own, which Purge changes: that of a project in HOME may be.
func isUsers(s terminal.Streams, path string) bool {
	config, err := client.ConfigDir(s.Getenv)
	if err == nil && safefile.Same(path, filepath.Join(config, client.UserSettings)) {
		return true
	}
	return slices.ContainsFunc(agent.Others(), func(a *agent.Agent) bool {
		file := a.UserFile(s.Getenv, a.Hooks.User)
		return a.Hooks.User != "" && file != "" && safefile.Same(path, file)
	})
}
