package locator_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Fact 122, client 2.1.329: two plugins of one root have the name in its manifest. A folder's
// name comes before a frontmatter's, whichever plugin has it.
func TestAFolderOfAPluginThatSharesItsRoot(t *testing.T) {
	for name, enabled := range map[string]string{
		"enabled":     `{"r@m": true, "q@m": true}`,
		"not enabled": `{"r@m": true}`,
		"disabled":    `{"r@m": true, "q@m": false}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			folder, alias := w.skill(tree+"/skills/x"), w.skill(tree+"/more/z")
			w.put(tree+"/skills/x/SKILL.md", "text")
			w.put(tree+"/more/z/SKILL.md", "---\nname: x\n---\n")
			w.put(tree+"/.claude-plugin/plugin.json", `{"name": "r"}`)
			w.put(tree+"/.claude-plugin/marketplace.json",
				`{"plugins": [{"name": "r", "source": ".", "skills": ["./more"]}, {"name": "q", "source": "./"}]}`)
			w.put(known, fmt.Sprintf(`{"m": {"source": {"source": "directory", "path": %q}}}`, tree))
			w.put(config+"/settings.json", `{"enabledPlugins": `+enabled+`}`)
			w.put(registry, objectOf(entry{"r@m", "user", "", tree, ""}, entry{"q@m", "user", "", tree, ""}))
			want := alias
			if name == "enabled" {
				want = folder
			}
			for _, invoked := range []bool{true, false} {
				w.Invoked = invoked
				assert.Equal(t, want, w.locate("r:x", project).Path, "invoked: %v", invoked)
			}
		})
	}
}
