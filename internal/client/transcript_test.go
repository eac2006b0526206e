package client

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
)

const (
	prompted  = `{"type":"user","message":{"role":"user","content":"%s"}}`
	answered  = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"%s"}]}}`
	toolUse   = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","name":"Read"}]}}`
	toolDone  = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"stop"}]}}`
	meta      = `{"type":"user","isMeta":true,"message":{"role":"user","content":"stop"}}`
	sidechain = `{"type":"user","isSidechain":true,"message":{"role":"user","content":"stop"}}`
	compacted = `{"type":"user","isCompactSummary":true,"message":{"role":"user","content":"stop"}}`
	feedbackM = `{"type":"user","message":{"role":"user","content":"Stop hook feedback:\nstop"}}`
	queuedM   = `{"type":"attachment","attachment":{"type":"queued_command","prompt":"stop","commandMode":"prompt"}}`
	queuedB   = `{"type":"attachment","attachment":{"type":"queued_command","prompt":[{"type":"text","text":"stop"},{"type":"image"}]}}`
	finished  = `{"type":"attachment","attachment":{"type":"queued_command","prompt":"stop","commandMode":"task-notification"}}`
	finishedT = `{"type":"attachment","attachment":{"type":"queued_command","prompt":"<task-notification>stop"}}`
	notified  = `{"type":"user","origin":{"kind":"task-notification"},"message":{"role":"user","content":"stop"}}`
	notifiedT = `{"type":"user","message":{"role":"user","content":"<task-notification>\nstop"}}`
	attached  = `{"type":"attachment","attachment":{"type":"hook_additional_context","prompt":"stop","content":["user stop"]}}`
	agents    = `{"type":"attachment","isSidechain":true,"attachment":{"type":"queued_command","prompt":"stop"}}`
	blocksM   = `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>\nquit</system-reminder>"},` +
		`{"type":"text","text":"go"},{"type":"image"},{"type":"text","text":"on"}]}}`
)

// typed is a command that the user typed, as the client stores it.
func typed(name, args string) string {
	return fmt.Sprintf(prompted, `<command-message>`+name+`</command-message>\n<command-name>/`+name+
		`</command-name>\n<command-args>`+args+`</command-args>`)
}

func transcript(t *testing.T, lines ...string) string {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
	return path
}

func TestLastUserText(t *testing.T) {
	real := fmt.Sprintf(prompted, "plan it")
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"plain":                       {[]string{real, fmt.Sprintf(answered, "stop")}, "plan it"},
		"additions of the client":     {[]string{real, toolUse, toolDone, meta, sidechain, compacted, feedbackM, ""}, "plan it"},
		"typed while the model works": {[]string{real, toolDone, queuedM, attached}, "stop"},
		"with a picture":              {[]string{real, queuedB}, "stop"},
		"and then again":              {[]string{queuedM, real}, "plan it"},
		"the end of a task":           {[]string{real, finished, finishedT, notified, notifiedT, attached, agents}, "plan it"},
		"another origin":              {[]string{real, `{"type":"user","origin":"sdk","message":{"content":"mine"}}`}, "mine"},
		"blocks of text":              {[]string{real, blocksM}, "go\non"},
		"torn last line":              {[]string{real, `{"type":"user","message":{"content":"sto`}, "plan it"},
		"foreign lines": {[]string{real, "user", "[]", "null", `"user"`, `{"type":"user"}`, `{"type":"user","message":7}`,
			`{"type":["user"]}`, `{"type":"attachment"}`, `{"type":"attachment","attachment":"queued_command"}`,
			`{"type":"attachment","attachment":{"type":"queued_command","prompt":7}}`}, "plan it"},
		"no message of the user":    {[]string{toolDone, meta}, ""},
		"a slash command":           {[]string{queuedM, typed("plan", "emergency-stop button"), meta}, ""},
		"a slash command, as typed": {[]string{queuedM, fmt.Sprintf(prompted, "/plan stop the car")}, ""},
		"a path":                    {[]string{fmt.Sprintf(prompted, "/tmp/x is full")}, "/tmp/x is full"},
		"empty":                     {[]string{""}, ""},
	} {
		assert.Equal(t, c.want, lastUserText(transcript(t, c.lines...), "2", maxTurn).text, name)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, files.Mkfifo(pipe, 0o600))
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), "", t.TempDir(), pipe} {
		got := lastUserText(path, "2", maxTurn)
		assert.Empty(t, got.text, path)
		assert.True(t, got.stale(), path)
	}
}

func TestTranscriptWithoutThePromptIsStale(t *testing.T) {
	const first, second = `{"type":"user","promptId":"1","message":{"content":"plan it"}}`,
		`{"type":"user","promptId":"2","message":{"content":"stop"}}`
	const resumed = `{"type":"user","promptId":"2","isMeta":true,"message":{"content":"a task has ended"}}`
	for name, c := range map[string]struct {
		lines  []string
		prompt string
		stale  bool
	}{
		"not there yet":         {[]string{first, meta}, "2", true},
		"the first one":         {[]string{toolDone}, "2", true},
		"an empty transcript":   {nil, "2", true},
		"the format of 2.1.197": {[]string{fmt.Sprintf(prompted, "plan it")}, "2", false},
		"there":                 {[]string{first, second}, "2", false},
		"of a turn resumed":     {[]string{first, resumed}, "2", false},
		"no prompt to wait for": {[]string{first}, "", false},
	} {
		assert.Equal(t, c.stale, lastUserText(transcript(t, c.lines...), c.prompt, maxTurn).stale(), name)
	}

	path := transcript(t, first, "")
	reads := 0
	text := ""
	known := await(path, time.Minute, func() (stale bool) {
		if reads++; reads == 2 {
			path = transcript(t, first, second)
		}
		last := lastUserText(path, "2", maxTurn)
		text = last.text
		return last.stale()
	})
	assert.Equal(t, "stop", text)
	assert.True(t, known)
	assert.Equal(t, 2, reads)
	assert.False(t, await(path, 0, func() (stale bool) {
		return lastUserText(path, "3", maxTurn).stale()
	}), "the time is up")
	_, known = lastMessage("", "3")
	assert.True(t, known, "without a transcript there is nothing to wait for")
}

func TestLastAssistantText(t *testing.T) {
	path := transcript(t, fmt.Sprintf(answered, "first"), fmt.Sprintf(answered, "last words"), toolUse, toolDone,
		fmt.Sprintf(answered, " "))
	assert.Equal(t, "last words", LastAssistantText(path))
	assert.Equal(t, "as text", LastAssistantText(transcript(t, `{"type":"assistant","message":{"content":"as text"}}`)))
}

func TestBackwardsCrossesChunks(t *testing.T) {
	long := strings.Repeat("x", chunkSize*2+17)
	lines := []string{"", ""}
	for i := range 40 {
		lines = append(lines, fmt.Sprint(i, " ", long[:i*chunkSize/20]))
	}
	lines = append(lines, long, "")
	path := transcript(t, lines...)
	var got []string
	cut := backwards(path, 1<<30, func(line []byte) bool { got = append(got, string(line)); return true })
	assert.False(t, cut)
	require.Len(t, got, len(lines))
	for i, line := range lines {
		assert.Equal(t, len(line), len(got[len(got)-1-i]))
		assert.True(t, line == got[len(got)-1-i], "line %d", i)
	}
}

// TestBackwardsReadsNoMoreThanItsLimit.
func TestBackwardsReadsNoMoreThanItsLimit(t *testing.T) {
	lines := slices.Repeat([]string{strings.Repeat("x", 999)}, 2000)
	path := transcript(t, lines...)
	for _, limit := range []int64{1000, 100_000, 300_000, 1_500_000} {
		read := 0
		cut := backwards(path, limit, func(line []byte) bool { read += len(line) + 1; return true })
		assert.True(t, cut)
		assert.LessOrEqual(t, int64(read), limit)
		assert.Greater(t, int64(read), limit-3000)
	}
	assert.False(t, backwards(path, 10_000, func([]byte) bool { return false }), "what was wanted is there")
	visited := false
	assert.True(t, backwards(transcript(t, "first", strings.Repeat("x", 500_000)), 1000, func([]byte) bool { visited = true; return true }))
	assert.False(t, visited, "a line that is longer")
}

// TestATurnThatIsTooLong to find its prompt is not waited for, and what the person said is not known.
func TestATurnThatIsTooLong(t *testing.T) {
	path := transcript(t, slices.Concat([]string{fmt.Sprintf(prompted, "stop")}, slices.Repeat([]string{
		`{"type":"user","promptId":"2","message":{"content":[{"type":"tool_result","content":"` +
			strings.Repeat("x", 1<<20) + `"}]}}`}, 9))...)
	l := lastUserText(path, "2", maxTurn)
	assert.Empty(t, l.text)
	assert.True(t, l.cut)
	assert.False(t, lastUserText(path, "3", maxTurn).stale(), "it would be read again and again")
	assert.False(t, LastSaid(path, "2", DefaultWords()).Known)
	assert.True(t, LastSaid(path, "2", DefaultWords()).Ends())
}

// TestBackwardsIsBounded: a message that is too far from the end is not found.
func TestBackwardsIsBounded(t *testing.T) {
	path := transcript(t, fmt.Sprintf(prompted, "stop"), "")
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(t, err)
	for mb := range int64(40) { // lines of a megabyte of zeros, in a sparse file
		_, err = f.WriteAt([]byte("\n"), info.Size()+(mb+1)<<20)
		require.NoError(t, err)
	}
	text, _ := lastMessage(path, "")
	assert.Empty(t, text)
}

func TestInputs(t *testing.T) {
	path := transcript(t, fmt.Sprintf(prompted, "first"), typed("plan", "the <b>car</b>"), toolDone, fmt.Sprintf(prompted, "/plan it"),
		queuedM, feedbackM, meta)
	var got []string
	inputs(path, func(text string) bool { got = append(got, text); return len(got) < 3 })
	assert.Equal(t, []string{"stop", "it", "the <b>car</b>"}, got)
}

func TestAskedUser(t *testing.T) {
	ask := strings.Replace(toolUse, "Read", "AskUserQuestion", 1)
	for name, c := range map[string]struct {
		lines []string
		want  bool
	}{
		"asked":                    {[]string{fmt.Sprintf(prompted, "go"), toolUse, ask, toolDone, fmt.Sprintf(answered, "thanks")}, true},
		"asked, and then worked":   {[]string{fmt.Sprintf(prompted, "go"), ask, toolDone, toolUse}, false},
		"asked in an earlier turn": {[]string{ask, toolDone, fmt.Sprintf(prompted, "go")}, false},
		"a subagent asked": {[]string{fmt.Sprintf(prompted, "go"), strings.Replace(ask, `"type":"assistant"`,
			`"type":"assistant","isSidechain":true`, 1)}, false},
		"not asked": {[]string{fmt.Sprintf(prompted, "go"), toolUse}, false},
	} {
		assert.Equal(t, c.want, AskedUser(transcript(t, c.lines...)), name)
	}
}

func TestACallIsOver(t *testing.T) {
	const (
		prompt = `{"type":"user","message":{"role":"user","content":"go on with toolu_1"}}`
		call   = `{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}]}}`
		beside = `{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"toolu_2","name":"Bash","input":{}}]}}`
		hook   = `{"type":"attachment","attachment":{"toolUseID":"toolu_1"}}`
		other  = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_2","content":"toolu_1"}]}}`
		result = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"refused"}]}}`
		next   = `{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"toolu_1"}]}}`
	)
	for name, c := range map[string]struct {
		lines       []string
		over, known bool
	}{
		"nothing is written yet":            {lines: []string{prompt}},
		"it was just made":                  {lines: []string{prompt, call}, known: true},
		"another of its message is over":    {lines: []string{prompt, call, beside, hook, other}, known: true},
		"another of its message comes last": {lines: []string{prompt, beside, call, hook}, known: true},
		"it has a result":                   {lines: []string{prompt, call, beside, result, other}, over: true, known: true},
		"the model has gone on":             {lines: []string{prompt, call, next}, over: true, known: true},
		"only its result is left":           {lines: []string{result}, over: true, known: true},
	} {
		t.Run(name, func(t *testing.T) {
			over, known := Transcript(transcript(t, append(c.lines, "")...)).Over("toolu_1")
			assert.Equal(t, c.over, over)
			assert.Equal(t, c.known, known)
		})
	}
	over, known := Transcript(filepath.Join(t.TempDir(), "none")).Over("toolu_1")
	assert.False(t, over || known)
}

func TestNeighbours(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "own.jsonl")
	assert.Empty(t, Neighbours(own, "a"))
	assert.Empty(t, Neighbours("", "a"))
	for i, name := range []string{"a.jsonl", "b.jsonl", "c.jsonl", "own.jsonl", "notes.txt"} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		at := time.Now().Add(time.Duration(i%3-5) * time.Minute) // c is the newest
		require.NoError(t, os.Chtimes(path, at, at))
	}
	assert.Equal(t, "c", Neighbours(own, "")[0])
	assert.Equal(t, "c", Neighbours(own, "gone")[0])
	assert.Equal(t, []string{"a"}, Neighbours(own, "a"))
}

// TestMain removes what tells that the client which runs the tests writes no transcript.
func TestMain(m *testing.M) {
	os.Unsetenv("CLAUDE_CODE_SKIP_PROMPT_HISTORY")
	os.Unsetenv("CLAUDE_PID")
	os.Exit(m.Run())
}
