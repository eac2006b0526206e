package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/claude/settings"
	"github.com/fsmtx/fsmtx/internal/mcp/program"
	"github.com/fsmtx/fsmtx/internal/plugin"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/version"
	"github.com/fsmtx/fsmtx/internal/visible"
)

type pluginFlags struct {
	name      string
	force     bool
	mcp       bool
	platforms []string
	from      string
	steps     stepChoice
	with      []string
}

// extras are the parts that a plugin has only with --with.
func (f *pluginFlags) extras(dir string) map[string]plugin.Part {
	return map[string]plugin.Part{"planning": plugin.Planning(f.name, dir), "skill-files": plugin.SkillFiles()}
}

func newPlugin(s terminal.Streams) *cobra.Command {
	var f pluginFlags
	c := &cobra.Command{
		DisableFlagsInUseLine: true,
		Use:                   "plugin [--platforms all] [--from RELEASE] [--name NAME] [--with PART] [--no-steps] [--mcp] [--force] DIR",
		Short:                 "Write a plugin for the client that contains this program",
		Long: `Writes a complete plugin for Claude Code into DIR, and a marketplace that offers it:
the manifests, the hooks, this program as bin/fsmtx, and the sample skill
release-checklist, whose five steps become tasks when it is invoked.

The plugin has its own hooks: with it, "fsmtx install" is not needed. One of them says
when a session starts that the program does not run there.

The plugin runs on the platform of this program. --platforms all, or some of
linux/amd64,linux/arm64,darwin/amd64,darwin/arm64, puts the others into bin as well, and a
script bin/fsmtx that chooses. They come from the archives of a release with its
SHA256SUMS in the directory RELEASE (--from, which puts in all that are there), or are
built with Go: in a checkout of this program's source from that, else from the release
that this program is of.

DIR is created if it does not exist. A plugin that is there already is brought up to date:
missing files are added, and files that differ are replaced only with --force. What its
author has made of it stays: plugin.json (its version too, once it is not that of the
program), the marketplace, skills, configuration, and the hooks and servers of others. It
keeps its name, its platforms, its parts and the flags of its hooks, unless other ones are
given; --with none takes the parts out. A plugin with another author gets the program and
the hooks, and must be named. Any other directory must be empty.

Its hooks also hold the agent to the steps of a workflow (fsmtx step --help), unless
--no-steps is given. --mcp adds an MCP server, which serves the steps as tools to models
without task tools: the program fsmtx-mcp, which must be beside this one or on PATH, and
.mcp.json. The client starts it in every session of the plugin's users.

--with planning adds the fourteen guards of a planning workflow (fsmtx guard) and
their configuration, config/planning-config.yaml. --with skill-files adds the hook
that keeps the agent from reading the fsm.json of a skill.`,
		Example: example(
			"fsmtx plugin ~/fsmtx-plugin",
			"claude --plugin-dir ~/fsmtx-plugin                 # try it in one session",
			"claude plugin marketplace add ~/fsmtx-plugin       # or keep it",
			"claude plugin install fsmtx@fsmtx",
			"fsmtx plugin --platforms all ~/fsmtx-plugin        # for Linux and macOS, with Go",
			"fsmtx plugin --from ~/Downloads ~/fsmtx-plugin     # the same, from a release",
			"fsmtx plugin --force ~/fsmtx-plugin                # after an upgrade",
			"fsmtx plugin --with planning --name product-planning ~/product-planning",
		),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &exit{exitNo, errors.New("plugin takes exactly one argument, a directory"), "run fsmtx plugin --help"}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.steps.validate(); err != nil {
				return err
			}
			ctx, stop := interruptible(c.Context())
			defer stop()
			return f.run(ctx, s, args[0])
		},
	}
	c.Flags().StringVar(&f.name, "name", "", "`name` of the plugin and its marketplace, and prefix of its skills (default: that of the plugin in DIR, or fsmtx)")
	c.Flags().StringSliceVar(&f.platforms, "platforms", nil, "`platforms` whose programs the plugin has: all, or a list")
	c.Flags().StringVar(&f.from, "from", "", "take the programs from the archives of a release in this directory")
	c.Flags().StringSliceVar(&f.with, "with", nil, "add a `part`: planning or skill-files (repeatable), or none")
	c.Flags().BoolVar(&f.mcp, "mcp", false, "add the MCP server (fsmtx mcp)")
	complete(c, "with", "planning", "skill-files", "none")
	complete(c, "platforms", "all", "linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64")
	_ = c.MarkFlagDirname("from")
	f.steps.flags(c)
	c.Flags().BoolVar(&f.force, "force", false, "replace files of the plugin that differ")
	return c
}

func (f *pluginFlags) run(ctx context.Context, s terminal.Streams, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	p, err := f.plugin(ctx, dir)
	if err != nil {
		return explainPlugin(err)
	}
	written, err := p.Write(dir, f.force)
	if err != nil {
		return explainPlugin(err)
	}
	if len(written) == 0 {
		_, err := visible.Fprintf(s.Out, "plugin %s in %s is up to date\n", p.Name, dir)
		return err
	}
	for _, path := range written {
		visible.Fprintf(s.Out, "%s\n", path)
	}
	if now, err := plugin.Read(dir); err == nil && now.Version != p.Version {
		s.Hintf("plugin.json keeps its version %s: raise it, for the client keeps its copy of a version", now.Version)
	}
	s.Hintf("try it with claude --plugin-dir %q", dir)
	return nil
}

// plugin returns what is to be written into dir: what the flags say, and else what the
// plugin that is there has.
func (f *pluginFlags) plugin(ctx context.Context, dir string) (plugin.Plugin, error) {
	old, err := plugin.Read(dir)
	if err != nil && !errors.Is(err, plugin.ErrForeign) {
		return plugin.Plugin{}, err
	}
	if f.name == "" {
		f.name = settings.Program
		if old.HasProgram() {
			f.name = old.Name
		}
	}
	f.mcp = f.mcp || old.ServesMCP()
	p := plugin.Plugin{Name: f.name, Version: version.Get().Version, Drop: f.platforms != nil}
	if p.Parts, err = f.parts(dir, old); err != nil {
		return p, err
	}
	want, err := f.wanted(old)
	if err != nil {
		return p, err
	}
	if f.from != "" {
		p.Programs, p.Version, err = plugin.Release(f.from, want, f.mcp)
		return p, err
	}
	p.Programs, err = f.programs(ctx, want)
	return p, err
}

// wanted returns the platforms that the plugin is to run on: those of the flag, else those
// that the plugin has. Nil is the choice of where the programs are from.
func (f *pluginFlags) wanted(old plugin.Existing) ([]plugin.Platform, error) {
	if slices.Equal(f.platforms, []string{"all"}) {
		return plugin.All(), nil
	}
	if f.platforms == nil {
		if f.from != "" {
			return nil, nil
		}
		return old.Platforms, nil
	}
	var want []plugin.Platform
	for _, name := range f.platforms {
		p, err := plugin.ParsePlatform(name)
		if err != nil {
			return nil, &exit{exitNo, fmt.Errorf("--platforms: %w", err), "the platforms are linux/amd64, linux/arm64, darwin/amd64, darwin/arm64, or all"}
		}
		want = append(want, p)
	}
	slices.Sort(want)
	return slices.Compact(want), nil
}

// programs returns this program for this platform, and builds those for others.
func (f *pluginFlags) programs(ctx context.Context, want []plugin.Platform) (all []plugin.Program, err error) {
	if len(want) == 0 || slices.Contains(want, plugin.This()) {
		own, err := plugin.Own(f.mcp)
		if err != nil {
			return nil, err
		}
		all = append(all, own)
	}
	others := slices.DeleteFunc(slices.Clone(want), func(p plugin.Platform) bool { return p == plugin.This() })
	if len(others) == 0 {
		return all, nil
	}
	b := version.Get()
	from := plugin.Source{Commit: b.Commit}
	if !strings.Contains(b.Version, "-dev") && !strings.Contains(b.Version, "+") {
		from.Tagged = "v" + b.Version
	}
	built, err := from.Build(ctx, others, f.mcp)
	return append(all, built...), err
}

// parts returns the parts of the plugin, with the flags that their hooks have already.
func (f *pluginFlags) parts(dir string, old plugin.Existing) ([]plugin.Part, error) {
	hydration := plugin.Hydration()
	var err error
	if hydration.Hooks, err = settings.Keep(old.Hooks, hydration.Hooks); err != nil {
		return nil, inPlugin(dir, err)
	}
	limitTime(hydration.Hooks)
	parts := []plugin.Part{hydration}
	steps := plugin.Steps([]string{})
	noSteps := f.steps.none || !f.steps.given() && old.Has(hydration.Hooks) && !old.Has(steps.Hooks)
	if !noSteps {
		if steps.Hooks, err = f.steps.withSteps(old.Hooks, nil, plugin.Command); err != nil {
			return nil, inPlugin(dir, err)
		}
		parts = append(parts, steps)
	}
	extras := f.extras(dir)
	for _, name := range f.with {
		if _, known := extras[name]; !known && name != "none" {
			return nil, &exit{exitNo, fmt.Errorf("--with: unknown part %q", name), "the parts are planning and skill-files, or none"}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(extras)) {
		if slices.Contains(f.with, name) || f.with == nil && old.Has(extras[name].Hooks) {
			parts = append(parts, extras[name])
		}
	}
	return parts, nil
}

func inPlugin(dir string, err error) error {
	return fmt.Errorf("%s:%w", filepath.Join(dir, "hooks/hooks.json"), err)
}

// explainPlugin adds a hint to an error.
func explainPlugin(err error) error {
	if _, ok := errors.AsType[*exit](err); ok {
		return err
	}
	return &exit{exitNo, err, pluginHint(err)}
}

func pluginHint(err error) string {
	if _, ok := errors.AsType[*plugin.DiffersError](err); ok {
		return "nothing was written; --force replaces these files"
	}
	switch {
	case errors.Is(err, plugin.ErrForeign):
		return "choose an empty or a new directory, or give that plugin's name with --name"
	case errors.Is(err, plugin.ErrPlatforms):
		return "nothing was written; give --platforms all or --from, or with --platforms those that it is to have"
	case errors.Is(err, plugin.ErrNoGo), errors.Is(err, plugin.ErrNoSource):
		return "give the archives of a release with --from DIR, or run it in a checkout of the source with Go"
	case errors.Is(err, plugin.ErrOtherSource):
		return "run make build there, and that program"
	case errors.Is(err, plugin.ErrNoRelease):
		return "it needs the archives fsmtx_VERSION_SYSTEM_ARCH.tar.gz of a release, and SHA256SUMS"
	case errors.Is(err, plugin.ErrChecksum), errors.Is(err, plugin.ErrArchive):
		return "fetch the archive and SHA256SUMS of the same release again"
	case errors.Is(err, program.ErrMissing):
		return "install it with " + program.Install
	case errors.Is(err, settings.ErrNotJSON), errors.Is(err, settings.ErrShape), errors.Is(err, settings.ErrDuplicate):
		return "correct the file; nothing was written"
	case errors.Is(err, plugin.ErrName):
		return "for example: --name my-workflows"
	}
	return editHint(err)
}
