package outline

import (
	"slices"
	"strings"
)

// An approval is proposed only where a sentence demands it in a form that is known here, and where nothing in the text says that nobody
// is there to be asked. What it has to come before is what the sentence names, or the step whose text it is. An approval at the end of
// a step comes too late for what the step does, so it is asked for at the end of the one before.

const (
	persons = `(?:(?:the|a|an|your|our|my|its|some|every|each) (?:[\w-]+ ){0,2}?)?(?:` + people +
		`|dba|human|colleague|reviewer|someone|somebody|me|them|him|her|the author|client)`
	consent  = `(?:approvals?|confirmations?|permission|sign-?offs?|go-?ahead|consent)`
	agreeing = `(?:approves?|approved|confirms?|confirmed|agrees?|agreed|signs? off|signed off|(?:has|have) (?:approved|confirmed|agreed|` +
		`signed off|said yes|consented)|is okay with|says yes)`
	askers = `(?:ask|get|obtain|request|seek|await|wait|require)`
)

var (
	// consenting is an approval by a person, and not something that is called after one.
	consenting = pattern{text: `\b` + consent + `(?: (?:of|for|before|to|on|and|first|beforehand|in advance|in writing|then|here|again|` +
		`until|` +
		`prior|is|are|has|must|comes?|required|needed|mandatory|necessary|forbidden|prohibited|not|(?:from|by) ` + persons + `)\b|[,)]|$)|\b` +
		persons + `(?:'s)? ` + agreeing + `\b|\b(?:human|user|stakeholder|manual|person's|peer) review\b`}
	leadOfDemand = pattern{text: `^(?:(?:and|also|please|always|now|next|but|or|important|note|required|mandatory|then|afterwards?|` +
		`after that|to (?:begin|start)(?: with)?|finally|lastly|at the end|in the end|first(?: of all)?|only then|` +
		`you (?:must|have to|need to|should)|we (?:must|have to|need to))\b[,:]? ?)+`}
	beforeLead = pattern{text: `^(?:before|prior to) (?:(?:you|we|it|they) )?(?:the |this |that |any |each |every )?(\w+)[^,:]*[,:] (.*)$`}
	ordered    = pattern{text: `^(?:(?:stop|pause|halt)(?: here| now)? and )?` + askers + `\b(.*)$`}
	// makeSure and notForgetting are orders in other words.
	makeSure      = pattern{text: `\b(?:make sure|be sure|ensure)(?: that)? (?:you|we) (?:have|get|got)\b`}
	notForgetting = pattern{text: `\b(?:(?:do not|don't|never) forget to|be sure to|make sure to|make sure that|make sure|ensure that|` +
		`ensure) `}
	holding = pattern{text: `^(?:wait with|hold off on|hold off|hold back|hold|delay|postpone) (?:the |it |` +
		`this )?(\w+)(?: .*?)? until (.*)$`}
	halting  = pattern{text: `^(?:stop|pause|halt|hold)(?: here| now| on)? (?:for|until|till|pending) (.*)$`}
	askToDo  = pattern{text: `^(?:(?:stop|pause|halt)(?: here| now)? and )?asks? [\w' -]{0,40}?\b(?:to|that) (?:they |he |she )?(\w+)`}
	askLeave = pattern{text: `\bask ([^.;]{0,30}?)\b(?:whether|if) [^.;]{0,30}?\b(?:may|can|ok(?:ay)? to|` +
		`all right to)(?: be)? (\w+)[^.;,]*|` +
		`\bask [^.;]{0,30}?\b(?:whether|if) [^.;]{0,30}?\b(?:ok|okay|all right|approved?)\b[^.;,]*`}
	// notNow is what has to wait for what the sentence says next.
	notNow = pattern{text: `^(?:do not|don't|never) (.*?)(?: yet| now)*$`}
	// heldBehind says first what has to be there.
	heldBehind = pattern{text: `^(?:until|till|without|unless|(?:only )?after|(?:only )?once|as soon as) ([^,]*), (?:then )?` +
		`(?:do not |don't |never |you may )?([^,;:]*)$`}
	askBefore = pattern{text: `^(?:(?:stop|pause|halt)(?: here| now)? and )?(?:ask|confirm with|check with) ` + persons +
		`(?: first)? before\b`}
	prohibits = pattern{text: `^(?:(?:you |we )?(?:do not|don't|never(?:,? ever)?|under no circumstances|at no time|must not|mustn't|` +
		`may not|` +
		`shall not|should not|cannot|can't|not)|(?:nobody|no one)(?: may| must| can| should)?|no|nothing (?:is|may be|must be|gets|is to be)|` +
		`(?:it|this|that) (?:must not|may not|is not to|cannot) be)(?: ever| even)?(?: (.*?))? ?\b(?:without|before|until|till|unless|` +
		`prior to)\b (.*)$`}
	restrictsTo = pattern{text: `^(?:(.*?) )?only (?:(.*?) )?(?:after|once|when|with|if|upon|following)\b (.*)$`}
	forbidsTo   = pattern{text: `^(?:it is (?:forbidden|prohibited) to )?(\w+)\b(.*?) without (.*?)(?: (?:is|are) (?:forbidden|` +
		`prohibited|banned|` +
		`not (?:allowed|permitted|acceptable)))?$`}
	isForbidden = pattern{text: `\b(?:forbidden|prohibited|banned|not (?:allowed|permitted|acceptable))\b`}
	requiring   = pattern{text: `^(?:the |every |each )?([\w-]+)(?: (?:step|it|this|anything|[\w ]{0,30}?))? (?:requires?|needs?) (.*)$`}
	toBeAgreed  = pattern{text: `^(?:the |this |that |every |each |any )?(\w+)(?: [\w' -]{0,40}?)? (?:must|has to|have to|needs? to) be ` +
		`(?:approved|confirmed|signed off|agreed)\b(?: (?:by|with) ` + persons + `\b)?(.*)$`}
	nounAlone = pattern{text: `^(?:(?:the|a|an|prior|written) )?(?:(?:` + persons + `(?:'s)?|manual|explicit) )?(?:` + consent +
		`|review)(?: (?:by|of|from) ` + persons + `)?(?: (?:of|for|to) (?:the |this |its )?[\w-]+)?(?: (?:is |are )?(?:required|needed|` +
		`necessary|mandatory|(?:must|has to) come first|comes first))?(?: (?:first|beforehand|in advance|(?:before|for) .*))?$`}
	notAlone  = pattern{text: `\b(?:human|user|stakeholder|manual|explicit|required|needed|necessary|mandatory|first|before)\b`}
	theyAgree = pattern{text: `^` + persons + ` (?:(?:must|has to|have to|needs? to|should|always must)(?: first| also|` +
		` always)? (?:approve|` +
		`confirm|agree|sign off|review)\b.*|(?:approves|confirms|signs off|agrees)(?: (?:it|this|that|on it|on this|the \w+))?(?: (?:first|` +
		`beforehand|before .*))?)$`}
	afterwards = pattern{text: `^(\w+)\b.*? (?:after|once|upon|with|following) ((?:` + persons + ` (?:has |have )?(?:approved|signed off)` +
		`(?: (?:it|this|that|them))?|(?:the |a |an )?(?:` + persons + `'s )?(?:approval|permission|sign-?off|go-?ahead|consent)` +
		`(?: (?:of|from|by) ` + persons + `)?))$`}
	itself    = pattern{text: `\b(?:first|beforehand|in advance|ahead of time|prior|up front|upfront)\b`}
	behindIt  = pattern{text: `^(?:and |but )?(?:then|afterwards?|after that|finally|lastly|at the end|in the end)\b`}
	actBefore = pattern{text: `\b(?:before|prior to) (?:(?:you|we|it|they|anyone|he|she) )?(?:(?:is|are|has|have|can|may) )?(?:the |a |` +
		`any |this |that |its )?(\w+)`}
	parted    = pattern{text: `\s*(?:[;:—–]|, but\b|,? and then\b|, then\b|, and\b| and (?:then )?(` + askers + `)\b)\s*`}
	notSureOf = pattern{text: `\b(?:may|can|could|might|would|will|perhaps|maybe|possibly|consider|optional(?:ly)?|example|instance|e\.g|` +
		`such as|` +
		`usually|often|sometimes|normally|typically|used|had|was|were|already|if|whether|in case|depending|should you|where|whenever|when|` +
		`why|how|what|who|feel free|unless|or|past|nobody|twice|again|once a)\b`}
	littleWords = strings.Fields(`you we be to ever just the any is a an may must can has have it this that them so i`)
	goesFurther = strings.Fields(`go continue proceed move next finish complete end leave following stop anything more further mark declare
		claim call close continuing`)
	doesItself = strings.Fields(`start begin do step this it that perform carry work starting beginning doing working so`)
	// irrevocable are the outward verbs of what an approval would come too late for.
	irrevocable = strings.Fields(`post publish send submit deploy merge push release delete remove drop apply upload ship tag email announce
		migrate revoke transfer pay wipe promote purge destroy erase overwrite truncate rotate restart disable charge refund cancel reply`)
	// drafting are the verbs of what can still be changed after it was done. An approval at its end comes too late for any other.
	drafting = strings.Fields(`write draft rewrite plan design prepare review analyse analyze read collect gather summarise summarize propose
		show present ask get obtain request seek wait await list outline describe document check test verify validate build implement fix
		refactor edit sketch compare explain investigate research find look explore understand define specify estimate measure inspect
		study decide discuss suggest identify record note`)
	// objectOf is what an approval is for, or what needs one.
	objectOf = pattern{text: `\b(?:` + consent + `|review|reviews|reviewed|approves?|approved|confirms?|confirmed)` +
		`(?: (?:from|by|of|with|to|on) person)?(?: (?:is|are|was|be|it|this|them|that))*(?: (?:required|needed|necessary|mandatory|given))?` +
		` (?:of|for|to|on|before|prior to) (?:(?:the|this|that|its|your|our|any|a|an) )?([\w'-]+)`}
	needsOne = pattern{text: `^(?:(?:the|this|that|any|a|an) )?([\w'-]+)[\w' -]*? (?:requires?|needs?|(?:must|has to|have to|needs? to) ` +
		`(?:be|get|have))\b`}
	// wordsOfDemand are those of which a demand consists, beside words for what is done and those of its step. With any other word it may
	// be for some cases only, of something else, or by somebody else.
	wordsOfDemand = strings.Fields(`the a an this that it its them their they you your we our i me my he she his her and then first beforehand
		in advance ahead of time prior up front upfront for from by to before until till only after once with without do does don't not never
		ever even no nothing nobody one may must mustn't shall can cannot can't has have had is are be been gets yet now here so there person
		explicit explicitly written manual human final please always also now next finally lastly afterwards step steps under circumstances
		at on off as soon unless upon following when whether if all right ok okay yes said says forget sure make ensure mandatory necessary
		required require requires need needs needed forbidden prohibited banned allowed permitted acceptable ask asks asked asking get got
		obtain request seek await wait stop pause halt hold delay postpone back comes come work result mark stage phase important end given done
		change checkpoint gate`)
	otherPersons = pattern{text: `\b(?:other|another|different|former|old|previous|external|any|some|each|every)\b|^(?:legal|security|qa)`}
	notYetDone   = pattern{text: `\b(?:yet|before|until|till|unless|without)\b`}
	ofReply      = pattern{text: `^(?:if|when|once|after) (?:` + persons + `|they|he|she)\b`}
	replying     = pattern{text: `\b(?:refuse|reject|decline|disagree|object|approve|agree|confirm|say|want|request)`}
	actsOnly     = pattern{text: `^(?:stop|pause|halt|wait)$`}
	agrees       = pattern{text: `\b(?:sign(?:s|ed)? off|agree[sd]?|says yes|said yes)\b`}
	verbIn       = pattern{text: `^.*\b(?:requires?|needs?|must|has|have|is|are|of|for|by|to|before|after|until|and) `}
	aPerson      = pattern{text: `\b` + persons + `(?:'s)?\b`}
	ofConsent    = pattern{text: `^(?:` + consent + `|consents?|approv\w*|confirm\w*|agree\w*|reviews?|reviewed|sign(?:s|ed)?|go-ahead)$`}
)

// demand is an approval that a sentence demands.
type demand struct {
	acts   []string // the words of what has to wait for it
	of     string   // what it is for, or ""
	text   string   // of the sentence
	part   string   // of that, with the demand
	tail   string   // what follows the part
	first  bool     // it comes before what the step does
	behind bool     // it comes after that
	unsure bool     // it comes before something, or after
}

// plainly returns a sentence in lower case without emphasis, code and what ends it.
func plainly(said string) string {
	said = strings.NewReplacer("*", "", "_", "", "’", "'", "(", "", ")", "").Replace(withoutCode(said))
	return strings.Trim(strings.Join(strings.Fields(strings.ToLower(said)), " "), ".!, ")
}

// demanded returns the approval that a sentence demands, and what follows the demand in the sentence.
func demanded(said string) (d demand, rest string, found bool) {
	text := plainly(said)
	if strings.ContainsAny(text, `?|"“”„`) || byPrograms.in(text) || strings.Contains(text, "yourself") {
		return d, "", false
	}
	if m := askLeave.find(text); m != nil {
		text = strings.Replace(text, m[0], "ask for approval", 1)
		if m[2] != "" {
			d.acts = []string{m[2]}
		}
	}
	text = notForgetting.without(makeSure.compiled().ReplaceAllString(text, "get"))
	if done := whenDoneLead.without(text); done != text {
		text, d.behind = done, true
	}
	d.text = text
	if m := beforeLead.find(text); m != nil {
		text, d.acts = m[2], []string{m[1]}
	}
	if m := heldBehind.find(text); m != nil && consenting.in(m[1]) && !notSureOf.in(m[1]+" "+m[2]) {
		one, ok := d.held(m[2], m[1])
		return one, "", ok
	}
	parts := clausesOf(text)
	for i, part := range parts {
		if i > 0 && d.acts == nil && isImperative(parts[i-1]) {
			d.behind, d.unsure = true, itself.in(parts[i-1])
		}
		one, ok := d.in(part)
		if m := notNow.find(part); !ok && m != nil && !asking.in(part) {
			d.acts = strings.Fields(m[1])
			continue
		}
		if !ok {
			if asking.in(part) && negation.in(part) || notSureOf.in(part) && i < len(parts)-1 {
				return d, "", false
			}
			continue
		}
		_, behind, _ := strings.Cut(text, part)
		one.part, one.tail = part, behind
		return one, strings.Join(parts[i+1:], "; "), true
	}
	return d, "", false
}

// clausesOf splits a sentence where one thing is said after another.
func clausesOf(text string) []string {
	marked := parted.compiled().ReplaceAllString(text, "\x00$1 ")
	var all []string
	for part := range strings.SplitSeq(marked, "\x00") {
		if part = strings.Trim(part, " ,"); part != "" && part != "stop" && part != "pause" {
			all = append(all, part)
		}
	}
	return all
}

// in returns what a clause demands.
func (d demand) in(part string) (demand, bool) {
	d.of = ofWhat(part)
	d.first = d.first || itself.in(part)
	d.behind = d.behind || behindIt.in(part)
	part = strings.TrimSpace(leadOfDemand.without(part))
	if m := prohibits.find(part); m != nil {
		return d.held(m[1], m[2])
	}
	if m := restrictsTo.find(part); m != nil {
		return d.held(strings.TrimSpace(m[1]+" "+m[2]), m[3])
	}
	if m := forbidsTo.find(part); m != nil && isForbidden.in(part) {
		return d.held(m[1], m[3])
	}
	if m := holding.find(part); m != nil {
		return d.held(m[1], m[2])
	}
	if m := halting.find(part); m != nil {
		d.behind = true
		return d, consenting.in(m[1]) && !negation.in(m[1]) && !notSureOf.in(m[1])
	}
	if negation.in(part) || notSureOf.in(part) || doubtful.in(part) {
		return d, false
	}
	if m := actBefore.find(part); m != nil {
		d.acts = []string{m[1]}
	}
	if d.ordersOne(part) || nounAlone.in(part) && notAlone.in(part) || theyAgree.in(part) {
		return d, true
	}
	if m := toBeAgreed.find(part); m != nil {
		if d.acts == nil && isOutward(m[1]) {
			d.acts = []string{m[1]}
		}
		return d, true
	}
	if m := requiring.find(part); m != nil && consenting.in(m[2]) && !asking.in(m[1]) {
		if d.acts == nil && (strings.HasSuffix(m[1], "ing") || isOutward(m[1])) {
			d.acts = []string{m[1]}
		}
		return d, true
	}
	if m := afterwards.find(part); m != nil && isOutward(m[1]) {
		d.acts = []string{m[1]}
		return d, true
	}
	return d, false
}

// ofWhat returns what a clause demands an approval for, or "".
func ofWhat(part string) string {
	part = leadOfDemand.without(withPersons(part))
	for _, form := range []*pattern{&objectOf, &needsOne} {
		if m := form.find(part); m != nil && !slices.Contains(littleWords, m[1]) && m[1] != "person" && !ofConsent.in(m[1]) {
			return m[1]
		}
	}
	return ""
}

// ordersOne reports whether a clause orders to get an approval.
func (d demand) ordersOne(part string) bool {
	if to := askToDo.find(part); to != nil {
		return approving.in(to[1])
	}
	m := ordered.find(part)
	return askBefore.in(part) || m != nil && (consenting.in(m[1]) || reviews.in(part) || d.acts != nil && strings.HasSuffix(m[1], "first"))
}

// held returns the demand that something is not done without an approval.
func (d demand) held(act, until string) (demand, bool) {
	if !consenting.in(until) || negation.in(until) || doubtful.in(until) || asking.in(act) || negation.in(act) {
		return d, false
	}
	d.first, d.behind = true, false
	for word := range strings.FieldsSeq(act) {
		if !slices.Contains(littleWords, word) {
			d.acts = append(d.acts, word)
		}
	}
	return d, true
}

// approval proposes that a person is asked, where that is not too late, or notes that it is not known where.
func (r *reader) approval(h Hint, said string, i, k int) {
	d, rest, found := demanded(said)
	if !found {
		return
	}
	at, note := r.placeOf(d, rest, i, k)
	if note != noteSplit && (r.saysMore(d.text) || !d.isLeft()) || note == "" && r.unbinding(said) != nil {
		note = noteSome
	}
	if stepByNumber.in(said) {
		if at, note = r.beforeNumbered(said), ""; at == 0 {
			return
		}
	}
	switch {
	case note != "":
		h.Note = note
	case at == r.step.ID:
		h.Gate = Approval(question(r.step))
	default:
		step := r.steps[slices.IndexFunc(r.steps, func(s Step) bool { return slices.Equal(s.BlockedBy, []int64{at}) })]
		h.Step, h.Gate = at, Approval("May the next step begin: "+strings.TrimRight(step.Subject, ".?!")+"?")
	}
	r.add(h)
}

const (
	noteSplit = "the approval has to come before what this step goes on to do: make that a step of its own, after one with the approval"
	noteOther = "the approval has to come before something that is not a step: make that a step of its own, after one with the approval"
	noteSome  = "it is not sure that this approval is always wanted, and of whom: if it is, add it to this step, or to the one before"
	noteWhere = "it is not sure whether the approval comes before this step or at its end: add it to the step before, or to this one"
)

// placeOf returns the id of the step at whose end a person has to be asked, or why it is not known.
func (r *reader) placeOf(d demand, rest string, i, k int) (at int64, note string) {
	own := actsIn(r.step.Subject)
	isOwn := func(word string) bool { return slices.Contains(own, stem(word)) }
	further := r.goesOn(rest, i, k)
	before := func() (int64, string) {
		if asksOnly := asks.in(r.step.Subject) && !r.acted && !further; asksOnly && r.before == 0 {
			return r.step.ID, ""
		}
		if r.acted || r.before == 0 || further && !slices.ContainsFunc(own, isIrrevocable) {
			return 0, noteSplit
		}
		return r.before, ""
	}
	act := ""
	if len(d.acts) == 0 && d.of != "" {
		switch verb := r.actOf(d.of); {
		case verb != "" && isOwn(verb) && isDrafting(verb):
			return 0, noteWhere
		case verb != "":
			d.acts = []string{verb}
		case !slices.ContainsFunc(wordsOf(r.step.Subject), func(word string) bool { return stem(word) == stem(d.of) }):
			return 0, noteOther
		}
	}
	if len(d.acts) > 0 {
		act = d.acts[0]
	}
	switch {
	case d.unsure:
		return 0, noteWhere
	case further && asks.in(firstWord(r.step.Subject)):
		return 0, noteSplit
	case slices.ContainsFunc(d.acts, isOwn):
		return before()
	case slices.Contains(goesFurther, act), slices.Contains(goesFurther, stem(act)):
		return r.step.ID, ""
	case slices.Contains(doesItself, act), act == "" && d.first:
		return before()
	case act != "":
		return r.laterOf(d.acts, further)
	case further && !slices.ContainsFunc(own, isIrrevocable):
		return 0, noteSplit
	case further:
		return before()
	case !d.behind && !r.drafts():
		return 0, noteWhere
	}
	return r.step.ID, ""
}

var stepByNumber = pattern{text: `(?i)\b(?:steps?|phases?|stages?)\s*#?` + numeralOf}

// beforeStep leads to a step by its number.
var beforeStep = pattern{text: `(?i)\b(?:before|prior to|go on (?:to|with)|proceed (?:to|with)|continue (?:to|with)|move on to|start|` +
	`begin|enter)(?: (?:you|we|go\w*|start\w*|begin\w*|doing|do|on|to|with|the)){0,3} (` + stepsOf + `)`}

// beforeNumbered returns the id of the step before the one whose number a sentence gives, or 0 if it is not sure which that is: this
// step or a later one, in a text that numbers its steps from one.
func (r *reader) beforeNumbered(said string) int64 {
	m := beforeStep.find(said)
	if m == nil || !r.counted || len(stepByNumber.compiled().FindAllString(said, -1)) != 1 {
		return 0
	}
	all := numbersIn(m[1])
	at := slices.IndexFunc(r.steps, func(s Step) bool { return len(all) == 1 && s.ID == int64(all[0]) && s.ID >= r.step.ID })
	if at < 1 || !slices.Equal(r.steps[at].BlockedBy, []int64{r.steps[at-1].ID}) {
		return 0
	}
	return r.steps[at-1].ID
}

// laterOf returns the step before the later one that does one of these, or why there is none.
func (r *reader) laterOf(acts []string, further bool) (at int64, note string) {
	if further {
		return 0, noteSplit
	}
	for n, s := range r.steps {
		does := actsIn(s.Subject)
		if s.ID <= r.step.ID || !slices.ContainsFunc(acts, func(act string) bool { return slices.Contains(does, stem(act)) }) {
			continue
		}
		if n > 0 && slices.Equal(s.BlockedBy, []int64{r.steps[n-1].ID}) {
			return r.steps[n-1].ID, ""
		}
		break
	}
	return 0, noteOther
}

// actsIn returns the stems of the words with which a subject tells what to do.
func actsIn(subject string) (all []string) {
	for _, verb := range verbsIn(subject) {
		all = append(all, stem(verb))
	}
	return all
}

// verbsIn returns the words that may be these.
func verbsIn(subject string) (all []string) {
	for _, m := range goingOn.compiled().FindAllStringSubmatch(clean(subject), -1) {
		all = append(all, strings.ToLower(m[1]))
	}
	return all
}

// drafts reports whether what a step does, and what its text has told to do so far, can still be changed at its end.
func (r *reader) drafts() bool {
	isVerb := func(word string) bool { return isOutward(word) || slices.Contains(verbs, word) }
	isFixed := func(word string) bool { return isVerb(word) && !isDrafting(word) }
	return isDrafting(firstWord(r.step.Subject)) && !slices.ContainsFunc(verbsIn(r.step.Subject), isFixed) &&
		!slices.ContainsFunc(r.did, isIrrevocable)
}

// actOf returns the verb of what this step or another one may do that a word is the noun of, or "".
func (r *reader) actOf(word string) string {
	word = strings.ToLower(word)
	for _, verb := range slices.Concat(actsIn(r.step.Subject), outwardVerbs, irrevocable) {
		short, n := stem(verb), 0
		for n < min(len(short), len(word)) && short[n] == word[n] {
			n++
		}
		if short != "" && (short == stem(word) || n >= 4 && n == len(short) || n >= max(5, len(short)-2)) {
			return verb
		}
	}
	return ""
}

// saysMore reports whether a sentence with a demand has a word that is not known in one.
func (r *reader) saysMore(text string) bool {
	var subject []string // without a demand in it
	for _, part := range clausesOf(plainly(r.step.Subject)) {
		if !asking.in(part) && !agrees.in(part) {
			subject = append(subject, wordsOf(part)...)
		}
	}
	isKnown := func(word string) bool {
		word = strings.TrimSuffix(strings.Trim(word, "-'"), "'s")
		same := func(other string) bool { return stem(other) == stem(word) }
		if word == "answer" || word == "reply" { // "without an answer go on"
			return false
		}
		return word == "" || slices.Contains(wordsOfDemand, word) || ofConsent.in(word) || r.actOf(word) != "" ||
			slices.ContainsFunc(slices.Concat(goesFurther, doesItself, subject), same)
	}
	return slices.ContainsFunc(clausesOf(text), func(part string) bool {
		part = leadOfDemand.without(part)
		if !asking.in(part) && !agrees.in(part) && isImperative(part) && !slices.Contains(goesFurther, firstWord(part)) {
			return notSureOf.in(part) || doubtful.in(part) || !actsOnly.in(part) && negation.in(part) && !notYetDone.in(part)
		}
		part = withPersons(part)
		if strings.Contains(part, "person of ") || strings.Contains(part, "person's person") {
			return true
		}
		return slices.ContainsFunc(wordsOf(part), func(word string) bool { return !isKnown(word) })
	})
}

// withPersons returns a clause in which "person" stands for each that may be the one who is asked.
func withPersons(part string) string {
	return aPerson.compiled().ReplaceAllStringFunc(part, func(who string) string {
		at := verbIn.compiled().FindStringIndex(who) // "the change needs user approval"
		switch {
		case at != nil:
			return who[:at[1]] + "person"
		case otherPersons.in(who):
			return who
		case strings.HasSuffix(who, "'s"):
			return "person's"
		}
		return "person"
	})
}

// wordsOf returns the words of a text in lower case, without code.
func wordsOf(text string) []string {
	return wordInText.compiled().FindAllString(strings.ToLower(strings.ReplaceAll(withoutCode(text), "`x`", "")), -1)
}

func isDrafting(verb string) bool {
	return slices.ContainsFunc(drafting, func(one string) bool { return stem(one) == stem(verb) })
}

func isIrrevocable(stemmed string) bool {
	return slices.ContainsFunc(irrevocable, func(verb string) bool { return stem(verb) == stemmed })
}
