package settings

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/client"
)

// TestOff: what the client of 2.1.329 did in each case is in TestHooksThatAreOff of the
// end-to-end tests.
func TestOff(t *testing.T) {
	const off, on = `{"disableAllHooks": true}`, `{"disableAllHooks": false}`
	user := func(text string) file { return newFile("user", User, []byte(text)) }
	project := func(text string) file { return newFile("project", Project, []byte(text)) }
	local := func(text string) file { return newFile("local", Local, []byte(text)) }
	managed := func(texts ...string) (all []file) {
		for i, text := range texts {
			all = append(all, newFile("managed"+string(rune('0'+i)), ManagedPlugin, []byte(text)))
		}
		return all
	}
	for name, c := range map[string]struct {
		set    Effective
		env    map[string]string
		place  Place
		expect []string
	}{
		"nothing": {Effective{}, nil, Local, nil},
		"the user's, with its line": {Effective{others: []file{user("{\n\n \"disableAllHooks\":\n true}")}}, nil, Local,
			[]string{`user:4: "disableAllHooks" is true`}},
		"a nearer file overrules": {Effective{others: []file{local(on), project(off), user(off)}}, nil, Project, nil},
		"the nearest file that has it": {Effective{others: []file{local(`{}`), project(off), user(on)}}, nil, User,
			[]string{`project:1: "disableAllHooks" is true`}},
		"plugins too":                    {Effective{others: []file{user(off)}}, nil, Plugin, []string{`user:1: "disableAllHooks" is true`}},
		"not the organisation's plugins": {Effective{others: []file{user(off)}}, nil, ManagedPlugin, nil},
		"text is ignored":                {Effective{others: []file{user(`{"disableAllHooks": "true"}`)}}, nil, Local, nil},
		"the last of two members": {Effective{others: []file{user(`{"disableAllHooks": true, "disableAllHooks": false}`)}},
			nil, Local, nil},
		"a file with comments is dropped": {Effective{others: []file{user(`{"disableAllHooks": true /* why */}`)}}, nil, Local, nil},
		"a byte order mark is accepted": {Effective{others: []file{user("\ufeff" + off)}}, nil, Local,
			[]string{`user:1: "disableAllHooks" is true`}},
		"the option --settings overrules": {Effective{flag: managed(on), others: []file{local(off)}}, nil, Local, nil},
		"by the option --settings":        {Effective{flag: managed(off)}, nil, Local, []string{`managed0:1: "disableAllHooks" is true`}},
		"a source that is left out": {Effective{others: []file{user(off)}, client: client.Switches{Sources: []string{"local"}}},
			nil, Local, nil},
		"hooks in a source left out": {Effective{client: client.Switches{Sources: []string{"user", "project"}}}, nil, Local,
			[]string{"this session was started with --setting-sources user,project"}},
		"the organisation's": {Effective{managed: managed(off), others: []file{local(on)}}, nil, ManagedPlugin,
			[]string{`managed0:1: "disableAllHooks" is true`}},
		"the organisation allows them": {Effective{managed: managed(on), others: []file{local(off)}}, nil, Local, nil},
		"a later file of it overrules": {Effective{managed: managed(off, on)}, nil, Local, nil},
		"only the organisation's hooks": {Effective{managed: managed(`{"allowManagedHooksOnly": true}`)}, nil, Plugin,
			[]string{`managed0:1: "allowManagedHooksOnly" allows only the organisation's own hooks`}},
		"the same with a wrong type": {Effective{managed: managed(`{"allowManagedHooksOnly": 0}`)}, nil, User,
			[]string{`managed0:1: "allowManagedHooksOnly" allows only the organisation's own hooks`}},
		"the text false": {Effective{managed: managed(`{"allowManagedHooksOnly": "false"}`)}, nil, User, nil},
		"overruled in a later file": {Effective{managed: managed(`{"allowManagedHooksOnly": true}`,
			`{"allowManagedHooksOnly": false}`)}, nil, User, nil},
		"only in the organisation's files": {
			Effective{others: []file{user(`{"allowManagedHooksOnly": true, "strictPluginOnlyCustomization": true}`)}},
			nil, Local, nil},
		"only plugins": {Effective{managed: managed(`{"strictPluginOnlyCustomization": ["hooks"]}`,
			`{"strictPluginOnlyCustomization": ["agents"]}`)}, nil, User,
			[]string{`managed0:1: "strictPluginOnlyCustomization" allows only hooks of plugins`}},
		"only plugins, and it is one": {Effective{managed: managed(`{"strictPluginOnlyCustomization": true}`)}, nil, Plugin, nil},
		"only plugins, but not hooks": {Effective{managed: managed(`{"strictPluginOnlyCustomization": ["agents"]}`)}, nil, User, nil},
		"a list that is replaced by false": {Effective{managed: managed(`{"strictPluginOnlyCustomization": ["hooks"]}`,
			`{"strictPluginOnlyCustomization": false}`)}, nil, User, nil},
		"no object": {Effective{managed: managed(`[]`)}, nil, ManagedPlugin,
			[]string{"managed0: this file of your organisation is not a JSON object, so the client does not start"}},
		"blank": {Effective{managed: managed(` `)}, nil, Local, nil},
		"a variable": {Effective{}, map[string]string{"CLAUDE_CODE_SIMPLE": " ON "}, Local,
			[]string{"CLAUDE_CODE_SIMPLE is ON in the environment"}},
		"a variable that is off": {Effective{}, map[string]string{"CLAUDE_CODE_SIMPLE": "2"}, Local, nil},
		"set by the user's file": {Effective{others: []file{user("{\"env\":\n {\"A\": 1,\n \"CLAUDE_CODE_SAFE_MODE\": 1}}")}}, nil,
			Local, []string{"user:3: it sets CLAUDE_CODE_SAFE_MODE to 1"}},
		"the user's file takes precedence": {Effective{others: []file{user(`{"env": {"CLAUDE_CODE_SAFE_MODE": "0"}}`)}},
			map[string]string{"CLAUDE_CODE_SAFE_MODE": "1"}, Local, nil},
		"the project's may not set it": {Effective{others: []file{local(`{"env": {"CLAUDE_CODE_SAFE_MODE": "1"}}`),
			project(`{"env": {"CLAUDE_CODE_SIMPLE": "1"}}`)}}, nil, Local, nil},
		"no file may set it": {Effective{others: []file{user(`{"env": {"CLAUDE_CODE_RESTRICTED": "1"}}`)}}, nil, Local, nil},
		"restricted": {Effective{}, map[string]string{"CLAUDE_CODE_RESTRICTED": "1"}, User,
			[]string{"CLAUDE_CODE_RESTRICTED is 1 in the environment"}},
		"an option": {Effective{client: client.Switches{Bare: true}}, nil, Plugin, []string{"this session was started with --bare"}},
		"an untrusted project": {Effective{}, map[string]string{"CLAUDE_CODE_IGNORE_PERSISTED_TRUST": "1"}, Local,
			[]string{"CLAUDE_CODE_IGNORE_PERSISTED_TRUST is 1 in the environment, so the client runs no hooks of a project in -p"}},
		"the user's in one": {Effective{}, map[string]string{"CLAUDE_CODE_IGNORE_PERSISTED_TRUST": "1"}, User, nil},
		"two switches": {Effective{managed: managed(`{"allowManagedHooksOnly": true}`), others: []file{user(off)}}, nil, Local,
			[]string{`managed0:1: "allowManagedHooksOnly" allows only the organisation's own hooks`, `user:1: "disableAllHooks" is true`}},
	} {
		t.Run(name, func(t *testing.T) {
			c.set.env = func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }

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
	enabled := func(value string) Effective {
		return Effective{managed: []file{newFile("m", ManagedPlugin, []byte(`{"enabledPlugins": {"a@b": `+value+`}}`))}}
	}
	assert.Equal(t, ManagedPlugin, enabled("true").PluginPlace("a@b"))
	assert.Equal(t, Plugin, enabled("false").PluginPlace("a@b"))
	assert.Equal(t, Plugin, enabled("true").PluginPlace("a@c"))
}

// TestSkillsOff: what only plugins may have is judged by its name.
func TestSkillsOff(t *testing.T) {
	for text, want := range map[string]bool{
		`{"strictPluginOnlyCustomization": ["skills"]}`: true, `{"strictPluginOnlyCustomization": true}`: true,
		`{"strictPluginOnlyCustomization": ["hooks", "commands"]}`: false, `{}`: false,
	} {
		found := Effective{managed: []file{{path: "managed", data: []byte(text)}}}.SkillsOff()
		assert.Equal(t, want, len(found) == 1, text)
		for _, o := range found {
			assert.Equal(t, `"strictPluginOnlyCustomization" allows only skills of plugins`, o.What)
		}
		assert.Empty(t, Effective{others: []file{{place: User, data: []byte(text)}}}.SkillsOff())
	}
}
