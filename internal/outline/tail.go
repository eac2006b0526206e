package outline

import (
	"slices"
	"strings"
)

// What a sentence says behind a demand, or behind an order to write a file, may take that back in more ways than can be listed: "not
// required", "CI does it", "silence means yes". So only a few kinds of it are harmless.

var (
	clauseEnd = pattern{text: `\s*(?:[;:—–()]|\s-\s)\s*`}
	tailEnd   = pattern{text: `\s*(?:[;:—–,()]|\s-\s|\bbut\b)\s*`}
	// lastOfDemand ends with the last word of a demand that says that it is one.
	lastOfDemand = pattern{text: `^.*\b(?:` + consent + `|consents?|approv\w*|confirm\w*|agree\w*|review\w*|sign(?:s|ed)? off|ask\w*|` +
		`okay|ok)\b`}
	untilThen = pattern{text: `(?i)^(?:(?:and|but|always|only|first) )*(?:before|until|till|prior to|beforehand|first|repeat until|` +
		`iterate until)\b`}
	inTheMeantime = pattern{text: `(?i)\b(?:meanwhile|mean ?time|in parallel|at the same time|while|anyway|regardless)\b`}
	withThat      = pattern{text: `(?i)^(?:and )?(?:wait|await|address|revise|incorporate)\b`}
	thenDo        = pattern{text: `(?i)^(?:and|then|(?:and )?only then|afterwards|after that)\b`}
	keepShort     = pattern{text: `(?i)^keep (?:it|them) (?:short|brief|concise|simple|clear|under|below)\b`}
	// hands is what an order says that leaves the demand to somebody else, or makes it one of form only.
	hands      = pattern{text: `(?i)\b(?:to (?:do|write|save|make)|memory|chat|back|given|name|yourself|somebody|someone|who)\b`}
	notWithout = pattern{text: `(?i)^(?:and )?(?:do not|don't|never|you must not) (?:go on|go further|proceed|continue|start|begin|` +
		`move on|push|merge|publish|deploy|release|commit|code|finish)\b[^,]* ?\b(?:without|before|until|till|unless)\b`}
	isMandatory = pattern{text: `(?i)^(?:(?:it|this|that) is )?(?:required|mandatory|necessary|needed|important|always|ever|` +
		`no exceptions?|without exceptions?)$|^(?:(?:never|do not|don't) (?:skip|assume) (?:it|this)|(?:they|` + persons +
		`) (?:must|has to|have to) say yes(?: explicitly)?)$`}
	// ofForm says how what is written looks.
	ofForm = pattern{text: `(?i)^(?:(?:and|then) )?` + "`x`" + `|^(?:with|including|containing|listing|under|at most|at least|up to|` +
		`(?:grouped|sorted|ordered) by|(?:an?|one|two|three|\d+) (?:[\w-]+ )?(?:pages?|lines?|words?|sentences?|` +
		`paragraphs?|sections?|items?|rows?|entr(?:y|ies))\b)`}
	// listing leads to what is in a file, of which ofList is a part.
	listing = pattern{text: `(?i)^: |^\W*(?:with|listing|containing|including|describing)\b`}
	ofList  = pattern{text: `^(?:and )?[a-z][\w ]*$`}
	// behindFile is what may follow the name of a file.
	behindFile = pattern{text: `(?i)^(?:first|now|too|also|accordingly)$|^(?:with|under|from|before (?:you|we|the|any|\w+ing)|` +
		`file|that \w+s (?:the|an?|all|each|every)|listing|containing|including|` +
		`describing|using|following|based on|at the (?:end|top|beginning|root))\b`}
)

// besideDemand are verbs of orders that may follow a demand, or an order to write a file, and leave it one.
var besideDemand = strings.Fields(`add ask await commit describe explain fix include link list mention note present repeat report review say
	show stop summarise summarize update use wait`)

// isHarmful reports whether what a sentence says behind a demand or an order may take that back.
func isHarmful(tail string) bool {
	tail = strings.Trim(tail, " .!*_'\"`")
	bare := strings.TrimSpace(leadOfDemand.without(withoutLead(tail)))
	switch {
	case inTheMeantime.in(tail):
		return true
	case tail == "", bare == "", untilThen.in(tail), isMandatory.in(tail), notWithout.in(tail):
		return false
	case withThat.in(tail):
		return negation.in(tail)
	}
	verb := strings.ToLower(firstWord(bare))
	goes := slices.Contains(goesFurther, verb)
	if negation.in(bare) || doubtful.in(tail) || hands.in(tail) || byName.in(tail) || !isImperative(bare) && !goes || verb == "let" {
		return true
	}
	return !thenDo.in(tail) && !keepShort.in(tail) && !slices.Contains(besideDemand, verb)
}

// isLeft reports whether what follows a demand in its sentence leaves it one.
func (d demand) isLeft() bool {
	tail := d.tail
	if _, behind, found := strings.Cut(d.part[len(lastOfDemand.compiled().FindString(d.part)):], ","); found {
		tail = behind + "; " + tail
	}
	return !slices.ContainsFunc(clauseEnd.compiled().Split(tail, -1), func(clause string) bool {
		clause = strings.Trim(clause, " ,")
		_, _, demands := demanded(clause)
		isReply := ofReply.in(clause) && (replying.in(clause) || !tolerating.in(clause)) && !inTheMeantime.in(clause)
		return !demands && !isReply && !refused.in(clause) && slices.ContainsFunc(tailEnd.compiled().Split(clause, -1), isHarmful)
	})
}

// isWrittenStill reports whether what follows the name of a file in an order to write it leaves that one.
func isWrittenStill(rest string) bool {
	lists := listing.in(rest) && (strings.Contains(rest, ",") || strings.Contains(rest, " and "))
	for i, tail := range tailEnd.compiled().Split(rest, -1) {
		tail = strings.Trim(tail, " .!*_")
		switch {
		case lists && i > 0 && ofList.in(tail) && !restricts(tail) && !ofThem.in(tail):
		case tail == "", i == 0 && behindFile.in(tail), !isHarmful(tail):
		case (ofForm.in(tail) || isOfResult.in(tail)) && !negation.in(tail) && !doubtful.in(tail):
		default:
			return false
		}
	}
	return true
}
