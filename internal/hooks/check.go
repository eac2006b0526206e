package hooks

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// Severity is the severity of a finding.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // a hook does not run
	Warning Severity = "warning" // a hook probably does not run as intended
)

// Finding is one mistake. Lines and columns count from 1, columns in characters.
type Finding struct {
	Path     string   `json:"path"`
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
}

func (f Finding) String() string {
	return fmt.Sprintf("%s:%d:%d: %s: %s", f.Path, f.Line, f.Column, f.Severity, f.Message)
}

// Checker checks files of one dialect.
type Checker struct {
	Dialect dialect.Dialect
	Project string              // the project's directory, for variables and relative paths
	Getenv  func(string) string // as os.Getenv
}

// File checks one file and returns the findings in the order of the file. An error is
// returned when the file cannot be read; mistakes in its content are findings.
func (c Checker) File(path string) ([]Finding, error) {
	data, err := safefile.ReadFile(path, maxFile, 0)
	if err != nil {
		return nil, err
	}
	return c.Content(path, data), nil
}

// Content checks the content of a file. path is only used for the kind of file and in the
// findings.
func (c Checker) Content(path string, data []byte) []Finding {
	f := &file{Checker: c, path: path, index: jsonx.NewIndex(data), base: "/hooks"}
	parse := f.parse
	if isSkillFile(path) {
		parse = f.parseSkill
	}
	err := parse(data)
	if syntax, ok := errors.AsType[*jsonx.SyntaxError](err); ok {
		f.addAt(syntax.Offset, Error, fmt.Sprintf("none of its hooks runs: %v", syntax.Err))
		return f.findings
	}
	f.check()
	slices.SortStableFunc(f.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return f.findings
}

func (f *file) parse(data []byte) error {
	text, err := parseFile(f.Dialect, data)
	if err != nil {
		return err
	}
	f.layout, f.text = layoutOf(text), text
	f.source = sourceOf(f.Dialect, f.path, text)
	return nil
}

// parseSkill is parse for a skill or a command, which has its hooks in the frontmatter.
func (f *file) parseSkill(data []byte) error {
	text, offsets, err := parseSkillHooks(data)
	if err != nil {
		return err
	}
	f.layout = layout{offsets: offsets}
	f.source = skillOf(f.path, text)
	return nil
}

// file is a file while it is checked.
type file struct {
	Checker
	path  string
	index *jsonx.Index
	layout
	text     jsontext.Value // the JSON object in the file, nil for a skill
	source   Source
	base     jsontext.Pointer // to source.Hooks
	findings []Finding
}

func (f *file) check() {
	for _, m := range f.replaced {
		f.addAt(m.offset, Warning, fmt.Sprintf("another %q below replaces this one", m.name))
	}
	f.outside()
	if f.source.Hooks == nil {
		if isHooksFile(f.path) && !isManifest(f.path) && len(f.findings) == 0 {
			f.add("", Error, `the file has no member "hooks"`)
		}
		return // most settings and skills have no hooks
	}
	if isManifest(f.path) && f.source.Hooks.Kind() != '{' {
		f.named()
		return
	}
	f.events()
}

// events adds the findings about the object of event names.
func (f *file) events() {
	lenient := f.source
	lenient.Lenient = true // one fatal problem must not hide the others
	registry := NewRegistry(f.Dialect, []Source{lenient})
	if slices.ContainsFunc(registry.Problems(), func(p Problem) bool { return p.Fatal }) {
		f.addAt(0, Error, f.source.lost(f.Dialect, registry.Total()))
	}
	for _, p := range registry.Problems() {
		f.problem(p)
	}
	for _, event := range registry.Events() {
		e, _ := f.Dialect.Event(event)
		_, skipped := registry.All(f.Dialect, event)
		for _, p := range skipped {
			severity := Warning // a duplicate: the hook still runs once
			if slices.Contains(f.Dialect.NoSkillHooks, event) && f.source.Skill != "" {
				severity = Error // it never runs
			}
			f.add(p.Pointer, severity, p.Message)
		}
		for _, h := range registry.Hooks(event) {
			f.timeout(h)
			f.matcher(e, h)
			f.condition(e, h)
			f.command(e, h)
		}
	}
}

// named adds the files that the manifest of a plugin names and that are not there, and the findings about
// objects of event names beside them. Files that are there are checked by their own names.
func (f *file) named() {
	values := []jsontext.Value{f.source.Hooks}
	items, isList := jsonx.Array(f.source.Hooks)
	if isList {
		values = items
	}
	for i, value := range values {
		if isList {
			f.base = "/hooks/" + jsontext.Pointer(strconv.Itoa(i))
		}
		if path, isPath := jsonx.String(value); isPath {
			f.namedFile(path)
		} else if value.Kind() == '{' {
			f.source.Hooks = value
			f.events()
		} else {
			f.add("", Error, "hooks: "+jsonx.Got(value.Kind(), "an object of event names, a path, or an array of these"))
		}
	}
}

// namedFile adds what keeps the agent from reading a file that the manifest names (for Claude Code measured
// with 2.1.329, facts 159 and 173).
func (f *file) namedFile(path string) {
	whole, isClaude := filepath.Join(f.source.Root, path), f.Dialect.Settings.Plugins
	_, err := os.Stat(whole)
	switch {
	case isClaude && !(strings.HasPrefix(path, "./") && strings.HasSuffix(path, ".json")):
		f.add("", Error, fmt.Sprintf("%s does not load the plugin: the path %q has to begin with ./ and to end with .json",
			f.Dialect.Title, path))
	case isClaude && !filepath.IsLocal(path):
		f.add("", Error, fmt.Sprintf("the file %s is outside the plugin, so it is not read", whole))
	case errors.Is(err, fs.ErrNotExist):
		f.add("", Error, fmt.Sprintf("the file %s does not exist", whole))
	}
}

// problem adds a problem of the registry.
func (f *file) problem(p Problem) {
	severity := Warning
	if p.Dropped || p.Fatal {
		severity = Error
	}
	f.add(p.Pointer, severity, p.Message)
}

// add adds a finding about the value that at points to, relative to the object of event names.
func (f *file) add(at jsontext.Pointer, severity Severity, message string) {
	offset, ok := f.offsets[f.base+at]
	for ; !ok && at != ""; offset, ok = f.offsets[f.base+at] {
		at = at.Parent()
	}
	f.addAt(offset, severity, message)
}

func (f *file) addAt(offset int, severity Severity, message string) {
	at := f.index.At(offset)
	f.findings = append(f.findings, Finding{f.path, at.Line, at.Column, severity, message})
}

// reported reports whether there is already a finding at a place. The hooks of a group share
// its matcher, which is reported once.
func (f *file) reported(at jsontext.Pointer) bool {
	place := f.index.At(f.offsets[f.base+at])
	return slices.ContainsFunc(f.findings, func(found Finding) bool { return found.Line == place.Line && found.Column == place.Column })
}
