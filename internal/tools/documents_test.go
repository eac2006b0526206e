package tools_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/syntax"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/tools"
)

// TestCommandsInTheDocuments: each command of this program that a page for people names exists, and has
// the flags that the page gives it. TestBlocksOfCommands has those of indented blocks.
func TestCommandsInTheDocuments(t *testing.T) {
	root, seen := tools.Tree(), 0
	for name, text := range pages(t) {
		for _, words := range commandsIn(text) {
			seen++
			assert.Empty(t, problemOf(root, words), "%s: fsmtx %s", name, strings.Join(words, " "))
		}
	}
	require.Greater(t, seen, 150)
}

// commandsIn returns the words behind "fsmtx" of each command line in the sentences and sessions of a page.
func commandsIn(text string) (found [][]string) {
	var lines []string
	for _, m := range regexp.MustCompile("`((?:[^`\n]* [|&]+ )?fsmtx [^`\n]+)`|(?m)^\\$ (.*)$").FindAllStringSubmatch(text, -1) {
		lines = append(lines, m[1]+m[2])
	}
	for _, line := range lines {
		line, _, _ = strings.Cut(strings.TrimPrefix(line, "$ "), " #")
		for _, command := range regexp.MustCompile(` (?:&&|\|\|?) |; `).Split(line, -1) {
			if words, ok := strings.CutPrefix(command, "fsmtx "); ok && strings.TrimSpace(words) != "" {
				found = append(found, strings.Fields(words))
			}
		}
	}
	return found
}

// problemOf returns why the words are not those of a command with its flags, "" if they are. The flags behind -- are those of hydrate.
func problemOf(root *cobra.Command, words []string) string {
	c, rest, err := root.Find(words)
	if words[0] == "…" {
		return ""
	}
	if err != nil || c.HasSubCommands() && len(rest) > 0 && !regexp.MustCompile(`^([-<>[]|help$|completion$)`).MatchString(rest[0]) &&
		c.ValidateArgs(rest[:1]) != nil {
		return fmt.Sprintf("unknown command %q", rest[0])
	}
	for _, word := range rest {
		if strings.ContainsAny(word, "'\"<>|;") {
			return "" // an argument of several words, a redirection
		}
		if word == "--" {
			c, _, _ = root.Find([]string{"hydrate"})
			continue
		}
		flag, _, _ := strings.Cut(strings.Trim(word, "[](),."), "=")
		if long, ok := strings.CutPrefix(flag, "--"); ok && long != "help" && long != "version" && c.Flags().Lookup(long) == nil {
			return "no flag --" + long
		}
	}
	return ""
}

// others are the programs beside make that a page tells to run, and that TestBlocksOfCommands knows nothing about.
var others = []string{"cat", "cd", "claude", "diff", "echo", "gh", "git", "go", "jq", "mkdir", "npm", "sha256sum"}

// TestBlocksOfCommands: an indented block is a list of commands, of programs that are known; those of fsmtx have an existing command
// line, and those of make a target. What a command prints is in a block of the kind console, which TestExamplesInTheDocuments runs.
func TestBlocksOfCommands(t *testing.T) {
	seen := 0
	for name, page := range pages(t) {
		for _, block := range indentedIn(page) {
			calls, err := callsIn(block)
			require.NoError(t, err, "%s:\n%s", name, block)
			for _, words := range calls {
				seen++
				assert.NoError(t, faultOf(t, words), "%s: %q", name, words)
			}
		}
	}
	require.Greater(t, seen, 50)
}

// TestBlocksThatAreNoLists: what a page may not have in an indented block.
func TestBlocksThatAreNoLists(t *testing.T) {
	for _, block := range []string{
		"    $ fsmtx status\n", "    fsmtx next\n    #2 \"Check\" is ready.\n",
		"    1  ○ 1 Implement\n", "    holds: release\n", "    {\"fsm\": 2}\n",
		"    make demmo\n", "    fsmtx statsu\n", "    cat a | fsmtx verify --form gitlab\n",
		"    cd $(fsmtx locate --nowhere a)\n", "    key: value\n",
		"    docs/none.sh a\n", "    ├─╮\n", "    fsmtx hooks\n", "    if\n",
	} {
		page := indentedIn("A.\n\n" + block + "\nB.\n")
		require.Len(t, page, 1)
		calls, err := callsIn(page[0])
		for _, words := range calls {
			err = errors.Join(err, faultOf(t, words))
		}
		assert.Error(t, err, block)
	}
}

// TestExamplesOfTheHelp: those of a command are commands that exist.
func TestExamplesOfTheHelp(t *testing.T) {
	seen := 0
	eachCommand(true, func(c *cobra.Command, path string) {
		calls, err := callsIn(c.Example)
		assert.NoError(t, err, path)
		for _, words := range calls {
			if words[0] == "fsmtx" {
				seen++
				assert.NoError(t, lineOf(words[1:]), "%s --help: %q", path, words)
			}
		}
	})
	require.Greater(t, seen, 80)
}

// faultOf returns why a page may not have this command in a list of commands.
func faultOf(t *testing.T, words []string) error {
	switch program, rest := words[0], words[1:]; {
	case program == "fsmtx":
		return lineOf(rest)
	case program == "make":
		for _, target := range rest {
			if !strings.Contains("\n"+text(t, "Makefile"), "\n"+target+":") {
				return fmt.Errorf("make has no target %s", target)
			}
		}
	case strings.Contains(program, "/"):
		_, err := os.Stat("../../" + program)
		return err
	case !slices.Contains(others, program):
		return fmt.Errorf("%s is no program that is known: what a command prints is in a block of the kind console, and other text in "+
			"one with its kind", program)
	}
	return nil
}

// TestEveryBlockSaysWhatItIs: a session, a file, or text of a kind that holds no commands. The one script of another kind has its own test.
func TestEveryBlockSaysWhatItIs(t *testing.T) {
	for name, text := range pages(t) {
		for _, b := range blocksOf(text) {
			known := slices.Contains([]string{"console", "json", "yaml", "diff"}, b.kind) ||
				filepath.Base(name) == "attestation.md" && b.kind == "sh"
			assert.True(t, known || b.file != "", "%s: a block of the kind %q:\n%s", name, b.kind, b.text)
			if b.kind == "console" {
				assert.True(t, strings.HasPrefix(b.text, "$ "), "%s: what prints this?\n%s", name, b.text)
			}
		}
		assert.Zero(t, strings.Count("\n"+text, "\n```")%2, "%s: a block has no end", name)
	}
}

// indentedIn returns the indented blocks of a page.
func indentedIn(text string) (blocks []string) {
	text = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
	return regexp.MustCompile(`(?m)(?:^(?:    |\t).*\n?)+`).FindAllString(text, -1)
}

// callsIn returns the words of each command of a block, those in $(…) too. A comment stands behind a command.
func callsIn(block string) (calls [][]string, err error) {
	if line := regexp.MustCompile(`(?m)^    #.*`).FindString(block); line != "" {
		return nil, fmt.Errorf("no command: %s", line)
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(block), "")
	if err != nil {
		return nil, err
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		if call, ok := node.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			var words []string
			for _, arg := range call.Args {
				words = append(words, strings.Trim(block[arg.Pos().Offset():arg.End().Offset()], `'"`))
			}
			calls = append(calls, words)
		}
		return true
	})
	return calls, nil
}

// lineOf returns what is wrong with a command line: its command, a flag or an argument. What is behind -- belongs to the hook.
func lineOf(words []string) error {
	if at := slices.Index(words, "--"); at > 0 {
		words = words[:at]
	}
	c, rest, err := tools.Tree().Find(words)
	if err != nil {
		return err
	}
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	if c.HasSubCommands() && c.Flags().NArg() == 0 {
		return fmt.Errorf("%s needs one of its commands", c.CommandPath())
	}
	return c.ValidateArgs(c.Flags().Args())
}

// TestLineOf: what a page may not say.
func TestLineOf(t *testing.T) {
	for line, ok := range map[string]bool{
		"status --watch": true, "step skip 4 --because x": true, "install -- --announce=false": true, "graph": true,
		"statsu": false, "status --wach": false, "step": false, "step skip": false, "attest a b c": false, "status --at": false,
		"graph --format dot": false, "step jump 4": false, "doctor here": false,
	} {
		assert.Equal(t, ok, lineOf(strings.Fields(line)) == nil, "%s: %v", line, lineOf(strings.Fields(line)))
	}
}

// TestJSONInTheDocuments: each block of JSON is JSON, and each workflow is valid, without a warning.
func TestJSONInTheDocuments(t *testing.T) {
	workflows := 0
	for name, text := range pages(t) {
		for _, m := range regexp.MustCompile("(?ms)^```json\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
			require.True(t, jsontext.Value(m[1]).IsValid(), "%s:\n%s", name, m[1])
			if strings.HasPrefix(m[1], "[") && strings.Contains(m[1], `"subject"`) || strings.HasPrefix(m[1], `{"fsm"`) {
				spec, err := fsmspec.Parse([]byte(m[1]))
				require.NoError(t, err, "%s:\n%s", name, m[1])
				assert.Empty(t, spec.Warnings(), "%s:\n%s", name, m[1])
				workflows++
			}
		}
	}
	require.GreaterOrEqual(t, workflows, 8)
}

// pages returns the pages for people, by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/internals/*.md", "internal/install/plugin.md",
		"internal/harness/dist/npm/README.md"} {
		files, err := filepath.Glob(filepath.Join("../..", pattern))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			all[file] = string(text)
		}
	}
	return all
}

// TestEveryPageHasAnExample: a picture, commands, or an example that TestExamplesInTheDocuments runs or TestJSONInTheDocuments checks. The
// page of commands is generated, and docs/README.md only says where the others are.
func TestEveryPageHasAnExample(t *testing.T) {
	for name, text := range pages(t) {
		dir, page := filepath.Split(name)
		if dir != "../../docs/" && page != "README.md" || page == "commands.md" || name == "../../docs/README.md" {
			continue
		}
		assert.Regexp(t, "(?m)^```console$|^!\\[|^```json\n(\\[|\\{\"fsm\")|^```json\n\\{\n|^    fsmtx ", text, name)
	}
}
