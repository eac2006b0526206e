//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/locator"
)

// A catalog is a txtar archive of a marketplace in market/ and of other files of a sandbox. The
// lines of its comment are
//
//	skill PATH [NAME]     the SKILL.md at PATH has the name NAME
//	command PATH [NAME]   the same for a Markdown file
//	source KIND           the marketplace's source, "directory" if there is no such line
//	plugin-dir PATH       an option of the client
//	add-dir PATH          another one
//
// Each skill and command has an fsm.json. The client gets every plugin of the marketplace.
type catalog struct {
	text    string
	files   map[string]string
	links   map[string]string // the targets of symbolic links, as paths in the sandbox
	docs    map[string]string // the names of skills and commands by path
	source  string
	plugins []string // the paths of --plugin-dir
	added   []string // the paths of --add-dir
	read    []string // what the model reads before it calls anything
}

func parseCatalog(t *testing.T, text string) catalog {
	t.Helper()
	archive := txtar.Parse([]byte(text))
	c := catalog{text: text, files: map[string]string{}, docs: map[string]string{}, source: "directory"}
	for line := range strings.Lines(string(archive.Comment)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		path, rest, _ := strings.Cut(rest, " ")
		switch word {
		case "":
		case "skill":
			c.docs[path+"/SKILL.md"] = rest
		case "command":
			c.docs[path] = rest
		case "source":
			c.source = path
		case "plugin-dir":
			c.plugins = append(c.plugins, path)
		case "add-dir":
			c.added = append(c.added, path)
		default:
			require.Failf(t, "unknown line", "%q", line)
		}
	}
	for _, f := range archive.Files {
		c.files[f.Name] = string(f.Data)
	}
	return c
}

// entry is a plugin in the marketplace, or a plugin.json.
type entry struct {
	Name     string `json:"name"`
	Source   any    `json:"source"`
	Commands any    `json:"commands"`
}

// commandNames returns the names that the plugin gives to commands.
func (e entry) commandNames() []string {
	byName, _ := e.Commands.(map[string]any)
	return slices.Collect(maps.Keys(byName))
}

// entries returns those of the marketplace.
func (c catalog) entries() []entry {
	var manifest struct {
		Plugins []entry `json:"plugins"`
	}
	_ = json.Unmarshal([]byte(c.files["market/.claude-plugin/marketplace.json"]), &manifest)
	return manifest.Plugins
}

// write writes the catalog, its fsm.json files and the client's files about plugins, if there is a marketplace.
func (c catalog) write(t *testing.T, s *realclient.Sandbox) {
	t.Helper()
	enabled, installed, sources := map[string]bool{}, map[string]any{}, map[string]string{}
	for _, e := range c.entries() {
		if source, ok := e.Source.(string); ok && sources[e.Name] == "" {
			sources[e.Name] = source
		}
		enabled[e.Name+"@m"] = true
		installed[e.Name+"@m"] = []map[string]string{{
			"scope": "user", "installPath": s.Path("market/" + sources[e.Name]), "version": "1.0.0",
			"installedAt": "2026-01-01T00:00:00Z", "lastUpdated": "2026-01-01T00:00:00Z",
		}}
	}
	put := func(path string, v any) {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		s.Write(path, string(text))
	}
	if len(enabled) > 0 {
		put("home/.claude/settings.json", map[string]any{"enabledPlugins": enabled})
		put("home/.claude/plugins/installed_plugins.json", map[string]any{"version": 2, "plugins": installed})
		put("home/.claude/plugins/known_marketplaces.json", map[string]any{"m": map[string]any{
			"source":          map[string]string{"source": c.source, "path": s.Path("market"), "repo": "someone/market"},
			"installLocation": s.Path("market"), "lastUpdated": "2026-01-01T00:00:00Z",
		}})
		put("home/.claude.json", map[string]any{"projects": map[string]any{s.Project: map[string]bool{"hasTrustDialogAccepted": true}}})
	}
	for path, text := range c.files {
		s.Write(path, text)
	}
	for path, name := range c.docs {
		if name != "" {
			name = "name: " + name + "\n"
		}
		s.Write(path, "---\n"+name+"description: d\n---\nBODY OF "+s.Path(folderOf(path))+" END\n")
		s.Write(folderOf(path)+"/fsm.json", "[]")
	}
	for path, target := range c.links {
		require.NoError(t, os.MkdirAll(filepath.Dir(s.Path(path)), 0o755))
		require.NoError(t, os.Symlink(s.Path(target), s.Path(path)))
	}
}

// folderOf returns the folder of a skill's or a command's fsm.json.
func folderOf(path string) string {
	if strings.EqualFold(filepath.Base(path), "SKILL.md") {
		return filepath.Dir(path)
	}
	return strings.TrimSuffix(path, ".md")
}

// calls returns the names that the model tries: those that a reader of the catalog might
// expect, with each plugin's name, and some that nobody has.
func (c catalog) calls() []string {
	prefixes, parts := map[string]bool{"": true}, map[string]bool{"nobody": true}
	add := func(e entry) {
		prefixes[e.Name+":"] = true
		for _, name := range e.commandNames() {
			parts[name] = true
		}
	}
	for _, e := range c.entries() {
		add(e)
	}
	for path, text := range c.files {
		var plugin entry
		if strings.HasSuffix(path, "/plugin.json") && json.Unmarshal([]byte(text), &plugin) == nil && plugin.Name != "" {
			add(plugin)
		}
	}
	for _, dir := range c.plugins {
		prefixes[filepath.Base(dir)+":"] = true
	}
	for _, dir := range c.added {
		for i := range len(strings.Split(dir, "/")) {
			prefixes[strings.SplitN(dir, "/", i+1)[i]+":"] = true
		}
	}
	for path, own := range c.docs {
		for _, top := range []string{"/commands/", "/cmds/", "/more/"} {
			if _, below, ok := strings.Cut(folderOf(path), top); ok {
				parts[strings.ReplaceAll(below, "/", ":")] = true
			}
		}
		folder := filepath.Base(folderOf(path))
		for _, part := range []string{folder, strings.NewReplacer(".", "-", " ", "-", ":", "-").Replace(folder), own,
			strings.NewReplacer(".", "-", " ", "-", ":", "-").Replace(own)} {
			parts[part] = part != ""
		}
	}
	var calls []string
	for prefix := range prefixes {
		for part, ok := range parts {
			if ok && locator.CheckName(prefix+part) == nil {
				calls = append(calls, prefix+part)
			}
		}
	}
	slices.Sort(calls)
	return calls
}

// options returns the options that the client and the built program have for directories.
func (c catalog) options(s *realclient.Sandbox) (args []string) {
	for _, dir := range c.plugins {
		args = append(args, "--plugin-dir", s.Path(dir))
	}
	for _, dir := range c.added {
		args = append(args, "--add-dir", s.Path(dir))
	}
	return args
}

// client runs the client once. It returns the names that the client lists, which of the calls
// it knows, and the folder whose text the model got, where it got one.
func (c catalog) client(s *realclient.Sandbox, calls []string) (listed []string, known map[string]bool, ran map[string]string) {
	turns := []Turn{}
	for i, path := range c.read {
		turns = append(turns, Do(Call(fmt.Sprint("read", i), "Read", map[string]any{"file_path": s.Path(path)})))
	}
	for i, name := range calls {
		turns = append(turns, Do(Skill(fmt.Sprint("call", i), name)))
	}
	r := s.Try(Script{Main: append(turns, Say("done"))}, "go", c.options(s)...)
	known, ran = map[string]bool{}, map[string]string{}
	for i, name := range calls {
		id := fmt.Sprint("call", i)
		known[name] = strings.Contains(r.Text(id), "Launching skill")
		if _, after, ok := strings.Cut(r.Told(id), "BODY OF "); ok && known[name] {
			ran[name], _, _ = strings.Cut(after, " END")
		}
	}
	for line := range strings.Lines(r.Stdout) {
		var start struct {
			Subtype  string   `json:"subtype"`
			Commands []string `json:"slash_commands"`
		}
		if json.Unmarshal([]byte(line), &start) == nil && start.Subtype == "init" {
			listed = slices.DeleteFunc(start.Commands, func(name string) bool { return !slices.Contains(calls, name) })
		}
	}
	slices.Sort(listed)
	return listed, known, ran
}

// located returns the names that the built program lists, the first of each workflow.
func (c catalog) located(t *testing.T, s *realclient.Sandbox) []string {
	t.Helper()
	out := s.Command("", fsmtx, append([]string{"locate", "--json"}, c.options(s)...)...)
	require.Zero(t, out.Code, out)
	var list struct {
		Workflows []struct {
			Command string `json:"command"`
			Unused  bool   `json:"unused"`
		} `json:"workflows"`
	}
	require.NoError(t, json.Unmarshal([]byte(out.Stdout), &list))
	names := map[string]bool{}
	for _, w := range list.Workflows {
		names[w.Command] = !w.Unused || names[w.Command]
	}
	maps.DeleteFunc(names, func(_ string, used bool) bool { return !used })
	return slices.Sorted(maps.Keys(names))
}

// agrees runs the client and compares every name that it lists or is asked for.
func (c catalog) agrees(t *testing.T) {
	t.Helper()
	s := realclient.New(t)
	c.write(t, s)
	calls := c.calls()
	listed, known, ran := c.client(s, calls)
	listed = slices.DeleteFunc(listed, func(name string) bool { return isFileOfTheProject(s, ran[name]) || c.isInline(name) })
	if !assert.Equal(t, strings.Join(listed, "\n"), strings.Join(c.located(t, s), "\n"), "the names that the client and fsmtx locate list") {
		t.Log(c.text)
	}
	for _, name := range calls {
		l := c.locator(s)
		result := locate(t, l, name, s.Project)
		assert.Equal(t, known[name], result.Known(), "whether %q is known\n%s\n%s", name, c.text, explain(result))
		if ran[name] == "" || isFileOfTheProject(s, ran[name]) {
			continue
		}
		l.Invoked = true
		invoked := locate(t, l, name, s.Project)
		assert.Equal(t, ran[name], resolved(result), "the folder of %q\n%s\n%s", name, c.text, explain(result))
		assert.Equal(t, ran[name], resolved(invoked), "the folder of %q, which was invoked\n%s\n%s", name, c.text, explain(invoked))
	}
}

// locator returns the one that is to agree with the client.
func (c catalog) locator(s *realclient.Sandbox) *locator.Locator {
	l := &locator.Locator{FS: locator.OS{}, ConfigDir: filepath.Join(s.Home, ".claude"), ProjectDir: s.Project, Home: s.Home}
	for _, dir := range c.plugins {
		l.PluginDirs = append(l.PluginDirs, s.Path(dir))
	}
	for _, dir := range c.added {
		l.AddDirs = append(l.AddDirs, s.Path(dir))
	}
	return l
}

// locate finds a name. A missing registry of plugins is no error.
func locate(t *testing.T, l *locator.Locator, name, cwd string) locator.Result {
	t.Helper()
	result, err := l.Locate(name, cwd)
	if _, missing := errors.AsType[*locator.RegistryError](err); !missing {
		require.NoError(t, err)
	}
	return result
}

// isInline reports whether the name is that of a generated command that has no file, and so no
// fsm.json to list.
func (c catalog) isInline(name string) bool {
	return strings.HasSuffix(name, ":said") && !strings.Contains(c.text, "/said/fsm.json")
}

// resolved returns the folder of a result without symbolic links.
func resolved(r locator.Result) string {
	dir, _ := filepath.EvalSymlinks(filepath.Dir(r.Path))
	return dir
}

// isFileOfTheProject reports whether the client ran a command of the project that is a file,
// to which no fsm.json belongs.
func isFileOfTheProject(s *realclient.Sandbox, folder string) bool {
	_, err := os.Stat(folder + ".md")
	return err == nil && strings.HasPrefix(folder, s.Project)
}

// Facts 120 to 125: for each form in which plugins list skills and commands.
func TestTheClientListsWhatLocateLists(t *testing.T) {
	for name, text := range catalogs {
		if name == "two plugins of one root" { // locate names a skill that two plugins list under both
			continue
		}
		t.Run(name, func(t *testing.T) { parseCatalog(t, text).agrees(t) })
	}
}

// Fact 147: the transcript lists the client's own skills and the names in frontmatters before
// the first call, and a listed name comes before a frontmatter's.
func TestTheTranscriptListsTheNames(t *testing.T) {
	s := realclient.New(t)
	c := parseCatalog(t, `
skill market/p/skills/a simplify
skill market/p/skills/b ship
skill home/.claude/skills/c simplify
skill home/.claude/skills/d moor
skill home/.claude/skills/e p:b
-- market/.claude-plugin/marketplace.json --
{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p"}]}
`)
	c.write(t, s)
	s.Write("market/p/skills/a/fsm.json", `[{"id": 1, "subject": "Of the plugin"}]`)
	s.Write("market/p/skills/b/fsm.json", `[{"id": 1, "subject": "Weigh the anchor"}]`)
	s.Write("home/.claude/skills/c/fsm.json", `[{"id": 1, "subject": "Of the user"}]`)
	s.Write("home/.claude/skills/d/fsm.json", `[{"id": 1, "subject": "Drop the anchor"}]`)
	installHooks(t, s, hook{"PostToolUse", "Skill", fsmtx + " hydrate --announce"})

	r := s.Prompt(Script{Main: []Turn{Do(Skill("own", "simplify")), Do(Skill("plugin's", "ship")), Do(Skill("user's", "moor")),
		Say("done")}}, "go")

	assert.Contains(t, r.Text("own"), "Launching skill")
	assert.NotContains(t, r.Told("own"), "BODY OF")
	assert.NotContains(t, r.Told("own"), "Of the")
	assert.Contains(t, r.Told("plugin's"), "BODY OF "+s.Path("market/p/skills/b"))
	assert.Contains(t, r.Told("plugin's"), "#1 Weigh the anchor")
	assert.Contains(t, r.Told("user's"), "#2 Drop the anchor")
	transcripts, err := filepath.Glob(s.Path("home/.claude/projects/*/*.jsonl"))
	require.NoError(t, err)
	require.Len(t, transcripts, 1)
	for name, listed := range map[string]bool{"simplify": true, "p:b": true, "ship": false, "p:ship": false, "moor": false, "nobody": false} {
		assert.Equal(t, listed, client.Lists(transcripts[0], "", name), name)
	}
}

// Fact 166: the events of a client that writes no transcript name one all the same.
func TestAClientWithoutPersistence(t *testing.T) {
	for name, c := range map[string]struct {
		variable string
		args     []string
		writes   bool
	}{
		"plain":    {writes: true},
		"option":   {args: []string{"--no-session-persistence"}},
		"variable": {variable: "1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := realclient.New(t)
			s.Env["CLAUDE_CODE_SKIP_PROMPT_HISTORY"] = c.variable
			s.Write("project/.claude/skills/plain/SKILL.md", plainSkill)
			installHooks(t, s, hook{"Stop", "", `cat > event.json; printf %s "$CLAUDE_CODE_SKIP_PROMPT_HISTORY" > variable; ` +
				`tr '\0' ' ' < /proc/$CLAUDE_PID/cmdline > line`})

			s.Prompt(Script{Main: []Turn{Do(Skill("skill", "plain")), Say("done")}}, "go", c.args...)

			e := eventOf(t, s)
			assert.Equal(t, "projects", filepath.Base(filepath.Dir(filepath.Dir(e.TranscriptPath))))
			_, err := os.Stat(e.TranscriptPath)
			assert.Equal(t, c.writes, err == nil, "%v", err)
			assert.Equal(t, c.variable, read(t, s, "project/variable"))
			assert.Equal(t, len(c.args) > 0, strings.Contains(read(t, s, "project/line"), " --no-session-persistence "))
		})
	}
}

// Fact 167: who can call a skill.
func TestWhoCanCallASkill(t *testing.T) {
	s := realclient.New(t)
	lines := []struct {
		line          string
		model, person bool
	}{
		{"disable-model-invocation: true", false, true},
		{`disable-model-invocation: "yes"`, false, true},
		{"disable-model-invocation: false", true, true},
		{"user-invocable: false", true, false},
		{`user-invocable: "no"`, true, false},
	}
	var turns []Turn
	for i, c := range lines {
		name := fmt.Sprint("skill", i)
		s.Write("project/.claude/skills/"+name+"/SKILL.md", strings.Replace(plainSkill, "name: plain", c.line+"\nname: "+name, 1))
		turns = append(turns, Do(Skill(name, name)))
	}
	called := s.Try(Script{Main: append(turns, Say("done"))}, "go")
	for i, c := range lines {
		name := fmt.Sprint("skill", i)
		assert.Equal(t, c.model, strings.Contains(called.Told(name), "Do the plain thing."), c.line)
		s.Session = realclient.NewSession()
		typed := s.Try(Script{Main: []Turn{Say("done")}}, "/"+name).Exchanges()
		assert.Equal(t, c.person, len(typed) > 0 && typed[0].Request.Says("Do the plain thing."), c.line)
	}
}

// TestTheListOfATeamIsHeld: in a terminal with agent teams the client's list has another name, which the hooks find.
func TestTheListOfATeamIsHeld(t *testing.T) {
	s := held(t, steps("Release"))
	s.Env = map[string]string{tasks.TeamVariable: "1"}
	m := attended(s, "go", Script{Main: append(begun(), Do(TaskList("list")), Do(TaskUpdate("early", "2", "in_progress")),
		Do(TaskUpdate("first", "1", "in_progress")), Say("the-turn-is-over"))}, "--permission-mode", "default", "--allowedTools", "Skill")
	m.See(0, "the-turn-is-over")
	team := sessionOf(s, tasks.TeamPrefix+s.Session[:8])
	found := stateOf(t, team).Steps
	require.Len(t, found, 3)
	require.Equal(t, []string{"in_progress", "pending"}, []string{found[0].Status, found[1].Status})
	require.Empty(t, stateOf(t, s).Steps)
}
