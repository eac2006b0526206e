package main

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// target is a package and the tests that are meant to notice its mutants.
type target struct {
	pkg  string
	also []suite // besides its own, in the order in which they are tried
}

// suite is the tests of one package, or those of them that run selects.
type suite struct{ pkg, run string }

func (s suite) String() string { return strings.TrimSpace(s.pkg + " " + s.run) }

// targets are the packages that the contracts rest on. For any other, sessions are what else is meant to notice.
var targets = []target{
	{"./fsmspec", []suite{{"./fuzz", "Spec|Task"}, {"./internal/write", "TestScript"}}},
	{"./locator", []suite{{"./internal/write", "TestScript"}, {"./internal/hydrate", "TestScript"}}},
	{"./internal/client", []suite{{"./locator", ""}, {"./fuzz", "Registry|Marketplaces"}}},
	{"./internal/frontmatter", []suite{{"./locator", ""}, {"./fuzz", "Frontmatter"}, {"./internal/guard/rules", ""}}},
	{"./txn", []suite{{"./fuzz", "Journal"}, {"./internal/harness/crash", "Fault|FailedSync|NoticeBroken"},
		{"./internal/harness/crash", "Barrier|Death|Power"}}},
	{"./internal/tasks", []suite{{"./internal/hydrate", ""}, {"./internal/show", "TestScript"},
		{"./internal/harness/together", ""}}},
	{"./internal/hydrate", []suite{{"./internal/command", "TestScript"}, {"./internal/harness/together", ""}}},
	{"./internal/machine", nil},
	{"./internal/progress", []suite{{"./internal/mcp", ""}, {"./internal/command", "TestScript"}}},
	{"./internal/safefile", nil},
	{"./internal/statefile", nil},
	{"./internal/settings", nil},
	{"./internal/mcp", nil},
	{"./internal/facts", nil},
	{"./internal/workflow", []suite{{"./internal/state", ""}, {"./internal/gates", ""}}},
	{"./internal/state", []suite{{"./internal/gates", ""}}},
	{"./internal/gates", nil},
	{"./internal/guard/rules", nil},
}

type options struct {
	list    string
	at      string
	run     string
	workers int
	sample  int
	most    int
	seed    uint64
	limit   time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.list, "survivors", "internal/harness/mutants/survivors.txt",
		"the `file` that lists mutants which change nothing observable")
	flag.StringVar(&o.at, "at", "", "try only the mutants of this `place`: a file, or a file and line, as in txn/dir.go:97")
	flag.StringVar(&o.run, "run", "", "try only the package's own tests that match this `pattern`, and no other suite")
	flag.IntVar(&o.workers, "workers", 2, "how many mutants are tried at a time")
	flag.IntVar(&o.sample, "sample", 0, "try only this `number` of mutants, chosen at random; 0 tries all")
	flag.IntVar(&o.most, "most", 0, "fail only if more than this `percentage` of the mutants survive and are not listed")
	flag.Uint64Var(&o.seed, "seed", rand.Uint64(), "the seed of the random choice")
	flag.DurationVar(&o.limit, "for", 0, "try the mutants of a package for this `time` of the processor, beside the first run of its own "+
		"tests, even if some are left; 0 is no limit")
	flag.Parse()
	if err := run(context.Background(), o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, packages []string) error {
	known, err := readSurvivors(o.list)
	if err != nil {
		return err
	}
	chosen, err := choose(packages)
	if err != nil {
		return err
	}
	constants, err := newConstants()
	if err != nil {
		return err
	}
	mutants := make([][]mutant, len(chosen))
	for i, t := range chosen {
		if mutants[i], err = t.mutants(constants); err != nil {
			return err
		}
	}
	if o.at != "" {
		for i := range mutants {
			mutants[i] = slices.DeleteFunc(mutants[i], func(m mutant) bool { return !m.isAt(o.at) })
		}
	}
	if o.sample > 0 {
		fmt.Printf("a sample of %d mutants, seed %d\n", o.sample, o.seed)
		for i := range mutants { // the listed ones would take longest
			mutants[i] = slices.DeleteFunc(mutants[i], known.lists)
		}
		sample(mutants, o.sample, o.seed)
	}
	for i, t := range chosen {
		if len(mutants[i]) == 0 {
			continue
		}
		if err := t.run(ctx, mutants[i], known, o); err != nil {
			return fmt.Errorf("%s: %w", t.pkg, err)
		}
	}
	if o.sample > 0 || o.at != "" || o.limit > 0 {
		chosen = nil // a listed survivor may not be in the sample
	}
	return known.verdict(chosen, o.most)
}

func choose(packages []string) ([]target, error) {
	if len(packages) == 0 {
		return targets, nil
	}
	var chosen []target
	for _, pkg := range packages {
		i := slices.IndexFunc(targets, func(t target) bool { return filepath.Clean(t.pkg) == filepath.Clean(pkg) })
		if i >= 0 {
			chosen = append(chosen, targets[i])
			continue
		}
		if _, err := os.Stat(pkg); err != nil {
			return nil, err
		}
		chosen = append(chosen, target{pkg, []suite{{"./internal/command", "TestScript"}, {"./internal/install", "TestScript"},
			{"./internal/tools", "TestScript"}}})
	}
	return chosen, nil
}

// sample keeps n mutants, or all if there are fewer. Which ones depends on the seed and on what
// each of them changes, not on the others: an edit elsewhere leaves the sample as it is.
func sample(mutants [][]mutant, n int, seed uint64) {
	var draws []uint64
	seen := map[string]int{}
	draw := make([][]uint64, len(mutants))
	for i := range mutants {
		for _, m := range mutants[i] {
			id := fmt.Sprint(seed, m.file, m.mutation, m.instead, m.text)
			seen[id]++ // there may be several on a line, or several such lines
			h := fnv.New64a()
			fmt.Fprint(h, id, seen[id])
			draw[i] = append(draw[i], mixed(h.Sum64()))
		}
		draws = append(draws, draw[i]...)
	}
	if n >= len(draws) {
		return
	}
	slices.Sort(draws)
	for i := range mutants {
		var kept []mutant
		for j, m := range mutants[i] {
			if draw[i][j] < draws[n] {
				kept = append(kept, m)
			}
		}
		mutants[i] = kept
	}
}

// mixed spreads a hash: those of FNV for similar texts are near each other.
func mixed(h uint64) uint64 { return rand.NewPCG(h, h).Uint64() }

// status is the result of trying a mutant.
type status string

const (
	noticed     status = "noticed by its own tests"
	elsewhere   status = "noticed by others"
	survives    status = "survive"
	notSwitched status = "cannot be switched"
	untried     status = "not tried in the time"
)

// run tries the mutants and records the survivors in known.
func (t target) run(ctx context.Context, mutants []mutant, known *survivors, o options) error {
	results, err := t.try(ctx, mutants, known.lists, o)
	if err != nil {
		return err
	}
	counts := map[status]int{}
	for i, m := range mutants {
		counts[results[i]]++
		switch results[i] {
		case notSwitched:
		case untried:
			known.untried++
		default:
			known.tried++
		}
		if results[i] == survives && !known.expects(m) {
			fmt.Printf("%v survives\n", m)
		}
	}
	fmt.Printf("%s: %d mutants", t.pkg, len(mutants))
	for _, s := range []status{noticed, elsewhere, notSwitched, survives, untried} {
		if counts[s] > 0 {
			fmt.Printf(", %d %s", counts[s], s)
		}
	}
	fmt.Println()
	return nil
}

// mutant is one change of the source.
type mutant struct {
	mutation string // as in mutations, or one of the other constants there
	line     int
	column   int // of the operator, the argument or the word range, in bytes, from 1

	file string // relative to the module
	text string // the source line, trimmed

	instead string // what an argument is changed to
}

// isAt reports whether the mutant is in a file, or in a line of it.
func (m mutant) isAt(place string) bool {
	return place == m.file || place == fmt.Sprintf("%s:%d", m.file, m.line)
}

func (m mutant) String() string {
	to := ""
	if m.instead != "" {
		to = " to " + m.instead
	}
	return fmt.Sprintf("%s:%d:%d: %s%s of %q", m.file, m.line, m.column, m.mutation, to, m.text)
}
