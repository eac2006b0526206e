// Hydrate compares a hydration as a whole process with the least that the same work can
// cost. It prints medians; ratios are medians over pairs.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/fsmtx/fsmtx/internal/harness/bench/process"
)

// row is one comparison.
type row struct {
	name           string
	create, manual int  // tasks of the skill, and of the user
	tagged         int  // tasks of the skill that exist before
	parseOnly      bool // compare with a program that only parses the event
	budget         float64
}

var rows = []row{
	{name: "nothing to do", parseOnly: true, budget: 1.3},
	{name: "10 into an empty list", create: 10, budget: 2.0},
	{name: "10 re-hydrated", create: 10, tagged: 10, budget: 2.2},
	{name: "100 beside 1,000", create: 100, manual: 1000, budget: 1.6},
	{name: "100 beside 10,000", create: 100, manual: 10000, budget: 1.4},
}

func main() {
	log.SetFlags(0)
	pairs := flag.Int("pairs", 15, "pairs of runs a row")
	dir := flag.String("dir", "", "work in this directory (default a temporary one)")
	flag.Parse()
	work, err := os.MkdirTemp(*dir, "fsmtx-bench-")
	check(err)
	defer os.RemoveAll(work)
	programs := map[string]string{}
	for name, pkg := range map[string]string{"fsmtx": "./cmd/fsmtx", "floor": "./internal/harness/bench/floor", "parse": "./internal/harness/bench/parse"} {
		programs[name] = process.Build(work, pkg)
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "work\tfsmtx ms\tfloor ms\tratio\tbudget\tpeak MiB\tlist locked ms")
	for _, r := range rows {
		b := &bench{row: r, programs: programs, home: filepath.Join(work, "home")}
		b.run(table, *pairs)
		check(table.Flush())
	}
}

func check(err error) {
	if err != nil {
		log.Fatal("bench: ", err)
	}
}

type bench struct {
	row
	programs map[string]string
	home     string
}

const session = "bench"

func (b *bench) list() string { return filepath.Join(b.home, ".claude/tasks", session) }

func (b *bench) run(table *tabwriter.Writer, pairs int) {
	var ours, floors, ratios []float64
	var peak int64
	for i := range pairs + 1 {
		b.reset()
		us, memory := b.time(b.programs["fsmtx"], "hydrate")
		b.reset()
		floor := b.floor()
		if i == 0 {
			continue // the caches were cold
		}
		ours, floors, ratios = append(ours, us), append(floors, floor), append(ratios, us/floor)
		peak = max(peak, memory)
	}
	fmt.Fprintf(table, "%s\t%.2f\t%.2f\t%.2f\t%.1f\t%.1f\t%.1f\n",
		b.name, process.Median(ours), process.Median(floors), process.Median(ratios), b.budget, float64(peak)/1024, b.locked(min(pairs, 7)))
}

// locked returns the longest time in milliseconds that the list's lock is held in some
// runs. They are separate from those that are timed, because polling the lock slows them
// down.
func (b *bench) locked(runs int) (longest float64) {
	for range runs {
		b.reset()
		done, held := make(chan struct{}), make(chan time.Duration)
		go func() { held <- watch(filepath.Join(b.list(), ".lock.lock"), done) }()
		b.time(b.programs["fsmtx"], "hydrate")
		close(done)
		longest = max(longest, float64((<-held).Microseconds())/1000)
	}
	return longest
}

// watch returns the time between the first and the last sight of a path.
func watch(path string, done chan struct{}) time.Duration {
	var first, last time.Time
	for {
		select {
		case <-done:
			return last.Sub(first)
		default:
		}
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		if last = time.Now(); first.IsZero() {
			first = last
		}
	}
}

func (b *bench) floor() float64 {
	if b.parseOnly {
		ms, _ := b.time(b.programs["parse"])
		return ms
	}
	args := []string{b.list(), fmt.Sprint(b.manual + b.tagged + 1), fmt.Sprint(b.create), "300"}
	for i := range b.tagged {
		args = append(args, fmt.Sprintf("%d.json", b.manual+i+1))
	}
	ms, _ := b.time(append([]string{b.programs["floor"]}, args...)...)
	return ms
}

func (b *bench) time(argv ...string) (ms float64, peak int64) {
	return process.Call{Args: argv, Env: []string{"HOME=" + b.home}, Stdin: event}.Time()
}

const event = `{"session_id":"bench","transcript_path":"/tmp/t.jsonl","cwd":"/","prompt_id":"p","permission_mode":"default",
"hook_event_name":"PostToolUse","tool_name":"Skill","tool_input":{"skill":"bench"},"tool_response":{"success":true,"commandName":"bench"}}`

// reset gives the home directory exactly the content with which the row begins.
func (b *bench) reset() {
	check(os.MkdirAll(b.list(), 0o755))
	check(os.RemoveAll(filepath.Join(b.home, ".claude/tasks/."+session+".fsmtx")))
	entries, err := os.ReadDir(b.list())
	check(err)
	want := map[string]string{}
	for i := range b.manual + b.tagged {
		want[fmt.Sprintf("%d.json", i+1)] = task(i+1, i >= b.manual)
	}
	for _, e := range entries {
		if _, ok := want[e.Name()]; ok {
			delete(want, e.Name())
			continue
		}
		check(os.Remove(filepath.Join(b.list(), e.Name())))
	}
	for name, text := range want {
		check(os.WriteFile(filepath.Join(b.list(), name), []byte(text), 0o644))
	}
	check(b.skill())
	syscall.Sync()
}

func (b *bench) skill() error {
	dir := filepath.Join(b.home, ".claude/skills/bench")
	if b.create == 0 {
		return os.RemoveAll(dir)
	}
	entries := make([]string, b.create)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"id":%d,"subject":"Step %d of the workflow","description":"What has to be done in this step, in a sentence."}`, i+1, i+1)
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
