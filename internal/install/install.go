package install

import (
	"bytes"
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

// retried calls once again while another program keeps changing a file, up to 100 times.
func retried(s terminal.Streams, once func(terminal.Streams) (Status, error)) (status Status, err error) {
	for range 100 {
		if status, err = once(s); !errors.Is(err, safefile.ErrChanged) {
			break
		}
	}
	return status, err
}

// once does the job for Claude Code. Only compare returns another status than Installed.
func (j *job) once(s terminal.Streams) (Status, error) {
	file, err := j.open(s)
	if err != nil {
		return Unreadable, err
	}
	p, err := j.plan(s, file)
	if err != nil {
		return Unreadable, err
	}
	served, err := j.findServer(s, p.command)
	if err != nil && j.verb != remove {
		return Unreadable, err
	}
	p.tools.served = j.MCP || served.report.State != settings.Absent
	switch j.verb {
	case compare:
		p.report = j.checkServer(p.report, served)
		return j.printState(s, p, served), nil
	case remove:
		// The settings last: install created them first, and the directory with them.
		return Installed, errors.Join(err, j.uninstallServer(s, served), j.uninstall(s, p))
	}
	if err := j.install(s, p); err != nil {
		return Installed, err
	}
	return Installed, j.installServer(s, served)
}

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

// installPlan is what install does to a settings file.
type installPlan struct {
	file    *settings.File
	command string          // of the hooks
	hooks   []settings.Hook // that the file should have
	tools   taskTools
	report  settings.Report // how the file differs from that
	line    bool            // the status line shows the workflow
}

// plan compares the file with the hooks that it should have. The flags are those in the file,
// also of the hooks of earlier versions, and those of the command line in the place of the same
// flags.
func (j *job) plan(s terminal.Streams, file *settings.File) (p installPlan, err error) {
	binary, unusable, err := j.program(s)
	if err != nil {
		return p, err
	}
	p = installPlan{file: file, command: binary}
	if j.verb != remove {
		if err := settings.Strict(file.Data); err != nil {
			return p, inFile(file, err)
		}
	}
	if p.hooks, err = j.Steps.Hooks(file.Data, binary, listedHere(s.Getenv), j.Hydrate); err != nil {
		return p, inFile(file, err)
	}
	if p.hooks, err = j.withGuards(file.Data, p.hooks, binary); err != nil {
		return p, inFile(file, err)
	}
	if j.verb != remove {
		if p.tools, err = j.findTaskTools(s, file, p.hooks); err != nil {
			return p, inFile(file, err)
		}
	}
	p.hooks = settings.WithTaskTools(p.hooks, p.tools.ours)
	if j.Scope == Project && j.verb != remove {
		if err := checkPortable(p.hooks); err != nil {
			return p, err
		}
	}
	if p.report, err = settings.Inspect(file.Data, p.hooks); err != nil && !j.removes(err) {
		return p, inFile(file, err)
	}
	if p.line, err = j.Line.wantedLine(file.Data, binary, &p.report); err != nil {
		return p, inFile(file, err)
	}
	if unusable != nil && p.report.State == settings.Installed {
		p.report = settings.Report{State: settings.Outdated, Why: []string{unusable.Error()}}
	}
	return p, nil
}

// removes reports whether the error does not matter, because the hooks are removed.
func (j *job) removes(err error) bool { return j.verb == remove && errors.Is(err, settings.ErrNewer) }

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
	if unusable = settings.CheckName(); unusable != nil && launcherIsOnPath(s.Getenv) {
		unusable = nil
	}
	if writes {
		err = unusable
	}
	return settings.Program, unusable, err
}

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

func (j *job) printState(s terminal.Streams, p installPlan, served server) Status {
	switch p.report.State {
	case settings.Absent:
		message.Fprintf(s.Out, "absent from %s\n", p.file.Path)
		j.printOff(s)
		return Absent
	case settings.Installed:
		message.Fprintf(s.Out, "installed in %s\n", p.file.Path)
		message.Fprintf(s.Out, "  %s\n  %s\n", j.findReach(s, p.file), p.tools)
		if p.line {
			message.Fprintf(s.Out, "  the status line shows the workflow\n")
		}
		if served.report.State == settings.Installed {
			message.Fprintf(s.Out, "  the MCP server fsmtx is registered in %s\n", served.file.Path)
		}
		if served.unknown != nil {
			_ = served.printUnknown(s)
		}
		if j.printOff(s) {
			return Off
		}
		return Installed
	}
	message.Fprintf(s.Out, "outdated in %s\n", p.file.Path)
	for _, why := range p.report.Why {
		message.Fprintf(s.Out, "  %s\n", why)
	}
	j.printOff(s)
	return Outdated
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
	if differing := hook.Differing(all); differing != "" {
		message.Fprintf(s.Out, "  %s\n", differing)
	}
}

func (j *job) install(s terminal.Streams, p installPlan) error {
	data, err := p.added()
	if err != nil {
		return inFile(p.file, err)
	}
	if !j.preview {
		if err := renewCopy(s); err != nil {
			return err
		}
	}
	done := map[settings.State]string{
		settings.Absent:    "installed the hooks in %s\n",
		settings.Outdated:  "updated the hooks in %s\n",
		settings.Installed: "already installed in %s\n",
	}
	if err := j.replace(s, p.file, data, done[p.report.State]); err != nil {
		return err
	}
	if j.preview {
		return nil // nothing was installed, so no hint applies
	}
	where := j.findReach(s, p.file)
	message.Fprintf(s.Out, "  %s\n  %s\n", where, p.tools)
	if p.line {
		message.Fprintf(s.Out, "  the status line shows the workflow\n")
	}
	j.printOff(s)
	j.printOthers(s, p.file.Path)
	if advice := where.hint(); advice != "" && !j.hasHooks(where.parent, p.hooks) {
		s.Hintf("%s", advice)
	}
	if j.Scope == Project && p.report.State != settings.Installed {
		hintColleagues(s)
		if copied, ok, err := findCopy(s.Getenv); err == nil && ok {
			s.Hintf("on this PATH that name is npm's launcher, which starts Node for each hook; put %q before it on PATH to avoid that",
				filepath.Dir(copied.Path()))
		}
	}
	if advice := p.tools.hint(); advice != "" {
		s.Hintf("%s", advice)
	}
	return nil
}

func (j *job) uninstall(s terminal.Streams, p installPlan) error {
	data, err := p.removed()
	if err != nil {
		return inFile(p.file, err)
	}
	done := "removed the hooks from %s\n"
	switch {
	case p.report.State == settings.Absent:
		done = "nothing to remove from %s\n"
	case data == nil:
		done = "removed %s, which held nothing else\n"
	}
	return j.replace(s, p.file, data, done)
}

// replace writes data to the file and prints the message done, or prints data.
func (j *job) replace(s terminal.Streams, file *settings.File, data []byte, done string) error {
	if j.preview {
		_, err := s.Out.Write(message.JSON(bytes.TrimPrefix(data, []byte("\ufeff"))))
		return err
	}
	return write(s, file, data, done, file.Path)
}

// write writes data to the file and prints the message done.
func write(s terminal.Streams, file *settings.File, data []byte, done string, args ...any) error {
	if err := file.Replace(data); err != nil {
		return err
	}
	_, err := message.Fprintf(s.Out, done, args...)
	return err
}

// inFile adds the file's path to an error about its content.
func inFile(file *settings.File, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s:%w", file.Path, err)
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
