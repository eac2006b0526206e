package settings_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/settings"
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

// TestTheUsersStatusLineStays: it is not replaced.
func TestTheUsersStatusLineStays(t *testing.T) {
	before := []byte(`{"statusLine": {"padding": 2, "command": "x", "type": "command"}}`)
	_, err := settings.AddStatusLine(before, "fsmtx")
	require.ErrorIs(t, err, settings.ErrStatusLine)
	require.ErrorContains(t, err, "1:16: the file has a status line of its own")
	rest, err := settings.RemoveStatusLine(before)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(rest))
	assert.Equal(t, settings.StatusLine{Set: true, Line: "x"}, settings.ReadStatusLine(before))
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
	for _, line := range []string{"test ! -x /a/fsmtx || exec /a/fsmtx hook --also", "test -x /a/fsmtx && exec /a/fsmtx statusline --also; x",
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
		{strings.ReplaceAll(fmt.Sprintf(own, " --also"), "/a/", "/b/"),
			settings.Report{State: settings.Outdated, Why: []string{"statusLine: runs /b/fsmtx, want /a/fsmtx"}}},
	} {
		got, err := settings.InspectStatusLine([]byte(c.data), "/a/fsmtx")
		require.NoError(t, err)
		assert.Equal(t, c.want, got, c.data)
	}
}

// TestAddStatusLineThenRemoveRestoresTheFile, with the hooks and without them.
func TestAddStatusLineThenRemoveRestoresTheFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := settingsFile().Draw(t, "file")
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
