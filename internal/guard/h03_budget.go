package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/statefile"
)

func researchBudget() Guard {
	return Guard{
		ID: "H03", Name: "H03_research_budget", Event: event.PreToolUse,
		Matcher: "mcp__(plugin_.+_)?(context7|Ref|tavily)__.*",
		Flag:    "hooks_budget_tracker", Timeout: 3,
		Brief: "research calls stay within the session's and the phase's budget",
		Rows: []string{
			"not a call of context7, Ref or tavily, or no session id",
			"the budget file is missing or broken: counting starts at 0",
			"the state file names another phase: the phase's count starts at 0",
			"the same call was counted before",
			"the session's budget is used up",
			"the phase's budget is used up",
			"anything else: the call is counted, with a warning near a limit",
		},
		judge: judgeResearch,
	}
}

func judgeResearch(c *call) (Verdict, error) {
	server, ok := researchServer(c.event.ToolName)
	if !ok {
		return passed(1, "Not a research tool: "+c.event.ToolName), nil
	}
	if !c.session.Known() {
		return passed(1, "No session id"), nil
	}
	request := charge{
		key:    callKey(c.event.ToolName, c.event.ToolInput),
		server: server,
		phase:  c.readState().Phase,
		config: c.config,
	}
	c.fact("server", server)
	c.fact("call", request.key)
	v, reset, err := c.spend(request)
	if errors.Is(err, statefile.ErrBusy) {
		return passed(0, "Lock contention on budget file"), nil
	}
	if reset != nil {
		c.log("RESET", "Budget file unusable, counting from 0: "+reset.Error())
	}
	return v, err
}

// spend does the whole of reading, checking and counting under the lock.
func (c *call) spend(request charge) (v Verdict, reset, err error) {
	err = c.update(c.session.Budget(), func(old []byte) ([]byte, error) {
		var before Budget
		before, reset = parseBudget(old)
		c.fact("session calls", fmt.Sprintf("%d/%d", before.SessionTotal, c.config.SessionCalls))
		c.fact("phase calls", fmt.Sprintf("%d/%d in %s", before.PhaseTotal, c.config.PhaseCalls, orElse(before.CurrentPhase, "unknown")))
		after, verdict := request.on(before)
		v = verdict
		if after.SessionTotal == before.SessionTotal {
			return nil, nil
		}
		return after.encode()
	})
	return v, reset, err
}

// charge is one research call to be counted.
type charge struct {
	key    string // equal for calls that are the same
	server string
	phase  string // the workflow's, empty if unknown
	config Config
}

// on is the table of H03 from row 3: what becomes of the budget, and the
// verdict. The budget changes only if the call is counted.
func (r charge) on(b Budget) (Budget, Verdict) {
	before := b
	if r.phase != "" && r.phase != b.CurrentPhase {
		b.PhaseTotal, b.CurrentPhase = 0, r.phase
	}
	switch {
	case b.counted(r.key):
		return before, passed(4, "Duplicate call (retry), not incrementing")
	case b.SessionTotal >= r.config.SessionCalls:
		return before, denied(5, fmt.Sprintf("DENIED: Research MCP session budget exhausted (%d/%d calls). No more research calls allowed this session.", b.SessionTotal, r.config.SessionCalls))
	case b.PhaseTotal >= r.config.PhaseCalls:
		return before, denied(6, fmt.Sprintf("DENIED: Research MCP phase budget exhausted (%d/%d calls). Proceed to next phase or consolidate existing research.", b.PhaseTotal, r.config.PhaseCalls))
	}
	b = b.plus(r.server, r.key)
	return b, r.counted(b)
}

// counted is row 7: the numbers are those after this call.
func (r charge) counted(b Budget) Verdict {
	text := ""
	if near(b.SessionTotal, r.config.SessionCalls, r.config.WarnPercent) {
		text += fmt.Sprintf("WARNING: Session budget at %d/%d (%d%% threshold). ", b.SessionTotal, r.config.SessionCalls, r.config.WarnPercent)
	}
	if near(b.PhaseTotal, r.config.PhaseCalls, r.config.WarnPercent) {
		text += fmt.Sprintf("WARNING: Phase budget at %d/%d. ", b.PhaseTotal, r.config.PhaseCalls)
	}
	if text == "" {
		return passed(7, fmt.Sprintf("Budget OK: session=%d/%d, phase=%d/%d", b.SessionTotal, r.config.SessionCalls, b.PhaseTotal, r.config.PhaseCalls))
	}
	return Verdict{
		Row: 7, Word: "ALLOW+WARN", Detail: strings.TrimSpace(text), kind: warn,
		Message: text + "Consider consolidating research before making more calls.",
	}
}

// near compares by division, which cannot overflow whatever the file says.
func near(n, limit, percent int) bool {
	return float64(n)*100 >= float64(limit)*float64(percent)
}

// researchServer returns the server of a research tool, by the same pattern
// as the matcher; a plugin's server has the plugin's name before it. Case does
// not matter: the name of a server is the user's to choose.
func researchServer(tool string) (string, bool) {
	name, ok := strings.CutPrefix(strings.ToLower(tool), "mcp__")
	if !ok {
		return "", false
	}
	scoped, isPlugin := strings.CutPrefix(name, "plugin_")
	for _, server := range []string{"context7", "ref", "tavily"} {
		if strings.HasPrefix(name, server+"__") || isPlugin && strings.Index(scoped, "_"+server+"__") > 0 {
			return server, true
		}
	}
	return "", false
}

// callKey is the same for two calls of a tool with the same input, in whatever
// order its members come. Whole numbers keep every digit.
func callKey(tool string, input jsontext.Value) string {
	canonical := input.Clone()
	if err := canonical.Canonicalize(lenient, jsontext.CanonicalizeRawInts(false)); err != nil {
		canonical = input
	}
	sum := sha256.Sum256(canonical)
	return tool + "_" + hex.EncodeToString(sum[:])
}
