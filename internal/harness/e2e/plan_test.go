//go:build e2e

package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// plans are plans in the forms in which spec-kit and OpenSpec write them, each with two boxes that are open.
var plans = map[string]string{
	"specs/001-import/tasks.md": "# Tasks: Import\n\n## Phase 1: Setup\n\n- [x] T001 Create the project in src/\n" +
		"- [ ] T002 [P] Write the test in tests/import_test.go\n\n## Phase 2: User Story 1 (Priority: P1)\n\n" +
		"- [ ] T003 [US1] Parse the file in src/parse.go\n",
	"openspec/changes/add-import/tasks.md": "## 1. Parser\n\n- [x] 1.1 Create the package\n- [ ] 1.2 Write the test\n\n## 2. Command\n\n" +
		"- [ ] 2.1 Add the command\n",
}

// TestAPlanIsHeldStepByStep: the boxes are the steps, in their order; each is ticked as its step is done, whether the agent works
// with commands or with the task tools.
func TestAPlanIsHeldStepByStep(t *testing.T) {
	for path, text := range plans {
		for _, byTools := range []bool{false, true} {
			t.Run(path, func(t *testing.T) {
				t.Parallel()
				s := realclient.New(t)
				s.Write("project/"+path, text)
				onPath(s)
				installed(t, s)
				s.Allow = []string{"Bash", "ToolSearch", "TaskUpdate", "TaskList"}
				complete := func(id, task string) Turn {
					if byTools {
						return Do(TaskUpdate(id, task, "completed"))
					}
					return Do(Bash(id, "fsmtx complete "+task))
				}
				shows := func(id string) Turn { return Do(Bash(id, "grep -c '\\[x\\]' "+path)) }
				r := s.Prompt(Script{Main: []Turn{Do(Bash("begin", "fsmtx begin --plan "+path)), load,
					complete("too early", "3"), shows("one"), complete("second", "2"), shows("two"), complete("third", "3"), shows("three"),
					Say("done")}}, "work on the plan")

				assert.Contains(t, r.Text("begin"), "3 tasks #1–#3")
				assert.Contains(t, denied(t, r, "too early"), "#2")
				allowed(t, r, "begin", "second", "third")
				for id, want := range map[string]string{"one": "1", "two": "2", "three": "3"} {
					assert.Equal(t, want, strings.TrimSpace(r.Text(id)), id)
				}
				got, err := os.ReadFile(s.Path("project/" + path))
				require.NoError(t, err)
				assert.Equal(t, strings.ReplaceAll(text, "[ ]", "[x]"), string(got))
			})
		}
	}
}
