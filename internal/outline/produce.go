package outline

import (
	"path"
	"slices"
	"strings"
)

// A file is proposed only where a sentence tells to write it, always and for good: with nothing before the order but other orders, with
// nothing behind it that is a condition, and with a name that can be that of a file. What may take a check back in the step takes back
// the file as well if it restricts, or undoes something, and so does what the text says of the file elsewhere.

var (
	products = pattern{text: "\\b(?i:save|write|record|document|add|append)\\b([^`.:]{0,60}\\b(?:in|into|to) )" +
		"([A-Z_]{2,}\\.md)\\b|(?i)\\b" +
		"(?:save|saves|write|writes|output|store|record|document|export|create|" +
		"generate|produce|commit|draft|update|add|append|put|insert)" +
		"\\b([^`.;:]{0,60})`([\\w./*-]+\\.[A-Za-z]{1,5})`"}
	// into is what leads from the verb to a file that comes to be: nothing but that it is one, or what is written and where to.
	into = pattern{text: `(?i)^ (?:(?:the|a|an|your|its|one|new|final|short|file|files) )*$|` +
		`^ (?:the|a|an|your|its|our|it|them|this|what|one)\b.*\b(?:to|in|into|as)(?: (?:the|a|your|its|new|file|project['’]s))* $|` +
		`^ (?:(?:it|them|this) )?(?:to|in|into|as)(?: the)?(?: file)? $`}
	// besideIt are words for what is only near a file, and for what there may be nothing of.
	besideIt = pattern{text: `(?i)\b(?:\w+ing|links?|refer\w*|mention\w*|pointers?|imports?|repl(?:y|ies)|answers?|responses?|but|except|` +
		`access|according|similar|next|related|relevant|close|attention|respect|equal|identical|due|as in|any|each|every|all|both|some|if|` +
		`breaking|failures?|errors?|warnings?|issues|problems|bugs|todos|conflicts|exceptions|violations|regressions|deviations|` +
		`questions|skipped|failed|missing|possible|other|more|further|additional|edits?|fix(?:es)?|improvements?|corrections?|` +
		`symlinks?|guide|intro\w*|sequel|follow-?up|preface|appendix|addendum|supplement|companion|alternative|amendments?|patch(?:es)?|` +
		`wrapper|alias(?:es)?|that|which|whose|where|when|interface|` +
		`counterpart|successor|rebuttal|comments?|feedback|objections?|cop(?:y|ies)|backup)\b`}
	// inFile is what "in" may say of a file that something comes from.
	inFile      = pattern{text: `(?i)\b(?:as|that|which|is|are|was|were|\w+ed|with|from|by|for|about|on|of|like)\b.*\bin(?: the)?(?: file)? $`}
	elsewhereTo = pattern{text: `(?i)^\W*(?:to|into|onto|at|inside|within)\b`}
	// aboutIt are verbs whose object is not what is written.
	aboutIt   = pattern{text: `(?i)^(?:document|record|export|output)\w* *(?:(?:the|file) )*` + "`"}
	changesTo = pattern{text: `(?i)^(?:document|record|draft|commit|update)\w*\b.*\b(?:changes?|differences?|version|` +
		`functions?)\b.*\b(?:to|in)\b`}
	toPlace = pattern{text: `(?i)^(?:add|append|put|insert)\b`}
	places  = pattern{text: `(?i)\b(?:to|in|into|at|under)(?: (?:the|a|your|its|new|file|project['’]s))* $`}
	others  = pattern{text: `(?i)\b(?:of|for|about|on|with|by|via|through|like|per|than|after|before|without|between)\b[^` + "`" + `]*$`}
	// wishes are what makes a product or an approval one that need not be.
	wishes = pattern{text: `(?i)\b(?:may|can|could|might|would|optional(?:ly)?|consider|example|instance|e\.g|such as|if|when|` +
		`whenever|unless|whether|or)\b`}
	// by others is what somebody else writes.
	byOthers = pattern{text: `(?i)\b(?:user|users|they|he|she|someone|somebody|was|were|had|used to)\b`}
	// A file that is read is not a product.
	reads = pattern{text: `(?i)\b(?:read|see|consult|load|open|follow|from|using|against|check)\b`}
	// sometimes is said of what is not written now, or not always.
	sometimes = pattern{text: `(?i)\b(?:once|after|later|eventually|someday|tomorrow|next time|only|` +
		`optional(?:ly)?|should|in case|` +
		`(?:if|as) \w+|` +
		`depend\w*|unless|whenever|when|wherever|where|while|provided|given)\b`}
	// leadsAway begins what says for what, or under which conditions, a file is written.
	leadsAway  = pattern{text: `(?i)^[\W]*(?:for|on|in|per|as|by|upon|during|of)\b`}
	goesOnWith = pattern{text: `(?i)^(.*?)(?:,? and|, then|; then)(?: then)? (.*)$`}
	toRoot     = pattern{text: `(?i)^[\W]*(?:in|for) (?:the )?(?:root|project|repo\w*|users?|person|reader|team|record)` +
		`(?: of [^,;]*)?\W*$`}
	undoing = pattern{text: `(?i)\b(?:delet\w+|remov\w+|renam\w+|mov(?:e|ing)|discard\w*|revert\w*|rm|unlink|throw|clean(?:ing)? up|drop|` +
		`undo|restore|stash)\b`}
	ofName = pattern{text: `(?i)\b(?:numbers?|names?|versions?|dates?|titles?|slugs?|ids?|placeholders?|replac\w+|substitut\w+)\b`}
	// invented is in the name of a file that stands for others.
	invented = pattern{text: `(?:^|[/_.-])(?:[Nn]{3,}|[Xx]{3,}|YYYY\w*|yyyy\w*|MM|DD|v?\d+\.\d+[\d.]*|` +
		`\d{3,}|v?[Xx]\.[YyXx]|[A-Z]{2,}-\d+|(?i:my|your|` +
		`our|some|name|title|slug|example|placeholder|template|feature|ticket|topic|date|version|timestamp|username|todo))(?:[/_.-]|$)`}
	joins      = pattern{text: `(?i)(?:[,;:.]|\band|\bthen)[\W]*(?:(?:and|then|finally|also|always|now|next|please)\b,? ?)*$`}
	toRemember = pattern{text: `(?i)^(?:make sure to|be sure to|remember to|take care to|ensure to) `}
	refusing   = pattern{text: `(?i)^\W*(?:do not|don['’]t|never|avoid)\b`}
	writes     = pattern{text: `(?i)\b(?:writ\w+|creat\w+|sav(?:e|es|ing)|add(?:s|ing)?|updat\w+|generat\w+|produc\w+|files?|` +
		`anything|nothing|disk|repo\w*|project|workspace)\b`}
	ofMany = pattern{text: `(?i)\b(?:what|everything|all|files?)\b`}
)

// product proposes the files that a sentence tells to write. behind are the sentences that follow it.
func (r *reader) product(h Hint, s sentence, behind []sentence) {
	for clause := range strings.SplitSeq(s.text, ";") {
		m := products.find(clause)
		if m == nil || negates(upTo(clause, m[0])) || negates(s.text) && strings.Contains(s.text, ":") ||
			strings.HasSuffix(strings.TrimRight(s.text, "*_ "), "?") {
			continue
		}
		gap, name := m[1]+m[3], m[2]+m[4]
		prefix := whenDone.without(clause[:strings.Index(clause, m[0])])
		if toPlace.in(m[0]) && !places.in(gap) || !into.in(gap) || besideIt.in(gap) || strings.Contains(gap, ",") || inFile.in(gap) ||
			changesTo.in(m[0]) || aboutIt.in(m[0]) || others.in(gap) && !places.in(gap) ||
			others.in(lastWords(gap)) {
			continue
		}
		_, rest, _ := strings.Cut(s.text, m[0])
		if isLocal(name) && !reads.in(m[0]) && !condition.in(gap) && isOrderedBehind(prefix) && endsOrder(rest) && !likePath.in(name) &&
			!invented.in(name) && !r.takesBackFile(name, s, behind) {
			if !isWrittenStill(normal(rest)) {
				r.took = append(r.took, Left{Line: s.line + 1, What: shorten(s.text), Why: whySome})
				return
			}
			if s := r.unbinding(s.text); s != nil {
				r.took = append(r.took, Left{Line: s.line + 1, What: shorten(s.text), Why: whySome})
				return
			}
			h.Gate = Produces([]string{name})
			r.add(h)
		}
	}
}

// isOrderedBehind reports whether what stands before an order in its sentence leaves it one.
func isOrderedBehind(prefix string) bool {
	said := strings.TrimLeft(normal(lineMarks.without(prefix)), "([ ")
	bare := strings.TrimLeft(withoutLead(strings.TrimLeft(said, "0123456789.),;: ")+" "), "- ")
	bare = strings.TrimSpace(toRemember.without(withoutLead(bare)))
	switch {
	case wishes.in(said), byOthers.in(said), sometimes.in(said), telling.in(bare) && !joins.in(bare):
		return false
	case bare == "":
		return true
	case strings.HasSuffix(bare, ":"):
		return !restricts(bare) && !leadsAway.in(bare)
	}
	return joins.in(bare) && isImperative(bare)
}

// endsOrder reports whether what stands behind an order in its sentence leaves it one.
func endsOrder(rest string) bool {
	said := normal(rest)
	if m := goesOnWith.find(said); m != nil && isImperative(m[2]) && !toPeople.in(m[1]) {
		return endsOrder(m[1]) && !sometimes.in(said) && !undoing.in(said)
	}
	return !elsewhereTo.in(said) && !sometimes.in(said) && !wishes.in(said) && !ofName.in(said) && !undoing.in(said) &&
		(!leadsAway.in(said) && !toPeople.in(said) && !byPrograms.in(said) || toRoot.in(said))
}

// takesBackFile reports whether something else takes back that a sentence tells to write a file.
func (r *reader) takesBackFile(name string, order sentence, behind []sentence) bool {
	base := strings.ToLower(path.Base(name))
	own := func(s sentence) bool { return s.line == order.line && strings.Contains(s.text, order.text) }
	names := func(s sentence) bool { return strings.Contains(s.plainText(), base) }
	near := func(s sentence) bool {
		said := normal(s.text)
		switch about := names(s) || ofThem.in(said); {
		case undoing.in(said):
			return about || ofMany.in(said)
		case refusing.in(s.text):
			return about || writes.in(said)
		case about && !isImperative(withoutLead(said)) && ofName.in(said) && sometimes.in(said):
			return true
		}
		return mayTakeBack(s.text) && (restricts(said) || leadsAway.in(said))
	}
	titles := r.titles
	if order.line+1 == r.step.Line { // the first of them is the order
		titles = titles[1:]
	}
	if takesBack(titles, nil, nil) || len(behind) > 0 && refusesThat.in(behind[0].text) {
		return true
	}
	return slices.ContainsFunc(r.near, func(s sentence) bool {
		if own(s) {
			return s.intro != "" && (restricts(normal(s.intro)) || leadsAway.in(s.intro) || sometimes.in(s.intro))
		}
		return near(s)
	}) || slices.ContainsFunc(r.every, func(s sentence) bool {
		said := normal(s.text)
		return !own(s) && names(s) && !isImperative(withoutLead(said)) && (restricts(said) || writes.in(said))
	})
}

// upTo returns a text up to the first comma behind a part of it: what follows that is about something else.
func upTo(text, part string) string {
	at := strings.Index(text, part) + len(part)
	if comma := strings.IndexByte(text[at:], ','); comma >= 0 {
		return text[:at+comma]
	}
	return text
}

// lastWords returns the last two words of a text.
func lastWords(text string) string {
	words := strings.Fields(text)
	return strings.Join(words[max(0, len(words)-2):], " ") + " "
}
