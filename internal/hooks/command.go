package hooks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/hooks/process"
)

// errModel is returned when a command that is run as the model prints no response.
var errModel = errors.New("the model gave no response")

// Command is a command that is run as a tool or as the model: it reads the tool's input or
// the model's request on standard input and answers on standard output.
type Command struct {
	Args []string // the program and its arguments
	Cwd  string
}

// Tool runs the command as a tool.
func (c Command) Tool(ctx context.Context, input jsontext.Value) (ToolResult, error) {
	o := c.run(ctx, input)
	return ToolResult{LLMContent: o.Stdout, ReturnDisplay: o.Stdout}, failureOf(o)
}

// Model runs the command as a model. Its output is one response, or a stream of
// chunks.
func (c Command) Model(ctx context.Context, request jsontext.Value) (jsontext.Value, error) {
	o := c.run(ctx, request)
	if err := failureOf(o); err != nil {
		return nil, fmt.Errorf("%w: %w", errModel, err)
	}
	response, err := dialect.Collect(o.Stdout)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errModel, err)
	}
	return response, nil
}

func (c Command) run(ctx context.Context, stdin []byte) process.Outcome {
	return process.Command{Args: c.Args, Dir: c.Cwd, Env: os.Environ(), Stdin: stdin, Timeout: math.MaxInt64}.Run(ctx)
}

// failureOf returns an error that says how a process failed, nil if it exited with 0.
func failureOf(o process.Outcome) error {
	if o.Err != nil || o.Exited(0) {
		return o.Err
	}
	return errors.New(failure(HookResult{ExitCode: o.ExitCode, Signal: o.Signal, Stderr: o.Stderr}))
}
