package client_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/locator"
)

// has are the skills and commands of every plugin in these tests, with the names in their
// frontmatters.
var has = map[string]string{
	"skills/x/SKILL.md": "own x", "skills/a.b/SKILL.md": "", "more/y/SKILL.md": "", "more/z/SKILL.md": "", "one/SKILL.md": "named one",
	"bare/SKILL.md": "",
	"commands/c.md": "", "commands/sub/d.md": "deep", "commands/k/SKILL.md": "", "commands/k/e.md": "", "notes.md": "", "cmds/f.md": "",
}

// TestLoad: what the client lists of a plugin with these files (facts 120 to 122; the end-to-end
// tests compare with the client itself).
func TestLoad(t *testing.T) {
	const defaults = "p:c p:k p:sub:d"
	tests := map[string]struct {
		manifest, entry string // the entry's members after its name
		want            string
		err             string
	}{
		"nothing listed": {`{"name": "p"}`, `"source": "./p"`, defaults + " p:a-b p:x", ""},
		"no manifest":    {``, `"source": "./p"`, defaults + " p:a-b p:x", ""},
		"another name":   {`{"name": "q"}`, `"source": "./p"`, "q:c q:k q:sub:d q:a-b q:x", ""},
		"one path":       {`{"name": "p", "skills": "./more"}`, `"source": "./p"`, defaults + " p:a-b p:x p:y p:z", ""},
		"a skill by its folder": {`{"name": "p", "skills": ["./one", "./bare/"]}`, `"source": "./p"`,
			defaults + " p:a-b p:x p:named-one p:bare", ""},
		"paths that are not there": {`{"name": "p", "skills": ["./gone", "./notes.md", "./../other"]}`, `"source": "./p"`,
			defaults + " p:a-b p:x", ""},
		"the entry adds": {`{"name": "p", "skills": "./one"}`, `"source": "./p", "skills": ["./more", "./one"]`,
			defaults + " p:a-b p:x p:named-one p:y p:z", ""},
		"the entry of a root replaces": {`{"name": "p"}`, `"source": "./", "skills": ["./more"]`, defaults + " p:y p:z", ""},
		"the entry of a root keeps": {`{"name": "p"}`, `"source": "./", "skills": ["./skills", "./more"]`,
			defaults + " p:a-b p:x p:y p:z", ""},
		"the entry of a root lists nothing": {`{"name": "p"}`, `"source": "./", "skills": []`, defaults + " p:a-b p:x", ""},
		"commands replace": {`{"name": "p", "commands": ["./cmds", "./.claude-plugin/plugin.json"]}`, `"source": "./p"`,
			"p:f p:a-b p:x", ""},
		"no commands": {`{"name": "p", "commands": []}`, `"source": "./p"`, "p:a-b p:x", ""},
		"members of another type": {`{"name": "p", "hooks": 5, "skills": [5, "more"], "version": 1}`, `"source": "./p"`, defaults +
			" p:a-b p:x", ""},
		"without a name":                   {`{"skills": "./more"}`, `"source": "./p"`, "", `1:1: "name" is missing`},
		"commands of the entry":            {``, `"source": "./p", "commands": ["./notes.md"]`, defaults + " p:notes p:a-b p:x", ""},
		"an entry that lists what is gone": {``, `"source": "./p", "skills": "./gone"`, defaults + " p:a-b p:x", ""},
		"an entry that is not strict":      {``, `"source": "./p", "strict": false, "skills": ["./more"]`, defaults + " p:a-b p:x p:y p:z", ""},
		"no conflict":                      {`{"name": "p"}`, `"source": "./p", "strict": false`, defaults + " p:a-b p:x", ""},
		"an entry of a wrong form":         {``, `"source": "./p", "skills": ["more"]`, defaults + " p:a-b p:x", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := load(t, test.manifest, test.entry)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				require.ErrorAs(t, err, new(*client.FileError))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, names(p))
		})
	}
}

// load writes a plugin that has every file of has, and loads it from a directory marketplace.
func load(t require.TestingT, manifest, entry string) (*client.Plugin, error) {
	w := newWorld(nil)
	put := func(path, content string) { require.NoError(t, writeFile(w, path, content)) }
	for _, root := range []string{tree, tree + "/p"} {
		for file, own := range has {
			put(root+"/"+file, "---\nname: "+own+"\n---\n")
		}
		if manifest != "" {
			put(root+"/"+client.ManifestPath, manifest)
		}
	}
	put(registryPath, installedP)
	put(knownPath, `{"m": {"source": {"source": "directory", "path": "`+tree+`"}}}`)
	put(manifestPath, `{"plugins": [{"name": "p", `+entry+`}]}`)
	r := must(client.ReadRegistry(w, config))
	return r.Load(r.Installations()[0])
}

// names returns the names that the client lists of a plugin.
func names(p *client.Plugin) string {
	var text string
	for i, skill := range p.All() {
		if i > 0 {
			text += " "
		}
		text += skill.FullName()
	}
	return text
}

// TestFindAgreesWithAll: Find finds each skill and command that All returns, and its file.
func TestFindAgreesWithAll(t *testing.T) {
	lists := []string{"", `"./more"`, `["./one", "./more", "./skills/x"]`, `"."`, `["./gone"]`}
	commands := []string{"", `"./cmds"`, `["./commands", "./notes.md"]`}
	rapid.Check(t, func(r *rapid.T) {
		members := func(label string) (text string) {
			if value := rapid.SampledFrom(lists).Draw(r, label+"skills"); value != "" {
				text = `, "skills": ` + value
			}
			if value := rapid.SampledFrom(commands).Draw(r, label+"commands"); value != "" {
				text += `, "commands": ` + value
			}
			return text
		}
		manifest := ""
		if rapid.Bool().Draw(r, "manifest") {
			manifest = `{"name": "p"` + members("") + `}`
		}
		p := must(load(r, manifest, `"source": `+rapid.SampledFrom([]string{`"./"`, `"./p"`}).Draw(r, "source")+members("entry's ")))
		seen := map[string]bool{}
		for _, skill := range p.All() {
			if seen[skill.Name] {
				continue
			}
			seen[skill.Name] = true
			found, ok := p.Find(skill.Name)
			require.True(r, ok, skill.Name)
			require.Equal(r, skill.File, found.File, skill.Name)
			require.Equal(r, skill.Folder(), found.Folder())
		}
		for _, name := range []string{"x", "own-x", "a-b", "a.b", "named-one", "one", "y", "z", "bare", "c", "d", "sub:d", "k", "k:e", "e",
			"n", "t", "notes", "f", "commands", "nobody"} {
			_, ok := p.Find(name)
			require.Equal(r, slices.ContainsFunc(p.All(), func(s client.Skill) bool { return s.Name == name }), ok, name)
		}
	})
}

// TestNamesOfASkill: the names in addition to the one by which the client lists a skill (fact
// 121).
func TestNamesOfASkill(t *testing.T) {
	for own, want := range map[string][2]string{
		"x":         {"p:x", "x"},
		"two words": {"p:two words", "two words"},
		"a:b":       {"p:a:b", ""},
		"p:own":     {"p:own", ""},
		"":          {},
	} {
		w := newWorld(t)
		w.put("/p/skills/folder/SKILL.md", "---\nname: "+own+"\n---\n")
		scoped, bare, _ := must(client.LoadDir(w, "/p")).All()[0].OwnNames()
		assert.Equal(t, want, [2]string{scoped, bare}, own)
	}
}

// TestWhichOfTwoIsTheSkill: of a command's file and a folder; the manifest has a byte order mark (fact 169).
func TestWhichOfTwoIsTheSkill(t *testing.T) {
	root := t.TempDir()
	at := func(path string) string { return filepath.Join(root, path) }
	for path, content := range map[string]string{
		"commands/x.md": "file", "commands/x/SKILL.md": "folder", "skills/real/SKILL.md": "", client.ManifestPath: "\ufeff{\"name\": \"q\"}",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(at(path)), 0o755))
		require.NoError(t, os.WriteFile(at(path), []byte(content), 0o644))
	}

	p, err := client.LoadDir(locator.OS{}, root)

	require.NoError(t, err)
	assert.Equal(t, "q:x q:real", names(p))
	assert.Equal(t, at("commands/x.md"), p.All()[0].File)
	found, ok := p.Find("x")
	assert.True(t, ok)
	assert.Equal(t, at("commands/x.md"), found.File)
}

// TestRegistryOfOnePlugin: an entry that cannot be used hides no other.
func TestRegistryOfOnePlugin(t *testing.T) {
	w := newWorld(t)
	r := w.registry(`{"version": 2, "plugins": {"p@m": [{"scope": "user", "installPath": "/p"}, {"scope": 1}], "q@m": 7}}`)
	assert.Len(t, r.Of("p"), 1)
	assert.Len(t, r.Problems(), 2)
	assert.Empty(t, r.Of("nobody"))
}

// TestAPluginWithoutAnEntryInTheRegistry: a directory marketplace has it and the settings
// enable it (fact 123).
func TestAPluginWithoutAnEntryInTheRegistry(t *testing.T) {
	w := newWorld(t)
	w.put(tree+"/p/skills/s/SKILL.md", "")
	w.put(manifestPath, `{"plugins": [{"name": "p", "source": "./p"}]}`)
	w.put(knownPath, `{"m": {"source": {"source": "directory", "path": "`+tree+`"}}}`)
	w.put(config+"/settings.json", `{"enabledPlugins": {"p@m": true, "p@gone": true, "q@m": true}}`)
	settings := client.ReadSettings(w, config, "")
	r := w.registry(`{"version": 2, "plugins": {}}`)
	var dirs []string
	for _, in := range r.Enabled(settings, project) {
		dirs = append(dirs, r.Root(in).Dir)
	}
	assert.Equal(t, []string{tree + "/p"}, dirs)
}
