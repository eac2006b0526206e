// Package lint looks for mistakes in a hooks file that the agent would swallow:
// hooks that never run, timeouts in the wrong unit, commands that do not exist.
//
// It reads the file and looks at the programs that it names; it runs nothing.
package lint

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"github.com/fsmtx/fsmtx/internal/hooks"
)

// Severity says how bad a finding is.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // something will not run
	Warning Severity = "warning" // it will run, and probably not as meant
)

// Finding is one mistake. Line and Column count from 1, columns in bytes.
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
	Dialect hooks.Dialect
	Project string                                  // what the project's variables stand for
	Getenv  func(string) string                     // as os.Getenv
	Source  func(path string) (hooks.Source, error) // reads a file as a source
}

// File checks one file and returns what it found, by line. The error is about
// reading the file, not about what is in it.
func (c Checker) File(path string) ([]Finding, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if c.Dialect.AllowsComments() {
		if standard, err := hujson.Standardize(slices.Clone(data)); err == nil {
			data = standard // comments become spaces: offsets stay
		}
	}
	layout, err := locate(data)
	if err != nil {
		return []Finding{syntaxFinding(path, data, err)}, nil
	}
	if jsontext.Value(data).Kind() != '{' {
		return []Finding{{path, 1, 1, Error, "the file is no JSON object, none of its hooks runs"}}, nil
	}
	source, err := c.Source(path)
	if err != nil {
		return nil, err
	}
	check := &check{Checker: c, path: path, data: data, layout: layout, source: source}
	check.run()
	slices.SortStableFunc(check.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return check.findings, nil
}

func syntaxFinding(path string, data []byte, err error) Finding {
	offset, message := 0, err.Error()
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		offset, message = int(e.ByteOffset), e.Err.Error()
	}
	line, column := position(data, offset)
	return Finding{path, line, column, Error, "the file does not parse, none of its hooks runs: " + message}
}

// check is the check of one file.
type check struct {
	Checker
	path string
	data []byte
	layout
	source   hooks.Source
	findings []Finding
}

func (c *check) run() {
	for _, m := range c.replaced {
		c.addAt(m.offset, Warning, fmt.Sprintf("there is another %q below, which replaces this one", m.name))
	}
	if c.source.Hooks == nil {
		c.add("", Error, `there is no "hooks" in the file`)
		return
	}
	lenient := c.source
	lenient.Strict = false // to see what else there is
	registry := hooks.NewRegistry(c.Dialect, []hooks.Source{lenient})
	for _, p := range registry.Problems() {
		c.problem(p)
	}
	for _, event := range registry.Events() {
		_, duplicates := registry.All(c.Dialect, event)
		for _, p := range duplicates {
			c.add(p.Pointer, Warning, p.Message)
		}
		for _, h := range registry.Hooks(event) {
			c.timeout(h)
			c.matcher(event, h)
			c.command(h)
		}
	}
}

// problem reports what the registry has against the file.
func (c *check) problem(p hooks.Problem) {
	severity, message := Warning, p.Message
	if p.Dropped {
		severity = Error
	}
	if p.Fatal && c.source.Strict {
		severity = Error
		message += "; in a plugin that drops the whole file"
	}
	c.add(p.Pointer, severity, message)
}

// add records a finding about what at points to, below hooks.
func (c *check) add(at jsontext.Pointer, severity Severity, message string) {
	offset, ok := c.places["/hooks"+at]
	for ; !ok && at != ""; offset, ok = c.places["/hooks"+at] {
		at = at.Parent()
	}
	c.addAt(offset, severity, message)
}

func (c *check) addAt(offset int, severity Severity, message string) {
	line, column := position(c.data, offset)
	c.findings = append(c.findings, Finding{c.path, line, column, severity, message})
}

type pointer = jsontext.Pointer

// seen reports whether something has been said about a place already, so that a
// group's matcher is not reported once for each of its hooks.
func (c *check) seen(at pointer) bool {
	line, column := position(c.data, c.places["/hooks"+at])
	return slices.ContainsFunc(c.findings, func(f Finding) bool { return f.Line == line && f.Column == column })
}
