package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

const (
	// tries is how often a mutant has to survive: properties are tried on random values.
	tries = 3
	// A mutant that makes tests slower than this, or than twenty times what they
	// take without it, counts as noticed.
	leastTimeout = 2 * time.Minute
)

// try returns what became of each mutant.
func (t target) try(mutants []mutant, workers int) ([]status, error) {
	dir, err := os.MkdirTemp("", "mutants-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	b, err := t.buildSwitched(dir, mutants, workers)
	if err != nil {
		return nil, err
	}
	for i := range b.tests {
		if err := b.tests[i].measure(b); err != nil {
			return nil, err
		}
	}
	results := make([]status, len(mutants))
	errs := make([]error, workers)
	queue := make(chan int)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := range queue {
				if errs[w] == nil {
					results[i], errs[w] = b.tryOne(w, i, mutants[i])
				}
			}
		})
	}
	for i := range mutants {
		queue <- i
	}
	close(queue)
	all.Wait()
	return results, errors.Join(errs...)
}

// build is a package with switched mutants and the tests that are run on it.
type build struct {
	target
	dir   string
	path  string // of its import
	tests []test
	in    map[int]bool // the indices of the mutants in it
}

// test is the built tests of one suite.
type test struct {
	suite
	file    string // name of the binary, in the directory of a worker
	flags   []string
	timeout time.Duration
}

// buildSwitched builds the tests with those mutants that can be switched.
func (t target) buildSwitched(dir string, mutants []mutant, workers int) (b *build, err error) {
	b = &build{target: t, dir: dir, in: map[int]bool{}}
	for i := range mutants {
		b.in[i] = true
	}
	if err := b.compile(mutants); err != nil {
		return nil, err
	}
	if b.path, err = importPath(t.pkg); err != nil {
		return nil, err
	}
	for i, s := range append([]suite{{t.pkg, ""}}, t.also...) {
		b.tests = append(b.tests, test{suite: s, file: fmt.Sprintf("%d.test", i), flags: []string{"-test.failfast", "-test.run", s.run}})
	}
	for w := range workers {
		if err := b.link(b.worker(w)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// worker returns the directory of a worker: the tests and the switch that they read.
func (b *build) worker(w int) string { return filepath.Join(b.dir, "worker"+strconv.Itoa(w)) }

// link builds the tests in the directory of a worker, and completes their flags.
func (b *build) link(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := turn(dir, 0); err != nil {
		return err
	}
	for i := range b.tests {
		t := &b.tests[i]
		if err := t.compile(dir, filepath.Join(b.dir, "overlay.json"), "-ldflags", "-X "+b.path+".mutantSwitch="+filepath.Join(dir, "switch")); err != nil {
			return err
		}
		help, _ := exec.Command(filepath.Join(dir, t.file), "-h").CombinedOutput() // it exits with 2
		if bytes.Contains(help, []byte("-rapid.nofailfile")) && !slices.Contains(t.flags, "-rapid.nofailfile") {
			t.flags = append(t.flags, "-rapid.nofailfile", "-rapid.shrinktime=0s")
		}
	}
	return nil
}

// turn switches the mutant on; 0 is none.
func turn(dir string, n int) error {
	return os.WriteFile(filepath.Join(dir, "switch"), []byte(strconv.Itoa(n)), 0o600)
}

// compile builds the tests in dir.
func (t test) compile(dir, overlay string, flags ...string) error {
	args := append([]string{"test", "-c", "-overlay", overlay, "-o", filepath.Join(dir, t.file)}, flags...)
	if out, err := exec.Command("go", append(args, t.pkg)...).CombinedOutput(); err != nil {
		return fmt.Errorf("go test -c %s: %w\n%s", t.pkg, err, out)
	}
	return nil
}

func importPath(pkg string) (string, error) {
	out, err := exec.Command("go", "list", pkg).Output()
	return strings.TrimSpace(string(out)), err
}

// compile leaves in b.in the mutants that compile behind a switch. Others do not: if
// an operand is a string, say, or a constant that would get a type.
func (b *build) compile(mutants []mutant) error {
	for {
		overlay, err := b.overlay(mutants)
		if err != nil {
			return err
		}
		out, err := exec.Command("go", "build", "-gcflags=-e", "-overlay", overlay, "-o", os.DevNull, b.pkg).CombinedOutput()
		if err == nil {
			return nil
		}
		if !b.drop(mutants, string(out)) {
			return fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
}

// overlay writes the files with the mutants of b.in and an overlay for the go command.
func (b *build) overlay(mutants []mutant) (string, error) {
	byFile := map[string]map[string][]numbered{}
	for i, m := range mutants {
		if byFile[m.file] == nil {
			byFile[m.file] = map[string][]numbered{}
		}
		if b.in[i] {
			at := fmt.Sprintf("%d:%d", m.Line, m.Column)
			byFile[m.file][at] = append(byFile[m.file][at], numbered{m, i + 1})
		}
	}
	b.in = map[int]bool{}
	replace := map[string]string{}
	name := ""
	for file, on := range byFile {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		text, done, err := switched(string(data), on)
		if err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
		for _, n := range done {
			b.in[n-1] = true
		}
		if err := put(b.dir, file, text, replace); err != nil {
			return "", err
		}
		if name, err = packageName(data); err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
	}
	if err := put(b.dir, filepath.Join(b.pkg, "mutants_switches.go"), fmt.Sprintf(switches, name), replace); err != nil {
		return "", err
	}
	return writeOverlay(b.dir, replace)
}

// put writes the text that takes the place of a file of the module.
func put(dir, file, text string, replace map[string]string) error {
	original, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	replace[original] = filepath.Join(dir, filepath.Base(file))
	return os.WriteFile(replace[original], []byte(text), 0o600)
}

func writeOverlay(dir string, replace map[string]string) (string, error) {
	text, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}

func packageName(source []byte) (string, error) {
	for line := range strings.Lines(string(source)) {
		if name, ok := strings.CutPrefix(line, "package "); ok {
			return strings.Fields(name)[0], nil
		}
	}
	return "", errors.New("no package clause")
}

// drop takes out the mutants on the lines that the compiler complains of.
func (b *build) drop(mutants []mutant, output string) bool {
	dropped := false
	for line := range strings.Lines(output) {
		fields := strings.SplitN(line, ":", 3)
		if len(fields) < 3 {
			continue
		}
		n, err := strconv.Atoi(fields[1])
		if err != nil {
			continue
		}
		for i, m := range mutants {
			if b.in[i] && m.Line == n && filepath.Base(m.file) == filepath.Base(fields[0]) {
				delete(b.in, i)
				dropped = true
			}
		}
	}
	return dropped
}

// measure runs the tests without a mutant. They have to pass.
func (t *test) measure(b *build) error {
	start := time.Now()
	if out, failed := t.run(b.worker(0), time.Hour); failed {
		return fmt.Errorf("the tests of %s fail without a mutant:\n%s", t.pkg, out)
	}
	t.timeout = max(leastTimeout, 20*time.Since(start))
	return nil
}

// run runs the tests from dir and reports whether they fail or hang.
func (t test) run(dir string, timeout time.Duration) (out []byte, failed bool) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout+time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, filepath.Join(dir, t.file), append(slices.Clone(t.flags), "-test.timeout", timeout.String())...)
	c.Dir = t.pkg
	c.WaitDelay = time.Second
	out, err := c.CombinedOutput()
	return out, err != nil
}

// tryOne runs the tests with the mutant until one fails.
func (b *build) tryOne(worker, i int, m mutant) (status, error) {
	if !b.in[i] {
		return b.tryCompiled(m)
	}
	dir := b.worker(worker)
	if err := turn(dir, i+1); err != nil {
		return "", err
	}
	return b.verdict(dir), nil
}

// verdict runs the tests in dir until one fails.
func (b *build) verdict(dir string) status {
	for n, t := range b.tests {
		for range tries {
			if _, failed := t.run(dir, t.timeout); !failed {
				continue
			}
			if n == 0 {
				return noticed
			}
			return elsewhere
		}
	}
	return survives
}

// tryCompiled runs the tests of a package that is compiled with the mutant.
func (b *build) tryCompiled(m mutant) (status, error) {
	dir, err := os.MkdirTemp(b.dir, "compiled-*")
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	mutated, err := m.apply(string(data))
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	if err := put(dir, m.file, mutated, replace); err != nil {
		return "", err
	}
	overlay, err := writeOverlay(dir, replace)
	if err != nil {
		return "", err
	}
	if exec.Command("go", "build", "-overlay", overlay, b.pkg).Run() != nil {
		return notViable, nil
	}
	for _, t := range b.tests {
		if err := t.compile(dir, overlay); err != nil {
			return "", err
		}
	}
	return b.verdict(dir), nil
}
