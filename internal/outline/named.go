package outline

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// What a text says elsewhere about a command that a step orders to run may forbid it, in more words than can be listed. So a sentence
// that names the command, its program, what it does, or commands as such, takes the order back unless it is plainly an order itself,
// or has only words with which nothing can be forbidden.

var (
	running    = pattern{text: `(?i)\b(?:run|runs|running|execut\w+|invoke|invoking|call|launch|use|start|started|trigger)\b`}
	anything   = pattern{text: `(?i)\b(?:anything|nothing|everything)\b`}
	anyCommand = pattern{text: `(?i)\b(?:commands?|programs|shell|terminal|console|bash|read-only|execution|executables?)\b|` +
		`\bexecut(?:e|es|ed|ing) (?:code|programs?|scripts?)\b`}
	// asVerb is "make" or "go" as a word of English.
	asVerb = pattern{text: `(?i)(?:^|[.,:;] |\b(?:to|and|then|please|always|now|must|should|you|we|first) )(?:make (?:sure|the|an?|it|them|` +
		`this|these|your|its|any|each|every|small\w*|minimal|changes?|one)|go (?:on|to|back|ahead|through|into|over|further))\b`}
	pieces = pattern{text: `[\p{L}\p{N}]+`}
)

// wordsBeside are those of a sentence about code that, with wordsOfOrder, forbids nothing.
var wordsBeside = strings.Fields(`write add fix update extend implement create cover refactor read code bug bugs failing missing regression
	feature features change changes documentation docs for of and first one case cases fails failure failures function small in make makes
	smallest`)

// plainTitles are those below which a sentence says what it says.
var plainTitles = strings.Fields(`rules notes guidelines background overview conventions principles how it works workflow process steps
	tasks instructions verification validation testing development contributing`)

// doesThat are the words for what a command does, by a part of a word of it.
var doesThat = map[string]string{
	"test": `(?:test\p{L}*|suites?|specs?|qa)`, "spec": `(?:tests?|testing|specs?|suites?)`,
	"jest": `(?:tests?|testing|suites?)`, "e2e": `(?:end-to-end)`, "lint": `(?:lint\w*|style checks?|static analysis)`,
	"vet": `(?:lint\w*|static analysis)`, "check": `(?:checks?|checker\w*|checking|lint\w*)`, "clippy": `(?:lint\w*)`,
	"build": `(?:builds?|building|built|compil\w+)`, "type": `(?:types?|type-?\w*|typing)`, "tsc": `(?:types?|type-?\w*|compil\w+)`,
	"mypy": `(?:types?|type-?\w*)`, "fmt": `(?:format\w*)`, "format": `(?:format\w*)`, "verif": `(?:verif\w+)`, "valid": `(?:valid\w+)`,
}

// naming finds what is about a command.
type naming struct {
	run     string
	whole   *regexp.Regexp // the command
	program *regexp.Regexp
	subject *regexp.Regexp // what it does
}

// nameOf returns what finds a command. One that is not that of the step itself is known by fewer words.
func nameOf(run string, own bool) naming {
	words := strings.Fields(strings.ToLower(run))
	program := regexp.QuoteMeta(path.Base(words[0]))
	if program == "make" {
		program = `(?:make|(?:gnu)?makefiles?)`
	}
	about := []string{}
	for _, piece := range pieces.compiled().FindAllString(strings.Join(words[1:], " ")+" "+path.Base(words[0]), -1) {
		if len(piece) > 1 && piece != words[0] && !slices.Contains([]string{"run", "all", "exec", "sh", "py", "js"}, piece) {
			about = append(about, regexp.QuoteMeta(piece)+`\p{L}*`)
		}
	}
	isNamed := !own && (words[0] == "make" || words[0] == "npm") // and may do something else than it is called
	for part, said := range doesThat {
		if !isNamed && strings.Contains(strings.ToLower(run), part) {
			about = append(about, said)
		}
	}
	n := naming{run: run, whole: boundary(strings.Join(words, " ")), program: regexp.MustCompile(`(?:^|[^\w-])` + program + `(?:$|[^\w-])`)}
	if len(about) > 0 {
		n.subject = regexp.MustCompile(`(?:^|[^\p{L}\p{N}])(?:` + strings.Join(about, "|") + `)(?:$|[^\p{L}\p{N}])`)
	}
	return n
}

// isIn reports whether a sentence names the command, or something of it.
func (n naming) isIn(s sentence) bool {
	text := s.plainText()
	return n.isWhole(text) || n.isOfAll(text) || anything.in(text) || n.isSubjectIn(text)
}

// forbiddenBy reports whether a sentence that names it may forbid the command.
func (n naming) forbiddenBy(s sentence) bool {
	if l, title := cutLabel(s.text); s.isTitle && l.isWord() {
		s.text = title // "Phase 2: Run the tests"
	}
	text, said := s.plainText(), normal(s.text)
	switch {
	case n.isWhole(text), n.isOfAll(text):
		return !n.orderedBy(s)
	case anything.in(said) && running.in(said) && negation.in(said):
		return true
	}
	return n.isSubjectIn(text) && !n.orderedBy(s) && !isBeside(s)
}

func (n naming) isSubjectIn(text string) bool {
	return n.subject != nil && n.subject.MatchString(withoutEmphasis(text))
}

func withoutEmphasis(text string) string { return strings.NewReplacer("*", "", "_", "").Replace(text) }

// plainText returns a sentence in lower case, with single spaces, and in code as code.
func (s sentence) plainText() string {
	text := strings.Join(strings.Fields(strings.ToLower(strings.Trim(s.text, "*_ "))), " ")
	if s.code && !strings.Contains(text, "`") {
		text = "`" + text + "`"
	}
	return text
}

func (n naming) isWhole(text string) bool {
	return n.whole.MatchString(text) || n.whole.MatchString(withoutEmphasis(text))
}

// isOfAll reports whether a text names the program, other than in another command, or commands as such.
func (n naming) isOfAll(text string) bool { return n.isProgramIn(text) || anyCommand.in(normal(text)) }

// isProgramIn reports whether a text names the program, other than in another command.
func (n naming) isProgramIn(text string) bool {
	others := codeSpan.compiled().ReplaceAllStringFunc(text, func(span string) string {
		if inner := strings.Trim(span, "` "); isCommand(inner) && !strings.HasPrefix(n.run+" ", inner+" ") {
			return "`x`"
		}
		return span
	})
	return n.program.MatchString(asVerb.without(others))
}

// TakesBack reports whether a sentence of the text may forbid something that the check of a hint runs, or that runs the check: it names
// that, its program or what it does, and restricts it.
func (o Outline) TakesBack(h Hint, related string) bool {
	n := nameOf(related, false)
	return slices.ContainsFunc(o.every, func(s sentence) bool {
		text, said := s.plainText(), normal(s.text)
		switch {
		case isPartOf(s, h.said, h.next), n.orderedBy(s), isBeside(s), s.saysWhen():
			return false
		case n.isWhole(text), n.isProgramIn(text), n.isSubjectIn(text):
			return restricts(said) || n.isInCode(text) && !isImperative(withoutLead(said))
		}
		return false
	})
}

// isInCode reports whether code in a text is the beginning of the command, and more than its program.
func (n naming) isInCode(text string) bool {
	return slices.ContainsFunc(codeSpan.compiled().FindAllString(text, -1), func(span string) bool {
		inner := strings.Trim(span, "` ")
		return strings.Contains(inner, " ") && strings.HasPrefix(n.run+" ", inner+" ")
	})
}

// orderedBy reports whether a sentence has only words of an order to run a command, and is one.
func (n naming) orderedBy(s sentence) bool {
	if !s.isPlainlyUnder() && !demandsTests(s) || strings.ContainsAny(s.text, "?|") {
		return false
	}
	said := s.text
	if !strings.Contains(said, "`") {
		said = strings.ReplaceAll(said, n.run, "`"+n.run+"`")
	}
	text := strings.TrimRight(withoutLead(normal(said)), ".!,;: ")
	if text == "" {
		return true // it says not to stop before that, or what to do if it fails
	}
	if !isPlain(text) || negation.in(text) || doubtful.in(text) {
		return false
	}
	forms := []*pattern{&runs, &ensures, &hasTo, &shown, &inBrackets, &uses, &byRunning, &verifiesBy}
	return slices.ContainsFunc(forms, func(form *pattern) bool { return form.in(text) }) ||
		!strings.Contains(text, "`") && (toPass.in(text) || s.isTitle || tellsToRun.in(text))
}

// isBeside reports whether a sentence has only words with which nothing can be forbidden, or says not to touch something.
func isBeside(s sentence) bool {
	said := strings.TrimRight(normal(s.text), ".! ")
	if writesTests(said) {
		return true
	}
	if !s.isPlainlyUnder() || strings.ContainsAny(said, "?|:;(") {
		return false
	}
	if notTouch.in(said) {
		return true
	}
	word := first.find(said)
	return !negation.in(said) && !doubtful.in(said) && word != nil && slices.Contains(wordsBeside, strings.ToLower(word[1])) &&
		hasOnly(said, wordsBeside)
}

var (
	ofTests  = pattern{text: `(?i)\b(?:tests?|suites?|specs?|checks?)\b`}
	newTests = pattern{text: `(?i)^(?:write|add|fix|update|extend|create) (?:[\w-]+ ){0,4}tests?(?: cases?)?(?: first)?` +
		`(?: (?:for|that|which|of|covering|with)\b[^,;:?|(—–]*)?\W*$`}
)

// demandsTests reports whether a sentence without a command demands that tests pass. That forbids nothing below any title.
func demandsTests(s sentence) bool {
	return !s.code && !strings.Contains(s.text, "`") && ofTests.in(s.text) && toPass.in(normal(s.text))
}

// writesTests reports whether a sentence tells to write a test, and nothing that restricts that.
func writesTests(said string) bool {
	said = withoutLead(said)
	return newTests.in(said) && !negation.in(said) && !doubtful.in(said) && !ofOthers.in(said) && !running.in(said) && !invalid.in(said)
}

// isPlainlyUnder reports whether nothing above a sentence says whom or what it is for.
func (s sentence) isPlainlyUnder() bool {
	label, title := cutLabel(s.title)
	isOfStep := label.isWord() && !negation.in(title) && !doubtful.in(title) && !notToDo.in(title) && !ofOthers.in(title)
	return (isOfStep || hasOnly(title, plainTitles) || announcing.in(clean(title))) &&
		(hasOnly(s.intro, introOfOrders) || hasOnly(s.intro, wordsBeside))
}

// hasOnly reports whether a text has words of an order and those only.
func hasOnly(text string, those []string) bool {
	words := wordInText.compiled().FindAllString(strings.ToLower(text), -1)
	return isPlain(strings.Join(slices.DeleteFunc(words, func(w string) bool { return slices.Contains(those, w) }), " "))
}
