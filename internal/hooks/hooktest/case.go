package hooktest

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fsmtx/fsmtx/internal/edit"
	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/hooks/js"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// errCase is returned when a case file is invalid. The error that wraps it says why.
var errCase = errors.New("invalid case")

// Case is one test.
type Case struct {
	path    string // of the case file
	title   string // the first line
	event   string
	dialect dialect.Dialect
	config  []string // paths, absolute
	env     []string // NAME=VALUE
	ignore  []string // patterns of files and directories that may change
	archive *txtar.Archive
}

// Files returns the case files below a directory: every *.txtar, sorted.
func Files(dir string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && filepath.Ext(path) == ".txtar" {
			found = append(found, path)
		}
		return err
	})
	slices.Sort(found)
	return found, err
}

// ignores reports whether a pattern matches the file or a directory above it.
func (c Case) ignores(name string) bool {
	for ; name != "."; name = path.Dir(name) {
		for _, pattern := range c.ignore {
			if ok, _ := path.Match(pattern, name); ok {
				return true
			}
		}
	}
	return false
}

// Load reads a case file.
func Load(file string) (Case, error) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		return Case{}, err
	}
	c := Case{path: file, dialect: dialect.Claude(), archive: archive}
	for line := range strings.Lines(string(archive.Comment)) {
		if err := c.header(strings.TrimSpace(line)); err != nil {
			return Case{}, fmt.Errorf("%s: %w: %w", file, errCase, err)
		}
	}
	if _, known := c.dialect.Event(c.event); c.event != "" && !known {
		return Case{}, fmt.Errorf("%s: %w: %s has no event %q%s", file, errCase, c.dialect.Title, c.event, c.dialect.Suggest(c.event))
	}
	if err := c.checkWant(); err != nil {
		return Case{}, fmt.Errorf("%s: %w: %w", file, errCase, err)
	}
	switch {
	case c.event == "":
		return Case{}, fmt.Errorf("%s: %w: missing event, as in \"event: PreToolUse\"", file, errCase)
	case len(c.config) == 0:
		return Case{}, fmt.Errorf("%s: %w: missing configuration, as in \"config: ../hooks/hooks.json\"", file, errCase)
	case c.section(eventSection) == "":
		return Case{}, fmt.Errorf("%s: %w: missing section event.json", file, errCase)
	}
	return c, nil
}

// header reads a line of the head. The first line that is not "name: value" is the title;
// others are comments.
func (c *Case) header(line string) (err error) {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	switch name {
	case "event":
		c.event = value
	case "dialect":
		c.dialect, err = dialect.Named(value)
	case "config":
		c.config = append(c.config, filepath.Join(filepath.Dir(c.path), value))
	case "env":
		c.env = append(c.env, value)
	case "ignore":
		_, err = path.Match(value, "")
		c.ignore = append(c.ignore, value)
	default:
		if isKey(line) {
			return unknownKey(name, headKeys())
		}
		if c.title == "" {
			c.title = line
		}
	}
	return err
}

func headKeys() []string { return []string{"event", "dialect", "config", "env", "ignore"} }

// isKey reports whether a line of the head looks like "name: value".
func isKey(line string) bool {
	name, value, found := strings.Cut(line, ":")
	return found && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_-") == "" && (value == "" || value[0] == ' ')
}

func unknownKey(name string, known []string) error {
	if near := dialect.Near(name, known); near != "" {
		return fmt.Errorf("unknown key %q; did you mean %q", name, near)
	}
	return fmt.Errorf("unknown key %q; known are %s", name, dialect.InWords(known))
}

// checkWant returns an error if want.json has a member that no result has, because comparing
// it could never fail.
func (c Case) checkWant() error {
	want, _ := js.ParseObject(jsontext.Value(c.section(wantSection)))
	known := []string{"hooks", "failed"}
	for field := range reflect.TypeFor[hooks.Policy]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		known = append(known, name)
	}
	for name := range want.All() {
		if !slices.Contains(known, name) {
			return fmt.Errorf("want.json: %w", unknownKey(name, known))
		}
	}
	return nil
}

// section returns a section's text, "" if it is absent.
func (c Case) section(name string) string {
	for _, f := range c.archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

const (
	eventSection  = "event.json"
	wantSection   = "want.json"
	wantDirectory = "want/"
)

// layout returns the files to create before the event.
func (c Case) layout() []txtar.File {
	return slices.DeleteFunc(slices.Clone(c.archive.Files), func(f txtar.File) bool {
		return f.Name == eventSection || f.Name == wantSection || strings.HasPrefix(f.Name, wantDirectory)
	})
}

// wanted returns the files that the hooks must create or change, by name.
func (c Case) wanted() map[string]string {
	files := map[string]string{}
	for _, f := range c.archive.Files {
		if name, ok := strings.CutPrefix(f.Name, wantDirectory); ok {
			files[name] = string(f.Data)
		}
	}
	return files
}

// maxCase limits the file of a case, in bytes.
const maxCase = 64 << 20

// Update replaces the expectations in the case file by the result.
func (c Case) Update(got Got) error {
	archive := &txtar.Archive{Comment: c.archive.Comment, Files: slices.DeleteFunc(slices.Clone(c.archive.Files), func(f txtar.File) bool {
		return f.Name == wantSection || strings.HasPrefix(f.Name, wantDirectory)
	})}
	archive.Files = append(archive.Files, txtar.File{Name: wantSection, Data: []byte(got.Policy)})
	for _, name := range got.names() {
		archive.Files = append(archive.Files, txtar.File{Name: wantDirectory + name, Data: []byte(got.Files[name])})
	}
	path, err := filepath.Abs(c.path)
	if err != nil {
		return err
	}
	file, err := edit.Read(safefile.Resolve(path), maxCase)
	if err != nil {
		return err
	}
	return file.Replace(txtar.Format(archive))
}
