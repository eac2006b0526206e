package locator_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/locator"
)

// The search in parent directories ends below the home, by whichever path that is named.
func TestTheSearchEndsBelowALinkedHome(t *testing.T) {
	root := worlds.Tree(t, "link -> home", "home/project/sub/", "home/project/.claude/skills/near/SKILL.md",
		"home/project/.claude/skills/near/fsm.json",
		"home/.claude/skills/far/SKILL.md", "home/.claude/skills/far/fsm.json")
	for _, home := range []string{"home", "link"} {
		l := locator.Locator{FS: locator.OS{}, ConfigDir: filepath.Join(root, "config"), Home: filepath.Join(root, home)}
		for name, found := range map[string]bool{"near": true, "far": false} {
			r, err := l.Locate(name, filepath.Join(root, "home/project/sub"))
			require.NoError(t, err)
			assert.Equal(t, found, r.Found(), "%s with HOME at %s", name, home)
		}
	}
}
