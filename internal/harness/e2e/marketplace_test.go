//go:build e2e

package e2e

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// TestACloneIsAMarketplace: its plugin runs the program on PATH, or says how to get it.
func TestACloneIsAMarketplace(t *testing.T) {
	s := realclient.New(t)
	clone, err := filepath.Abs("../../..")
	assert.NoError(t, err)
	s.Claude("plugin", "validate", "--strict", clone)
	s.Claude("plugin", "validate", "--strict", filepath.Join(clone, ".claude-plugin", "plugin"))
	s.Claude("plugin", "marketplace", "add", clone)
	s.Claude("plugin", "install", "fsmtx@fsmtx")
	skill(s, projectSkills, "release", `[{"id": 1, "subject": "Write"}, {"id": 2, "subject": "Publish", "blockedBy": [1]}]`)

	r := s.Prompt(Script{Main: []Turn{Say("done")}}, "go")
	assert.Contains(t, r.Stdout, "Get it by git clone https://github.com/fsmtx/fsmtx")

	onPath(s)
	s.Session = realclient.NewSession()
	r = s.Prompt(Script{Main: append(begun(), Do(TaskUpdate("early", "2", "completed")), Do(TaskList("list")),
		Say("done"), Say("done"))}, "go")
	assert.Equal(t, []string{"#1 [pending] Write", "#2 [pending] Publish [blocked by #1]"}, taskLines(t, r, "list"))
	assert.Contains(t, r.Text("early"), `#1 "Write" must be done first`)
}
