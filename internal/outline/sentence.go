package outline

import (
	"slices"
	"strings"
)

// passage is a paragraph or an item of a step: its sentences, and whether something above it says not to do what it says.
type passage struct {
	sentences []sentence
	forbidden bool
}

// sentence is one of a passage.
type sentence struct {
	text string
	line int // from 0

	title, intro  string // above it
	code, isTitle bool
	isFront       bool // of the description in the frontmatter
}

var (
	fence    = pattern{text: "^\\s*(?:```|~~~)"}
	itemMark = pattern{text: `^(\s*)(?:[-*+]|\d+[.)])\s`}
	comment  = pattern{text: `(?s)<!--.*?(?:-->|$)`}
	// title is a heading, or a line in bold alone, which is one for its readers.
	titleLine = pattern{text: `^\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$)`}
	// notToDo is a title of what is not to be done.
	notToDo = pattern{text: `(?i)\b(?:anti-?patterns?|red flags?|mistakes?|pitfalls?|don['’]?ts?|wrong|bad|examples?|out of scope|` +
		`limitations?|optional|alternatives?|background|rationale|troubleshooting|history|deprecated|avoid|rejected|ideas?)\b`}
)

// passages returns the prose of the lines from begin to end. What is in code, tables, quotations and comments tells nobody to do
// something.
// titles are those above.
func (d *document) passages(begin, end int, titles []string) (all []passage) {
	refused := slices.ContainsFunc(titles, isNotToDo)
	type open struct {
		indent    int
		forbidden bool
	}
	var lines []sentence
	var above []open // what is open around an item
	lead, code, forbidden := false, false, refused
	flush := func() {
		if len(lines) > 0 {
			all = append(all, passage{sentencesOf(lines), forbidden})
		}
		lines = nil
	}
	hidden := withCommands(d.withoutComments(begin, end))
	for i := begin; i < end; i++ {
		line := hidden[i-begin]
		text := strings.TrimSpace(line)
		if line == joinedOn {
			continue
		}
		switch m := itemMark.find(line); {
		case fence.in(line):
			flush()
			code = !code
		case code:
		case text == "", strings.HasPrefix(text, "|"), strings.HasPrefix(text, ">"):
			flush()
		case titleLine.in(line):
			flush()
			refused = slices.ContainsFunc(titles, isNotToDo) || isNotToDo(text)
			forbidden, lead, above = refused, false, nil
			lines = append(lines, sentence{text: lineMarks.without(text), line: i})
			flush()
		case m != nil:
			flush()
			above = slices.DeleteFunc(above, func(o open) bool { return o.indent >= len(m[1]) })
			forbidden = refused || lead || len(above) > 0 && above[len(above)-1].forbidden
			said := lineMarks.without(line)
			above = append(above, open{len(m[1]), forbidden || negates(said)})
			lines = append(lines, sentence{text: said, line: i})
		default:
			if len(lines) == 0 {
				forbidden = refused
				if indent(line) == 0 {
					above = nil
				} else if len(above) > 0 {
					forbidden = forbidden || above[len(above)-1].forbidden
				}
			}
			lines = append(lines, sentence{text: text, line: i})
		}
		if n := len(lines); n > 0 && itemMark.find(line) == nil { // what a paragraph that ends with a colon says of the list below it
			lead = strings.HasSuffix(strings.TrimRight(text, "*_ "), ":") && (negates(joined(lines)) || notToDo.in(joined(lines)))
		}
	}
	flush()
	return all
}

// joinedOn stands for a line of a block of commands that has become part of a sentence.
const joinedOn = "\x00"

var (
	shellFence = pattern{text: "^\\s*```\\s*(?:sh|bash|shell|console|zsh|text)?\\s*$"}
	tellsToRun = pattern{text: `(?i)(?:^|[.:;,] |\b(?:then|and) )(?:re-?run|run|execute)\b[^.;]*[.:]?$`}
)

// withCommands returns lines in which a block of commands, below a line that says to run them or below a title, is part of a sentence:
// "Run these: `+"`make test`"+`". What is said behind the block is then said of that.
func withCommands(lines []string) []string {
	for i := 0; i < len(lines); i++ {
		if !fence.in(lines[i]) {
			continue
		}
		end := i + 1
		for end < len(lines) && !fence.in(lines[end]) {
			end++
		}
		above := i - 1
		for above >= 0 && strings.TrimSpace(lines[above]) == "" {
			above--
		}
		commands := ""
		if end < len(lines) && end-i <= 4 && shellFence.in(lines[i]) {
			commands = commandsOfBlock(lines[i+1 : end])
		}
		text := ""
		if above >= 0 {
			text = strings.TrimSpace(lines[above])
		}
		switch {
		case commands == "":
			i = end
			continue
		case above < 0 || titleLine.in(text):
			lines[i] = "Run: " + commands + "."
			above = i
		case tellsToRun.in(lineMarks.without(text)):
			lines[above] = strings.TrimRight(lines[above], ".: ") + ": " + commands + "."
		default:
			i = end
			continue
		}
		behind := end + 1
		for behind < len(lines) && strings.TrimSpace(lines[behind]) == "" {
			behind++
		}
		if behind == len(lines) || itemMark.in(lines[behind]) || titleLine.in(lines[behind]) || fence.in(lines[behind]) {
			behind = end + 1
		}
		for j := above + 1; j < behind; j++ {
			lines[j] = joinedOn
		}
		i = behind - 1
	}
	return lines
}

// commandsOfBlock returns the lines of a block as code in a sentence, or "" if one of them is not the words of a command.
func commandsOfBlock(lines []string) string {
	var all []string
	for _, line := range lines {
		if line = strings.TrimPrefix(strings.TrimSpace(line), "$ "); line == "" {
			continue
		}
		if !isCommand(line) {
			return ""
		}
		all = append(all, "`"+line+"`")
	}
	return strings.Join(all, " and ")
}

func isNotToDo(title string) bool { return negates(title) || notToDo.in(title) }

// withoutComments returns lines without the comments of HTML.
func (d *document) withoutComments(begin, end int) []string {
	blank := func(found string) string {
		return strings.Map(func(r rune) rune {
			if r == '\n' {
				return r
			}
			return ' '
		}, found)
	}
	var lines []string
	for i := begin; i < end; i++ {
		lines = append(lines, strings.TrimRight(d.lineText(i), " \r\n"))
	}
	return strings.Split(comment.compiled().ReplaceAllStringFunc(strings.Join(lines, "\n"), blank), "\n")
}

// lineText returns a line as it is written.
func (d *document) lineText(i int) string {
	end := len(d.source)
	if i+1 < len(d.starts) {
		end = d.starts[i+1]
	}
	return string(d.source[d.starts[i]:end])
}

func joined(lines []sentence) string {
	var all []string
	for _, l := range lines {
		all = append(all, l.text)
	}
	return strings.Join(all, " ")
}

var (
	sentenceEnd = pattern{text: `[.!?]["'”’)*_]*\s+`}
	short       = pattern{text: `(?i)(?:^|[\s(])(?:e\.g|i\.e|vs|cf|approx|incl|etc|sec|fig|dr|mr|mrs|ms|no|bzw|ca|z\. ?b)\.\s+$|` +
		`(?:^|\s)\d+\.\s+$`}
)

// sentencesOf returns the sentences of lines that belong together, with the line in which each begins. A dot within code ends none.
func sentencesOf(lines []sentence) (all []sentence) {
	var text strings.Builder
	var starts []int
	for _, l := range lines {
		if text.Len() > 0 {
			text.WriteByte(' ')
		}
		starts = append(starts, text.Len())
		text.WriteString(l.text)
	}
	whole := text.String()
	masked := codeSpan.compiled().ReplaceAllStringFunc(whole, func(span string) string { return strings.Repeat("`", len(span)) })
	from := 0
	add := func(to int) {
		said := strings.TrimSpace(whole[from:to])
		if said != "" {
			at := slices.IndexFunc(starts, func(start int) bool { return start > from })
			if at < 0 {
				at = len(starts)
			}
			all = append(all, sentence{text: said, line: lines[at-1].line})
		}
		from = to
	}
	for _, end := range sentenceEnd.compiled().FindAllStringIndex(masked, -1) {
		if !short.in(masked[from:end[1]]) {
			add(end[1])
		}
	}
	add(len(whole))
	return all
}
