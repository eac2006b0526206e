package client_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/client"
)

func TestSettings(t *testing.T) {
	w := newWorld(t)
	shared := w.put(project+"/.claude/settings.json", `{"enabledPlugins": {"a@m": true, "list@m": ["1.0"], "local@m": false}}`)
	user := w.put(config+"/settings.json", `{"enabledPlugins": {"a@m": false, "b@m": false}}`)
	local := w.put(project+"/.claude/settings.local.json", `{"enabledPlugins": {"local@m": true}}`)
	s := client.ReadSettings(w, config, project)

	for key, want := range map[string]struct {
		enabled bool
		path    string
	}{
		"a@m": {true, shared}, "b@m": {false, user}, "local@m": {true, local}, "list@m": {}, "other@m": {},
	} {
		enabled, path := s.Lookup(key)
		assert.Equal(t, want.enabled, enabled, key)
		assert.Equal(t, want.path, path, key)
		assert.Equal(t, key == "b@m", s.Disabled(key), key)
	}
	assert.Empty(t, s.Problems())
	enabled, path := (*client.Settings)(nil).Lookup("a@m")
	assert.False(t, enabled)
	assert.Empty(t, path)
}

// Fact 102.
func TestLocalSettingsOfTheRepositoryComeFirst(t *testing.T) {
	w := newWorld(t)
	w.put("/projects/.git/HEAD", "")
	root := w.put("/projects/.claude/settings.local.json", `{"enabledPlugins": {"a@m": false, "b@m": true}}`)
	w.put("/projects/.claude/settings.json", `{"enabledPlugins": {"c@m": true}}`)
	local := w.put(project+"/.claude/settings.local.json", `{"enabledPlugins": {"a@m": true, "d@m": true}}`)
	w.put(project+"/.claude/settings.json", `{"enabledPlugins": {"b@m": false}}`)
	s := client.ReadSettings(w, config, project)
	for key, want := range map[string]struct {
		enabled bool
		path    string
	}{"a@m": {false, root}, "b@m": {true, root}, "c@m": {}, "d@m": {true, local}} {
		enabled, path := s.Lookup(key)
		assert.Equal(t, want.enabled, enabled, key)
		assert.Equal(t, want.path, path, key)
	}
}

func TestUnusableSettingsAreReported(t *testing.T) {
	w := newWorld(t)
	local := w.put(project+"/.claude/settings.local.json", `{"enabledPlugins": {"a@m": true, "b@m": }}`)
	user := w.put(config+"/settings.json", "{")
	s := client.ReadSettings(w, config, project)
	assert.Len(t, s.Problems(), 2)
	assert.ErrorContains(t, s.Problems()[0], local+":1:41: ")
	enabled, _ := s.Lookup("a@m")
	assert.False(t, enabled)
	assert.Equal(t, []string{user + ":1:2: unexpected end of file: the { at 1:1 is not closed"},
		texts(t, client.ReadSettings(w, config, "").Problems()))
	assert.Len(t, client.ReadSettings(w, "", project).Problems(), 1)
}

func TestSettingsOfEmptyDirectoriesAreNotRead(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"settings.json", ".claude/settings.json", ".claude/settings.local.json"} {
		w.put(path, "{")
	}
	assert.Empty(t, client.ReadSettings(w, "", "").Problems())
}

// Fact 163: the nearest file that names a skill decides what skillOverrides say of it.
func TestOverride(t *testing.T) {
	w := newWorld(t)
	w.put(config+"/settings.json", `{"skillOverrides": {"a": "off", "b": "name-only"}}`)
	shared := w.put(project+"/.claude/settings.json", "{\n\"skillOverrides\": {\n\"b\": \"off\"}}")
	local := w.put(project+"/.claude/settings.local.json", `{"skillOverrides": {"a": "on"}}`)
	s := client.ReadSettings(w, config, project)
	for name, want := range map[string]struct {
		value, path string
		line        int
	}{"a": {"on", local, 1}, "b": {client.OverrideOff, shared, 3}, "c": {}} {
		value, path, line := s.Override(name)
		assert.Equal(t, want.value, value, name)
		assert.Equal(t, want.path, path, name)
		assert.Equal(t, want.line, line, name)
	}
	value, _, _ := (*client.Settings)(nil).Override("a")
	assert.Empty(t, value)
	assert.False(t, s.Says(), "no plugin is named")
}
