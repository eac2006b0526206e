package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

const specName = "fsm.json"

func (d *doctor) workflows(context.Context) (found []Fault, err error) {
	l, err := hydrate.FinderOf(d.Getenv, d.Who().Program)
	if err != nil {
		return nil, err
	}
	all, _ := l.Workflows(d.cwd)
	if _, isClaude := l.(*locator.Locator); isClaude && slices.ContainsFunc(all, func(w locator.Workflow) bool { return w.Plugin == "" }) {
		for _, o := range settings.Here(d.Getenv, d.cwd).SkillsOff() {
			found = append(found, Fault{Kind: "workflow", What: o.What + ", so the client loads neither the project's skills nor yours; " + o.Remedy,
				File: o.File, Line: o.Line})
		}
	}
	for _, w := range all {
		v := ReadWorkflow(locator.OS{}, w)
		switch {
		case !v.Valid:
			line, problem := cutLine(v.Problem)
			found = append(found, Fault{Kind: "workflow", What: strings.Replace(v.State(), v.Problem, problem, 1), File: v.Path, Line: line,
				Command: "fsmtx validate " + shell.Join(v.Path)})
		case v.Unedited > 0:
			what := fmt.Sprintf("%s of the %d are examples of fsmtx new that nobody has edited", terminal.Count(v.Unedited, "step"), v.Steps)
			found = append(found, Fault{Kind: "workflow", What: what, File: v.Path, Command: "fsmtx validate " + shell.Join(v.Path)})
		case v.noShell != nil:
			found = append(found, Fault{Kind: "workflow", What: "a command of it cannot run: " + v.noShell.Error(), File: v.Path,
				Command: "fsmtx validate " + shell.Join(v.Path)})
		case v.Reason() != "":
			found = append(found, Fault{Kind: "workflow", What: v.Reason(), File: v.Path, Command: "fsmtx locate " + shell.Join(v.Command)})
		}
	}
	for _, deep := range DeepBelow(d.cwd) {
		found = append(found, Fault{Kind: "workflow", What: deep.Why, File: deep.Path, Command: deep.Remedy})
	}
	skills, _ := l.Skills(d.cwd)
	return append(found, otherwiseNamed(skills)...), nil
}

func (d *doctor) plugins(context.Context) (found []Fault, err error) {
	registry, _, err := d.registry()
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return []Fault{{Kind: "plugin", What: err.Error()}}, nil
	}
	versions := map[string]client.Installation{}
	for _, in := range registry.Applying(d.cwd) {
		if other, ok := versions[in.Key]; ok && filepath.Base(other.InstallPath) != filepath.Base(in.InstallPath) {
			found = append(found, Fault{Kind: "plugin", Command: updateOf(in),
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

// updateOf returns the command with which the client updates an installation of a plugin.
func updateOf(in client.Installation) string {
	return "claude plugin update " + shell.Join(in.Key) + " --scope " + shell.Join(in.Scope)
}

// staleCopy compares the client's copy of a plugin with its source tree: the client takes
// the skills from the source, but the hooks and programs from the copy (fact 28, client
// 2.1.197).
func staleCopy(in client.Installation, source string) []Fault {
	for _, name := range []string{"hooks/hooks.json", ".mcp.json", client.ManifestPath} {
		a, errA := safefile.ReadFile(filepath.Join(source, name), settings.MaxBytes, 0)
		b, errB := safefile.ReadFile(filepath.Join(in.InstallPath, name), settings.MaxBytes, 0)
		if errA == nil && (errB != nil || string(a) != string(b)) {
			return []Fault{{Kind: "plugin", What: "the client's copy of " + in.Key + " is older than its source in " + source,
				File: filepath.Join(in.InstallPath, name), Command: updateOf(in)}}
		}
	}
	return nil
}

// litter finds what killed commands left beside the files that this program writes.
func (d *doctor) litter(context.Context) (found []Fault, err error) {
	dirs, err := d.writtenDirs()
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, dir := range dirs {
		more, _ := safefile.Leftovers(dir) // other checks report what cannot be read
		paths = append(paths, more...)
	}
	more, err := copyLeftovers(d.Getenv)
	if err != nil && !errors.Is(err, client.ErrNoHome) {
		return nil, err
	}
	for _, path := range append(paths, more...) {
		found = append(found, Fault{Kind: "leftover", What: "left by a command that was killed", File: path,
			Command: "fsmtx doctor --fix", Safe: true,
			repair: func(context.Context) error { return os.Remove(path) }})
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

// otherwiseNamed reports such files of skills.
func otherwiseNamed(skills []locator.Skill) (found []Fault) {
	for _, k := range skills {
		for _, m := range hydrate.MisnamedIn(k.Folder) {
			found = append(found, Fault{Kind: "workflow", What: m.Why(), File: m.Path, Command: m.Command()})
		}
	}
	return found
}
