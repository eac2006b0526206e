//go:build e2e

package e2e

// catalogs has a catalog for each form in which plugins list skills and commands.
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
	"two plugins of one root and one manifest": `
skill market/skills/x
skill market/more/z x
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "r", "source": ".", "skills": ["./more"]}, {"name": "q", "source": "./"}]}
-- market/.claude-plugin/plugin.json --
{"name": "r"}
`,
	"two plugins of one root, one without a list": `
skill market/skills/x
skill market/one x
skill market/skills/y x
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./"}, {"name": "q", "source": "./", "skills": ["./skills/x", "./one"]}]}
`,
	"two plugins of one root, one with it": `
skill market root
skill market/skills/x
skill market/one x
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./", "skills": ["./skills/x", "./one"]}, {"name": "q", "source": "./", "skills": "."}]}
`,
	"two plugins of one root and one name, one with more": `
skill market/skills/a.b q:x
skill market/skills/x own
skill market/more/y q:x
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./"}, {"name": "q", "source": "./", "skills": ["./skills/x", "./more"]}]}
-- market/.claude-plugin/plugin.json --
{"name": "q"}
`,
	"skills of one name or one file": `
skill home/.claude/skills/dup du
skill project/.claude/skills/dup dp
skill home/.claude/skills/z zz
link project/.claude/skills/lz ../../../home/.claude/skills/z
skill market/p/x/y/z deep one
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p"}]}
-- market/p/.claude-plugin/plugin.json --
{"name": "p", "skills": ["./x/y", "./x//y/z/"]}
`,
	"members that are not of skills": `
skill market/a/skills/s
skill market/b/skills/s
skill market/c/skills/s
skill market/d/skills/s
skill market/e/skills/s
skill market/f/skills/s
skill outside/skills/s
link market/g ../outside
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "a", "source": "./a"}, {"name": "b", "source": "./b"}, {"name": "c", "source": "./c"}, {"name": "d", "source": "./d"},
	{"name": "e", "source": "./x/../e"}, {"name": "f", "source": "./gone/f"}, {"name": "g", "source": "./g"}]}
-- market/a/.claude-plugin/plugin.json --
{"name": "a", "hooks": {"PreToolUse": "x"}}
-- market/b/.claude-plugin/plugin.json --
{"name": "b", "mcpServers": {"x": {}}, "keywords": "x"}
-- market/c/.claude-plugin/plugin.json --
{"name": "c", "hooks": {"PostToolUse": "x"}, "mcpServers": {"x": {"command": "gone"}}, "engines": 5, "dependencies": ["d"]}
-- market/d/.claude-plugin/plugin.json --
{"name": "d", "outputStyles": "./gone", "userConfig": {"x": {"type": "string", "title": "t", "description": "d"}}}
`,
	"names of packages and letters of other scripts": `
skill market/p/skills/plain 名前
skill market/q/skills/c
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p/"}, {"name": "q", "source": "./q"}]}
-- market/q/.claude-plugin/plugin.json --
{"name": "@scope/tools"}
`,
	"commands by name in an entry": `
command market/p/notes.md two words
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p", "strict": false, "commands": {"about": {"source": "./notes.md"}, "said": {"content": "BODY"}}}]}
`,
	"names that the client changes": `
skill market/p/skills/a.b dot name
skill market/p/extra/e1 e name
skill market/p/extra/e2 e:2
skill market/p/one/deep deep.name here
skill market/p/two/d.f
skill market/p/skills/num 1.0
skill market/p/skills/list [a, b]
skill market/p/skills/less a<b
command market/p/commands/c.md
command market/p/commands/s/SKILL.md sn
command market/p/commands/s/extra.md
command market/p/commands/n/m.md mm
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p"}]}
-- market/p/.claude-plugin/plugin.json --
{"name": "pn", "skills": ["./extra", "./one/deep", "./two/d.f/"]}
`,
	"commands by name": `
command market/p/about.md
command market/p/commands/c.md
command market/p/sub/q.md
command market/p/more/r.md own
command market/p/one.md
command market/p/commands/said/x.md
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p", "commands": ["./more", "./one.md"]}]}
-- market/p/.claude-plugin/plugin.json --
{"name": "p", "commands": {"info": {"source": "./about.md"}, "said": {"content": "BODY"}, "dir": {"source": "./sub"}}}
-- market/p/commands/said/fsm.json --
[]
`,
	"without a manifest": `
skill market/plugins/p/skills/a aa
skill market/plugins/p/extra/b bb
skill market/plugins/q root name
skill market/plugins/q/other/c
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "metadata": {"pluginRoot": "./plugins"}, "plugins": [
	{"name": "p", "source": "p", "skills": "./extra"}, {"name": "q", "source": "./plugins/q"}]}
`,
	"a conflict": `
skill market/p/skills/a
skill market/p/extra/b
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p", "strict": false, "skills": ["./extra"]}]}
-- market/p/.claude-plugin/plugin.json --
{"name": "p"}
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
	"manifests that are not valid": `
skill market/noname/skills/a
skill market/nodot/skills/b
skill market/up/skills/c
skill market/typ/skills/d
skill market/file/skills/e
skill market/file/extra/f
skill market/null/skills/g
skill market/shown/skills/h
skill market/version/skills/i
skill market/torn/skills/j
skill market/space/skills/k
skill market/agents/skills/l
skill market/empty/skills/n
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [
	{"name": "noname", "source": "./noname"}, {"name": "nodot", "source": "./nodot"}, {"name": "up", "source": "./up"}, {"name": "typ", "source": "./typ"},
	{"name": "file", "source": "./file"}, {"name": "null", "source": "./null"}, {"name": "shown", "source": "./shown"}, {"name": "version", "source": "./version"},
	{"name": "torn", "source": "./torn"}, {"name": "space", "source": "./space"}, {"name": "agents", "source": "./agents"}, {"name": "empty", "source": "./empty"}]}
-- market/noname/.claude-plugin/plugin.json --
{"version": "1"}
-- market/nodot/.claude-plugin/plugin.json --
{"name": "nodot", "skills": ["extra"]}
-- market/up/.claude-plugin/plugin.json --
{"name": "up", "skills": ["./../file/extra"]}
-- market/typ/.claude-plugin/plugin.json --
{"name": "typ", "skills": 5}
-- market/file/.claude-plugin/plugin.json --
{"name": "file", "skills": ["./skills/e/SKILL.md", "./extra/f", "./gone"]}
-- market/null/.claude-plugin/plugin.json --
{"name": "null", "skills": null}
-- market/shown/.claude-plugin/plugin.json --
{"name": "shown", "description": 5, "author": 7, "unknown": true}
-- market/version/.claude-plugin/plugin.json --
{"name": "version", "version": 5}
-- market/torn/.claude-plugin/plugin.json --
{
-- market/space/.claude-plugin/plugin.json --
{"name": "s p"}
-- market/agents/.claude-plugin/plugin.json --
{"name": "agents", "agents": "./agents/"}
-- market/empty/.claude-plugin/plugin.json --
{"name": "empty", "commands": [], "skills": []}
`,
	"entries that are not valid": `
skill market/p/skills/a
skill market/p/extra/b
skill market/q/skills/q
skill market/r/skills/r
skill market/s/skills/s
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [
	{"name": "nodot", "source": "./p", "skills": ["extra"]}, {"name": "dup", "source": "./q"}, {"name": "dup", "source": "./r"},
	{"name": "shown", "source": "./s", "description": 5, "skills": "./extra"}]}
`,
	"links": `
skill market/p/real rn
skill market/out/o
skill home/outside/h
command home/outside/c.md
skill market/q/x/y
command market/p/commands/real.md
command market/p/cdir/in.md
skill home/.claude/skills/mine
link market/p/skills/l1 ../real
link market/p/skills/l2 ../../out/o
link market/p/skills/l3 ../../../home/outside/h
link market/q/skills x
link market/p/commands/link.md real.md
link market/p/commands/cd ../cdir
link market/p/commands/out.md ../../../home/outside/c.md
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p"}, {"name": "q", "source": "./q"}]}
`,
	"folders of skills that are plugins": `
skill home/.claude/skills/zplug zp
skill home/.claude/skills/zplug/skills/a za
skill home/.claude/skills/zplug/more/b zb
command home/.claude/skills/zplug/commands/c.md
skill home/.claude/skills/zother/skills/d zd
skill project/.claude/skills/zproj/skills/e ze
skill home/.claude/skills/zoff/skills/f zf
skill home/.claude/skills/p/skills/g
skill market/p/skills/h
-- home/.claude/skills/zplug/.claude-plugin/plugin.json --
{"name": "zplug", "skills": ["./more", "."]}
-- home/.claude/skills/zother/.claude-plugin/plugin.json --
{"name": "zname"}
-- project/.claude/skills/zproj/.claude-plugin/plugin.json --
{"name": "zproj"}
-- home/.claude/skills/zoff/.claude-plugin/plugin.json --
{"name": "zoff", "defaultEnabled": false}
-- home/.claude/skills/p/.claude-plugin/plugin.json --
{"name": "p"}
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p"}]}
`,
	"directories of plugins": `
plugin-dir many
plugin-dir market
plugin-dir plain
plugin-dir itself
plugin-dir torn
skill many/one/skills/a
skill many/two/skills/b
command many/three/commands/c.md
skill market/p/skills/d
skill market/listed/skills/e
skill plain/skills/f
skill itself own
skill torn/skills/g
-- many/one/.claude-plugin/plugin.json --
{"name": "one"}
-- many/three/.claude-plugin/plugin.json --
{"name": "three"}
-- torn/.claude-plugin/plugin.json --
{
-- market/p/.claude-plugin/plugin.json --
{"name": "pname"}
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": []}
`,
	"added directories": `
skill project/.claude/skills/s own
skill project/web/.claude/skills/s
skill y/.two/.claude/skills/t
skill x/same/.claude/skills/s xs
skill x/same/.claude/skills/u us
skill y/same/.claude/skills/s
skill y/same/.claude/skills/u
skill p/z/one/.claude/skills/s
skill q/z/one/.claude/skills/s
skill home/.claude/skills/v
skill y/.two/.claude/skills/v
skill y/plug/.claude/skills/s
skill plug/skills/s
add-dir project/web
add-dir x/same
add-dir y/same
add-dir p/z/one
add-dir q/z/one
add-dir y/.two
add-dir y/plug
plugin-dir plug
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": []}
-- plug/.claude-plugin/plugin.json --
{"name": "plug"}
`,
	"commands of the project": `
skill market/sub/skills/y
skill market/sub/skills/w n
command project/.claude/commands/sub/y.md
command project/.claude/commands/zs/SKILL.md zsname
command project/.claude/commands/zs/x.md
command project/.claude/commands/low/skill.md
command project/.claude/commands/low/x.md
command project/.claude/commands/both.md
command project/.claude/commands/both/SKILL.md
command project/.claude/commands/in/both/SKILL.md
command project/.claude/commands/in/both.md
skill project/.claude/skills/own sub:n
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "sub", "source": "./sub"}]}
`,
	"links to a skill beside it": `
skill market/p/skills/x1
skill market/p/skills/x2
link market/p/skills/a1 x1
link market/p/skills/z2 x2
skill home/.claude/skills/u1
skill home/.claude/skills/u2
link home/.claude/skills/k1 u1
link home/.claude/skills/z2 u2
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p"}]}
`,
	"a file and a folder of one name": `
command market/p/commands/x.md one
command market/p/commands/x/SKILL.md two
command market/p/commands/sub/y.md three
command market/p/commands/sub/y/SKILL.md four
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p"}]}
`,
	"skills that are not loaded": `
skill home/.claude/skills/synced sy
skill home/.claude/skills/a<b less
skill home/.claude/skills/plug pname
skill home/.claude/skills/plain
skill project/.claude/skills/plug
-- home/.claude/skills/plug/.claude-plugin/plugin.json --
{"name": "p1"}
-- home/.claude/settings.json --
{"enabledPlugins": {"p1@skills-dir": false, "plain@skills-dir": false}}
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": []}
`,
	"a byte order mark": "\nskill market/p/skills/x xn\nskill market/p/more/y yn\n-- market/p/.claude-plugin/plugin.json " +
		"--\n\ufeff{\"name\": \"p\", \"skills\": \"./more\"}\n" + `
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p"}]}
`,
}
