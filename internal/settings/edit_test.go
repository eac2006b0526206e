package settings_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/shell"
)

func add(_ require.TestingT, data []byte, hooks []settings.Hook) []byte {
	return must(settings.Add(bytes.Clone(data), hooks))
}

func remove(_ require.TestingT, data []byte, hooks []settings.Hook) []byte {
	return must(settings.Remove(bytes.Clone(data), hooks))
}

func state(_ require.TestingT, data []byte, hooks []settings.Hook) settings.State {
	return must(settings.Inspect(data, hooks)).State
}

// TestHooksComeAndGo: a file with the hooks says what it said before, and has them once, whichever it had before. Without them it is
// as it was.
func TestHooksComeAndGo(t *testing.T) {
	kinds := [][]settings.Hook{ours, settings.Hooks("/somewhere/else/fsmtx", []string{"--scope=skill"}, settings.Duty{})}
	for i := range ours {
		kinds = append(kinds, ours[i:i+1])
	}
	for _, d := range []settings.Duty{{NoSteps: true}, {Only: settings.Only{Shell: true}},
		{Only: settings.Only{Tools: []string{"WebFetch", "mcp__x__.*"}}}, {NoSteps: true, Only: settings.Only{Shell: true}}} {
		kinds = append(kinds, settings.Hooks("/opt/bin/fsmtx", nil, d))
	}
	rapid.Check(t, func(t *rapid.T) {
		before := []byte(settingsFile().Draw(t, "settings"))
		first, then := rapid.SampledFrom(kinds).Draw(t, "first"), rapid.SampledFrom(kinds).Draw(t, "then")
		require.Equal(t, settings.Absent, state(t, before, then))
		had := add(t, before, first)
		require.Equal(t, reflect.DeepEqual(first, then), state(t, had, then) == settings.Installed)

		with := add(t, had, then)
		require.Equal(t, settings.Installed, state(t, with, then))
		require.Equal(t, string(with), string(add(t, with, then)), "adding twice is adding once")
		once := add(t, before, then)
		require.Equal(t, expected(t, before, then), decode(t, once))
		require.Equal(t, members(t, once), members(t, with))
		require.Equal(t, string(before), string(remove(t, with, then)))
		require.Equal(t, string(before), string(remove(t, with, first)))
	})
}

// expected returns what a file says with the hooks.
func expected(t require.TestingT, before []byte, with []settings.Hook) map[string]any {
	all := decode(t, before)
	hooks, _ := all["hooks"].(map[string]any)
	if hooks == nil {
		hooks = map[string]any{}
	}
	for _, h := range with {
		entry := map[string]any{"type": "command", "command": h.Line(), "timeout": float64(h.Timeout)}
		if h.If != "" {
			entry["if"] = h.If
		}
		if h.Closed {
			entry["onFailure"] = "block"
		}
		group := map[string]any{"hooks": []any{entry}}
		if h.Matcher != "" {
			group["matcher"] = h.Matcher
		}
		groups, _ := hooks[h.Event].([]any)
		hooks[h.Event] = append(groups, group)
	}
	all["hooks"] = hooks
	return all
}

func decode(t require.TestingT, data []byte) map[string]any {
	var m map[string]any
	require.NoError(t, json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &m, jsontext.AllowInvalidUTF8(true)))
	return m
}

func TestRemoveOfACreatedFileLeavesNoFile(t *testing.T) {
	with := add(t, nil, ours)
	assert.Nil(t, remove(t, with, ours))
	assert.Nil(t, remove(t, add(t, with, settings.Hooks("/new/fsmtx", []string{"--nest=on", "--active=refuse"}, settings.Duty{})), ours))

	used := bytes.Replace(with, []byte("{\n"), []byte("{\n  \"model\": \"x\",\n"), 1)
	assert.Equal(t, "{\n  \"model\": \"x\"\n}\n", string(remove(t, used, ours)), "the user has added to the file")
}

func TestRemoveKeepsAUsersHookInTheSameGroup(t *testing.T) {
	with := add(t, []byte(`{"model": "x"}`), ours)
	mine := bytes.Replace(with, []byte("\"timeout\": 15\n          }"),
		[]byte("\"timeout\": 15\n          }, {\"type\": \"command\", \"command\": \"true\"}"), 1)
	require.NotEqual(t, with, mine)
	assert.JSONEq(t,
		`{"model": "x", "hooks": {"PostToolUse": [{"matcher": "Skill|TaskUpdate|AskUserQuestion", `+
			`"hooks": [{"type": "command", "command": "true"}]}]}}`,
		string(remove(t, mine, ours)))
}

func TestRemoveLeavesNoTrailingComma(t *testing.T) {
	const entry = `{"hooks": [{"type": "command", "command": "fsmtx", "args": ["hook", "--agent=claude"]}]}`
	for with, without := range map[string]string{
		`{"hooks": {"SessionStart": [{} , ` + entry + ` ]}}`:                   `{"hooks": {"SessionStart": [{}  ]}}`,
		`{"hooks": {"SessionStart": [` + entry + ` , {} ]}}`:                   `{"hooks": {"SessionStart": [{} ]}}`,
		`{"a": 1 , "hooks": { "SessionStart": [ ` + entry + ` ] } }`:           `{"a": 1  }`,
		`{"hooks": {"Stop": [] , "SessionStart": [ ` + entry + ` ] } }`:        `{"hooks": {"Stop": []  } }`,
		`{"hooks": {"SessionStart": [ ` + entry + ` ], "Stop": [] } , "a": 1}`: `{"hooks": {"Stop": [] } , "a": 1}`,
		strings.Replace(`{"hooks": {"SessionStart": [`+entry+`]}}`, `[{`, `[{"note": "mine", `, 1): `{"hooks": {"SessionStart": [{"note": ` +
			`"mine", "hooks": []}]}}`,
	} {
		assert.Equal(t, without, string(remove(t, []byte(with), ours)))
	}
}

// TestRemoveAfterTheClientRewroteTheFile: the client writes settings like JSON.stringify
// with an indent of two.
func TestRemoveAfterTheClientRewroteTheFile(t *testing.T) {
	with := jsontext.Value(add(t, []byte(`{"model":"x","permissions":{}}`), ours))
	require.NoError(t, with.Indent(jsontext.WithIndent("  ")))
	assert.Equal(t, settings.Installed, state(t, with, ours))
	assert.Equal(t, string(with), string(add(t, with, ours)), "a different layout is not a difference")
	assert.Equal(t, "{\n  \"model\": \"x\",\n  \"permissions\": {}\n}", string(remove(t, with, ours)))

	fresh := jsontext.Value(bytes.Clone(add(t, nil, ours)))
	require.NoError(t, fresh.Indent(jsontext.WithIndent("  ")))
	assert.Equal(t, strings.TrimSpace(string(add(t, nil, ours))), string(fresh), "a rewrite changes nothing of ours")
}

// TestLayoutIsThatOfTheFile: the client's where the file has none.
func TestLayoutIsThatOfTheFile(t *testing.T) {
	added := "\n  \"hooks\": {\n    \"SubagentStop\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n" +
		"            \"command\": \"test ! -x /opt/bin/fsmtx || exec /opt/bin/fsmtx hook --agent=claude --nest=off\",\n" +
		"            \"timeout\": 15\n          }\n        ]\n      }\n    ]\n  }"
	for _, before := range []string{"{\n  \"a\": 1\n}\n", "{\n\t\"a\": 1\n}", `{"a":1}`, "{\r\n  \"a\": 1\r\n}"} {
		text := added
		if strings.Contains(before, "\t") {
			text = strings.ReplaceAll(added, "  ", "\t")
		}
		if strings.Contains(before, "\r") {
			text = strings.ReplaceAll(added, "\n", "\r\n")
		}
		assert.Equal(t, strings.Replace(before, "1", "1,"+text, 1), string(add(t, []byte(before), atStop)))
	}
}

// A plugin goes to other machines, where the program may be missing or of another platform.
func TestLineOfAPlugin(t *testing.T) {
	line := func(command string) string {
		return settings.Hook{Command: command, Args: []string{"hook"}}.Line()
	}
	assert.Equal(t, shell.GuardOr(shell.Nothing, `"$CLAUDE_PLUGIN_ROOT"/bin/fsmtx`, []string{"hook"}), line("${CLAUDE_PLUGIN_ROOT}/bin/fsmtx"))
	assert.Equal(t, shell.Guard("/bin/fsmtx", []string{"hook"}), line("/bin/fsmtx"))
}

func TestErrorsHaveAPositionAndAReason(t *testing.T) {
	for data, want := range map[string]struct {
		is   error
		says string
	}{
		"{\"é\": nul}":        {settings.ErrNotJSON, "1:10: not valid JSON: "},
		"{":                   {settings.ErrNotJSON, "1:2: not valid JSON: unexpected end of file"},
		"{} {}":               {settings.ErrNotJSON, "1:4: not valid JSON: unexpected text after the JSON value"},
		"{}x":                 {settings.ErrNotJSON, "1:3: not valid JSON: unexpected text after the JSON value"},
		"\ufeff\ufeff{}":      {settings.ErrNotJSON, "1:1: not valid JSON: "},
		" \ufeff{}":           {settings.ErrNotJSON, "1:2: not valid JSON: "},
		"\xff\xfe{\x00}\x00":  {settings.ErrNotJSON, "1:1: not valid JSON: the file is UTF-16; save it as UTF-8"},
		"{\n\"é\": \"\xff\"}": {settings.ErrNotJSON, "2:7: not valid JSON: invalid UTF-8"},
		"\xfe\xff\x00{":       {settings.ErrNotJSON, "1:1: not valid JSON: the file is UTF-16"},
		"\xfe{}":              {settings.ErrNotJSON, "1:1: not valid JSON: invalid UTF-8"},
		"\xff{}":              {settings.ErrNotJSON, "1:1: not valid JSON: invalid UTF-8"},
		"\xfe":                {settings.ErrNotJSON, "1:1: not valid JSON: invalid UTF-8"},
		"{\xfe\xff}":          {settings.ErrNotJSON, "1:2: not valid JSON: invalid UTF-8"},
		"{\xff":               {settings.ErrNotJSON, "1:2: not valid JSON: invalid UTF-8"},

		`{"a": {"b": 1, "b": 1}}`:         {jsontext.ErrDuplicateName, `1:16: duplicate object member name "b"`},
		`{"hooks": {}, "hooks": {}}`:      {jsontext.ErrDuplicateName, `1:15: duplicate object member name "hooks"`},
		`{"hooks": {}, "h\u006foks": {}}`: {jsontext.ErrDuplicateName, `1:15: duplicate object member name "hooks"`},

		`[]`:                                  {settings.ErrShape, "1:1: unexpected settings: got an array, want an object"},
		`{"hooks": []}`:                       {settings.ErrShape, "1:11: unexpected settings: /hooks: got an array, want an object"},
		`{"hooks": null}`:                     {settings.ErrShape, "1:11: unexpected settings: /hooks: got null, want an object"},
		"{\"hooks\":\n{\"PostToolUse\": {}}}": {settings.ErrShape, "2:17: unexpected settings: /hooks/PostToolUse: got an object, want an array"},
		`{"hooks": {"SessionStart": [1]}}`: {settings.ErrShape,
			"1:29: unexpected settings: /hooks/SessionStart/0: got a number, want an object"},
		`{"hooks": {"SessionStart": [{}, {"hooks": "x"}]}}`: {settings.ErrShape,
			"1:43: unexpected settings: /hooks/SessionStart/1/hooks: got a string, want an array"},
		`{"hooks": {"SessionStart": [{"hooks": [{}, true]}]}}`: {settings.ErrShape,
			"1:44: unexpected settings: /hooks/SessionStart/0/hooks/1: got a boolean, want an object"},
	} {
		_, inspectErr := settings.Inspect([]byte(data), ours)
		_, addErr := settings.Add([]byte(data), ours)
		_, removeErr := settings.Remove([]byte(data), ours)
		_, keepErr := settings.Keep([]byte(data), ours)
		for _, err := range []error{inspectErr, addErr, removeErr, keepErr} {
			require.ErrorIs(t, err, want.is, "%q", data)
			assert.True(t, strings.HasPrefix(err.Error(), want.says), "%q: %v", data, err)
		}
	}
}

// Other events may have any shape, and the replacement character is one like others.
func TestWhatIsNotOursMayHaveAnyShape(t *testing.T) {
	for _, before := range []string{`{"hooks": {"Notification": 1, "PostToolUse": [{}]}}`, "{\n  \"a\": \"\ufffd\"\n}"} {
		assert.JSONEq(t, before, string(remove(t, add(t, []byte(before), ours), ours)))
	}
}

// TestStrict: what another agent reads, the client ignores as a whole.
func TestStrict(t *testing.T) {
	for data, want := range map[string]string{
		"{\n  \"a\": 1,\n}":   "3:1: not valid JSON: invalid character '}'",
		"{\n  // no\n}":       "2:3: not valid JSON: invalid character '/'",
		"{\"a\": /* no */ 1}": "1:7: not valid JSON: invalid character '/'",
	} {
		err := settings.Strict([]byte(data))
		require.ErrorIs(t, err, settings.ErrNotJSON)
		assert.True(t, strings.HasPrefix(err.Error(), want), "%q: %v", data, err)
		_, err = settings.Inspect([]byte(data), ours)
		require.NoError(t, err, data)
	}
	for _, data := range []string{"", "\ufeff\n", "{}", "[]"} {
		require.NoError(t, settings.Strict([]byte(data)), data)
	}
}

// TestCommentsAreKept: those in the file before are there after Add, and after Remove the file is as it was. The comments
// between two things that were added are kept, too.
func TestCommentsAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := 0
		g := drawer{t: t, layout: layouts.Draw(t, "layout"), comments: &n}
		before := g.space() + g.file() + g.space()
		with := add(t, []byte(before), ours)
		require.Equal(t, settings.Installed, state(t, with, ours), "%s", with)
		require.Equal(t, string(with), string(add(t, with, ours)), "adding twice is adding once")
		rest := remove(t, with, ours)
		for i := 1; i <= n; i++ {
			require.Contains(t, string(with), fmt.Sprintf("c%d;", i))
			require.Contains(t, string(rest), fmt.Sprintf("c%d;", i))
		}
		require.Equal(t, before, string(rest))
	})
	with := string(add(t, []byte("{\n  // mine\n  \"a\": 1, // one\n  // last\n}\n"), atStart))
	between := strings.Replace(with, "\"hooks\": {", "// above\n  \"hooks\": { // right\n", 1)
	require.Equal(t, "{\n  // mine\n  \"a\": 1, // one\n  // above\n  \"hooks\": { // right\n\n    \n  },\n  // last\n}\n",
		string(remove(t, []byte(between), ours)))
}
