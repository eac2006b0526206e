package rules_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// program returns a command that runs this program with the environment of the world.
func (w *world) program(stdin string, args ...string) *exec.Cmd {
	cmd := exec.Command(must(os.Executable()))
	cmd.Args = append([]string{"fsmtx"}, args...)
	cmd.Stdin = bytes.NewReader([]byte(stdin))
	cmd.Env = []string{"GORACE=" + os.Getenv("GORACE"), "GOCOVERDIR=" + w.TempDir()} // a covered program warns if it is not set
	for name, value := range w.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

func TestFortyConcurrentProcessesAreAllCounted(t *testing.T) {
	w := newWorld(t, scenario{Config: "research_mcp: {budget: {total_calls_per_session: 40, total_calls_per_phase: 100}}\n"})
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			cmd := w.program(fmt.Sprintf(`{"session_id":%q,"tool_name":"mcp__tavily__search","tool_input":{"q":%d}}`, testSession, i),
				"guard", "H03")
			must(cmd.CombinedOutput())
		})
	}
	all.Wait()
	b := w.budget()
	assert.Equal(t, 40, b.SessionTotal)
	assert.Equal(t, 40, b.PerServer["tavily"])
	assert.Len(t, b.CallHashes, 40)
	assert.True(t, w.ask("H03", research("one more")).blocked)
}
