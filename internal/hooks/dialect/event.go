package dialect

import (
	"time"

	"github.com/fsmtx/fsmtx/internal/hooks/process"
)

// The names of events that the engine fires itself.
const (
	BeforeTool          = "BeforeTool"
	AfterTool           = "AfterTool"
	BeforeModel         = "BeforeModel"
	AfterModel          = "AfterModel"
	BeforeToolSelection = "BeforeToolSelection"
)

// ToolName is the subject of tool events.
const ToolName = "tool_name"

// Event is one row of a dialect's table.
type Event struct {
	Name string

	// Subject is the field of the input that matchers are tested on. Without one,
	// matchers are ignored.
	Subject string

	// BaseName tests matchers on the last element of a path.
	BaseName bool

	// Meanings says what an exit code and a text mean.
	Meanings Meanings

	// Merge is how the outputs of several hooks become one.
	Merge Merge

	// Chain is how the output of a hook changes the input of the next one, when hooks
	// run one after the other.
	Chain Chain

	// Effect is what the output changes, beyond a decision.
	Effect Effect

	// Blocks is set if the agent honours a block. The decision is reported either way.
	Blocks bool

	// StopBlocks makes continue:false block as well.
	StopBlocks bool

	// IgnoresStop makes continue:false change nothing.
	IgnoresStop bool

	// OnlyBlocks makes a decision that does not block no decision: there is nothing to allow.
	OnlyBlocks bool

	// ContextBlocks makes additional context block as well: the agent goes on with it.
	ContextBlocks bool

	// Permissions adds hookSpecificOutput.permissionDecision to the fields that decide.
	Permissions bool

	// Behavior makes hookSpecificOutput.decision.behavior the only field that decides.
	Behavior bool

	// Action adds hookSpecificOutput.action to the fields that decide. It counts only
	// with exit 0.
	Action bool

	// Verbatim makes an object on standard output that does not block context as a whole,
	// as if it were text.
	Verbatim bool

	// DropsFile makes a mistake in one of its hooks drop the whole file.
	DropsFile bool

	// EnvFile names the variable with the path of a file. The lines that a hook writes
	// into the file set the environment of the agent's shell.
	EnvFile string

	// Timeout is the default time limit of its hooks, if it is not the dialect's.
	Timeout time.Duration
}

// Meanings says what the text of a hook means for the agent, for each way in which the hook
// can end. The text is standard output with exit 0, and standard error otherwise. If
// Answers.Objects says that a JSON object is read, its fields apply instead.
//
// For an agent with ObjectsOnAnyStream the text is always standard output, or standard error
// if that is empty, and OtherJSON and Broken are not used.
type Meanings struct {
	Text      Meaning // exit 0, and standard output is text
	OtherJSON Meaning // exit 0, and standard output is JSON but not an object
	Broken    Meaning // exit 0, and standard output begins with { and is not JSON
	Exit1     Meaning // exit 1
	Exit2     Meaning // exit 2
	Failure   Meaning // any other exit code
	Signal    Meaning // death by a signal
}

// ExitBlock is the exit code by which a hook blocks.
const ExitBlock = 2

// of returns what the text of a hook means, by how the hook ended.
func (m Meanings) of(o process.Outcome) Meaning {
	switch {
	case o.Signal != "":
		return m.Signal
	case o.ExitCode == 0:
		return m.Text
	case o.ExitCode == 1:
		return m.Exit1
	case o.ExitCode == ExitBlock:
		return m.Exit2
	}
	return m.Failure
}

// Meaning is what a text of a hook means for the agent.
type Meaning int

const (
	// Nothing ignores the text.
	Nothing Meaning = iota
	// SystemMessage allows, with the text as the system message.
	SystemMessage
	// Warning allows, with "Warning: " and the text as the system message.
	Warning
	// Context makes the text additional context for the model.
	Context
	// Block blocks, with the text as the reason.
	Block
)

// Merge is a strategy to merge the outputs of several hooks.
type Merge int

const (
	// MergeAny lets any hook block or stop, joins texts by line and takes other fields
	// from the last hook that has them.
	MergeAny Merge = iota + 1
	// MergeVotes is MergeAny without a decision if no hook makes one.
	MergeVotes
	// MergeFields takes each field from the last hook that has it; a block stays a block.
	MergeFields
	// MergeReplace takes each field from the last hook that has it, the decision too.
	MergeReplace
	// MergeSelection unites the allowed function names and takes the strictest mode.
	MergeSelection
	// MergeLast is MergeReplace for events without a decision: hookSpecificOutput is
	// replaced as a whole.
	MergeLast
)

// Chain is what a hook passes to the next one.
type Chain int

// What a hook may change for the next one.
const (
	NoChain Chain = iota
	ChainToolInput
	ChainModelRequest
	ChainPrompt
)

// Effect is what an output may change.
type Effect int

// What an output may change.
const (
	NoEffect Effect = iota
	ChangesToolInput
	ChangesModelRequest
	ChangesModelResponse
	ChangesToolConfig
	ChangesToolOutput
	GrantsToolInput // the decision about a permission request may have another input
)
