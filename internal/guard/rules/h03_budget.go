package rules

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/statefile"
)

func h03(config Config) guard.Rule {
	return guard.Rule{
		ID: "H03", Name: "H03_research_budget", Event: event.PreToolUse,
		Matcher: "mcp__(plugin_.+_)?(" + alternatives(config.Servers) + ")__.*",
		Flag:    "hooks_budget_tracker", Timeout: 3,
		Brief: "research calls stay within the session's and the phase's budget",
		Rows:  budgetRows, Decide: decide(researchBudget),
		Keeps:    []guard.Kept{{What: "research budget", Path: BudgetFile}},
		Settings: []string{"feature_flags.hooks_budget_tracker", "research_mcp"},
	}
}

var budgetRows = []string{
	"not a call of context7, Ref or tavily, or no session id",
	"the budget file is missing or broken: counting starts at 0",
	"the state file names another phase: the phase's count starts at 0",
	"the same call was counted before",
	"the session's budget is used up",
	"the phase's budget is used up",
	"anything else: the call is counted, with a warning near a limit",
}

func researchBudget(c *call) (guard.Verdict, error) {
	server, ok := researchServer(c.Event.ToolName, c.config.Servers)
	if !ok {
		return guard.Pass(1, "Not a research tool: "+c.Event.ToolName), nil
	}
	if !c.Session.Known() {
		return guard.Pass(1, "No session id"), nil
	}
	request := charge{
		key:    callKey(c.Event.ToolName, c.Event.ToolInput),
		server: server,
		phase:  c.readState().Phase,
		config: c.config,
	}
	c.Fact("server", server)
	c.Fact("call", request.key)
	v, broken, err := c.spend(request)
	if errors.Is(err, statefile.ErrBusy) {
		return guard.Pass(0, "Lock contention on budget file"), nil
	}
	if broken != nil {
		c.Log("RESET", "Budget file unusable, counting from 0: "+broken.Error())
	}
	return v, err
}

// spend reads, decides and counts under one lock, so that parallel calls cannot
// exceed the budget together. broken is why the budget file could not be read.
func (c *call) spend(request charge) (v guard.Verdict, broken, err error) {
	err = c.Update(BudgetFile(c.Session), func(old []byte) ([]byte, error) {
		var before, after Budget
		before, broken = parseBudget(old)
		c.Fact("session calls", fmt.Sprintf("%d/%d", before.SessionTotal, c.config.SessionCalls))
		c.Fact("phase calls", fmt.Sprintf("%d/%d in %s", before.PhaseTotal, c.config.PhaseCalls, cmp.Or(before.CurrentPhase, "unknown")))
		after, v = request.decide(before)
		if after.SessionTotal == before.SessionTotal {
			return nil, nil
		}
		return after.encode()
	})
	return v, broken, err
}

// charge is one research call to be counted.
type charge struct {
	key    string // equal for equal calls
	server string
	phase  string // the workflow's, empty if unknown
	config Config
}

// decide returns the verdict from row 3 on, and the budget after it. The budget
// changes only if the call is counted.
func (r charge) decide(b Budget) (Budget, guard.Verdict) {
	before := b
	if r.phase != "" && r.phase != b.CurrentPhase {
		b = b.enter(r.phase)
	}
	switch {
	case b.counted(r.key):
		return before, guard.Pass(4, "Duplicate call (retry), not incrementing")
	case b.SessionTotal >= r.config.SessionCalls:
		return before, guard.Deny(5, fmt.Sprintf("DENIED: Research MCP session budget exhausted (%d/%d calls). No more research calls allowed this session.", b.SessionTotal, r.config.SessionCalls))
	case b.PhaseTotal >= r.config.PhaseCalls:
		return before, guard.Deny(6, fmt.Sprintf("DENIED: Research MCP phase budget exhausted (%d/%d calls). Proceed to next phase or consolidate existing research.", b.PhaseTotal, r.config.PhaseCalls))
	}
	b = b.plus(r.server, r.key, lower(r.config.Servers))
	return b, b.counting(r.config).Writing()
}

// counting is row 7; the budget is the one after the call.
func (b Budget) counting(config Config) guard.Verdict {
	text := ""
	if near(b.SessionTotal, config.SessionCalls, config.WarnPercent) {
		text += fmt.Sprintf("WARNING: Session budget at %d/%d (%d%% threshold). ", b.SessionTotal, config.SessionCalls, config.WarnPercent)
	}
	if near(b.PhaseTotal, config.PhaseCalls, config.WarnPercent) {
		text += fmt.Sprintf("WARNING: Phase budget at %d/%d. ", b.PhaseTotal, config.PhaseCalls)
	}
	if text == "" {
		return guard.Pass(7, fmt.Sprintf("Budget OK: session=%d/%d, phase=%d/%d", b.SessionTotal, config.SessionCalls, b.PhaseTotal, config.PhaseCalls))
	}
	return guard.Warn(7, strings.TrimSpace(text), text+"Consider consolidating research before making more calls.")
}

// near uses floating point because the product of two numbers of a file could
// overflow an integer.
func near(n, limit, percent int) bool {
	return float64(n)*100 >= float64(limit)*float64(percent)
}

func lower(names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = strings.ToLower(name)
	}
	return all
}

// alternatives returns a pattern for the names in the forms in which users write them:
// as given, lower, capitalised and upper case. The client's pattern cannot ignore case.
func alternatives(names []string) string {
	var all []string
	for _, name := range names {
		l := strings.ToLower(name)
		first, size := utf8.DecodeRuneInString(l)
		for _, form := range []string{name, l, string(unicode.ToUpper(first)) + l[size:], strings.ToUpper(name)} {
			if form = regexp.QuoteMeta(form); !slices.Contains(all, form) {
				all = append(all, form)
			}
		}
	}
	return strings.Join(all, "|")
}

// researchServer returns the server of a research tool by the same pattern as the
// rule's matcher: mcp__ref__x, or mcp__plugin_<plugin>_ref__x for a server of a
// plugin. Case does not matter, because users choose the names of servers.
func researchServer(tool string, servers []string) (string, bool) {
	name, ok := strings.CutPrefix(strings.ToLower(tool), "mcp__")
	if !ok {
		return "", false
	}
	scoped, isPlugin := strings.CutPrefix(name, "plugin_")
	for _, server := range lower(servers) {
		if strings.HasPrefix(name, server+"__") || isPlugin && strings.Index(scoped, "_"+server+"__") > 0 {
			return server, true
		}
	}
	return "", false
}

// callKey is the same for two calls of a tool with equal input, whatever the order
// of its members. Whole numbers keep every digit.
func callKey(tool string, input jsontext.Value) string {
	canonical := input.Clone()
	if err := canonical.Canonicalize(jsonx.Tolerant, jsontext.CanonicalizeRawInts(false)); err != nil {
		canonical = input
	}
	sum := sha256.Sum256(canonical)
	return tool + "_" + hex.EncodeToString(sum[:])
}
