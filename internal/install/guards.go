package install

import (
	"context"

	"github.com/fsmtx/fsmtx/internal/guard"
)

// guards finds the files of the guards' configuration that are not used: the project's, and those
// of the enabled plugins that have our hooks.
func (d *doctor) guards(context.Context) (found []Fault, err error) {
	configs := []guard.Config{guard.ProjectConfig(d.cwd)}
	if registry, set, err := d.registry(); err == nil {
		for _, in := range registry.Enabled(set, d.cwd) {
			if root := registry.Root(in).Dir; hasOurHooks(root) {
				configs = append(configs, guard.PluginConfig(root))
			}
		}
	}
	for _, c := range configs {
		for _, m := range c.Mistakes() {
			found = append(found, Fault{Kind: "guards", What: m.Text, File: m.File, Line: m.Line})
		}
	}
	return found, nil
}
