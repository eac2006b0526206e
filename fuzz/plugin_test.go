package fuzz_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// FuzzRegistry parses any bytes as a registry of plugins. Each entry that is accepted is
// valid, and is the same after it was written in the client's own form and parsed again.
// An error has a line and a column.
func FuzzRegistry(f *testing.F) {
	seed(f,
		`{"version": 2, "plugins": {"p@m": [{"scope": "user", "installPath": "/i", "version": "1", "lastUpdated": "2026-01-01T00:00:00Z"}]}}`,
		`{"version": 2, "plugins": {"p@m": [{"scope": "project", "projectPath": "/p", "installPath": "/i", `+
			`"lastUpdated": "2026-01-01T00:00:00.123+02:00"}, {"scope": "local", "projectPath": "/p", "installPath": "/j"}]}}`,
		`[{"name": "p@1.0.0", "scope": "user", "installPath": "/i"}, {"name": "p", "scope": "user"}, {"name": "@", "scope": "x"}, 1, null]`,
		`{"version": 2, "plugins": {"a@b@c": [{"scope": "user", "installPath": "../i"}], "@": [{}], "x": 1, "y@z": [null]}}`,
		`{"version": 1, "plugins": {}}`, `{"version": 2}`, `{"version": 2.0, "plugins": []}`, `{"version": "2", "plugins": {}}`, `{}`, `[]`,
		`null`, ``, `[[[[`,
		"{\"version\": 2, \"version\": 3, \"plugins\": {\"\xff@m\": [{\"scope\": \"user\", \"installPath\": \"/\xff\"}]}}",
	)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := client.ParseRegistry("registry", bytes.Clone(data))
		if err != nil {
			require.ErrorIs(t, err, client.ErrBadFile)
			require.Regexp(t, `^registry:[0-9]+:[0-9]+: .`, err.Error())
			return
		}
		written := map[string][]map[string]string{}
		for _, in := range r.Installations() {
			checkInstallation(t, in)
			written[in.Key] = append(written[in.Key], registryEntry(in))
		}
		again := must(client.ParseRegistry("registry", must(json.Marshal(map[string]any{"version": 2, "plugins": written}))))
		require.Empty(t, again.Problems())
		require.Equal(t, lines(r), lines(again))
		require.Len(t, r.Applying("/p"), len(r.Applying())+len(slices.DeleteFunc(r.Installations(), func(in client.Installation) bool {
			return in.ProjectPath == "" || !within("/p", in.ProjectPath)
		})))
	})
}

func checkInstallation(t *testing.T, in client.Installation) {
	plugin, marketplace, named := strings.Cut(in.Key, "@")
	require.True(t, named)
	require.NotEmpty(t, plugin)
	require.Equal(t, []string{plugin, marketplace}, []string{in.Plugin, in.Marketplace})
	require.Contains(t, []string{"user", "project", "local"}, in.Scope)
	require.True(t, filepath.IsAbs(in.InstallPath))
	require.Equal(t, in.Scope != "user", filepath.IsAbs(in.ProjectPath))
	require.Equal(t, in.Scope == "user", in.ProjectPath == "")
}

func registryEntry(in client.Installation) map[string]string {
	m := map[string]string{"scope": in.Scope, "installPath": in.InstallPath}
	if in.ProjectPath != "" {
		m["projectPath"] = in.ProjectPath
	}
	if !in.LastUpdated.IsZero() {
		m["lastUpdated"] = in.LastUpdated.Format(time.RFC3339Nano)
	}
	return m
}

func lines(r *client.Registry) (all []string) {
	for _, in := range r.Installations() {
		in.LastUpdated = in.LastUpdated.UTC()
		all = append(all, fmt.Sprintf("%q", []string{in.Key, in.Scope, in.ProjectPath, in.InstallPath, in.LastUpdated.Format(time.RFC3339Nano)}))
	}
	slices.Sort(all)
	return all
}

func within(dir, project string) bool {
	rel, err := filepath.Rel(project, dir)
	return err == nil && filepath.IsLocal(rel)
}

// FuzzMarketplaces checks from which directory a plugin is read: from the source tree of its
// marketplace if known_marketplaces.json has the tree and the marketplace's manifest the
// plugin, otherwise from where it was installed. In the inputs TREE is replaced by the path
// of the source tree.
func FuzzMarketplaces(f *testing.F) {
	const known, manifest = `{"m": {"source": {"source": "directory", "path": "TREE"}}}`, `{"plugins": [{"name": "p", "source": "./p"}]}`
	for _, seed := range [][2]string{
		{known, manifest}, {known, `{"plugins": [{"name": "p", "source": "../outside"}]}`},
		{known, `{"plugins": [{"name": "p", "source": "/outside"}]}`},
		{known, `{"plugins": [{"name": "q", "source": "p"}, null, {"name": "p", "source": {"source": "github"}}]}`},
		{known, `{"plugins": {}}`}, {known, ``},
		{`{"m": {"source": {"source": "git", "path": "TREE"}}}`, manifest},
		{`{"m": {"source": {"source": "directory", "path": "tree"}}}`, manifest},
		{`{"m": {"source": {"source": "directory", "path": "TREE/../outside"}}}`, manifest},
		{`{"m": {"source": "directory"}, "m": {}}`, manifest},
		{`{"m": null}`, manifest}, {`[]`, manifest}, {``, manifest}, {known,
			"{\"plugins\": [{\"name\": \"\xff\"}, {\"name\": \"p\", \"source\": \"p\\u0000\"}]}"},
		{known, `{"plugins": [{"name": "p", "source": "."}]}`}, {known, `{"plugins": [{"name": "p", "source": "nowhere"}]}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, known, manifest []byte) {
		skipIfTooLong(t, known)
		skipIfTooLong(t, manifest)
		h := newHome(t)
		tree, install := h.path("tree"), h.path("install")
		known = bytes.ReplaceAll(known, []byte("TREE"), []byte(tree))
		h.write(".claude/plugins/installed_plugins.json",
			fmt.Appendf(nil, `{"version": 2, "plugins": {"p@m": [{"scope": "user", "installPath": %q}]}}`, install))
		h.write(".claude/plugins/known_marketplaces.json", known)
		h.write("tree/.claude-plugin/marketplace.json", manifest)
		for _, dir := range []string{"tree/p", "tree/q", "install", "outside"} {
			h.write(dir+"/skills/x/fsm.json", []byte(`[]`))
		}
		want := filepath.Join(pluginDirByDecoding(known, manifest, tree, install), "skills/x/fsm.json")
		if _, err := os.Stat(want); err != nil {
			want = ""
		}
		require.Equal(t, want, h.locate("p:x"))
	})
}

// locate returns the fsm.json that the program finds for a name, "" if there is none.
func (h *home) locate(name string) string {
	here, err := os.Getwd()
	require.NoError(h.t, err)
	require.NoError(h.t, os.Chdir(h.dir))
	code, stdout, stderr := h.run("locate", name, "--json")
	require.NoError(h.t, os.Chdir(here))
	var found struct {
		Path string `json:"path"`
	}
	require.NoError(h.t, json.Unmarshal([]byte(stdout), &found), "%s%s", stdout, stderr)
	require.Equal(h.t, found.Path != "", code == 0, "%s", stderr)
	return found.Path
}

// pluginDirByDecoding returns the directory of the plugin p of the marketplace m. Unlike the
// program it decodes both files as a whole.
func pluginDirByDecoding(known, manifest []byte, tree, install string) string {
	source := members(members(members(known)["m"])["source"])
	at := text(source, "path")
	if text(source, "source") != "directory" || !filepath.IsAbs(at) || filepath.Clean(at) != tree {
		return install
	}
	var list []jsontext.Value
	_ = json.Unmarshal(members(manifest)["plugins"], &list, jsonx.Tolerant)
	for _, v := range list {
		if p := members(v); text(p, "name") == "p" {
			dir := filepath.Join(tree, text(p, "source"))
			info, err := os.Stat(dir)
			if text(p, "source") != "" && filepath.IsLocal(text(p, "source")) && err == nil && info.IsDir() {
				return dir
			}
			break
		}
	}
	return install
}

// FuzzFrontmatter checks that a skill is found by the name in its frontmatter, and
// that neither a byte order mark nor the text after the frontmatter matters.
func FuzzFrontmatter(f *testing.F) {
	seed(f,
		"---\nname: alias\ndescription: d\n---\ntext\n", "---\r\nname: \"alias\"\r\n---\r\n", "---\nname: 'alias'\n---",
		"---\nname: >-\n  alias\n---\n",
		"---\nname: \"\\x61lias\"\n---\n", "---\ndescription: a: b\nname: alias\n---\n", "---\nx: &a alias\nname: *a\n---\n",
		"---\nname: alias # comment\n--- \n",
		"--- \nname: [alias]\n---\n", "---\nname: 1\n---\n", "---\nname: alias\n", "----\nname: alias\n---\n", " ---\nname: alias\n---\n",
		"", "---\n---\n",
		"---\nname: alias\nname: other\n---\n", "---\na: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\nd: [*c,*c,*c]\nname: alias\n---\n",
		"---\n"+strings.Repeat("[", 2000)+"\n---\n",
		"---\n\x00\xff\nname: alias\n---\n", "---\n? name\n: alias\n---\n", "---\n{name: alias}\n---\n", "---\nname: !!binary YWxpYXM=\n---\n",
	)
	f.Fuzz(func(t *testing.T, data []byte) {
		skipIfTooLong(t, data)
		name, err := frontmatter.SkillName(bytes.Clone(data))
		if err != nil {
			require.Empty(t, name)
		}
		if !bytes.HasPrefix(data, []byte("\ufeff")) {
			marked, markedErr := frontmatter.SkillName(append([]byte("\ufeff"), data...))
			require.Equal(t, name, marked)
			require.Equal(t, err == nil, markedErr == nil)
		}
		if name != "" {
			require.Equal(t, name, must(frontmatter.SkillName(append(bytes.Clone(data), "\n---\nname: other\n---\n"...))))
		}
		h := newHome(t)
		h.write(".claude/plugins/installed_plugins.json",
			fmt.Appendf(nil, `{"version": 2, "plugins": {"p@m": [{"scope": "user", "installPath": %q}]}}`, h.path("install")))
		h.write("install/skills/folder/SKILL.md", data)
		h.write("install/skills/folder/fsm.json", []byte(`[]`))
		// with a tag such as !!binary the name is in other bytes, which the program does not recognise
		if found := h.locate("alias") != ""; !bytes.Contains(data, []byte("!")) {
			require.Equal(t, name == "alias", found, "%q", name)
		}
	})
}
