package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func (j *job) open(s terminal.Streams) (*settings.File, error) {
	path := client.LocalSettings
	switch j.Scope {
	case User:
		dir, err := client.ConfigDir(s.Getenv)
		if err != nil {
			return nil, err
		}
		path = filepath.Join(dir, client.UserSettings)
	case Project:
		path = client.ProjectSettings
	}
	return settings.Read(path)
}

// claudeFiles returns the files of Claude Code: its settings, and that of the MCP server if it has it or should have it.
func (j *job) claudeFiles(s terminal.Streams, command string) ([]wanted, error) {
	file, err := j.open(s)
	if err != nil {
		return nil, err
	}
	own, err := j.settingsFile(s, file, command)
	if err != nil || j.preview {
		return []wanted{own}, err
	}
	served, err := j.serverFile(s, command)
	own.tools.served = len(served) > 0 && served[0].unknown == nil
	return append([]wanted{own}, served...), err
}

// settingsFile returns what the settings should have: the hooks with the flags that they have there, and those of the command line
// in the place of the same flags.
func (j *job) settingsFile(s terminal.Streams, file *settings.File, command string) (w wanted, err error) {
	w = wanted{File: file, tools: &taskTools{}}
	if j.verb != remove {
		err = settings.Strict(file.Data)
	}
	var all []settings.Hook
	if err == nil {
		all, err = j.Steps.Hooks(file.Data, command, listedHere(s.Getenv), j.Hydrate)
	}
	if err == nil {
		all, err = j.withGuards(file.Data, all, command)
	}
	if err == nil && j.verb != remove {
		*w.tools, err = j.findTaskTools(s, file, all)
	}
	var line []member
	if err == nil {
		line, err = j.Line.lineOf(file.Data, command)
	}
	if err != nil {
		return w, inFile(file, err)
	}
	if j.Scope == Project && j.verb != remove {
		err = checkPortable(all)
	}
	w.members = append([]member{hooks(settings.WithTaskTools(all, w.tools.ours))}, line...)
	return w, err
}

// compared returns how the settings in a file differ from what install would write.
func (j *job) compared(s terminal.Streams, file *settings.File) (w wanted, err error) {
	command, unusable, err := j.program(s)
	if err == nil {
		w, err = j.settingsFile(s, file, command)
	}
	if err == nil {
		err = w.edit(false)
	}
	if unusable != nil && w.report.State == settings.Installed {
		w.report = settings.Report{State: settings.Outdated, Why: []string{unusable.Error()}}
	}
	return w, err
}

// program returns the command of the hooks: this program's path or, in a file that
// colleagues share, its name. unusable is the reason why the command would not run this
// program; it becomes an error only when hooks are written.
func (j *job) program(s terminal.Streams) (command string, unusable, err error) {
	command, unusable, err = j.find(s)
	if err == nil && j.verb == put && !utf8.ValidString(command) {
		err = fmt.Errorf("%w: %s", settings.ErrUnnamable, command)
	}
	return command, unusable, err
}

// find is program, whether or not a file can name what it finds.
func (j *job) find(s terminal.Streams) (command string, unusable, err error) {
	writes := j.verb == put
	path, err := settings.Binary(os.Args[0])
	if errors.Is(err, settings.ErrTemporary) && !writes {
		err = nil
	}
	if err != nil {
		return path, nil, err
	}
	if j.Scope != Project {
		copied, ok, err := findCopy(s.Getenv)
		if err == nil && !ok && writes && !j.preview && isRenamed(filepath.Base(path)) {
			err = fmt.Errorf("%w: %s", settings.ErrRenamed, path)
		}
		if !ok || err != nil {
			return path, nil, err
		}
		return copied.Path(), copied.Check(), nil
	}
	if j.verb == remove {
		return path, nil, nil
	}
	if filepath.Ext(path) == ".exe" && writes {
		return path, nil, errShared
	}
	if unusable = settings.CheckName(); unusable != nil && launcherIsOnPath(s.Getenv) {
		unusable = nil
	}
	if writes {
		err = unusable
	}
	return settings.Program, unusable, err
}

// errShared is returned on Windows for a file that colleagues share.
var errShared = message.NewError("on Windows hooks name fsmtx.exe, and on other systems there is none of that name",
	"install with --local or --user; colleagues on other systems can install with --project")

// isRenamed reports whether the name is that of this program with a version or a platform behind it.
func isRenamed(name string) bool {
	rest, ok := strings.CutPrefix(name, settings.Program)
	return ok && strings.IndexAny(rest, "-_") == 0
}

// checkPortable returns an error if a flag of hydrate is an absolute path, which exists on
// this machine only.
func checkPortable(hooks []settings.Hook) error {
	for _, h := range hooks {
		if !h.Runs("hook") {
			continue
		}
		f, _ := hydrate.ParseFlags(h.Flags)
		if err := f.Portable(); err != nil {
			return err
		}
	}
	return nil
}

// printClaude says of a file of Claude Code's settings where it is read, and what else of it there is.
func (j *job) printClaude(s terminal.Streams, w wanted) {
	if w.tools == nil {
		return
	}
	message.Fprintf(s.Out, "  %s\n  %s\n", j.findReach(s, w.File), *w.tools)
	if len(w.members) > 1 && w.members[1].(statusLine).wanted {
		message.Fprintf(s.Out, "  the status line shows the workflow\n")
	}
}

// hintClaude says what keeps the client from running the hooks, and where else there are some.
func (j *job) hintClaude(s terminal.Streams, w wanted) {
	j.printOff(s)
	j.printOthers(s, w.Path)
	where := j.findReach(s, w.File)
	if advice := where.hint(); advice != "" && !j.hasHooks(where.parent, w.hooks()) {
		s.Hintf("%s", advice)
	}
}

// printOthers says where else the hooks of this program are registered for sessions here.
func (j *job) printOthers(s terminal.Streams, path string) {
	here, err := os.Getwd()
	if err != nil {
		return
	}
	all := hook.Registered(s.Getenv, here)
	for _, r := range all {
		if !safefile.Same(r.Place, path) && !safefile.Same(r.Place, filepath.Join(here, path)) {
			message.Fprintf(s.Out, "  also registered in %s: one is enough, and each call of the agent starts both\n", r.Place)
		}
	}
	if p := (&doctor{Streams: s, cwd: here}).pluginWithHooks(); p.root != "" {
		message.Fprintf(s.Out, "  also registered by the plugin in %s: one is enough, and each call of the agent starts both\n", p.root)
	}
	for _, more := range []string{hook.Differing(all), hook.Observes(all)} {
		if more != "" {
			message.Fprintf(s.Out, "  %s\n", more)
		}
	}
}

// renewCopy updates the copy of the program that the hooks run if npm has installed this one.
func renewCopy(s terminal.Streams) error {
	if copied, ok, err := findCopy(s.Getenv); err == nil && ok {
		return copied.Renew()
	}
	return nil
}

// hintColleagues says what those need who share the project.
func hintColleagues(s terminal.Streams) {
	s.Hintf("your colleagues need %s on their PATH (%s); without it no steps hold, and a hook reports that when a session starts",
		settings.Program, programs.Home)
}
