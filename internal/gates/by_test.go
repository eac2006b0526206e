package gates

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/state"
)

func TestWhoDecided(t *testing.T) {
	failed, passed := &state.Result{Exit: 7}, &state.Result{}
	tty := "/dev/pts/7"
	for name, c := range map[string]struct {
		verdict Verdict
		seen    bool
		who     state.Who
		how     state.How
		via     state.By
		tty     *string
	}{
		"an update that is carried out": {verdict: Verdict{Decision: state.Allow}, who: state.TheAgent, how: state.ByUpdate},
		"after its check passed":        {verdict: Verdict{Decision: state.Allow, Check: passed}, who: state.TheAgent, how: state.ByUpdate},
		"of the MCP server": {verdict: Verdict{Decision: state.Allow}, via: state.By{How: state.ByMCP}, who: state.TheAgent,
			how: state.ByMCP},
		"of a person at a terminal": {verdict: Verdict{Decision: state.Allow},
			via: state.By{Who: state.ThePerson, How: state.AtTerminal, TTY: &tty},
			who: state.ThePerson, how: state.AtTerminal, tty: &tty},
		"a denial to a person at a terminal": {verdict: Verdict{Decision: state.Deny},
			via: state.By{Who: state.ThePerson, How: state.AtTerminal, TTY: &tty},
			who: state.Fsmtx, how: state.AtTerminal, tty: &tty},
		"a question": {verdict: Verdict{Decision: state.Ask}, who: state.TheAgent, how: state.ByUpdate},
		"an answered question": {verdict: Verdict{Decision: state.Allow, yes: state.ByElicitation}, via: state.By{How: state.ByMCP},
			who: state.ThePerson,
			how: state.ByElicitation},
		"a denial by a rule":                 {verdict: Verdict{Decision: state.Deny}, who: state.Fsmtx, how: state.ByUpdate},
		"a denial although the check passed": {verdict: Verdict{Decision: state.Deny, Check: passed}, who: state.Fsmtx, how: state.ByUpdate},
		"a denial by a check": {verdict: Verdict{Decision: state.Deny, Check: failed}, who: state.TheCommand,
			how: state.ByUpdate},
		"a denial by a check that was stopped": {verdict: Verdict{Decision: state.Deny, Check: &state.Result{Exit: -1}}, who: state.TheCommand,
			how: state.ByUpdate},
		"completed in another way": {seen: true, who: state.Fsmtx, how: state.ByUpdate},
		"completed in another way, check fails": {seen: true, verdict: Verdict{Decision: state.Deny, Check: failed}, who: state.TheCommand,
			how: state.ByUpdate},
		"completed in another way, check holds": {seen: true, verdict: Verdict{Check: passed}, who: state.TheCommand, how: state.ByUpdate},
	} {
		t.Run(name, func(t *testing.T) {
			f := &Frame{Store: state.Store{Session: "s1"}, Via: c.via}
			by := f.by
			if c.seen {
				by = f.seenBy
			}
			assert.Equal(t, state.By{Who: c.who, How: c.how, Session: "s1", Agent: "helper", TTY: c.tty}, by(Update{Agent: "helper"}, c.verdict))
		})
	}
}
