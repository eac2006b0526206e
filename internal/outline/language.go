package outline

import (
	"slices"
	"strings"
	"unicode"
)

// wordsOfEnglish are common in English, and are words of none of the languages beside which it may stand.
var wordsOfEnglish = strings.Fields(`the and to with from this that these those it its it's you your are be been being each every when if
	must should not then before until which what who how there they them their only without never always don't than into may will would could
	our some other more new use write read make keep between because while where here both another also please cannot can't isn't yourself
	nobody anything everything nothing about does doing work works changes tests small short are there needed required approval approved
	fails failed failures passes user users step steps phase item`)

// forbidding are words with which other languages forbid.
var forbidding = pattern{text: `(?i)(?:^|\s)(?:nicht|kein\p{L}*|niemals|nie|nein|ne|pas|sans|jamais|aucune?|nunca|sin|nada|niet|` +
	`nooit|geen|non|mai|senza|não|sem|ikke|inte|aldrig|aldri|nigdy|bez)(?:\s|[.,;:!?]|$)`}

var address = pattern{text: `\]\([^)]*\)|https?://\S+|<[^>]*>`}

// isForeign reports whether a sentence is of a language that is not known here: in another script, with a word that forbids in another
// language, or without any word of English. A name is of no language.
func isForeign(s sentence) bool {
	text := address.without(withoutCode(s.text))
	if s.code && !remark.in(s.text) {
		return false
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) }) || forbidding.in(text) {
		return true
	}
	words := wordInText.compiled().FindAllString(strings.ReplaceAll(text, "`x`", ""), -1)
	isName := func(w string) bool { return strings.ToLower(w) != w || strings.Trim(w, "0123456789") == "" }
	least := 3
	if s.isTitle || s.isFront || strings.Contains(text, "|") {
		least = 4
	}
	if len(words) < least || !slices.ContainsFunc(words, func(w string) bool { return !isName(w) }) || isImperative(text) {
		return false
	}
	return !slices.ContainsFunc(words, func(w string) bool {
		w = strings.ToLower(w)
		return slices.Contains(wordsOfEnglish, w) || strings.HasSuffix(w, "ing") && len(w) > 5 || slices.Contains(plainTitles, w)
	})
}
