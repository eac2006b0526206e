//go:build unix

// Steps compares the hooks that run most often with a program that only parses the event, in
// processor time, and fsmtx step as a whole process with a hydration that has nothing to do, in
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
	only   bool   // a step of the workflow lists git push
	beside string // the event of the call that it is compared with, instead of a hydration with nothing to do
}

var rows = []row{
	{name: "no workflow, update", event: update("1", "in_progress"), budget: 1.2},
	{name: "no workflow, stop", event: stop, budget: 1.2},
	{name: "10 steps, allowed update", event: update("1", "in_progress"), steps: 10, budget: 2},
	{name: "100 steps, allowed update", event: update("1", "in_progress"), steps: 100, budget: 2},
	// Without the id of a call of a message: such a call would wait for others that may let it through.
	{name: "10 steps, refused update", event: strings.Replace(update("2", "in_progress"), `,"tool_use_id":"toolu_1"`, "", 1), steps: 10,
		budget: 2, refuse: true},
	{name: "10 steps, other task", event: update("99", "completed"), steps: 10, budget: 1.5},
	{name: "no workflow, git push", event: shell("git push"), beside: update("1", "in_progress"), budget: 1.2},
	{name: "10 steps without only, git push", event: shell("git push"), steps: 10, beside: update("1", "in_progress"), budget: 1},
	{name: "10 steps, git status", event: shell("git status"), steps: 10, only: true, beside: update("1", "in_progress"), budget: 1},
	{name: "10 steps, git push refused", event: shell("cd src && git push"), steps: 10, only: true, refuse: true,
		beside: update("1", "in_progress"), budget: 1},
}

const (
	session = "bench"
	stop    = `{"session_id":"bench","transcript_path":"` + process.Transcript +
		`","cwd":"/","prompt_id":"p","hook_event_name":"Stop","stop_hook_active":false}`
)

func update(task, status string) string { return process.Update(session, task, status) }

// shell is a call of Bash. Without the id of a call it waits for no other call of its message.
func shell(line string) string {
	return fmt.Sprintf(`{"session_id":"bench","transcript_path":"`+process.Transcript+`","cwd":"/","prompt_id":"p",`+
		`"permission_mode":"default","hook_event_name":"PreToolUse",
"tool_name":"Bash","tool_input":{"command":"%s","description":"Run a command"}}`, line)
}

func main() {
	log.SetFlags(0)
	pairs := flag.Int("pairs", 40, "pairs of runs a row")
	dir := flag.String("dir", "", "work in this directory (default a temporary one)")
	only := flag.Bool("starts", false, "compare only the start")
	flag.Parse()
	work, err := os.MkdirTemp(*dir, "fsmtx-steps-")
	process.Check(err)
	defer os.RemoveAll(work)
	b := &bench{fsmtx: process.Build(work, "./cmd/fsmtx"), parse: process.Build(work, "./internal/harness/bench/floor"),
		home: filepath.Join(work, "home")}
	fmt.Printf("on %s\n\n", process.FileSystem(work))
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "start\tCPU ms\tparsing CPU ms\tratio\tgoal\tms\tparsing ms\tratio")
	for _, s := range starts {
		b.start(table, s, *pairs)
	}
	process.Check(table.Flush())
	if *only {
		return
	}
	fmt.Fprintln(table, "call\tms\thydrate with nothing to do, or an allowed update ms\tratio\tbudget")
	for _, r := range rows {
		b.run(table, r, *pairs)
		process.Check(table.Flush())
	}
}

// start is a call of a hook whose cost is mostly that of starting the program.
type start struct {
	name  string
	args  []string
	event string
	steps int // of the workflow in the list; 0 is no workflow
	goal  float64
}

var starts = []start{
	{"hydrate, nothing to do", []string{"hydrate"}, process.SkillCall(session, "none"), 0, 1.5},
	{"step, no workflow, update", []string{"hook"}, update("1", "in_progress"), 0, 1.5},
	{"step, no workflow, stop", []string{"hook"}, stop, 0, 1.5},
	{"step, 10 steps, allowed update", []string{"hook"}, update("1", "in_progress"), 10, 2.3},
	{"hook, nothing to do", []string{"hook"}, process.SkillCall(session, "none"), 0, 1.5},
	{"hook, no workflow, update", []string{"hook"}, update("1", "in_progress"), 0, 1.5},
	{"hook, 10 steps, allowed update", []string{"hook"}, update("1", "in_progress"), 10, 2.3},
}

// start times a call and the program that only parses the event, in pairs.
func (b *bench) start(table *tabwriter.Writer, s start, pairs int) {
	b.reset(row{steps: s.steps})
	evidence := filepath.Join(b.home, ".claude/tasks/."+session+".fsmtx/steps.jsonl")
	m := process.Medians(pairs, func() []float64 {
		if s.steps > 0 {
			process.Check(os.WriteFile(evidence, nil, 0o600))
		}
		env, event := []string{"HOME=" + b.home}, process.Event(b.home, s.event)
		us := process.Call{Args: append([]string{b.fsmtx}, s.args...), Env: env, Stdin: event}.Run()
		them := process.Call{Args: []string{b.parse}, Env: env, Stdin: event}.Run()
		return []float64{us.CPU, them.CPU, us.CPU / them.CPU, us.MS, them.MS, us.MS / them.MS}
	})
	fmt.Fprintf(table, "%s\t%.2f\t%.2f\t%.2f\t%.1f\t%.2f\t%.2f\t%.2f\n", s.name, m[0], m[1], m[2], s.goal, m[3], m[4], m[5])
}

type bench struct{ fsmtx, parse, home string }

func (b *bench) run(table *tabwriter.Writer, r row, pairs int) {
	b.reset(r)
	evidence := filepath.Join(b.home, ".claude/tasks/."+session+".fsmtx/steps.jsonl")
	m := process.Medians(pairs, func() []float64 {
		if r.steps > 0 {
			process.Check(os.WriteFile(evidence, nil, 0o600))
		}
		us := b.time(r.event, r.refuse, "hook")
		them := b.idle(r, evidence)
		return []float64{us, them, us / them}
	})
	fmt.Fprintf(table, "%s\t%.2f\t%.2f\t%.2f\t%.1f\n", r.name, m[0], m[1], m[2], r.budget)
}

// idle measures the call that the row is compared with.
func (b *bench) idle(r row, evidence string) float64 {
	if r.beside == "" {
		return b.time(process.SkillCall(session, "none"), false, "hydrate")
	}
	if r.steps > 0 {
		process.Check(os.WriteFile(evidence, nil, 0o600))
	}
	return b.time(r.beside, false, "hook")
}

func (b *bench) time(event string, refuse bool, args ...string) float64 {
	call := process.Call{Args: append([]string{b.fsmtx}, args...), Env: []string{"HOME=" + b.home}, Stdin: process.Event(b.home, event)}
	if refuse {
		call.MayEnd = 2
	}
	return call.Run().MS
}

// reset gives the home directory a list with the steps of the row.
func (b *bench) reset(r row) {
	if r.steps == 0 {
		process.Check(os.RemoveAll(b.home))
		process.Check(os.MkdirAll(b.home, 0o755))
		return
	}
	var entries []string
	for i := range r.steps {
		entry := fmt.Sprintf(`{"id":%d,"subject":"Step %[1]d of the workflow","description":"What has to be done in this step, in a sentence.",`+
			`"produces":["out"]`, i+1)
		if i > 0 {
			entry += fmt.Sprintf(`,"blockedBy":[%d]`, i)
		}
		if r.only && i == r.steps-1 {
			entry += `,"only":["Bash(git push *)"]`
		}
		entries = append(entries, entry+"}")
	}
	b.hydrate(`{"fsm":2,"steps":[` + strings.Join(entries, ",") + "]}")
}

// hydrate gives the home directory a list with the steps of a file.
func (b *bench) hydrate(fsm string) {
	process.Check(os.RemoveAll(b.home))
	dir := filepath.Join(b.home, ".claude/skills/bench")
	process.Check(os.MkdirAll(dir, 0o755))
	process.Check(os.WriteFile(filepath.Join(dir, "SKILL.md"), nil, 0o644))
	process.Check(os.WriteFile(filepath.Join(dir, "fsm.json"), []byte(fsm), 0o644))
	b.time(process.SkillCall(session, "bench"), false, "hydrate")
}
