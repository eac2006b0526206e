// Bench times the hook runtime as a whole process against the least that the
// same work can cost, pair by pair in one run: the two take turns, so that a
// machine that is slow for a while is slow for both. It prints medians, and of
// the pairs the median difference and ratio.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
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
	check(err)
	defer os.RemoveAll(dir)
	program := build(dir, "./cmd/fsmtx")
	spawn := build(dir, "./internal/hooks/bench/spawn")
	parse := build(dir, "./internal/hooks/bench/parse")

	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "work\tfsmtx ms\tfloor ms\tdifference ms\tratio\tbudget")
	for _, r := range []row{
		{"one hook", 1, []string{spawn, "1"}, "floor + 5 ms"},
		{"ten hooks at once", 10, []string{spawn, "10"}, "floor + 5 ms"},
		{"no hooks for the event", 0, []string{parse}, "floor × 1.3"},
	} {
		r.run(table, program, *pairs)
		check(table.Flush())
	}
}

func check(err error) {
	if err != nil {
		log.Fatal("bench: ", err)
	}
}

func build(dir, pkg string) string {
	path := filepath.Join(dir, filepath.Base(pkg))
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as make builds it: a dynamic linker would be timed as well
	out, err := cmd.CombinedOutput()
	if err != nil {
		log.Fatalf("bench: %v\n%s", err, out)
	}
	return path
}

// request is an event with so many different hooks that do nothing.
func (r row) request() []byte {
	var hooks []string
	for i := range r.hooks {
		hooks = append(hooks, fmt.Sprintf(`{"type": "command", "command": "true #%d"}`, i))
	}
	event := "AfterTool"
	if r.hooks > 0 {
		event = "BeforeTool"
	}
	return fmt.Appendf(nil, `{"event": "BeforeTool", "session_id": "s", "settings": {"enableHooks": true, "hooks": {%q: [{"hooks": [%s]}]}},
"input": {"tool_name": "write_file", "tool_input": {"path": "a.txt"}}}`, event, strings.Join(hooks, ", "))
}

func (r row) run(table *tabwriter.Writer, program string, pairs int) {
	request := r.request()
	var ours, floors, differences, ratios []float64
	for i := range pairs + 2 {
		a := timed(request, program, "hooks", "eval")
		b := timed(request, r.floor...)
		if i < 2 {
			continue // caches are cold
		}
		ours, floors = append(ours, a), append(floors, b)
		differences, ratios = append(differences, a-b), append(ratios, a/b)
	}
	fmt.Fprintf(table, "%s\t%.2f\t%.2f\t%+.2f\t%.2f\t%s\n", r.name, median(ours), median(floors), median(differences), median(ratios), r.budget)
}

// timed returns the milliseconds that a run takes.
func timed(input []byte, argv ...string) float64 {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin = bytes.NewReader(input)
	start := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		log.Fatalf("bench: %v: %v\n%s", argv, err, out)
	}
	return float64(time.Since(start).Microseconds()) / 1000
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
