package doctor

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
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/mod/semver"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/claude"
	"github.com/fsmtx/fsmtx/internal/claude/plugins"
	"github.com/fsmtx/fsmtx/internal/claude/settings"
	"github.com/fsmtx/fsmtx/internal/claude/switches"
	"github.com/fsmtx/fsmtx/internal/edit"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/npm"
	"github.com/fsmtx/fsmtx/internal/recovery"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/steps"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/workflows"
	"github.com/fsmtx/fsmtx/locator"
	"github.com/fsmtx/fsmtx/txn"
)

const specName = "fsm.json"

// place is a settings file of the client that may contain hooks of this program.
type place struct {
	scope install.Scope
	path  string
	read  bool   // by a client that starts here
	cd    string // directory in which install must run for this file; empty for this one
	kind  switches.Place
}

// places returns the settings files that the client reads here, and those in parent
// directories, which it mostly does not read (fact 52, client 2.1.329).
func (d *doctor) places() ([]place, error) {
	config, err := claude.ConfigDir(d.Getenv)
	if err != nil {
		return nil, err
	}
	read := claude.SettingsFiles(locator.OS{}, config, d.cwd)
	all := []place{
		{install.User, filepath.Join(config, claude.UserSettings), true, "", switches.User},
		{install.Project, filepath.Join(d.cwd, claude.ProjectSettings), true, "", switches.Project},
		{install.Local, filepath.Join(d.cwd, claude.LocalSettings), true, "", switches.Local},
	}
	others := parents(d.cwd, d.Env("HOME"))
	if _, main := claude.WorkTree(locator.OS{}, d.cwd); main != "" && main != d.cwd && !slices.Contains(others, main) {
		others = append(others, main) // of a linked work tree
	}
	for _, dir := range others {
		local := filepath.Join(dir, claude.LocalSettings)
		all = append(all, place{install.Local, local, slices.Contains(read, local), dir, switches.Local},
			place{install.Project, filepath.Join(dir, claude.ProjectSettings), false, dir, switches.Project})
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
	return "cd " + shell.Join(p.cd) + " && " + install + p.scope.Flag()
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
			found = append(found, Fault{Kind: "hooks", What: settings.Unread(p.path, err).Error()})
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
	if _, err := settings.Inspect(data, nil); errors.Is(err, settings.ErrNotJSON) {
		return err.Error() + "; the client ignores a file that is not valid JSON, all of it"
	}
	if err := plugins.CheckSettings(data); err != nil {
		return err.Error()
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
	case !h.isInstalled():
		found = append(found, Fault{Kind: "hooks", What: "no hook of fsmtx is registered where the client looks when it starts in " + d.cwd,
			Command: "fsmtx install"})
	case len(h.registered) > 1:
		found = append(found, Fault{Kind: "hooks", What: "registered twice: also in " + h.registered[0].path, File: h.registered[1].path,
			Command: h.registered[1].removal()})
	case len(h.registered) == 1 && h.plugin.root != "":
		found = append(found, Fault{Kind: "hooks", What: "registered twice: also by the plugin in " + h.plugin.root,
			File: h.registered[0].path, Command: h.registered[0].removal()})
	}
	for _, p := range h.registered {
		if !slices.Contains(h.gone, p) { // the command that names the new program mends the rest, too
			found = append(found, d.outdated(p)...)
		}
	}
	if len(h.registered) == 0 && h.plugin.root != "" {
		found = append(found, d.unjudged(h.plugin.root)...)
	}
	return found, nil
}

// unjudged reports that the hooks of a plugin do not judge all calls that the workflows here list.
// Those in settings are compared with what install would write.
func (d *doctor) unjudged(root string) []Fault {
	file := filepath.Join(root, "hooks", "hooks.json")
	have, enforced := settings.Judged([]string{file})
	missing := install.ListedHere(d.Getenv).Missing(have)
	if !enforced || len(missing) == 0 {
		return nil
	}
	return []Fault{{Kind: "steps", What: "no hook judges calls of " + strings.Join(missing, ", ") + ", which workflows bind to steps",
		File: file, Command: "fsmtx plugin --only --force " + shell.Join(root)}}
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
				f.What, f.Command = "the hooks run "+h.Command+", which is not on PATH", onPath()
			}
			found = append(found, f)
		}
	}
	return found
}

// onPath returns the command that makes this program the one that PATH has, "" if it has another name.
// Installing the hooks again would not change that they run a name.
func onPath() string {
	self, err := settings.Binary(os.Args[0])
	if err != nil || filepath.Base(self) != settings.Program {
		return ""
	}
	return "export PATH=" + shell.Join(filepath.Dir(self)) + `:"$PATH"`
}

// outdated compares the hooks in the file with those that install would write.
func (d *doctor) outdated(p place) (found []Fault) {
	if p.cd != "" {
		return nil // install compares them when it runs in that directory
	}
	why, err := install.Differences(d.Streams, install.Request{Scope: p.scope}, p.path)
	if err != nil {
		return []Fault{{Kind: "hooks", What: err.Error(), Command: "fsmtx install --check " + p.scope.Flag()}}
	}
	if len(why) == 0 {
		return nil
	}
	repair := p.install()
	if p.scope == install.Project && settings.CheckName() != nil { // install would refuse
		repair = onPath()
	}
	return []Fault{{Kind: "hooks", What: strings.Join(why, "; "), File: p.path, Command: repair}}
}

// pluginHooks is a plugin that has our hooks.
type pluginHooks struct {
	key  string // plugin@marketplace
	root string // its directory; empty if there is no such plugin
}

// pluginWithHooks returns an enabled plugin that has our hooks.
func (d *doctor) pluginWithHooks() pluginHooks {
	registry, set, err := d.registry()
	if err != nil {
		return pluginHooks{}
	}
	for _, in := range registry.Enabled(set, d.cwd) {
		if root := registry.Root(in).Dir; hasOurHooks(root) {
			return pluginHooks{in.Key, root}
		}
	}
	return pluginHooks{}
}

// hasOurHooks reports whether the plugin in root has our hooks.
func hasOurHooks(root string) bool {
	data, err := safefile.ReadFile(filepath.Join(root, "hooks", "hooks.json"), settings.MaxBytes, 0)
	return err == nil && slices.ContainsFunc(settings.Calls(data), settings.Call.Hydrates)
}

func (d *doctor) registry() (*plugins.Registry, *plugins.Settings, error) {
	config, err := claude.ConfigDir(d.Getenv)
	if err != nil {
		return nil, nil, err
	}
	registry, err := plugins.ReadRegistry(locator.OS{}, config)
	return registry, plugins.ReadSettings(locator.OS{}, config, d.cwd), err
}

// taskTools reports that install --task-tools was run here, but the variable of the task tools is
// off or unset. Elsewhere the variable is not needed: models without task tools have the commands.
// It reports nothing if a file that the client ignores may set the variable.
func (d *doctor) taskTools(context.Context) ([]Fault, error) {
	h, _, err := d.look()
	if err != nil || len(h.tools) == 0 {
		return nil, err
	}
	set := install.TaskToolsIn(d.Getenv, d.cwd)
	if len(set) == 0 && len(h.broken) > 0 {
		return nil, nil
	}
	return taskToolsFault(set, h.tools[0]), nil
}

// taskToolsFault judges the places that set the variable, of which the first counts.
func taskToolsFault(set []install.TaskTools, wanted place) []Fault {
	const without = ", so newer models do not have the task tools that install --task-tools was to give them"
	switch {
	case len(set) > 0 && set[0].Value == settings.TaskToolsOn:
		return nil
	case len(set) > 0 && set[0].File():
		return []Fault{{Kind: "task tools", What: fmt.Sprintf("sets %s to %q%s; set it to %s there", settings.TaskTools, set[0].Value,
			without, settings.TaskToolsOn), File: set[0].Where}}
	case len(set) > 0:
		return []Fault{{Kind: "task tools", What: fmt.Sprintf("%s is %q in the environment%s", settings.TaskTools, set[0].Value, without),
			Command: wanted.install()}}
	}
	return []Fault{{Kind: "task tools", What: settings.TaskTools + " is set nowhere" + without, Command: wanted.install()}}
}

func (d *doctor) workflows(context.Context) (found []Fault, err error) {
	l, err := hydrate.FinderOf(d.Getenv, d.Who().Program)
	if err != nil {
		return nil, err
	}
	all, _ := l.Workflows(d.cwd)
	for _, w := range all {
		v := workflows.Read(locator.OS{}, w)
		switch {
		case !v.Valid:
			line, problem := cutLine(v.Problem)
			found = append(found, Fault{Kind: "workflow", What: strings.Replace(v.State(), v.Problem, problem, 1), File: v.Path, Line: line,
				Command: "fsmtx validate " + shell.Join(v.Path)})
		case v.Unedited > 0:
			what := fmt.Sprintf("%s of the %d are examples of fsmtx new that nobody has edited", terminal.Count(v.Unedited, "step"), v.Steps)
			found = append(found, Fault{Kind: "workflow", What: what, File: v.Path, Command: "fsmtx validate " + shell.Join(v.Path)})
		case v.Reason() != "" && locator.MisplacedAt(locator.OS{}, v.Path) == "":
			found = append(found, Fault{Kind: "workflow", What: v.Reason(), File: v.Path, Command: "fsmtx locate " + shell.Join(v.Command)})
		}
	}
	misnamed, _ := l.Misnamed(d.cwd)
	for _, m := range misnamed {
		found = append(found, Fault{Kind: "workflow", What: "is not read: " + m.Why, File: m.Path, Command: rename(m)})
	}
	for _, w := range all {
		for _, m := range locator.MisnamedIn(locator.OS{}, filepath.Dir(w.Path)) {
			found = append(found, Fault{Kind: "workflow", What: "is not found where file names have upper and lower case: " + m.Why,
				File: m.Path, Command: rename(m)})
		}
	}
	return found, nil
}

// rename returns the command that gives the file its right name, and makes its content JSON if its
// name says that it may be something else.
func rename(m locator.Misnamed) string {
	if filepath.Base(m.Path) == specName {
		return "" // of which skill it is cannot be told
	}
	if strings.Contains(m.Why, "validate --fix") {
		return "fsmtx validate --fix " + shell.Join(m.Path)
	}
	return "mv " + shell.Join(m.Path) + " " + shell.Join(filepath.Join(filepath.Dir(m.Path), specName))
}

func (d *doctor) recovery(ctx context.Context) (found []Fault, err error) {
	dirs, err := tasklist.WithHistory(d.Getenv)
	if err != nil {
		return nil, err
	}
	reports, err := recovery.All(ctx, dirs, time.Second, recovery.Options{DryRun: true})
	if err != nil {
		return nil, err
	}
	for _, r := range reports {
		dir := r.List
		switch r.State {
		case recovery.Clean, recovery.Damaged: // see enforcement
		case recovery.Refused:
			found = append(found, Fault{Kind: "recovery", What: r.Reason, File: dir, Command: "fsmtx recover"})
		default:
			found = append(found, Fault{Kind: "recovery", What: "a hydration was interrupted", File: dir, Command: "fsmtx recover", Safe: true,
				repair: func(ctx context.Context) error {
					if now := recovery.List(ctx, dir, recovery.Wait, recovery.Options{}); now.Pending() {
						return errors.New(now.Reason)
					}
					return nil
				}})
		}
		if s, err := txn.StateDir(dir); err == nil {
			aside := filepath.Join(s, "conflicts")
			if entries, err := os.ReadDir(aside); err == nil && len(entries) > 0 {
				found = append(found, Fault{Kind: "recovery", What: "contains files that recovery moved aside; check them, then remove the directory",
					File: aside, Command: "rm -r " + shell.Join(aside)})
			}
		}
	}
	return found, nil
}

// enforcement finds the lists whose steps are not enforced, or not fully. A list may have no
// state directory any more.
func (d *doctor) enforcement(ctx context.Context) (found []Fault, err error) {
	dirs, err := tasklist.All(d.Getenv)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		troubles, err := steps.Troubles(ctx, dir)
		if err != nil {
			troubles = append(troubles, err)
		}
		for _, trouble := range troubles {
			found = append(found, Fault{Kind: "steps", What: "its steps are not fully enforced: " + trouble.Error() + "; " +
				steps.Remedy, File: dir})
		}
	}
	return found, nil
}

func (d *doctor) plugins(context.Context) (found []Fault, err error) {
	registry, _, err := d.registry()
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return []Fault{{Kind: "plugin", What: err.Error()}}, nil
	}
	versions := map[string]plugins.Installation{}
	for _, in := range registry.Applying(d.cwd) {
		if other, ok := versions[in.Key]; ok && filepath.Base(other.InstallPath) != filepath.Base(in.InstallPath) {
			found = append(found, Fault{Kind: "plugin", Command: "claude plugin update " + shell.Join(in.Key) + " --scope " + shell.Join(in.Scope),
				What: fmt.Sprintf("%s is installed in scope %s (%s) and in scope %s (%s)", in.Key, other.Scope, filepath.Base(other.InstallPath),
					in.Scope, filepath.Base(in.InstallPath))})
		}
		versions[in.Key] = in
		if root := registry.Root(in); root.Live {
			found = append(found, staleCopy(in, root.Dir)...)
		}
	}
	return found, nil
}

// staleCopy compares the client's copy of a plugin with its source tree: the client takes
// the skills from the source, but the hooks and programs from the copy (fact 28, client
// 2.1.197).
func staleCopy(in plugins.Installation, source string) []Fault {
	for _, name := range []string{"hooks/hooks.json", ".mcp.json", plugins.ManifestPath} {
		a, errA := safefile.ReadFile(filepath.Join(source, name), settings.MaxBytes, 0)
		b, errB := safefile.ReadFile(filepath.Join(in.InstallPath, name), settings.MaxBytes, 0)
		if errA == nil && (errB != nil || string(a) != string(b)) {
			return []Fault{{Kind: "plugin", What: "the client's copy of " + in.Key + " is older than its source in " + source,
				File:    filepath.Join(in.InstallPath, name),
				Command: "claude plugin update " + in.Key}}
		}
	}
	return nil
}

// taskRoots tests the operations that a hydration needs in the directories of the task lists.
func (d *doctor) taskRoots(context.Context) (found []Fault, err error) {
	roots, err := tasklist.Roots(d.Getenv)
	if err != nil {
		return nil, err
	}
	for i, root := range roots {
		more, err := taskRoot(root, []string{"CLAUDE_CONFIG_DIR", "XDG_STATE_HOME"}[i])
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// taskRoot tests one of these directories, which the variable can put elsewhere.
func taskRoot(root, variable string) (found []Fault, err error) {
	info, err := os.Stat(root)
	if errors.Is(err, fs.ErrNotExist) {
		return uncreatable(root, variable), nil // the client or the first workflow creates it
	}
	if err != nil || !info.IsDir() {
		return []Fault{{Kind: "task list", What: "is not a directory", File: root}}, nil
	}
	if kind := networkFS(root); kind != "" {
		found = append(found, Fault{Kind: "task list", What: "is on " + kind +
			", where locks and the order of changes are not reliable; set " + variable + " to a local directory", File: root})
	}
	removeProbes(root)
	dir, err := os.MkdirTemp(root, probePrefix)
	if err != nil {
		return append(found, Fault{Kind: "task list", What: "is not writable: " + err.Error(), File: root,
			Command: "chmod u+rwx " + shell.Join(root)}), nil
	}
	defer os.RemoveAll(dir)
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := safefile.Unheld.WriteNew(a, nil, 0o600); err == nil {
		if err := safefile.Unheld.Link(a, safefile.Unheld, b); err != nil {
			found = append(found, Fault{Kind: "task list", What: "has no hard links, so every hydration fails; set " + variable +
				" to another file system", File: root})
		}
	}
	return found, nil
}

// uncreatable returns why a directory that does not exist cannot be created.
func uncreatable(root, variable string) []Fault {
	place := filepath.Dir(root)
	for place != filepath.Dir(place) {
		if _, err := os.Lstat(place); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		place = filepath.Dir(place)
	}
	if err := unix.Access(place, unix.W_OK|unix.X_OK); err != nil {
		return []Fault{{Kind: "task list", What: fmt.Sprintf("cannot be created in %s: %v; repair that, or set %s to a directory of yours",
			place, err, variable), File: root}}
	}
	return nil
}

// probePrefix begins the name of the temporary directory in which doctor tests the file
// system.
const probePrefix = ".fsmtx-doctor-"

// removeProbes removes the temporary directories of killed calls.
func removeProbes(root string) {
	entries, _ := os.ReadDir(root)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || !strings.HasPrefix(e.Name(), probePrefix) || time.Since(info.ModTime()) < staleAfter {
			continue
		}
		dir := filepath.Join(root, e.Name())
		for _, path := range []string{filepath.Join(dir, "a"), filepath.Join(dir, "b"), dir} {
			_ = os.Remove(path)
		}
	}
}

// staleAfter is the age at which a lock is certainly stale: the client takes a lock over
// after ten seconds (fact 15, client 2.1.197).
const staleAfter = time.Minute

func (d *doctor) locks(context.Context) (found []Fault, err error) {
	roots, err := tasklist.Roots(d.Getenv)
	if err != nil {
		return nil, err
	}
	var locks []string
	for _, root := range roots {
		more, err := filepath.Glob(filepath.Join(globEscape(root), "*", "*.lock"))
		if err != nil {
			return nil, err
		}
		locks = append(locks, more...)
	}
	for _, lock := range locks {
		info, err := os.Lstat(lock)
		switch {
		case err != nil || filepath.Base(lock) == ".lock":
		case !info.IsDir():
			found = append(found, Fault{Kind: "lock", What: "a file at the path of a lock: the client waits for it for ever", File: lock,
				Command: "rm " + shell.Join(lock)})
		case time.Since(info.ModTime()) > staleAfter:
			found = append(found, Fault{Kind: "lock", What: "a lock that no program has refreshed since " +
				info.ModTime().Format("2006-01-02 15:04:05"), File: lock, Command: "rmdir " + shell.Join(lock),
				Safe: true, repair: func(context.Context) error { return removeStale(lock, info.ModTime()) }})
		case time.Until(info.ModTime()) > staleAfter:
			found = append(found, Fault{Kind: "lock", What: "a lock with a time in the future, " + info.ModTime().Format("2006-01-02 15:04:05") +
				", which no program takes over: a clock was set back", File: lock, Command: "rmdir " + shell.Join(lock)})
		}
	}
	return found, nil
}

// removeStale removes a lock, unless another program has taken it since its time was read.
func removeStale(lock string, seen time.Time) error {
	info, err := os.Lstat(lock)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.ModTime().Equal(seen) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Remove(lock)
}

func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// leftovers finds state directories whose lists no longer exist.
func (d *doctor) leftovers(context.Context) (found []Fault, err error) {
	dirs, err := tasklist.WithHistory(d.Getenv)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		s, err := txn.StateDir(dir)
		if err != nil {
			continue
		}
		_, listErr := os.Lstat(dir)
		info, err := os.Lstat(s)
		if err != nil || !errors.Is(listErr, fs.ErrNotExist) || time.Since(info.ModTime()) < d.age {
			continue
		}
		found = append(found, Fault{Kind: "leftover", What: "the state directory of a list that no longer exists", File: s,
			Command: "fsmtx doctor --fix", Safe: true,
			repair: func(ctx context.Context) error { return recovery.Forget(ctx, dir, recovery.Wait) }})
	}
	return found, nil
}

// litter finds what killed commands left beside the files that this program writes.
func (d *doctor) litter(context.Context) (found []Fault, err error) {
	dirs, err := d.writtenDirs()
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, dir := range dirs {
		more, _ := edit.Leftovers(dir) // other checks report what cannot be read
		paths = append(paths, more...)
	}
	more, err := npm.Leftovers(d.Getenv)
	if err != nil && !errors.Is(err, claude.ErrNoHome) {
		return nil, err
	}
	for _, path := range append(paths, more...) {
		found = append(found, Fault{Kind: "leftover", What: "left by a command that was killed", File: path,
			Command: "fsmtx doctor --fix", Safe: true,
			repair: func(context.Context) error { return npm.RemoveLeftover(path) }})
	}
	return found, nil
}

// writtenDirs returns the directories with the files that this program writes here: settings,
// workflows and the files of the guards. An edit that creates directories works beside the
// outermost of them, so those above are included.
func (d *doctor) writtenDirs() (dirs []string, err error) {
	places, err := d.places()
	if err != nil {
		return nil, err
	}
	l, err := hydrate.FinderOf(d.Getenv, d.Who().Program)
	if err != nil {
		return nil, err
	}
	files := []string{filepath.Join(d.cwd, specName), guard.SessionOf("x", d.Env).Log()}
	for _, p := range places {
		files = append(files, p.path, filepath.Dir(p.path))
	}
	all, _ := l.Workflows(d.cwd)
	for _, w := range all {
		files = append(files, w.Path, filepath.Dir(w.Path))
	}
	for _, file := range files {
		for _, dir := range []string{filepath.Dir(file), filepath.Dir(safefile.Resolve(file))} {
			if !slices.ContainsFunc(dirs, func(known string) bool { return safefile.Same(known, dir) }) {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs, nil
}

// client compares the installed client's version with the tested one. It does not run it.
func (d *doctor) client(context.Context) ([]Fault, error) {
	version := installedClient()
	if version == "" || semver.Compare("v"+version, "v"+claude.Tested) <= 0 {
		return nil, nil
	}
	return []Fault{{Kind: "client", What: "version " + version + " is newer than " + claude.Tested +
		", the version that this fsmtx is tested with; if something does not work as documented, please report it to the fsmtx project"}}, nil
}

// installedClient returns the version of the client on PATH, which it takes from the path
// .../versions/2.1.329 or from the package's package.json. It is empty if unknown.
func installedClient() string {
	path, err := exec.LookPath("claude")
	if err != nil {
		return ""
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return ""
	}
	if name := filepath.Base(path); semver.IsValid("v" + name) {
		return name
	}
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		data, err := safefile.ReadFile(filepath.Join(dir, "package.json"), 1<<20, 0)
		if err != nil {
			continue
		}
		var manifest struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		}
		if json.Unmarshal(data, &manifest, jsonx.Tolerant) == nil && strings.HasPrefix(manifest.Name, "@anthropic-ai/claude-code") &&
			semver.IsValid("v"+manifest.Version) {
			return manifest.Version
		}
	}
	return ""
}
