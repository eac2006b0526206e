package hydrate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func problems(t require.TestingT, file string) []fsmspec.Problem {
	_, err := fsmspec.Parse([]byte(file))
	invalid, ok := errors.AsType[*fsmspec.InvalidError](err)
	require.True(t, ok)
	return invalid.Problems
}

func TestFoldKeepsWarningsApart(t *testing.T) {
	folded := hydrate.Fold([]fsmspec.Problem{{Line: 1, Column: 1, Message: "m"}, {Line: 2, Column: 1, Message: "m", Warning: true}})
	assert.Len(t, folded, 2)
}

func TestExcerpt(t *testing.T) {
	file := "[{\"id\": 1,\n\t\"subject\": \"\"}, {\"id\": 2, \"日本\": 1, \"subject\": 7}]\r\n"
	all := problems(t, file)
	require.Len(t, all, 2)
	assert.Equal(t, ""+
		"    2 |  \"subject\": \"\"}, {\"id\": 2, \"日本\": 1, \"subject\": 7}]\n"+
		"      |             ^^\n", hydrate.Excerpt([]byte(file), all[0], 80))
	assert.Equal(t, ""+
		"    2 | …\": 1, \"subject\": 7}]\n"+
		"      |                   ^\n", hydrate.Excerpt([]byte(file), all[1], 45))
	assert.Empty(t, hydrate.Excerpt(nil, fsmspec.Problem{Line: 1, Offset: 7}, 80))
}

// An excerpt is two lines, never wider than asked for, and safe to print.
func TestExcerptOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{`"`, `\`, "a", "日", "\n", "\x1b[", "\xff", "\t", "[", "1",
			", "})).Draw(t, "file"), "")
		offset := rapid.IntRange(0, len(file)).Draw(t, "offset")
		text := hydrate.Excerpt([]byte(file), fsmspec.Problem{Line: 1, Column: 1, Offset: int64(offset)}, 40)
		lines := strings.Split(text, "\n")
		require.Len(t, lines, 3, "%q", text)
		for _, line := range lines {
			require.LessOrEqual(t, terminal.Width(line), 40, "%q", line)
		}
		require.Equal(t, text, message.Text(text))
		require.Contains(t, lines[1], "^")
	})
}
