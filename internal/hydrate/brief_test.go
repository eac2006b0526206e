package hydrate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/hydrate"
)

func invalid(path, text string) *hydrate.SpecError {
	_, err := fsmspec.Parse([]byte(text))
	return &hydrate.SpecError{Path: path, Err: err}
}

// repeated returns an fsm.json with n entries, one per line.
func repeated(n int, entry func(i int) string) string {
	var lines []string
	for i := range n {
		lines = append(lines, entry(i+1))
	}
	return "[" + strings.Join(lines, ",\n ") + "]"
}

// TestBriefFoldsEqualProblems: one mistake in several tasks is listed once, with all
// positions.
func TestBriefFoldsEqualProblems(t *testing.T) {
	const head = " problems); no task was changed. Correct the file, then invoke the skill again:\n"
	for name, test := range map[string]struct{ text, want string }{
		"different problems": {`[{"subject": "a"}, {"id": 2}]`,
			"/f is not valid (2" + head + "/f:1:2: entry 1 (\"a\"): missing \"id\"\n/f:1:20: task 2: missing \"subject\""},
		"different strings": {repeated(3, func(i int) string { return fmt.Sprintf(`{"id": "%d", "subject": "a (\"%d\"): "}`, i, i) }),
			"/f is not valid (3" + head + "/f:1:9: entry 1 (\"a (\\\"1\\\"): \"): id must be a positive integer, not a string (write the number " +
				"without quotes) (×3: also at 2:9, 3:9)"},
		"unknown task": {repeated(2, func(i int) string { return fmt.Sprintf(`{"id": %d, "subject": "a", "blocks": [7]}`, i) }),
			"/f is not valid (2" + head + "/f:1:39: task 1 (\"a\"): blocks refers to 7, but there is no task with id 7 (×2: also at 2:39)"},
		"different tasks": {`[{"id": 1, "subject": "a", "blocks": [7]}, {"id": 2, "subject": "a", "blocks": [8]}]`,
			"/f is not valid (2" + head + "/f:1:39: task 1 (\"a\"): blocks refers to 7, but there is no task with id 7 (did you mean 2?)\n" +
				"/f:1:81: task 2 (\"a\"): blocks refers to 8, but there is no task with id 8 (did you mean 1?)"},
	} {
		assert.Equal(t, test.want, invalid("/f", test.text).Brief(), name)
	}
	same := func(i int) string { return fmt.Sprintf(`{"id": %d, "subject": "a", "blocks": [1000]}`, i) }
	text := invalid("/a b's/f", repeated(30, same)).Brief()
	assert.Contains(t, text, "(×30: also at 2:")
	assert.Contains(t, text, " 20:40, …)\n… and 10 more: fsmtx validate '/a b'\\''s/f'")
}

// TestFailuresFit: the text for the agent has at most 9,000 characters.
func TestFailuresFit(t *testing.T) {
	long := strings.Repeat("𝄞\x1b", 9000)
	posted := hydrate.Request{Event: client.PostToolUse}
	a := hydrate.Failed(posted, hydrate.Result{}, long, "do this")
	assert.LessOrEqual(t, units(a.ErrorText), 9000)
	assert.Greater(t, units(a.ErrorText), 8900)
	assert.True(t, strings.HasSuffix(a.ErrorText, "… (the rest is left out; --log keeps the whole message)\nhint: do this\n"),
		a.ErrorText[len(a.ErrorText)-100:])
	a = hydrate.Failed(posted, hydrate.Result{}, long, long)
	assert.LessOrEqual(t, units(a.ErrorText), 9000)
	a = hydrate.Failed(hydrate.Request{Event: client.UserPromptExpansion}, hydrate.Result{}, long, "")
	assert.Less(t, units(a.Output), 2*9000, "a backslash is two characters in JSON")

	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 100).Draw(t, "problems")
		path := "/" + strings.Repeat(rapid.SampledFrom([]string{"p", "ä", "𝄞", "\x1b", "'"}).Draw(t, "path"),
			rapid.IntRange(0, 4000).Draw(t, "length"))
		err := invalid(path, repeated(n, func(i int) string { return fmt.Sprintf(`{"id": %d, "subject": "a", "blocks": [%d]}`, i, 1000+i) }))
		message, hint := hydrate.Explain(err, hydrate.Result{Spec: path}, env())
		a := hydrate.Failed(posted, hydrate.Result{Spec: path}, message, hint)
		require.LessOrEqual(t, units(a.ErrorText), 9000)
		require.Contains(t, a.ErrorText, "fsmtx: /")
	})
}

// TestBriefsUseTheirRoom: problems are listed while the message has room for them.
func TestBriefsUseTheirRoom(t *testing.T) {
	text := repeated(18, func(i int) string { return fmt.Sprintf(`{"id": %d, "subject": "a", "blocks": [%d]}`, i, 1000+i) })
	most := 0
	for n := 300; n < 2000; n++ {
		err := invalid("/"+strings.Repeat("p", n), text)
		if message := "fsmtx: " + err.Brief() + "\n"; strings.Contains(message, "\n… and ") {
			_, rest, _ := strings.Cut(message, "\n… and ")
			number, _, _ := strings.Cut(rest, " ")
			most = max(most, units(message)+len("10000")-len(number)) // room is reserved for a longer number
		}
	}
	assert.Equal(t, 9000, most)
}

// TestFailureNoticeFits: the text for the person is one line of at most 1,000 characters.
func TestFailureNoticeFits(t *testing.T) {
	for message, want := range map[string]string{
		"a\x1b b\nc":                "fsmtx: a\\x1b b",
		strings.Repeat("𝄞", 496):    "fsmtx: " + strings.Repeat("𝄞", 496),
		strings.Repeat("d", 993):    "fsmtx: " + strings.Repeat("d", 993),
		strings.Repeat("d", 994):    "fsmtx: " + strings.Repeat("d", 992) + "…",
		strings.Repeat("𝄞", 497):    "fsmtx: " + strings.Repeat("𝄞", 496) + "…",
		strings.Repeat("d", 100000): "fsmtx: " + strings.Repeat("d", 992) + "…",
	} {
		assert.Equal(t, want, hydrate.FailureNotice(hydrate.Request{}, errors.New(message), message))
	}
	assert.Equal(t, "s: a", hydrate.FailureNotice(request, errors.New("a"), "a"))
	assert.Equal(t, "s: /f is not valid (1 problem); no task was changed", hydrate.FailureNotice(request, invalid("/f", `[{"id": 1}]`), "a"))
}

func TestMessagesAreCutOnlyIfTheyDoNotFit(t *testing.T) {
	posted := hydrate.Request{Event: client.PostToolUse}
	most := 9000 - len("fsmtx: \nhint: \n")
	assert.Contains(t, hydrate.Failed(posted, hydrate.Result{}, strings.Repeat("d", most), "").ErrorText, strings.Repeat("d", most))
	assert.Contains(t, hydrate.Failed(posted, hydrate.Result{}, strings.Repeat("d", most+1), "").ErrorText, "the rest is left out")
}
