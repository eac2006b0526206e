// Steps compares fsmtx step as a whole process with a hydration that has nothing to do, in
// pairs. It prints medians; ratios are medians over pairs.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/fsmtx/fsmtx/internal/harness/bench/process"
)

// row is one kind of call.
type row struct {
	name   string
	event  string // what the hook reads
	steps  int    // of the workflow in the list; 0 is no workflow
	budget float64
	refuse bool
}

var rows = []row{
	{name: "no workflow, update", event: update("1", "in_progress"), budget: 1.2},
	{name: "no workflow, stop", event: stop, budget: 1.2},
	{name: "10 steps, allowed update", event: update("1", "in_progress"), steps: 10, budget: 2},
	{name: "100 steps, allowed update", event: update("1", "in_progress"), steps: 100, budget: 2},
	// Without the id of a call of a message: such a call would wait for others that may let it through.
	{name: "10 steps, refused update", event: strings.Replace(update("2", "in_progress"), `,"tool_use_id":"toolu_1"`, "", 1), steps: 10, budget: 2, refuse: true},
	{name: "10 steps, other task", event: update("99", "completed"), steps: 10, budget: 1.5},
}

const (
	session = "bench"
	stop    = `{"session_id":"bench","cwd":"/","hook_event_name":"Stop","stop_hook_active":false}`
	skill   = `{"session_id":"bench","cwd":"/","hook_event_name":"PostToolUse","tool_name":"Skill","tool_input":{"skill":"%[1]s"},"tool_response":{"success":true,"commandName":"%[1]s"}}`
)

func update(task, status string) string {
	return fmt.Sprintf(`{"session_id":"bench","transcript_path":"/tmp/t.jsonl","cwd":"/","prompt_id":"p","permission_mode":"default","hook_event_name":"PreToolUse",
"tool_name":"TaskUpdate","tool_input":{"taskId":"%s","status":"%s"},"tool_use_id":"toolu_1"}`, task, status)
}

func main() {
	log.SetFlags(0)
	pairs := flag.Int("pairs", 40, "pairs of runs a row")
	dir := flag.String("dir", "", "work in this directory (default a temporary one)")
	flag.Parse()
	work, err := os.MkdirTemp(*dir, "fsmtx-steps-")
	process.Check(err)
	defer os.RemoveAll(work)
	b := &bench{fsmtx: process.Build(work, "./cmd/fsmtx"), home: filepath.Join(work, "home")}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "call\tms\thydrate with nothing to do ms\tratio\tbudget")
	for _, r := range rows {
		b.run(table, r, *pairs)
		process.Check(table.Flush())
	}
}

type bench struct{ fsmtx, home string }

func (b *bench) run(table *tabwriter.Writer, r row, pairs int) {
	b.reset(r)
	evidence := filepath.Join(b.home, ".claude/tasks/."+session+".fsmtx/steps.jsonl")
	var ours, idle, ratios []float64
	for i := range pairs + 1 {
		if r.steps > 0 {
			process.Check(os.WriteFile(evidence, nil, 0o600))
		}
		us := b.time(r.event, r.refuse, "step")
		them := b.time(fmt.Sprintf(skill, "none"), false, "hydrate")
		if i == 0 {
			continue // the caches were cold
		}
		ours, idle, ratios = append(ours, us), append(idle, them), append(ratios, us/them)
	}
	fmt.Fprintf(table, "%s\t%.2f\t%.2f\t%.2f\t%.1f\n", r.name, process.Median(ours), process.Median(idle), process.Median(ratios), r.budget)
}

func (b *bench) time(event string, refuse bool, args ...string) float64 {
	call := process.Call{Args: append([]string{b.fsmtx}, args...), Env: []string{"HOME=" + b.home}, Stdin: event}
	if refuse {
		call.MayEnd = 2
	}
	ms, _ := call.Time()
	return ms
}

// reset gives the home directory a list with the steps of the row.
func (b *bench) reset(r row) {
	process.Check(os.RemoveAll(b.home))
	dir := filepath.Join(b.home, ".claude/skills/bench")
	process.Check(os.MkdirAll(dir, 0o755))
	if r.steps == 0 {
		return
	}
	var entries []string
	for i := range r.steps {
		entry := fmt.Sprintf(`{"id":%d,"subject":"Step %d of the workflow","description":"What has to be done in this step, in a sentence.","produces":["out"]`, i+1, i+1)
		if i > 0 {
			entry += fmt.Sprintf(`,"blockedBy":[%d]`, i)
		}
		entries = append(entries, entry+"}")
	}
	process.Check(os.WriteFile(filepath.Join(dir, "SKILL.md"), nil, 0o644))
	process.Check(os.WriteFile(filepath.Join(dir, "fsm.json"), []byte("["+strings.Join(entries, ",")+"]"), 0o644))
	b.time(fmt.Sprintf(skill, "bench"), false, "hydrate")
}
