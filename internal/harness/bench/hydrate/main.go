// Hydrate compares a hydration as a whole process with the least that the same work can
// cost, and with a Python script that does it without any guarantee. It prints medians;
// ratios are medians over pairs.
package main

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/fsmtx/fsmtx/internal/harness/bench/process"
)

// row is one comparison.
type row struct {
	name           string
	create, manual int // tasks of the skill, and of the user
	tagged         int // tasks of the skill that exist before
	atOnce         int // hydrations of the list at the same time; 0 is one
	plugins        int // installed and enabled plugins, each with a skill
	lists          int // hydrated lists that the row recovers; it hydrates nothing
	budget         float64
	script         float64 // how many times as long the script should take at least; 0 is no goal
}

// The floor of a row that creates nothing is a program that only parses the event.
var rows = []row{
	{name: "nothing to do", budget: 1.5},
	{name: "200 plugins and no fsm.json", plugins: 200, budget: 12},
	{name: "10 into an empty list", create: 10, budget: 0.8, script: 4},
	{name: "10 in place of 10", create: 10, tagged: 10, budget: 0.7, script: 4},
	{name: "four at once, 10 each", create: 10, atOnce: 4, budget: 4},
	{name: "1,000 into an empty list", create: 1000, budget: 2.0},
	{name: "100 beside 1,000", create: 100, manual: 1000, budget: 0.8, script: 2},
	{name: "100 beside 10,000", create: 100, manual: 10000, budget: 0.8, script: 2},
	{name: "100 beside 50,000", create: 100, manual: 50000, budget: 1.4},
	{name: "recover --all, 1,000 lists", lists: 1000, budget: 250},
}

//go:embed yardstick.py
var yardstick string

func main() {
	log.SetFlags(0)
	pairs := flag.Int("pairs", 15, "pairs of runs a row; rows with many files have a third")
	dir := flag.String("dir", "", "work in this directory (default a temporary one)")
	only := flag.String("row", "", "only the rows whose names contain this")
	loops := flag.Bool("loops", true, "repeat the rows that the disk decides on new file systems, if this user may mount them")
	flag.Parse()
	work, err := os.MkdirTemp(*dir, "fsmtx-bench-")
	process.Check(err)
	defer os.RemoveAll(work)
	programs := map[string]string{}
	for name, pkg := range map[string]string{"fsmtx": "./cmd/fsmtx", "floor": "./internal/harness/bench/floor",
		"parse": "./internal/harness/bench/parse"} {
		programs[name] = process.Build(work, pkg)
	}
	python := interpreter()
	if python == "" {
		log.Print("python3 is not installed: its columns stay empty")
	}
	process.Check(os.WriteFile(filepath.Join(work, "yardstick.py"), []byte(yardstick), 0o644))
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "on\twork\tfsmtx ms\tfloor ms\tratio\tbudget\tPython ms\tPython/fsmtx\tgoal\tpeak MiB\tlist locked ms")
	measure := func(p place, r row) {
		b := &bench{row: r, place: p, programs: programs, home: filepath.Join(p.dir, "home"), python: python,
			yardstick: filepath.Join(work, "yardstick.py")}
		b.run(table, b.pairs(*pairs))
		process.Check(table.Flush())
		process.Check(os.RemoveAll(b.home))
	}
	places := []place{{work, process.FileSystem(work)}}
	if *loops {
		mounted, unmount := mountLoops(work)
		defer unmount()
		places = append(places, mounted...)
	}
	for i, p := range places {
		for _, r := range rows {
			if strings.Contains(r.name, *only) && (i == 0 || r.script > 0) {
				measure(p, r)
			}
		}
	}
}

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

func (b *bench) run(table *tabwriter.Writer, pairs int) {
	b.prepare()
	var ours, floors, ratios, pythons, times []float64
	var peak int64
	for i := range pairs + 1 {
		b.reset()
		us, memory := b.ours()
		b.reset()
		floor := b.floor()
		if i == 0 {
			continue // the caches were cold
		}
		ours, floors, ratios = append(ours, us), append(floors, floor), append(ratios, us/floor)
		peak = max(peak, memory)
		if b.hasYardstick() {
			b.reset()
			ms, _ := b.time(b.python, b.yardstick)
			pythons, times = append(pythons, ms), append(times, ms/us)
		}
	}
	yard := "–\t–"
	if len(times) > 0 {
		yard = fmt.Sprintf("%.2f\t%.1f", process.Median(pythons), process.Median(times))
	}
	locked := "–"
	if b.create > 0 && b.atOnce == 0 {
		locked = fmt.Sprintf("%.1f", b.locked(min(pairs, 7)))
	}
	goal := "–"
	if b.script > 0 {
		goal = fmt.Sprintf("%.0f", b.script)
	}
	fmt.Fprintf(table, "%s\t%s\t%.2f\t%.2f\t%.2f\t%.1f\t%s\t%s\t%.1f\t%s\n",
		b.on, b.name, process.Median(ours), process.Median(floors), process.Median(ratios), b.budget, yard, goal, float64(peak)/1024, locked)
}

// hasYardstick reports whether the Python script can do the work of the row. It handles
// neither plugins nor recovery, and concurrent runs would overwrite one another's tasks.
func (b *bench) hasYardstick() bool {
	return b.python != "" && b.plugins+b.lists+b.atOnce == 0
}

// ours returns the time that the program takes and its peak memory. For concurrent runs it
// returns the time until the last one has ended, and the largest peak.
func (b *bench) ours() (ms float64, peak int64) {
	if b.lists > 0 {
		return b.time(b.programs["fsmtx"], "recover", "--all")
	}
	return b.together(func(int) (float64, int64) { return b.time(b.programs["fsmtx"], "hydrate") })
}

func (b *bench) together(run func(i int) (float64, int64)) (ms float64, peak int64) {
	if b.atOnce == 0 {
		return run(0)
	}
	peaks := make([]int64, b.atOnce)
	start := time.Now()
	var group sync.WaitGroup
	for i := range peaks {
		group.Go(func() { _, peaks[i] = run(i) })
	}
	group.Wait()
	took := time.Since(start)
	for _, p := range peaks {
		peak = max(peak, p)
	}
	return float64(took.Microseconds()) / 1000, peak
}

// locked hydrates runs times and returns the longest time in milliseconds for which the
// list's lock was held. These runs are not timed, because polling the lock slows them down.
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

// watch polls a path until done is closed. It returns the time between the first and the
// last moment at which the path existed.
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
	if b.create == 0 {
		ms, _ := b.time(b.programs["parse"])
		return ms
	}
	ms, _ := b.together(func(i int) (float64, int64) {
		args := []string{b.list(), fmt.Sprint(b.manual + b.tagged + 1 + i*b.create), fmt.Sprint(b.create), "300"}
		for i := range b.tagged {
			args = append(args, fmt.Sprintf("%d.json", b.manual+i+1))
		}
		return b.time(append([]string{b.programs["floor"]}, args...)...)
	})
	return ms
}

func (b *bench) time(argv ...string) (ms float64, peak int64) {
	return process.Call{Args: argv, Env: []string{"HOME=" + b.home}, Stdin: event}.Time()
}

const event = `{"session_id":"bench","transcript_path":"/tmp/t.jsonl","cwd":"/","prompt_id":"p","permission_mode":"default",
"hook_event_name":"PostToolUse","tool_name":"Skill","tool_input":{"skill":"bench"},"tool_response":{"success":true,"commandName":"bench"}}`

// prepare creates what the runs of a row do not change.
func (b *bench) prepare() {
	for i := range b.lists {
		b.create = 1
		process.Check(b.skill())
		process.Call{Args: []string{b.programs["fsmtx"], "hydrate"}, Env: []string{"HOME=" + b.home},
			Stdin: strings.Replace(event, `"session_id":"bench"`, fmt.Sprintf(`"session_id":"list-%d"`, i), 1)}.Time()
		b.create = 0
	}
	if b.plugins > 0 {
		b.install()
	}
}

// install writes the user's registry of plugins, with one version of each.
func (b *bench) install() {
	type installation struct {
		Scope       string `json:"scope"`
		InstallPath string `json:"installPath"`
		Version     string `json:"version"`
	}
	registered, enabled := map[string][]installation{}, map[string]bool{}
	for i := range b.plugins {
		name := fmt.Sprintf("plugin-%d", i)
		dir := filepath.Join(b.home, ".claude/plugins/cache/market", name, "1.0.0")
		b.write(filepath.Join(dir, ".claude-plugin/plugin.json"), fmt.Sprintf(`{"name": %q, "version": "1.0.0"}`, name))
		b.write(filepath.Join(dir, "skills/review/SKILL.md"), "---\nname: review\ndescription: Reviews.\n---\nReview.\n")
		registered[name+"@market"] = []installation{{"user", dir, "1.0.0"}}
		enabled[name+"@market"] = true
	}
	registry, err := json.Marshal(map[string]any{"version": 2, "plugins": registered})
	process.Check(err)
	b.write(filepath.Join(b.home, ".claude/plugins/installed_plugins.json"), string(registry))
	settings, err := json.Marshal(map[string]any{"enabledPlugins": enabled})
	process.Check(err)
	b.write(filepath.Join(b.home, ".claude/settings.json"), string(settings))
}

func (b *bench) write(path, text string) {
	process.Check(os.MkdirAll(filepath.Dir(path), 0o755))
	process.Check(os.WriteFile(path, []byte(text), 0o644))
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
