package outline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// Hint is something that a text says about a step and that its entry does not have, because
// only a person can decide whether the text means it.
type Hint struct {
	Step int64  `json:"step"` // its id
	Line int    `json:"line"` // from 1
	Text string `json:"text"` // what the line says, shortened
	Gate string `json:"gate"` // a member that may be added to the step, or ""
	Note string `json:"note"` // what is not in the entry, if there is no gate for it
	Back int64  `json:"-"`    // the id of the earlier step that a Note leads back to, or 0

	Run []string `json:"-"` // the commands of a check

	said sentence // of a check, and the sentence behind it
	next string
}

// Of names the step of a hint, and the other step in whose line the text stands.
func (o Outline) Of(h Hint) string {
	for _, s := range o.Steps {
		if s.Line == h.Line && s.ID != h.Step {
			return fmt.Sprintf("for step %d, in the line of step %d", h.Step, s.ID)
		}
	}
	return fmt.Sprintf("step %d", h.Step)
}

var (
	variables = pattern{text: `\$[A-Z{(1-9]|<[^>]+>|\{[^}]*\}|[^/]\.\.\.|…|\[[a-z -]+\]`}
	approvals = pattern{text: `(?i)\b(?:ask|wait for|get|obtain|request|require[sd]?|needs?|pending|until|after|without)\b[^.]{0,` +
		`50}\b(?:approv\w+|confirm\w*|permission|sign-?off|go-ahead|consent)\b|\b(?:user|human|person|maintainer|owner|` +
		`partner)\b[^.]{0,` +
		`30}\b(?:approves?|approved|confirms?|confirmed|signs? ` +
		`off|agrees?)\b|\bawait (?:[\w'’]+ ){0,4}(?:approval|confirmation|permission|sign-?off|go-ahead|consent)\b|` +
		`\b(?:human|user|stakeholder|manual|explicit) (?:approval|sign-?off|confirmation|consent|review)` +
		`[^\w|]*(?:$|\||(?:is )?(?:required|needed|mandatory|necessary|before)\b)|` +
		`\bsigns off[^\w|]*(?:$|\||(?:on|before)\b)|(?:^\W*|[,;:] |\b(?:and|then|always|must|should) )` +
		`(?:ask|confirm with|check with) the (?:user|person|human|maintainer|owner)(?: first)? before\b|` +
		`\bask\b[^.]{0,30}\b(?:whether|if)\b[^.]{0,30}\b(?:may|ok|okay|all right|approved?|go ` +
		`ahead|proceed|merge|publish|release|deploy|ship)\b`}
	// A review by people is one, too.
	reviews = pattern{text: `(?i)\b(?:ask|get|request|obtain|wait for|await|seek)\b[^.;]{0,60}\b` + people +
		`\b[^.;]{0,30}\b(?:for|to)\b[^.;]{0,15}\b(?:review|approve|confirm|agree|sign[- ]?off|okay|ok|go-ahead)\b|` +
		`\b(?:request|get|obtain|await|wait for|seek)\b(?: [\w-]+){0,3} review (?:from|by) ` +
		`(?:the |a |an |your )?(?:[\w-]+ ){0,3}` + people + `\b`}
	byPrograms = pattern{text: `(?i)\b(?:sub-?agents?|agents?|bots?|model|claude|copilot|ai|llm|program|tool)\b`}
	loops      = pattern{text: `(?i)\b(?:repeat (?:until|steps?|this|these|from|the|for|as)|go back to|return to (?:step|phase|the)|loop ` +
		`(?:until|back|through)|iterate until|start (?:over|again)|keep \w+ing until|back to (?:step|phase))\b`}
	earlier = pattern{text: `(?i)\bback to (?:step|phase) (\d{1,3})\b`}
	orders  = pattern{text: `(?i)\b(?:in parallel|concurrently|simultaneously|at the same time|depends? on (?:step|phase)|after ` +
		`(?:step|phase) \d|before (?:step|phase) \d|independent of|blocked by)\b`}
	optional = pattern{text: `(?i)\(optional\)|^\W*optional\b|\bskip (?:this|the) (?:step|phase)\b|\bif applicable\b|\bonly if\b`}
)

var lineMarks = pattern{text: `^\s*(?:#{1,6}\s|[-*+]\s|\d+[.)]\s|>)?\s*(?:\[[ xX]\]\s*)?`}

// refusesThat is what the sentence behind one says that takes it back.
var refusesThat = pattern{text: `(?i)^\W*(?:but |and |however,? )?(?:(?:do not|don['’]t|never|not|no one should|nobody should)(?: ` +
	`ever)? ` +
	`(?:do|run|try|use|execute|type|follow|copy) (?:that|this|it|so|any of|the above)\b|(?:this|that|it|which|doing (?:so|` +
	`this|that)|the above) (?:is|was|would be|will be) ` +
	`(?:not|never|forbidden|wrong|prohibited|disallowed|a mistake|dangerous|a bad|bad|out of|an? (?:anti-?pattern|example)|` +
	`optional)|don['’]t\b\W*$|` +
	`no\b|not\b|wrong\b|(?:just )?kidding|optional)`}

const people = `(?:teams?|leads?|manager|reviewers?|colleagues?|maintainers?|owners?|users?|person|people|humans?|stakeholders?|legal|` +
	`security|qa|dba|architects?|boss|customers?|editors?|experts?|partners?)`

// hints returns what the text of each step says about its end and its order, and the sentences that take some of it back.
func (d *document) hints(steps []Step, c *candidate, every []sentence) (all []Hint, took []Left) {
	w := d.withdraw(every, steps, c)
	counted := true
	for i, m := range c.marks {
		counted = counted && (m.label.class == "" || m.label.from == i+1) && i < len(steps) && steps[i].ID == int64(i+1)
	}
	for i, s := range steps {
		at := slices.IndexFunc(c.marks, func(m mark) bool { return m.line+1 == s.Line })
		if at < 0 {
			continue
		}
		m := c.marks[at]
		r := reader{step: s, steps: steps, counted: counted, seen: map[string]bool{}}
		if len(s.BlockedBy) == 1 && i > 0 && steps[i-1].ID == s.BlockedBy[0] {
			r.before = s.BlockedBy[0]
		}
		if m.label.class == "gate" {
			r.add(Hint{Step: s.ID, Line: s.Line, Text: shorten(m.label.text + m.title), Gate: Approval(question(s))})
		}
		titles := m.above.titlesFrom()
		if w.all != nil {
			titles = nil // what takes all back is told of what it takes back
		}
		r.passages = d.passages(m.line, max(m.end, m.line+1), titles)
		r.titles = append([]string{s.Subject}, titles...)
		r.near, r.every = d.everySentence(m.line, max(m.end, m.line+1), false), every
		if titleLine.in(d.lineText(m.line)) { // which is the title of the step
			r.near = slices.DeleteFunc(r.near, func(s sentence) bool { return s.line == m.line })
		}
		r.read()
		took = append(took, r.took...)
		all = append(all, slices.DeleteFunc(r.hints, func(h Hint) bool {
			why := w.of(h, s.ID)
			if why != nil {
				took = append(took, *why)
			}
			return why != nil
		})...)
	}
	slices.SortStableFunc(took, func(a, b Left) int { return a.Line - b.Line })
	return all, slices.Compact(took)
}

// reader collects what the text of a step says.
type reader struct {
	step     Step
	steps    []Step // all of them
	counted  bool   // their ids are the numbers that the text gives them
	before   int64  // the only step that it waits for, or 0
	passages []passage
	hints    []Hint
	took     []Left // what takes checks back
	seen     map[string]bool
	titles   []string   // of the step, and those above it
	near     []sentence // all of the step
	every    []sentence // all of the text
	acted    bool       // what was read so far tells to do something, beside the title
	did      []string   // the stems of its verbs
}

// add adds a hint. Of each kind of note, a step has one.
func (r *reader) add(h Hint) {
	if !r.seen[h.Gate+h.Note] {
		r.seen[h.Gate+h.Note] = true
		r.hints = append(r.hints, h)
	}
}

func (r *reader) read() {
	for i, p := range r.passages {
		for k, said := range p.sentences {
			next := ""
			if k+1 < len(p.sentences) {
				next = p.sentences[k+1].text
			}
			if k+1 == len(p.sentences) && i+1 < len(r.passages) && len(r.passages[i+1].sentences) == 1 && !r.passages[i+1].forbidden {
				next = r.passages[i+1].sentences[0].text // a paragraph that may be about this one
			}
			h := Hint{Step: r.step.ID, Line: said.line + 1, Text: shorten(said.text)}
			if l, title := cutLabel(said.text); l.isWord() && said.line+1 == r.step.Line {
				said.text = title // "Step 3: Get approval" is not about step 3
			}
			if !p.forbidden {
				r.check(h, said, next, p.sentences[k+1:])
			}
			if !p.forbidden && !(k+1 < len(p.sentences) && refusesThat.in(next)) {
				r.product(h, said, p.sentences[k+1:])
				r.approval(h, said.text, i, k)
			}
			for _, n := range notes {
				if !n.says.in(said.text) {
					continue
				}
				if _, _, asked := demanded(said.text); n.says != &orders || !asked {
					h.Note, h.Back = n.note, backTo(r.step, n.says, said.text)
					r.add(h)
				}
			}
			if said.line+1 != r.step.Line && tells(said.text) {
				r.acted, r.did = true, append(r.did, actsIn(said.text)...)
			}
		}
	}
}

// check proposes what a sentence tells to run, unless something else in the text forbids it or may take it back.
func (r *reader) check(h Hint, said sentence, next string, behind []sentence) {
	h.Run, h.said, h.next = commandsIn(said.text, next), said, next
	takes := takesBack(r.titles, r.near, func(s sentence) bool {
		return strings.Contains(said.text, s.text) || strings.Contains(s.text, said.text) || s.text == next && demands(next)
	})
	digresses := func(s sentence) bool { return !goesOnPlainly(s.text) }
	if h.Run == nil || takes || slices.ContainsFunc(behind, digresses) {
		return
	}
	if s := r.unbinding(said.text, next); s != nil {
		r.took = append(r.took, Left{Line: s.line + 1, What: shorten(s.text), Why: whySome})
		return
	}
	for _, run := range h.Run {
		if at := forbids(r.every, run, func(s sentence) bool { return isPartOf(s, said, next) }); at >= 0 {
			r.took = append(r.took, r.every[at].forbidding(run))
			return
		}
	}
	if !saysPass.in(withoutCode(said.text)) && next != "" {
		h.Text = shorten(said.text + " " + next)
	}
	h.Gate = Check(h.Run)
	r.add(h)
}

// isPartOf reports whether a sentence of the text is one of an order.
func isPartOf(s, order sentence, next string) bool {
	plain := strings.NewReplacer("`", "", "*", "", "_", "").Replace
	if !strings.Contains(plain(order.text), plain(s.text)) && !strings.Contains(plain(s.text), plain(order.text)) {
		return s.text == next && demands(next)
	}
	if s.code {
		return order.line < s.line && s.line < order.line+maxBlock && strings.Contains(plain(order.text), strings.TrimRight(s.intro, ": "))
	}
	return s.line == order.line || s.line == order.line+1 && s.intro == ""
}

// maxBlock limits how far a command in a block of code is from the line that orders it.
const maxBlock = 8

// Check returns the member of a step that has these commands pass.
func Check(run []string) string { return member("check", strings.Join(run, " && ")) }

func isApproval(gate string) bool { return strings.HasPrefix(gate, `"approval"`) }

// Approval returns the member of a step that has a person answer this question with yes.
func Approval(question string) string { return member("approval", question) }

// Produces returns the member of a step that has these files be there.
func Produces(files []string) string { return member("produces", files) }

var (
	asks      = pattern{text: `(?i)^(?:\W|and |then )*(?:ask|get|obtain|request|wait|await|seek)\b`}
	approving = pattern{text: `(?i)^(?:approve|confirm|sign|review|agree|okay|ok|accept|give|allow|permit|check)$`}
	goingOn   = pattern{text: `(?i)(?:[,;:—–] ?|\band |\bthen |^\W*)(?:(?:and|then|finally|now|only then) )*(\w+)`}
)

// outwardVerbs are those of what is not easily taken back: an approval has to come before them.
var outwardVerbs = strings.Fields(`post publish send submit deploy merge push release delete remove drop apply upload ship commit tag
	email announce migrate execute run start begin create open close implement install upgrade roll rotate revoke transfer pay launch
	enable disable switch promote restart stop wipe rename move rewrite replace update invite notify message reply answer file`)

// goesOn reports whether something that an approval has to precede comes after it in the step: rest is what the sentence says behind it.
func (r *reader) goesOn(rest string, i, k int) bool {
	if does("; " + rest) {
		return true
	}
	for _, later := range r.passages[i].sentences[k+1:] {
		if does("; " + later.text) {
			return true
		}
	}
	for _, p := range r.passages[i+1:] {
		for _, later := range p.sentences {
			if !p.forbidden && does("; "+later.text) {
				return true
			}
		}
	}
	return false
}

// does reports whether a text tells to do something that is not easily taken back.
func does(text string) bool {
	for clause := range strings.SplitSeq(text, ". ") {
		if negates(clause) || strings.Contains(strings.ToLower(clause), " if ") {
			continue
		}
		for _, m := range goingOn.compiled().FindAllStringSubmatch(clause, -1) {
			if isOutward(m[1]) {
				return true
			}
		}
	}
	return false
}

// tells reports whether a sentence begins with an order.
func tells(said string) bool {
	word := first.find(clean(said))
	return word != nil && slices.Contains(verbs, strings.ToLower(word[1])) && !approvals.in(said) && !reviews.in(said)
}

func firstWord(text string) string {
	if m := first.find(clean(text)); m != nil {
		return m[1]
	}
	return ""
}

func isOutward(word string) bool {
	return slices.Contains(outwardVerbs, strings.ToLower(word))
}

// stem returns a verb without its ending.
func stem(word string) string {
	word = strings.ToLower(word)
	for _, ending := range []string{"ing", "ed", "s", "e"} {
		word = strings.TrimSuffix(word, ending)
	}
	if n := len(word); n > 3 && word[n-1] == word[n-2] {
		word = word[:n-1]
	}
	return word
}

// question returns what a person is asked before the step counts as done.
func question(s Step) string {
	switch first, _, _ := strings.Cut(strings.ToLower(s.Subject), " "); first {
	case "ask", "await", "get", "obtain", "request", "seek", "wait": // "Ask the user for approval": of what came before
		return "Do you approve of the work so far?"
	}
	subject, _, _ := strings.Cut(s.Subject, " and wait")
	return "Do you approve this step: " + strings.TrimRight(subject, ".?!") + "?"
}

// backTo returns the id of the step before s to which a sentence about a loop leads, or 0.
func backTo(s Step, says *pattern, sentence string) int64 {
	m := earlier.find(sentence)
	if says != &loops || m == nil {
		return 0
	}
	if n, err := strconv.ParseInt(m[1], 10, 64); err == nil && n >= 1 && n < s.ID {
		return n
	}
	return 0
}

// notes are what a workflow does not have.
var notes = []struct {
	says *pattern
	note string
}{
	{&loops, `the text goes back or repeats, and here each step is done once: in the object form "outcomes" lead back, ` +
		`such as {"again": {"back": 1, "max": 3}, "done": {}}`},
	{&orders, "the text gives an order of its own, and here each step waits for the one before it: see blockedBy"},
	{&optional, `the text makes this optional, and here every step is done: in the object form "when" leaves steps out`},
}

// isLocal reports whether a text is the path of a file in the project.
func isLocal(name string) bool {
	return !variables.in(name) && !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "..")
}

// member returns the text of a member of a JSON object.
func member(name string, value any) string {
	// The values are strings and lists and maps of them, which have no error.
	text, _ := json.Marshal(value)
	return `"` + name + `": ` + string(text)
}
