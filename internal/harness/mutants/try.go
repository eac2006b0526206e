package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
)

// build is a package with switched mutants.
type build struct {
	target
	ctx     context.Context
	dir     string
	path    string // of its import
	workers int
	mutants []mutant
	in      map[int]bool   // the indices of the mutants in it
	as      map[int]string // the types that arguments are converted to, by number
	limit   time.Duration  // of the processor, for trying; 0 is none
	spent   atomic.Int64   // by the tests
}

// isOver reports whether no time is left.
func (b *build) isOver() bool {
	return b.limit > 0 && b.spent.Load() >= int64(b.limit) || b.ctx.Err() != nil
}

// try returns the result of each mutant. A mutant that survives is tried again, unless it
// is listed.
func (t target) try(ctx context.Context, mutants []mutant, listed func(mutant) bool, o options) ([]status, error) {
	dir, err := os.MkdirTemp("", "mutants-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	b := &build{target: t, ctx: ctx, dir: dir, workers: o.workers, mutants: mutants, in: map[int]bool{}, as: map[int]string{}, limit: o.limit}
	if b.path, err = importPath(t.pkg); err != nil {
		return nil, err
	}
	for i := range mutants {
		b.in[i] = true
	}
	results := slices.Repeat([]status{untried}, len(mutants))
	if err := b.compile(mutants); ctx.Err() != nil {
		return results, nil
	} else if err != nil {
		return nil, err
	}
	for i := range mutants {
		if results[i] = notSwitched; b.in[i] {
			results[i] = survives
		}
	}
	suites := append([]suite{{t.pkg, o.run}}, t.also...)
	if o.run != "" {
		suites = suites[:1]
	}
	for n, s := range suites {
		if err := b.test(n, s, results, listed, o); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// test runs the tests of the suite with the number n for each mutant that survives so far.
func (b *build) test(n int, s suite, results []status, listed func(mutant) bool, o options) error {
	var left []int
	for i, r := range results {
		if r == survives {
			left = append(left, i)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(s.pkg, "*_test.go")); len(left) == 0 || len(files) == 0 {
		return nil
	}
	var ts *tests
	var err error
	if !b.isOver() {
		if ts, err = b.build(s, n, len(left) >= enoughToDivide); err != nil {
			return err
		}
	}
	found := noticed
	if n > 0 {
		found = elsewhere
	} else {
		b.spent.Store(0)
	}
	return b.each(len(left), func(worker, at int) error {
		i := left[at]
		if b.isOver() {
			results[i] = untried
			return nil
		}
		tries := 3 // some tests use random values
		if listed(b.mutants[i]) || b.limit > 0 {
			tries = 1
		}
		failed, err := ts.fails(b, worker, i, tries)
		switch {
		case b.ctx.Err() != nil:
			results[i] = untried
			return nil
		case failed:
			results[i] = found
		}
		return err
	})
}

// each calls do with the numbers below n, on as many goroutines as there are workers.
func (b *build) each(n int, do func(worker, i int) error) error {
	errs := make([]error, b.workers)
	var next atomic.Int64
	var all sync.WaitGroup
	for w := range b.workers {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && errs[w] == nil; i = int(next.Add(1)) - 1 {
				errs[w] = do(w, i)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// worker returns the directory of a worker: the tests and the switch that they read.
func (b *build) worker(w int) string { return filepath.Join(b.dir, "worker"+strconv.Itoa(w)) }

func importPath(pkg string) (string, error) {
	out, err := exec.Command("go", "list", pkg).Output()
	return strings.TrimSpace(string(out)), err
}

// compile leaves in b.in the mutants that compile behind a switch. Some do not, for example
// if an operand is a string, or a constant that would get a type.
func (b *build) compile(mutants []mutant) error {
	for {
		overlay, err := b.overlay(mutants)
		if err != nil {
			return err
		}
		out, err := exec.CommandContext(b.ctx, "go", "build", "-gcflags=-e", "-overlay", overlay, "-o", os.DevNull, b.pkg).CombinedOutput()
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
			at := fmt.Sprintf("%d:%d", m.line, m.column)
			byFile[m.file][at] = append(byFile[m.file][at], numbered{m, i + 1, b.as[i+1]})
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
	text, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(b.dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}

// put writes a replacement of a file of the module and adds it to replace.
func put(dir, file, text string, replace map[string]string) error {
	original, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	replace[original] = filepath.Join(dir, filepath.Base(file))
	return os.WriteFile(replace[original], []byte(text), 0o600)
}

func packageName(source []byte) (string, error) {
	for line := range strings.Lines(string(source)) {
		if name, ok := strings.CutPrefix(line, "package "); ok {
			return strings.Fields(name)[0], nil
		}
	}
	return "", errors.New("no package clause")
}

// drop removes the mutants on the lines in which the compiler found errors, and reports
// whether it changed anything: a constant that only lacks a conversion gets it and stays. If the
// error tells of which type they are, it removes only those.
func (b *build) drop(mutants []mutant, output string) bool {
	dropped := false
	for line := range strings.Lines(output) {
		fields := strings.SplitN(line, ":", 4)
		if len(fields) < 4 {
			continue
		}
		n, err := strconv.Atoi(fields[1])
		if err != nil {
			continue
		}
		if b.convert(fields[3]) {
			dropped = true
			continue
		}
		remove := func(meant func(kind string) bool) (removed bool) {
			for i, m := range mutants {
				if b.in[i] && m.line == n && filepath.Base(m.file) == filepath.Base(fields[0]) && meant(m.mutation) {
					delete(b.in, i)
					removed = true
				}
			}
			return removed
		}
		if remove(func(kind string) bool { return slices.Contains(blamed(fields[3]), kind) }) || remove(func(string) bool { return true }) {
			dropped = true
		}
	}
	return dropped
}

var unconverted = regexp.MustCompile(`^ cannot use mutantPick\((\d+), .* as (\S+) value in`)

// convert converts the argument that a message of the compiler is about, and reports
// whether that is new: a constant behind a switch does not adapt to the type of its parameter.
func (b *build) convert(message string) bool {
	found := unconverted.FindStringSubmatch(message)
	if found == nil {
		return false
	}
	n, err := strconv.Atoi(found[1])
	if err != nil || b.as[n] != "" {
		return false
	}
	b.as[n] = found[2]
	return true
}

// blamed returns the types of the mutants that a message of the compiler is about, if it
// tells: strings cannot be subtracted, only slices have an end to begin at, and a constant
// behind a switch has a type.
func blamed(message string) []string {
	switch {
	case strings.Contains(message, "string does not satisfy mutantNumber"):
		return []string{"ARITHMETIC_BASE"}
	case strings.Contains(message, "in call to mutantBackward"):
		return []string{turnRound}
	case strings.Contains(message, "cannot use mutantPick("), strings.Contains(message, "of mutantPick("),
		strings.Contains(message, "in call to mutantPick"):
		return []string{changeArgument, lessArgument}
	}
	return nil
}
