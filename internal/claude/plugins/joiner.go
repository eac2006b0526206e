package plugins

import "unicode"

// The characters that join, separate or change their neighbours, and cannot be seen themselves.
const (
	nonJoiner = '\u200C'
	joiner    = '\u200D'
	asEmoji   = '\uFE0F' // shows the character before it as an emoji
)

// withoutJoiners returns the name of a folder without the joiners that the client accepts in it
// (measured with 2.1.329, fact 177): between letters of an Arabic script of which the first joins
// the second, behind the virama of an Indic script, and in emoji.
func withoutJoiners(name string) string {
	var kept []rune
	letters := []rune(name)
	for i, r := range letters {
		isEmoji := r == asEmoji && i > 0 && !isWord(letters[i-1])
		if !isEmoji && (r != joiner && r != nonJoiner || !joins(letters[:i], r, letters[i+1:])) {
			kept = append(kept, r)
		}
	}
	return string(kept)
}

func joins(before []rune, r rune, after []rune) bool {
	if len(before) == 0 || len(after) == 0 {
		return false
	}
	last, next := before[len(before)-1], after[0]
	switch {
	case isVirama(last):
		return unicode.IsLetter(next)
	case r == joiner: // of an emoji
		return !isWord(last) && !isWord(next)
	}
	for len(before) > 1 && unicode.Is(unicode.Mn, before[len(before)-1]) {
		before = before[:len(before)-1]
	}
	return unicode.Is(joinsNext, before[len(before)-1]) && unicode.Is(unicode.Arabic, next) && unicode.IsLetter(next)
}

func isVirama(r rune) bool {
	return r == '\u0DCA' || '\u0900' <= r && r <= '\u0D7F' && r&0x7F == 0x4D
}

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) && r != '\uFE0F'
}

// joinsNext are the letters of the blocks Arabic and Arabic Supplement with the Joining_Type D of Unicode.
var joinsNext = &unicode.RangeTable{R16: []unicode.Range16{
	{0x0620, 0x0620, 1}, {0x0626, 0x0626, 1}, {0x0628, 0x0628, 1}, {0x062A, 0x062E, 1}, {0x0633, 0x063F, 1}, {0x0641, 0x0647, 1},
	{0x0649, 0x064A, 1}, {0x066E, 0x066F, 1}, {0x0678, 0x0687, 1}, {0x069A, 0x06BF, 1}, {0x06C1, 0x06C2, 1}, {0x06CC, 0x06CC, 1},
	{0x06CE, 0x06CE, 1}, {0x06D0, 0x06D1, 1}, {0x06FA, 0x06FC, 1}, {0x06FF, 0x06FF, 1}, {0x0750, 0x0758, 1}, {0x075C, 0x076A, 1},
	{0x076D, 0x0770, 1}, {0x0772, 0x0772, 1}, {0x0775, 0x0777, 1}, {0x077A, 0x077F, 1},
}}
