package message_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/message"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"plain\n\tand é 𝄞 \ufffd":   "plain\n\tand é 𝄞 \ufffd",
		"\x1b[2J\r\x00\x7f":         `\x1b[2J\r\x00\x7f`,
		"\u009b1m\u0085":            `\u009b1m\u0085`,
		"a\xff\x9bb":                `a\xff\x9bb`,
		"a\u2028b\u2029":            `a\u2028b\u2029`,
		"\u202ea\u2066\u200f":       `\u202ea\u2066\u200f`,
		"a\u200b\ufeff\u00ad\u2060": `a\u200b\ufeff\u00ad\u2060`,
		"\U000e0041":                `\U000e0041`,
		"👩\u200d🚀 می\u200cخواهم \u06dd": "👩\u200d🚀 می\u200cخواهم \u06dd",
	} {
		assert.Equal(t, want, message.Text(text), "%q", text)
	}
}

func TestLineAndWords(t *testing.T) {
	assert.Equal(t, `a\n\tb\x1b`, message.Line("a\n\tb\x1b"))
	assert.Equal(t, `a b\x1b c`, message.Words(" a\n\tb\x1b\u2028c "))
}

func TestSentence(t *testing.T) {
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"},
		"0, 1, 2, 3, 4, 5, 6, 7, 8 and 9":         strings.Split("0123456789", ""),
		"0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 1 more": strings.Split("0123456789a", "")} {
		assert.Equal(t, want, message.Sentence(words))
	}
}

func TestClip(t *testing.T) {
	assert.Equal(t, "äbc", message.Clip("äbc", 3))
	assert.Equal(t, "äb…", message.Clip("äbc", 2))
	assert.Empty(t, message.Clip("", 0))
	assert.Equal(t, "ab", message.FirstLine(" ab\n", 2))
	assert.Equal(t, "ab …", message.FirstLine("ab\nc", 2))
	assert.Equal(t, "a…", message.FirstLine("ab\nc", 1), "one mark is enough")
}

func TestBlock(t *testing.T) {
	assert.Equal(t, "a\n    b\n    \n    \\x1bc", message.Block(" a\r\nb\n\n\x1bc\n"))
}

// hostile draws texts that mix harmful and harmless characters.
func hostile() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOf(rapid.OneOf(
			rapid.SampledFrom([]string{"a", " ", "\n", "\t", "\x1b[2J", "\x7f", "\u0085", "\u202e", "\u2028", "\U000e0041", "\xff", "\xe2\x80",
				"é", "𝄞", `\`, `"`, "hint: "}),
			rapid.String(),
		)).Draw(t, "parts"), "")
	})
}

// assertSafe fails the test if a text is not safe to show. lines says whether line feeds and
// tabs are allowed.
func assertSafe(t require.TestingT, text string, lines bool) {
	require.True(t, utf8.ValidString(text), "%q", text)
	for _, r := range text {
		if r == '\n' || r == '\t' {
			require.True(t, lines, "%q", text)
			continue
		}
		require.False(t, unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control) ||
			unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && unicode.Is(unicode.Cf, r), "%q", text)
	}
}

func TestNoHarmfulCharacterIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := hostile().Draw(t, "text")
		assertSafe(t, message.Text(text), true)
		assertSafe(t, message.Line(text), false)
		assertSafe(t, message.Words(text), false)
		require.Equal(t, message.Line(text), message.Line(message.Line(text)), "escaping twice changes nothing")
		assertSafe(t, message.Sprintf("%s %v %q %-9s", text, []string{text}, text, text), false)
		assertSafe(t, message.Error(fmt.Errorf("%s: %w", text, &fs.PathError{Op: "open", Path: text, Err: syscall.ENOENT})), false)
	})
}

// The escaped JSON has no harmful characters, and parses to the same value.
func TestJSONKeepsTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := strings.ToValidUTF8(hostile().Draw(t, "value"), "\ufffd")
		text, err := json.MarshalIndent(map[string]string{value: value}, "", "  ")
		require.NoError(t, err)
		shown := message.JSON(text)
		assertSafe(t, string(shown), true)
		var back map[string]string
		require.NoError(t, json.Unmarshal(shown, &back), "%s", shown)
		require.Equal(t, map[string]string{value: value}, back)
	})
	assert.Equal(t, `{"a": "\u007f\u202e\udb40\udc41"}`, string(message.JSON([]byte("{\"a\": \"\x7f\u202e\U000e0041\"}"))))
}

func TestErrorKeepsOnlyLineFeedsOfTheProgram(t *testing.T) {
	path := &fs.PathError{Op: "open", Path: "a\nhint: rm -rf b", Err: syscall.ENOENT}
	for _, c := range []struct {
		err  error
		want string
	}{
		{path, `open a\nhint: rm -rf b: no such file or directory`},
		{fmt.Errorf("in\n%w", path), `in\nopen a\nhint: rm -rf b: no such file or directory`},
		{errors.Join(path, nil, errors.New("x\ny")), `open a\nhint: rm -rf b: no such file or directory` + "\n" + `x\ny`},
		{fmt.Errorf("both: %w", errors.Join(errors.New("a"), errors.New("b"))), "both: a\nb"},
		{fmt.Errorf("%w and\n%w", errors.New("a"), errors.New("b")), `a and\nb`},
		{fmt.Errorf("a\n%w", message.Lines("b\nc\x1b")), `a\n` + "b\nc" + `\x1b`},
		{foreign{}, `another\ntext`},
	} {
		assert.Equal(t, c.want, message.Error(c.err))
		assert.Equal(t, c.want, message.Sprintf("%v", c.err))
	}
}

// foreign is an error whose message does not contain that of the error it wraps.
type foreign struct{}

func (foreign) Error() string { return "another\ntext" }

func (foreign) Unwrap() error { return errors.New("text\n") }

type name string

func (n name) String() string { return "name\n" + string(n) }

func TestSprintf(t *testing.T) {
	type kind string
	assert.Equal(t, `a\n`, message.Sprintf("%s", "a\n"))
	assert.Equal(t, `"a\n\u202e"`, message.Sprintf("%q", "a\n\u202e"))
	assert.Equal(t, `name\nb`, message.Sprintf("%v", name("b")))
	assert.Equal(t, `b\t`, message.Sprintf("%s", kind("b\t")))
	assert.Equal(t, `b\t`, message.Sprintf("%s", []byte("b\t")))
	assert.Equal(t, `[a\n b]`, message.Sprintf("%v", []string{"a\n", "b"}))
	assert.Equal(t, "a\nb\\x1b", message.Sprintf("%s", message.Lines("a\nb\x1b")))
	assert.Equal(t, `  a| 7|true|<nil>`, message.Sprintf("%3s|%2d|%t|%v", "a", 7, true, nil))
}

func TestTheOutermostAdviceCounts(t *testing.T) {
	cause := message.NewError("locked", "wait")
	assert.Equal(t, "wait", message.Hint(cause))
	assert.Equal(t, "wait", message.Hint(errors.Join(errors.New("x"), fmt.Errorf("file: %w", cause))))
	outer := message.WithHint(fmt.Errorf("file: %w", cause), "end the other program")
	assert.Equal(t, "end the other program", message.Hint(outer))
	assert.ErrorIs(t, outer, cause)
	assert.Equal(t, "file: locked", outer.Error())
	assert.Empty(t, message.Hint(errors.New("x")))
	assert.NoError(t, message.WithHint(nil, "x"))
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b  string
		limit int
		want  int
	}{
		{"", "", 5, 0},
		{"", "abc", 5, 3},
		{"blockedBy", "blockedBy", 5, 0},
		{"blokedBy", "blockedBy", 5, 1}, // one missing
		{"kitten", "sitting", 5, 3},     // two replaced, one inserted
		{"ab", "ba", 5, 1},              // neighbours exchanged
		{"chekc", "check", 5, 1},
		{"abc", "cba", 5, 2},
		{"prüfen", "prufen", 5, 1},  // characters, not bytes
		{"kitten", "sitting", 3, 3}, // not below the limit
		{"kitten", "sitting", 2, 2},
		{"a", "abcdef", 2, 2}, // decided by the lengths alone
	} {
		assert.Equal(t, tt.want, message.Distance(tt.a, tt.b, tt.limit), "%q and %q, limit %d", tt.a, tt.b, tt.limit)
		assert.Equal(t, tt.want, message.Distance(tt.b, tt.a, tt.limit), "%q and %q, limit %d", tt.b, tt.a, tt.limit)
	}
}

// An edit changes the distance by at most one. A distance above the limit is cut to it.
func TestDistanceOfEdits(t *testing.T) {
	const far = 100
	rapid.Check(t, func(t *rapid.T) {
		a := []rune(rapid.StringMatching(`[a-cé]{0,8}`).Draw(t, "a"))
		b := rapid.StringMatching(`[a-cé]{0,8}`).Draw(t, "b")
		at := rapid.IntRange(0, len(a)).Draw(t, "at")
		edited := string(a[:at]) + "x" + string(a[at:])
		d, e := message.Distance(string(a), b, far), message.Distance(edited, b, far)
		assert.LessOrEqual(t, d-e, 1)
		most := 1
		if at > 0 && at < len(a) && strings.Contains(b, string(a[at])+string(a[at-1])) {
			most = 2 // what was one exchange of neighbours
		}
		assert.LessOrEqual(t, e-d, most)
		limit := rapid.IntRange(0, 10).Draw(t, "limit")
		assert.Equal(t, min(d, limit), message.Distance(string(a), b, limit))
	})
}
