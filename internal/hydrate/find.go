package hydrate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

// ErrLookup is returned when it cannot be determined whether the skill has an
// fsm.json.
var ErrLookup = errors.New("looking for the skill's fsm.json failed")

// SpecError is returned when the skill's fsm.json cannot be read or is not valid.
// It wraps the error of reading or a *fsmspec.InvalidError.
type SpecError struct {
	Path string
	Err  error
}

// Error returns a summary and, on further lines, each problem as path:line:column:
// message.
func (e *SpecError) Error() string {
	invalid, ok := errors.AsType[*fsmspec.InvalidError](e.Err)
	if !ok {
		return e.Err.Error()
	}
	var b strings.Builder
	b.WriteString(e.headline(invalid) + ":")
	for _, p := range invalid.Problems {
		message.Fprintf(&b, "\n%s:%s", e.Path, p)
	}
	return b.String()
}

func (e *SpecError) headline(invalid *fsmspec.InvalidError) string {
	return message.Sprintf("%s is not valid (%s); no task was changed", e.Path, terminal.Count(len(invalid.Problems), "problem"))
}

func (e *SpecError) Unwrap() error { return e.Err }

// findSpec finds, reads and parses the skill's fsm.json. It returns nil if the
// skill has none.
func findSpec(r Request, env Env, o Options, result *Result) (*fsmspec.Spec, error) {
	if r.File != nil {
		result.Spec = r.File.Path
		return parseSpec(r.File.Path, r, r.File.Data, result)
	}
	if r.Folder != "" {
		return specIn(r.Folder, r, result)
	}
	found, err := locate(r, env, o)
	if err != nil {
		return nil, lookupError{err}
	}
	if !found.Found() {
		return nil, nil
	}
	if r.Apart || runsApart(filepath.Dir(found.Path)) {
		result.Apart = true
		return nil, nil
	}
	return specAt(found.Path, r, result)
}

// runsApart reports whether the client runs the skill in an agent of its own, which has neither the session's task tools nor
// what a hook tells the session. The event of a skill that a person types does not say so (fact 190, client 2.1.329).
func runsApart(folder string) bool {
	document, err := client.ReadSkill(locator.OS{}, filepath.Join(folder, client.SkillFile))
	return err == nil && frontmatter.RunsApart(document)
}

// specIn reads and parses the fsm.json in the folder of a skill. It returns nil if there is
// none.
func specIn(folder string, r Request, result *Result) (*fsmspec.Spec, error) {
	path := filepath.Join(folder, specName)
	if _, err := (locator.OS{}).Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return specAt(path, r, result)
}

func specAt(path string, r Request, result *Result) (*fsmspec.Spec, error) {
	result.Spec = path
	spec, err := readSpec(locator.OS{}, path, r, result)
	if errors.Is(err, ErrLookup) {
		result.Spec = ""
	}
	return spec, err
}

// locate predicts the folder that the client runs. It searches the directories on the client's
// command line only if that could change the result, because most sessions have none.
func locate(r Request, env Env, o Options) (locator.Result, error) {
	l, err := ClientLocator(env)
	if err != nil {
		return locator.Result{}, fmt.Errorf("%w: %w", ErrLookup, err)
	}
	l.PluginDirs, l.AddDirs = Absolute(o.PluginDirs), Absolute(o.AddDirs)
	l.Invoked, l.Listed = true, r.isListed
	if client, err := client.ReadSwitches(env); err == nil {
		l.Sources = client.Sources
	}
	found, err := l.Locate(r.Command, r.Cwd)
	if found.Certain() {
		return found, err
	}
	client, unknown := client.ReadDirs(env, cmp.Or(l.ProjectDir, r.Cwd))
	if !client.Empty() {
		l.PluginDirs = append(client.Plugins, l.PluginDirs...)
		l.AddDirs = append(client.Added, l.AddDirs...)
		found, err = l.Locate(r.Command, r.Cwd)
	}
	if unknown == nil && errors.Is(err, fs.ErrNotExist) {
		// The client runs without a registry of plugins, so the skill belongs to a plugin
		// from another source. Check finds its folder later.
		return found, nil
	}
	return found, err
}

// isListed reports whether the client lists a skill by the name, false if that is not known. The name of a skill that the
// user typed is always a listed one (fact 20, client 2.1.329).
func (r Request) isListed(name string) bool {
	return r.Event == client.UserPromptExpansion || client.Lists(r.Transcript, r.Prompt, name)
}

// readSpec reads and parses the fsm.json at path, and sets result.SHA256. It
// distinguishes an unusable fsm.json (*SpecError) from one whose existence cannot be
// determined (ErrLookup), such as in a directory without search permission.
func readSpec(files locator.FS, path string, r Request, result *Result) (*fsmspec.Spec, error) {
	data, err := locator.ReadSpec(files, path, fsmspec.MaxBytes)
	if err != nil {
		if _, hidden := files.Lstat(path); hidden != nil {
			return nil, lookupError{err}
		}
		return nil, &SpecError{path, err}
	}
	return parseSpec(path, r, data, result)
}

// parseSpec parses the content of an fsm.json, and sets result.SHA256. Its error is a *SpecError.
func parseSpec(path string, r Request, data []byte, result *Result) (*fsmspec.Spec, error) {
	spec, err := fsmspec.ParseOf(r.Command, data)
	if err != nil {
		return nil, &SpecError{path, err}
	}
	sum := sha256.Sum256(data)
	result.SHA256, result.Definition = hex.EncodeToString(sum[:]), state.Definition(data, r.Plan != nil)
	return spec, nil
}

// Absolute returns the directories as absolute paths. It skips those for which there is
// none.
func Absolute(dirs []string) []string {
	var list []string
	for _, dir := range dirs {
		if abs, err := filepath.Abs(dir); err == nil {
			list = append(list, abs)
		}
	}
	return list
}

// lookupError is ErrLookup with the locator's message unchanged, because that is
// documented.
type lookupError struct{ error }

func (e lookupError) Is(target error) bool { return target == ErrLookup }
func (e lookupError) Unwrap() error        { return e.error }
