package tools

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/write"
)

const pluginLong = `Writes a complete plugin for Claude Code into DIR, and a marketplace that offers it:
the manifests, the hooks, this program as bin/fsmtx, and the sample skill
release-checklist, whose six steps become tasks when it is invoked.

The plugin has its own hooks, so its users do not need "fsmtx install". If the program
does not run on a machine, the start of a session reports it; not on Windows.

The plugin runs on the platform of this program. --platforms all, or a list of
linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64, adds programs for these
platforms to bin, and a script bin/fsmtx that starts the right one; Windows, also on arm64,
starts bin/fsmtx.exe. With --from the programs come from
the archives of a release, which are in the directory RELEASE with their SHA256SUMS ("make
dist" writes such a directory); without --platforms all of these are used. Programs
for other platforms than this one come only from there.

DIR is created if it does not exist. If it already has a plugin, the plugin is updated:
missing files are added, and files that differ are replaced only with --force. Yours are
plugin.json (also its version, once that differs from the version of the program), the
marketplace, the skills and the configuration. hooks.json, .mcp.json and README.md are
written as a whole: put other hooks and servers into a plugin of your own. The plugin keeps
its name, its platforms, its parts and the flags of its hooks, unless others are given;
--with none removes the parts. A directory with anything else is refused.

Unless --no-steps is given, the hooks also enforce the steps of workflows (fsmtx hook --help).
They judge the calls that the plugin's own workflows list under "only"; with --only, those
that any workflow may list. --mcp adds an MCP server, which serves the steps as tools to
models without task tools: the file .mcp.json. The client starts it in every session of the
plugin's users.

--with planning adds the fourteen guards of a planning workflow (fsmtx guard) and
their configuration, config/planning-config.yaml. --with skill-files adds the hook
that keeps the agent from reading the fsm.json of a skill.`

type pluginFlags struct {
	name      string
	force     bool
	mcp       bool
	platforms []string
	from      string
	steps     stepChoice
	with      []string
}

// extras returns the parts that a plugin has only with --with.
func (f *pluginFlags) extras(dir string) map[string]install.Part {
	return map[string]install.Part{"planning": install.Planning(f.name, dir), "skill-files": install.SkillFiles()}
}

func newPlugin(s terminal.Streams) *cobra.Command {
	var f pluginFlags
	c := &cobra.Command{
		DisableFlagsInUseLine: true,
		Use: "plugin [--platforms all] [--from RELEASE] [--name NAME] [--with PART] [--no-steps] " +
			"[--only] [--mcp] [--force] DIR",
		Short: "Write a plugin for the client that contains this program",
		Long:  pluginLong,
		Example: command.Example(
			"fsmtx plugin ~/fsmtx-plugin",
			"claude --plugin-dir ~/fsmtx-plugin                 # try it in one session",
			"claude plugin marketplace add ~/fsmtx-plugin       # or keep it",
			"claude plugin install fsmtx@fsmtx",
			"fsmtx plugin --from ~/Downloads ~/fsmtx-plugin     # for the platforms of a release",
			"fsmtx plugin --force ~/fsmtx-plugin                # after an upgrade",
			"fsmtx plugin --with planning --name product-planning ~/product-planning",
		),
		Args: command.Takes(1, "one directory", "run fsmtx plugin --help"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.steps.validate(); err != nil {
				return err
			}
			return f.run(s, args[0])
		},
	}
	c.Flags().StringVar(&f.name, "name", "",
		"`name` of the plugin and its marketplace, and prefix of its skills (default: the name of the plugin in DIR, or fsmtx)")
	c.Flags().StringSliceVar(&f.platforms, "platforms", nil, "`platforms` of the plugin's programs: all, or a list")
	c.Flags().StringVar(&f.from, "from", "", "take the programs from the archives of a release in this directory")
	c.Flags().StringSliceVar(&f.with, "with", nil, "add a `part`: planning or skill-files (repeatable), or none")
	c.Flags().BoolVar(&f.mcp, "mcp", false, "add the MCP server (fsmtx mcp)")
	command.Complete(c, "with", "planning", "skill-files", "none")
	command.Complete(c, "platforms", "all", "linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64")
	_ = c.MarkFlagDirname("from")
	f.steps.flags(c)
	c.Flags().BoolVar(&f.force, "force", false, "replace files that differ")
	return c
}

func (f *pluginFlags) run(s terminal.Streams, dir string) error {
	if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) { // not every shell replaces it
		return message.WithHint(fmt.Errorf("%s: your shell has not replaced ~ by your home", dir),
			"write the whole path, or ./"+dir+" if a directory of that name is meant")
	}
	if err := safefile.CheckNames(dir); err != nil {
		return err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	p, err := f.plugin(dir)
	if err != nil {
		return err
	}
	written, err := p.Write(dir, f.force)
	if err != nil {
		return err
	}
	if len(written) == 0 {
		_, err := message.Fprintf(s.Out, "plugin %s in %s is up to date\n", p.Name, dir)
		return err
	}
	for _, path := range written {
		message.Fprintf(s.Out, "%s\n", path)
	}
	if now, err := install.ReadPlugin(dir); err == nil && now.KeepsVersion() {
		s.Hintf("plugin.json keeps the version that you gave it; increase it, because the client copies each version only once")
	}
	s.Hintf("try it with claude --plugin-dir %s", shell.Join(dir))
	return nil
}

// plugin returns the plugin to write into dir: its properties come from the flags, or else
// from the plugin that is already there.
func (f *pluginFlags) plugin(dir string) (install.Plugin, error) {
	old, err := install.ReadPlugin(dir)
	if err != nil {
		return install.Plugin{}, err
	}
	f.name = cmp.Or(f.name, old.Name, settings.Program)
	f.mcp = f.mcp || old.MCP
	p := install.Plugin{Name: f.name, Version: programs.GetBuild().Version, MCP: f.mcp, Drop: f.platforms != nil}
	if p.Parts, err = f.parts(dir, old); err != nil {
		return p, err
	}
	want, err := f.wanted(old)
	if err != nil {
		return p, err
	}
	if f.from != "" {
		p.Programs, p.Version, err = install.Release(f.from, want)
		return p, err
	}
	if slices.ContainsFunc(want, func(p install.Platform) bool { return p != install.ThisPlatform() }) {
		return p, command.Fail(command.ExitNo, errors.New("the programs for other platforms come from a release"),
			"give the directory with its archives and SHA256SUMS with --from DIR; make dist writes one in a checkout of the source")
	}
	own, err := install.Own()
	p.Programs = []install.Program{own}
	return p, err
}

// wanted returns the platforms of the plugin: those of the flag, or else those that the
// plugin in DIR has. Nil leaves the choice to the source of the programs.
func (f *pluginFlags) wanted(old install.Existing) ([]install.Platform, error) {
	if slices.Equal(f.platforms, []string{"all"}) {
		return install.Platforms(), nil
	}
	if f.platforms == nil {
		if f.from != "" {
			return nil, nil
		}
		return old.Platforms, nil
	}
	var want []install.Platform
	for _, name := range f.platforms {
		p, err := install.ParsePlatform(name)
		if err != nil {
			return nil, command.Fail(command.ExitUsage, fmt.Errorf("--platforms: %w", err),
				"the platforms are linux/amd64, linux/arm64, darwin/amd64, darwin/arm64, windows/amd64, or all")
		}
		want = append(want, p)
	}
	slices.Sort(want)
	return slices.Compact(want), nil
}

// parts returns the parts of the plugin. Hooks that the plugin in DIR already has keep their
// flags.
func (f *pluginFlags) parts(dir string, old install.Existing) ([]install.Part, error) {
	steps := f.steps
	if enforces, ok := old.Enforces(); ok && !enforces && !steps.Given() {
		steps.None = true
	}
	hooks, err := steps.Hooks(old.Hooks, install.Command, listedByPlugin(dir), nil)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", filepath.Join(dir, "hooks/hooks.json"), err)
	}
	parts := []install.Part{install.Workflows(hooks)}
	extras := f.extras(dir)
	for _, name := range f.with {
		if _, known := extras[name]; !known && name != "none" {
			return nil, command.Fail(command.ExitNo, fmt.Errorf("--with: unknown part %q", name),
				"the parts are planning and skill-files, or none")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(extras)) {
		if slices.Contains(f.with, name) || f.with == nil && old.Has(extras[name].Hooks) {
			parts = append(parts, extras[name])
		}
	}
	return parts, nil
}

// listedByPlugin returns the tools of the calls that the workflows of the plugin in dir list.
func listedByPlugin(dir string) settings.Only {
	skills, _ := os.ReadDir(filepath.Join(dir, "skills")) // a plugin may have none
	var paths []string
	for _, e := range skills {
		paths = append(paths, filepath.Join(dir, "skills", e.Name(), write.SpecName))
	}
	return install.ListedIn(paths)
}
