package outline

import (
	"strings"
	"sync"
	"unicode"
)

// What a title says about the text below it.
const (
	against = iota - 1 // it is for reading, not for doing
	neutral
	likely  // it may be a sequence of steps
	certain // it announces one
)

// The words by which affinity judges a title, each with the beginning of a word or, in
// languages that do not separate words, any part of the title.
var (
	certainWords = pattern{text: `(?i)\b(process|workflows?|procedures?|steps|step-by-step|checklists?|instructions?|playbooks?|runbooks?|` +
		`algorithm|to-?dos?|stages|phases|what to do|methodology|execution (?:steps|flow|plan|order)|red[- /]green[- /]refactor|cycle|gate ` +
		`function|response pattern|core loop|action plan|order of (?:work|operations)|the ` +
		`(?:cycle|loop)|sequence|pipeline|ablauf|arbeitsablauf|vorgehen(?:sweise)?|schritte|étapes|procédure|déroulement|démarche|marche à ` +
		`suivre|pasos|proceso|procedimiento|flujo|passos|processo|procedimento|fluxo|procedura|passaggi|flusso|stappen|stappenplan|werkwijze|` +
		`kroki|proces|kroky|postup|langkah(?:-langkah)?|tahapan|prosedur)\b|工作流|流程|步骤|步驟|手順|ワークフロー|プロセス|フロー|절차|워크플로|단계|шаги|процесс|процедур|` +
		`порядок|этапы|алгоритм|кроки|étapes|quy trình|các bước|adımlar|iş akışı`}
	likelyWords = pattern{text: `(?i)\b(flow|approach|method|implementation|execution|plan|protocol|tasks|how to|how it works|do this|on ` +
		`activation|when invoked|your (?:task|job)|core task|task|getting ` +
		`started|operations?|actions?|activation|session|routine|lifecycle|loop|behaviou?r|guide|pattern|order|run|use|c[oó]mo funciona|come ` +
		`funziona|so funktioniert|wie es funktioniert|comment ça (?:marche|fonctionne)|hoe het werkt|jak to działa)\b|動作方法|方法|как это ` +
		`работает|cách hoạt động|nasıl çalışır`}
	againstWords = pattern{text: `(?i)\b(overview|common (?:tasks|operations|actions|scenarios)|notes?|rationali[sz]\w*|examples?|sample|` +
		`outputs?|formats?|troubleshoot\w*|references?|resources?|rules?|principles?|anti-?patterns?|red flags?|when (?:to|not|you)|use ` +
		`when|use cases?|prerequisites?|requirements?|tips?|(?:best )?practices|features?|success|criteria|criterion|verification ` +
		`criteria|quality (?:gates?|standards?)|constraints?|guidelines?|mistakes?|pitfalls?|gotchas?|faq|issues?|problems?|glossary|see ` +
		`also|related|background|purpose|benefits?|concepts?|capabilit\w+|options?|arguments?|parameters?|flags?|usage|contents|limitations?|` +
		`warnings?|integrations?|inputs?|outcomes?|before (?:you ` +
		`)?(?:start|begin)\w*|templates?|structure|deliverables?|metrics|measures|why|error handling|errors|fallbacks?|edge ` +
		`cases?|roles?|levels?|tiers?|priorit(?:y|ies|i[sz]ation$)|types?|dimensions?|categor\w+|patterns|next steps?|decision ` +
		`(?:tree|matrix|framework|guide)|cheat ?sheet|quick ` +
		`reference|comparison|matrix|conventions?|standards?|philosophy|goals?|objectives?|context|scope|don'?ts?|never|avoid|always|do ` +
		`not|commands?|tools?|dependencies|changelog|license|credits|further reading|learn ` +
		`more|checks|questions|terminology|definitions|modes?|variables|configuration|variants?|alternatives|scenarios?|signals?|symptoms?|` +
		`traps|guardrails|boundaries|scripts|files|assets|schema|summary|caveats?|strateg(?:y|ies)|techniques?|considerations?|` +
		`responsibilities|expectations|permissions|exceptions?|limits|advantages|disadvantages|scoring|rubrics?|sections?|components?|` +
		`architecture|about|history|faqs?)\b|注意|示例|例子|概要|概述|最佳实践|参考|输出|输入|何时|规则|原则|常见|故障|ベストプラクティス|アンチパターン|使用時期|起動条件|出力|注意事項|例$|リファレンス|前提|トラブル|` +
		`Voraussetzung|Hinweise?|Beispiele?|Exemples?|Remarques?|Ejemplos?|Notas?|Exemplos?|Esempi|Panoramica|Voorbeelden|Opmerkingen|Uwagi|` +
		`Przykłady|Notlar|Örnekler|Ghi chú|Lưu ý|Ví dụ|Когда|Примеры?|Примечани|Правила|Обзор|규칙|주의|예시|예제|참고|개요`}
	strongWords = pattern{text: `(?i)^\W*(?:the |your |our |core |main |standard |common |usage |application |detailed |quick |agent ` +
		`|high-level |key |recommended |basic |suggested |typical |overall |full |complete |general |default |required |mandatory ` +
		`|step-by-step |task |work |review |release |setup |build |test |execution |implementation |\d+[.)] ` +
		`)*(?:process|workflow|procedure|what to do|steps|steps to ` +
		`\w.*|step-by-step|checklist|instructions|playbook|runbook|algorithm|to-?do|outline|methodology|execution steps|execution ` +
		`flow|ablauf|arbeitsablauf|vorgehen|schritte|étapes|procédure|pasos|procedimiento|passos|procedura|passaggi|stappen|kroki|процесс|` +
		`шаги)\W*(?:\(.*\))?\W*$`}
)

// A title whose last word is one for a sequence announces one, whatever it is about: "Feature development
// workflow". asideWords say that it is not the one that is to be done.
var (
	isProcess  = pattern{text: `(?i)\b(?:process|workflow|procedure|steps|runbook|playbook)\W*(?:\(.*\))?\W*$`}
	asideWords = pattern{text: `(?i)\b(?:examples?|samples?|outputs?|formats?|templates?|troubleshooting|next|common|error|errors|` +
		`fallback|alternatives?|when|anti-?patterns?|mistakes?|why|about|notes? on|recovery|rollback)\b`}
)

// afterwards is a title above what must be true when the work is done.
var afterwards = pattern{text: `(?i)\b(?:verification|quality|final|review|security|completion|acceptance|compliance|self-?review|` +
	`pre-?delivery|pre-?submit|pre-?flight|validation|testing|code quality|exit|handoff|launch) checklists?\b`}

// doesWhat is a title above a list of what a skill does, which is either its steps or its
// features: the items show which.
var doesWhat = pattern{text: `(?i)^\W*what (?:this|the|it|i)\b.*\b(?:do|does)\W*$`}

// affinity returns what a title says about the text below it.
func affinity(title string) int {
	title = strings.NewReplacer("_", " ", "`", "", "*", "").Replace(title)
	switch {
	case strings.TrimSpace(title) == "", stepWord.in(title):
		return neutral // a step is not itself a sequence of steps
	case afterwards.in(title):
		return against
	case strongWords.in(title):
		return certain
	case doesWhat.in(title):
		return neutral
	case isProcess.in(title) && !asideWords.in(title):
		return certain
	case againstWords.in(title):
		return against
	case certainWords.in(title):
		return certain
	case likelyWords.in(title):
		return likely
	}
	return neutral
}

var (
	introduces = pattern{text: `(?i)(follow(?:ing)? (?:these |the |this )?(?:steps|process|procedure|workflow|order|checklist)|these ` +
		`steps|steps? (?:below|are|to|in order)|do (?:this|the following|these)|one by one|step by step|create a (?:task|todo)|copy this ` +
		`(?:check)?list|copy the (?:check)?list|track (?:your |the )?progress|(?:workflow|process|procedure|command|skill) ` +
		`(?:handles|performs|covers|runs|does)\b|must (?:do|complete|follow)|procedure:|process:|workflow:|steps:|次の手順|以下の手順|以下步骤|folgende ` +
		`schritte|étapes suivantes|siguientes pasos|seguintes passos|следующие шаги)`}
	beforehand = pattern{text: `(?i)^before (?:you |we )?(?:\p{L}+ing\b|start|begin|run|deploy|merge|release|commit|push|ship|publish|` +
		`submit|open|write|change|migrate|edit|any|each|every)`}
	lists = pattern{text: `(?i)(include|includes|including|such as|examples?|for example|features?|options?|one ` +
		`of|either|supports?|contains?|provides?|output|returns?|criteria|consider|ask yourself|must (?:include|contain|have)|when|if any|red ` +
		`flags?|never|avoid|do not|don't|rules?|types?|fields?|sections?|` +
		`questions?|guidelines?|principles?|conventions?|practices|standards?|tips?)\W*$`}
	condition = pattern{text: `(?i)^(?:if|when|for|once|after|before|unless|while|optionally|first|then|next|finally|lastly|now|always|` +
		`immediately|also|only|carefully|explicitly|silently|automatically|quickly|briefly|in parallel)\b`}
)

// A word before a determiner is a verb, unless it is one of the particles.
var (
	determiners = pattern{text: `(?i)^(?:the|a|an|your|all|each|any|it|this|these|those|every|whether|its|their|them|our)$`}
	particles   = pattern{text: `(?i)^(?:in|on|of|for|with|by|at|from|is|are|was|were|do|does|did|has|have|had|can|could|should|will|would|` +
		`must|may|might|all|both|not|no|only|even|as|than|and|or|but|so|that|which|who|what|where|when|how|why|to|because|since|within|about|` +
		`across|during|per|like|then|through|via|under|over|against|the|a|an)$`}
)

var conditions = pattern{text: `(?i)^(?:if|when|for|once|after|before|unless|while|wenn|falls|si|если|如果|若)\b|^(?:如果|若)`}

// cases reports whether most of the items begin with a condition: of such items only one is done.
func cases(marks []mark) bool {
	n := 0
	for _, m := range marks {
		if caseWord.in(clean(m.title)) {
			n++
		}
	}
	return n*4 >= len(marks)*3
}

// caseTitle is a title above what is done in a case. When invoked is not one.
var caseTitle = pattern{text: `(?i)^\W*(?:if|falls|si|если)\b|^(?:如果|若)`}

var caseWord = pattern{text: `(?i)^\W*(?:if|when|for|wenn|falls|si|если)\b|^(?:如果|若)`}

// verbList are the words with which an instruction usually begins.
const verbList = `
accept access achieve acknowledge act activate adapt add address adjust adopt aggregate align allocate allow
analyse analyze annotate announce answer append apply approve archive ask assemble assert assess assign attach
audit authenticate author avoid await backup batch begin benchmark bind block book boot brainstorm branch
break bring browse build bump bundle calculate call cancel capture carry catalog challenge change check choose
cite clarify classify clean clear click clone close cluster code collate collect combine commit communicate
compare compile complete compose compress compute conduct configure confirm connect consider consolidate
construct consult continue convert coordinate copy correct correlate count cover craft create critique cross-
check cut debug decide declare decompose deduplicate deep define delegate delete deliver demonstrate deploy
derive describe design detect determine develop diagnose diff disable discard discover discuss dismiss
dispatch display distill distribute divide do document double-check download draft draw drive drop dry-run
edit elicit eliminate emit enable encode end enforce enrich ensure enter enumerate escalate establish estimate
evaluate examine execute exit expand experiment explain explore export expose extend extract fail fetch fill
filter finalise finalize find finish fix flag flush focus fold follow force fork form formulate frame freeze
gate gather gauge generate get give go grade green greet grep ground group guide halt hand handle help
highlight hydrate hypothesise hypothesize identify implement import improve incorporate index infer inform
init initialise initialize inject insert inspect install instantiate instrument integrate interpret interview
introduce invalidate inventory investigate invite invoke isolate iterate join judge keep kill label launch lay
lead learn leave let link lint list listen load localise localize locate lock log look loop lower make manage
map mark match measure merge migrate minimise minimize mock model modify monitor move name navigate negotiate
note notify observe obtain offer onboard open optimise optimize orchestrate order organise organize orient
outline output override package pair parse partition pass paste patch pause perform persist pick pin pinpoint
place plan play poll populate port post prefer prepare present preserve press prevent preview print prioritise
prioritize probe proceed process produce profile promote prompt propose protect prototype prove provide
provision prune publish pull purge push put qualify query quote raise rank rate re-read re-run reach react
read rebase rebuild recall receive recheck recommend reconcile record recover red redact reduce refactor
refine reflect refresh register reject relate release remind remove render reorder repeat replace replay reply
report reproduce request require rerun research reset resolve respond restart restate restore restrict resume
retrieve retry return revert review revise rewrite roll rotate route run sample sanitize save scaffold scan
schedule scope score scout screenshot scroll search secure seed select send separate serve set setup shape
share ship show shut sign simplify simulate sketch skim skip smoke snapshot solve sort spawn specify spike
split spot stage standardize start state stay stop store stream strengthen strip structure stub study submit
subscribe suggest summarise summarize surface survey suspend swap sweep switch sync synthesise synthesize tag
take tally tell terminate test think tidy tie tighten trace track train transform transition translate triage
trigger trim troubleshoot try tune turn type understand undo uninstall unpack unzip update upgrade upload use
validate verify version view visit visualise visualize wait walk warn watch weigh wire work wrap write zip`

var (
	onceVerbs sync.Once
	verbSet   map[string]bool
)

// verbs returns the set of verbList. It is made at its first use: see pattern.
func verbs() map[string]bool {
	onceVerbs.Do(func() {
		verbSet = map[string]bool{}
		for _, w := range strings.Fields(verbList) {
			verbSet[w] = true
		}
	})
	return verbSet
}

// instructs reports whether a text begins like an instruction. It is known only of texts in
// English; known is false for others.
func instructs(text string) (yes, known bool) {
	text = decoration.compiled().ReplaceAllString(clean(strings.TrimPrefix(text, "**")), "")
	fields := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",.:;/()[]!?—–&+", r) })
	if len(fields) == 0 {
		return false, false
	}
	for _, r := range fields[0] {
		if r > unicode.MaxLatin1 {
			return false, false
		}
	}
	if len(fields) > 1 && determiners.in(fields[1]) && !particles.in(fields[0]) {
		return true, true // as in "Sand the boards"
	}
	for i, f := range fields[:min(len(fields), 3)] {
		w := strings.ToLower(strings.TrimSuffix(f, "'s"))
		if verbs()[w] || i == 0 && gerund(w) {
			return true, true
		}
		if !condition.in(w) {
			break
		}
		if i == 0 && conditions.in(w) {
			return true, true // and then probably an instruction
		}
	}
	return false, true
}

func gerund(w string) bool {
	stem, ok := strings.CutSuffix(w, "ing")
	return ok && len(stem) >= 3 && (verbs()[stem] || verbs()[stem+"e"] || verbs()[stem[:len(stem)-1]])
}

// english are words that a text in English has again and again.
var english = pattern{text: `(?i)\b(?:the|and|of|to|is|are|for|with|it|you|your|this|that|or|be|not|from|when|by)\b`}

// isEnglish reports whether the text is in English, as one is that is too short to tell.
func (d *document) isEnglish() bool {
	words, common := 0, 0
	for _, l := range d.lines {
		if l.kind != code {
			text := codeSpan.without(l.text)
			words += len(strings.Fields(text))
			common += len(english.compiled().FindAllString(text, -1))
		}
	}
	return words < 20 || common*40 >= words
}

// isInOtherLetters reports whether a good part of the text is in other letters than Latin ones. Some of these
// languages have no spaces, and so few words.
func (d *document) isInOtherLetters() bool {
	latin, other := 0, 0
	for _, l := range d.lines {
		for _, r := range l.text {
			switch {
			case l.kind == code || !unicode.IsLetter(r):
			case unicode.Is(unicode.Latin, r):
				latin++
			default:
				other++
			}
		}
	}
	return other*3 > latin
}

// instructions returns the share of the titles that begin like an instruction, or -1 if the
// text is in a language of which that is not known. Titles like "Adding a page" count only if
// gerunds is true.
func (d *document) instructions(c *candidate, gerunds bool) float64 {
	yes, known := 0, 0
	for _, m := range c.marks {
		title := m.title
		if n, ok := parseNumbered(title); ok {
			title = n.title
		}
		y, k := instructs(title)
		if k {
			known++
		}
		if y && (gerunds || !gerund(strings.ToLower(first(strings.Fields(title))))) {
			yes++
		}
	}
	if known*2 < len(c.marks) {
		return -1
	}
	share := float64(yes) / float64(known)
	if d.foreign && !forms[c.form].heading && share < 0.3 {
		return -1 // its verbs may be those of another language; a terse text in English has few common words too
	}
	return share
}
