package outline

import (
	"slices"
	"strings"
)

// Within a step, too, what a sentence says of its gates cannot be listed. A step proposes none if one of its sentences is neither an order
// to do something, nor says what a result has to be, nor demands an approval or what follows an answer.

var (
	ofAChoice = pattern{text: `(?i)\b(?:whichever|whatever|what (?:you|fits|applies|is)|as (?:needed|necessary|many|much|appropriate)|` +
		`where (?:applicable|possible|needed|necessary|it)|inspiration|common sense|judge?ment|discretion|reference|guidelines?|` +
		`(?:one|some|any|either) of|freely|sparingly|loosely|yourself|nothing|questions to)\b`}
	isOfResult = pattern{text: `(?i)^(?:it|this|they|(?:the|each|every) [\w-]+) (?:has|have|contains?|consists?|lists?|includes?|names|` +
		`says|(?:must|should|has to|needs to) (?:contain|have|list|include|name|say|state|be (?:short|in|written|complete|clear|brief)))\b`}
	ofDrafts  = pattern{text: `(?i)^(?:sketch|draft|plan|outline)$`}
	untilDone = pattern{text: `\b(?:before|until|till|unless|without)\b`}
	notTo     = pattern{text: `(?i)^(?:(?:please|always|also|then|finally)\b,? ?)*(?:you )?(?:must )?(?:do not|don['’]t|` +
		`never|must not)(?: ever)? `}
)

// ofLeave are the verbs of orders that leave it to the reader, or to somebody, what is done.
var ofLeave = strings.Fields(`accept act adapt adjust assign assume be begin choose consider decide delegate do follow give go hand
	improvise leave mix pick select skip start stop take trust try use work`)

// ofGoing are those with which a prohibition holds back the step itself.
var ofGoing = strings.Fields(`act begin do execute follow go perform proceed start wait ask stop treat take`)

// unbinding returns the sentence of the step that may say that its gates do not hold, or not always, or nil. own has the order or demand.
func (r *reader) unbinding(own ...string) *sentence {
	at := slices.IndexFunc(r.near, func(s sentence) bool {
		isOwn := func(text string) bool {
			return text != "" && (strings.Contains(text, s.text) || strings.Contains(s.text, strings.TrimRight(text, ".!")))
		}
		return !slices.ContainsFunc(own, isOwn) && r.mayUnbind(s)
	})
	if at < 0 {
		return nil
	}
	return &r.near[at]
}

func (r *reader) mayUnbind(s sentence) bool {
	text, said := plainly(s.text), strings.TrimLeft(normal(s.text), "([*,; ")
	bare := strings.TrimRight(withoutLead(leadOfDemand.without(withoutLead(said))), ".!*): ")
	_, _, demands := demanded(s.text)
	switch {
	case bare == "", demands, refused.in(text), numbered.in(said), ofReply.in(text) && (replying.in(text) || !tolerating.in(text)):
		return false
	case s.code, isPlain(bare) && (toPass.in(bare) || strings.Contains(bare, "`x`")), notTouch.in(said):
		return false
	case notTo.in(bare):
		word := first.find(notTo.without(bare))
		return word == nil || slices.Contains(ofGoing, strings.ToLower(word[1])) && !untilDone.in(bare)
	case s.line+1 == r.step.Line && shorten(s.text) == r.step.Subject:
		return condition.in(said) || ofAChoice.in(said) || leadsAway.in(said) || optional.in(said)
	case s.intro != "" && !isImperative(bare):
		return restricts(said) || ofAChoice.in(said) || ofSomeCases.in(said)
	case !isImperative(bare), len(strings.Fields(bare)) < 2 && (!leadsTo.in(said) || ofDrafts.in(bare)):
		return !isOfResult.in(bare) || restricts(said)
	case doing.in(bare) && leadsTo.in(said):
		return ofAChoice.in(said)
	}
	verb := strings.ToLower(first.find(bare)[1])
	return ofAChoice.in(bare) || slices.Contains(ofLeave, verb) && (verb != "use" || pointing.in(bare))
}
