package hooks_test

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
)

// An agent fires an event and does what the policy says. HOOK-142, HOOK-175, HOOK-176
func ExampleEngine_Fire() {
	engine := hooks.New(hooks.Config{
		Dialect: dialect.LLxprt(),
		Session: hooks.Session{ID: "s-1", Cwd: "/"},
		Enabled: true,
		Load: func() ([]hooks.Source, error) {
			return []hooks.Source{{
				Scope: dialect.Project,
				Hooks: jsontext.Value(`{"BeforeTool": [{"matcher": "write", "hooks": [{"type": "command", "command": "echo not here >&2; exit 2"}]}]}`),
			}}, nil
		},
	})
	result := engine.Fire(context.Background(), dialect.BeforeTool, hooks.Input{
		Fields: jsontext.Value(`{"tool_name": "write_file", "tool_input": {"path": "a.txt"}}`),
	})
	policy := result.Policy
	fmt.Println(policy.Blocking, policy.Reason)
	// Output: true not here
}
