package rules

import (
	"slices"
	"strings"
	"unicode"
)

// stopWords returns words that ask to stop, in several languages. It leaves out words that
// at the beginning of a message mean something else at least as often, such as the Spanish
// "para", which is also "for".
func stopWords() []string {
	return strings.Fields(`
		stop cancel pause halt quit abort exit
		stopp abbrechen abbruch anhalten aufhören pausiere pausieren
		arrête arrêtez arrêter annule annulez annuler
		detente deténgase detén parar cancela cancelar cancele pausa basta aborta abortar
		pare fermati fermatevi fermare annulla interrompi interrompere
		stoppen annuleer annuleren ophouden
		zatrzymaj przestań anuluj przerwij
		стоп остановись остановитесь остановить отмена отмени отменить хватит прекрати пауза
		стій зупинись зупинитися скасувати
		dur durdur iptal
		توقف قف إلغاء أوقف
		रुको रुकिए
		停止 停下 停一下 取消 暂停 暫停 中止 住手
		ストップ 止めて やめて 中止して 中断 一時停止 キャンセル
		중지 멈춰 그만 취소 정지`)
}

// stopBefore returns the words that may come before a stop word in a request: words of
// politeness, and words about who wants to stop, and when.
func stopBefore() []string {
	return strings.Fields(`
		please ok okay alright right hey hi hello so well yes yeah no nope now just then and but actually sorry oh wait thanks thank you
		i i'd i'll i'm we we'd we'll we're let let's lets us me want wanted would like could can may should must need needs have has to think said say told
		time it it's is that's that this fine good great better rather enough more for today the moment at claude everyone all immediately simply
		bitte jetzt sofort danke hör auf
		s'il vous te plaît merci maintenant
		por favor ahora ya gracias
		per favore ora grazie adesso
		пожалуйста сейчас
		proszę alsjeblieft nu lütfen`)
}

// stopAfter returns the words that may follow a stop word in the middle of a message. They
// do not name anything else that is to be stopped, such as a server.
func stopAfter() []string {
	return strings.Fields(`
		please now here there it this that the a plan planning workflow work working task tasks session everything all
		immediately right away today for moment at once already thanks thank you ok okay and but wait claude we i i'll we'll can will continue resume go on tomorrow later again
		jetzt hier sofort bitte damit das alles maintenant ici tout ahora aquí todo ora qui tutto сейчас`)
}

// requested reports whether a message asks to stop: it begins with a stop word, or stopping
// is all that it asks for. "please stop here without finishing the plan" does, "an app that
// helps people quit" does not.
func (s StopWords) requested(text string) bool {
	words := wordsOf(text)
	if len(words) == 0 {
		return false
	}
	if s.isStop(words[0]) || s.hasUnspacedPrefix(text) {
		return true
	}
	found := false
	for _, sentence := range sentences(text) {
		switch {
		case s.isRequest(sentence):
			found = true
		case !isRemark(sentence):
			return false
		}
	}
	return found
}

// hasUnspacedPrefix reports whether a text begins with a stop word of a language without
// spaces between words.
func (s StopWords) hasUnspacedPrefix(text string) bool {
	text = strings.TrimSpace(text)
	return slices.ContainsFunc(s.Words, func(word string) bool {
		return strings.ContainsFunc(word, unspaced) && strings.HasPrefix(text, word)
	})
}

func (s StopWords) isStop(word string) bool { return containsFold(s.Words, word) }

// isRequest reports whether a sentence is a request to stop and nothing else: words of
// Before, a stop word, and words of After up to the end or to a clause.
func (s StopWords) isRequest(sentence string) bool {
	words := wordsOf(sentence)
	at := slices.IndexFunc(words, s.isStop)
	if at < 0 || slices.ContainsFunc(words[:at], func(w string) bool { return !containsFold(s.Before, w) }) {
		return false
	}
	if strings.HasSuffix(strings.TrimSpace(sentence), "?") && !asksSomebody(words[:at]) {
		return false
	}
	for _, word := range words[at+1:] {
		if slices.Contains(clauses, word) {
			return true
		}
		if !containsFold(s.After, word) && !s.isStop(word) {
			return false
		}
	}
	return true
}

// clauses are the first words of clauses that say how, when or why to stop, and not what.
var clauses = []string{"without", "before", "until", "because", "since", "as", "instead", "if", "so", "then", "don't", "ohne", "bevor", "bis", "weil", "sans", "avant", "sin", "antes", "senza", "prima"}

// asksSomebody reports whether a question with these first words asks somebody to do
// something: "could you …", "please …".
func asksSomebody(before []string) bool {
	return slices.Contains(before, "please") || slices.Contains(before, "you") || slices.Contains(before, "bitte")
}

// isRemark reports whether a sentence is not a request of its own.
func isRemark(sentence string) bool {
	words := wordsOf(sentence)
	return len(words) == 0 || slices.Contains(remarks, words[0])
}

// remarks are first words of sentences that are not requests.
var remarks = []string{"i", "i'm", "i've", "we", "we're", "it", "it's", "its", "that", "that's", "this", "thanks", "thank", "ok", "okay", "no", "yes", "sorry", "great", "good", "fine", "enough", "well", "hi", "hey", "hello", "danke", "merci", "gracias", "grazie"}

// sentences splits a text after punctuation marks that end a sentence, and after line
// feeds.
func sentences(text string) []string {
	var all []string
	start := 0
	for i, r := range text {
		if strings.ContainsRune(".!?。！？\n", r) {
			all = append(all, text[start:i+len(string(r))])
			start = i + len(string(r))
		}
	}
	return append(all, text[start:])
}

// wordsOf returns the words of a text in lower case. Combining marks and apostrophes are
// parts of words.
func wordsOf(text string) []string {
	text = strings.ToLower(strings.ReplaceAll(text, "’", "'"))
	words := strings.FieldsFunc(text, func(r rune) bool {
		return notWordRune(r) && !unicode.Is(unicode.M, r) && r != '\''
	})
	for i := range words {
		words[i] = strings.Trim(words[i], "'")
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

// unspaced reports whether a letter belongs to a script that is written without spaces
// between words, or that attaches endings to them (Hangul).
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func containsFold(list []string, word string) bool {
	return slices.ContainsFunc(list, func(w string) bool { return strings.EqualFold(w, word) })
}
