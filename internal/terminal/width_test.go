package terminal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/terminal"
)

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "äö": 2, "日本": 4, "a\u0301": 1, "🚀": 2, "a\u200bb": 2, "│─": 2} {
		assert.Equal(t, want, terminal.Width(text), "%q", text)
	}
}

func TestCut(t *testing.T) {
	assert.Equal(t, "abc", terminal.Cut("abc", 3))
	assert.Equal(t, "ab…", terminal.Cut("abcd", 3))
	assert.Equal(t, "日…", terminal.Cut("日本語", 4))
	assert.Equal(t, "one…", terminal.Cut("one two", 5), "no space before the mark")
	assert.Equal(t, "…cd", terminal.CutLeft("abcd", 3))
	assert.Equal(t, "abcd", terminal.CutLeft("abcd", 4))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "日", " ", "é", "\u0301", "🚀"})).Draw(t, "text"), "")
		columns := rapid.IntRange(0, 10).Draw(t, "columns")
		for _, cut := range []string{terminal.Cut(text, columns), terminal.CutLeft(text, columns)} {
			require.LessOrEqual(t, terminal.Width(cut), columns, "%q", cut)
		}
	})
}

func TestWrap(t *testing.T) {
	assert.Equal(t, []string{"one two", "three", "four-hundred", "five"}, terminal.Wrap("one two three  four-hundred five", 8))
	assert.Equal(t, []string{""}, terminal.Wrap(" ", 8))
}

func TestColumnsWithoutATerminal(t *testing.T) {
	s := terminal.Streams{Getenv: func(string) (string, bool) { return "120", true }}
	assert.Equal(t, 120, s.Columns(new(strings.Builder)))
	s.Getenv = func(string) (string, bool) { return "wide", true }
	assert.Equal(t, 80, s.Columns(new(strings.Builder)))
}
