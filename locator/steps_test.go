package locator_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// steps joins lines to the text that explain returns.
func steps(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

func TestStepsOfAPlainName(t *testing.T) {
	w := newWorld(t)
	w.ProjectDir = started
	w.AddDirs = []string{"/added"}
	assert.Equal(t, steps(
		"user skill | /home/me/.claude/skills/s/SKILL.md | absent | ",
		"project skill | /projects/started/.claude/skills/s/SKILL.md | absent | ",
		"parent skill | /projects/.claude/skills/s/SKILL.md | absent | ",
		"parent skill | /.claude/skills/s/SKILL.md | absent | ",
		"added directory | /added/.claude/skills/s/SKILL.md | absent | ",
		"frontmatter |  | absent | no skill with an fsm.json gives itself this name",
		"project skill | /projects/myapp/.claude/skills/s/fsm.json | absent | ",
		"user skill | /home/me/.claude/skills/s/fsm.json | absent | ",
		"project directory | /projects/started/.claude/skills/s/fsm.json | absent | ",
	), explain(w.locate("s", project)))

	w.ConfigDir, w.ProjectDir, w.AddDirs = "", "started", []string{"added"}
	assert.Equal(t, steps(
		"frontmatter |  | absent | no skill with an fsm.json gives itself this name",
		`project skill |  | skipped | cwd is "", which is not an absolute path`,
		"user skill |  | skipped | the configuration directory is unknown",
		`project directory |  | skipped | CLAUDE_PROJECT_DIR is "started", which is not an absolute path`,
	), explain(w.locate("s", "")))
}

func TestStepsOfAnAlias(t *testing.T) {
	w := newWorld(t)
	w.PluginDirs = []string{"relative", "/gone", "/dev/p"}
	w.put("/dev/p/.claude-plugin/plugin.json", "{")
	w.put(registry, objectOf(entry{"off@m", "user", "", "/off", ""}))
	settings := w.put(config+"/settings.json", `{"enabledPlugins": {"off@m": false}}`)
	for _, root := range []string{"/dev/p", "/off"} {
		w.put(root+"/skills/folder/SKILL.md", "---\nname: alias\n---\n")
		w.skill(root + "/skills/folder")
	}
	assert.Equal(t, steps(
		"user skill | /home/me/.claude/skills/alias/SKILL.md | absent | ",
		"project skill | /projects/myapp/.claude/skills/alias/SKILL.md | absent | ",
		"parent skill | /projects/.claude/skills/alias/SKILL.md | absent | ",
		"parent skill | /.claude/skills/alias/SKILL.md | absent | ",
		`plugin directory |  | skipped | "relative" is not an absolute path`,
		"plugin directory | /gone | absent | ",
		"plugin directory | /dev/p | failed | /dev/p/.claude-plugin/plugin.json:1:2: unexpected end of file: the { at 1:1 is not closed; "+
			"the client does not load the plugin",
		"plugin registry | /off | skipped | off@m, scope user: disabled in "+settings,
		"frontmatter |  | absent | no skill with an fsm.json gives itself this name",
		"project skill | /projects/myapp/.claude/skills/alias/fsm.json | absent | ",
		"user skill | /home/me/.claude/skills/alias/fsm.json | absent | ",
	), explain(w.locate("alias", project)))

	w.put("/dev/p/.claude-plugin/plugin.json", `{"name": "p"}`)
	w.put("/dev/p/commands/c.md", "---\nname: other\n---\n")
	for name, want := range map[string]string{"p:alias": "| /dev/p/skills/folder/SKILL.md | found | the client runs this skill\n",
		"p:other": "| /dev/p/commands/c.md | found | the client runs this command\n"} {
		assert.Contains(t, explain(w.locate(name, project)), want)
	}
}

func TestStepsOfAPluginsSkill(t *testing.T) {
	w := newWorld(t)
	w.ProjectDir = started
	w.PluginDirs = []string{"/dev/q", "/dev/p", "/other/p"}
	for _, dir := range []string{"/dev/q", "/dev/p", "/other/p"} {
		require.NoError(t, w.mem.MkdirAll(dir+"/skills", 0o755))
	}
	w.put(registry, objectOf(
		entry{"p@a", "user", "", "/a", "2026-01-02T03:04:05Z"},
		entry{"p@b", "project", project, "/b", ""},
		entry{"p@c", "local", started, "/c", ""},
	))
	w.put(known, `{"c": {"source": {"source": "directory", "path": "/src/market"}}}`)
	assert.Equal(t, steps(
		`plugin directory | /dev/q | skipped | this is the plugin "q"`,
		"plugin directory | /dev/p | found | ",
		"plugin directory | /other/p | skipped | the directory before it has the same plugin name",
		"nested skill | /projects/started/p/.claude/skills/s/SKILL.md | absent | ",
		"plugin skill | /dev/p/skills/s/fsm.json | absent | ",
		"plugin command | /dev/p/commands/s/fsm.json | absent | ",
	), explain(w.locate("p:s", project)))

	w.PluginDirs = nil
	assert.Equal(t, steps(
		"plugin registry | /b | skipped | p@b, scope project: its project /projects/myapp is not that of \"/projects/started\"",
		"marketplace | /c | failed | p@c: /src/market/.claude-plugin/marketplace.json: file does not exist; reading the installed copy",
		"plugin registry | /c | found | p@c, scope local",
		"plugin registry | /a | skipped | p@a, scope user, updated 2026-01-02T03:04:05Z: another one takes precedence",
		"nested skill | /projects/started/p/.claude/skills/s/SKILL.md | absent | ",
		"plugin skill | /c/skills/s/fsm.json | absent | ",
		"plugin command | /c/commands/s/fsm.json | absent | ",
	), explain(w.locate("p:s", project)))
}

func TestStepsOfAPluginThatIsNotInstalled(t *testing.T) {
	w := newWorld(t)
	w.ProjectDir = started
	w.put(registry, objectOf())
	assert.Equal(t, steps(
		"plugin registry | "+registry+" | absent | no installation of p applies",
		"nested skill | /projects/started/p/.claude/skills/s/SKILL.md | absent | ",
		"project skill | /projects/myapp/.claude/skills/s/fsm.json | absent | ",
		"user skill | /home/me/.claude/skills/s/fsm.json | absent | ",
		"project directory | /projects/started/.claude/skills/s/fsm.json | absent | ",
	), explain(w.locate("p:s", project)))
}
