package settings

import "github.com/fsmtx/fsmtx/internal/shell"

// call is what an entry of the settings makes the client run.
type call struct {
	program string
	args    []string
	shell   bool // the client runs it through a shell
}

// shellCall reads a command line that calls one program and does nothing else. ok
// is false for any other line: a user wrote it, and it is not edited.
func shellCall(line string) (c call, ok bool) {
	words, ok := shell.Call(line)
	if !ok {
		return call{}, false
	}
	return call{program: words[0], args: words[1:], shell: true}, true
}
