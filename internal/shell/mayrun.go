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
	if slices.ContainsFunc(r.calls, func(c call) bool { return r.mayBe(c, program, rest) }) {
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

// mayBe reports whether a command may be one of the program with these words among its own; but not if it plainly begins with them.
func (r Reading) mayBe(c call, program string, rest []string) bool {
	if strings.EqualFold(path.Base(c.words[0]), program+"-"+strings.Join(rest, "-")) {
		return true
	}
	for i, word := range c.words {
		base := strings.TrimSuffix(path.Base(word), ".exe")
		switch {
		case i > 0 && c.harmless:
			return false
		case !couldBe(base, program):
			continue
		case i == 0:
			return r.isOne(c, program, rest)
		case among(c.words[i+1:], rest, literal(base) != ""):
			return true
		}
	}
	return false
}

// isOne is mayBe for a command whose program is the one.
func (r Reading) isOne(c call, program string, rest []string) bool {
	behind := c.words[1:]
	if c.words[0] == "git" {
		behind = c.words[min(subcommand(c.words), len(c.words)):]
		if c.harmless && len(rest) > 0 && behind[0] != rest[0] {
			return false
		}
	}
	if len(behind) == len(c.words)-1 && len(behind) >= len(rest) && slices.Equal(behind[:len(rest)], rest) &&
		path.Base(c.words[0]) == program {
		return false
	}
	if among(behind, rest, literal(c.words[0]) != "") {
		return true
	}
	values := plain().Replace(strings.Join(r.values, "\n"))
	return strings.Contains(strings.Join(behind, ""), made) &&
		!slices.ContainsFunc(rest, func(word string) bool { return !stands(word, values) })
}

// among reports whether words may have others among them, in their order. known is whether something of what they stand for is
// known already; else one of these words has to be known in part.
func among(words, wanted []string, known bool) bool {
	for i, word := range words {
		if len(wanted) == 0 {
			break
		}
		isValue := i > 0 && strings.HasPrefix(words[i-1], "-") && literal(word) == ""
		if couldBe(word, wanted[0]) && !isValue {
			wanted, known = wanted[1:], known || literal(word) != ""
		}
	}
	return len(wanted) == 0 && known
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
