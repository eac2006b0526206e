package settings

import "github.com/fsmtx/fsmtx/internal/shell"

// call is the program that an entry of the settings runs.
type call struct {
	program string
	args    []string
	shell   bool // it runs through a shell (fact 24, client 2.1.197)
}

// shellCall parses a shell command line that calls one program and does nothing else. ok
// is false for any other line: a user wrote that one, so it is not edited.
func shellCall(line string) (c call, ok bool) {
	words, ok := shell.Call(line)
	if !ok {
		return call{}, false
	}
	return call{program: words[0], args: words[1:], shell: true}, true
}
