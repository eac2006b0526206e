package fsmspec

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// checkUTF8 finds each run of bytes in the string t that is no UTF-8.
func (r *reader) checkUTF8(t token) {
	text := r.data[t.start:t.end]
	wellFormed := true
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRune(text[i:])
		bad := c == utf8.RuneError && size == 1
		if bad && wellFormed {
			r.problem(t.start+i, "invalid UTF-8 (byte 0x%02x) in the string that begins at %s", text[i], r.pos.At(t.start))
		}
		wellFormed = !bad
		i += size
	}
}

// checkSurrogates finds each half of a surrogate pair in the string t whose
// other half is missing: JSON can spell it, UTF-8 cannot hold it.
func (r *reader) checkSurrogates(t token) {
	text := r.data[t.start:t.end]
	for i := 0; i < len(text); {
		step := bytes.IndexByte(text[i:], '\\')
		if step < 0 {
			return
		}
		i += step
		first := unit(text[i:])
		switch {
		case first < 0:
			i += 2
		case isHigh(first) && isLow(unit(text[i+6:])):
			i += 12
		default:
			if isHigh(first) || isLow(first) {
				r.problem(t.start+i, "%s is half of a surrogate pair and cannot be represented without its other half", text[i:i+6])
			}
			i += 6
		}
	}
}

// unit returns the UTF-16 code unit that text begins with an escape of, or -1.
func unit(text []byte) int {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return int(n)
}

func isHigh(unit int) bool { return 0xD800 <= unit && unit < 0xDC00 }
func isLow(unit int) bool  { return 0xDC00 <= unit && unit < 0xE000 }
