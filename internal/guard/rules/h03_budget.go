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

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// h03 limits the calls of research servers in a session and in a phase. budget.go reads and
// writes the counts.
func h03(config configuration) guard.Rule {
	return guard.Rule{
		ID: "H03", Name: "H03_research_budget", Event: client.PreToolUse,
		Matcher: "mcp__(plugin_.+_)?(" + alternatives(config.servers) + ")__.*",
		Flag:    "hooks_budget_tracker", Timeout: 3,
		Brief: "research calls stay within the session's and the phase's budget",
		Rows:  budgetRows, Decide: decideBy(runH03),
		Keeps: []guard.Kept{{What: "research budget", Path: BudgetFile}},
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

// runH03 decides row 1. The other rows are decided by spend.
func runH03(c *call) (guard.Verdict, error) {
	server, ok := researchServer(c.Event.ToolName, c.config.servers)
	if !ok {
		return guard.Pass(1, "Not a research tool: "+c.Event.ToolName), nil
	}
	if !c.Session.Known() {
		return guard.Pass(1, "No session id"), nil
	}
	request := researchCall{
		key:    callKey(c.Event.ToolName, c.Event.ToolInput),
		server: server,
		phase:  c.readState().phase,
		config: c.config,
	}
	c.Fact("server", server)
	c.Fact("call", request.key)
	v, broken, err := c.spend(request)
	if errors.Is(err, safefile.ErrBusy) {
		return guard.Pass(0, "Lock contention on budget file"), nil
	}
	if broken != nil {
		c.Log("RESET", "Budget file unusable, counting from 0: "+broken.Error())
	}
	return v, err
}

// spend reads the budget, decides and counts the call under one lock, so that parallel
// calls cannot exceed the budget together. broken is the reason if the budget file is
// unusable; counting then starts at 0.
func (c *call) spend(request researchCall) (v guard.Verdict, broken, err error) {
	err = c.Update(BudgetFile(c.Session), func(old []byte) ([]byte, error) {
		var before, after Budget
		before, broken = parseBudget(old)
		c.Fact("session calls", fmt.Sprintf("%d/%d", before.SessionTotal, c.config.sessionCalls))
		c.Fact("phase calls", fmt.Sprintf("%d/%d in %s", before.PhaseTotal, c.config.phaseCalls, cmp.Or(before.CurrentPhase, "unknown")))
		after, v = request.decide(before)
		if after.SessionTotal == before.SessionTotal {
			return nil, nil
		}
		return after.encode()
	})
	return v, broken, err
}

// researchCall is the fact of H03 besides the budget: the call to be counted.
type researchCall struct {
	key    string // equal for equal calls
	server string
	phase  string // the workflow's, empty if unknown
	config configuration
}

// decide is the table from row 3 on. It also returns the budget after the call, which
// differs only if the call is counted.
func (r researchCall) decide(b Budget) (Budget, guard.Verdict) {
	before := b
	if r.phase != "" && r.phase != b.CurrentPhase {
		b = b.enter(r.phase)
	}
	switch {
	case b.counted(r.key):
		return before, guard.Pass(4, "Duplicate call (retry), not incrementing")
	case b.SessionTotal >= r.config.sessionCalls:
		return before, guard.Deny(5, fmt.Sprintf("DENIED: Research MCP session budget exhausted (%d/%d calls). No more research "+
			"calls allowed this session.",
			b.SessionTotal, r.config.sessionCalls))
	case b.PhaseTotal >= r.config.phaseCalls:
		return before, guard.Deny(6, fmt.Sprintf("DENIED: Research MCP phase budget exhausted (%d/%d calls). Proceed to next phase or "+
			"consolidate existing research.",
			b.PhaseTotal, r.config.phaseCalls))
	}
	b = b.plus(r.server, r.key, lower(r.config.servers))
	return b, b.verdict(r.config).Writing()
}

// verdict returns row 7 for the budget after the call.
func (b Budget) verdict(config configuration) guard.Verdict {
	text := ""
	if near(b.SessionTotal, config.sessionCalls, config.warnPercent) {
		text += fmt.Sprintf("WARNING: Session budget at %d/%d (%d%% threshold). ", b.SessionTotal, config.sessionCalls, config.warnPercent)
	}
	if near(b.PhaseTotal, config.phaseCalls, config.warnPercent) {
		text += fmt.Sprintf("WARNING: Phase budget at %d/%d. ", b.PhaseTotal, config.phaseCalls)
	}
	if text == "" {
		return guard.Pass(7, fmt.Sprintf("Budget OK: session=%d/%d, phase=%d/%d", b.SessionTotal, config.sessionCalls, b.PhaseTotal,
			config.phaseCalls))
	}
	return guard.Warn(7, strings.TrimSpace(text), text+"Consider consolidating research before making more calls.")
}

// near reports whether n has reached the percentage of the limit. It uses floating point
// because a product of two numbers from files could overflow an integer.
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

// alternatives returns a pattern that matches the names as given, in lower case,
// capitalised and in upper case: the client's patterns cannot ignore case.
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

// researchServer returns the server that a tool belongs to, in lower case, and false if it
// is not a research server. A tool is named mcp__ref__x, or mcp__plugin_<plugin>_ref__x if
// a plugin brings the server. Case does not matter, because users choose the names of
// servers.
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

// callKey returns the same key for two calls of a tool with equal input. The order of
// members does not matter; whole numbers are compared with all their digits.
func callKey(tool string, input jsontext.Value) string {
	canonical := input.Clone()
	if err := canonical.Canonicalize(jsonx.Tolerant, jsontext.CanonicalizeRawInts(false)); err != nil {
		canonical = input
	}
	sum := sha256.Sum256(canonical)
	return tool + "_" + hex.EncodeToString(sum[:])
}
