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
	with := must(settings.AddStatusLine([]byte("{\n  \"model\": \"opus\"\n}\n"), "/opt/my bin/fsmtx"))
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
	assert.Equal(t, string(before), string(must(settings.RemoveStatusLine(before))))
	assert.Equal(t, settings.StatusLine{Set: true, Line: "x"}, settings.ReadStatusLine(before))
}

func TestAStatusLineOfAnotherShape(t *testing.T) {
	for before, position := range map[string]string{`{"statusLine": "x"}`: "1:16", `{"statusLine": {"type": "other"}}`: "1:16",
		`{"statusLine": {"type": "command", "command": 1}}`: "1:16"} {
		_, err := settings.AddStatusLine([]byte(before), "fsmtx")
		require.ErrorIs(t, err, settings.ErrShape, before)
		assert.ErrorContains(t, err, position)
		assert.Equal(t, before, string(must(settings.RemoveStatusLine([]byte(before)))))
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
		assert.Equal(t, c.want, must(settings.InspectStatusLine([]byte(c.data), "/a/fsmtx")), c.data)
	}
}

// TestAddStatusLineThenRemoveRestoresTheFile, with the hooks and without them.
func TestAddStatusLineThenRemoveRestoresTheFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := settingsFile().Draw(t, "file")
		hooks := settings.Hooks("/opt/bin/fsmtx", nil, settings.Duty{})
		data := []byte(before)
		withHooks := rapid.Bool().Draw(t, "hooks")
		if withHooks {
			data = must(settings.Add(data, hooks))
		}
		with := must(settings.AddStatusLine(data, "/opt/bin/fsmtx"))
		require.Equal(t, settings.Report{State: settings.Installed}, must(settings.InspectStatusLine(with, "/opt/bin/fsmtx")))
		require.Equal(t, string(with), string(must(settings.AddStatusLine(with, "/opt/bin/fsmtx"))))
		rest := must(settings.RemoveStatusLine(with))
		if withHooks {
			rest = must(settings.Remove(rest, hooks))
		}
		require.Equal(t, members(t, []byte(before)), members(t, rest))
	})
}
