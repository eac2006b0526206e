package command

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/mcp/program"
	"github.com/fsmtx/fsmtx/internal/plugin"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/version"
)

type pluginFlags struct {
	name  string
	force bool
	mcp   bool
	steps stepChoice
	with  []string
}

// extra returns a part that a plugin has only with --with.
func (f *pluginFlags) extra(name, dir string) (plugin.Part, error) {
	switch name {
	case "planning":
		return plugin.Planning(f.name, dir), nil
	case "skill-files":
		return plugin.SkillFiles(), nil
	}
	return plugin.Part{}, &exit{exitNo, fmt.Errorf("--with: unknown part %q", name), "the parts are planning and skill-files"}
}

func newPlugin(s terminal.Streams) *cobra.Command {
	var f pluginFlags
	c := &cobra.Command{
		DisableFlagsInUseLine: true,
		Use:                   "plugin [--name NAME] [--with PART] [--no-steps] [--mcp] [--force] DIR",
		Short:                 "Write a plugin for the client that contains this program",
		Long: `Writes a complete plugin for Claude Code into DIR, and a marketplace that offers it:
the manifests, the hooks, this program as bin/fsmtx, and the sample skill
release-checklist, whose five steps become tasks when it is invoked.

DIR is created if it does not exist. If it holds this plugin already, missing files
are added; files that differ are replaced only with --force, and other files are
left alone. Any other directory must be empty.

The plugin has its own hooks: with it, "fsmtx install" is not needed.

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
			"fsmtx plugin --force ~/fsmtx-plugin                # after an upgrade",
			"fsmtx plugin --with planning --name product-planning ~/product-planning",
		),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &exit{exitNo, errors.New("plugin takes exactly one argument, a directory"), "run fsmtx plugin --help"}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.steps.validate(); err != nil {
				return err
			}
			return f.run(s, args[0])
		},
	}
	c.Flags().StringVar(&f.name, "name", "fsmtx", "`name` of the plugin and its marketplace, and prefix of its skills")
	c.Flags().StringSliceVar(&f.with, "with", nil, "add a `part`: planning or skill-files (repeatable)")
	c.Flags().BoolVar(&f.mcp, "mcp", false, "add the MCP server (fsmtx mcp)")
	complete(c, "with", "planning", "skill-files")
	f.steps.flags(c)
	c.Flags().BoolVar(&f.force, "force", false, "replace files of the plugin that differ")
	return c
}

func (f *pluginFlags) run(s terminal.Streams, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	self, err := plugin.Self()
	if err != nil {
		return err
	}
	parts, err := f.parts(dir)
	if err != nil {
		return err
	}
	var server []byte
	if f.mcp {
		if server, err = plugin.Server(); err != nil {
			return &exit{exitNo, err, "install it with " + program.Install}
		}
	}
	p := plugin.Plugin{Name: f.name, Version: version.Get().Version, Program: self, MCP: server, Parts: parts}
	written, err := p.Write(dir, f.force)
	if err != nil {
		return &exit{exitNo, err, pluginHint(err)}
	}
	if len(written) == 0 {
		_, err := fmt.Fprintf(s.Out, "plugin %s in %s is up to date\n", f.name, dir)
		return err
	}
	for _, path := range written {
		fmt.Fprintln(s.Out, path)
	}
	s.Hintf("try it with claude --plugin-dir %q", dir)
	return nil
}

func (f *pluginFlags) parts(dir string) ([]plugin.Part, error) {
	parts := []plugin.Part{plugin.Hydration()}
	if !f.steps.none {
		parts = append(parts, plugin.Steps(f.steps.applied(nil)))
	}
	slices.Sort(f.with)
	for _, name := range slices.Compact(f.with) {
		part, err := f.extra(name, dir)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func pluginHint(err error) string {
	if _, ok := errors.AsType[*plugin.DiffersError](err); ok {
		return "nothing was written; --force replaces these files"
	}
	switch {
	case errors.Is(err, plugin.ErrForeign):
		return "choose an empty or a new directory, or give that plugin's name with --name"
	case errors.Is(err, plugin.ErrName):
		return "for example: --name my-workflows"
	}
	return ""
}
