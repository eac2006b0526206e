package hook

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

// unjudged returns a text for the person if the steps of a workflow list calls of tools for which
// no hook is registered, and "" if all is well or no step is enforced at all.
func unjudged(s terminal.Streams, cwd string, steps []fsmspec.Task) string {
	var rules []string
	for _, t := range steps {
		rules = append(rules, t.Only...)
	}
	if len(rules) == 0 {
		return ""
	}
	have, enforced := settings.EnforcedTools(hooksFiles(s, cwd))
	missing := settings.OnlyOf(rules).Missing(have)
	if !enforced || len(missing) == 0 {
		return ""
	}
	return fmt.Sprintf(`fsmtx: calls of %s belong to steps of this workflow, but no hook judges them, so they are not refused: run "fsmtx `+
		`install" (or "fsmtx plugin", for a plugin's hooks), and start the client again`,
		strings.Join(missing, ", "))
}

// hooksFiles returns the files from which the client takes hooks in a directory, whether or not they
// exist: its settings, and the hooks of plugins.
func hooksFiles(s terminal.Streams, cwd string) []string {
	config, err := client.ConfigDir(s.Getenv)
	if err != nil {
		return nil
	}
	files := client.SettingsFiles(locator.OS{}, config, cwd)
	if project := s.Env("CLAUDE_PROJECT_DIR"); project != "" {
		files = append(files, filepath.Join(project, client.ProjectSettings), filepath.Join(project, client.LocalSettings))
	}
	for _, root := range pluginRoots(s.Getenv, cwd) {
		files = append(files, filepath.Join(root, "hooks", "hooks.json"))
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// pluginRoots returns the directories of the plugins whose hooks the client runs in a directory, as far
// as its registry and the environment of this hook name them.
func pluginRoots(lookup func(string) (string, bool), cwd string) (roots []string) {
	if root, _ := lookup("CLAUDE_PLUGIN_ROOT"); root != "" {
		roots = append(roots, root)
	}
	config, err := client.ConfigDir(lookup)
	if err != nil {
		return roots
	}
	registry, err := client.ReadRegistry(locator.OS{}, config)
	if err != nil {
		return roots // doctor reports it
	}
	for _, in := range registry.Enabled(client.ReadSettings(locator.OS{}, config, cwd), cwd) {
		if root := registry.Root(in).Dir; root != "" {
			roots = append(roots, root)
		}
	}
	return roots
}
