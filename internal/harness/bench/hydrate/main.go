//go:build unix

// Hydrate compares a hydration as a whole process with the least that the same work can
// cost, and with a Python script that does it without any guarantee. It prints medians;
// ratios are medians over pairs.
//
// Where there are few files, what decides is how often a hydration waits for the disk and how
// long a flush takes, which differs from disk to disk and with what else the disk does. So these
// rows are repeated, on Linux and as root, on disks whose flush takes a fixed time: a new ext4
// with its journal and a new xfs, each on a device in memory (package medium). Their times
// differ little from run to run and between machines. A wait of a program for its disk is one or
// more flushes, as the file system does it. Only the bench sees the mounts, which end with it.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/harness/bench/process"
)

// row is one comparison.
type row struct {
	name           string
	create, manual int // tasks of the skill, and of the user
	tagged         int // tasks of the skill that exist before
	budget         float64
	slow           float64 // the budget on a disk whose flush takes 2 ms; 0 is that of any other
	script         float64 // how many times as long the script should take at least; 0 is no goal
	flushed        bool    // what decides is how long a flush takes: repeated on slow disks
}

// The floor of a row that creates nothing is a program that only parses the event.
var rows = []row{
	{name: "nothing to do", budget: 1.5},
	{name: "10 into an empty list", create: 10, budget: 1.8, script: 4, flushed: true},
	{name: "10 in place of 10", create: 10, tagged: 10, budget: 2.4, slow: 1.6, script: 4, flushed: true},
	{name: "100 in place of 100", create: 100, tagged: 100, budget: 2.4, slow: 1.6, flushed: true},
	{name: "1,000 into an empty list", create: 1000, budget: 2.0},
	{name: "100 beside 1,000", create: 100, manual: 1000, budget: 1.4, script: 2, flushed: true},
	{name: "100 beside 10,000", create: 100, manual: 10000, budget: 1.0, script: 2},
	{name: "100 beside 50,000", create: 100, manual: 50000, budget: 1.4},
}

//go:embed yardstick.py
var yardstick string

// choice is what the command line says.
type choice struct {
	pairs int
	only  string
	flush time.Duration
}

// workVariable names the environment variable with the directory to work in, for the process
// that apart starts.
const workVariable = "FSMTX_BENCH_WORK"

func main() {
	log.SetFlags(0)
	// A hook finds the client above itself. Else it would look through all processes for one.
	_ = os.WriteFile("/proc/self/comm", []byte("claude"), 0) // on Linux
	var c choice
	flag.IntVar(&c.pairs, "pairs", 15, "pairs of runs a row; rows with many files have a third")
	dir := flag.String("dir", "", "work in this directory (default a temporary one)")
	flag.StringVar(&c.only, "row", "", "only the rows whose names contain this")
	flag.DurationVar(&c.flush, "flush", 2*time.Millisecond,
		"repeat the rows that the disk decides on disks whose flush takes this long, on Linux and as root; 0 for none")
	flag.Parse()
	if work := os.Getenv(workVariable); work != "" {
		os.Exit(c.compare(work))
	}
	work, err := os.MkdirTemp(*dir, "fsmtx-bench-")
	process.Check(err)
	os.Exit(c.begin(work))
}

// begin compares beside the slow disks if this machine and this user can have them, else without. It
// returns the exit code.
func (c choice) begin(work string) (code int) {
	defer os.RemoveAll(work)
	if c.flush > 0 {
		code, err := apart(work, c.flush)
		if err == nil {
			return code
		}
		log.Printf("not measured on disks whose flush takes %s: %v", millis(c.flush), err)
		c.flush = 0
	}
	return c.compare(work)
}

// compare prints the table. It returns 1 if a file system with a journal commits more often than it may.
func (c choice) compare(work string) (code int) {
	places := []place{{work, process.FileSystem(work)}}
	if c.flush > 0 {
		mounted, unmount := mountSlow(work, c.flush)
		defer unmount()
		places = append(places, mounted...)
	}
	programs := map[string]string{}
	for name, pkg := range map[string]string{"fsmtx": "./cmd/fsmtx", "floor": "./internal/harness/bench/floor"} {
		programs[name] = process.Build(work, pkg)
	}
	python := interpreter()
	if python == "" {
		log.Print("python3 is not installed: its columns stay empty")
	}
	process.Check(os.WriteFile(filepath.Join(work, "yardstick.py"), []byte(yardstick), 0o644))
	line("on", "work", "fsmtx ms", "floor ms", "ratio", "budget", "Python ms", "Python/fsmtx", "goal", "peak MiB", "commits")
	for _, r := range rows { // the largest last: the memory of this process would count as the peak of others
		for i, p := range places {
			if !strings.Contains(r.name, c.only) || i > 0 && !r.flushed {
				continue
			}
			b := &bench{row: r, place: p, programs: programs, home: filepath.Join(p.dir, "home"), python: python,
				yardstick: filepath.Join(work, "yardstick.py")}
			if i > 0 && b.slow > 0 {
				b.budget = b.slow
			}
			if commits := b.run(b.pairs(c.pairs)); commits > mostCommits {
				log.Printf("%s on %s: the file system commits its journal %g times, want %d at most", b.row.name, b.on, commits, mostCommits)
				code = 1
			}
			process.Check(os.RemoveAll(b.home))
		}
	}
	return code
}

// mostCommits is how often a file system commits its journal in a hydration, whatever the number of files: once for each wait. One
// more, the file system's own, comes every five seconds, which a median leaves out.
const mostCommits = 4

// line prints a line of the table when it has been measured.
func line(cells ...any) {
	fmt.Printf("%-24v  %-27v  %8v  %8v  %5v  %6v  %9v  %12v  %4v  %8v  %7v\n", cells...)
}

// millis returns a duration in milliseconds, for tables.
func millis(d time.Duration) string { return fmt.Sprintf("%g ms", float64(d.Microseconds())/1000) }

// place is a directory to work in.
type place struct {
	dir string
	on  string // its file system, for the table
}

// interpreter returns the path of the interpreter itself, because python3 may be a script
// that chooses one. It returns "" if there is none.
func interpreter() string {
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

type bench struct {
	row
	place
	programs          map[string]string
	home              string
	python, yardstick string
}

const session = "bench"

func (b *bench) list() string { return filepath.Join(b.home, ".claude/tasks", session) }

func (b *bench) pairs(wanted int) int {
	if b.manual+b.create*10 > 5000 {
		return max(wanted/3, 1)
	}
	return wanted
}

// run prints the row, and returns how often the file system commits its journal in the median, 0 if that is not known.
func (b *bench) run(pairs int) (commits float64) {
	var peak int64
	var all []float64
	m := process.Medians(pairs, func() []float64 {
		b.reset()
		before := process.Commits(b.home)
		run := b.time(b.programs["fsmtx"], "hydrate")
		all = append(all, float64(process.Commits(b.home)-before))
		us := run.MS
		peak = max(peak, run.Peak)
		b.reset()
		floor := b.floor()
		if b.python == "" {
			return []float64{us, floor, us / floor}
		}
		b.reset()
		script := b.time(b.python, b.yardstick).MS
		return []float64{us, floor, us / floor, script, script / us}
	})
	python, times, goal := "–", "–", "–"
	if b.python != "" {
		python, times = digits(2, m[3]), digits(1, m[4])
	}
	if b.script > 0 {
		goal = digits(0, b.script)
	}
	commits = process.Median(all)
	line(b.on, b.name, digits(2, m[0]), digits(2, m[1]), digits(2, m[2]), digits(1, b.budget), python, times, goal,
		digits(1, float64(peak)/1024), known(commits))
	return commits
}

// known is a number for the table, unless it is 0.
func known(x float64) string {
	if x == 0 {
		return "–"
	}
	return digits(0, x)
}

// digits writes a number with n decimals.
func digits(n int, x float64) string { return strconv.FormatFloat(x, 'f', n, 64) }

func (b *bench) floor() float64 {
	if b.create == 0 {
		return b.time(b.programs["floor"]).MS
	}
	args := []string{b.programs["floor"], b.list(), fmt.Sprint(b.manual + b.tagged + 1), fmt.Sprint(b.create), "300"}
	for i := range b.tagged {
		args = append(args, fmt.Sprintf("%d.json", b.manual+i+1))
	}
	return b.time(args...).MS
}

func (b *bench) time(argv ...string) process.Cost {
	return process.Call{Args: argv, Env: []string{"HOME=" + b.home}, Stdin: process.Event(b.home, process.SkillCall(session, "bench"))}.Run()
}

// reset restores the content of the home directory with which each run of the row begins.
func (b *bench) reset() {
	process.Check(os.MkdirAll(b.list(), 0o755))
	process.Check(os.RemoveAll(filepath.Join(b.home, ".claude/tasks/."+session+".fsmtx")))
	entries, err := os.ReadDir(b.list())
	process.Check(err)
	want := map[string]string{}
	for i := range b.manual + b.tagged {
		want[fmt.Sprintf("%d.json", i+1)] = task(i+1, i >= b.manual)
	}
	for _, e := range entries {
		if _, ok := want[e.Name()]; ok {
			delete(want, e.Name())
			continue
		}
		process.Check(os.Remove(filepath.Join(b.list(), e.Name())))
	}
	for name, text := range want {
		process.Check(os.WriteFile(filepath.Join(b.list(), name), []byte(text), 0o644))
	}
	process.Check(b.skill())
	process.Sync(b.home)
}

func (b *bench) skill() error {
	dir := filepath.Join(b.home, ".claude/skills/bench")
	if b.create == 0 {
		return os.RemoveAll(dir)
	}
	entries := make([]string, b.create)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"id":%d,"subject":"Step %d of the workflow","description":"What has to be done in this step, in a sentence."}`,
			i+1, i+1)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "fsm.json"), []byte("["+strings.Join(entries, ",")+"]"), 0o644)
}

func task(n int, tagged bool) string {
	metadata := `"origin": "user"`
	if tagged {
		metadata = `"fsm": "bench"`
	}
	return fmt.Sprintf(`{
  "id": "%d",
  "subject": "A task that was there before",
  "description": "What has to be done for it, in a sentence or two of ordinary length.",
  "activeForm": "",
  "owner": "",
  "status": "pending",
  "blocks": [],
  "blockedBy": [],
  "metadata": {%s}
}`, n, metadata)
}
