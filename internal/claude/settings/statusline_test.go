package settings_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/claude/settings"
)

func TestAddStatusLine(t *testing.T) {
	with, err := settings.AddStatusLine([]byte("{\n  \"model\": \"opus\"\n}\n"), "/opt/my bin/fsmtx")
	require.NoError(t, err)
	assert.Equal(t, `{
  "model": "opus",
  "statusLine": {
    "type": "command",
    "command": "test ! -x '/opt/my bin/fsmtx' || exec '/opt/my bin/fsmtx' statusline --also",
    "refreshInterval": 5
  }
}
`, string(with))
	assert.Equal(t, settings.StatusLine{Set: true, Program: "/opt/my bin/fsmtx"}, settings.ReadStatusLine(with))
}

// TestTheUsersStatusLineStays: its object is kept, and the line runs alone if the program is
// missing.
func TestTheUsersStatusLineStays(t *testing.T) {
	before := `{"statusLine": {"padding": 2, "command": "printf '\u0068i'; x\/y \"$1\"", "type": "command"}}`
	with, err := settings.AddStatusLine([]byte(before), "fsmtx")
	require.NoError(t, err)
	assert.Equal(t, `{"statusLine": {"padding": 2, "command": "command -v fsmtx >/dev/null && exec fsmtx statusline --also; `+
		`printf 'hi'; x/y \"$1\"", "type": "command"}}`,
		string(with))
	assert.Equal(t, settings.StatusLine{Set: true, Program: "fsmtx", Line: `printf 'hi'; x/y "$1"`}, settings.ReadStatusLine(with))
	moved, err := settings.AddStatusLine(with, "/opt/fsmtx")
	require.NoError(t, err)
	assert.Contains(t, string(moved), `"test -x /opt/fsmtx && exec /opt/fsmtx statusline --also; printf 'hi'`)
	rest, err := settings.RemoveStatusLine(moved)
	require.NoError(t, err)
	assert.Equal(t, members(t, []byte(before)), members(t, rest))
}

func TestAStatusLineOfAnotherShape(t *testing.T) {
	for before, position := range map[string]string{`{"statusLine": "x"}`: "1:16", `{"statusLine": {"type": "other"}}`: "1:16",
		`{"statusLine": {"type": "command", "command": 1}}`: "1:16"} {
		_, err := settings.AddStatusLine([]byte(before), "fsmtx")
		require.ErrorIs(t, err, settings.ErrShape, before)
		assert.ErrorContains(t, err, position)
		rest, err := settings.RemoveStatusLine([]byte(before))
		require.NoError(t, err)
		assert.Equal(t, before, string(rest))
		assert.False(t, settings.ReadStatusLine([]byte(before)).Set, before)
	}
	for _, before := range []string{`{"statusLine": {"type": "other", "command": "x"}}`, `{"statusLine": {"command": "x"}}`,
		`{"statusLine": [{"type": "command", "command": "x"}]}`} {
		assert.Zero(t, settings.ReadStatusLine([]byte(before)), before)
	}
	assert.Equal(t, settings.StatusLine{Set: true, Line: "x"},
		settings.ReadStatusLine([]byte("\ufeff"+`{"statusLine": {"type": "command", "command": "x"}}`)), "after a byte order mark")
	for _, line := range []string{"test ! -x /a/fsmtx || exec /a/fsmtx hook --also", "test -x /a/fsmtx && exec /a/fsmtx hook --also; x",
		"test -x /b/fsmtx && exec /a/fsmtx statusline --also; x", "&& exec /a/fsmtx statusline --also; x", " --also; x",
		"test ! -x /a/fsmtx || exec /a/fsmtx"} {
		assert.Equal(t, settings.StatusLine{Set: true, Line: line},
			settings.ReadStatusLine([]byte(`{"statusLine": {"type": "command", "command": "`+line+`"}}`)), "it is the user's")
	}
	assert.False(t, settings.ReadStatusLine([]byte("{,}")).Set)
	assert.False(t, settings.ReadStatusLine(nil).Set)
}

func TestInspectStatusLine(t *testing.T) {
	own := `{"statusLine": {"type": "command", "command": "test ! -x /a/fsmtx || exec /a/fsmtx statusline%s"}}`
	for _, c := range []struct {
		data string
		want settings.Report
	}{
		{"", settings.Report{}},
		{`{}`, settings.Report{}},
		{`{"statusLine": {"type": "command", "command": "x"}}`, settings.Report{}},
		{fmt.Sprintf(own, " --also"), settings.Report{State: settings.Installed}},
		{fmt.Sprintf(own, ""), settings.Report{State: settings.Outdated, Why: []string{"statusLine: has other arguments"}}},
		{`{"statusLine": {"type": "command", "command": "test -x /b/fsmtx && exec /b/fsmtx statusline --also; x"}}`,
			settings.Report{State: settings.Outdated, Why: []string{"statusLine: runs /b/fsmtx, want /a/fsmtx"}}},
	} {
		got, err := settings.InspectStatusLine([]byte(c.data), "/a/fsmtx")
		require.NoError(t, err)
		assert.Equal(t, c.want, got, c.data)
	}
}

// TestAddStatusLineThenRemoveRestoresTheFile, with the hooks and without them, whatever
// status line the user has.
func TestAddStatusLineThenRemoveRestoresTheFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := settingsFile().Draw(t, "file")
		g := drawer{t: t, layout: layouts.Draw(t, "layout")}
		if rapid.Bool().Draw(t, "own") {
			line := rapid.SampledFrom([]string{`"x"`, `""`, `"; "`, `"a\u0041\/ \ud83d\ude00 'b' && exec fsmtx statusline"`,
				`"test ! -x p || exec p"`}).Draw(t, "line")
			inner := g.wrap("{", []string{g.member("type", `"command"`), g.member("command", line)}, "}")
			before = g.space() + g.wrap("{", []string{g.member("statusLine", inner), g.member("other", g.value(1))}, "}") + g.space()
		}
		hooks := settings.Hooks("/opt/bin/fsmtx", nil, settings.Duty{})
		data, err := []byte(before), error(nil)
		withHooks := rapid.Bool().Draw(t, "hooks")
		if withHooks {
			data, err = settings.Add(data, hooks)
			require.NoError(t, err)
		}
		with, err := settings.AddStatusLine(data, "/opt/bin/fsmtx")
		require.NoError(t, err)
		report, err := settings.InspectStatusLine(with, "/opt/bin/fsmtx")
		require.NoError(t, err)
		require.Equal(t, settings.Report{State: settings.Installed}, report)
		again, err := settings.AddStatusLine(with, "/opt/bin/fsmtx")
		require.NoError(t, err)
		require.Equal(t, string(with), string(again))
		rest, err := settings.RemoveStatusLine(with)
		require.NoError(t, err)
		if withHooks {
			rest, err = settings.Remove(rest, hooks)
			require.NoError(t, err)
		}
		require.Equal(t, members(t, []byte(before)), members(t, rest))
	})
}
