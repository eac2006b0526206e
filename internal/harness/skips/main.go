// Skips runs go test and prints what it prints, and then each skipped test with its reason. In
// continuous integration, which sets CI, it fails if a test was skipped for a reason that is not expected:
// a test that is always skipped notices nothing.
package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// expected has a regular expression for each reason that is expected, with a comment that says why.
//
//go:embed expected.txt
var expected string

// event is one of go test -json (go doc test2json).
type event struct{ Action, Package, Test, Output string }

func main() {
	c := exec.Command("go", append([]string{"test", "-json"}, os.Args[1:]...)...)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "skips: starting go test:", err)
		os.Exit(1)
	}
	unexpected := report(out, os.Stdout)
	if c.Wait() != nil || unexpected && os.Getenv("CI") != "" {
		os.Exit(1)
	}
}

// report prints what go test prints without -json, and each skipped test before its package's line. It reports whether one was
// skipped for a reason that is not expected.
func report(events io.Reader, to io.Writer) (unexpected bool) {
	said := map[event][]string{} // by package and test
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(to, lines.Text())
			continue
		}
		of := event{Package: e.Package, Test: e.Test}
		switch {
		case e.Action == "output" && e.Test == "" || e.Action == "build-output":
			if e.Output != "PASS\n" {
				fmt.Fprint(to, e.Output)
			}
		case e.Action == "output":
			said[of] = append(said[of], e.Output)
		case e.Action == "fail":
			fmt.Fprint(to, strings.Join(said[of], ""))
		case e.Action == "skip" && e.Test != "":
			reason := reasonIn(said[of])
			line := fmt.Sprintf("skipped: %s %s: %s", e.Package, e.Test, reason)
			if !isExpected(reason) {
				unexpected = true
				line = "unexpectedly " + line
			}
			fmt.Fprintln(to, line)
		}
	}
	return unexpected
}

// reasonIn returns what a skipped test printed, in one line: "" if it printed nothing.
func reasonIn(output []string) string {
	var words []string
	for _, line := range output {
		line = regexp.MustCompile(`^\w+\.go:\d+: `).ReplaceAllString(strings.TrimSpace(line), "")
		if !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			words = append(words, strings.Fields(line)...)
		}
	}
	return strings.Join(words, " ")
}

func isExpected(reason string) bool {
	for line := range strings.Lines(expected) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") && regexp.MustCompile("^(?:"+line+")$").MatchString(reason) {
			return true
		}
	}
	return false
}
