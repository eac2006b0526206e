package hooktest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fsmtx/fsmtx/internal/hooks"
)

// ErrCase means that a case file is not one; it wraps what is wrong.
var ErrCase = errors.New("invalid case")

// Case is one test.
type Case struct {
	Path    string // of the file
	Title   string // its first line
	Event   string
	Dialect hooks.Dialect
	Config  []string // paths, absolute
	Env     []string // NAME=VALUE
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

// Load reads a case file.
func Load(path string) (Case, error) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		return Case{}, err
	}
	c := Case{Path: path, Dialect: hooks.Claude(), archive: archive}
	for line := range strings.Lines(string(archive.Comment)) {
		if err := c.header(strings.TrimSpace(line)); err != nil {
			return Case{}, fmt.Errorf("%s: %w: %w", path, ErrCase, err)
		}
	}
	switch {
	case c.Event == "":
		return Case{}, fmt.Errorf("%s: %w: no line says the event, as in \"event: PreToolUse\"", path, ErrCase)
	case len(c.Config) == 0:
		return Case{}, fmt.Errorf("%s: %w: no line says the configuration, as in \"config: ../hooks/hooks.json\"", path, ErrCase)
	}
	return c, nil
}

// header reads a line of the head; what is no "name: value" is for people.
func (c *Case) header(line string) (err error) {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	switch name {
	case "event":
		c.Event = value
	case "dialect":
		c.Dialect, err = hooks.Named(value)
	case "config":
		c.Config = append(c.Config, filepath.Join(filepath.Dir(c.Path), value))
	case "env":
		c.Env = append(c.Env, value)
	default:
		if c.Title == "" {
			c.Title = line
		}
	}
	return err
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

// layout returns the files to lay out.
func (c Case) layout() []txtar.File {
	return slices.DeleteFunc(slices.Clone(c.archive.Files), func(f txtar.File) bool {
		return f.Name == eventSection || f.Name == wantSection || strings.HasPrefix(f.Name, wantDirectory)
	})
}

// wanted returns the files the hooks are to leave behind, by name.
func (c Case) wanted() map[string]string {
	files := map[string]string{}
	for _, f := range c.archive.Files {
		if name, ok := strings.CutPrefix(f.Name, wantDirectory); ok {
			files[name] = string(f.Data)
		}
	}
	return files
}

// Update rewrites what the case wants by what it got.
func (c Case) Update(got Got) error {
	archive := &txtar.Archive{Comment: c.archive.Comment, Files: slices.DeleteFunc(slices.Clone(c.archive.Files), func(f txtar.File) bool {
		return f.Name == wantSection || strings.HasPrefix(f.Name, wantDirectory)
	})}
	archive.Files = append(archive.Files, txtar.File{Name: wantSection, Data: []byte(got.Said)})
	for _, name := range got.names() {
		archive.Files = append(archive.Files, txtar.File{Name: wantDirectory + name, Data: []byte(got.Files[name])})
	}
	return os.WriteFile(c.Path, txtar.Format(archive), 0o644)
}
