package jsregex

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
)

// parser reads a pattern and makes its matcher. back is passed down within a lookbehind.
type parser struct {
	text    []uint16
	at      int
	groups  int                     // all groups that capture, which decides what \1 means before they are read
	named   bool                    // whether a group has a name, which decides what \k means
	opened  int                     // groups that were read
	names   map[string][]namedGroup // the groups that have a name
	forward []reference             // \k<name>, checked at the end: the group may come later

	isNew bool // modifiers, and one name for groups in different alternatives
	modifiers
	within       []alternative // what contains the place that is read
	disjunctions int           // that were read
}

// namedGroup is a group, from 0, and the alternatives that contain it.
type namedGroup struct {
	group  int
	within []alternative
}

// alternative is one of a disjunction, by their numbers.
type alternative struct{ disjunction, index int }

// excludes reports whether two places are in different alternatives of one disjunction.
func excludes(a, b []alternative) bool {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i].disjunction == b[i].disjunction
		}
	}
	return false
}

// modifiers are what a group (?ims-ims:x) changes.
type modifiers struct{ ignoreCase, multiline, dotAll bool }

type reference struct {
	name   string
	groups *[]namedGroup
}

func (p *parser) fail(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrSyntax, fmt.Sprintf(format, args...))
}

// countGroups looks ahead for the groups that capture.
func (p *parser) countGroups() {
	inClass := false
	for i := 0; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case '[':
			inClass = true
		case ']':
			inClass = false
		case '(':
			rest := p.text[i+1:]
			switch named := hasPrefix(rest, "?<") && !hasPrefix(rest, "?<=") && !hasPrefix(rest, "?<!"); {
			case inClass:
			case named:
				p.named = true
				p.groups++
			case !hasPrefix(rest, "?"):
				p.groups++
			}
		}
	}
}

func hasPrefix(text []uint16, prefix string) bool {
	for i, c := range []byte(prefix) {
		if i >= len(text) || text[i] != uint16(c) {
			return false
		}
	}
	return true
}

// next reads prefix if it comes next.
func (p *parser) next(prefix string) bool {
	if !hasPrefix(p.text[p.at:], prefix) {
		return false
	}
	p.at += len(prefix)
	return true
}

func (p *parser) ended() bool { return p.at == len(p.text) }

func (p *parser) pattern() (matcher, error) {
	p.names = map[string][]namedGroup{}
	m, err := p.disjunction(false)
	if err != nil {
		return nil, err
	}
	if !p.ended() {
		return nil, p.fail("unmatched )")
	}
	for _, r := range p.forward {
		if *r.groups = p.names[r.name]; *r.groups == nil {
			return nil, p.fail("no group has the name %q", r.name)
		}
	}
	return m, nil
}

// disjunction reads up to the end of the pattern or of the group.
func (p *parser) disjunction(back bool) (matcher, error) {
	var alternatives []matcher
	p.disjunctions++
	number, outside := p.disjunctions, p.within
	defer func() { p.within = outside }()
	for {
		p.within = append(slices.Clip(outside), alternative{number, len(alternatives)})
		var parts []matcher
		for !p.ended() && p.text[p.at] != '|' && p.text[p.at] != ')' {
			m, err := p.term(back)
			if err != nil {
				return nil, err
			}
			parts = append(parts, m)
		}
		alternatives = append(alternatives, sequence(parts, back))
		if !p.next("|") {
			return either(alternatives), nil
		}
	}
}

// atom is a part of a pattern that a quantifier may follow.
type atom struct {
	matcher
	single *set
	fixed  bool // no quantifier may follow
}

func (p *parser) term(back bool) (matcher, error) {
	first := p.opened
	a, err := p.atom(back)
	if err != nil {
		return nil, err
	}
	min, max, ok, err := p.quantifier()
	if err != nil || !ok {
		return a.matcher, err
	}
	if a.fixed {
		return nil, p.fail("nothing to repeat")
	}
	r := repeat{inner: a.matcher, single: a.single, min: min, max: max, lazy: p.next("?"), back: back, first: first, last: p.opened}
	return r.matcher(), nil
}

// quantifier reads a quantifier, without the "?" of a lazy one. max is -1 if there is none.
func (p *parser) quantifier() (min, max int, ok bool, err error) {
	switch {
	case p.next("*"):
		return 0, -1, true, nil
	case p.next("+"):
		return 1, -1, true, nil
	case p.next("?"):
		return 0, 1, true, nil
	}
	min, max, ok = p.braces()
	if max >= 0 && max < min {
		err = p.fail("{%d,%d} has its numbers out of order", min, max)
	}
	return min, max, ok, err
}

// braces reads {n}, {n,} or {n,m}. Anything else in braces is text.
func (p *parser) braces() (min, max int, ok bool) {
	start := p.at
	if p.next("{") {
		if min, ok = p.number(); ok {
			max = min
			if p.next(",") {
				if max, ok = p.number(); !ok {
					max = -1
				}
			}
			if p.next("}") {
				return min, max, true
			}
		}
	}
	p.at = start
	return 0, 0, false
}

// number reads a number; one that is too large for the machine counts as the largest.
func (p *parser) number() (n int, ok bool) {
	for ; !p.ended() && isDigit(p.text[p.at]); p.at++ {
		ok = true
		if n = n*10 + int(p.text[p.at]-'0'); n > math.MaxInt32 {
			n = math.MaxInt32
		}
	}
	return n, ok
}

func (p *parser) atom(back bool) (atom, error) {
	switch {
	case p.next("^"):
		return atom{matcher: where(p.start()), fixed: true}, nil
	case p.next("$"):
		return atom{matcher: where(p.end()), fixed: true}, nil
	case p.next(`\b`):
		return atom{matcher: where(atBoundary), fixed: true}, nil
	case p.next(`\B`):
		return atom{matcher: where(func(in []uint16, at int) bool { return !atBoundary(in, at) }), fixed: true}, nil
	case p.next("."):
		if p.dotAll {
			return units(set{not: true}, back), nil
		}
		return units(notNewline(), back), nil
	case p.next("("):
		return p.group(back)
	case p.next("["):
		s, err := p.class()
		return p.units(s, back), err
	case p.next(`\`):
		return p.escape(back)
	}
	c := p.text[p.at]
	if slices.Contains([]uint16{'*', '+', '?'}, c) {
		return atom{}, p.fail("nothing to repeat")
	}
	if _, _, ok := p.braces(); ok {
		return atom{}, p.fail("nothing to repeat")
	}
	p.at++
	return p.units(unit(c), back), nil
}

// units is the function units under the modifiers.
func (p *parser) units(s set, back bool) atom {
	s.anyCase = p.ignoreCase
	return units(s, back)
}

func (m modifiers) start() func(input []uint16, at int) bool {
	if m.multiline {
		return func(in []uint16, at int) bool { return at == 0 || !notNewline().has(in[at-1]) }
	}
	return atStart
}

func (m modifiers) end() func(input []uint16, at int) bool {
	if m.multiline {
		return func(in []uint16, at int) bool { return at == len(in) || !notNewline().has(in[at]) }
	}
	return atEnd
}

func units(s set, back bool) atom { return atom{matcher: one(s, back), single: &s} }

// group reads what is behind "(".
func (p *parser) group(back bool) (atom, error) {
	a, open, outside := atom{}, p.at, p.modifiers
	defer func() { p.modifiers = outside }()
	var wrap func(matcher) matcher
	switch {
	case p.next("?:"):
		wrap = func(m matcher) matcher { return m }
	case p.next("?="):
		wrap, back = func(m matcher) matcher { return look(m, true) }, false
	case p.next("?!"):
		wrap, back = func(m matcher) matcher { return look(m, false) }, false
	case p.next("?<="):
		wrap, back, a.fixed = func(m matcher) matcher { return look(m, true) }, true, true
	case p.next("?<!"):
		wrap, back, a.fixed = func(m matcher) matcher { return look(m, false) }, true, true
	case p.next("?<"):
		name, err := p.name()
		if err != nil {
			return a, err
		}
		if slices.ContainsFunc(p.names[name], func(g namedGroup) bool { return !p.isNew || !excludes(g.within, p.within) }) {
			return a, p.fail("two groups have the name %q", name)
		}
		p.names[name] = append(p.names[name], namedGroup{p.opened, slices.Clone(p.within)})
		wrap = p.captures(back)
	case p.isNew && p.modify():
		wrap = func(m matcher) matcher { return m }
	case p.next("?"):
		return a, p.fail("invalid group %q", string(utf16.Decode(p.text[open-1:min(open+2, len(p.text))])))
	default:
		wrap = p.captures(back)
	}
	inner, err := p.disjunction(back)
	if err != nil {
		return a, err
	}
	if !p.next(")") {
		return a, p.fail("a group is not closed")
	}
	a.matcher = wrap(inner)
	return a, nil
}

// modify reads ?ims-ims: and applies it. It reads nothing if there are no modifiers.
func (p *parser) modify() bool {
	m := regexp.MustCompile(`^\?([ims]*)(-[ims]*)?:`).FindStringSubmatch(string(utf16.Decode(p.text[p.at:])))
	if m == nil {
		return false
	}
	all := m[1] + strings.TrimPrefix(m[2], "-")
	for _, letter := range "ims" {
		if strings.Count(all, string(letter)) > 1 {
			return false
		}
	}
	if all == "" {
		return false
	}
	p.at += len(m[0])
	for letter, on := range map[string]*bool{"i": &p.ignoreCase, "m": &p.multiline, "s": &p.dotAll} {
		if strings.Contains(all, letter) {
			*on = strings.Contains(m[1], letter)
		}
	}
	return true
}

// captures returns what makes the matcher of the next group that captures.
func (p *parser) captures(back bool) func(matcher) matcher {
	i := p.opened
	p.opened++
	return func(m matcher) matcher { return capturing(i, m, back) }
}

// name reads the name of a group and the ">" behind it.
func (p *parser) name() (string, error) {
	var name strings.Builder
	for text := utf16.Decode(p.text[p.at:]); ; {
		if len(text) == 0 {
			return "", p.fail("the name of a group is not closed")
		}
		c, length := text[0], 1
		if c == '>' && name.Len() > 0 {
			p.at++
			return name.String(), nil
		}
		if c == '\\' {
			c, length = escapedRune(text[1:])
			length++
		}
		if !isNamePart(c, name.Len() == 0) {
			return "", p.fail("invalid name of a group")
		}
		name.WriteRune(c)
		p.at += len(utf16.Encode(text[:length]))
		text = text[length:]
	}
}

// escapedRune returns the character of \uXXXX, of two of them, or of \u{X…}, without the backslash
// and how long the escape is. It is 0 if there is none.
func escapedRune(text []rune) (c rune, length int) {
	if len(text) > 2 && text[0] == 'u' && text[1] == '{' {
		for i, digit := range text[2:] {
			if digit == '}' && i > 0 && c <= unicode.MaxRune {
				return c, i + 3
			}
			v, ok := hexValue(digit)
			if c = c<<4 | v; !ok || c > unicode.MaxRune {
				return 0, 1
			}
		}
		return 0, 1
	}
	c, ok := fourDigits(text)
	if !ok {
		return 0, 1
	}
	if len(text) > 6 && text[5] == '\\' {
		if low, ok := fourDigits(text[6:]); ok && utf16.DecodeRune(c, low) != unicode.ReplacementChar {
			return utf16.DecodeRune(c, low), 11
		}
	}
	return c, 5
}

func fourDigits(text []rune) (c rune, ok bool) {
	if len(text) < 5 || text[0] != 'u' {
		return 0, false
	}
	for _, digit := range text[1:5] {
		v, ok := hexValue(digit)
		if !ok {
			return 0, false
		}
		c = c<<4 | v
	}
	return c, true
}

func hexValue(digit rune) (rune, bool) {
	switch {
	case '0' <= digit && digit <= '9':
		return digit - '0', true
	case 'a' <= digit|0x20 && digit|0x20 <= 'f':
		return digit | 0x20 - 'a' + 10, true
	}
	return 0, false
}

func isNamePart(c rune, first bool) bool {
	if c == '$' || c == '_' || unicode.IsLetter(c) || unicode.In(c, unicode.Nl, unicode.Other_ID_Start) {
		return true
	}
	return !first && (c == 0x200c || c == 0x200d || unicode.In(c, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue))
}

// escape reads what is behind "\" outside a class.
func (p *parser) escape(back bool) (atom, error) {
	if p.ended() {
		return atom{}, p.fail(`\ at the end of the pattern`)
	}
	c := p.text[p.at]
	if s, ok := class(c); ok {
		p.at++
		return p.units(s, back), nil
	}
	if '1' <= c && c <= '9' {
		start := p.at
		if n, _ := p.number(); n <= p.groups {
			return atom{matcher: again(n-1, back, p.ignoreCase)}, nil
		}
		p.at = start
	}
	if c == 'k' && p.named {
		return p.namedReference(back)
	}
	u, err := p.character(false)
	return p.units(unit(u), back), err
}

// namedReference reads \k<name>.
func (p *parser) namedReference(back bool) (atom, error) {
	if !p.next("k<") {
		return atom{}, p.fail(`\k without the name of a group`)
	}
	name, err := p.name()
	groups, anyCase := new([]namedGroup), p.ignoreCase
	p.forward = append(p.forward, reference{name, groups})
	return atom{matcher: func(m *match, at int, next func(int) bool) bool {
		i := slices.IndexFunc(*groups, func(g namedGroup) bool { return m.groups[g.group].from >= 0 })
		return again((*groups)[max(i, 0)].group, back, anyCase)(m, at, next)
	}}, err
}

// character reads the escape of one code unit, without the backslash.
func (p *parser) character(inClass bool) (uint16, error) {
	if p.ended() {
		return 0, p.fail(`\ at the end of the pattern`)
	}
	c := p.text[p.at]
	if letter := slices.Index([]uint16{'t', 'n', 'v', 'f', 'r'}, c); letter >= 0 {
		p.at++
		return uint16('\t' + letter), nil
	}
	switch {
	case c == 'b' && inClass:
		p.at++
		return '\b', nil
	case '0' <= c && c <= '7':
		return p.octal(), nil
	case c == 'x':
		return p.hexadecimal(2), nil
	case c == 'u':
		return p.hexadecimal(4), nil
	case c == 'c':
		return p.control(inClass), nil
	case c == 'k' && p.named:
		return 0, p.fail(`invalid escape \k`)
	}
	p.at++
	return c, nil
}

// octal reads up to three octal digits, of a value of at most 0377.
func (p *parser) octal() (v uint16) {
	for i := 0; i < 3 && !p.ended(); i++ {
		c := p.text[p.at]
		if c < '0' || c > '7' || v*8+c-'0' > 0o377 {
			break
		}
		v = v*8 + c - '0'
		p.at++
	}
	return v
}

// hexadecimal reads a letter and n digits. Without them the letter stands for itself.
func (p *parser) hexadecimal(n int) (v uint16) {
	letter := p.text[p.at]
	p.at++
	if p.at+n > len(p.text) {
		return letter
	}
	for _, c := range p.text[p.at : p.at+n] {
		digit, ok := hexValue(rune(c))
		if !ok {
			return letter
		}
		v = v<<4 | uint16(digit)
	}
	p.at += n
	return v
}

// control reads c and a letter, within a class also a digit or "_". Without them the backslash
// stands for itself, and the c is what comes next.
func (p *parser) control(inClass bool) uint16 {
	if p.at+1 < len(p.text) {
		c := p.text[p.at+1]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if letter || inClass && (c == '_' || isDigit(c)) {
			p.at += 2
			return c % 32
		}
	}
	return '\\'
}

// class reads what is behind "[".
func (p *parser) class() (s set, err error) {
	s.not = p.next("^")
	for !p.next("]") {
		first, single, err := p.classAtom()
		if err != nil {
			return s, err
		}
		start := p.at
		if !p.next("-") || p.ended() || p.text[p.at] == ']' {
			p.at = start
			s.ranges = append(s.ranges, first...)
			continue
		}
		last, alsoSingle, err := p.classAtom()
		switch {
		case err != nil:
			return s, err
		case !single || !alsoSingle: // then the hyphen stands for itself
			s.ranges = slices.Concat(s.ranges, first, last, unit('-').ranges)
		case first[0].first > last[0].first:
			return s, p.fail("a range in a class is out of order")
		default:
			s.ranges = append(s.ranges, unitRange{first[0].first, last[0].first})
		}
	}
	return s, nil
}

// classAtom reads one member of a class. single reports whether it is one code unit.
func (p *parser) classAtom() (ranges []unitRange, single bool, err error) {
	if p.ended() {
		return nil, false, p.fail("a class is not closed")
	}
	c := p.text[p.at]
	p.at++
	if c != '\\' {
		return unit(c).ranges, true, nil
	}
	if !p.ended() {
		if s, ok := class(p.text[p.at]); ok {
			p.at++
			return s.positive(), false, nil
		}
	}
	if c, err = p.character(true); err != nil {
		return nil, false, err
	}
	return unit(c).ranges, true, nil
}
