package outline

import (
	"bytes"
	"slices"
	"strings"

	frontmatters "github.com/fsmtx/fsmtx/internal/frontmatter"
)

// What a sentence orders holds only if nothing around it takes it back. The whole text is asked whether it forbids a command or calls
// it broken. In the step of the command any sentence may take it back without naming it, so that each has to be of a kind that does
// not.

var (
	// leadsTo is said of what is below it, which is an order only if it has words of an order only.
	leadsTo = pattern{text: `(?i)(?::\W*$|\b(?:following|below|as follows|like this|this way)\b)`}
	// back is what a sentence that says something may say of another one.
	back     = pattern{text: `(?i)\b(?:this|that|it|these|those|above|such|here|they|them|command|commands|step|steps|failures?)\b`}
	entering = pattern{text: "(?:^|[`;&] *)(?:cd|pushd) "}
	// ofOthers is said of what others do or did, or of what is not sure.
	ofOthers = pattern{text: `(?i)\b(?:what|how|why|when|who|did|does|used|was|were|leave|person|people|user|users|human|humans|ci|` +
		`pipelines?|servers?|hooks?|maintainers?|reviewers?|developers?|someone|somebody|others?|if|unless|optional\w*|maybe|ideas?)\b`}
	// backTold is back in an order, which may say "it" of what it has named.
	backTold = pattern{text: `(?i)\b(?:this|these|those|above|opposite|lines?|steps?|sentences?|paragraphs?|history|instead|` +
		`do (?:it|so|that))\b|` +
		`\b(?:that|so)\W*$`}
	telling       = pattern{text: `(?i)^(?:then |finally |and )?(?:report|tell|show|present|summari[sz]e|inform|notify|ask|explain)\b`}
	toDo          = pattern{text: `(?i)\b(?:to|if|whether) \w+|\blet\b`}
	doing         = pattern{text: `(?i)^(?:do|use|keep|go)\b`}
	introOfOrders = strings.Fields(`do follow these steps in order commands perform complete validate validation verification`)
	working       = pattern{text: `(?i)^(?:implement|fix|write|build|change|create|add|update|refactor|finish|prepare|make)\b`}
	toOthers      = pattern{text: `(?i)\b(?:this|that|these|following|below|into|in|to|for|on|as|with|by)\b`}
)

// everySentence returns every sentence of the lines from begin to end: in quotations, tables and comments, too, and in code if that
// is asked for. Those that stand below a title or an introduction that forbids have it before them.
func (d *document) everySentence(begin, end int, code bool) (all []sentence) {
	var lines []sentence
	title, intro, forbidding, inCode := "", "", "", false
	flush := func() {
		for _, s := range sentencesOf(lines) {
			s.text, s.title, s.intro, s.code = strings.TrimSpace(forbidding+s.text), title, intro, inCode
			all = append(all, s)
		}
		lines = nil
	}
	leads := func(said string) { // to what follows
		intro, forbidding = said, ""
		if isNotToDo(title) {
			forbidding = title + ": "
		}
		if negation.in(normal(said)) {
			forbidding += said + " "
		}
	}
	for i := begin; i < end; i++ {
		line := strings.TrimRight(d.lineText(i), " \r\n")
		isItem := itemMark.in(line)
		text := strings.Trim(lineMarks.without(strings.TrimLeft(strings.TrimSpace(line), "> ")), "| ")
		text = strings.NewReplacer("<!--", "", "-->", "").Replace(text)
		switch {
		case fence.in(line):
			flush()
			inCode = !inCode
			continue
		case inCode && !code && !entering.in(text):
			continue
		case text == "":
			flush()
			continue
		case titleLine.in(line) && !inCode:
			flush()
			title = ""
			leads("")
			all = append(all, sentence{text: text, line: i, isTitle: true})
			title = text
			leads("")
			continue
		case inCode && remark.in(line):
			flush()
			intro = strings.TrimSpace(line)
			all = append(all, sentence{text: intro, line: i, title: title, code: true})
			continue
		case isItem, inCode, strings.HasPrefix(strings.TrimSpace(line), "|"):
			flush()
		case len(lines) == 0 && indent(line) == 0:
			leads("")
		}
		if inCode {
			text = strings.TrimPrefix(text, "$ ")
		}
		lines = append(lines, sentence{text: text, line: i})
		if strings.HasSuffix(strings.TrimRight(text, "*_ "), ":") {
			said := joined(lines)
			flush()
			leads(said)
		}
	}
	flush()
	return all
}

var ofThem = pattern{text: `(?i)\b(?:it|them|they|this|that|these|those|so)\b`}

// remark is one in code.
var remark = pattern{text: `^\s*(?:#|//|--|;)`}

// sentences returns every sentence of the text, of its frontmatter those of the description, and a status.
func (d *document) sentences() (all []sentence) {
	end := bytes.Count(d.source[:frontmatter(d.source)], []byte("\n"))
	for i := range end {
		line := strings.TrimSpace(d.lineText(i))
		if strings.HasPrefix(line, "description:") {
			said, _ := frontmatters.Field(d.source, "description")
			for _, s := range sentencesOf([]sentence{{text: strings.Join(strings.Fields(said), " "), line: i}}) {
				s.isFront = true
				all = append(all, s)
			}
		} else if ofStatus.in(line) {
			all = append(all, sentence{text: line, line: i, isFront: true})
		}
	}
	if end > 0 {
		end++
	}
	return append(all, d.everySentence(end, len(d.starts), true)...)
}

// ofStatus is a line of a frontmatter that may say that the text is not in use.
var ofStatus = pattern{text: `(?i)^(?:status|state|stage|deprecated|obsolete|draft|archived|disabled|enabled|active|optional|` +
	`superseded.*)\s*:`}

// forbidding is what takes a command back.
func (s sentence) forbidding(run string) Left {
	return Left{Line: s.line + 1, What: shorten(s.text), Why: "it may forbid `" + run + "`, so that is not proposed as a check"}
}

// forbids returns the index of a sentence that forbids a command, or calls it broken, or -1. own says which are part of the order.
func forbids(every []sentence, run string, own func(sentence) bool) int {
	n, about := nameOf(run, true), false
	return slices.IndexFunc(every, func(s sentence) bool {
		if own(s) || s.saysWhen() {
			about = false
			return false
		}
		said := normal(s.text)
		if about && !s.isTitle && ofThem.in(said) && (negation.in(said) || doubtful.in(said)) { // "Write the tests. Never start them."
			return true
		}
		about = n.isIn(s)
		return about && n.forbiddenBy(s)
	})
}

// takesBack reports whether something around an order in a step may take it back. titles are those of the step and of the sections that
// it is in, all the sentences of the step; own has those that are part of the order.
func takesBack(titles []string, all []sentence, own func(sentence) bool) bool {
	for _, title := range titles {
		head := normal(title)
		if negation.in(head) || doubtful.in(head) || notToDo.in(head) || elsewhere.in(head) ||
			ofOthers.in(head) && !isPlain(head) && !announcing.in(clean(title)) {
			return true
		}
	}
	return slices.ContainsFunc(all, func(s sentence) bool {
		return !own(s) && mayTakeBack(s.text)
	})
}

// mayTakeBack reports whether a sentence beside an order may take it back.
func mayTakeBack(text string) bool {
	if entering.in(text) {
		return true
	}
	said := strings.TrimSpace(strings.Trim(normal(text), "()"))
	said = strings.TrimSpace(strings.TrimLeft(said, "([* "))
	bare := withoutLead(said)
	switch {
	case bare == "", isPlain(bare) && (toPass.in(bare) || !leadsTo.in(bare)):
		return negation.in(said) || elsewhere.in(said)
	case notTouch.in(said):
		return false
	case negation.in(said), doubtful.in(said), elsewhere.in(said):
		return true
	case leadsTo.in(said):
		words := slices.DeleteFunc(strings.Fields(strings.ToLower(said)), func(w string) bool {
			return slices.Contains(introOfOrders, strings.Trim(w, ":*"))
		})
		return !isPlain(strings.Join(words, " ")) && (!working.in(said) || toOthers.in(said))
	}
	switch {
	case !isImperative(said):
		return back.in(said) || ofOthers.in(said) || !sentenceStop.in(text) // or a title, or what a list is below
	case approvals.in(said), reviews.in(said):
		return false
	case telling.in(said):
		return back.in(said) || toDo.in(said)
	}
	return ofOthers.in(said) || backTold.in(said)
}

// isImperative reports whether a sentence begins with a verb that tells to do something.
func isImperative(said string) bool {
	word := first.find(said)
	return doing.in(said) || word != nil && slices.Contains(verbs, strings.ToLower(word[1])) && !strings.HasPrefix(said[len(word[0]):], ":")
}

// goesOnPlainly reports whether a sentence behind an order tells what else to do, or that the order has to be met.
func goesOnPlainly(text string) bool {
	said := strings.TrimLeft(normal(text), "([*.,; ")
	bare := strings.TrimRight(withoutLead(said), ".!)*; ")
	return bare == "" || isPlain(bare) && toPass.in(bare) || isImperative(said) || isImperative(bare) || notTouch.in(said)
}

var sentenceStop = pattern{text: `[.!]["'”’)*_]*\s*$`}
