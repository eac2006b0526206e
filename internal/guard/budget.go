package guard

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Budget is the file that counts a session's research calls.
type Budget struct {
	SessionTotal int            `json:"session_total"`
	PhaseTotal   int            `json:"phase_total"`
	CurrentPhase string         `json:"current_phase"`
	PerServer    map[string]int `json:"per_server"`
	CallHashes   []string       `json:"call_hashes,omitzero"` // one a call, as callKey makes them
}

var (
	errNegative = errors.New("a count is negative")
	errNull     = errors.New("null stands where a value should")
)

// parseBudget reads a budget file; nil is a missing one. A file that is broken
// counts from 0, and the error says why.
func parseBudget(data []byte) (Budget, error) {
	var b Budget
	if data == nil {
		return b, nil
	}
	if err := cmp.Or(json.Unmarshal(data, &b, lenient), refuseNull(data)); err != nil {
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

// refuseNull finds the null that decoding takes for a zero: for the whole file
// or one of its members.
func refuseNull(data []byte) error {
	if !bytes.Contains(data, []byte("null")) { // others wait for the lock meanwhile
		return nil
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(data, &members, lenient); err != nil || members == nil {
		return cmp.Or(err, errNull)
	}
	for _, value := range members {
		if value.Kind() == 'n' {
			return errNull
		}
	}
	return nil
}

// encode writes the calls by hand: they are most of the file, and others wait for
// the lock meanwhile.
func (b Budget) encode() ([]byte, error) {
	hashes := b.CallHashes
	b.CallHashes = nil
	data, err := json.Marshal(b, json.Deterministic(true), lenient)
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

func (b Budget) counted(key string) bool { return slices.Contains(b.CallHashes, key) }

// plus returns the budget with one more call; b stays as it is.
func (b Budget) plus(server, key string) Budget {
	servers := map[string]int{"context7": 0, "ref": 0, "tavily": 0}
	for name, n := range b.PerServer {
		servers[name] = n
	}
	servers[server]++
	b.SessionTotal++
	b.PhaseTotal++
	b.PerServer = servers
	b.CallHashes = append(slices.Clip(b.CallHashes), key)
	return b
}

// enter returns the budget as a phase begins.
func (b Budget) enter(phase string) Budget {
	b.PhaseTotal, b.CurrentPhase = 0, phase
	return b
}
