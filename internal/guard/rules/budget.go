package rules

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// budgetPrefix begins the names of all budget files.
const budgetPrefix = "planning-research-budget-"

// BudgetFile is the path of a session's Budget.
func BudgetFile(s guard.Session) string { return s.File(budgetPrefix, ".json") }

// Budget is the content of the file that counts a session's research calls.
type Budget struct {
	SessionTotal int            `json:"session_total"`
	PhaseTotal   int            `json:"phase_total"`
	CurrentPhase string         `json:"current_phase"`
	PerServer    map[string]int `json:"per_server"`
	CallHashes   []string       `json:"call_hashes,omitzero"` // one for each call, from callKey
}

var (
	errNegative = errors.New("a count is negative")
	errNull     = errors.New("a value is null")
)

// parseBudget parses a budget file; data is nil if there is none. For a broken file it
// returns a zero Budget and the reason.
func parseBudget(data []byte) (Budget, error) {
	var b Budget
	if data == nil {
		return b, nil
	}
	if err := cmp.Or(json.Unmarshal(data, &b, jsonx.Tolerant), refuseNull(data)); err != nil {
		return Budget{}, err
	}
	if b.SessionTotal < 0 || b.PhaseTotal < 0 {
		return Budget{}, errNegative
	}
	for _, n := range b.PerServer {
		if n < 0 {
			return Budget{}, errNegative
		}
	}
	return b, nil
}

// refuseNull returns errNull if the file or one of its members is null. Decoding would read
// null as zero.
func refuseNull(data []byte) error {
	if !bytes.Contains(data, []byte("null")) { // the usual case must be quick: other calls wait for the lock
		return nil
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(data, &members, jsonx.Tolerant); err != nil || members == nil {
		return cmp.Or(err, errNull)
	}
	for _, value := range members {
		if value.Kind() == 'n' {
			return errNull
		}
	}
	return nil
}

// encode returns the content of the file. It does not leave the hashes to json.Marshal:
// they are most of the file, this is faster, and other calls wait for the lock.
func (b Budget) encode() ([]byte, error) {
	hashes := b.CallHashes
	b.CallHashes = nil
	data, err := json.Marshal(b, json.Deterministic(true), jsonx.Tolerant)
	if err != nil {
		return nil, err
	}
	data = append(data[:len(data)-1], `,"call_hashes":[`...)
	for i, h := range hashes {
		if i > 0 {
			data = append(data, ',')
		}
		if data, err = jsontext.AppendQuote(data, h); err != nil {
			return nil, err
		}
	}
	return append(data, "]}"...), nil
}

// counted reports whether a call with this key was counted before.
func (b Budget) counted(key string) bool { return slices.Contains(b.CallHashes, key) }

// plus returns the budget with one more call; b is not modified. all lists
// every server, so that the file has a 0 for those not called yet.
func (b Budget) plus(server, key string, all []string) Budget {
	servers := map[string]int{}
	for _, name := range all {
		servers[name] = 0
	}
	maps.Copy(servers, b.PerServer)
	servers[server]++
	b.SessionTotal++
	b.PhaseTotal++
	b.PerServer = servers
	b.CallHashes = append(slices.Clip(b.CallHashes), key)
	return b
}

// enter returns the budget at the beginning of a phase.
func (b Budget) enter(phase string) Budget {
	b.PhaseTotal, b.CurrentPhase = 0, phase
	return b
}

// Purge removes the files that the rules have kept for this user's sessions, and returns
// their paths.
func Purge(env func(string) string) (removed []string, err error) {
	return guard.Purge(env, budgetPrefix)
}
