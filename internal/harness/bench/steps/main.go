// Steps compares the hooks that run most often with a program that only parses the event, in
// processor time; fsmtx step as a whole process with a hydration that has nothing to do, in
// pairs; and transitions of a workflow with outcomes with an allowed update of a workflow
// without. It prints medians; ratios are medians over pairs.
package main

import (
	"bytes"
	"encoding/json"
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
	b := &bench{fsmtx: process.Build(work, "./cmd/fsmtx"), parse: process.Build(work, "./internal/harness/bench/parse"),
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
	fmt.Fprintln(table, "transition\tms\tallowed completion ms\tratio\tbudget\tCPU ms\tallowed completion CPU ms\tratio")
	for _, r := range turns {
		b.compare(table, r, *pairs)
		process.Check(table.Flush())
	}
	b.prove(table, work, *pairs)
	process.Check(table.Flush())
}

// prove prints what validating costs at most, with the start of the program: a thousand steps, one
// after the other, with thirty loops, one inside the other.
func (b *bench) prove(table *tabwriter.Writer, work string, runs int) {
	entries := []string{`{"id":1,"subject":"Step 1"}`}
	for i := 2; i <= 1000; i++ {
		loop := ""
		if i > 970 {
			loop = fmt.Sprintf(`,"outcomes":{"again":{"back":%d,"max":1},"done":{}}`, 1001-i)
		}
		entries = append(entries, fmt.Sprintf(`{"id":%d,"subject":"Step %[1]d","blockedBy":[%d]%s}`, i, i-1, loop))
	}
	file := filepath.Join(work, "fsm.json")
	process.Check(os.WriteFile(file, []byte(`{"fsm":2,"steps":[`+strings.Join(entries, ",")+"]}"), 0o644))
	var cpu []float64
	for range runs {
		cpu = append(cpu, process.Call{Args: []string{b.fsmtx, "validate", file}, Env: []string{"HOME=" + b.home}, MayEnd: 1}.Run().CPU)
	}
	fmt.Fprintf(table, "validating\tCPU ms\tbudget\n1,000 steps, 30 loops\t%.1f\t50\n", process.Median(cpu))
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
	{"step, no workflow, update", []string{"step"}, update("1", "in_progress"), 0, 1.5},
	{"step, no workflow, stop", []string{"step"}, stop, 0, 1.5},
	{"step, 10 steps, allowed update", []string{"step"}, update("1", "in_progress"), 10, 2.3},
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

// turn is an update that ends a step of a workflow with outcomes.
type turn struct {
	name string
	call // of the transition
}

// call is one call of the hook in a list of ten steps. Before it other calls are made.
type call struct {
	fsm    string
	before []string
	event  string
}

// plain is what transitions are compared with: a step of a workflow without outcomes is
// completed.
var plain = call{fsm: chain("", "", ""), before: []string{update("1", "in_progress")}, event: update("1", "completed")}

var turns = []turn{
	{"completed, one way to end", call{chain(`"outcomes":{"again":{"back":1,"max":9},"done":{}}`, "", ""),
		[]string{update("1", "in_progress")}, ends("1", "done")}},
	{"loop back over three steps", call{chain("", "", `"outcomes":{"again":{"back":1,"max":9},"done":{}}`),
		[]string{ends("1", ""), ends("2", ""), update("3", "in_progress")}, ends("3", "again")}},
	{"branch, one step not needed", call{chain(`"outcomes":["left","right"]`, `"when":{"1":"left"}`, ""),
		[]string{update("1", "in_progress")}, ends("1", "right")}},
	{"the same, seen done afterwards", call{chain(`"outcomes":["left","right"]`, `"when":{"1":"left"}`, ""),
		[]string{update("1", "in_progress"), ends("1", "right")},
		strings.Replace(ends("1", "right"), "PreToolUse", "PostToolUse", 1)}},
}

// chain is an fsm.json of ten steps, one after the other, with further members of the first three.
func chain(members ...string) string { return chainOf(10, "", members...) }

// chainOf is one of n steps, each with the same members beside those of the first ones.
func chainOf(n int, each string, members ...string) string {
	var entries []string
	object := false
	for i := range n {
		entry := fmt.Sprintf(`{"id":%d,"subject":"Step %[1]d of the workflow","description":"What has to be done in this step, in a sentence."`,
			i+1) + each
		if i > 0 {
			entry += fmt.Sprintf(`,"blockedBy":[%d]`, i)
		}
		if i < len(members) && members[i] != "" {
			entry, object = entry+","+members[i], true
		}
		entries = append(entries, entry+"}")
	}
	text := "[" + strings.Join(entries, ",") + "]"
	if object {
		text = `{"fsm":2,"steps":` + text + "}"
	}
	return text
}

// ends is the event ahead of an update that completes a task with an outcome.
func ends(task, outcome string) string {
	e := strings.Replace(update(task, "completed"), `"toolu_1"`, `"toolu_`+task+`"`, 1)
	return strings.Replace(e, `"status":"completed"`, `"status":"completed","metadata":{"outcome":"`+outcome+`"}`, 1)
}

// compare times a transition and an allowed update in pairs, each in a list as it was before.
func (b *bench) compare(table *tabwriter.Writer, r turn, pairs int) {
	their, our := b.prepare(plain), b.prepare(r.call)
	m := process.Medians(pairs, func() []float64 {
		us, them := b.once(our, r.call), b.once(their, plain)
		return []float64{us.MS, them.MS, us.MS / them.MS, us.CPU, them.CPU, us.CPU / them.CPU}
	})
	fmt.Fprintf(table, "%s\t%.2f\t%.2f\t%.2f\t2.0\t%.2f\t%.2f\t%.2f\n", r.name, m[0], m[1], m[2], m[3], m[4], m[5])
}

// prepare makes a home with a list in which the calls before c were made and carried out, and
// returns a copy of its lists.
func (b *bench) prepare(c call) (kept string) {
	b.hydrate(c.fsm)
	for _, event := range c.before {
		b.time(event, false, "step")
		b.carryOut(event)
		b.time(strings.Replace(event, "PreToolUse", "PostToolUse", 1), false, "step")
	}
	kept, err := os.MkdirTemp(filepath.Dir(b.home), "kept-")
	process.Check(err)
	process.Check(os.CopyFS(filepath.Join(kept, "tasks"), os.DirFS(b.tasks())))
	return kept
}

func (b *bench) tasks() string { return filepath.Join(b.home, ".claude/tasks") }

// carryOut changes the task of an update as the client does.
func (b *bench) carryOut(event string) {
	var e struct {
		Input struct {
			Task   string `json:"taskId"`
			Status string `json:"status"`
		} `json:"tool_input"`
	}
	process.Check(json.Unmarshal([]byte(event), &e))
	path := filepath.Join(b.tasks(), session, e.Input.Task+".json")
	data, err := os.ReadFile(path)
	process.Check(err)
	for _, status := range []string{"pending", "in_progress"} {
		data = bytes.Replace(data, []byte(`"status": "`+status+`"`), []byte(`"status": "`+e.Input.Status+`"`), 1)
	}
	process.Check(os.WriteFile(path, data, 0o644))
}

// once makes the call in a copy of the lists.
func (b *bench) once(kept string, c call) process.Cost {
	process.Check(os.RemoveAll(b.tasks()))
	process.Check(os.CopyFS(b.tasks(), os.DirFS(filepath.Join(kept, "tasks"))))
	process.Check(os.Chmod(filepath.Join(b.tasks(), "."+session+".fsmtx"), 0o700))
	return process.Call{Args: []string{b.fsmtx, "step"}, Env: []string{"HOME=" + b.home}, Stdin: process.Event(b.home, c.event)}.Run()
}

type bench struct{ fsmtx, parse, home string }

func (b *bench) run(table *tabwriter.Writer, r row, pairs int) {
	b.reset(r)
	evidence := filepath.Join(b.home, ".claude/tasks/."+session+".fsmtx/steps.jsonl")
	m := process.Medians(pairs, func() []float64 {
		if r.steps > 0 {
			process.Check(os.WriteFile(evidence, nil, 0o600))
		}
		us := b.time(r.event, r.refuse, "step")
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
	return b.time(r.beside, false, "step")
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
	members := make([]string, r.steps)
	if r.only {
		members[r.steps-1] = `"only":["Bash(git push *)"]`
	}
	b.hydrate(chainOf(r.steps, `,"produces":["out"]`, members...))
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
