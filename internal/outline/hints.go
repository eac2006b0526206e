package outline

import (
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
}

var (
	commands = pattern{text: "(?i)\\b(?:run|execute|rerun|re-run|with|using)\\b[^`.]{0,60}`([^`]+)`|" +
		"`([^`]+)`[^`.]{0,40}\\b(?:must|should|exits?|pass(?:es)?|succeeds?|is clean|is green)\\b"}
	passes = pattern{text: `(?i)\b(pass|passes|passing|passed|succeeds?|successful(?:ly)?|green|clean|no ` +
		`(?:errors?|failures?|warnings?)|exits? (?:with )?(?:code )?0|zero (?:errors?|failures?)|must (?:work|compile|build|hold)|(?:if|when) ` +
		`(?:it|they|this|that|one|any(?:thing)?|some(?:thing)?|(?:a|the|any) \w+) (?:still )?(?:fails?|breaks?|is red|are red))\b`}
	programs  = pattern{text: `^(?:\./|[a-z])[\w./+-]*(?:\s+[^<>{}…]*)?$`}
	variables = pattern{text: `\$[A-Z{(1-9]|<[^>]+>|\{[^}]*\}|[^/]\.\.\.|…|\[[a-z -]+\]`}
	approvals = pattern{text: `(?i)\b(?:ask|wait for|get|obtain|request|require[sd]?|needs?|pending|until|after|without)\b[^.]{0,` +
		`50}\b(?:approv\w+|confirm\w*|permission|sign-?off|go-ahead|consent)\b|\b(?:user|human|person|maintainer|owner|partner)\b[^.]{0,` +
		`30}\b(?:approves?|approved|confirms?|confirmed|signs? ` +
		`off|agrees?)\b|\bawait (?:[\w'’]+ ){0,4}(?:approval|confirmation|permission|sign-?off|go-ahead|consent)\b|` +
		`\b(?:human|user|stakeholder|manual|explicit) (?:approval|sign-?off|confirmation|consent|review)` +
		`[^\w|]*(?:$|\||(?:is )?(?:required|needed|mandatory|necessary|before)\b)|` +
		`\bsigns off[^\w|]*(?:$|\||(?:on|before)\b)|(?:^\W*|[,;:] |\b(?:and|then|always|must|should) )` +
		`(?:ask|confirm with|check with) the (?:user|person|human|maintainer|owner)(?: first)? before\b|` +
		`\bask\b[^.]{0,30}\b(?:whether|if)\b[^.]{0,30}\b(?:may|ok|okay|all right|approved?|go ` +
		`ahead|proceed|merge|publish|release|deploy|ship)\b`}
	products = pattern{text: "\\b(?i:save|write|record|document|add)\\b[^`.]{0,60}\\b(?:in|into|to) ([A-Z_]{2,}\\.md)\\b|(?i)\\b" +
		"(?:save|saves|write|writes|output|store|record|document|export|create|generate|produce|commit)\\b[^`.]{0,60}" +
		"`([\\w./*-]+\\.[A-Za-z]{1,5})`"}
	// A file that is read is not a product.
	reads = pattern{text: `(?i)\b(?:read|see|consult|load|open|follow|from|using|against|check)\b`}
	// Words that forbid something are not a gate; the rest of the sentence may be one.
	forbidden = pattern{text: `(?i)(?:\b(?:not|never)|n['’]t) (?:save|write|output|store|record|document|export|create|generate|` +
		`produce|commit|add)\b[^.,;:]*`}
	needless = pattern{text: `(?i)(?:\b(?:not|never|no)|n['’]t) (?:(?:stop|pause|have) to )?` +
		`(?:ask|wait for|await|pause for|get|obtain|request|require|need)\b(?: to (?:ask|wait|get|obtain|request))?` +
		`(?:(?: [\w'’]+){0,3} (?:approv\w+|confirm\w*|permission|sign-?off|go-ahead|consent)\b)?|\bno (?:\w+ )?` +
		`(?:approval|confirmation|permission|sign-?off|consent)\b|\b(?:approval|confirmation|permission|sign-?off|consent) ` +
		`(?:is|are) not\b|^(?:then )?(?:go on|go ahead|proceed|continue)\b[^.;]*\bwithout asking\b[^.;]*`}
	loops = pattern{text: `(?i)\b(?:repeat (?:until|steps?|this|these|from|the|for|as)|go back to|return to (?:step|phase|the)|loop ` +
		`(?:until|back|through)|iterate until|start (?:over|again)|keep \w+ing until|back to (?:step|phase))\b`}
	earlier = pattern{text: `(?i)\bback to (?:step|phase) (\d{1,3})\b`}
	orders  = pattern{text: `(?i)\b(?:in parallel|concurrently|simultaneously|at the same time|depends? on (?:step|phase)|after ` +
		`(?:step|phase) \d|before (?:step|phase) \d|independent of|blocked by)\b`}
	optional = pattern{text: `(?i)\(optional\)|^\W*optional\b|\bskip (?:this|the) (?:step|phase)\b|\bif applicable\b|\bonly if\b`}
)

var lineMarks = pattern{text: `^\s*(?:#{1,6}\s|[-*+]\s|\d+[.)]\s|>)?\s*(?:\[[ xX]\]\s*)?`}

// hints returns what the text of each step says about its end and its order.
func (d *document) hints(steps []Step, c *candidate) (all []Hint) {
	for _, s := range steps {
		at := slices.IndexFunc(c.marks, func(m mark) bool { return m.line+1 == s.Line })
		if at < 0 {
			continue
		}
		seen, code, m := map[string]bool{}, false, c.marks[at]
		if m.label.class == "gate" {
			gate := Hint{Step: s.ID, Line: s.Line, Text: shorten(m.label.text + m.title), Gate: member("approval", question(s))}
			all = appendNew(all, []Hint{gate}, seen)
		}
		for i := m.line; i < max(m.end, m.line+1); i++ {
			text := lineMarks.without(d.lines(i, i+1))
			if strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~") {
				code = !code
			}
			if !code && text != "" {
				all = appendNew(all, hint(s, i+1, text), seen)
			}
		}
	}
	return all
}

// appendNew appends the hints of a line. Of each kind of note, a step has one.
func appendNew(all, some []Hint, seen map[string]bool) []Hint {
	for _, h := range some {
		if !seen[h.Gate+h.Note] {
			seen[h.Gate+h.Note] = true
			all = append(all, h)
		}
	}
	return all
}

// hint returns what one line says.
func hint(s Step, line int, said string) (all []Hint) {
	add := func(text, gate, note string) {
		all = append(all, Hint{Step: s.ID, Line: line, Text: shorten(text), Gate: gate, Note: note})
	}
	if run := command(said); run != "" { // that it must pass may be in the next sentence
		add(said, member("check", run), "")
	}
	for _, sentence := range strings.SplitAfter(said, ". ") {
		if m := products.find(forbidden.without(sentence)); m != nil && isLocal(m[1]+m[2]) && !reads.in(m[0]) {
			add(sentence, member("produces", []string{m[1] + m[2]}), "")
		}
		if approvals.in(needless.without(sentence)) {
			add(sentence, member("approval", question(s)), "")
		}
		for _, n := range notes {
			if n.says.in(sentence) {
				add(sentence, "", n.note)
				all[len(all)-1].Back = backTo(s, n.says, sentence)
			}
		}
	}
	return all
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

// command returns the command that a line says must succeed, or "".
func command(text string) string {
	if !passes.in(text) {
		return ""
	}
	m := commands.find(text)
	if m == nil {
		return ""
	}
	run := strings.TrimSpace(m[1] + m[2])
	if !programs.in(run) || variables.in(run) || !strings.ContainsAny(run, " /") && run != "make" && run != "pytest" {
		return ""
	}
	return run
}

// member returns the text of a member of a JSON object.
func member(name string, value any) string {
	// The values are strings and lists and maps of them, which have no error.
	text, _ := json.Marshal(value)
	return `"` + name + `": ` + string(text)
}
