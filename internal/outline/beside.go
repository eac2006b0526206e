package outline

import (
	"slices"
	"strings"
	"unicode"
)

// What a text says beside its steps may make them unbinding, conditional, a choice or a shortcut in more ways than can be listed: "For
// large changes.", "Pick whichever applies.", "The user writes all files." So a sentence there takes back all that the steps demand, unless
// it is of a kind that cannot do that: it introduces the steps, says what the skill is for or who the reader is, tells how to work in words
// that unbind nothing and hand nothing over, says what is required, or stands below a title for looking things up. A description says when
// the skill is used: of its sentences only those count that forbid something, or say that the text is not followed. What takes something
// back is told with its line.

var (
	// pointing are the words with which a sentence may speak of the steps, of a choice among them, or of some cases only.
	pointing = pattern{text: `(?i)\b(?:this|that|these|those|it|its|they|them|their|here|there|above|below|following|follows?|previous|` +
		`next|preceding|such|so|as|same|one|ones|some|any|each|every|all|both|either|neither|none|nothing|something|anything|` +
		`everything|everyone|most|many|few|several|more|less|enough|rest|others?|another|just|whichever|whatever|whoever|what|which|who|` +
		`whom|whose|how|when|whenever|where|wherever|why|if|whether|until|till|while|once|since|because|yet|already|now|possible|typical|` +
		`necessary|needed|applicable|appropriate|own|yourself|yours|mine|up to|order|subset|sequence|ways?|steps?|phases?|stages?|` +
		`tasks?|items?|points?|parts?|lists?|pages?|documents?|text|skills?|workflows?|procedures?|process|checklists?|plans?|` +
		`instructions?|sections?|rules?|guidelines?|inspiration|reference|orientation|guidance|suggestions?|sense|judge?ment|discretion|` +
		`taste|end|start|beginning|questions?|answers?|decisions?|choices?)\b`}
	// vague is what a sentence that says what a skill is for may not say.
	vague = pattern{text: `(?i)\b(?:this|these|those|here|there|above|below|following|such|one|ones|some|any|none|nothing|anything|most|` +
		`whichever|whatever|either|yet|possible|typical|applicable|used|how we|inspiration|reference|orientation|guidance|suggest\w*|` +
		`recommend\w*|drafts?|examples?|samples?|may|might|could|should|would|manually|by hand|ourselves|yourself)\b`}
	// whenNot says when the skill is not used, and forbidsUse forbids something else.
	whenNot = pattern{text: `(?i)\b(?:do not|don['’]t|never|not) (?:to be )?(?:use[d]?|invoke[d]?|call(?:ed)?|` +
		`trigger(?:ed)?|meant|intended)(?: (?:this|the|it)(?: skill)?)? (?:for|when|if|on|to|with|in|unless|as)\b[^.;]*`}
	forbidsUse = pattern{text: `(?i)\b(?:do not|don['’]t|never|must not|mustn['’]t|cannot|can['’]t|may not|should not|nobody|no one|` +
		`nothing|none|forbid\w*|forbidden|prohibit\w*|no longer|(?:is|are) not|avoid|not in use|off limits|not yet)\b|^(?:no|not|only)\b`}
	// notInUse is said in a description of a skill that is not followed.
	notInUse = pattern{text: `(?i)\b(?:deprecated|obsolete|superseded|replaced by|drafts?|archived?|out of date|outdated|examples?|samples?|` +
		`demos?|demonstrations?|illustrations?|(?:for|as) (?:history|reference|inspiration|orientation|guidance|training)|kept|optional|` +
		`by hand|manually|read-?only|dry run|reference|for (?:people|humans)|plan mode)\b|^(?:status|state|stage|disabled|enabled|active|` +
		`deprecated)\b.*:|^(?:explains?|describes?|shows?|documents?) (?:how|what|why)\b`}
	// ofReaders is what a description of a text begins with that tells nobody to do something, or says that it is not for work.
	ofReaders = pattern{text: `(?i)^(?:how (?:[^t]|t[^o]|to\w)|(?:what|why)\b)|^(?:(?:an?|the|some|our|my|short) )*(?:notes?|` +
		`documentation|explanations?|descriptions?|accounts?|records?|history) (?:on|of|about|for)\b|` +
		`\b(?:not|n['’]t|never) (?:to be )?(?:use[d]?|invoke[d]?|meant|intended)\b.* (?:for|in|on|with) ` +
		`(?:(?:actual|real|serious|any)\b|(?:work|practice|anything|everything)\W*$)`}
	prohibiting = pattern{text: `(?i)^(?:(?:please|always|also|then|finally)\b,? ?)*` +
		`(?:(?:you )?(?:must )?(?:do not|don['’]t|never|must not|avoid)(?: ever)? )?`}
	// unbinding are words that can unbind, or hand over, whatever is ordered with them.
	unbinding = pattern{text: `(?i)\b(?:above|below|following|previous|preceding|some|any|both|either|neither|none|nothing|something|` +
		`anything|everything|everyone|most|many|few|several|enough|rest|others?|another|whichever|whatever|whoever|what you|what is|` +
		`what fits|what makes|how|until|while|once|already|yet|possible|necessary|needed|applicable|appropriate|own|yourself|yours|mine|` +
		`up to|order|subset|sequence|ways?|steps?|phases?|stages?|tasks?|items?|points?|parts?|lists?|documents?|text|skills?|workflows?|` +
		`procedures?|process|checklists?|plans?|instructions?|sections?|rules?|guidelines?|inspiration|reference|orientation|guidance|` +
		`suggest\w*|sense|judge?ment|discretion|taste|instincts?|end|start|beginning|questions?|answers?|decisions?|memory|chat|stdout|` +
		`gospel|self-\w+|bold|sparingly|freely|loosely|caution|all|if|when|whether|where|as|should|later|archived?|drafts?|` +
		`examples?|samples?|history|advis\w*|read-?only|stops?|ahead|straight|directly|traces?|manner)\b`}
	ofRole     = pattern{text: `(?i)^you are (?:an?|the) (?:[\w-]+ ){0,3}[\w-]+(?: (?:for|of|in) [\w -]+)?$`}
	onlyLooks  = pattern{text: `(?i)\b(?:read(?:er|s)?|observ\w*|advis\w*|spectator|watch\w*|consultant|only|just|not|never)\b`}
	isRequired = pattern{text: `^(?:(?:The |Our )?[A-Z]?[a-z][\w-]*(?: [a-z][\w-]*)? )?(?:[Ff]ollows?|[Uu]ses?|[Rr]equires?|[Nn]eeds?|` +
		`[Ss]upports?|[Tt]argets?|(?:is|are)(?: written)? in) (?:the )?(?:[A-Z]\w*|` + "`x`" + `|[\w.]*\d\S*|pnpm|npm|yarn)(?: [\w.+-]+){0,2}$`}
	greeting  = pattern{text: `(?i)^(?:good luck|have fun|enjoy|thanks?|thank you|welcome|hello|hi)\W*$`}
	ifItFails = pattern{text: `(?i)^(?:if|when) [\w -]{1,30} (?:fails?|breaks?|errors?|goes wrong|is (?:red|unclear|missing)|(?:does not|` +
		`doesn['’]t) (?:pass|work)),? (?:then )?(?:stop|report|fix|tell|ask|investigate|pause|halt|say|show)\b(.*)$`}
	goingOnAnyway = pattern{text: `(?i)\b(?:skip\w*|ignor\w*|continue|go on|go ahead|proceed|fine|ok|okay|anyway|move on|leave|next|rest)\b`}
	isForThem     = pattern{text: `(?i)^(?:this|the) (?:skill|workflow) is (?:meant )?for [\w -]+$`}
	ofPeople      = pattern{text: `(?i)\b(?:humans?|people|persons?|history|reference|reading|what|how|why|ci|maintainers?|pipelines?|` +
		`servers?|bots?|plan mode)\b`}
	// ofOneKind is what an order not to change something leaves to be changed.
	ofOneKind = pattern{text: `(?i)\b(?:generated|vendored|existing|unrelated|public|other|failing|tests?)\b`}
	// isKept is what a prohibition may be about that forbids no work.
	isKept = pattern{text: `(?i)(?:\b(?:secrets?|credentials?|passwords?|tokens?|api keys?|force|emojis?|jargon|abbreviations?)|` +
		"`x`" + `|^(?:force-)?push|^merge|^deploy|^publish)\W*$`}
	ofTheSkill = pattern{text: `(?i)^(?:(?:this|the|an?) )?(?:skill|workflow|procedure|guide|runbook|process|checklist|command)s? ` +
		`(?:for|to|about|that|which|(?:\w+ly )?([a-z]+s))\b(.*)$`}
	useFor = pattern{text: `(?i)^(?:use|invoke|call|trigger|load|apply|activate) (?:this|the) (?:skill|workflow|command)(?: proactively|` +
		` immediately)* (?:when|whenever|for|to|if|before|after)\b(.*)$`}
	doesSo      = pattern{text: `^([A-Z][a-z]+s) (?:an?|the|your|our|new)\b(.*)$`}
	areTheSteps = pattern{text: `(?i)^(?:these|here|the following|below) are (?:all )?the steps(?: (?:of|to|for (?:an?|the)) (.*))?$`}
	toEnd       = pattern{text: `(?i)\bto [a-z]+ .*$`}
	fewOf       = pattern{text: `(?i)\b(?:` + inWords + `|\d+) of\b`}
	vaguely     = pattern{text: `(?i)^\w+ (?:in|on|at|for|to|with|by|from|as|of|and|or|\w+ly)\b|\b(?:sparingly|freely|loosely)\b`}
	// covers is what the steps themselves may write, run or ask for.
	covers = pattern{text: `(?i)\b(?:files?|documents?|markdown|reports?|notes?|plans?|summar\w+|docs|documentation|outputs?|disks?|repo\w*|` +
		`project|anything|everything|something|results?|changes?|code|commands?|tests?|suites?|programs?|scripts?|tools?|shell|` +
		`terminal|approvals?|questions?|users?|reviews?|checks?|it|this|that|them|these|those|steps?|changelogs?|` +
		`entr(?:y|ies)|lists?|work|one|any|here|now|yet)\b`}
	// factual is a statement that has a name in code or a version, or says how long something takes.
	factual = pattern{text: `^(?:[A-Z][\w-]*|` + "`x`" + `)(?: [\w-]+){0,4} (?:is|are|lives?|starts?|follows?|uses?|needs?|takes?|goes|go)\b` +
		`.*(?:` +
		"`x`" + `|[A-Z][a-z]+ v?\d[\d.]*|\b(?:minutes|seconds|hours)$)|^[A-Z][a-z]+ v?\d[\d.]*(?: or (?:later|newer|higher))? (?:is|are) ` +
		`required$|^(?:For (?:more )?details|More)\b.*` + "`x`" + `$`}
	notFactual = pattern{text: `(?i)^(?:this|these|that|everything|all|the (?:above|rest|list|order|text))\b|\b(?:appl(?:y|ies)|valid|` +
		`since|from|until|wins?|precedence|overrides?|exempt|instead|replac\w*|supersed\w*|mov(?:e|ed)|only|not?|never|nobody|optional\w*)\b`}
	ifUnsure = pattern{text: `(?i)^(?:(?:if|when) (?:(?:you are|it is|anything is|something is) )?(?:unsure|unclear|uncertain|not sure|` +
		`in doubt),? (?:stop|ask|tell|say)\b[\w ]*|stop if (?:something|anything|it) (?:looks|seems|is|goes) (?:wrong|odd|strange|off)|` +
		`think (?:step by step|carefully|hard)|take your time|(?:follow|respect) (?:the |our )?[\w -]*(?:style guides?|conventions?|` +
		`code style)|(?:thanks?|thank you)\b[\w ]*)\W*$`}
	toUser = pattern{text: `(?i)\bto (?:the (?:user|team|person|maintainers?)|them)\b|\bat the end\b|\bwhat you (?:have )?\w+ed\b|` +
		`\bwhat was \w+\b`}
	handing = pattern{text: `(?i)\bto\b|\b(?:that|how|leave|rest|everything|all|skip\w*|instead|only|nothing|not|` +
		`never|no|steps?|if|when|unless|should|` +
		`may|can|chat|stdout|memory)\b|^ask\b`}
	isSaid     = pattern{text: `(?i)^\w+ (?:goes|is|are|was|were|has|have|does|do|runs?|comes?|can|will|must|needs?)\b`}
	toOthersBy = pattern{text: `(?i)\b(?:` + people + `|admins?|ops|bots?|ci|somebody|someone|I|we|us|our)\b`}
	byName     = pattern{text: `\b(?:to|with|by|from|for|of) [A-Z][a-z]+\b`}
	ofTool     = pattern{text: "`[A-Z][A-Za-z]+`"} // of an agent
	isStored   = pattern{text: `^(?:The|Our) (?:[\w-]+ ){1,3}(?:is|are|lives?) (?:in|at|under|written in|called|named) (?:the )?(?:` +
		"`x`" + `|[A-Z]\w+)\W*$`}
	linkAlone = pattern{text: `^\W*(?:\[[^\]]*\]\([^)]*\)\W*)+$`}
	// forReading are the titles of what is for looking things up.
	forReading = pattern{text: `(?i)^\W*(?:when (?:not )?to use|when to|use when|use cases?|triggers?|examples?|samples?|usage|outputs?|` +
		`(?:\w+ )?formats?|(?:\w+ )?templates?|troubleshoot\w*|references?|resources?|see also|related|further|prerequisites?|` +
		`requirements?|set-?up|installation|inputs?|arguments?|parameters?|environment|configuration|files?|(?:\w+ )?(?:structure|` +
		`layout)|glossary|scripts?|tools?|commands?|(?:common )?(?:mistakes|errors|issues|problems)|pitfalls|error handling|` +
		`anti-?patterns|commit messages?|naming|background|rationale|(?:success|acceptance) criteria|style|conventions?|changelog|` +
		`version history|license|licence|credits|authors?)\b`}
)

var helpsWith = strings.Fields(`guides helps walks covers provides automates describes teaches ensures manages supports performs`)

// isHarmless reports whether a sentence beside the steps is of a kind that takes nothing back.
func (s sentence) isHarmless() bool {
	said := strings.TrimRight(strings.TrimLeft(normal(s.text), "([*> "), ".!:; ")
	switch {
	case !strings.ContainsFunc(address.without(strings.ReplaceAll(said, "`x`", "")), unicode.IsLetter), linkAlone.in(s.text),
		forReading.in(s.title) && !(asWhole.in(said) && restricts(said)):
		return true
	case numbered.in(said), noneLeftOut.in(said), refused.in(plainly(s.text)): // see namedBy
		return true
	case s.isFront:
		return (!forbidsUse.in(whenNot.without(said)) || ordersElse(said)) && !notInUse.in(said) && !ofReaders.in(said)
	case isStored.in(said) && !pointing.in(said), isBeside(s) && !negation.in(said):
		return true
	case greeting.in(said), ofRole.in(said) && !onlyLooks.in(said), isRequired.in(said) && !restricts(said) && !vague.in(said),
		isForThem.in(said) && !ofPeople.in(strings.ReplaceAll(said, "maintainers", "")) && !vague.in(said[4:]) && !negation.in(said):
		return true
	case ifUnsure.in(said), telling.in(said) && !handing.in(toUser.without(said)),
		factual.in(said) && !notFactual.in(said) && !unbinding.in(said) && !toOthersBy.in(said) && !byName.in(said) && !doubtful.in(said) &&
			!loose.in(said) && !byPrograms.in(said):
		return true
	case ifItFails.in(said):
		return !goingOnAnyway.in(ifItFails.find(said)[1])
	case strings.Contains(said, "?"), quoted.in(withoutCode(s.text)), byPrograms.in(said), ofTool.in(s.text):
		return false
	}
	return introducesSteps(said) || saysWhatFor(said) || ordersElse(said)
}

// saysWhen reports whether a sentence of a description says when the skill is used, and forbids nothing.
func (s sentence) saysWhen() bool { return s.isFront && s.isHarmless() && !negates(s.text) }

// introducesSteps reports whether a sentence has only words with which steps are introduced.
func introducesSteps(said string) bool {
	if m := areTheSteps.find(said); m != nil {
		return !restricts(m[1]) && !vague.in(m[1]) && !byName.in(" of "+m[1])
	}
	rest := toEnd.without(said)
	return ofSteps.in(rest) && !fewOf.in(rest) && !restricts(said) && hasOnly(rest, wordsOfSteps)
}

// saysWhatFor reports whether a sentence says what the skill does, or when it is used.
func saysWhatFor(said string) bool {
	rest, found := "", false
	if m := useFor.find(said); m != nil {
		rest, found = m[1], true
	} else if m := ofTheSkill.find(said); m != nil {
		rest, found = m[2], m[1] == "" || isThird(m[1])
	} else if m := doesSo.find(said); m != nil {
		rest, found = m[2], isThird(m[1]) && !restricts(said)
	}
	return found && !vague.in(rest) && !ofPeople.in(rest) && !negation.in(said) && !doubtful.in(said) && !notToDo.in(said) && !invalid.in(said)
}

// isThird reports whether a word is a verb in the third person.
func isThird(word string) bool {
	word = strings.ToLower(word)
	bare := strings.TrimSuffix(word, "s")
	return slices.Contains(helpsWith, word) || slices.Contains(verbs, bare) || slices.Contains(verbs, strings.TrimSuffix(bare, "e"))
}

// ordersElse reports whether a sentence is an order to run something, or to do or not to do something else than the steps.
func ordersElse(said string) bool {
	bare := withoutLead(said)
	text := prohibiting.without(bare)
	if isPlain(text) && (strings.Contains(text, "`x`") || toPass.in(text)) && !fewOf.in(text) {
		return true
	}
	word := first.find(text)
	switch {
	case word == nil, byPrograms.in(text):
		return false
	case negation.in(bare) && text == bare:
		return notTouch.in(said) && ofOneKind.in(said)
	case negation.in(bare):
		verb, rest := strings.ToLower(word[1]), text[len(word[0]):]
		return notTouch.in(said) && ofOneKind.in(said) || isKept.in(text) && !pointing.in(text) && !restricts(text) ||
			!slices.Contains(ofGoing, verb) && !covers.in(rest) && !toOthersBy.in(rest) && !byName.in(rest) && !negation.in(rest) &&
				(strings.TrimSpace(rest) != "" || verb == "guess")
	case unbinding.in(text), toOthersBy.in(text), byName.in(text), undoing.in(text), doubtful.in(text), notToDo.in(text),
		loose.in(text[len(word[0]):]):
		return false
	}
	verb := strings.ToLower(word[1])
	switch {
	case len(strings.Fields(text)) < 2, isSaid.in(text), slices.Contains(ofGoing, verb):
		return false
	case verb == "use":
		return !pointing.in(text) && !vaguely.in(text)
	}
	return slices.Contains(ofManner, verb) || isImperative(text) && !slices.Contains(ofLeave, verb)
}

// ofManner are verbs of orders that say how to work.
var ofManner = strings.Fields(`keep be use see explain prefer speak stay cite quote refer touch mend mention double`)
