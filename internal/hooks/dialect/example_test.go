package dialect_test

import (
	"fmt"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/hooks/process"
)

// A row of a table is applied to a hook that has exited with 2.
func ExampleDialect_Read() {
	outcome := process.Outcome{ExitCode: 2, Stderr: "not here"}
	for _, d := range dialect.All() {
		row, _ := d.Event(d.Around.BeforeTool)
		fmt.Println(d.Title, d.Read(row, outcome).Output.Raw())
	}
	// Output:
	// LLxprt Code {"decision":"deny","reason":"not here"}
	// Gemini CLI {"decision":"deny","reason":"not here"}
	// Claude Code {"decision":"block","reason":"not here"}
	// Codex {"decision":"block","reason":"not here"}
}
