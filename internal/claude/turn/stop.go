package turn

import (
	"slices"
)

// Words are the words and phrases that distinguish a request to stop from other messages.
// A phrase is words separated by spaces. Case does not matter.
type Words struct {
	Stop   []string // ask to stop: "stop", "that's enough"
	Before []string // may come before one of Stop: "please", "i want to"
	After  []string // may follow one of Stop, and do not name anything else that is to be stopped: "here", "the workflow"
}

// DefaultWords returns the words of several languages.
func DefaultWords() Words {
	return Words{Stop: slices.Concat(stopWords(), stopPhrases()), Before: before(), After: after()}
}

// With returns the words of both.
func (w Words) With(more Words) Words {
	return Words{slices.Concat(w.Stop, more.Stop), slices.Concat(w.Before, more.Before), slices.Concat(w.After, more.After)}
}

// And returns the words with more of After, such as the name of a workflow: "abort the
// release" asks to stop the workflow "release".
func (w Words) And(after ...string) Words {
	w.After = slices.Clone(w.After)
	for _, text := range after {
		for _, word := range WordsOf(text) {
			w.After = append(w.After, word, "the "+word)
		}
	}
	return w
}

// Requested reports whether a message asks the agent to stop its work: it begins with such a
// request ("Stop, that is wrong."), or stopping is all that it asks for ("I have to go,
// please stop here"). A message that asks to stop something else ("stop the server", "stop
// using tabs"), to stop later ("stop when the tests pass") or not to stop does not.
func (w Words) Requested(message string) bool {
	r := reader{stop: phrasesOf(w.Stop), after: phrasesOf(w.After), around: phrasesOf(slices.Concat(w.Before, w.After))}
	var before verdicts
	for _, c := range clauses(message) {
		if before = append(before, verdict{c, r.classify(c)}); !before.mayStop() {
			return false
		}
	}
	return before.asks(request)
}

// verdict is what a clause is, verdicts those of the clauses so far.
type (
	verdict struct {
		clause
		kind
	}
	verdicts []verdict
)

func (all verdicts) asks(k kind) bool {
	return slices.ContainsFunc(all, func(v verdict) bool { return v.kind == k })
}

// mayStop reports whether the message can still be a request to stop, after its last clause.
func (all verdicts) mayStop() bool {
	first, last := all[0], all[len(all)-1]
	switch last.kind {
	case goOn:
		return false
	case other: // "Stop, use the other file." asks to stop, "Wait, use the other file." does not
		return first.kind == request && len(all) > 1 && !softWords.has(first.words[0])
	case statement:
		return first.kind != request || !holdWords.has(first.words[0])
	case request: // "It has to work, then stop."
		sequel := slices.ContainsFunc(last.words, sequels.has)
		return !sequel || !all.asks(remark) && !all.asks(statement)
	}
	return true
}

// kind is what a clause is.
type kind int

const (
	other     kind = iota // asks for something else
	polite                // only words of politeness
	remark                // asks for nothing: a greeting, thanks, a reason
	statement             // says something about the matter
	request               // asks to stop
	goOn                  // asks to go on
)

// reader classifies clauses.
type reader struct {
	stop, after phrases
	around      phrases // words before and after a stop word
}

func (r reader) classify(c clause) kind {
	switch {
	case c.unspaced():
		return r.classifyUnspaced(c)
	case r.isRequest(c):
		return request
	case r.around.cover(c.words):
		return polite
	case goesOn(c.words):
		return goOn
	}
	return kindOfStatement(c)
}

// isRequest reports whether the clause is words of before, a stop word, and words of after
// up to the end or to a subordinate clause.
func (r reader) isRequest(c clause) bool {
	for at := range c.words {
		n := r.stop.longest(c.words[at:])
		if n == 0 {
			continue
		}
		lead := c.words[:at]
		return r.around.cover(lead) && !negates(lead, c.words[at]) && !describes(lead) &&
			(!c.question || asksSomebody(lead)) && r.endsRequest(c.words[at], c.words[at+n:])
	}
	return false
}

// endsRequest reports whether the words after a stop word name nothing else that is to be
// stopped, and no condition: "stop here before it breaks" does not, "stop before it breaks"
// and "wait until it runs" do.
func (r reader) endsRequest(stop string, rest []string) bool {
	if len(rest) > 0 && alone.has(stop) {
		return false
	}
	for i := 0; i < len(rest); {
		conjunction := conjunctions.has(rest[i])
		if conjunction || conditions.has(rest[i]) {
			return i > 0 || conjunction && !softWords.has(stop)
		}
		n := max(r.after.longest(rest[i:]), r.stop.longest(rest[i:]))
		if n == 0 {
			return false
		}
		i += n
	}
	return true
}

// negates reports whether the words before a stop word say not to do it. "no stop" is
// typed for "no, stop".
func negates(lead []string, stop string) bool {
	for i, word := range lead {
		if negations.has(word) || word == "no" && i == len(lead)-1 && stop != "stop" {
			return true
		}
	}
	return false
}

// describes reports whether the words before a stop word say how something behaves: "it
// should stop".
func describes(lead []string) bool {
	for i := 1; i < len(lead); i++ {
		if things.has(lead[i-1]) && modals.has(lead[i]) {
			return true
		}
	}
	return false
}

// asksSomebody reports whether a question with these words before the stop word asks to do
// something: "could you …", "can we …", "please …".
func asksSomebody(lead []string) bool {
	return slices.ContainsFunc(lead, askers.has)
}

// goesOn reports whether a clause asks to go on with the work now.
func goesOn(words []string) bool {
	for len(words) > 0 && fillers.has(words[0]) {
		words = words[1:]
	}
	return resumptions.get().longest(words) > 0 && !slices.ContainsFunc(words, laters.has)
}

// kindOfStatement tells remarks and statements from other clauses. What is wanted or has to
// be is not a statement.
func kindOfStatement(c clause) kind {
	w := c.words
	switch {
	case greetings.has(w[0]) || farewells.get().longest(w) > 0:
		return remark
	case c.question || !persons.has(w[0]) && !subjects.has(w[0]):
		return other
	}
	for i, word := range w {
		if wishes.has(word) && leisure.get().longest(w[i+1:]) == 0 { // "I need to go", "I want a break"
			return other
		}
	}
	if persons.has(w[0]) {
		return remark
	}
	return statement
}

// classifyUnspaced classifies a clause in a script without spaces between words, by what is
// left of it without stop words and the words that may stand around them.
func (r reader) classifyUnspaced(c clause) kind {
	rest, found := r.stop.cut(c.joined())
	for {
		shorter, cut := r.around.cut(rest)
		if !cut {
			break
		}
		rest = shorter
	}
	switch {
	case farewells.get().prefixes(c.joined()):
		return remark
	case found && rest == "" && !c.question:
		return request
	case rest == "":
		return polite
	}
	return other
}
