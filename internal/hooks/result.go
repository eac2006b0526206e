package hooks

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Result is what came of one event.
type Result struct {
	Plan       *Plan        `json:"plan"`
	Results    []HookResult `json:"results"`
	Aggregated Aggregated   `json:"aggregated"`
	Policy     Policy       `json:"policy"`
	Logs       []LogEntry   `json:"logs"`
}

// HookResult is what came of one hook. Success is that it ran and exited with 0,
// and nothing else.
type HookResult struct {
	Command  string   `json:"command"`
	Success  bool     `json:"success"`
	ExitCode int      `json:"exitCode"` // 0 too if a signal or nothing ended it
	Signal   string   `json:"signal,omitzero"`
	Stdout   string   `json:"stdout"`
	Stderr   string   `json:"stderr"`
	Cut      []string `json:"cut,omitzero"` // streams of which not all was kept
	Output   *Output  `json:"output"`
	Error    string   `json:"error,omitzero"`
	Duration Elapsed  `json:"duration_ms"`

	blocked bool // exit 2: it did its job
}

// failed reports whether the hook did not do its job.
func (r HookResult) failed() bool { return !r.Success && !r.blocked }

// Aggregated is what the hooks said together. Success is the health of their
// execution, not the decision: a hook that blocks by exit 2 makes it false.
type Aggregated struct {
	Success       bool     `json:"success"`
	FinalOutput   *Output  `json:"finalOutput"`
	AllOutputs    []Output `json:"allOutputs"`
	Errors        []string `json:"errors"`
	TotalDuration Elapsed  `json:"totalDuration"` // of all hooks one by one
}

// Policy is what the hooks' words mean for the caller.
type Policy struct {
	Blocking          bool   `json:"blocking"`
	Stop              bool   `json:"stop"`
	Reason            string `json:"reason,omitzero"` // why it blocks or stops
	Decision          string `json:"decision,omitzero"`
	SystemMessage     string `json:"systemMessage,omitzero"`
	SuppressOutput    bool   `json:"suppressOutput"`
	AdditionalContext string `json:"additionalContext,omitzero"`

	ToolInput         jsontext.Value `json:"toolInput,omitzero"`         // before a tool
	SyntheticResponse jsontext.Value `json:"syntheticResponse,omitzero"` // BeforeModel
	ModifiedRequest   jsontext.Value `json:"modifiedRequest,omitzero"`   // BeforeModel
	ModifiedResponse  jsontext.Value `json:"modifiedResponse,omitzero"`  // AfterModel
	ToolConfig        jsontext.Value `json:"toolConfig,omitzero"`        // BeforeToolSelection
	Tools             jsontext.Value `json:"tools,omitzero"`             // BeforeToolSelection, as they came
}

// LogEntry is a line for a log; its level is debug or warn.
type LogEntry struct {
	Level   string `json:"level"`
	Message string `json:"msg"`
}

// MarshalJSON writes a plan as it is shown.
func (p *Plan) MarshalJSON() ([]byte, error) {
	type shownHook struct {
		Type    string   `json:"type"`
		Name    string   `json:"name,omitzero"`
		Command string   `json:"command"`
		Args    []string `json:"args,omitzero"`
		Timeout Elapsed  `json:"timeout_ms"`
		Matcher string   `json:"matcher,omitzero"`
		Scope   Scope    `json:"source"`
		From    string   `json:"from,omitzero"`
	}
	shown := struct {
		Sequential bool        `json:"sequential"`
		Hooks      []shownHook `json:"hooks"`
	}{Sequential: p.Sequential}
	for _, h := range p.Hooks {
		shown.Hooks = append(shown.Hooks, shownHook{h.Type, h.Name, h.Command, h.Args, Elapsed(h.Timeout), h.Matcher, h.Scope, h.Source})
	}
	return json.Marshal(shown, tolerant)
}

// Elapsed is a duration that is written as milliseconds, to the microsecond.
type Elapsed time.Duration

// MarshalJSON writes e as a number of milliseconds.
func (e Elapsed) MarshalJSON() ([]byte, error) {
	ms := float64(time.Duration(e).Microseconds()) / 1000
	return strconv.AppendFloat(nil, ms, 'f', -1, 64), nil
}

func (e Elapsed) milliseconds() int64 { return time.Duration(e).Milliseconds() }

// empty is the result of an event for which nothing ran.
func empty() *Result {
	return &Result{
		Results:    []HookResult{},
		Aggregated: Aggregated{Success: true, AllOutputs: []Output{}, Errors: []string{}},
		Logs:       []LogEntry{},
	}
}

func (r *Result) warn(message string)  { r.Logs = append(r.Logs, LogEntry{"warn", message}) }
func (r *Result) debug(message string) { r.Logs = append(r.Logs, LogEntry{"debug", message}) }
