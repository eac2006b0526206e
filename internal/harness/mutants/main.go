package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// version of gremlins. It lists mutants by file, line, column and type.
const gremlins = "github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0"

// target is a package and the tests that are meant to notice its mutants besides
// its own.
type target struct {
	pkg  string
	also [][]string // arguments of go test, in the order in which they are tried
}

var targets = []target{
	{"./fsmspec", [][]string{{"./fuzz", "-run", "Spec|Task"}, {"./internal/command", "-run", "TestScript"}}},
	{"./locator", [][]string{{"./internal/command", "-run", "TestScript"}}},
	{"./internal/claude/plugins", [][]string{{"./locator"}, {"./fuzz", "-run", "Registry|Marketplaces"}}},
	{"./internal/frontmatter", [][]string{{"./locator"}, {"./fuzz", "-run", "Frontmatter"}, {"./internal/guard/..."}}},
	{"./txn", [][]string{{"./fuzz", "-run", "Journal"}, {"./internal/harness/crash"}}},
	{"./internal/claude/tasks", [][]string{{"./internal/hydrate"}, {"./internal/harness/together"}, {"./internal/command", "-run", "TestScript"}}},
	{"./internal/hydrate", [][]string{{"./internal/command", "-run", "TestScript"}, {"./internal/harness/together"}}},
}

func main() {
	list := flag.String("survivors", "internal/harness/mutants/survivors.txt", "the `file` that lists mutants which change nothing observable")
	workers := flag.Int("workers", 2, "how many mutants gremlins tries at a time")
	flag.Parse()
	if err := run(*list, *workers, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(list string, workers int, packages []string) error {
	known, err := readSurvivors(list)
	if err != nil {
		return err
	}
	chosen, err := choose(packages)
	if err != nil {
		return err
	}
	for _, t := range chosen {
		if err := t.run(known, workers); err != nil {
			return err
		}
	}
	return known.verdict(chosen)
}

func choose(packages []string) ([]target, error) {
	if len(packages) == 0 {
		return targets, nil
	}
	var chosen []target
	for _, pkg := range packages {
		i := slices.IndexFunc(targets, func(t target) bool { return filepath.Clean(t.pkg) == filepath.Clean(pkg) })
		if i < 0 {
			return nil, fmt.Errorf("%s is not a target; see main.go for the list", pkg)
		}
		chosen = append(chosen, targets[i])
	}
	return chosen, nil
}

// run tries every mutant of the package and tells known about the survivors.
func (t target) run(known *survivors, workers int) error {
	mutants, err := t.mutants(workers)
	if err != nil {
		return err
	}
	counts := map[string]int{}
	for _, m := range mutants {
		if m.Status == "LIVED" || m.Status == "NOT COVERED" {
			if m.Status, err = t.tryElsewhere(m); err != nil {
				return err
			}
		}
		counts[m.Status]++
		if m.Status == "LIVED" && !known.expects(m) {
			fmt.Printf("%s:%d:%d: %s survives: %s\n", m.file, m.Line, m.Column, m.Type, m.text)
		}
	}
	fmt.Printf("%s: %d mutants: %d noticed by its own tests, %d by others, %d survive\n",
		t.pkg, len(mutants), counts["KILLED"]+counts["TIMED OUT"], counts["NOTICED"], counts["LIVED"])
	return nil
}

// mutant is one that gremlins made.
type mutant struct {
	Type   string `json:"type"`
	Status string `json:"status"` // KILLED, LIVED, NOT COVERED, TIMED OUT, NOT VIABLE; NOTICED once another package's tests failed
	Line   int    `json:"line"`
	Column int    `json:"column"` // in bytes, from 1

	file string // relative to the module
	text string // the source line, trimmed
}

// mutants runs gremlins on the package.
func (t target) mutants(workers int) ([]mutant, error) {
	dir, err := os.MkdirTemp("", "mutants-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "report.json")
	// Not --test-cpu: gremlins 0.6.0 passes "-cpu 1" as one argument, go test rejects
	// it, and every mutant is reported as killed.
	c := exec.Command("go", "run", gremlins, "unleash", t.pkg, "--workers", strconv.Itoa(workers),
		"--timeout-coefficient", "20", "--silent", "--output", out)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("gremlins on %s: %w", t.pkg, err)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	var report struct {
		Files []struct {
			Name      string   `json:"file_name"`
			Mutations []mutant `json:"mutations"`
		} `json:"files"`
	}
	if err := json.Unmarshal(data, &report); err != nil {
		return nil, fmt.Errorf("%s: %w", out, err)
	}
	var all []mutant
	for _, f := range report.Files {
		for _, m := range f.Mutations {
			m.file = filepath.Join(t.pkg, f.Name)
			if m.text, err = lineOf(m); err != nil {
				return nil, err
			}
			all = append(all, m)
		}
	}
	return all, nil
}

func lineOf(m mutant) (string, error) {
	data, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	lines := strings.Split(string(data), "\n")
	if m.Line < 1 || m.Line > len(lines) {
		return "", fmt.Errorf("%s has no line %d", m.file, m.Line)
	}
	return strings.TrimSpace(lines[m.Line-1]), nil
}

// tryElsewhere runs the further tests on the mutated file and returns the status.
func (t target) tryElsewhere(m mutant) (string, error) {
	dir, err := os.MkdirTemp("", "mutants-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	overlay, err := m.overlay(dir)
	if err != nil {
		return "", err
	}
	tests := t.also
	if m.Status == "NOT COVERED" {
		// A coverage profile has no blocks for constants and for the conditions of a
		// switch, so gremlins does not run the package's own tests on them.
		tests = append([][]string{{t.pkg}}, tests...)
	}
	for _, args := range tests {
		c := exec.Command("go", append([]string{"test", "-overlay", overlay, "-failfast", "-timeout", "10m"}, args...)...)
		err := c.Run()
		if _, failed := errors.AsType[*exec.ExitError](err); failed {
			return "NOTICED", nil
		}
		if err != nil {
			return "", err
		}
	}
	return "LIVED", nil
}

// overlay writes the mutated file and an overlay for the go command that puts it
// in the place of the original.
func (m mutant) overlay(dir string) (string, error) {
	original, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	mutated, err := m.apply(string(data))
	if err != nil {
		return "", err
	}
	replaced := filepath.Join(dir, filepath.Base(m.file))
	if err := os.WriteFile(replaced, []byte(mutated), 0o600); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {original: replaced}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}
