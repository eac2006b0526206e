package tools_test

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/tools"
)

var update = flag.Bool("update", false, "write docs/commands.md")

const commandsHead = `# Commands

Each command has ` + "`--help`" + ` with its arguments, examples, exit codes and the meaning of each flag.
` + "`attest`" + `, ` + "`verify`" + `, ` + "`validate`" + `, ` + "`test`" + `, ` + "`fmt`" + ` and ` + "`status`" + ` take ` +
	"`-C DIR`" + `, which runs them as if started in DIR. On SIGHUP, SIGINT or SIGTERM a
command rolls back an unfinished change and exits with 128 plus the number of the signal. If a disk or a pipe blocks it for two seconds
(seven if it runs hooks), it ends without that, and ` + "`fsmtx recover`" + ` finishes the change. This page is generated:
` + "`go test ./internal/tools -run TestCommandsDocument -update`" + `.
`

// TestCommandsDocument: docs/commands.md has every command, what it does, and the names of its flags.
func TestCommandsDocument(t *testing.T) {
	rows, top := map[string]string{}, "" // the rows of each group, and the group of the command at the top
	eachCommand(false, func(c *cobra.Command, path string) {
		if c.HasParent() && !c.Parent().HasParent() {
			top = c.GroupID
		}
		if c.HasParent() {
			rows[top] += fmt.Sprintf("| `%s` | %s | %s |\n", path, c.Short, flagsOf(c))
		}
	})
	want := commandsHead
	for _, group := range tools.Tree().Groups() {
		want += "\n## " + strings.TrimSuffix(group.Title, ":") + "\n\n| | What it does | Flags |\n| --- | --- | --- |\n" + rows[group.ID]
		delete(rows, group.ID)
	}
	require.Empty(t, rows, "commands of no group")
	if *update {
		require.NoError(t, os.WriteFile("../../docs/commands.md", []byte(want), 0o644))
	}
	require.Equal(t, want, text(t, "docs/commands.md"), "run go test ./internal/tools -run TestCommandsDocument -update")
}

// TestEachHelpSaysOnceWhatAWrongCommandLineIs: where it says what the other exit codes are.
func TestEachHelpSaysOnceWhatAWrongCommandLineIs(t *testing.T) {
	eachCommand(false, func(c *cobra.Command, path string) {
		saying := 0
		for _, paragraph := range strings.Split(c.Long, "\n\n") {
			words := strings.Join(strings.Fields(paragraph), " ")
			said := len(regexp.MustCompile("wrong command line|command line is wrong").FindAllString(words, -1))
			saying += said
			assert.True(t, said == 0 || strings.Contains(words, "xit code") && !strings.HasPrefix(words, "For a wrong"), "%s: %s", path, words)
		}
		assert.Equal(t, 1, saying, path)
	})
}

// TestHelpNamesHooksThatAreThere: of the commands, these alone are hooks.
func TestHelpNamesHooksThatAreThere(t *testing.T) {
	named := regexp.MustCompile(`hooks? "fsmtx (\w+)|hooks (?:hydrate|step)\b`)
	eachCommand(true, func(c *cobra.Command, path string) {
		for _, found := range named.FindAllStringSubmatch(strings.Join(strings.Fields(c.Long), " "), -1) {
			assert.Contains(t, []string{"hook", "guard"}, found[1], "%s: %s", path, found[0])
		}
	})
}

// flagsOf returns the names of the flags that only some commands have.
func flagsOf(c *cobra.Command) string {
	var names []string
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" && f.Name != "directory" {
			names = append(names, "`--"+f.Name+"`")
		}
	})
	return strings.Join(names, " ")
}

// TestTheExamplesOfTheLanguageAreDrawn: docs/write.md has five workflows, each with the command that draws it, and single steps that are
// valid. TestJSONInTheDocuments checks the workflows, TestExamplesInTheDocuments the drawings.
func TestTheExamplesOfTheLanguageAreDrawn(t *testing.T) {
	drawn, blocks := 0, blocksOf(text(t, "docs/write.md"))
	for i, b := range blocks {
		if b.kind != "json" {
			continue
		}
		if b.file != "" {
			require.Contains(t, blocks[i+1].text, "$ fsmtx graph "+filepath.Base(filepath.Dir(b.file))+" ")
			drawn++
			continue
		}
		task := regexp.MustCompile(`"blockedBy": \[(\d+)\]`).FindStringSubmatch(b.text)
		require.NotNil(t, task, "a workflow without a name: %s", b.text)
		_, err := fsmspec.Parse([]byte(`{"fsm": 2, "steps": [` + b.text + `, {"id": ` + task[1] + `, "subject": "the one before"}]}`))
		require.NoError(t, err, b.text)
	}
	require.Equal(t, 5, drawn)
}

// TestEveryFieldIsInATable: docs/write.md has each member of the schema of fsm.json in the first cell of a row.
func TestEveryFieldIsInATable(t *testing.T) {
	document := text(t, "docs/write.md")
	rows := strings.Join(regexp.MustCompile(`(?m)^\| [^|]* \|`).FindAllString(document, -1), "\n")
	out, _, code := inProcess(nil, "", "schema")
	require.Zero(t, code)
	var schema any
	require.NoError(t, json.Unmarshal([]byte(out), &schema))
	inSentences := []string{"fsm", "steps", "vars", "lines", "inTurn"}
	fields := 0
	var visit func(any)
	visit = func(value any) {
		switch value := value.(type) {
		case []any:
			for _, v := range value {
				visit(v)
			}
		case map[string]any:
			for name, v := range value {
				if members, ok := v.(map[string]any); ok && name == "properties" {
					for field := range members {
						fields++
						in := rows
						if slices.Contains(inSentences, field) {
							in = document
						}
						assert.True(t, regexp.MustCompile("`[^`]*\\b"+field+"\\b[^`]*`").MatchString(in), field)
					}
				}
				visit(v)
			}
		}
	}
	visit(schema)
	require.Greater(t, fields, 50)
}

// TestAWrongValueIsAWrongCommandLine: of each flag that takes one of some words, a number or a time, and of -C.
func TestAWrongValueIsAWrongCommandLine(t *testing.T) {
	eachCommand(false, func(c *cobra.Command, path string) {
		if slices.Contains([]string{"hook", "hydrate", "guard"}, c.Name()) || strings.HasPrefix(path, "fsmtx guard") {
			return // 2 means something else there
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			kind := f.Value.Type()
			if f.Name == "directory" || strings.Contains(kind, "|") || slices.Contains([]string{"int", "int64", "duration", "bool"}, kind) {
				args := append(strings.Fields(path)[1:], "--"+f.Name+"=no such value")
				code := tools.Main(args, terminal.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Caller: callers.Script,
					Getenv: func(name string) (string, bool) { return t.TempDir(), name == "HOME" }})
				assert.Equal(t, command.ExitUsage, code, "%q", args)
			}
		})
	})
}
