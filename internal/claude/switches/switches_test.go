package switches

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/claude/cmdline"
)

// TestOff: what the client of 2.1.329 did in each case is in TestHooksThatAreOff of the
// end-to-end tests.
func TestOff(t *testing.T) {
	const off, on = `{"disableAllHooks": true}`, `{"disableAllHooks": false}`
	user := func(text string) File { return newFile("user", User, []byte(text)) }
	project := func(text string) File { return newFile("project", Project, []byte(text)) }
	local := func(text string) File { return newFile("local", Local, []byte(text)) }
	managed := func(texts ...string) (all []File) {
		for i, text := range texts {
			all = append(all, newFile("managed"+string(rune('0'+i)), ManagedPlugin, []byte(text)))
		}
		return all
	}
	for name, c := range map[string]struct {
		set    Settings
		env    map[string]string
		place  Place
		expect []string
	}{
		"nothing": {Settings{}, nil, Local, nil},
		"the user's, with its line": {Settings{Others: []File{user("{\n\n \"disableAllHooks\":\n true}")}}, nil, Local,
			[]string{`user:4: "disableAllHooks" is true`}},
		"a nearer file overrules": {Settings{Others: []File{local(on), project(off), user(off)}}, nil, Project, nil},
		"the nearest file that has it": {Settings{Others: []File{local(`{}`), project(off), user(on)}}, nil, User,
			[]string{`project:1: "disableAllHooks" is true`}},
		"plugins too":                    {Settings{Others: []File{user(off)}}, nil, Plugin, []string{`user:1: "disableAllHooks" is true`}},
		"not the organisation's plugins": {Settings{Others: []File{user(off)}}, nil, ManagedPlugin, nil},
		"text is ignored":                {Settings{Others: []File{user(`{"disableAllHooks": "true"}`)}}, nil, Local, nil},
		"the last of two members": {Settings{Others: []File{user(`{"disableAllHooks": true, "disableAllHooks": false}`)}},
			nil, Local, nil},
		"a file with comments is dropped": {Settings{Others: []File{user(`{"disableAllHooks": true /* why */}`)}}, nil, Local, nil},
		"a byte order mark is accepted": {Settings{Others: []File{user("\ufeff" + off)}}, nil, Local,
			[]string{`user:1: "disableAllHooks" is true`}},
		"the option --settings overrules": {Settings{Flag: managed(on), Others: []File{local(off)}}, nil, Local, nil},
		"by the option --settings":        {Settings{Flag: managed(off)}, nil, Local, []string{`managed0:1: "disableAllHooks" is true`}},
		"a source that is left out": {Settings{Others: []File{user(off)}, Client: cmdline.Switches{Sources: []string{"local"}}},
			nil, Local, nil},
		"hooks in a source left out": {Settings{Client: cmdline.Switches{Sources: []string{"user", "project"}}}, nil, Local,
			[]string{"this session was started with --setting-sources user,project"}},
		"the organisation's": {Settings{Managed: managed(off), Others: []File{local(on)}}, nil, ManagedPlugin,
			[]string{`managed0:1: "disableAllHooks" is true`}},
		"the organisation allows them": {Settings{Managed: managed(on), Others: []File{local(off)}}, nil, Local, nil},
		"a later file of it overrules": {Settings{Managed: managed(off, on)}, nil, Local, nil},
		"only the organisation's hooks": {Settings{Managed: managed(`{"allowManagedHooksOnly": true}`)}, nil, Plugin,
			[]string{`managed0:1: "allowManagedHooksOnly" allows only the organisation's own hooks`}},
		"the same with a wrong type": {Settings{Managed: managed(`{"allowManagedHooksOnly": 0}`)}, nil, User,
			[]string{`managed0:1: "allowManagedHooksOnly" allows only the organisation's own hooks`}},
		"the text false": {Settings{Managed: managed(`{"allowManagedHooksOnly": "false"}`)}, nil, User, nil},
		"overruled in a later file": {Settings{Managed: managed(`{"allowManagedHooksOnly": true}`,
			`{"allowManagedHooksOnly": false}`)}, nil, User, nil},
		"only in the organisation's files": {
			Settings{Others: []File{user(`{"allowManagedHooksOnly": true, "strictPluginOnlyCustomization": true}`)}},
			nil, Local, nil},
		"only plugins": {Settings{Managed: managed(`{"strictPluginOnlyCustomization": ["hooks"]}`,
			`{"strictPluginOnlyCustomization": ["agents"]}`)}, nil, User,
			[]string{`managed0:1: "strictPluginOnlyCustomization" allows only hooks of plugins`}},
		"only plugins, and it is one": {Settings{Managed: managed(`{"strictPluginOnlyCustomization": true}`)}, nil, Plugin, nil},
		"only plugins, but not hooks": {Settings{Managed: managed(`{"strictPluginOnlyCustomization": ["agents"]}`)}, nil, User, nil},
		"a list that is replaced by false": {Settings{Managed: managed(`{"strictPluginOnlyCustomization": ["hooks"]}`,
			`{"strictPluginOnlyCustomization": false}`)}, nil, User, nil},
		"no object": {Settings{Managed: managed(`[]`)}, nil, ManagedPlugin,
			[]string{"managed0: this file of your organisation is not a JSON object, so the client does not start"}},
		"blank": {Settings{Managed: managed(` `)}, nil, Local, nil},
		"a variable": {Settings{}, map[string]string{"CLAUDE_CODE_SIMPLE": " ON "}, Local,
			[]string{"CLAUDE_CODE_SIMPLE is ON in the environment"}},
		"a variable that is off": {Settings{}, map[string]string{"CLAUDE_CODE_SIMPLE": "2"}, Local, nil},
		"set by the user's file": {Settings{Others: []File{user("{\"env\":\n {\"A\": 1,\n \"CLAUDE_CODE_SAFE_MODE\": 1}}")}}, nil,
			Local, []string{"user:3: it sets CLAUDE_CODE_SAFE_MODE to 1"}},
		"the user's file takes precedence": {Settings{Others: []File{user(`{"env": {"CLAUDE_CODE_SAFE_MODE": "0"}}`)}},
			map[string]string{"CLAUDE_CODE_SAFE_MODE": "1"}, Local, nil},
		"the project's may not set it": {Settings{Others: []File{local(`{"env": {"CLAUDE_CODE_SAFE_MODE": "1"}}`),
			project(`{"env": {"CLAUDE_CODE_SIMPLE": "1"}}`)}}, nil, Local, nil},
		"no file may set it": {Settings{Others: []File{user(`{"env": {"CLAUDE_CODE_RESTRICTED": "1"}}`)}}, nil, Local, nil},
		"restricted": {Settings{}, map[string]string{"CLAUDE_CODE_RESTRICTED": "1"}, User,
			[]string{"CLAUDE_CODE_RESTRICTED is 1 in the environment"}},
		"an option": {Settings{Client: cmdline.Switches{Bare: true}}, nil, Plugin, []string{"this session was started with --bare"}},
		"an untrusted project": {Settings{}, map[string]string{"CLAUDE_CODE_IGNORE_PERSISTED_TRUST": "1"}, Local,
			[]string{"CLAUDE_CODE_IGNORE_PERSISTED_TRUST is 1 in the environment, so the client runs no hooks of a project in -p"}},
		"the user's in one": {Settings{}, map[string]string{"CLAUDE_CODE_IGNORE_PERSISTED_TRUST": "1"}, User, nil},
		"two switches": {Settings{Managed: managed(`{"allowManagedHooksOnly": true}`), Others: []File{user(off)}}, nil, Local,
			[]string{`managed0:1: "allowManagedHooksOnly" allows only the organisation's own hooks`, `user:1: "disableAllHooks" is true`}},
	} {
		t.Run(name, func(t *testing.T) {
			c.set.Env = func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }

			var got []string
			for _, o := range c.set.Off(c.place) {
				got = append(got, o.String())
				assert.NotEmpty(t, o.Remedy, o)
			}

			assert.Equal(t, c.expect, got)
		})
	}
}

func TestPluginPlace(t *testing.T) {
	enabled := func(value string) Settings {
		return Settings{Managed: []File{newFile("m", ManagedPlugin, []byte(`{"enabledPlugins": {"a@b": `+value+`}}`))}}
	}
	assert.Equal(t, ManagedPlugin, enabled("true").PluginPlace("a@b"))
	assert.Equal(t, Plugin, enabled("false").PluginPlace("a@b"))
	assert.Equal(t, Plugin, enabled("true").PluginPlace("a@c"))
}
