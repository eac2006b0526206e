package tools

import (
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
)

// TestCommandsInTheDocuments: each command of this program that a page for people names exists, and has
// the flags that the page gives it.
func TestCommandsInTheDocuments(t *testing.T) {
	quoted, indented := regexp.MustCompile("`(fsmtx [^`]+)`"), regexp.MustCompile(`(?m)^(?:    |    \$ |\$ )(fsmtx .+)$`)
	root, seen := Tree(), 0
	for name, text := range pages(t) {
		for _, m := range append(quoted.FindAllStringSubmatch(text, -1), indented.FindAllStringSubmatch(text, -1)...) {
			line, _, _ := strings.Cut(m[1], " #")
			for command := range strings.SplitSeq(line, " && ") {
				if words, ok := strings.CutPrefix(command, "fsmtx "); ok {
					seen++
					assertCommand(t, root, name, strings.Fields(words))
				}
			}
		}
	}
	require.Greater(t, seen, 200)
}

// assertCommand fails the test if the words are not those of a command, or it has not their flags.
// The flags behind -- are those of hydrate.
func assertCommand(t *testing.T, root *cobra.Command, page string, words []string) {
	t.Helper()
	line := strings.Join(words, " ")
	c, rest, err := root.Find(words)
	if words[0] == "…" || !assert.NoError(t, err, "%s: fsmtx %s", page, line) {
		return
	}
	if c == root || c.HasSubCommands() && !c.Runnable() {
		if len(rest) > 0 {
			assert.Regexp(t, `^(-|help$|finish$|completion$)`, rest[0], "%s: fsmtx %s", page, line)
		}
	}
	for _, word := range rest {
		if strings.ContainsAny(word, "'\"<>|;") {
			return // an argument of several words, a redirection
		}
		if word == "--" {
			c, _, _ = root.Find([]string{"hydrate"})
			continue
		}
		flag, _, _ := strings.Cut(strings.Trim(word, "[](),."), "=")
		if long, ok := strings.CutPrefix(flag, "--"); ok && long != "help" && long != "version" {
			assert.NotNil(t, c.Flags().Lookup(long), "%s: fsmtx %s has no --%s", page, line, long)
		}
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
	require.GreaterOrEqual(t, workflows, 12)
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
