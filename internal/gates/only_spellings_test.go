package gates

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/permission"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// spellingRules are the rules that the lines of testdata/only are about.
var spellingRules = []string{
	"Bash(git push *)", "Bash(npm publish:*)", "Bash(make publish *)", "Bash(kubectl delete *)", "Bash(./deploy.sh *)",
}

// linesOfFile returns the lines of a file in testdata/only, in which ⏎ stands for a line feed.
func linesOfFile(t *testing.T, name string) (lines []string) {
	data, err := os.ReadFile("testdata/only/" + name)
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "# Lines") {
			lines = append(lines, strings.ReplaceAll(line, "⏎", "\n"))
		}
	}
	return lines
}

func spellingList(t *testing.T) (list []listing) {
	for i, text := range spellingRules {
		rule, ok := permission.Parse(text)
		require.True(t, ok)
		list = append(list, listing{&state.RecordedStep{Step: &workflow.Step{ID: int64(i + 1)}, Workflow: &workflow.Workflow{Dir: "/p"}}, text,
			rule})
	}
	return list
}

// TestSpellings: no way to write a command that a rule covers gets past it.
func TestSpellings(t *testing.T) {
	list, lines := spellingList(t), linesOfFile(t, "spellings.txt")
	require.Greater(t, len(lines), 210)
	for _, line := range lines {
		assert.NotEmpty(t, ToolCall{Tool: "Bash", Line: line}.covered(list), "passes: %s", line)
	}
}

// TestInnocentLines: of the lines that run something else only these are refused.
func TestInnocentLines(t *testing.T) {
	refused := []string{}
	list, lines := spellingList(t), linesOfFile(t, "innocent.txt")
	require.Greater(t, len(lines), 90)
	for _, line := range lines {
		if len(ToolCall{Tool: "Bash", Line: line}.covered(list)) > 0 {
			refused = append(refused, line)
		}
	}
	assert.Equal(t, []string{"find . -name deploy.sh", `npm test && echo "next: git push" >> notes.md`}, refused)
}
