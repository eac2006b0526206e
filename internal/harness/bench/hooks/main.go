// Hooks compares the hook runtime as a whole process with the least that the same work
// can cost. It prints medians; differences and ratios are medians over pairs.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/fsmtx/fsmtx/internal/harness/bench/process"
)

// row is one comparison.
type row struct {
	name   string
	hooks  int
	floor  []string // program and arguments
	budget string
}

func main() {
	log.SetFlags(0)
	pairs := flag.Int("pairs", 41, "pairs of runs a row")
	flag.Parse()
	dir, err := os.MkdirTemp("", "hooks-bench-*")
	process.Check(err)
	defer os.RemoveAll(dir)
	program := process.Build(dir, "./cmd/fsmtx")
	spawn := process.Build(dir, "./internal/harness/bench/spawn")
	parse := process.Build(dir, "./internal/harness/bench/parse")

	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "work\tfsmtx ms\tfloor ms\tdifference ms\tratio\tbudget")
	for _, r := range []row{
		{"one hook", 1, []string{spawn, "1"}, "floor + 5 ms"},
		{"ten hooks at once", 10, []string{spawn, "10"}, "floor + 5 ms"},
		{"no hooks for the event", 0, []string{parse}, "floor × 1.3"},
	} {
		r.run(table, program, *pairs)
		process.Check(table.Flush())
	}
}

// request returns an event and settings with r.hooks different hooks that do nothing.
func (r row) request() string {
	var hooks []string
	for i := range r.hooks {
		hooks = append(hooks, fmt.Sprintf(`{"type": "command", "command": "true #%d"}`, i))
	}
	event := "AfterTool"
	if r.hooks > 0 {
		event = "BeforeTool"
	}
	return fmt.Sprintf(`{"event": "BeforeTool", "session_id": "s", "settings": {"enableHooks": true, "hooks": {%q: [{"hooks": [%s]}]}},
"input": {"tool_name": "write_file", "tool_input": {"path": "a.txt"}}}`, event, strings.Join(hooks, ", "))
}

func (r row) run(table *tabwriter.Writer, program string, pairs int) {
	request := r.request()
	m := process.Medians(pairs, func() []float64 {
		a := process.Call{Args: []string{program, "hooks", "eval"}, Stdin: request}.Run().MS
		b := process.Call{Args: r.floor, Stdin: request}.Run().MS
		return []float64{a, b, a - b, a / b}
	})
	fmt.Fprintf(table, "%s\t%.2f\t%.2f\t%+.2f\t%.2f\t%s\n", r.name, m[0], m[1], m[2], m[3], r.budget)
}
