package turn

import (
	"slices"
	"strconv"
	"strings"
)

// Step is a step of a workflow, as a person may name it.
type Step struct {
	ID      int64  // number in the list: "#42"
	Local   int64  // number in the workflow: "step 2"
	Subject string // "Write the tests"
}

// Part returns the steps to which a message limits the work: "only steps 1 and 2", "just the
// first step", "up to step 3", "stop after #42", "everything except step 5", `only "Write the
// tests"`. It returns false for a message that sets no limit, or a conditional one.
func Part(message string, all []Step) (asked []Step, limited bool) {
	for _, s := range sentences(message) {
		if asked, limited = s.part(all); limited {
			return asked, true
		}
	}
	return nil, false
}

// sentence is the words of a sentence, with "#" and ranges of numbers as words.
type sentence []string

func sentences(message string) (all []sentence) {
	begin := 0
	text := strings.NewReplacer("#", " number ", "-", " to ", "–", " to ").Replace(withoutCode(message))
	cut := func(end int) {
		if words := WordsOf(text[begin:end]); len(words) > 0 {
			all = append(all, words)
		}
		begin = end
	}
	for i, r := range text {
		if r != ',' && r != '、' && splits(text, i, i+len(string(r)), r) {
			cut(i)
		}
	}
	cut(len(text))
	return all
}

func (s sentence) has(words set) bool { return s.index(words) >= 0 }

func (s sentence) index(words set) int { return slices.IndexFunc(s, words.has) }

func (s sentence) part(all []Step) ([]Step, bool) {
	named, at := s.named(all)
	if len(named) == 0 || s.has(whens) && !s.has(stopping) {
		return nil, false
	}
	lead := s[:at]
	stop := s.index(stopping)
	switch {
	case s.has(exceptions) && !lead.has(onlys):
		return slices.DeleteFunc(slices.Clone(all), func(x Step) bool { return slices.Contains(named, x) }), true
	case s.has(negations):
		return nil, false
	case stop >= 0 && stop < at && s.has(befores):
		return all[:slices.Index(all, named[0])], true
	case stop >= 0 && stop < at || lead.has(throughs):
		return all[:slices.Index(all, named[len(named)-1])+1], true
	case stop >= 0, s.has(onlys):
		return named, true
	}
	return nil, false
}

// named returns the steps that the sentence names, in the order of the workflow, and where
// it names the first of them.
func (s sentence) named(all []Step) (named []Step, at int) {
	at = len(s)
	found := func(i int, steps ...Step) {
		if len(steps) > 0 {
			named, at = append(named, steps...), min(at, i)
		}
	}
	for i, word := range s {
		switch {
		case word == "number":
			found(i, s.numbered(i+1, all, func(x Step) int64 { return x.ID })...)
		case isNoun(word) && i > 0 && ordinal(s[i-1]) != 0:
			found(i-1, nth(all, ordinal(s[i-1]))...)
		case isNoun(word) && i > 1 && number(s[i-1]) > 0 && ordinal(s[i-2]) == 1:
			found(i-2, all[:min(number(s[i-1]), int64(len(all)))]...) // "the first two steps"
		case isNoun(word):
			found(i, s.numbered(i+1, all, func(x Step) int64 { return x.Local })...)
		}
	}
	text := " " + strings.Join(s, " ") + " "
	for _, x := range all {
		words := WordsOf(strings.NewReplacer("#", " number ", "-", " to ", "–", " to ").Replace(x.Subject))
		if before, _, ok := strings.Cut(text, " "+strings.Join(words, " ")+" "); ok && len(words) > 0 {
			found(len(strings.Fields(before)), x)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(x Step) bool { return !slices.Contains(named, x) }), at
}

// numbered returns the steps with the numbers from s[i] on: "1", "1 and 3", "1 to 3".
func (s sentence) numbered(i int, all []Step, numberOf func(Step) int64) (named []Step) {
	var last int64
	var span bool
	for ; i < len(s); i++ {
		n := number(s[i])
		switch {
		case s[i] == "number" || joins.has(s[i]):
			continue
		case spans.has(s[i]) && last > 0:
			span = true
			continue
		case n == 0:
			return named
		}
		for _, x := range all {
			if k := numberOf(x); k == n || span && k > last && k < n {
				named = append(named, x)
			}
		}
		last, span = n, false
	}
	return named
}

// nth returns step n of all, counted from 1, or from the end if n is negative.
func nth(all []Step, n int) []Step {
	if n < 0 {
		n += len(all) + 1
	}
	if n < 1 || n > len(all) {
		return nil
	}
	return all[n-1 : n]
}

// number returns the number that a word is, 0 if it is none.
func number(word string) int64 {
	for i, names := range []set{" one eins ein eine un une uno una один ", " two zwei deux dos due два ",
		" three drei trois tres tre три ", " four vier quatre cuatro ", " five fünf cinq cinco ", " six sechs seis "} {
		if names.has(word) {
			return int64(i + 1)
		}
	}
	n, err := strconv.ParseUint(word, 10, 31)
	if err != nil {
		return 0
	}
	return int64(n)
}

// ordinal returns 1 for "first" and so on, -1 for "last", and 0 for any other word.
func ordinal(word string) int {
	for i, names := range []set{" last letzte letzten letzter dernier dernière último última ", "",
		" first 1st erste ersten erster premier première premières primer primero primera prima primo первый ",
		" second 2nd zweite zweiten zweiter deuxième segundo segunda secondo второй ",
		" third 3rd dritte dritten dritter troisième tercer tercero tercera terzo третий "} {
		if names.has(word) {
			return i - 1
		}
	}
	return 0
}

const (
	nouns set = " step steps task tasks schritt schritte schritten aufgabe aufgaben étape étapes tâche tâches paso pasos tarea tareas " +
		"passo passi passos etapa etapas stap stappen шаг шага шаги krok kroki "
	onlys set = " only just solely merely nur lediglich bloß seulement uniquement solo sólo solamente únicamente apenas só somente " +
		"soltanto solamente alleen только tylko "
	throughs   set = " until till through upto up far bis jusqu'à hasta fino até tot до "
	befores    set = " before vor bevor avant antes prima до "
	exceptions set = " except without but skip omit excluding save ohne außer sans sauf sin salvo excepto senza tranne "
	stopping   set = " stop stopp pause halt finish end aufhören anhalten arrête arrêtez detente para fermati pare stoppen остановись "
	whens      set = " if when unless wenn falls si quand cuando se quando если "
	joins      set = " and und et y e и or oder step steps schritt the "
	spans      set = " to through until till bis à a al до "
)

// isNoun reports whether a word is "step" or "task", perhaps with the French article.
func isNoun(word string) bool { return nouns.has(strings.TrimPrefix(word, "l'")) }
