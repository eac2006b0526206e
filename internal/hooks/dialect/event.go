package dialect

import "time"

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

	// Values are what the subject may be, if they are known.
	Values []string

	// Base is whether matchers are tested on the last element of a path.
	Base bool

	// Said is what an exit code and an output mean.
	Said Said

	// Merge is how the outputs of several hooks become one.
	Merge Merge

	// Chain is how the output of a hook changes the input of the next one, when hooks
	// run one after the other.
	Chain Chain

	// Effect is what the output changes, beyond a decision.
	Effect Effect

	// Blocks is whether the agent honours a block. The decision is reported either way.
	Blocks bool

	// StopBlocks is whether continue:false blocks as well.
	StopBlocks bool

	// Permissions is whether hookSpecificOutput.permissionDecision may block.
	Permissions bool

	// Behavior is whether only hookSpecificOutput.decision.behavior decides.
	Behavior bool

	// Action is whether only hookSpecificOutput.action decides.
	Action bool

	// IgnoresStop is whether continue:false changes nothing.
	IgnoresStop bool

	// Verbatim is whether an object on standard output that does not block is context as a
	// whole, as text is.
	Verbatim bool

	// Guards is whether a mistake in one of its hooks drops the whole file.
	Guards bool

	// EnvFile names the variable with a file whose lines set the environment of the agent's
	// shell, if the event has one.
	EnvFile string

	// Timeout is the time limit of its hooks, if it is not the dialect's.
	Timeout time.Duration
}

// Said maps each way in which a hook can end to its meaning for the agent. A JSON
// object on standard output with exit 0 always means its fields.
type Said struct {
	Text      Meaning // exit 0, standard output is text
	OtherJSON Meaning // exit 0, standard output is JSON but not an object
	Broken    Meaning // exit 0, standard output begins with { and is not JSON
	Exit2     Meaning // exit 2; the text is standard error
	Failure   Meaning // any other exit code, or a signal; the text is standard error
}

// Meaning is what a text of a hook means for the agent.
type Meaning int

const (
	// Nothing means that the text is ignored.
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
	// MergeVotes is MergeAny without a decision if no hook takes one.
	MergeVotes
	// MergeFields takes each field from the last hook that has it; a block stays a block.
	MergeFields
	// MergeReplace takes each field from the last hook that has it, a decision too.
	MergeReplace
	// MergeSelection unites the allowed function names and takes the strictest mode.
	MergeSelection
	// MergeLast takes each field from the last hook that has it.
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
)
