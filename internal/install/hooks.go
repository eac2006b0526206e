package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/locator"
)

// place is a settings file of the client that may contain hooks of this program.
type place struct {
	scope Scope
	path  string
	read  bool   // by a client that starts here
	cd    string // directory in which install must run for this file; empty for this one
	kind  settings.Place
}

// places returns the settings files that the client reads here, and those in parent
// directories, which it mostly does not read (fact 52, client 2.1.329).
func (d *doctor) places() ([]place, error) {
	config, err := client.ConfigDir(d.Getenv)
	if err != nil {
		return nil, err
	}
	read := client.SettingsFiles(locator.OS{}, config, d.cwd)
	all := []place{
		{User, filepath.Join(config, client.UserSettings), true, "", settings.User},
		{Project, filepath.Join(d.cwd, client.ProjectSettings), true, "", settings.Project},
		{Local, filepath.Join(d.cwd, client.LocalSettings), true, "", settings.Local},
	}
	others := parents(d.cwd, d.Env("HOME"))
	if _, main := client.WorkTree(locator.OS{}, d.cwd); main != "" && main != d.cwd && !slices.Contains(others, main) {
		others = append(others, main) // of a linked work tree
	}
	for _, dir := range others {
		local := filepath.Join(dir, client.LocalSettings)
		all = append(all, place{Local, local, slices.Contains(read, local), dir, settings.Local},
			place{Project, filepath.Join(dir, client.ProjectSettings), false, dir, settings.Project})
	}
	return all, nil
}

// parents returns the directories above dir, below home if dir is in it, the nearest first.
func parents(dir, home string) (all []string) {
	for dir = filepath.Dir(dir); dir != filepath.Dir(dir) && !safefile.Same(dir, home); dir = filepath.Dir(dir) {
		all = append(all, dir)
	}
	return all
}

// install returns the command that repairs the hooks in the file.
func (p place) install() string { return p.command("fsmtx install ") }

// removal returns the command that removes the hooks from the file.
func (p place) removal() string { return p.command("fsmtx install --remove ") }

func (p place) command(install string) string {
	if p.cd == "" {
		return install + p.scope.Flag()
	}
	return "cd " + shell.Join(p.cd) + shell.Then() + install + p.scope.Flag()
}

// hooked is what the settings files here have of this program.
type hooked struct {
	registered []place // whose hooks the client runs
	unread     []place // whose hooks it does not read here
	broken     []place // that it ignores as a whole because of a mistake, or that cannot be read here
	gone       []place // whose hooks run a program that is not there
	tools      []place // registered, and install --task-tools was run for it
	plugin     pluginHooks
}

// twice reports that the client starts the hooks of several files, or of a file and a plugin, with the command that removes those of one
// that is the person's alone, if there is one, which can be changed without asking anybody.
func (h hooked) twice() Fault {
	i := len(h.registered) - 1
	if mine := slices.IndexFunc(h.registered, func(p place) bool { return p.scope == Local }); mine >= 0 {
		i = mine
	} else if mine := slices.IndexFunc(h.registered, func(p place) bool { return p.scope != Project }); mine >= 0 {
		i = mine
	}
	own, times, also := h.registered[i], "twice", []string(nil)
	for _, other := range slices.Delete(slices.Clone(h.registered), i, i+1) {
		also = append(also, "in "+other.path)
	}
	if h.plugin.root != "" {
		also = append(also, "by the plugin in "+h.plugin.root)
	}
	if len(also) > 1 {
		times = fmt.Sprintf("%d times", len(also)+1)
	}
	f := Fault{Kind: "hooks", What: "registered " + times + ": also " + message.Sentence(also), File: own.path, Command: own.removal()}
	if h.plugin.root != "" && own.scope == Project { // which is shared
		f.What, f.Command = f.What+"; this file is shared with everyone who works on the project, so switch off the plugin instead", ""
	}
	return f
}

// look reads the settings files, and returns the problems of single ones.
func (d *doctor) look() (h hooked, found []Fault, err error) {
	places, err := d.places()
	if err != nil {
		return h, nil, err
	}
	for _, p := range places {
		data, err := safefile.ReadFile(p.path, settings.MaxBytes, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			if p.read { // it may have hooks
				h.broken = append(h.broken, p)
			}
			found = append(found, unedited("hooks", "", settings.Unread(p.path, err)))
			continue
		}
		if why := invalid(data); why != "" && p.read {
			h.broken = append(h.broken, p)
			line, what := cutLine(why)
			found = append(found, Fault{Kind: "hooks", What: what + ": correct it, then run fsmtx doctor again", File: p.path, Line: line})
			continue
		}
		calls := settings.Calls(data)
		if _, err := settings.Inspect(data, settings.Hooks(settings.Program, nil, settings.Duty{})); p.read && errors.Is(err, settings.ErrShape) {
			// The client reads the rest of the file, but install refuses it.
			if !slices.ContainsFunc(calls, settings.Call.Hydrates) {
				h.broken = append(h.broken, p)
			}
			line, what := cutLine(err.Error())
			found = append(found, Fault{Kind: "hooks", What: what + ": correct it, then run fsmtx doctor again", File: p.path, Line: line})
		}
		if missing := missingPrograms(p.path, calls, p.install()); len(missing) > 0 {
			h.gone, found = append(h.gone, p), append(found, missing...)
		}
		switch {
		case !slices.ContainsFunc(calls, settings.Call.Hydrates):
		case p.read:
			h.registered = append(h.registered, p)
			if settings.SetsTaskTools(data) {
				h.tools = append(h.tools, p)
			}
		default:
			h.unread = append(h.unread, p)
		}
	}
	h.plugin = d.pluginWithHooks()
	return h, found, nil
}

// invalid says why the client ignores a settings file as a whole, behind line and column. It is empty if
// the client reads the file.
func invalid(data []byte) string {
	if err := settings.Strict(data); errors.Is(err, settings.ErrNotJSON) {
		return err.Error() + "; the client ignores a file that is not valid JSON, all of it"
	}
	return ""
}

// cutLine cuts line and column from the beginning of a message about a file.
func cutLine(message string) (line int, rest string) {
	if n, _ := fmt.Sscanf(message, "%d:", &line); n == 0 {
		return 0, message
	}
	_, rest, _ = strings.Cut(message, ": ")
	return line, rest
}

// isInstalled reports whether hooks of this program are where the client looks, or may be in a file
// that it ignores.
func (h hooked) isInstalled() bool {
	return len(h.registered) > 0 || h.plugin.root != "" || len(h.broken) > 0
}

func (d *doctor) hooks(context.Context) ([]Fault, error) {
	h, found, err := d.look()
	if err != nil {
		return nil, err
	}
	found = append(d.off(h), found...)
	if !h.isInstalled() {
		found = append(found, d.disabledPlugin()...)
	}
	switch {
	case !h.isInstalled() && len(h.unread) > 0:
		found = append(found, Fault{Kind: "hooks", What: "the client does not read this file when it starts in " + d.cwd,
			File: h.unread[0].path, Command: "fsmtx install"})
	case !h.isInstalled() && d.isWithoutClaude():
	case !h.isInstalled():
		found = append(found, Fault{Kind: "hooks", What: "no hook of fsmtx is registered where the client looks when it starts in " + d.cwd,
			Command: "fsmtx install"})
	case len(h.registered) > 1, len(h.registered) == 1 && h.plugin.root != "":
		found = append(found, h.twice())
	}
	all := hook.Registered(d.Getenv, d.cwd)
	if differing := hook.Differing(all); differing != "" {
		found = append(found, Fault{Kind: "hooks", What: differing})
	}
	observes := hook.Observes(all)
	if observes != "" {
		found = append(found, Fault{Kind: "hooks", What: observes, Command: "fsmtx install"})
	}
	for _, p := range h.registered {
		if !slices.Contains(h.gone, p) { // the command for the missing program repairs the rest, too
			found = append(found, d.outdated(p, observes != "")...)
		}
	}
	if len(h.registered) == 0 && h.plugin.root != "" {
		found = append(found, d.unjudged(h.plugin.root)...)
	}
	return found, nil
}

// unjudged reports that the hooks of a plugin do not judge all calls that the workflows here list, or not if the program is broken.
// Those in settings are compared with what install would write.
func (d *doctor) unjudged(root string) (found []Fault) {
	file := filepath.Join(root, "hooks", "hooks.json")
	have, enforced := settings.EnforcedTools([]string{file})
	if data, err := safefile.ReadFile(file, settings.MaxBytes, 0); err == nil && settings.Opens(data) != "" {
		found = append(found, Fault{Kind: "steps", What: settings.Opens(data), File: file, Command: "fsmtx plugin --force " + shell.Join(root)})
	}
	missing := listedHere(d.Getenv).Missing(have)
	if !enforced || len(missing) == 0 {
		return found
	}
	return append(found, Fault{Kind: "steps",
		What: "no hook judges calls of " + strings.Join(missing, ", ") + ", which workflows bind to steps",
		File: file, Command: "fsmtx plugin --only --force " + shell.Join(root)})
}

// missingPrograms returns a fault for each program of the hooks in a file that is not there, with
// the command that repairs it.
func missingPrograms(path string, commands []settings.Call, repair string) (found []Fault) {
	seen := map[string]bool{}
	for _, h := range commands {
		if seen[h.Command] {
			continue
		}
		seen[h.Command] = true
		if _, err := exec.LookPath(h.Command); err != nil {
			f := Fault{Kind: "program", What: "the hooks run " + h.Command + ", which does not exist or cannot be executed", File: path,
				Command: repair}
			if !filepath.IsAbs(h.Command) {
				f.What, f.Command = "the hooks run "+h.Command+", which is not on PATH", programOnPath()
			}
			found = append(found, f)
		}
	}
	return found
}

// programOnPath returns the command that makes this program the one that PATH has, "" if it has another name.
// Installing the hooks again would not change that they run a name.
func programOnPath() string {
	self, err := settings.Binary(os.Args[0])
	if err != nil || !settings.IsNamed(self) {
		return ""
	}
	return "export PATH=" + shell.Join(filepath.Dir(self)) + `:"$PATH"`
}

// outdated compares the hooks in the file with those that install would write. That they observe was said.
func (d *doctor) outdated(p place, observes bool) (found []Fault) {
	if p.cd != "" {
		return nil // install compares them when it runs in that directory
	}
	why, err := differences(d.Streams, Request{Scope: p.scope, Steps: Steps{Observe: observes}}, p.path)
	if errors.Is(err, settings.ErrNewer) {
		return []Fault{unedited("hooks", "", err)}
	}
	if err != nil {
		return []Fault{{Kind: "hooks", What: err.Error(), Command: "fsmtx install --check " + p.scope.Flag()}}
	}
	if len(why) == 0 {
		return nil
	}
	repair := p.install()
	if p.scope == Project && settings.CheckName() != nil { // install would refuse
		repair = programOnPath()
	}
	return []Fault{{Kind: "hooks", What: strings.Join(why, "; "), File: p.path, Command: repair}}
}

// pluginHooks is a plugin that has our hooks.
type pluginHooks struct {
	key  string // plugin@marketplace
	root string // its directory; empty if there is no such plugin
}

// pluginWithHooks returns an enabled plugin that has our hooks, or else the one that this program is part of.
func (d *doctor) pluginWithHooks() pluginHooks {
	if registry, set, err := d.registry(); err == nil {
		for _, in := range registry.Enabled(set, d.cwd) {
			if root := registry.Root(in).Dir; hasOurHooks(root) {
				return pluginHooks{in.Key, root}
			}
		}
		if len(d.disabledPlugin()) > 0 {
			return pluginHooks{}
		}
	}
	if root := programs.PluginRoot(); root != "" && hasOurHooks(root) { // loaded in another way, such as by --plugin-dir
		return pluginHooks{root: root}
	}
	return pluginHooks{}
}

// hasOurHooks reports whether the plugin in root has our hooks.
func hasOurHooks(root string) bool {
	data, err := safefile.ReadFile(filepath.Join(root, "hooks", "hooks.json"), settings.MaxBytes, 0)
	return err == nil && slices.ContainsFunc(settings.Calls(data), settings.Call.Hydrates)
}

func (d *doctor) registry() (*client.Registry, *client.Settings, error) {
	config, err := client.ConfigDir(d.Getenv)
	if err != nil {
		return nil, nil, err
	}
	registry, err := client.ReadRegistry(locator.OS{}, config)
	return registry, client.ReadSettings(locator.OS{}, config, d.cwd), err
}

// taskTools reports that install --task-tools was run here, but the variable of the task tools is
// off or unset. Elsewhere the variable is not needed: models without task tools have the commands.
// It reports nothing if a file that the client ignores may set the variable.
func (d *doctor) taskTools(context.Context) ([]Fault, error) {
	h, _, err := d.look()
	if err != nil || len(h.tools) == 0 {
		return nil, err
	}
	set := taskToolsIn(d.Getenv, d.cwd)
	if len(set) == 0 && len(h.broken) > 0 {
		return nil, nil
	}
	return taskToolsFault(set, h.tools[0]), nil
}

// taskToolsFault judges the places that set the variable, of which the first counts.
func taskToolsFault(set []taskTools, wanted place) []Fault {
	const without = ", so newer models do not have the tools for the task list that install --task-tools was to give them"
	switch {
	case len(set) > 0 && set[0].Value == settings.TaskToolsOn:
		return nil
	case len(set) > 0 && set[0].File():
		return []Fault{{Kind: "task tools", What: fmt.Sprintf("sets %s to %q%s; set it to %s there", settings.TaskTools, set[0].Value,
			without, settings.TaskToolsOn), File: set[0].Where}}
	case len(set) > 0:
		return []Fault{{Kind: "task tools", What: fmt.Sprintf("%s is %q in the environment%s; install does not overrule it: unset it, or set it "+
			"to %s, where your shell sets it (%s adds it to the settings then)", settings.TaskTools, set[0].Value, without, settings.TaskToolsOn,
			wanted.install())}}
	}
	return []Fault{{Kind: "task tools", What: settings.TaskTools + " is set nowhere" + without, Command: wanted.install()}}
}
