package locator_test

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/locator"
	"github.com/fsmtx/fsmtx/locator/aferofs"
)

func TestInvalidNames(t *testing.T) {
	tests := []struct{ command, reason string }{
		{"", "it is empty"},
		{":", "it has an empty part"},
		{"p:", "it has an empty part"},
		{":s", "it has an empty part"},
		{"p::s", "it has an empty part"},
		{".", `it has a part "."`},
		{"..", `it has a part ".."`},
		{"p:..", `it has a part ".."`},
		{"..:s", `it has a part ".."`},
		{"p:.:s", `it has a part "."`},
		{"/", "it contains a path separator"},
		{"p:../../etc", "it contains a path separator"},
		{`p:..\..\etc`, "it contains a path separator"},
		{"a/b", "it contains a path separator"},
		{"a/b:c:d", "it contains a path separator"},
		{`a\b:c`, "it contains a path separator"},
		{"/a:b", "it has an empty part"},
		{"a//b:c", "it has an empty part"},
		{"a/../b:c", `it has a part ".."`},
		{"./a:b", `it has a part "."`},
		{"a\x00b", "it contains a control character"},
		{"a\nb", "it contains a control character"},
		{"a\x7f", "it contains a control character"},
		{"a\u0085", "it contains a control character"},
		{"a\x1b[31m", "it contains a control character"},
		{"a\xff", "it is not valid UTF-8"},
		{strings.Repeat("x", 4097), "it is longer than 4096 bytes"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			// FS is nil, so that any access to a path would panic.
			result, err := (&locator.Locator{ConfigDir: config}).Locate(test.command, project)
			var nameErr *locator.NameError
			require.ErrorAs(t, err, &nameErr)
			assert.Equal(t, test.reason, nameErr.Reason)
			assert.Equal(t, test.command, nameErr.Name)
			assert.Contains(t, err.Error(), `command name "`)
			assert.NotContains(t, err.Error(), "\x1b")
			assert.Less(t, len(err.Error()), 300)
			assert.Empty(t, result.Steps)
		})
	}
}

func TestValidNames(t *testing.T) {
	for _, command := range []string{"s", "my-plugin:my-skill", "a:b:c", "...", ".hidden", "mit Leerzeichen", "übung", "技能", "a..b",
		"a@b:c", "-x", "apps/web:deploy", "a/b/c:d", strings.Repeat("x", 4096)} {
		assert.NoError(t, locator.CheckName(command), command)
	}
}

func TestNameErrorQuotesAtMost200Bytes(t *testing.T) {
	const reason = ": it contains a path separator"
	assert.EqualError(t, locator.CheckName("/"+strings.Repeat("x", 199)), `invalid command name "/`+strings.Repeat("x", 199)+`"`+reason)
	assert.EqualError(t, locator.CheckName("/"+strings.Repeat("x", 200)), `invalid command name "/`+strings.Repeat("x", 199)+`"...`+reason)
}

// everything is a file system that has an fsm.json at every path for which exists returns
// true.
type everything struct {
	locator.FS
	exists func(path string) bool
}

func (e everything) Lstat(path string) (fs.FileInfo, error) {
	if filepath.Base(path) == "fsm.json" && e.exists(path) {
		return nil, nil
	}
	return e.FS.Lstat(path)
}

// hostile generates names from the parts of paths.
func hostile() *rapid.Generator[string] {
	atom := rapid.SampledFrom([]string{
		"p", "q", "s", "alias", ":", ":", "..", ".", "/", `\`, "~", " ", "\x00", "\n", "%2e%2e", "%2f", "\u2024\u2024", "\uff0f", "\u202e",
		"\xc0\xae", "@", "*", "$HOME", "C:", "-",
	})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(atom, 0, 8).Draw(t, "atoms"), "")
	})
}

func TestNoNameLeavesTheRoots(t *testing.T) {
	roots := []string{project + "/.claude/skills", config + "/skills", started + "/.claude/skills", "/cache/p", "/cache/q", "/dev/d"}
	w := newWorld(t)
	w.put(registry, objectOf(entry{"p@m", "user", "", "/cache/x/../p/", ""}, entry{"q@m", "local", started, "/cache/q", ""}))
	w.put("/cache/p/skills/folder/SKILL.md", "---\nname: alias\n---\n")
	w.put("/dev/d/.claude-plugin/plugin.json", `{"name": "s"}`)
	w.put("/cache/p/commands/p.md", "")
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		below := rapid.SampledFrom(append(roots, "/")).Draw(t, "below")
		l := locator.Locator{
			FS:         everything{w.FS, func(path string) bool { return strings.HasPrefix(path, below) }},
			ConfigDir:  config,
			ProjectDir: started,
			PluginDirs: []string{"/dev/d"},
		}
		command := hostile().Draw(t, "command")
		result, err := l.Locate(command, rapid.SampledFrom([]string{project, "", "x/y"}).Draw(t, "cwd"))
		if checked := locator.CheckName(command); checked != nil {
			require.Equal(t, checked, err)
			require.False(t, result.Found())
			return
		}
		require.NoError(t, err)
		if !result.Found() {
			return
		}
		found++
		require.Equal(t, path.Clean(result.Path), result.Path)
		inside := false
		for _, root := range roots {
			rest, ok := strings.CutPrefix(result.Path, root+"/")
			inside = inside || ok && strings.Count(rest, "/") >= 1
		}
		require.True(t, inside, result.Path)
		require.Equal(t, "fsm.json", filepath.Base(result.Path))
	})
	require.NotZero(t, found)
}

// clientFiles are files of the client, whose content is not trusted.
var clientFiles = []string{
	registry, known, config + "/settings.json", project + "/.claude/settings.json",
	tree + "/.claude-plugin/marketplace.json", tree + "/p/skills/folder/SKILL.md", "/dev/d/.claude-plugin/plugin.json",
}

// seeds are files of every kind.
var seeds = []string{
	objectOf(entry{"p@m", "local", project, "/cache/p", "2026-01-01T00:00:00Z"}),
	arrayOf(entry{"p@1.0.0", "user", "", "/cache/p", ""}),
	`{"m": {"source": {"source": "directory", "path": "/src/market"}, "installLocation": "/src/market"}}`,
	`{"enabledPlugins": {"p@m": false, "q@m": true, "r@m": ["1"]}}`,
	`{"plugins": [{"name": "p", "source": "./p"}]}`,
	"---\nname: alias\n---\n",
	`{"name": "d"}`,
	`{"name": "d", "version": "1", "skills": ["./skills", "./../../etc", "."], ` +
		`"commands": {"x": {"source": "./../up"}, "y": {"content": "c"}}}`,
	`{"metadata": {"pluginRoot": "./"}, "plugins": [{"name": "p", "source": "./", "strict": false, ` +
		`"skills": ["./skills/folder"], "commands": "./skills"}]}`,
	"{\"version\": 2, \"plugins\": {\"@\": [{}], \"\xff\": 1, \"p@m\": [[[[", strings.Repeat("[", 20000), "\x00", "---\n&a [*a]\n---\n",
}

// content generates a seed, or one with a part replaced.
func content() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		seed := []byte(rapid.SampledFrom(seeds).Draw(t, "seed"))
		if rapid.Bool().Draw(t, "whole") {
			return seed
		}
		from := rapid.IntRange(0, len(seed)).Draw(t, "from")
		to := rapid.IntRange(from, len(seed)).Draw(t, "to")
		piece := rapid.OneOf(rapid.SliceOfN(rapid.Byte(), 0, 6), rapid.SampledFrom([][]byte{[]byte("null"), []byte("{}"), []byte("[]"),
			[]byte(`"x"`), []byte("1e999"), []byte(`"\ud800"`)})).Draw(t, "piece")
		return append(append(append([]byte{}, seed[:from]...), piece...), seed[to:]...)
	})
}

func TestNoContentOfTheClientsFilesPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := afero.NewMemMapFs()
		for _, file := range clientFiles {
			require.NoError(t, afero.WriteFile(mem, file, content().Draw(t, file), 0o644))
		}
		files := aferofs.New(mem)
		l := locator.Locator{FS: files, ConfigDir: config, ProjectDir: project, PluginDirs: []string{"/dev/d"}}
		_, _ = l.Workflows(project)
		l.Invoked = rapid.Bool().Draw(t, "invoked")
		for _, command := range []string{"alias", "p:folder", "d:x:y"} {
			_, err := l.Locate(command, project)
			if err != nil {
				_, typed := errors.AsType[*locator.RegistryError](err)
				require.True(t, typed, "%v", err)
				require.NotEmpty(t, err.Error())
			}
		}
	})
}
