package fsmspec

import (
	"strconv"
	"strings"
)

// maxDigits is how many digits MaxID has.
const maxDigits = 16

// flaw is why a number is no id; the zero flaw is none.
type flaw int

const (
	sound flaw = iota
	notPositive
	notWhole
	tooLarge
)

// integer reads a JSON number as an id, exactly: no spelling of a number goes
// through a float. raw is valid JSON.
func integer(raw string) (int64, flaw) {
	unsigned, negative := strings.CutPrefix(raw, "-")
	digits, exponent := decimal(unsigned)
	switch {
	case digits == "":
		return 0, notPositive
	case exponent < 0:
		return 0, notWhole
	case negative:
		return 0, notPositive
	case len(digits)+exponent > maxDigits:
		return 0, tooLarge
	}
	// At most 16 digits, which an int64 holds.
	n, _ := strconv.ParseInt(digits+strings.Repeat("0", exponent), 10, 64)
	if n > MaxID {
		return 0, tooLarge
	}
	return n, sound
}

// decimal splits a number without a sign into digits times ten to the exponent,
// the digits without a zero at either end. Zero has no digits.
func decimal(number string) (digits string, exponent int) {
	mantissa := number
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		mantissa, exponent = number[:i], power(number[i+1:])
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	exponent -= len(fraction)
	trimmed := strings.TrimRight(digits, "0")
	return trimmed, exponent + len(digits) - len(trimmed)
}

// power reads an exponent. One that is out of all proportion is cut to a bound
// that no mantissa of a file can bring back.
func power(text string) int {
	const bound = 1 << 30
	n, err := strconv.Atoi(text)
	if err != nil && strings.HasPrefix(text, "-") {
		return -bound
	}
	if err != nil {
		return bound
	}
	return max(-bound, min(n, bound))
}
