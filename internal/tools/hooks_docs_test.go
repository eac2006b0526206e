package tools_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/harness/sessions"
)

// TestExamplesInTheDocuments runs the sessions of the pages in order, those of a page in one directory. A block after
// <!-- file: NAME --> is a file. A block of the kind console has commands and what they print.
func TestExamplesInTheDocuments(t *testing.T) {
	ran := 0
	for page, text := range pages(t) {
		project := filepath.Join(t.TempDir(), "project")
		require.NoError(t, os.Mkdir(project, 0o755))
		for _, b := range blocksOf(text) {
			switch {
			case b.file != "":
				path := filepath.Join(project, b.file)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, sessions.WriteProgram(path, b.text, 0o755))
			case b.kind == "console":
				for _, c := range commandsOf(b.text) {
					ran++
					assert.Equal(t, comparable(c.prints), comparable(inShell(project, c.line)), "%s: %s", page, c.line)
				}
			}
		}
	}
	require.Greater(t, ran, 25)
}

// block is a fenced block of a document.
type block struct{ file, kind, text string }

func blocksOf(document string) []block {
	var found []block
	for _, m := range regexp.MustCompile("(?m)(?:^<!-- file: (.*) -->\n)?^```(.*)\n((?s:.*?)\n)?```$").FindAllStringSubmatch(document, -1) {
		found = append(found, block{m[1], m[2], m[3]})
	}
	return found
}

// printed is a command and its output.
type printed struct{ line, prints string }

func commandsOf(session string) []printed {
	var found []printed
	for line := range strings.Lines(session) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			found = append(found, printed{line: command})
			continue
		}
		found[len(found)-1].prints += line
	}
	return found
}

// inShell returns the output of a command, with its directory as /project, the home as /home and the program as fsmtx.
func inShell(dir, line string) string {
	who := caller.Script
	if strings.HasPrefix(line, "fsmtx step ") {
		who = caller.Person // what only a person may type
	}
	c := exec.Command("sh", "-c", line)
	c.Dir = dir
	c.Env = []string{"HOME=" + filepath.Join(filepath.Dir(dir), "home"), "PATH=" + os.Getenv("PATH"), raceOptions,
		callers.Environ(who)}
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	_ = c.Run() // the output is compared
	program, _ := exec.LookPath("fsmtx")
	return strings.NewReplacer(dir, "/project", filepath.Join(filepath.Dir(dir), "home"), "/home", program, "fsmtx").Replace(out.String())
}

// comparable replaces what differs between runs: durations with the padding behind them,
// timestamps, and the layout of JSON.
func comparable(text string) string {
	for pattern, with := range map[string]string{
		`\d+ ms *`: "N ms ", `\(\d+\.\d+s\)`: "(Ns)", `"(duration_ms|totalDuration)": ?[\d.]+`: `"$1":0`, `"timestamp":"[^"]*"`: `"timestamp":""`,
	} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, with)
	}
	if value := jsontext.Value(text); value.Compact() == nil {
		return string(value)
	}
	return text
}
