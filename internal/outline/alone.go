package outline

import "strings"

// A text may say that nobody can be asked, that approvals are given, or that nothing of it is done: "It runs unattended", "This is a dry
// run". Wherever such a sentence stands, no approval of the text is proposed, or no gate at all. What speaks of asking or approving and
// denies anything counts as one, unless it demands an approval itself, or says of what else nobody has to be asked.

const theWhole = `(?:this|that|it|everything|all(?: of (?:this|it))?|(?:this|these|the) (?:whole(?: thing)?|text|steps|workflow|` +
	`list|file|page|document|` +
	`skill|session|run|commands)|these)(?: here| below| above)?`

var (
	agreement = pattern{text: `\b(?:approv\w*|` + consent + `|consents?)\b`}
	asking    = pattern{text: `\b(?:ask(?:s|ed|ing)?|disturb\w*|bother\w*|interrupt\w*|approv\w*|` + consent + `|questions?|consult\w*|` +
		`contact\w*|` +
		`interact\w*|prompt(?:s|ed|ing)?|hear|supervis\w*|oversight|wait(?:s|ed|ing)? (?:for|on)|stop(?:ping)? (?:to|for)|reach(?:ed|able)?|` +
		`answer(?:s|ed)?|respond\w*|` +
		`repl(?:y|ies)|involve\w*|available|keyboard|notify|message)\b`}
	ofPersons = pattern{text: `\b(?:` + people + `|human|colleague|reviewer|anyone|anybody|someone|somebody|everyone|me|them)\b`}
	// noPerson denies that there is one.
	noPerson = pattern{text: `\b(?:no|not any|without(?: an?| any)?|have no|neither) (?:[\w-]+ )?(?:` + people + `|human|colleague|` +
		`reviewer|one)\b|\bnobody\b`}
	// allowsNone is a rule for persons.
	allowsNone = pattern{text: `\b(?:no one|nobody|no (?:\w+ )?(?:users?|person|human|people)) (?:\w+ )?(?:may|must|can|should|` +
		`is allowed|has|touches|` +
		`needs|but|else)\b`}
	absent = pattern{text: `\b(?:asleep|sleep|sleeping|(?:has|have)(?: all)? left|leave (?:the )?\w+ alone|away|offline|on (?:holiday|` +
		`vacation|` +
		`leave)|busy|absent|gone|unavailable|unreachable|not (?:here|` +
		`there|in|around|present|available)|out of office)\b`}
	alone = pattern{text: `\b(?:unattended|headless(?:ly)?|non-?interactive(?:ly)?|not interactive|autonomous(?:ly)?|autonomy|` +
		`unsupervised|` +
		`on your own|(?:you|we|it|agent)(?: \w+)? (?:work|run|act|are|is|works|runs|acts) alone|full authority|auto(?:matic)? mode|` +
		`full[- ]auto|fully automat\w+|hands-off|own authority|(?:are|` +
		`is) (?:fully )?authori[sz]ed|(?:no|without) (?:\w+ )?(?:supervision|oversight)|` +
		`(?:approve|decide|decisions?|confirm|choose|agree)` +
		`[^.;]* yourself|auto-?(?:approv|accept|confirm)\w*|(?:with|say|says|said|is|always) yes|at night|overnight|nightly|over night)\b`}
	byMachine = pattern{text: `^(?:this|it|the (?:skill|workflow|agent|session|run))\b.* (?:in|on|by|from|under) (?:ci|cron|a cron ?job|` +
		`a pipeline|` +
		`batch|the background)\b`}
	given = pattern{text: `\b(?:given|granted|off|implied|implicit|automatic\w*|unnecessary|superfluous|informational|pre-?approved|` +
		`optional|disabled|already|` +
		`everything|` +
		`assum\w*|treat|consider|regard|skip\w*|(?:you|we) have|is approved|are approved|in advance for|yourself|subagents?)\b`}
	dislikes = pattern{text: `\b(?:hates?|dislikes?|sick of|tired of)\b`}
	// refused is what follows if an approval is not given.
	refused = pattern{text: `^(?:if|when|unless|should) ` + persons + ` (?:do(?:es)? not|doesn't|don't|did not|refuses?|declines?|` +
		`rejects?|disagrees?|` +
		`says? no|is not|objects?|denies)\b.*$|^(?:if|when) (?:the |it |this )?(?:` + consent + `|it|this|that)? ?(?:is|` +
		`was) (?:not (?:given|approved|` +
		`granted|confirmed)|refused|rejected|denied|declined)\b.*$`}
	// aboutElse asks for something else than leave.
	aboutElse = pattern{text: `\bask\w* (?:` + persons + ` )?(?:for|about|which|what|where|how|who|why|when) (.*)$`}

	// unreal is said of what is only played.
	unreal = pattern{text: `\b(?:dry[- ]?runs?|simulat\w*|rehears\w*|pretend\w*|make-?believe|thought experiments?|hypothetical\w*|` +
		`fiction\w*|` +
		`fire drills?|role-?play\w*|mock-?ups?|imagin\w*|tabletop|practice runs?|not (?:for )?real|is dry|suppose)\b`}
	ofAll = pattern{text: `^(?:description: |in this \w+,? |for now,? |at the moment,? |note:? |please )*(?:this|it|these|those|we|you|` +
		`everything|all|none|` +
		`nothing|treat|consider|regard|take|see|just|only|imagine|suppose|simulate|pretend|rehearse|dry[- ]?run|simulation|rehearsal|mock|` +
		`mode:|let us|let's|` +
		`the (?:whole|steps|workflow|procedure|skill|session|run|following|commands?))\b`}
	// played says what the whole is, or that nothing of it is done.
	played = pattern{text: `^(?:description: )?(?:` + theWhole + ` (?:is|are) (?:an? |only |just |merely |purely |for |` +
		`meant )*(?:\w+ ){0,2}?` +
		`(?:demonstration|demo|training|exercise|illustration|example|sample|walk-?through|trial|drill|draft|plan|test|joke|quiz|story|` +
		`reading|` +
		`practice|theory|game|what-if)(?: material| purposes?| text| only| run| of (?:the|this) skill)*|` +
		`(?:this|that|everything|these)(?: here)? (?:is|are) (?:only|just|merely|purely|solely|nothing but) .*|none of (?:this|it|these|` +
		`the above)\b.*|` +
		`nothing\b.*\b(?:executed|run|done|carried out|performed|real|happens?)|no (?:\w+ )?(?:changes?|files?|commands?|steps?) (?:is|are|` +
		`will be|` +
		`gets?) (?:\w+ )?(?:made|changed|executed|run|done|taken)|(?:.*[,;:] )?do nothing|` + theWhole + ` (?:is |are |will )?(?:not|` +
		`never) (?:be )?(?:executed|runs?|done|followed|carried out)|` +
		`(?:for|as) (?:an? )?(?:demonstration|training|illustration|example|reading|reference|practice|show)s?(?: purposes?)?(?: only)?|` +
		`(?:do not|don't|never|you must not|you are not to) (?:actually |` +
		`really )?(?:execute|` +
		`do|run|perform|carry|act)(?: out| on)? (?:anything|any of (?:this|it|these|the above)|this|that|it|these)(?: out)?(?: yet)?|` +
		`(?:you |we )?(?:only|just|merely|simply) (?:read|plan|think|talk|look|discuss|describe|explain|walk)\b(?: (?:this|it|about|through|` +
		`over|` +
		`what you would)\b.*|,.*)?)$`}
)

// isAlone reports whether a sentence says that nobody can be asked for an approval, or need be. demands is true if it demands one.
func isAlone(s sentence, demands bool) bool {
	text := strings.TrimPrefix(plainly(s.text), "description: ")
	if s.code && !remark.in(s.text) || refused.in(text) {
		return false
	}
	if alone.in(text) || byMachine.in(text) || ofPersons.in(text) && absent.in(text) {
		return true
	}
	if demands {
		return false
	}
	denies := negation.in(text) || doubtful.in(text) || dislikes.in(text)
	if agreement.in(text) && (denies || given.in(text)) || noPerson.in(text) && !allowsNone.in(text) {
		return true
	}
	if m := aboutElse.find(text); m != nil && !agreement.in(m[1]) && !strings.HasPrefix(m[1], "anything") && !strings.HasPrefix(m[1], "help") {
		return false
	}
	return asking.in(text) && denies
}

// isPlayed reports whether a sentence says that what the text describes is not done.
func isPlayed(s sentence) bool {
	text := plainly(s.text)
	if s.code && !remark.in(s.text) {
		return false
	}
	return played.in(text) || unreal.in(text) && (ofAll.in(text) || s.isTitle && !isImperative(text))
}
