package write

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

const SpecName = "fsm.json"

// readSpec returns the content of an fsm.json, or of standard input for "-".
func readSpec(s terminal.Streams, path string) ([]byte, error) {
	// One byte more than allowed: Parse then reports the size and ignores the content.
	const most = fsmspec.MaxBytes + 1
	if path != "-" {
		data, err := locator.ReadSpec(locator.OS{}, path, fsmspec.MaxBytes)
		if errors.Is(err, locator.ErrTooLarge) {
			return make([]byte, most), nil
		}
		return data, err
	}
	if s.InputIsTerminal() {
		return nil, errors.New("standard input is a terminal; pipe an fsm.json into it")
	}
	data, err := io.ReadAll(io.LimitReader(s.In, most))
	if err != nil {
		return nil, fmt.Errorf("reading standard input: %w", err)
	}
	return data, nil
}

// writeSpec replaces the content of a file, or of the target of a link, as safefile.ReadToEdit
// and Replace do. It returns safefile.ErrChanged if the content is no longer what was read.
func writeSpec(path string, read, data []byte) error {
	target, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	file, err := safefile.ReadToEdit(safefile.Resolve(target), fsmspec.MaxBytes)
	if err != nil {
		return err
	}
	if !bytes.Equal(file.Data, read) {
		return fmt.Errorf("%s: %w", path, safefile.ErrChanged)
	}
	return file.Replace(data)
}

// SpecsOf returns the files that the arguments of a command name: files, directories of
// skills, directories with several skills below, names of skills, and "-" for standard input. Without
// arguments it returns every workflow that is visible from here, and every fsm.json below.
func SpecsOf(s terminal.Streams, args []string) ([]string, error) {
	if len(args) == 0 {
		return visibleSpecs(s)
	}
	var paths []string
	for _, arg := range args {
		if arg == "" {
			return nil, command.Fail(command.ExitUsage, errors.New("got an empty argument, want a file, a directory or a skill"), "")
		}
		arg = skillDir(arg)
		info, err := os.Stat(arg)
		if errors.Is(err, fs.ErrNotExist) && !isSpecPath(arg) { // the error of reading a path says enough
			if arg, err = findSpec(s, arg); err != nil {
				return nil, err
			}
			info, err = os.Stat(arg)
		}
		if arg == "-" || err != nil || !info.IsDir() {
			paths = append(paths, arg)
			continue
		}
		below, err := specsIn(arg)
		if err != nil {
			return nil, err
		}
		paths = append(paths, below...)
	}
	return paths, nil
}

// specsIn returns the fsm.json in dir or, if it has none, those below.
func specsIn(dir string) ([]string, error) {
	path := filepath.Join(dir, SpecName)
	if _, err := os.Lstat(path); err == nil {
		return []string{path}, nil
	}
	below, err := specsBelow(dir)
	if err != nil {
		return nil, err
	}
	if wrong := hydrate.MisnamedIn(dir); len(below) == 0 && len(wrong) > 0 {
		return nil, notRead(wrong)
	}
	if len(below) == 0 {
		return nil, command.Fail(command.ExitNo, fmt.Errorf("%s: no %s in this directory or below", dir, SpecName),
			"fsmtx new writes one for a skill")
	}
	return below, nil
}

// maxSearched limits the directories in which files are looked for: more than that takes seconds.
const maxSearched = 50_000

// specsBelow returns every fsm.json below dir. It fails if dir has too many directories to search.
func specsBelow(dir string) ([]string, error) {
	below, complete := locator.SpecsBelow(locator.OS{}, dir, maxSearched)
	if !complete {
		return nil, command.Fail(command.ExitNo,
			fmt.Errorf("%s: more than %d directories are below, and not all were searched", dir, maxSearched), "name the directories with workflows")
	}
	return below, nil
}

// visibleSpecs returns the workflows of the skills that an agent finds here, and
// every fsm.json below, without duplicates.
func visibleSpecs(s terminal.Streams) ([]string, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	l, err := command.Finder(s)
	if err != nil {
		return nil, err
	}
	known, _ := l.Workflows(cwd)
	below, err := specsBelow(cwd)
	if err != nil {
		return nil, err
	}
	var paths, seen []string
	for _, w := range known {
		below = append(below, w.Path)
	}
	for _, path := range below {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			real = path
		}
		if !slices.Contains(seen, real) {
			seen, paths = append(seen, real), append(paths, command.Relative(cwd, path))
		}
	}
	if wrong := misnamed(s); len(paths) == 0 && len(wrong) > 0 {
		return nil, notRead(wrong)
	}
	if len(paths) == 0 {
		return nil, command.Fail(command.ExitNo, fmt.Errorf("no skill that is visible from %s has an %s", cwd, SpecName),
			"fsmtx init writes one for a skill that you have; fsmtx locate NAME shows where a skill is searched for")
	}
	slices.Sort(paths)
	return paths, nil
}

// skillDir returns the folder of a skill for the path of its SKILL.md, which people name too, and any
// other argument as it is.
func skillDir(arg string) string {
	if info, err := os.Stat(arg); err == nil && info.Mode().IsRegular() && strings.EqualFold(filepath.Base(arg), "SKILL.md") {
		return filepath.Dir(arg)
	}
	return arg
}

// isSpecPath reports whether an argument can only be the path of a workflow, and not the name of a skill.
func isSpecPath(arg string) bool {
	return arg == "-" || hydrate.IsPath(arg) || strings.HasSuffix(arg, ".json") || strings.EqualFold(arg, "SKILL.md")
}

// specAt returns the fsm.json that an argument names as a path: a file, the directory of a skill, or "-" for standard
// input. The error is fs.ErrNotExist if nothing is there.
func specAt(arg string) (string, error) {
	if arg = skillDir(arg); arg == "-" {
		return arg, nil
	}
	info, err := os.Stat(arg)
	if err != nil || !info.IsDir() {
		return arg, command.Unusable(arg, err)
	}
	path := filepath.Join(arg, SpecName)
	if wrong := hydrate.MisnamedIn(arg); len(wrong) > 0 {
		return "", notRead(wrong)
	}
	if _, err := os.Lstat(path); err != nil {
		return "", command.Fail(command.ExitNo, fmt.Errorf("%s has no %s", arg, SpecName), "fsmtx new "+shell.Join(arg)+" writes one")
	}
	return path, nil
}

// notRead returns the error that files are not read because of their names.
func notRead(wrong []hydrate.Misnamed) error {
	var all []string
	for _, m := range wrong {
		all = append(all, m.Path+" "+m.Why())
	}
	return command.Fail(command.ExitNo, message.Lines(strings.Join(all, "\n")), cmp.Or(wrong[0].Command(), "write it as JSON into "+SpecName))
}

// writesWorkflow returns the command that writes a workflow for a skill that was found without one, "" if none was.
func writesWorkflow(cwd string, r locator.Result) string {
	if !strings.EqualFold(filepath.Base(r.Runs()), "SKILL.md") {
		return ""
	}
	return "fsmtx new " + shell.Join(command.Relative(cwd, filepath.Dir(r.Runs()))) + " writes one"
}

// findSpec returns the one fsm.json that an argument names: a file, the directory of a skill, or the name of a
// skill that the client knows here. A directory without a workflow, such as one that a build writes, hides no skill
// of its name.
func findSpec(s terminal.Streams, arg string) (string, error) {
	path, noPath := specAt(arg)
	if noPath == nil || isSpecPath(arg) {
		return path, noPath
	}
	l, err := command.Finder(s)
	if err != nil {
		return "", err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	result, err := l.Locate(arg, cwd)
	if path := command.InPluginHere(s, cwd, arg); path != "" && !result.Found() {
		return command.Relative(cwd, path), nil // a file that an author writes needs no installation
	}
	if !result.Found() && !errors.Is(noPath, fs.ErrNotExist) {
		return "", noPath
	}
	if err != nil {
		return "", err
	}
	if !result.Found() {
		hint := "fsmtx locate " + shell.Join(arg) + " shows where it was searched for"
		if writes := writesWorkflow(cwd, result); writes != "" {
			return "", command.Fail(command.ExitNo, fmt.Errorf("the skill %q has no workflow", arg), writes)
		}
		if near := l.Near(arg, cwd); len(near) > 0 {
			hint = didYouMean(near)
		}
		return "", command.Fail(command.ExitNo, fmt.Errorf("no file and no skill with a workflow is called %q", arg), hint)
	}
	return command.Relative(cwd, result.Path), nil
}

// misnamed returns the files of the skills here that are not read because of their names.
func misnamed(s terminal.Streams) (all []hydrate.Misnamed) {
	l, cwd, err := command.FinderHere(s)
	if err != nil {
		return nil
	}
	skills, _ := l.Skills(cwd)
	for _, k := range skills {
		for _, m := range hydrate.MisnamedIn(k.Folder) {
			m.Path = command.Relative(cwd, m.Path)
			all = append(all, m)
		}
	}
	return all
}
