package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// A test that hangs because of a mutant, or becomes this much slower, has noticed it.
	leastTimeout = 30 * time.Second
	timesSlower  = 20
	// A test function that takes longer than this is divided into its subtests.
	long = 2 * time.Second
	// enoughToDivide is the number of mutants from which it pays to run each test by itself
	// first, and to record which mutants make a difference in it.
	enoughToDivide = 10
)

// tests is the built tests of one suite.
type tests struct {
	suite
	file   string // name of the binary, in the directory of a worker
	flags  []string
	random bool // properties are tried on random values
	parts  []part
}

// part is a test that can be run by itself, or the whole suite.
type part struct {
	parent string // the test function of a subtest
	name   string // "" for the whole
	took   time.Duration
	marks  []byte // of the mutants that make a difference in it, by number
}

// build builds the tests of a suite for each worker and runs them without a mutant:
// they have to pass. Divided tests are run one by one.
func (b *build) build(s suite, n int, divide bool) (*tests, error) {
	t := &tests{suite: s, file: fmt.Sprintf("%d.test", n)}
	for w := range b.workers {
		dir := b.worker(w)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		if err := turn(dir, 0); err != nil {
			return nil, err
		}
		if err := t.compile(b.ctx, dir, b.switched(dir)); err != nil {
			return nil, err
		}
	}
	help, _ := exec.Command(filepath.Join(b.worker(0), t.file), "-h").CombinedOutput() // it exits with 2
	if t.random = bytes.Contains(help, []byte("-rapid.nofailfile")); t.random {
		t.flags = []string{"-rapid.nofailfile", "-rapid.shrinktime=0s"}
	}
	if !divide || strings.Contains(s.run, "/") { // a choice of subtests is not divided further
		t.parts = []part{{}}
		_, err := t.measure(b, 0, &t.parts[0])
		return t, err
	}
	return t, t.divide(b)
}

// switched returns the flags of a build whose mutants the file switch in dir turns on.
func (b *build) switched(dir string) string {
	return fmt.Sprintf("-overlay=%s '-ldflags=-X %s.mutantSwitch=%s'", filepath.Join(b.dir, "overlay.json"), b.path,
		filepath.Join(dir, "switch"))
}

// withFlags returns the environment for builds with these flags, of the tests and of the programs that tests
// build into dir (package program).
func withFlags(dir, flags string) []string {
	return append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" "+flags, "FSMTX_TEST_PROGRAMS="+dir)
}

// compile builds the tests in dir.
func (t *tests) compile(ctx context.Context, dir, flags string) error {
	c := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-o", filepath.Join(dir, t.file), t.pkg)
	c.Env = withFlags(dir, flags)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go test -c %s: %w\n%s", t.pkg, err, out)
	}
	return nil
}

// turn switches mutant n on; 0 switches all of them off.
func turn(dir string, n int) error {
	return os.WriteFile(filepath.Join(dir, "switch"), []byte(strconv.Itoa(n)), 0o600)
}

// divide finds the parts of the suite, the fastest first, with the time that each takes and
// the mutants that make a difference in it.
func (t *tests) divide(b *build) error {
	c := exec.CommandContext(b.ctx, filepath.Join(b.worker(0), t.file), "-test.list", cmp.Or(t.suite.run, "."))
	c.Dir = t.pkg
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("the list of the tests of %s: %w", t.pkg, err)
	}
	names := regexp.MustCompile(`(?m)^(Test|Fuzz|Example).*$`).FindAllString(string(out), -1)
	parts := make([][]part, len(names))
	err = b.each(len(names), func(worker, i int) error {
		whole := part{name: names[i]}
		out, err := t.measure(b, worker, &whole)
		if err != nil {
			return err
		}
		parts[i] = []part{whole}
		if whole.took < long {
			return nil
		}
		var subs []part
		for _, found := range regexp.MustCompile(`(?m)^    --- PASS: [^/]*/(.*) \(.*\)$`).FindAllSubmatch(out, -1) {
			sub := part{parent: whole.name, name: string(found[1])}
			if _, err := t.measure(b, worker, &sub); err != nil {
				return nil // it needs the others
			}
			subs = append(subs, sub)
		}
		if len(subs) > 1 {
			parts[i] = subs
		}
		return nil
	})
	t.parts = slices.Concat(parts...)
	slices.SortStableFunc(t.parts, func(a, b part) int { return cmp.Compare(a.took, b.took) })
	return err
}

// measure runs the part without a mutant. It has to pass.
func (t *tests) measure(b *build, worker int, p *part) (out []byte, err error) {
	dir := b.worker(worker)
	if err := turn(dir, -1-len(b.mutants)); err != nil {
		return nil, err
	}
	marks := filepath.Join(dir, "switch.marks")
	if err := os.WriteFile(marks, make([]byte, 1+len(b.mutants)), 0o600); err != nil {
		return nil, err
	}
	start := time.Now()
	tests := t.suite.run
	if p.name != "" {
		tests = pattern(p.parent, []string{p.name})
	}
	out, failed := t.run(b, dir, tests, time.Hour)
	if failed {
		return nil, fmt.Errorf("the tests %q of %s fail without a mutant:\n%s", tests, t.pkg, out)
	}
	p.took = time.Since(start)
	p.marks, err = os.ReadFile(marks)
	return out, err
}

// fails reports whether a part of the suite fails with the mutant in one of the tries.
func (t *tests) fails(b *build, worker, i, tries int) (bool, error) {
	dir := b.worker(worker)
	if err := turn(dir, i+1); err != nil {
		return false, err
	}
	for try := range tries {
		every := try > 0 && t.random // with other values it may make a difference elsewhere
		for _, batch := range t.batches(func(p part) bool { return every || p.marks[i+1] != 0 }) {
			if _, failed := t.run(b, dir, batch.pattern, max(leastTimeout, timesSlower*batch.took)); failed {
				return true, nil
			}
		}
	}
	return false, nil
}

// batch is some parts that are run by one process.
type batch struct {
	pattern string
	took    time.Duration
}

// batches gathers the chosen parts: a few fast ones first, for most mutants fail one of
// them, and the slow ones last.
func (t *tests) batches(chosen func(part) bool) []batch {
	var all []batch
	var names []string
	var now batch
	parent, limit := "", 200*time.Millisecond
	flush := func() {
		if len(names) > 0 {
			now.pattern = pattern(parent, names)
			all = append(all, now)
			limit *= 4
		}
		names, now = nil, batch{}
	}
	for _, p := range t.parts {
		if !chosen(p) {
			continue
		}
		if p.parent != parent || now.took+p.took > limit {
			flush()
		}
		if p.name == "" {
			return []batch{{t.suite.run, p.took}}
		}
		parent, names, now.took = p.parent, append(names, p.name), now.took+p.took
	}
	flush()
	return all
}

// pattern selects some tests, or some subtests of one.
func pattern(parent string, names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = regexp.QuoteMeta(name)
	}
	p := "^(" + strings.Join(quoted, "|") + ")$"
	if parent != "" {
		p = "^" + regexp.QuoteMeta(parent) + "$/" + p
	}
	return p
}

// run runs tests from the directory of their package and reports whether they fail or hang.
func (t *tests) run(b *build, dir, pattern string, timeout time.Duration) (out []byte, failed bool) {
	ctx, cancel := context.WithTimeout(b.ctx, timeout+time.Minute)
	defer cancel()
	flags := append(slices.Clone(t.flags), "-test.v", "-test.failfast", "-test.run", pattern, "-test.timeout", timeout.String())
	c := exec.CommandContext(ctx, filepath.Join(dir, t.file), flags...)
	c.Dir, c.Env = t.pkg, withFlags(dir, b.switched(dir))
	c.WaitDelay = time.Second
	out, err := c.CombinedOutput()
	if c.ProcessState != nil {
		b.spent.Add(int64(c.ProcessState.UserTime() + c.ProcessState.SystemTime()))
	}
	return out, err != nil
}
