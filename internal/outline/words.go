package outline

import (
	"slices"
	"strings"
)

var (
	announcing = pattern{text: `(?i)(?:\b(?:process|workflow|procedure|steps|instructions|playbook|runbook|algorithm|what to do|` +
		`when invoked|implementation plan|work plan|outline|` +
		`ablauf|vorgehen|schritte|étapes|procédure|pasos|procedimiento|passos|procedura|шаги|порядок)` +
		`|工作流程|流程|步骤|手順|절차)\W*(?:\(.*\))?\W*$|(?i)^how (?:to|it works)\b`}
	introduces = pattern{text: `(?i)\b(?:follow|do|perform|execute|complete|work through|run)\b[^.]*\b(?:this|these|the following|in order|` +
		`steps)\b[^.]*:\W*$|\bsteps\b[^.]*:\W*$`}
	aside = pattern{text: `(?i)\b(?:overview|notes?|rationale|examples?|samples?|outputs?|formats?|troubleshoot\w*|references?|resources?|` +
		`rules?|principles?|anti-?patterns?|red flags?|when (?:to|not)|use when|use cases?|prerequisites?|requirements?|tips?|practices|` +
		`features?|success|criteria|criterion|definition of (?:done|ready)|guidelines?|mistakes?|pitfalls?|faq|see also|related|` +
		`background|benefits?|options|usage|contents|limitations?|templates?|structure|deliverables?|next steps|strategy|out of scope|` +
		`questions|glossary|conventions?|constraints?|assumptions?|risks|alternatives|dependencies|handling)\b`}
	checkTitle = pattern{text: `(?i)\bchecklists?\b`}
	inside     = pattern{text: `(?i)\S\s+(?:step|phase|stage|task|gate)s?\s+\d`} // a label that does not begin the text
	element    = pattern{text: `(?m)^\s*<([a-z][\w-]*)[^>]*>`}
	ofHTML     = pattern{text: `^(?:a|b|i|p|br|hr|div|span|img|sub|sup|kbd|code|pre|table|tr|td|th|thead|tbody|details|summary|ul|ol|li|` +
		`h[1-6]|picture|source|center|em|strong|small|blockquote)$`}
	aboutPlans = pattern{text: `(?i)\b(?:writ(?:e|ing)|structur\w+|format(?:ting)?|templates?|examples?) (?:\w+ )*` +
		`(?:plans?|task lists?|tasks\.md)\b`}
	placeholder = pattern{text: `^\W*\.\.\.|^\W*…$|\[[A-Z][A-Za-z_ ]{2,}[\w ]*\](?:[^(\w]|$)|^[^\w<]*<[a-z][\w -]*>\W*$|` +
		`^[^\w{]*\{\{?[A-Za-z][\w -]*\}[^\w{]*$|\bT?X{3,}\b|_{3,}`}
	placeholderName = pattern{text: `(?i)\[(?:title|description|task|name|path|file(?: ?path| ?name)?)\](?:[^(\w]|$)`}
	first           = pattern{text: `(?i)^(?:(?:first|then|next|now|finally|always|carefully|immediately|again|quickly|also|only then)\W+)?` +
		`([\p{L}]+)`}
)

// verbs are the words with which an instruction begins.
var verbs = strings.Fields(`accept add adjust agree align analyse analyze announce answer apply approve archive ask assemble assess assign
	attach await back backup begin book bring build bump call calculate capture categorize change check choose clarify classify clean clear
	clone close collect combine commit compare compile complete compose compute configure confirm connect consider copy count create cross
	cut debug decide declare define delete deliver demonstrate deploy describe design determine develop discuss display do document download
	draft draw drop edit eliminate enable ensure enter establish estimate evaluate examine execute explain explore export extract fetch
	file fill filter finalize find finish fix flag follow format freeze gather generate get give go group guide handle highlight hold
	identify implement import improve include inform initialize inspect install integrate introduce invite invoke isolate iterate keep label
	launch let link lint list listen load locate log look loosen make map mark measure merge migrate mix monitor move name note notify
	obtain offer open order organise organize outline output pack parse pause perform pick place plan polish post prepare present press
	print prioritize probe process produce profile promote propose protect provide prune publish pull push put query raise rank read
	rebase rebuild receive recommend record refactor refine release reload remember remove rename repeat replace reply report reproduce
	request research resolve restart restore return revert review revoke rewrite roll rotate run sanitize save say scan schedule score search
	select send separate set share ship show sign simplify sketch smoke sort split stage start state stop store structure study submit
	suggest summarise summarize switch sync synthesize tag take talk tell test tidy track train translate triage trim try tune turn
	typecheck understand undo unpack update upgrade upload use validate verify wait warn wash watch wire work wrap write`)

// announces reports whether one of the titles above something says that it is steps.
func announces(titles []string) bool {
	return slices.ContainsFunc(titles, func(title string) bool { return announcing.in(clean(title)) })
}

// isAside reports whether one of the titles above something says that it is for reading. A numbered one does not say that.
func isAside(titles []string) bool {
	return slices.ContainsFunc(titles, func(title string) bool {
		l, _ := cutLabel(title)
		return l.class == "" && aside.in(title) && !announcing.in(clean(title))
	})
}

// instructions reports whether each of the titles begins with a verb that says what to do.
func instructions(marks []mark) bool { return !slices.ContainsFunc(marks, isNoInstruction) }

func isNoInstruction(m mark) bool {
	word := first.find(clean(m.title))
	return word == nil || !slices.Contains(verbs, strings.ToLower(word[1]))
}
