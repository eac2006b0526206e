package trial

import (
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/write"
)

// writeFirst writes a first test for each workflow that has none.
func writeFirst(s terminal.Streams, cwd string, suites []*suite) error {
	written := 0
	for _, one := range suites {
		if len(one.tests) > 0 {
			continue
		}
		path, err := write.WriteFirstTest(one.spec)
		if err != nil {
			return err
		}
		written++
		message.Fprintf(s.Out, "%s: a first test\n", command.Relative(cwd, path))
	}
	if written == 0 {
		return s.Printf("every workflow has a test\n")
	}
	s.Hintf("%s test runs them", shell.Join("fsmtx"))
	return nil
}
