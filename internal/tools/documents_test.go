package tools_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/tools"
)

// TestCommandsInTheDocuments: each command of this program that a page for people names exists, and has
// the flags that the page gives it.
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

// commandsIn returns the words behind "fsmtx" of each command line in the code of a page.
func commandsIn(text string) (found [][]string) {
	var lines []string
	for _, m := range regexp.MustCompile("`((?:[^`\n]* [|&]+ )?fsmtx [^`\n]+)`|(?m)^(?:    |\\$ )(.*)$").FindAllStringSubmatch(text, -1) {
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
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/internals/*.md"} {
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

// TestEveryPageHasAnExample: a picture, or an example that TestExamplesInTheDocuments runs or TestJSONInTheDocuments checks. The page
// of commands is generated, and docs/README.md only says where the others are.
func TestEveryPageHasAnExample(t *testing.T) {
	for name, text := range pages(t) {
		dir, page := filepath.Split(name)
		if dir != "../../docs/" && page != "README.md" || page == "commands.md" || name == "../../docs/README.md" {
			continue
		}
		assert.Regexp(t, "(?m)^```console$|^!\\[|^```json\n(\\[|\\{\"fsm\")|^```json\n\\{\n", text, name)
	}
}
