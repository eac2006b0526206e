package outline

import (
	"regexp"
	"slices"
	"strings"
)

// A command is proposed as a check only where its sentence tells the reader to run it and says that it has to pass. The sentence has
// to be an order of words that are known here, in a form that is known here: of what else can be said about a command, most is not
// one. A check that is missing is noticed, and a wrong one is run.

var (
	// clean runs are not a negation: "there are no errors".
	noErrors = pattern{text: `(?i)\b(?:no|zero|0|without(?: any)?)(?: (?:more|new|remaining|further))? (?:\w+ )?` +
		`(?:errors?|failures?|warnings?|problems?|issues?|findings|violations|complaints)` +
		`(?:,? (?:or|and|nor) (?:errors?|failures?|warnings?|problems?|issues?|findings|violations|complaints))*\b`}
	mending = pattern{text: `(?i)\b(?:fix(?:ing)?|correct(?:ing)?|resolv(?:e|ing)|address(?:ing)?|repair(?:ing)?)(?: \w+){0,3} ` +
		`(?:errors?|failures?|failing \w+|warnings?|problems?|issues?|findings|violations|(?:(?:is|are) )?(?:broken|red)|fails?|` +
		`breaks?)\b`}
	// ifFails says what to do about a failure, in its second group.
	ifFails = pattern{text: `(?i)\b(?:if|when|whenever|in case) (?:it|they|this|that|one|any(?:thing)?|some(?:thing)?|` +
		`(?:the )?` + "`x`" + `|(?:a|the|` +
		`any|some) \w+)` +
		`(?: \w+)? ?(?:still )?(?:fails?|breaks?|is red|are red|is not (?:green|clean)|are not (?:green|clean)|` +
		`(?:does not|doesn['’]t|do not|don['’]t) (?:pass|succeed))\b([^.;]*)`}
	// tolerating is what else may be done about one.
	tolerating = pattern{text: `(?i)\b(?:ignor\w*|skip\w*|fine|ok|okay|acceptabl\w*|anyway|continue|go on|go ahead|proceed|carry on|` +
		`move on|` +
		`leave|accept\w*|mind|matter\w*|expected|known|normal|worry|revert\w*|stash\w*|delete|remove|disable|stop|give up)\b`}
	negation = pattern{text: `(?i)(?:\b(?:not|never|no|none|nor|neither|nothing|nobody|cannot|dont|cant|doesnt|mustnt|shouldnt|` +
		`wont|without|` +
		`avoid\w*|refrain\w*|forb[aio]d\w*|prohibit\w*|disallow\w*|bann?e?d?|instead|rather|except\w*|unless|stop\w*|skip\w*|omit\w*|` +
		`ignor\w+|hold off|leave out|leave alone|stay away|keep away|steer clear|deprecated|obsolete|formerly|no longer|off[- ]limits|` +
		`harmful|dangerous|illegal|taboo|ne|pas|sans|sin|nein|refus\w+|declin\w+|reject\w*|beware|wrong|bad|hardly|seldom|rarely|only|` +
		`nicht|kein\w*|nie|` +
		`niemals|jamais|nunca|evitar?|niet|nooit|mai|non)\b|\bn['’]t\b|\w+n['’]t\b|❌|✗|✘|🚫|⛔|⚠|~~)`}
	// doubtful is said of what is not to be relied on, or no longer done.
	doubtful = pattern{text: `(?i)\b(?:broken|flaky|hangs?|obsolete|disabled|retired|abandoned|old|former\w*|legacy|outdated|superseded|` +
		`replaced|removed|deleted|gone|dead|moved|renamed|disregard|forget|forgo|forego|scrap|scratch|strike|cancel\w*|drop|dropped|` +
		`postpone\w*|later|someday|acceptable|allowed|` +
		`tolerat\w*|actually|however|although|though|except|otherwise|pointless|useless|unnecessary|needless|for now|on hold|todo|` +
		`tbd|wip|experimental|previous|historical\w*|out of date|no need|optional\w*|anti-?patterns?|mistakes?|pitfalls?)\b`}
	// elsewhere is said where a command does not run in the project as it is.
	elsewhere = pattern{text: `(?i)(?:\b(?:revert\w*|stash\w*|check(?:ing|ed)? out|checkout|undo|restor\w+|switch\w*|cd|chdir|ssh|` +
		`go (?:back )?to|` +
		`go into|change (?:in)?to|change director\w+|enter|director(?:y|ies)|folders?|worktree|branch|container|sandbox|staging|production|` +
		`laptop|machine|server|clone|(?:work|works|working|operate|stay|start|begin|happens?) (?:in|from|inside|under|within)|` +
		`before the change|without the (?:change|fix)|reproduc\w+|repro)\b|` + "`cd [^`]*`)"}
	// condition: what has to pass sometimes does not have to pass now.
	condition = pattern{text: `(?i)\b(?:if|when|whenever|unless|provided|in case|where|as long as|depending|while|should you)\b`}
	whenDone  = pattern{text: `(?i)\b(?:when|once|after|as soon as) (?:(?:you|we|it|this|that|everything|all|the \w+) (?:(?:is|` +
		`are|have|has) )?)?(?:all )?` +
		`(?:done|finished|ready|complete[d]?|finish)\b`}
	// loose is what makes an order one that need not be followed, or one to somebody else, or only told of.
	loose = pattern{text: `(?i)\b(?:may|can|could|might|would|will|shall we|maybe|perhaps|possibly|consider\w*|feel free|tr(?:y|` +
		`ies|ied|ying)|` +
		`suggest\w*|recommend\w*|prefer\w*|(?:for )?example|(?:for )?instance|e\.g|i\.e|such as|like|imagine|suppose|pretend|` +
		`alternative\w*|whether|` +
		`said|tell\w*|told|ask\w*|remind\w*|instruct\w*|let|lets|had|was|were|used|previous\w*|yesterday|earlier|today|usually|` +
		`often|sometimes|` +
		`normally|typically|user|users|person|people|human|humans|developers?|reviewers?|maintainers?|colleagues?|ci|hooks?|` +
		`pipelines?|servers?|` +
		`someone|somebody|anyone|they|he|she|who|that|which|whose|why|how|what|have \w+|remember\w*|known?|knows|paste|quote|` +
		`means?|meaning)\b`}
	quoted = pattern{text: `["“”„«»]|['‘]` + "`|`['’]"}
	toPass = pattern{text: `(?i)\b(?:until|till)(?: \w+){0,5} (?:pass(?:es)?|succeeds?|green|clean|compiles?|builds?|works?|` +
		`exits? (?:with )?(?:code |status )?(?:0|zero))\b|` +
		`\b(?:must|should|has to|have to|needs? to)(?: all| both| still| now| each| always)? (?:pass|succeed|work|compile|build|` +
		`hold|be (?:all )?` +
		`(?:green|clean|successful|passing)|exit (?:with )?(?:code |status )?(?:0|zero)|(?:report|show|have|find))\b|` +
		`\b(?:it|they|this|that|all|all of (?:it|them)|both|everything|every \w+|each|the (?:\w+ ){0,3}?\w+|(?:all )?(?:\w+ ` +
		`)?(?:tests?|checks?|suites?|` +
		`builds?|specs?|types?|linter)|command|output|result|exit (?:code|status))(?: all| both| still| now| each| again)? ` +
		`(?:pass(?:es)?|succeeds?|compiles?|works?|exits? (?:with )?(?:code |status )?(?:0|zero)|(?:is|are) (?:all )?` +
		`(?:green|clean|successful|passing|0|zero)|completes? successfully|finish(?:es)? successfully)\b|` +
		`\b(?:make sure|ensure|verify|confirm)(?: that)? noerrors\b|\bexpected:? (?:to )?(?:pass(?:es)?|success|green|0|exit (?:code |` +
		`status )?0)\b|` +
		`\b(?:there (?:must be|should be|are|is)|reports?|with|shows?|has|have|finds?) noerrors\b|\bsuccessfully\b|` +
		`^\W*must (?:all )?pass\b|\bmend\b|\bit(?:['’]s| is) (?:green|clean|passing)\b`}
	// nextPasses begins the sentence that says so about the one before it.
	nextPasses = pattern{text: `(?i)^\W*(?:it|they|this|that|both|all|everything|every \w+|the (?:\w+ ){0,2}?(?:command|tests?|` +
		`suite|suites|builds?|checks?|` +
		`linter|output|result|results|exit (?:code|status)|script|target))\b`}

	// oddly said: what reads like a prohibition and demands. It comes to an order, in the group, or to nothing.
	notForget = pattern{text: `(?i)\b(?:do not|don['’]t|never) forget to\b`}
	notSkip   = pattern{text: `(?i)\b(?:do not|don['’]t|never) (?:ever )?(?:skip|omit|forget)(?: it| this| that| them| this step|` +
		` the step| (?:the )?` + "`x`" + `)+`}
	notBefore = pattern{text: `(?i)(?:\b(?:do not|don['’]t|never|(?:you )?must not) (?:ever )?(?:stop|proceed|continue|go on|move on|` +
		`go further|` +
		`commit|push|merge|finish|end|leave|report|open|claim|declare|mark|submit)\b[^.;` + "`" + `]{0,40}?\b(?:before|until|unless|till)|` +
		`^(?:always )?(?:keep (?:going|working|fixing|trying|iterating|at it)|repeat|loop|iterate|work on it)(?: this| it)? (?:until|till)|` +
		`^you are (?:only )?(?:done|finished) (?:when|once))(?: the| both| all)* ` + "`x`"}
	whichMust = pattern{text: `(?i), which (?:must|has to|have to) `}
	notYet    = pattern{text: `(?i)\b(?:do not|don['’]t|never|(?:you )?must not) (?:ever )?(?:stop|proceed|continue|go on|move on|commit|` +
		`push|merge|finish|` +
		`end|leave|report|open|claim|declare|mark|submit)\b[^.;` + "`" + `]{0,40}?\b(?:before|until|unless|till|if|while)\b (?:that|then|` +
		`it|they|this|all|` +
		`everything|every|the tests?|(?:the )?` + "`x`" + `|tests?|\w+ing)\b?[^.;]*`}
	notTouch = pattern{text: `(?i)^\W*(?:do not|don['’]t|never|avoid) (?:change|changing|edit|editing|modify|modifying|weaken|` +
		`weakening|delete|` +
		`deleting|remove|removing|disable|disabling|rewrite|rewriting|alter|mock|mocking) (?:the |any |a |an |your |existing |failing |` +
		`other |` +
		`public |generated )*\w+\W*$`}

	// lead is what may precede an order in its sentence.
	lead = pattern{text: `(?i)^(?:(?:(?:and|then|now|next|first|finally|lastly|also|please|always|afterwards|again|immediately)\b,? ?)+|` +
		`(?:you|we) (?:must|should|have to|need to|always) |` +
		`before (?:you )?(?:commit\w*|continu\w*|proceed\w*|go(?:ing)? on|mov\w+ on|finish\w*)(?: (?:the|your|a|any) (?:work|changes?|` +
		`code|next step))?,? |` +
		`(?:verify|verification|checks?|tests?|testing|lint(?:ing)?|build|required|important|validat(?:e|ion)|(?:quality )?gate|finally|` +
		`step \d+) ?[:—–-] )`}
	whenDoneLead = pattern{text: `(?i)^(?:when|once|after|as soon as) (?:(?:you|we|it|this|that|everything|all|the \w+) (?:(?:is|are|` +
		`have|has) )?)?` +
		`(?:all )?(?:done|finished|ready|complete[d]?|finish),? `}
	firstDo = pattern{text: `(?i)^(?:fix|change|build|implement|write|add|update|refactor|edit|correct|finish|complete|make|improve|` +
		`create|extend|` +
		`format|clean up|rename|simplify|adjust) ([^` + "`" + `.;:,]*?)(?:, and then |, then |; then |,? and then |,? and |, |; )` +
		`((?:re-?run|run|execute|make sure|ensure|verify|confirm)\b.*)$`}
	aboutPlace = pattern{text: `(?i)\b(?:in|on|at|from|into|onto|to|for|under|inside|within|against|back|away)\b`}

	// The forms of an order, with the words of wordsOfOrder alone.
	runs    = pattern{text: `(?i)^(?:re-?run|run|execute)\b([^` + "`" + `]*)` + "`x`" + `(.*)$`}
	ensures = pattern{text: `(?i)^(?:make sure|ensure|verify|confirm|check)(?: that)?(?: (?:the|both|command|target|` +
		`script))* ` + "`x`" + `(.*)$`}
	passesNow = pattern{text: `(?i)^(?: (?:command|target|script|check|still|now|all|both|again))* (?:pass(?:es)?|succeeds?|runs? clean|` +
		`exits? (?:with )?(?:code |status )?(?:0|zero)|(?:is|are) (?:green|clean|successful|passing)|reports? noerrors|` +
		`completes? successfully|finish(?:es)? successfully|runs? successfully|compiles?|builds?|works?)\b`}
	hasTo = pattern{text: `(?i)^(?:the )?(?:command |target |script )?` + "`x`" + ` (?:must|has to|have to|needs? to)(?: all| both|` +
		` still| now| always)? ` +
		`(?:pass|succeed|be (?:green|clean|passing|successful)|exit (?:with )?(?:code |status )?(?:0|zero)|(?:report|show|find) noerrors)\b`}
	shown = pattern{text: `(?i)^(?:all |the |every |each )*(?:unit |integration |new |existing )?(?:tests?|checks?|linters?|suites?|` +
		`builds?|types?)` +
		`(?: must| have to| has to)?(?: all)? (?:pass|passes|succeed|succeeds|be (?:green|clean))\W*[:(—–-] ?` + "`x`" + `\)?$`}
	byRunning = pattern{text: `(?i)^(?:make sure|ensure|verify|confirm|check)\b([^` + "`" + `]*)\b(?:by (?:re-?)?running|using|via|` +
		`through|with) ` + "`x`" + `$`}
	verifiesBy = pattern{text: `(?i)^(?:make sure|ensure|verify|confirm|check) (?:by running|using|with) ` + "`x`" + `,? (?:that )?(.*)$`}
	inBrackets = pattern{text: `(?i)^(?:all |the )*(?:unit |integration )?(?:tests?|checks?|linters?|build|suite) \(` + "`x`" + `\) ` +
		`(?:must|have to|has to|needs? to)(?: all)? (?:pass|succeed|be green)$`}
	goesOn   = pattern{text: `(?i)\b(?:go|going|move|moving) on\b`}
	uses     = pattern{text: `(?i)^use ` + "`x`" + ` to (?:make sure|ensure|verify|confirm|check)\b(.*)$`}
	between  = pattern{text: `(?i)^[^.;,:(]*:? ?\(?$`}
	saysPass = pattern{text: `(?i)\b(?:pass(?:es)?|succeeds?|green|clean|noerrors)\b`}

	chained     = pattern{text: `(?i)^(?:,? and(?: then)?|, then|,|,? then|&&)(?: (?:re-?run|run|execute))?\s*$`}
	together    = pattern{text: `(?i)\b(?:both|all|they|each|everything)\b`}
	likePath    = pattern{text: `\bpath/to\b|\b(?:foo|bar|baz|example|YOUR_?\w*|TODO|xxx)\b`}
	simpleWords = pattern{text: `^[\w@%+=:,./~^-]+$`}
	wordInText  = pattern{text: `[\p{L}\p{N}'’-]+`}
)

// wordsOfOrder are those of which an order to run a check consists. One with any other word says something that is not known here:
// where, when or how often it has to run, for whom, or what else may come of it.
var wordsOfOrder = strings.Fields(`run rerun re-run execute use make sure ensure verify confirm check see that the a an all your
	our its full whole entire complete unit integration end-to-end e2e test tests testsuite suite suites checks linter linters lint
	type types checker type-checker typechecker build builds compiler validator validation formatter static analysis project project's
	project’s command commands script scripts target exactly again once more it it's it’s they they're they’re them this these both
	everything every each quality gate gates with using via through by running and then always now please finally also next
	immediately you must has have to need needs afterwards until till pass passes passing succeed succeeds successful green clean is
	are be exit exits code status 0 zero successfully cleanly completely noerrors mend compile compiles works completes finish
	finishes report reports show shows find finds there before committing commit continuing continue proceeding proceed moving move
	going go step we done ready keep expected result results output new existing following still x`)

// negates reports whether a text forbids something, or says that something is not so.
func negates(text string) bool { return negation.in(normal(text)) }

func withoutCode(text string) string { return codeSpan.compiled().ReplaceAllString(text, "`x`") }

// normal returns a text with each code as `x`, without emphasis, and without what reads like a negation and is none.
func normal(text string) string {
	text = strings.NewReplacer("**", "", "__", "").Replace(withoutCode(text))
	text = mending.compiled().ReplaceAllString(noErrors.compiled().ReplaceAllString(text, "noerrors"), "mend")
	text = notForget.without(text)
	text = notBefore.compiled().ReplaceAllString(text, "ensure `x`")
	text = whichMust.compiled().ReplaceAllString(text, "; it must ")
	text = notYet.without(notSkip.without(text))
	text = ifFails.compiled().ReplaceAllStringFunc(text, func(said string) string {
		if tolerating.in(ifFails.find(said)[1]) {
			return said
		}
		return ""
	})
	return strings.Trim(strings.Join(strings.Fields(text), " "), "*_ ")
}

// isPlain reports whether a text has words of an order only.
func isPlain(text string) bool {
	text = goesOn.compiled().ReplaceAllString(text, "continue")
	for _, word := range wordInText.compiled().FindAllString(strings.ToLower(text), -1) {
		if word = strings.Trim(word, "'’-"); word != "" && !slices.Contains(wordsOfOrder, word) {
			return false
		}
	}
	return true
}

// withoutLead returns a sentence without what may precede an order.
func withoutLead(text string) string {
	for {
		short := whenDoneLead.without(lead.without(text))
		if m := firstDo.find(short); m != nil && !loose.in(m[1]) && !aboutPlace.in(m[1]) && !condition.in(m[1]) && !elsewhere.in(short) {
			short = m[2]
		}
		if short == text {
			return text
		}
		text = short
	}
}

// commandsIn returns the commands that a sentence tells to run and that have to pass, in their order. next is the sentence behind it.
func commandsIn(said, next string) []string {
	text := withoutLead(normal(said))
	if negation.in(text) || doubtful.in(text) || quoted.in(withoutCode(said)) || strings.ContainsAny(text, "?|") || !isPlain(text) {
		return nil
	}
	text = strings.TrimRight(text, ".!,;: ")
	if m := runs.find(text); m != nil && between.in(m[1]) {
		return ranIn(said, m[2], next)
	}
	if m := ensures.find(text); m != nil {
		if rest, sure := lastOf(m[1]); sure && passesNow.in(rest) {
			return commandsOf(said)
		}
		return nil
	}
	if strings.Count(text, "`x`") > 1 {
		return nil
	}
	for _, form := range []*pattern{&hasTo, &shown, &inBrackets} {
		if form.in(text) {
			return commandsOf(said)
		}
	}
	for _, form := range []*pattern{&uses, &byRunning, &verifiesBy} {
		if m := form.find(text); m != nil && saysPass.in(m[1]) {
			return commandsOf(said)
		}
	}
	return nil
}

// lastOf returns what is behind the last command of several. It is not sure if they do not belong together.
func lastOf(rest string) (last string, sure bool) {
	parts := strings.Split(rest, "`x`")
	for _, part := range parts[:len(parts)-1] {
		if !chained.in(part) {
			return "", false // other code, of which it is not sure what it is for
		}
	}
	return parts[len(parts)-1], true
}

// ranIn returns the commands of a sentence that tells to run them, if what follows the first one, or the next sentence, says that
// they have to pass.
func ranIn(said, rest, next string) []string {
	several := strings.Contains(rest, "`x`")
	rest, sure := lastOf(rest)
	if !sure || strings.Contains(rest, " run ") || !hasToPass(rest, next) || several && !together.in(rest+" "+next) {
		return nil
	}
	return commandsOf(said)
}

// hasToPass reports whether what follows a command, or the next sentence, says that it has to pass.
func hasToPass(rest, next string) bool {
	return toPass.in(rest) || demands(next)
}

// demands reports whether a sentence says of the one before it that its command has to pass.
func demands(next string) bool {
	if m := ifFails.find(withoutCode(next)); m != nil {
		return !tolerating.in(m[1]) && !negation.in(normal(next)) && !doubtful.in(normal(next)) && correcting.in(m[1])
	}
	text := strings.TrimLeft(normal(next), "( ")
	return text != "" && isPlain(text) && toPass.in(text) && !strings.Contains(text, "?") && (nextPasses.in(text) || wholeDemand.in(text))
}

var (
	wholeDemand = pattern{text: `(?i)^(?:must (?:all )?pass|mend|expected|make sure|ensure|verify|confirm|check)\b`}
	correcting  = pattern{text: `(?i)\b(?:fix|repair|correct|debug|try again|go back|change|adjust|solve|resolve|mend|rework|` +
		`start over|return)\b`}
)

// commandsOf returns the texts of the code in a sentence, or nil if one of them is not the words of a command.
func commandsOf(said string) (all []string) {
	for _, span := range codeSpan.compiled().FindAllString(said, -1) {
		for run := range strings.SplitSeq(strings.Trim(span, "` "), " && ") {
			if run = strings.TrimSpace(run); !isCommand(run) {
				return nil
			}
			all = append(all, run)
		}
	}
	return all
}

// isCommand reports whether a text consists of plain words, none of them a variable or a placeholder.
func isCommand(run string) bool {
	parts := strings.Fields(run)
	odd := func(part string) bool { return !simpleWords.in(part) }
	return len(parts) > 0 && len(run) <= 200 && !slices.ContainsFunc(parts, odd) && !variables.in(run) && !likePath.in(run) &&
		!strings.HasPrefix(parts[0], "-") && !strings.Contains(parts[0], "=")
}

// boundary matches a command as whole words.
func boundary(run string) *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^\w./-])` + regexp.QuoteMeta(run) + `(?:$|[^\w/-])`)
}
