package shell

import (
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"
)

// errPowerShell is the doubt about a line of PowerShell that is more than simple commands.
var errPowerShell = errors.New("it is more than simple commands of PowerShell")

// LookPowerShell reads a line of PowerShell. Simple commands, which ; | && || and lines separate, are understood, with words of which
// everything is known but for variables. Of any other line the commands are guessed, and an error is returned with them: by
// MayRun it may run what it has the words of, and everything if it runs a text that it computes.
func LookPowerShell(line string) (Reading, error) {
	r := Reading{}
	reader := powerShell{text: []rune(unescapedInPowerShell(line))}
	reader.read()
	l := &looker{Reading: &r, sets: map[string]bool{}}
	for _, words := range reader.commands {
		named := slices.Clone(words)
		named[0] = programIn(words[0])
		c := call{words: named, own: len(named), harmless: l.isHarmless(named)}
		r.calls = append(r.calls, c)
		r.Commands = append(r.Commands, words, named)
		if !c.harmless {
			r.texts = append(r.texts, words...)
		}
	}
	if !reader.simple {
		r.err = errPowerShell
		r.texts = append(r.texts, string(reader.text))
	}
	r.computed = (!reader.simple || reader.varies) && computes(string(reader.text))
	return r, r.err
}

// FromPowerShell returns the line for a POSIX shell with the same commands, if the line has simple commands only, and nothing that is
// computed; else the line.
func FromPowerShell(line string) string {
	reader := powerShell{text: []rune(unescapedInPowerShell(line))}
	if reader.read(); !reader.simple || reader.varies {
		return line
	}
	lines := make([]string, len(reader.commands))
	for i, words := range reader.commands {
		lines[i] = Join(words...)
	}
	return strings.Join(lines, "; ")
}

// programIn returns the name of the program of a path, as another shell would call it.
func programIn(word string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(word, `\`, "/")))
	for _, end := range []string{".exe", ".cmd", ".bat", ".com"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

// computes reports whether a line runs a text, or a program, that it computes.
func computes(line string) bool {
	return regexp.MustCompile(`(?i)\b(iex|invoke-expression|scriptblock|invokescript)\b|\s-e(c|nc|ncodedcommand)?\s|` +
		`(^|[;|&{(=\n])\s*[&.]\s*[$("]`).MatchString(line)
}

// unescapedInPowerShell returns a line with plain quotes and dashes for those that PowerShell takes for them, without its escapes.
func unescapedInPowerShell(line string) string {
	return strings.NewReplacer("\r\n", "\n", "`\r\n", " ", "`\n", " ", "`", "", "\u2018", "'", "\u2019", "'", "\u201a", "'", "\u201b", "'",
		"\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "\u2013", "-", "\u2014", "-", "\u2015", "-").Replace(line)
}

// powerShell splits a line into commands and words.
type powerShell struct {
	text     []rune
	at       int
	commands [][]string
	words    []string
	simple   bool
	varies   bool // it has a variable
}

func (p *powerShell) read() {
	for p.simple = true; p.at < len(p.text); {
		switch c := p.text[p.at]; {
		case c == '&' && len(p.words) == 0 && !p.follows('&'): // calls what is quoted behind it
			p.at++
		case strings.ContainsRune(";|&\n", c):
			p.simple = p.simple && (c != '&' || p.follows('&') || p.at > 0 && p.text[p.at-1] == '&')
			p.end()
		case strings.ContainsRune("(){}", c):
			p.simple = false
			p.end()
		case c == ' ' || c == '\t':
			p.at++
		default:
			p.words = append(p.words, p.word())
		}
	}
	p.end()
}

func (p *powerShell) follows(c rune) bool { return p.at+1 < len(p.text) && p.text[p.at+1] == c }

// end ends a command.
func (p *powerShell) end() {
	if p.at++; len(p.words) > 0 {
		p.commands = append(p.commands, p.words)
	}
	p.words = nil
}

// word reads a word, with Unknown in the place of a variable.
func (p *powerShell) word() string {
	var b strings.Builder
	quote := rune(0)
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote && p.follows(quote):
			p.at++
			b.WriteRune(c)
		case c == quote:
			quote = 0
		case c == '$' && quote != '\'':
			b.WriteString(p.variable())
		case quote == 0 && strings.ContainsRune(" \t\n;|&(){}", c):
			return b.String()
		case quote == 0 && strings.ContainsRune("<>@,#", c):
			p.simple = false
			b.WriteRune(c)
		default:
			b.WriteRune(c)
		}
	}
	p.simple = p.simple && quote == 0
	return b.String()
}

// variable reads the name of a variable.
func (p *powerShell) variable() string {
	p.varies = true
	name := 0
	for p.at+1 < len(p.text) && (isNameRune(p.text[p.at+1]) || p.text[p.at+1] == ':') {
		name++
		p.at++
	}
	if name == 0 { // a computed text, or a name in braces
		p.simple = false
	}
	return Unknown
}
