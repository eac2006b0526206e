package steps

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhoDecided(t *testing.T) {
	failed, passed := &Result{Exit: 7}, &Result{}
	tty := "/dev/pts/7"
	for name, c := range map[string]struct {
		verdict Verdict
		seen    bool
		who     Who
		how     How
		via     By
		tty     *string
	}{
		"an update that is carried out": {verdict: Verdict{Decision: Allow}, who: TheAgent, how: ByUpdate},
		"after its check passed":        {verdict: Verdict{Decision: Allow, Check: passed}, who: TheAgent, how: ByUpdate},
		"of the MCP server":             {verdict: Verdict{Decision: Allow}, via: By{How: ByMCP}, who: TheAgent, how: ByMCP},
		"of a person at a terminal": {verdict: Verdict{Decision: Allow}, via: By{Who: ThePerson, How: AtTerminal, TTY: &tty},
			who: ThePerson, how: AtTerminal, tty: &tty},
		"a denial to a person at a terminal": {verdict: Verdict{Decision: Deny}, via: By{Who: ThePerson, How: AtTerminal, TTY: &tty},
			who: Fsmtx, how: AtTerminal, tty: &tty},
		"a question": {verdict: Verdict{Decision: Ask}, who: TheAgent, how: ByUpdate},
		"an answered question": {verdict: Verdict{Decision: Allow, yes: ByElicitation}, via: By{How: ByMCP}, who: ThePerson,
			how: ByElicitation},
		"a denial by a rule":                    {verdict: Verdict{Decision: Deny}, who: Fsmtx, how: ByUpdate},
		"a denial although the check passed":    {verdict: Verdict{Decision: Deny, Check: passed}, who: Fsmtx, how: ByUpdate},
		"a denial by a check":                   {verdict: Verdict{Decision: Deny, Check: failed}, who: TheCommand, how: ByUpdate},
		"a denial by a check that was stopped":  {verdict: Verdict{Decision: Deny, Check: &Result{Exit: -1}}, who: TheCommand, how: ByUpdate},
		"completed in another way":              {seen: true, who: Fsmtx, how: ByUpdate},
		"completed in another way, check fails": {seen: true, verdict: Verdict{Decision: Deny, Check: failed}, who: TheCommand, how: ByUpdate},
		"completed in another way, check holds": {seen: true, verdict: Verdict{Check: passed}, who: TheCommand, how: ByUpdate},
	} {
		t.Run(name, func(t *testing.T) {
			f := &Frame{Store: Store{Session: "s1"}, Via: c.via}
			by := f.by
			if c.seen {
				by = f.seenBy
			}
			assert.Equal(t, By{Who: c.who, How: c.how, Session: "s1", Agent: "helper", TTY: c.tty}, by(Update{Agent: "helper"}, c.verdict))
		})
	}
}
