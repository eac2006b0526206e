package outline

import (
	"slices"
	"strings"
)

// A command is proposed as a check only where its sentence tells the reader to run it and says that it has to pass. The sentence has
// to be an order, in a form that is known here: of what else can be said about a command, most is not one. A check that is missing is
// noticed, and a wrong one is run.

var (
	// clean runs are not a negation: "there are no errors".
	noErrors = pattern{text: `(?i)\b(?:no|zero|0|without(?: any)?)(?: (?:more|new|remaining|further))? (?:\w+ )?` +
		`(?:errors?|failures?|warnings?|problems?|issues?|findings|violations|complaints)` +
		`(?:,? (?:or|and|nor) (?:errors?|failures?|warnings?|problems?|issues?|findings|violations|complaints))*\b`}
	mending = pattern{text: `(?i)\b(?:fix(?:ing)?|correct(?:ing)?|resolv(?:e|ing)|address(?:ing)?|repair(?:ing)?)(?: \w+){0,3} ` +
		`(?:errors?|failures?|failing \w+|warnings?|problems?|issues?|findings|violations|(?:(?:is|are) )?(?:broken|red)|fails?|` +
		`breaks?)\b`}
	ifFails = pattern{text: `(?i)\b(?:if|when|whenever|in case) (?:it|they|this|that|one|any(?:thing)?|some(?:thing)?|(?:a|the|` +
		`any|some) \w+)` +
		`(?: \w+)? ?(?:still )?(?:fails?|breaks?|is red|are red|is not (?:green|clean)|are not (?:green|clean)|` +
		`(?:does not|doesn['’]t|do not|don['’]t) (?:pass|succeed))\b[^.;]*`}
	negation = pattern{text: `(?i)(?:\b(?:not|never|no|none|nor|neither|nothing|nobody|cannot|dont|cant|doesnt|mustnt|shouldnt|` +
		`wont|without|` +
		`avoid\w*|refrain\w*|forb[aio]d\w*|prohibit\w*|disallow\w*|bann?e?d?|instead|rather|except\w*|unless|stop\w*|skip\w*|omit\w*|` +
		`ignor\w+|hold off|leave out|leave alone|stay away|keep away|steer clear|deprecated|obsolete|formerly|no longer|off[- ]limits|` +
		`harmful|dangerous|illegal|taboo|refus\w+|declin\w+|reject\w*|beware|wrong|bad|hardly|seldom|rarely|only|nicht|kein\w*|nie|` +
		`niemals|jamais|nunca|evitar?|niet|nooit|mai|non)\b|\bn['’]t\b|\w+n['’]t\b|❌|✗|✘|🚫|⛔|⚠|~~)`}
	// failing is what else a run may be expected to do.
	failing = pattern{text: `(?i)\b(?:fail\w*|red|break\w*|crash\w*|errors?|broken|non-?zero|exits? (?:with )?(?:code |status ` +
		`)?[1-9]\w*)\b`}
	// choices: a choice is not a rule.
	choices = pattern{text: `(?i)\b(?:or|either|whichever|one of|as needed|if needed|if necessary|where applicable|optional(?:ly)?)\b`}
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
	haveTo = pattern{text: `(?i)\b(?:you|we) have to\b`}
	saying = pattern{text: `(?i)\b(?:says?|saying|writes?|print\w*|echo\w*|add\w*|document\w*|mention\w*|explain\w*|note\w*|` +
		`types?|comment\w*|` +
		`describ\w*|message|line|text|answer\w*|repl\w+|output\w*|readme|guide|docs?|warning|heading|title|label|step|command|put|` +
		`show\w*|` +
		`here|this|following|below|history|log|list\w*)\b`}
	quoted = pattern{text: `["“”„«»]|['‘]` + "`|`['’]"}

	// runs is the verb, at the beginning of a clause. What precedes it is in the first group, what it begins with in the second.
	runs = pattern{text: `(?i)^(.*?)((?:^|[,;:—–] ?|- |\b(?:and|then|always|now|please|first|finally|also|next|again|immediately|` +
		`you must|you should|you have to|you need to|afterwards|lastly|must)\s+))(?:\*\*|__)?(?:re-?run|run|execute)\b(?:\*\*|` +
		`__)?([^` + "`" + `]*)$`}
	// between is what may stand between the verb and the command.
	between = pattern{text: `(?i)^(?:\s*:|(?:\s+(?:the|all|your|our|its|full|whole|entire|complete|unit|integration|end-to-end|` +
		`e2e|test|tests|tests?uite|` +
		`suite|suites|checks?|linters?|lint|type|types?checker|checker|build|builds|compiler|validator|validation|formatter|` +
		`static|analysis|` +
		`type-checker|project['’]s|project|command|commands|script|scripts|target|exactly|again|once|more|it|them|everything|` +
		`locally|both|` +
		`everything|quality|gate|following|this))*(?:\s+(?:with|using|via|through|by running|as))?\s*:?)\s*$`}
	// ensures is the other order: make sure that the command passes.
	ensures = pattern{text: `(?i)^(.*?)((?:^|[,;:—–] ?|- |\b(?:and|then|always|now|please|first|finally|also|next|again|` +
		`you must|you should|you have to|you need to|afterwards|lastly|must)\s+))(?:\*\*|__)?` +
		`(?:make sure|ensure|verify|confirm|check)(?:\*\*|__)?(?: that)?(?: (?:the|both|command|target|script))*\s*$`}
	passesNow = pattern{text: `(?i)^\s*(?:(?:command|target|script|check|still|now|all|both|again)\s+)*(?:pass(?:es)?|succeeds?|` +
		`runs? clean|` +
		`exits? (?:with )?(?:code |status )?(?:0|zero)|(?:is|are) (?:green|clean|successful|passing)|reports? no\b|` +
		`completes? successfully|finish(?:es)? successfully|runs? successfully|compiles?|builds?|works?)(?:\s*$|\s*[.,;:!)—–*]|` +
		`\s+(?:again|before|` +
		`and|after|with|now|on|in|for|from|cleanly|locally|first)\b)`}
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
		`\b(?:there (?:must be|should be|are|is)|reports?|with|shows?|has|have|finds?) noerrors\b|\bsuccessfully\b|` +
		`(?:^|[,;:—–] ?)(?:it |they )?must pass\b`}
	handsOver = pattern{text: `(?i)\bpass(?:es|ed|ing)? (?:the|a|an|it|them|this|that|your|its|on|in|to|through|along|-|` + "`)"}
	// nextPasses begins the sentence that says so about the one before it.
	nextPasses = pattern{text: `(?i)^\W*(?:it|they|this|that|both|all|everything|every \w+|the (?:\w+ ){0,2}?(?:command|tests?|` +
		`suite|suites|builds?|checks?|` +
		`linter|output|result|results|exit (?:code|status)|script|target))\b`}
	refusesThat = pattern{text: `(?i)^\W*(?:but |and |however,? )?(?:(?:do not|don['’]t|never|not|no one should|nobody should)(?: ` +
		`ever)? ` +
		`(?:do|run|try|use|execute|type|follow|copy) (?:that|this|it|so|any of|the above)\b|(?:this|that|it|which|doing (?:so|` +
		`this|that)|the above) (?:is|was|would be|will be) ` +
		`(?:not|never|forbidden|wrong|prohibited|disallowed|a mistake|dangerous|a bad|bad|out of|an? (?:anti-?pattern|example)|` +
		`optional)|don['’]t\b\W*$|` +
		`no\b|not\b|wrong\b|(?:just )?kidding|optional)`}
	announcesBad = pattern{text: `(?i)(?::\W*$|\b(?:following|below|as follows|like this|this way|such things?|any of th(?:is|ese)))`}

	chained     = pattern{text: `(?i)^(?:,? and(?: then)?|, then|,|,? then|&&)(?: (?:re-?run|run|execute))?\s*$`}
	together    = pattern{text: `(?i)\b(?:both|all|they|each|everything)\b`}
	likePath    = pattern{text: `\bpath/to\b|\b(?:foo|bar|baz|example|YOUR_?\w*|TODO|xxx)\b`}
	wordBreak   = pattern{text: `[^a-z0-9]+`}
	simpleWords = pattern{text: `^[\w@%+=:,./~^-]+$`}
)

// negates reports whether a text forbids something, or says that something is not so.
func negates(text string) bool {
	text = ifFails.without(mending.without(noErrors.without(text)))
	return negation.in(withoutCode(text))
}

func withoutCode(text string) string { return codeSpan.compiled().ReplaceAllString(text, "`x`") }

// commandsIn returns the commands that a sentence tells to run and that have to pass, in their order. before and next are the sentences
// around it.
func commandsIn(before, said, next string) []string {
	text := mending.compiled().ReplaceAllString(noErrors.compiled().ReplaceAllString(said, "noerrors"), "mend")
	text = ifFails.without(text)
	plain := withoutCode(text)
	switch {
	case negation.in(plain), failing.in(plain), choices.in(plain), quoted.in(text), strings.HasSuffix(strings.TrimRight(plain,
		"*_) "), "?"),
		strings.Contains(text, "|"):
		return nil
	case condition.in(whenDone.without(plain)), refusesThat.in(next), negates(before) && announcesBad.in(before):
		return nil
	}
	spans := codeSpan.compiled().FindAllStringIndex(text, -1)
	for i, at := range spans {
		prefix, rest := text[:at[0]], text[at[1]:]
		if m := ensures.find(withoutCode(prefix)); m != nil && isOrder(m[1], m[2]) && passesNow.in(rest) && !handsOver.in(rest) {
			return commandsOf(text, spans[i:i+1])
		}
		m := runs.find(withoutCode(prefix))
		if m == nil || !between.in(m[3]) || !isOrder(m[1], m[2]) {
			continue
		}
		end := i + 1
		for end < len(spans) && chained.in(text[spans[end-1][1]:spans[end][0]]) {
			end++
		}
		rest = text[spans[end-1][1]:]
		if runs.find(withoutCode(rest)) != nil || end < len(spans) || !hasToPass(rest, next) || end > i+1 && !together.in(rest+" "+next) {
			return nil // another run, or other code, of which it is not sure what has to pass
		}
		return commandsOf(text, spans[i:end])
	}
	return nil
}

// isOrder reports whether what precedes a verb leaves it an order to the reader. boundary is what the clause begins with.
func isOrder(prefix, boundary string) bool {
	prefix = whenDone.without(haveTo.without(prefix))
	if loose.in(prefix) || strings.ContainsAny(prefix, "([") {
		return false
	}
	if strings.TrimSpace(boundary) == "and" || strings.TrimSpace(boundary) == "then" {
		words := strings.Fields(strings.ToLower(prefix))
		for i, word := range words { // "to build and run"
			if word == "to" && i+1 < len(words) && slices.Contains(verbs, strings.Trim(words[i+1], ",")) {
				return false
			}
		}
	}
	if strings.ContainsAny(boundary, ":—–") || strings.TrimSpace(boundary) == "-" {
		return len(strings.Fields(prefix)) <= 4 && !saying.in(prefix)
	}
	return true
}

// hasToPass reports whether what follows a command, or the next sentence, says that it has to pass.
func hasToPass(rest, next string) bool {
	if toPass.in(rest) && !handsOver.in(rest) {
		return true
	}
	cut := ifFails.without(next)
	if cut != next {
		return !negation.in(withoutCode(noErrors.without(cut)))
	}
	next = noErrors.compiled().ReplaceAllString(next, "noerrors")
	return nextPasses.in(next) && toPass.in(next) && !handsOver.in(next) && !negation.in(withoutCode(next)) &&
		!failing.in(next) && !choices.in(next)
}

// commandsOf returns the texts of spans, or nil if one of them cannot be a check.
func commandsOf(text string, spans [][]int) (all []string) {
	for _, at := range spans {
		for run := range strings.SplitSeq(strings.Trim(text[at[0]:at[1]], "` "), " && ") {
			if run = strings.TrimSpace(run); !CanBeCheck(run) {
				return nil
			}
			all = append(all, run)
		}
	}
	return all
}
