package hooks

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
)

// Result is the result of one event.
type Result struct {
	Plan       *Plan        `json:"plan"`
	Skipped    []Problem    `json:"skipped,omitzero"` // configured hooks that did not run, and why
	Results    []HookResult `json:"results"`
	Aggregated Aggregated   `json:"aggregated"`
	Policy     Policy       `json:"policy"`
	Logs       []LogEntry   `json:"logs"`

	Subject string `json:"-"` // what matchers were tested on
}

// HookResult is the result of one hook.
type HookResult struct {
	Command  string          `json:"command"`
	Success  bool            `json:"success"`  // it exited with 0
	ExitCode int             `json:"exitCode"` // 0 too if a signal ended it or it did not start
	Signal   string          `json:"signal,omitzero"`
	Stdout   string          `json:"stdout"`
	Stderr   string          `json:"stderr"`
	Cut      []string        `json:"cut,omitzero"` // streams that were truncated
	Output   *dialect.Output `json:"output"`
	Error    string          `json:"error,omitzero"`
	// Environment is what the hook wrote into the file of [dialect.Event.EnvFile], such as
	// "export A=1".
	Environment string `json:"environment,omitzero"`

	Counted  []string `json:"counted,omitzero"` // the parts of its output that count
	Notes    []string `json:"notes,omitzero"`   // what was ignored
	Duration Elapsed  `json:"duration_ms"`

	answered bool // it counts although it did not exit with 0
	fromText bool // its output is what the dialect makes of a text
}

// Failed reports whether the hook did not start, was stopped, or ended in a way that means
// nothing but a failure. A hook that blocks by exit 2 did not fail.
func (r HookResult) Failed() bool { return !r.Success && !r.answered }

// Aggregated is the merged result of all hooks. Success says whether all of them exited with
// 0 and is not a decision: a hook that blocks by exit 2 makes it false.
type Aggregated struct {
	Success       bool             `json:"success"`
	FinalOutput   *dialect.Output  `json:"finalOutput"`
	AllOutputs    []dialect.Output `json:"allOutputs"`
	Errors        []string         `json:"errors"`
	TotalDuration Elapsed          `json:"totalDuration"` // the sum over all hooks
}

// Policy is what the caller has to do.
type Policy struct {
	// Verdict is what the hooks decided: undecided, allow, ask, defer or deny.
	// Undecided is not allow: the agent does what it would have done without hooks.
	Verdict string `json:"verdict"`

	Blocking          bool   `json:"blocking"`
	Stop              bool   `json:"stop"`
	Reason            string `json:"reason,omitzero"` // of a block, a stop or a question
	Decision          string `json:"decision,omitzero"`
	SystemMessage     string `json:"systemMessage,omitzero"`
	SuppressOutput    bool   `json:"suppressOutput"`
	AdditionalContext string `json:"additionalContext,omitzero"`

	SessionTitle     string   `json:"sessionTitle,omitzero"`
	TerminalSequence string   `json:"terminalSequence,omitzero"`
	WatchPaths       []string `json:"watchPaths,omitzero"`
	Retry            bool     `json:"retry,omitzero"`

	TailToolCall jsontext.Value `json:"tailToolCall,omitzero"` // another tool to call, after a tool
	ClearContext bool           `json:"clearContext,omitzero"` // the agent forgets the conversation

	Content jsontext.Value `json:"content,omitzero"` // Elicitation: the answer in place of the user's

	ToolInput         jsontext.Value `json:"toolInput,omitzero"`         // before a tool: its changed input
	ToolOutput        jsontext.Value `json:"toolOutput,omitzero"`        // after a tool: what the model reads in place of its result
	SyntheticResponse jsontext.Value `json:"syntheticResponse,omitzero"` // BeforeModel: the answer in place of the model's
	ModifiedRequest   jsontext.Value `json:"modifiedRequest,omitzero"`   // BeforeModel
	ModifiedResponse  jsontext.Value `json:"modifiedResponse,omitzero"`  // AfterModel
	ToolConfig        jsontext.Value `json:"toolConfig,omitzero"`        // BeforeToolSelection
	Tools             jsontext.Value `json:"tools,omitzero"`             // BeforeToolSelection: the tools, unchanged

	ignored string // for the log: the effect that an output does not have, and why
}

// The levels of log entries.
const (
	levelDebug = "debug"
	levelWarn  = "warn"
)

// LogEntry is a line for the caller's log.
type LogEntry struct {
	Level   string `json:"level"`
	Message string `json:"msg"`
}

// Elapsed is a duration whose JSON is milliseconds, to the microsecond.
type Elapsed time.Duration

// MarshalJSON returns e as a number of milliseconds.
func (e Elapsed) MarshalJSON() ([]byte, error) {
	ms := float64(time.Duration(e).Microseconds()) / 1000
	return strconv.AppendFloat(nil, ms, 'f', -1, 64), nil
}

// milliseconds returns e in whole milliseconds.
func (e Elapsed) milliseconds() int64 { return time.Duration(e).Milliseconds() }

// newResult returns the result of an event for which no hook ran.
func newResult() *Result {
	return &Result{
		Policy:     Policy{Verdict: dialect.Undecided},
		Results:    []HookResult{},
		Aggregated: Aggregated{Success: true, AllOutputs: []dialect.Output{}, Errors: []string{}},
		Logs:       []LogEntry{},
	}
}

// Warnings returns the warnings in the log.
func (r *Result) Warnings() []string {
	var found []string
	for _, entry := range r.Logs {
		if entry.Level == levelWarn {
			found = append(found, entry.Message)
		}
	}
	return found
}

func (r *Result) warn(message string) {
	r.Logs = append(r.Logs, LogEntry{levelWarn, message})
}
