package write

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/outline"
)

// proposed is the value of a gate that a text proposes.
type proposed struct {
	Check    string   `json:"check"`
	Approval string   `json:"approval"`
	Produces []string `json:"produces"`
}

// kindOf returns the name of a member such as "check": "make".
func kindOf(gate string) string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(gate, `"`), `"`)
	return kind
}

// joined returns a gate that requires what two of one kind require. Of two that cannot become one it is the first.
func joined(gate, other string) string {
	var a, b proposed
	if json.Unmarshal([]byte("{"+gate+"}"), &a) != nil || json.Unmarshal([]byte("{"+other+"}"), &b) != nil {
		return gate
	}
	switch kindOf(gate) {
	case "check":
		return outline.Check(merged(strings.Split(a.Check, " && "), strings.Split(b.Check, " && ")))
	case "approval":
		return outline.Approval(strings.Join(merged([]string{a.Approval}, []string{b.Approval}), " "))
	case "produces":
		return outline.Produces(merged(a.Produces, b.Produces))
	}
	return gate
}

// merged returns the texts of two lists, each once.
func merged(all, more []string) []string {
	for _, text := range more {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}
