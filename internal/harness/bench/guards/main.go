// Guards compares every planning guard as a whole process with a program that only
// parses the same event, in pairs. For scale it also times bash running jq once, the
// least that a shell script needs to read the event. The result is the median of the
// differences, in milliseconds.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/rules"
	"github.com/fsmtx/fsmtx/internal/harness/bench/process"
)

// budget is what a guard may cost beyond parsing the event, in milliseconds.
const budget = 5.0

func main() {
	log.SetFlags(0)
	pairs := flag.Int("pairs", 40, "pairs of runs a guard")
	flag.Parse()
	work, err := os.MkdirTemp("", "fsmtx-guards-")
	process.Check(err)
	defer os.RemoveAll(work)
	b := prepare(work)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "guard\tms\tparsing only\tmore\tbudget\tbash and jq")
	for _, g := range rules.All() {
		b.row(table, g, *pairs)
	}
	process.Check(table.Flush())
}

type bench struct {
	fsmtx, parse, script string // script is empty where there is no bash or no jq
	project, state       string
	env                  []string
	calls                int
}

// prepare builds the programs, and a project in the middle of its workflow that has the
// files that the guards read.
func prepare(work string) *bench {
	b := &bench{
		fsmtx: process.Build(work, "./cmd/fsmtx"), parse: process.Build(work, "./internal/harness/bench/parse"),
		project: filepath.Join(work, "project"), state: filepath.Join(work, "state"),
	}
	feature := filepath.Join(b.project, "specs", "checkout")
	for path, text := range map[string]string{
		filepath.Join(b.project, ".git", "HEAD"):             "ref: refs/heads/feature/checkout\n",
		filepath.Join(feature, ".planning-state.local.md"):   workflow,
		filepath.Join(feature, ".planning.lock"):             `{"session_id": "bench"}`,
		filepath.Join(feature, "tasks.md"):                   tasks(),
		filepath.Join(feature, "test-plan.md"):               "# Plan\n\n## Coverage matrix\n",
		filepath.Join(feature, "test-cases", "unit", "a.md"): "## UT-001\n",
		filepath.Join(feature, "test-cases", "uat", "a.md"):  "## UAT-001\nGiven: a\nWhen: b\nThen: c\n",
		filepath.Join(b.project, "transcript.jsonl"):         strings.Repeat(userMessage, 2000),
		filepath.Join(b.state, "note"):                       "",
	} {
		process.Check(os.MkdirAll(filepath.Dir(path), 0o755))
		process.Check(os.WriteFile(path, []byte(text), 0o644))
	}
	process.Check(os.CopyFS(filepath.Join(work, "plugin"), rules.Files))
	b.env = []string{"PATH=" + os.Getenv("PATH"), "CLAUDE_PLUGIN_ROOT=" + filepath.Join(work, "plugin"), "PLANNING_STATE_DIR=" + b.state}
	if runs("bash") && runs("jq") {
		b.script = "read -r line; echo \"$line\" | jq -r .session_id"
	}
	return b
}

func runs(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

const workflow = "---\nphase: ARCHITECTURE\nmode: complete\nuser_decisions:\n  \"Should we use Redis for session " +
	"caching?\": \"Yes, use Redis\"\n" +
	"  \"Primary database\": \"PostgreSQL\"\ngate_results:\n  - {phase: 1, verdict: PASS, score: 4.2}\n---\n\n# Notes\n"

const userMessage = `{"type":"user","message":{"role":"user","content":"go on with the plan for the checkout, and mind the edge cases"}}` +
	"\n"

func tasks() string {
	text := "## Phase 1\n## Phase 2\n"
	for i := range 40 {
		text += fmt.Sprintf("- [ ] [T%03d] a task with a line or so of words\n  - Definition of Done: UT-%d\n", i, i)
	}
	return text
}

func (b *bench) row(table *tabwriter.Writer, g guard.Rule, pairs int) {
	m := process.Medians(pairs, func() []float64 {
		e := b.event(g)
		us, floor, script := b.time(e, b.fsmtx, "guard", g.ID), b.time(e, b.parse), 0.0
		if b.script != "" {
			script = b.time(e, "bash", "-c", b.script)
		}
		return []float64{us, floor, us - floor, script}
	})
	fmt.Fprintf(table, "%s\t%.2f\t%.2f\t%.2f\t%.0f\t%.2f\n", g.ID, m[0], m[1], m[2], budget, m[3])
}

// time accepts a refusal, exit code 2, as a result.
func (b *bench) time(input string, argv ...string) float64 {
	return process.Call{Args: argv, Env: b.env, Stdin: input, MayEnd: 2}.Run().MS
}

// event returns an event for the guard. It differs in each call, because H03 counts
// different calls.
func (b *bench) event(g guard.Rule) string {
	b.calls++
	more := ""
	switch g.ID {
	case "H01":
		more = `,"tool_input":{"questions":[{"question":"Which colour should the button have?"},{"question":"Which database?"}]}`
	case "H02", "H04":
		more = fmt.Sprintf(`,"tool_input":{"file_path":%q}`, filepath.Join(b.project, "specs", "checkout", "spec.md"))
	case "H03":
		more = fmt.Sprintf(`,"tool_name":"mcp__Ref__x","tool_input":{"q":%d}`, b.calls)
	case "H05":
		more = fmt.Sprintf(`,"tool_input":{"file_path":%q}`, filepath.Join(b.project, "specs", "checkout", ".planning-state.local.md"))
	}
	if g.Event == event.SubagentStop {
		agent := strings.TrimPrefix(g.Matcher, "^")
		if g.ID == "H10" {
			agent += "researcher"
		}
		more = fmt.Sprintf(`,"agent_type":%q,"last_assistant_message":%q`, agent, "## Found\n"+strings.Repeat("word ", 200))
	}
	return fmt.Sprintf(`{"session_id":"bench","cwd":%q,"transcript_path":%q,"hook_event_name":%q%s}`+"\n", b.project,
		filepath.Join(b.project, "transcript.jsonl"), g.Event, more)
}
