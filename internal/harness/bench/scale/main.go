//go:build unix

// Scale shows how the cost of a call grows with its work. Each table has one kind of work at
// several sizes, with the CPU time, the wall time and the peak memory of the whole process,
// and with what each unit of work costs that is more than at the size before. The last column
// compares that with the sizes before: above 1 the cost grows faster than the work. Where that is well
// above 1, it is marked, and the program fails.
//
// It works in memory if it can, because the CPU time of a disk's file system grows with other
// things than our work: ext4 without a journal looks at each inode that was deleted in the last
// minutes before it gives a new file one. What a disk costs is in the table of bench/hydrate.
//
// It prints the least of several runs: what else the machine does adds to a run, and takes nothing away.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/fsmtx/fsmtx/internal/harness/bench/process"
	"github.com/fsmtx/fsmtx/internal/settings"
)

// table is one kind of work.
type table struct {
	name  string
	unit  string
	sizes []int
	flat  bool // the work of a call does not depend on the size, so its cost must not either
	run   func(b *bench, size int) (calls func() process.Cost)
}

var tables = []table{
	{name: "tasks of a workflow, into an empty list", unit: "task", sizes: []int{1, 10, 100, 1000}, run: (*bench).create},
	{name: "10 tasks, beside others", unit: "other task", sizes: []int{0, 1000, 10_000, 50_000}, run: (*bench).beside},
	{name: "a skill without a workflow, beside others", unit: "skill", sizes: []int{0, 20, 200, 2000}, run: (*bench).skills},
	{name: "check against a transcript", unit: "MB", sizes: []int{5, 10, 100}, flat: true, // of a turn, 256 KiB are read
		run: after((*bench).transcript, process.Update("bench", "1", "in_progress"), "hydrate")},
	{name: "end of a turn, with a transcript", unit: "MB", sizes: []int{5, 10, 100}, flat: true, // 1 MiB
		run: after((*bench).transcript, stop, "hydrate")},
	{name: "a skill without a workflow, with a transcript", unit: "MB", sizes: []int{0, 10, 100}, flat: true, // nothing
		run: after((*bench).transcript, skillCall("plain"), "hook")},
	{name: "allowed update after other decisions", unit: "decision", sizes: []int{0, 200, 2000, 20_000}, flat: true,
		run: after((*bench).decisions, process.Update("bench", "1", "in_progress"), "hook")},
	{name: "status line after denials", unit: "denial", sizes: []int{200, 2000, 20_000}, flat: true,
		run: after((*bench).denials, stop, "statusline")},
	{name: "end of a turn after denials", unit: "denial", sizes: []int{200, 2000, 20_000}, flat: true,
		run: after((*bench).denials, stop, "hook")},
	{name: "status line after denials, all of which it reads", unit: "denial", sizes: []int{2000, 6000, 18_000},
		run: after((*bench).denialsAlone, stop, "statusline")},
	{name: "update of a copy, after those of as many", unit: "copy", sizes: []int{12, 25, 50, 99}, run: (*bench).copies},
	{name: "status after denials", unit: "denial", sizes: []int{200, 2000, 20_000},
		run: after((*bench).denials, "", "status", "--list", "bench")},
	{name: "allowed update of a workflow", unit: "step", sizes: []int{10, 100, 1000},
		run: after((*bench).begun, process.Update("bench", "1", "in_progress"), "hook")},
	{name: "after an update of a workflow", unit: "step", sizes: []int{10, 100, 1000},
		run: after((*bench).begun, strings.Replace(process.Update("bench", "1", "in_progress"), "PreToolUse", "PostToolUse", 1), "hook")},
	{name: "a prompt, with a workflow", unit: "step", sizes: []int{10, 100, 1000}, run: after((*bench).begun, prompt, "hook")},
	{name: "end of a turn, with a workflow", unit: "step", sizes: []int{10, 100, 1000}, run: after((*bench).begun, stop, "hook")},
	{name: "next, with a workflow", unit: "step", sizes: []int{10, 100, 1000},
		run: after((*bench).begun, "", "next", "--list", "bench")},
	{name: "status of a workflow", unit: "step", sizes: []int{10, 100, 1000},
		run: after((*bench).begun, "", "status", "--list", "bench")},
	{name: "update after hydrations", unit: "hydration", sizes: []int{1, 11, 31}, flat: true, run: (*bench).hydrations},
	{name: "status after hydrations", unit: "hydration", sizes: []int{11, 31, 91}, flat: true, // the history keeps ten
		run: after((*bench).hydrated, "", "status", "--list", "bench")},
	{name: "next, beside lists of other projects", unit: "list", sizes: []int{1, 100, 400},
		run: after((*bench).others, "", "next")},
	{name: "next, beside other processes", unit: "process", sizes: []int{0, 100, 400}, flat: true,
		run: after((*bench).processes, "", "next", "--list", "bench")},
	{name: "a file that the agent writes", unit: "MB", sizes: []int{1, 10, 40}, run: (*bench).written},
	{name: "a file that the agent writes, and a prompt, as registered, without a workflow", unit: "MB", sizes: []int{1, 10, 40},
		flat: true, run: (*bench).registered}, // the program is not started
	{name: "allowed update among ten steps, with everything at once", unit: "hydration", sizes: []int{1, 11}, flat: true,
		run: (*bench).allowed},
	{name: "end of a turn with everything at once", unit: "step", sizes: []int{10, 100, 1000},
		run: after((*bench).everything, stop, "hook")},
}

const prompt = `{"session_id":"bench","transcript_path":"` + process.Transcript + `","cwd":"/","prompt_id":"p",` +
	`"hook_event_name":"UserPromptSubmit","prompt":"Go on."}`

const stop = `{"session_id":"bench","transcript_path":"` + process.Transcript + `","cwd":"/","prompt_id":"p","hook_event_name":"Stop"}`

const (
	// slack is by how much a unit may cost more than at the size before, or a call whose work
	// does not depend on the size: the machine's noise.
	slack = 1.3
	noise = 1 // ms by which two sizes have to differ to be compared
)

// grown counts the sizes at which the cost grows faster than the work. The program fails then.
var grown int

func main() {
	log.SetFlags(0)
	_ = os.WriteFile("/proc/self/comm", []byte("claude"), 0) // on Linux: a hook finds the client above itself
	measure()
	if grown > 0 {
		log.Fatalf("%d of these costs grow faster than their work: those with a !", grown)
	}
}

func measure() {
	runs := flag.Int("runs", 7, "runs of each size")
	dir := flag.String("dir", process.Memory(), "work in this directory (default in memory, or a temporary one)")
	only := flag.String("table", "", "only the tables whose names contain this")
	flag.Parse()
	work, err := os.MkdirTemp(*dir, "fsmtx-scale-")
	process.Check(err)
	defer os.RemoveAll(work)
	program := process.Build(work, "./cmd/fsmtx")
	process.Build(work, "./cmd/fsmtx-tools") // which the program becomes for the commands of a person
	fmt.Printf("on %s\n\n", process.FileSystem(work))
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, t := range tables {
		if strings.Contains(t.name, *only) {
			t.print(out, work, program, *runs)
		}
	}
}

func (t table) print(out *tabwriter.Writer, work, program string, runs int) {
	fmt.Fprintf(out, "%s\tCPU ms\twall ms\tpeak MiB\tCPU µs a %s\tgrows\t\n", t.name, t.unit)
	b := &bench{program: program, home: filepath.Join(work, "home")}
	b.reset()
	var before process.Cost
	var unit float64 // what a unit cost more when that was last above the noise
	for i, size := range t.sizes {
		b.reset()
		c := least(min(runs, 3+20_000/(size+1)), t.run(b, size))
		each, grows := "–", "–"
		if i > 0 {
			more := c.CPU - before.CPU
			now := more / float64(size-t.sizes[i-1]) * 1000
			each = fmt.Sprintf("%.2f", now)
			switch {
			case t.flat && more < noise:
				grows = fmt.Sprintf("%.2f", c.CPU/before.CPU)
			case t.flat:
				grows = growth(c.CPU / before.CPU)
			case unit > 0 && more > noise:
				grows = growth(now / unit)
			}
			if more > noise {
				unit = now
			}
		}
		before = c
		fmt.Fprintf(out, "%d\t%.2f\t%.2f\t%.1f\t%s\t%s\t\n", size, c.CPU, c.MS, float64(c.Peak)/1024, each, grows)
	}
	fmt.Fprintln(out)
	process.Check(out.Flush())
	b.reset()
}

// growth marks what grows faster than its work.
func growth(ratio float64) string {
	if ratio > slack {
		grown++
		return fmt.Sprintf("%.2f !", ratio)
	}
	return fmt.Sprintf("%.2f", ratio)
}

// least returns the least of runs costs, and the most memory, after one that warms the caches.
func least(runs int, run func() process.Cost) (c process.Cost) {
	run()
	c = run()
	for range runs - 1 {
		one := run()
		c = process.Cost{MS: min(c.MS, one.MS), CPU: min(c.CPU, one.CPU), Peak: max(c.Peak, one.Peak)}
	}
	return c
}

type bench struct {
	program, home string
	started       []*exec.Cmd // that are there until reset
}

func (b *bench) reset() {
	for _, c := range b.started {
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	b.started = nil
	process.Check(os.RemoveAll(b.home))
}

func (b *bench) call(event string, args ...string) process.Cost {
	c := process.Call{Args: append([]string{b.program}, args...), Env: []string{"HOME=" + b.home, "PATH=/usr/bin:/bin"},
		Stdin: process.Event(b.home, event), MayEnd: 2}
	return c.Run()
}

func skillCall(skill string) string { return process.SkillCall("bench", skill) }

func (b *bench) write(name, text string) {
	path := filepath.Join(b.home, ".claude", name)
	process.Check(os.MkdirAll(filepath.Dir(path), 0o755))
	process.Check(os.WriteFile(path, []byte(text), 0o644))
}

// workflow writes the skill bench, with a workflow of steps.
func (b *bench) workflow(steps int) {
	entries := make([]string, steps)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"id":%d,"subject":"Step %[1]d of the workflow","description":"What has to be done in `+
			`this step, in a sentence."}`, i+1)
	}
	b.write("skills/bench/SKILL.md", "---\nname: bench\ndescription: Measures.\n---\nMeasure.\n")
	b.write("skills/bench/fsm.json", "["+strings.Join(entries, ",")+"]")
}

// clear removes the list's state and its tasks of the workflow, which come after the others.
func (b *bench) clear(others int) {
	tasks := filepath.Join(b.home, ".claude/tasks")
	process.Check(os.RemoveAll(filepath.Join(tasks, ".bench.fsmtx")))
	entries, err := os.ReadDir(filepath.Join(tasks, "bench"))
	if err != nil {
		return
	}
	for _, e := range entries {
		var n int
		if _, err := fmt.Sscanf(e.Name(), "%d.json", &n); err != nil || n > others {
			process.Check(os.Remove(filepath.Join(tasks, "bench", e.Name())))
		}
	}
}

func (b *bench) create(size int) func() process.Cost {
	b.workflow(size)
	return func() process.Cost {
		b.clear(0)
		return b.call(skillCall("bench"), "hydrate")
	}
}

func (b *bench) beside(size int) func() process.Cost {
	b.workflow(10)
	for i := range size {
		b.write(fmt.Sprintf("tasks/bench/%d.json", i+1), fmt.Sprintf(`{
  "id": "%d",
  "subject": "A task that was there before",
  "description": "What has to be done for it, in a sentence or two of ordinary length.",
  "status": "pending",
  "blocks": [],
  "blockedBy": []
}`, i+1))
	}
	return func() process.Cost {
		b.clear(size)
		return b.call(skillCall("bench"), "hydrate")
	}
}

func (b *bench) skills(size int) func() process.Cost {
	for i := range size {
		b.write(fmt.Sprintf("skills/skill-%d/SKILL.md", i), fmt.Sprintf("---\nname: skill-%d\ndescription: One of many.\n---\nWork.\n", i))
	}
	return func() process.Cost { return b.call(skillCall("none"), "hydrate") }
}

// after returns a run that prepares the list once, and then makes a call with the event.
func after(prepare func(b *bench, size int), event string, args ...string) func(*bench, int) func() process.Cost {
	return func(b *bench, size int) func() process.Cost {
		prepare(b, size)
		event := strings.Replace(event, process.Transcript, filepath.Join(b.home, ".claude/t.jsonl"), 1)
		return func() process.Cost { return b.call(event, args...) }
	}
}

// transcript writes one whose turn has so many MB, and a skill without a workflow.
func (b *bench) transcript(size int) {
	b.workflow(10)
	b.write("skills/plain/SKILL.md", "---\nname: plain\ndescription: Has no workflow.\n---\nWork.\n")
	b.call(skillCall("bench"), "hydrate")
	b.talk(size)
}

// talk writes a transcript whose turn has so many MB.
func (b *bench) talk(size int) {
	line := `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` +
		strings.Repeat("What the agent says about its work. ", 27) + `"}]}}` + "\n"
	b.write("t.jsonl", `{"type":"user","promptId":"p","message":{"role":"user","content":"Begin."}}`+"\n")
	f, err := os.OpenFile(filepath.Join(b.home, ".claude/t.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	process.Check(err)
	for range size * 1_000_000 / len(line) { // the memory of this program would count as the peak of the other
		_, err := f.WriteString(line)
		process.Check(err)
	}
	process.Check(f.Close())
}

// decisions makes the first decision with the program and repeats its line.
func (b *bench) decisions(size int) {
	b.repeated(size, process.Update("bench", "1", "in_progress"), true)
}

// denials is decisions for a step before its turn.
func (b *bench) denials(size int) { b.repeated(size, denied, true) }

// denialsAlone has no archive, so that the program reads all.
func (b *bench) denialsAlone(size int) { b.repeated(size, denied, false) }

// denied has no id, so that it waits for no other call of its message.
var denied = strings.Replace(process.Update("bench", "2", "in_progress"), `,"tool_use_id":"toolu_1"`, "", 1)

// repeated repeats the line of evidence about an update. The program archives them at the next update.
func (b *bench) repeated(size int, update string, archived bool) {
	b.workflow(10)
	b.call(skillCall("bench"), "hydrate")
	b.write("t.jsonl", "")
	b.repeat(size, update, archived)
}

// repeat is repeated for a list that has its workflow.
func (b *bench) repeat(size int, update string, archived bool) {
	b.call(update, "hook")
	line, err := os.ReadFile(b.evidence())
	process.Check(err)
	process.Check(os.WriteFile(b.evidence(), []byte(strings.Repeat(string(line), size)), 0o600))
	if archived {
		b.call(update, "hook")
	}
}

func (b *bench) evidence() string {
	return filepath.Join(b.home, ".claude/tasks/.bench.fsmtx/steps.jsonl")
}

// copies works on the parts of a step for each line, but for the last.
func (b *bench) copies(size int) func() process.Cost {
	b.workflow(1)
	b.write("skills/bench/fsm.json", fmt.Sprintf(`{"fsm": 2, "steps": [{"id": 1, "subject": "Begin"},
		{"id": 2, "subject": "Each", "blockedBy": [1], "each": {"run": "seq %d"}, "do": [{"id": 1, "subject": "Make ${item}"}]}]}`, size+1))
	b.call(skillCall("bench"), "hydrate")
	last := 2 + size + 1
	for n := 1; n < last; n++ {
		for _, status := range []string{"in_progress", "completed"} {
			if n == 2 && status == "completed" {
				continue // its parts come first
			}
			event := strings.Replace(process.Update("bench", fmt.Sprint(n), status), "toolu_1", fmt.Sprint("toolu_", n, status), 1)
			b.call(event, "hook")
			b.show(n, status)
			b.call(strings.Replace(event, "PreToolUse", "PostToolUse", 1), "hook")
		}
	}
	event := process.Update("bench", fmt.Sprint(last), "in_progress")
	return func() process.Cost { return b.call(event, "hook") }
}

// show writes the status of a task, as the client does.
func (b *bench) show(task int, status string) {
	path := filepath.Join(b.home, ".claude/tasks/bench", fmt.Sprintf("%d.json", task))
	data, err := os.ReadFile(path)
	process.Check(err)
	for _, was := range []string{"pending", "in_progress"} {
		data = bytes.Replace(data, []byte(`"status": "`+was+`"`), []byte(`"status": "`+status+`"`), 1)
	}
	process.Check(os.WriteFile(path, data, 0o644))
}

// hydrations makes so many calls of the skill, each of which replaces the tasks.
func (b *bench) hydrations(size int) func() process.Cost {
	b.hydrated(size)
	event := process.Update("bench", fmt.Sprint(10*size-9), "in_progress")
	return func() process.Cost {
		process.Check(os.WriteFile(b.evidence(), nil, 0o600))
		return b.call(event, "hook")
	}
}

// written is a call of Write with so many MB.
func (b *bench) written(size int) func() process.Cost {
	b.workflow(1)
	b.call(skillCall("bench"), "hydrate")
	event := `{"session_id":"bench","transcript_path":"` + process.Transcript + `","cwd":"/","prompt_id":"p","hook_event_name":"PreToolUse",` +
		`"tool_name":"Write","tool_input":{"file_path":"/a","content":"` + strings.Repeat("A line of text.\\n", size<<16) + `"}}`
	return func() process.Cost { return b.call(event, "hook") }
}

// registered makes the calls of Write and UserPromptSubmit as the client does, by the lines that are registered, in a session whose
// list has no state directory: these are most of its events.
func (b *bench) registered(size int) func() process.Cost {
	b.workflow(1)
	text := strings.Repeat("A line of text.\\n", size<<16)
	events := map[string]string{
		"PreToolUse": `{"session_id":"bench","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Write",` +
			`"tool_input":{"file_path":"/a","content":"` + text + `"}}`,
		"UserPromptSubmit": `{"session_id":"bench","cwd":"/","hook_event_name":"UserPromptSubmit","prompt":"` + text + `"}`,
	}
	lines := map[string]string{}
	for _, h := range settings.Hooks(b.program, nil, settings.Duty{}) {
		if _, ok := events[h.Event]; ok && (h.Matcher == "" || strings.Contains(h.Matcher, "Write")) {
			lines[h.Event] = h.Line()
		}
	}
	if len(lines) != len(events) {
		log.Fatalf("bench: %d of these events are registered: want %d", len(lines), len(events))
	}
	return func() (sum process.Cost) {
		for event, line := range lines {
			c := process.Call{Args: []string{"/bin/sh", "-c", line}, Stdin: events[event],
				Env: []string{"HOME=" + b.home, "PATH=/usr/bin:/bin", "CLAUDE_CODE_SESSION_ID=bench"}}.Run()
			sum = process.Cost{MS: sum.MS + c.MS, CPU: sum.CPU + c.CPU, Peak: max(sum.Peak, c.Peak)}
		}
		return sum
	}
}

// everything makes eleven calls of a skill with so many steps, and writes 20,000 lines of evidence and a transcript of 100 MB.
func (b *bench) everything(steps int) {
	b.workflow(steps)
	for range 11 {
		b.call(skillCall("bench"), "hydrate")
	}
	b.write("t.jsonl", "")
	b.repeat(20_000, strings.Replace(denied, `"taskId":"2"`, fmt.Sprintf(`"taskId":"%d"`, 10*steps+2), 1), true)
	b.talk(100)
}

// allowed starts the first step: after one hydration, or after eleven with all that everything adds to ten steps.
func (b *bench) allowed(hydrations int) func() process.Cost {
	if hydrations == 1 {
		b.begun(10)
	} else {
		b.everything(10)
	}
	event := process.Update("bench", fmt.Sprint(10*hydrations-9), "in_progress")
	return func() process.Cost { return b.call(event, "hook") }
}

// hydrated makes so many calls of the skill.
func (b *bench) hydrated(size int) {
	b.workflow(10)
	for range size {
		b.call(skillCall("bench"), "hydrate")
	}
}

// begun begins a workflow of so many steps.
func (b *bench) begun(size int) {
	b.workflow(size)
	b.write("t.jsonl", "")
	b.call(skillCall("bench"), "hydrate")
}

// others begins a workflow in as many lists, the last one in the directory in which this runs.
func (b *bench) others(size int) {
	b.workflow(10)
	here, err := os.Getwd()
	process.Check(err)
	for n := 1; n <= size; n++ {
		dir := filepath.Join(b.home, "other")
		if n == size {
			dir = here
		}
		process.Check(os.MkdirAll(dir, 0o755))
		event := strings.Replace(process.SkillCall(fmt.Sprint("list-", n), "bench"), `"cwd":"/"`, fmt.Sprintf(`"cwd":%q`, dir), 1)
		b.call(event, "hydrate")
	}
}

// processes starts others of this user.
func (b *bench) processes(size int) {
	b.begun(10)
	for range size {
		c := exec.Command("sleep", "600")
		process.Check(c.Start())
		b.started = append(b.started, c)
	}
}
