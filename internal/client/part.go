package client

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/internal/pattern"
)

// Step is a step of a workflow, as a person may name it.
type Step struct {
	ID    int64 // number in the list: "#42"
	Local int64 // number in the workflow: "step 2"
}

// limit matches a limit to the work: how it limits, which numbers it gives, and the numbers.
var limit = pattern.New(`\b(only|just|up to|until|through|(?:stop|end|finish) (?:after|before|at|with))\s+(?:do\s+|run\s+|with\s+)?` +
	`((?:steps?|tasks?)?\s*#?)(\d+(?:(?:\s|,|and|to|through|-|–|#|steps?)+\d+)*)` +
	`(\s+(?:is|are|was|were|fails?|failed|does|did|do|looks?|seems?)\b(?:n't| not)?)?`)

// onlyBehind matches a limit that names the numbers first.
var onlyBehind = pattern.New(`\b((?:steps?|tasks?)\s*#?)(\d+(?:(?:\s|,|and|to|through|-|–|#|steps?)+\d+)*)\s+only\b`)

var numberOrSpan = pattern.New(`\d+|to|through|-|–`)

// Part returns the steps to which a message limits the work by their numbers: "only steps 1 and 2", "up to
// step 3", "steps 1-2 only", "stop after #42". It returns false for a message that sets no limit, or a conditional one.
func Part(message string, all []Step) (asked []Step, limited bool) {
	text := strings.ToLower(withoutCode(message))
	m := limit.Regexp().FindStringSubmatch(text)
	if m == nil {
		if m = onlyBehind.Regexp().FindStringSubmatch(text); m != nil {
			m = []string{m[0], "only", m[1], m[2], ""}
		}
	}
	conditional := func(word string) bool { return word != "until" && word != "after" && limits(word) }
	if m == nil || m[2] == "" || m[4] != "" || slices.ContainsFunc(WordsOf(text), conditional) {
		return nil, false
	}
	named := numbered(all, m[3], strings.Contains(m[2], "#"))
	if len(named) == 0 {
		return nil, false
	}
	switch {
	case m[1] == "only" || m[1] == "just":
		return named, true
	case strings.HasSuffix(m[1], "before"):
		return all[:slices.Index(all, named[0])], true
	}
	return all[:slices.Index(all, named[len(named)-1])+1], true
}

// numbered returns the steps with the numbers of a text such as "1, 2 and 4" or "2-3": numbers in the list, or in the workflow.
func numbered(all []Step, text string, inList bool) (named []Step) {
	wanted := func(from, to int64) func(Step) bool {
		return func(s Step) bool {
			n := s.Local
			if inList {
				n = s.ID
			}
			return n < from || n > to
		}
	}
	last, span := int64(0), false
	for _, word := range numberOrSpan.Regexp().FindAllString(text, -1) {
		n, err := strconv.ParseInt(word, 10, 32)
		if span = span || err != nil; err != nil {
			continue
		}
		from := n
		if span {
			from = last + 1
		}
		named, last, span = append(named, slices.DeleteFunc(slices.Clone(all), wanted(from, n))...), n, false
	}
	return named
}
