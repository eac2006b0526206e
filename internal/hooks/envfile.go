package hooks

import (
	"os"

	"github.com/fsmtx/fsmtx/internal/hooks/process"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// maxEnvFile limits the size of the file that is read, in bytes.
const maxEnvFile = 8 << 20

// withEnvFile creates a file for the environment of the agent's shell and passes its path to
// the hook in the named variable. contents returns what the hook wrote into the file, and
// remove removes it. Without a name, or if the file cannot be created, the hook gets no file.
func withEnvFile(name string, c *process.Command) (contents func() string, remove func()) {
	if name == "" {
		return func() string { return "" }, func() {}
	}
	file, err := os.CreateTemp("", "hook-environment-*")
	if err != nil {
		return func() string { return "" }, func() {}
	}
	path := file.Name()
	_ = file.Close() // nothing was written that an error could lose
	c.Env = append(c.Env, name+"="+path)
	return func() string {
		text, _ := safefile.ReadFile(path, maxEnvFile, 0) // a hook may have removed or replaced it
		return string(text)
	}, func() { _ = os.Remove(path) }
}
