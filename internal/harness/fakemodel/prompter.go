package fakemodel

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// prompter finds the turn that answers a request.
type prompter struct {
	script Script
	at     map[speaker]int
}

// speaker is one conversation. The zero value is the main one.
type speaker struct {
	key   string // of Script.Agents
	agent string // the client's ID of the agent
}

func newPrompter(s Script) *prompter {
	return &prompter{script: s, at: map[speaker]int{}}
}

// next returns the turn that answers the request, or an error if there is none.
func (p *prompter) next(k Kind, agent string, r *Request) (Turn, error) {
	who, turns := speaker{}, p.script.Main
	if k == Subagent {
		key, ok := p.keyOf(r)
		if !ok {
			return nil, fmt.Errorf("no script for the subagent whose prompt is %q", firstPrompt(r))
		}
		who, turns = speaker{key, agent}, p.script.Agents[key]
	}
	n := p.at[who]
	if n >= len(turns) {
		return nil, fmt.Errorf("the script of %s has only %d turns, and the client requested another", who, len(turns))
	}
	p.at[who]++
	return turns[n], nil
}

// keyOf returns the longest key that matches, so that a key may contain another.
func (p *prompter) keyOf(r *Request) (string, bool) {
	prompt, best, found := firstPrompt(r), "", false
	for key := range p.script.Agents {
		if strings.Contains(prompt, key) && (!found || len(key) > len(best)) {
			best, found = key, true
		}
	}
	return best, found
}

func firstPrompt(r *Request) string {
	for _, m := range r.Messages {
		if m.Role == "user" {
			return m.Content.text()
		}
	}
	return ""
}

// unused reports the turns that the client did not request, sorted.
func (p *prompter) unused() []string {
	var faults []string
	if n := p.at[speaker{}]; n < len(p.script.Main) {
		faults = append(faults, shortOf(speaker{}, n, len(p.script.Main)))
	}
	for _, key := range slices.Sorted(maps.Keys(p.script.Agents)) {
		faults = append(faults, p.unusedBy(key)...)
	}
	return faults
}

func (p *prompter) unusedBy(key string) []string {
	var faults []string
	started, all := false, len(p.script.Agents[key])
	for who, n := range p.at {
		if who.key != key || who == (speaker{}) {
			continue
		}
		started = true
		if n < all {
			faults = append(faults, shortOf(who, n, all))
		}
	}
	if !started && all > 0 {
		faults = append(faults, shortOf(speaker{key: key, agent: "?"}, 0, all))
	}
	slices.Sort(faults)
	return faults
}

func shortOf(who speaker, n, all int) string {
	return fmt.Sprintf("the script of %s has %d turns, and the client requested %d", who, all, n)
}

func (w speaker) String() string {
	if w == (speaker{}) {
		return "the main conversation"
	}
	return fmt.Sprintf("subagent %q", w.key)
}
