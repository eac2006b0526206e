package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// MayRun reports whether a line may run the command that these words begin, although none of its Commands is that one as it is
// written: the words stand in it where something may run them, or the line runs a text that it computes.
func (r Reading) MayRun(words []string) bool {
	if r.computed || len(words) == 0 {
		return r.computed || r.err != nil
	}
	program, rest := path.Base(words[0]), words[1:]
	if slices.ContainsFunc(r.calls, func(c call) bool { return c.mayBe(program, rest) }) {
		return true
	}
	texts := r.texts
	if r.uses {
		texts = append(slices.Clip(texts), r.values...)
	}
	text := plain().Replace(strings.Join(texts, "\n"))
	return matches(`(?:^|[^\w.-])`+regexp.QuoteMeta(program)+`(?:$|[^\w./-])`, text) &&
		!slices.ContainsFunc(rest, func(word string) bool { return !stands(word, text) })
}

// stands reports whether a word stands in a text.
func stands(word, text string) bool {
	return matches(`(?:^|[^\w./-])`+regexp.QuoteMeta(word)+`(?:$|[^\w.-])`, text)
}

// plain removes the quotes of other languages from a text.
func plain() *strings.Replacer {
	return strings.NewReplacer(`\n`, " ", `\t`, " ", `\0`, " ", `'`, "", `"`, "", `\`, "", "`", " ")
}

func matches(pattern, text string) bool {
	return regexp.MustCompile("(?i)" + pattern).MatchString(text)
}

// mayBe reports whether a command may be one of the program with these words among its own.
func (c call) mayBe(program string, rest []string) bool {
	first := strings.TrimSuffix(path.Base(c.words[0]), ".exe")
	if strings.EqualFold(first, program+"-"+strings.Join(rest, "-")) {
		return true
	}
	if c.harmless && (!couldBe(first, program) || c.isOther(rest)) {
		return false
	}
	known := false // whether something of what they stand for is known
	for n, wanted := range append([]string{program}, rest...) {
		at := slices.IndexFunc(c.words, func(word string) bool {
			return n == 0 && couldBe(strings.TrimSuffix(path.Base(word), ".exe"), wanted) || couldBe(word, wanted)
		})
		if at < 0 {
			return false
		}
		known = known || literal(c.words[at]) != ""
	}
	return known
}

// isOther reports whether the words of git or gh that are known to be harmless name another of its commands.
func (c call) isOther(rest []string) bool {
	at := subcommand(c.words)
	return c.words[0] == "git" && len(rest) > 0 && at < len(c.words) && c.words[at] != rest[0]
}

// literal returns what is known of a word.
func literal(word string) string { return strings.NewReplacer(Unknown, "", made, "").Replace(word) }

// couldBe reports whether a word may be another one, of which everything is known.
func couldBe(word, wanted string) bool {
	if literal(word) == word {
		return strings.EqualFold(word, wanted)
	}
	pattern := strings.NewReplacer(Unknown, ".*", made, ".*").Replace(regexp.QuoteMeta(word))
	return regexp.MustCompile("(?is)^(?:" + pattern + ")$").MatchString(wanted)
}
