package outline

import (
	"cmp"
	"slices"
	"strings"
)

// A sentence may take back what a step is told by its number, or by speaking of the steps as such: "Step 2 is optional", "Ignore the
// steps above". What can be said of steps cannot be listed, so such a sentence takes back each gate of the steps that it names, of all
// if it names none, unless it only points at one or has only words that introduce steps. A sentence in a language that is not known
// here may forbid anything, and takes back all.

const (
	nounOfStep = `(?:steps?|phases?|stages?|gates?|tasks?|items?|points?|bullets?|numbers?|nos?\.?|parts?)`
	numeralOf  = `(?:\d{1,3}|` + inWords + `)\b`
	stepsOf    = nounOfStep + `\s*#?` + numeralOf + `(?:\s*(?:,|and|or|&|/|\+|-|–|—|to|through)+\s*(?:and |or )?(?:` + nounOfStep +
		`\s*)?#?` + numeralOf + `)*`
)

var (
	// numbered are steps by their numbers: "step 2", "steps 2-3", "items 1, 2 and 4".
	numbered = pattern{text: `(?i)\b` + stepsOf}
	numberOf = pattern{text: `(?i)\b(` + numeralOf + `)(?:\s*(?:-|–|—|to|through)\s*(?:` + nounOfStep + `\s*)?#?(` + numeralOf + `))?`}
	aloneOf  = pattern{text: `(?:^|[\s(])#?\d{1,2}(?:[.,;:)!?]*(?:\s|$)|\s*[-–—])|` +
		`\bthe (?:\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|final|other|rest)\b`}
	ofSteps   = pattern{text: `(?i)\bsteps?\b`}
	theSteps  = pattern{text: `(?i)\bsteps\b`}
	byStep    = pattern{text: `(?i)\bstep[ -]by[ -]step\b`}
	ownStep   = pattern{text: `(?i)\b(?:this|the) step\b`}
	fromThere = pattern{text: `(?i)\b(?:except\w*|but|others?|rest|remaining|all|after|before|until|till|past|beyond|stop\w*|end\w*|` +
		`skip to|jump to|go to|move to|instead|alone|solely|merely|(?:to|from|with|at) ` + nounOfStep + `)\b|^(?:please )?(?:only|just)\b|` +
		`\b(?:only|just) (?:do|run|follow|carry|take)\b|\bonly\W*$`}
	// pointer leads to a step of which it says nothing.
	pointer = pattern{text: `(?i)(?:\b(?:if|when|whenever) [^.;,\d]*, )?\b(?:(?:(?:go(?:ing)?|return|jump|start(?: over| again)?|come) )?` +
		`back to|return to|repeat(?:ing)?(?: from)?|` +
		`start again (?:at|with|from)) (?:the )?` + stepsOf + `(?: (?:if|when|until|till|for) [^.;,]*)?,?|` +
		`\b(?:after|before|see) ` + stepsOf + `,?`}
	// mended is what has to be done if a step fails.
	mended = pattern{text: `(?i)\b(?:if|when|whenever) ` + stepsOf + `(?: still)? (?:fails?|breaks?|does not pass|` +
		`doesn['’]t pass),? ([^.;]*)`}
	// noneLeftOut demands every step.
	noneLeftOut = pattern{text: `(?i)^(?:please )?(?:(?:do not|don['’]t|never|you must not)(?: ever)? (?:skip|omit|leave out|reorder|` +
		`forget)` +
		`(?: or (?:skip|omit|reorder|combine|merge))?(?: any| a| the| these| any of the| one of the| single)* steps?|` +
		`no step (?:may|can|must) be ` +
		`(?:skipped|omitted|left out))\W*$`}
	// asWhole is all of the steps, without the word.
	asWhole = pattern{text: `(?i)\b(?:this|these|those|the (?:above|following|whole|entire|old)) (?:list|procedures?|process|workflow|` +
		`instructions?|checklist|plan|page|documents?|file|text|guide|runbook|playbook|skill|sections?|items?|points?)\b|` +
		`\b(?:list|procedure|checklist|instructions|plan|items|points|workflow|process) (?:above|below)\b|` +
		`^\W*(?:this|these|all (?:of )?(?:this|that|these)|everything|the (?:list|procedure|checklist|instructions|above|following))\b|` +
		`\b(?:follow|do|run|use|execute|apply|obey|skip|ignore) (?:it|them|this|that|these|` +
		`the (?:list|text|instructions|procedure|above))\b|` +
		`\b(?:everything|all|what is|what stands|anything|nothing|things?) (?:above|below|here|written)\b|\bthe (?:above|below|rest)\b`}
	invalid = pattern{text: `(?i)\b(?:drafts?|only for|for [\w ,']*only|not (?:yet )?(?:for|valid|current|in use|used|to be|meant|intended|` +
		`apply|binding|needed|required)|(?:not|never|nobody|n['’]t)(?: \w+)? (?:follow|obey|use|do|run|execute|apply|perform|act)|` +
		`ignor\w+|skip\w*|` +
		`omit\w*|leave out|left out|reserved|no longer|manual(?:ly)?|by hand|for reference|illustration)\b`}
	toPeople  = pattern{text: `(?i)\b(?:` + people + `|admins?|ops|manual(?:ly)?|by hand|yourself|myself|I|we|drafts?|leav\w+|fine|okay|ok)\b`}
	notAlways = pattern{text: `(?i)\b(?:only|not|never|except|unless|instead|depend\w*)\b`}
	asked     = pattern{text: `(?i)^(?:how|what|why|who|when)\b`}
	// ofSomeCases begins a title of what is not always done.
	ofSomeCases = pattern{text: `(?i)^\W*(?:for|on|if|when|whenever|after|before|during|from|until|with|without|only|optional(?:ly)?|` +
		`drafts?|archived?|small|large|big|minor|major|suggested|recommended)\b`}
)

// wordsOfSteps are those that introduce steps, beside their purpose.
var wordsOfSteps = strings.Fields(`follow do perform work through go take carry out finish these this following below above next each every
	all of in order exactly strictly carefully one by after another at time given listed sequence from top bottom as written described step
	steps has have consists two three four five six seven eight nine ten with your now first start mark tick done task list so`)

// withdrawn are the gates that are not proposed, each with the part of the text that takes it back.
type withdrawn struct {
	all       *Left
	some      map[int64]*Left // by the id of the step
	approvals *Left           // of every step
}

const (
	whyForeign = "it is not known what this says, and it may forbid something, so nothing is proposed that the text demands"
	whyAll     = "it may say that the steps are not binding, or not always, so nothing is proposed that the text demands"
	whySome    = "it may take back what a step demands, so that is not proposed"
	whyAlone   = "it may say that nobody is asked, so no approval is proposed"
)

// of returns what takes a hint back that a step has, or nil.
func (w withdrawn) of(h Hint, step int64) *Left {
	switch approvals := w.approvals; {
	case h.Gate == "":
		return nil
	case !isApproval(h.Gate):
		return cmp.Or(w.all, w.some[step], w.some[h.Step])
	default:
		return cmp.Or(w.all, approvals, w.some[step], w.some[h.Step])
	}
}

// withdraw returns the steps of which a sentence of the text takes the gates back.
func (d *document) withdraw(every []sentence, steps []Step, c *candidate) withdrawn {
	w := withdrawn{some: map[int64]*Left{}}
	for _, s := range every {
		at, isMark := c.markAt(s.line)
		if s.isFront {
			at = -1
		}
		if l, title := cutLabel(s.text); isMark && l.isWord() && strings.HasPrefix(lineMarks.without(d.lineText(s.line)), s.text) {
			s.text = title
		}
		inStep := at >= 0 && (isMark || c.marks[at].level > 0 || indent(d.lineText(s.line)) > 0)
		named, takes := namedBy(s, inStep)
		_, _, demands := demanded(s.text)
		why := func(reason string) *Left { return &Left{Line: s.line + 1, What: shorten(s.text), Why: reason} }
		isAlone := isAlone(s, demands)
		if isAlone {
			w.approvals = cmp.Or(w.approvals, why(whyAlone))
			text := plainly(s.text)
			isAlone = asking.in(text) || alone.in(text) || absent.in(text) // and says nothing else, as "nobody does this"
		}
		switch {
		case isForeign(s) && !isRequired.in(strings.TrimRight(s.text, ".")):
			w.all = cmp.Or(w.all, why(whyForeign))
		case isPlayed(s), takes && len(named) == 0 && !inStep, !inStep && !demands && !isAlone && !s.code && d.unbinds(s, c):
			w.all = cmp.Or(w.all, why(whyAll))
		case !takes:
		case len(named) == 0 && demands:
		case len(named) == 0 && ownStep.in(s.text):
			w.add(steps, c.marks[at], why(whySome))
		case len(named) == 0:
			w.all = cmp.Or(w.all, why(whyAll))
		}
		for _, n := range named {
			w.some[int64(n)] = cmp.Or(w.some[int64(n)], why(whySome))
			for _, m := range c.marks {
				if m.label.class != "" && m.label.from <= n && n <= m.label.to {
					w.add(steps, m, why(whySome))
				}
			}
		}
	}
	return w
}

// unbinds reports whether a sentence beside the steps, or a title of theirs, may say that they are not binding.
func (d *document) unbinds(s sentence, c *candidate) bool {
	if !s.isTitle {
		return !s.isHarmless()
	}
	title, isBold := clean(s.text), !strings.HasPrefix(strings.TrimSpace(d.lineText(s.line)), "#")
	above := c.marks[0].above
	for above != nil && clean(above.text) != title {
		above = above.above
	}
	switch {
	case s.line >= c.begin(), above == nil && !isBold:
		return false
	case vague.in(title), doubtful.in(title), notToDo.in(title), notAlways.in(title), asked.in(title) && !announcing.in(title):
		return true
	}
	return !(above != nil && above.title) && ofSomeCases.in(title)
}

func (w withdrawn) add(steps []Step, m mark, why *Left) {
	for _, s := range steps {
		if s.Line == m.line+1 {
			w.some[s.ID] = cmp.Or(w.some[s.ID], why)
		}
	}
}

// markAt returns the index of the step in whose text a line is, or -1, and whether the line is the first one of a step or a part.
func (c *candidate) markAt(line int) (at int, isMark bool) {
	at = slices.IndexFunc(c.marks, func(m mark) bool { return m.line <= line && line < max(m.end, m.line+1) })
	return at, slices.ContainsFunc(everyMark(c.marks), func(m mark) bool { return m.line == line })
}

// namedBy returns the numbers of the steps that a sentence takes back; if takes is true and there are none, it may be any. One inside of
// a step, or of the frontmatter, may speak of steps without a number as long as nothing in it restricts.
func namedBy(s sentence, inStep bool) (named []int, takes bool) {
	said := mended.compiled().ReplaceAllStringFunc(normal(s.text), func(found string) string {
		if what := mended.find(found)[1]; tolerating.in(what) || !correcting.in(what) {
			return found
		}
		return ""
	})
	said = byStep.without(said)
	if s.isFront {
		said = whenNot.without(said)
	}
	if m := ifItFails.find(strings.TrimRight(said, ". ")); noneLeftOut.in(said) || m != nil && !goingOnAnyway.in(m[1]) && !numbered.in(said) {
		return nil, false
	}
	rest := strings.TrimLeft(pointer.without(said), ",;: ")
	restricted := restricts(rest)
	switch {
	case !restricted && (s.isTitle || s.code):
		return nil, false
	case numbered.in(rest):
		if fromThere.in(rest) {
			return nil, true
		}
		for _, found := range numbered.compiled().FindAllString(rest, -1) {
			named = append(named, numbersIn(found)...)
		}
		return named, true
	case rest != said && !restricted:
		return nil, rest != "" && !isImperative(withoutLead(rest)) && !isPlain(rest) // "Before step 2 Anna has a look."
	case restricted:
		return nil, ofSteps.in(rest) || rest != said || aloneOf.in(rest) && !inStep ||
			!s.code && asWhole.in(rest) && (invalid.in(rest) || doubtful.in(rest))
	}
	return nil, ofSteps.in(rest) && !s.isFront && !introducesSteps(strings.TrimRight(rest, ".!: ")) &&
		(!inStep || theSteps.in(rest) && !isImperative(rest))
}

// numbersIn returns the numbers in a text such as "steps 2-4 and 6".
func numbersIn(text string) (all []int) {
	for _, m := range numberOf.compiled().FindAllStringSubmatch(text, -1) {
		all = append(all, number(m[1]))
		for n := number(m[1]) + 1; m[2] != "" && n <= number(m[2]); n++ {
			all = append(all, n)
		}
	}
	return all
}

// restricts reports whether a text says of something that it is not done, or not by whoever reads it, or not always.
func restricts(text string) bool {
	return slices.ContainsFunc([]*pattern{&negation, &doubtful, &notToDo, &ofOthers, &elsewhere, &loose, &invalid, &toPeople},
		func(p *pattern) bool { return p.in(text) })
}
