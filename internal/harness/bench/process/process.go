//go:build unix

// Package process times programs as whole processes, because that is what a hook costs
// the agent. Programs are compared in pairs: they take turns, so that a machine that is
// slow for a while is slow for both.
//
// It is for the benchmark programs beside it: its functions end the program on errors.
package process

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Build builds the program of a package into dir, as make build does, and returns
// its path. The program is a copy, as an installed one is: a start of the file that the linker
// has just written through its memory took up to a quarter longer.
func Build(dir, pkg string) string {
	path := filepath.Join(dir, filepath.Base(pkg))
	built := path + ".built"
	c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", built, pkg)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		log.Fatalf("building %s: %v\n%s", pkg, err, out)
	}
	Check(exec.Command("cp", built, path).Run()) // not by this process, whose memory would count as the peak of others
	Check(os.Remove(built))
	return path
}

// Memory returns a directory whose files are in memory, "" if the system has none that can be
// written.
func Memory() string {
	const shared = "/dev/shm" // of Linux
	probe, err := os.MkdirTemp(shared, "fsmtx-bench-")
	if err != nil {
		return ""
	}
	Check(os.Remove(probe))
	return shared
}

// Transcript stands in an event for the path of the session's transcript.
const Transcript = "TRANSCRIPT"

// transcript is what the client has written before the first call of a tool (client 2.1.329): the
// prompt p, and what the model can use. Without it the program would wait for it.
const transcript = `{"parentUuid":null,"isSidechain":false,"promptId":"p","type":"user","message":{"role":"user","content":"Begin."}}
{"isSidechain":false,"attachment":{"type":"deferred_tools_delta","addedNames":["TaskCreate","TaskUpdate"],"removedNames":[],"readdedNames":[]},"type":"attachment"}
{"isSidechain":false,"attachment":{"type":"skill_listing","content":"- bench: Measures.","skillCount":1,"isInitial":true,"names":["bench"]},"type":"attachment"}
`

// Event returns an event with the path of a transcript in a home directory, where the client
// keeps it. It writes the transcript if that is not there yet.
func Event(home, event string) string {
	path := filepath.Join(home, ".claude/projects/-bench/bench.jsonl")
	if _, err := os.Lstat(path); err != nil {
		Check(os.MkdirAll(filepath.Dir(path), 0o700))
		Check(os.WriteFile(path, []byte(transcript), 0o600))
	}
	return strings.Replace(event, Transcript, path, 1)
}

// SkillCall returns the event after a call of a skill.
func SkillCall(session, skill string) string {
	return fmt.Sprintf(`{"session_id":"%s","transcript_path":"`+Transcript+`","cwd":"/","prompt_id":"p","hook_event_name":"PostToolUse",`+
		`"tool_name":"Skill","tool_input":{"skill":"%[2]s"},"tool_response":{"success":true,"commandName":"%[2]s"}}`, session, skill)
}

// Update returns the event before an update of a task.
func Update(session, task, status string) string {
	return fmt.Sprintf(`{"session_id":"%s","transcript_path":"`+Transcript+`","cwd":"/","prompt_id":"p","hook_event_name":"PreToolUse",`+
		`"tool_name":"TaskUpdate","tool_input":{"taskId":"%s","status":"%s"},"tool_use_id":"toolu_1"}`, session, task, status)
}

// Check ends the program if err is not nil.
func Check(err error) {
	if err != nil {
		log.Fatal("bench: ", err)
	}
}

// Call is one run of a program.
type Call struct {
	Args   []string // the program's path first
	Env    []string
	Stdin  string
	MayEnd int // an exit code besides 0 that is not an error
}

// Cost is what a run of a program took.
type Cost struct {
	MS, CPU float64 // wall time and CPU time in milliseconds
	Peak    int64   // of the memory, in KiB on Linux and in bytes on macOS
}

// Run runs the program.
func (c Call) Run() Cost {
	ms, state := c.run()
	return Cost{ms, float64((state.UserTime() + state.SystemTime()).Microseconds()) / 1000, state.SysUsage().(*syscall.Rusage).Maxrss}
}

func (c Call) run() (ms float64, state *os.ProcessState) {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Env = c.Env
	cmd.Stdin = strings.NewReader(c.Stdin)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if err != nil && (cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != c.MayEnd) {
		log.Fatalf("%v: %v\n%s", c.Args, err, out.Bytes())
	}
	return float64(took.Microseconds()) / 1000, cmd.ProcessState
}

// Median returns the median of the values, which it sorts.
func Median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// Medians measures several things in turns, one time more than it is told, because the caches are cold at first. It returns
// the median of each.
func Medians(turns int, measure func() []float64) []float64 {
	columns := make([][]float64, len(measure()))
	for range turns {
		for i, value := range measure() {
			columns[i] = append(columns[i], value)
		}
	}
	medians := make([]float64, len(columns))
	for i, values := range columns {
		medians[i] = Median(values)
	}
	return medians
}
