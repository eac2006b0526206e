//go:build e2e

package e2e

// catalogs has a catalog for each form in which plugins list skills and commands, of those that the search knows at the call.
var catalogs = map[string]string{
	"two plugins of one root": `
skill market/skills/x xname
skill market/skills/y y
skill market/skills/z
skill market/skills/other
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [
	{"name": "p1", "source": "./", "strict": false, "skills": ["./skills/x", "./skills/y"]},
	{"name": "p2", "source": "./", "strict": false, "skills": ["./skills/y", "./skills/z"]}]}
`,
	"names of packages and letters of other scripts": `
skill market/p/skills/plain 名前
skill market/q/skills/c
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p/"}, {"name": "q", "source": "./q"}]}
-- market/q/.claude-plugin/plugin.json --
{"name": "@scope/tools"}
`,
	"without a manifest": `
skill market/plugins/p/skills/a aa
skill market/plugins/p/extra/b bb
skill market/plugins/q root name
skill market/plugins/q/other/c
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [
	{"name": "p", "source": "./plugins/p", "skills": "./extra"}, {"name": "q", "source": "./plugins/q"}]}
`,
	"two plugins of one name": `
skill market/p/skills/a x
skill market/q/skills/a x
skill market/q/skills/b y
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p"}, {"name": "q", "source": "./q"}]}
-- market/p/.claude-plugin/plugin.json --
{"name": "same"}
-- market/q/.claude-plugin/plugin.json --
{"name": "same"}
`,
	"directories of plugins": `
plugin-dir plain
plugin-dir itself
plugin-dir torn
skill plain/skills/f
skill itself own
skill torn/skills/g
-- torn/.claude-plugin/plugin.json --
{
`,
	"commands of the project": `
skill market/sub/skills/y
skill market/sub/skills/w n
command project/.claude/commands/sub/y.md
command project/.claude/commands/zs/SKILL.md zsname
command project/.claude/commands/zs/x.md
command project/.claude/commands/low/SKILL.md
command project/.claude/commands/low/x.md
command project/.claude/commands/both.md
command project/.claude/commands/both/SKILL.md
command project/.claude/commands/in/both/SKILL.md
command project/.claude/commands/in/both.md
skill project/.claude/skills/own sub:n
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "sub", "source": "./sub"}]}
`,
	"a file and a folder of one name": `
command market/p/commands/x.md one
command market/p/commands/x/SKILL.md two
command market/p/commands/sub/y.md three
command market/p/commands/sub/y/SKILL.md four
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p"}]}
`,
	"a byte order mark": "\nskill market/p/skills/x xn\nskill market/p/more/y yn\n-- market/p/.claude-plugin/plugin.json " +
		"--\n\ufeff{\"name\": \"p\", \"skills\": \"./more\"}\n" + `
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p"}]}
`,
}
