package proof

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fsmtx/fsmtx/internal/pattern"
)

// signers are those that a file of allowed signers names, as ssh-keygen reads it (ALLOWED SIGNERS in ssh-keygen(1)).
type signers struct {
	all    []allowed
	faults []string // of lines that ssh-keygen passes over
}

type allowed struct {
	principals string // patterns, separated by commas
	key        ssh.PublicKey
	namespaces *string // patterns, separated by commas; nil for every one
	after      time.Time
	before     time.Time // zero if it has no end
	authority  bool      // the key signs certificates, which are not read here
}

// parseAllowed parses a file of allowed signers. A line that cannot be read is passed over, as ssh-keygen does, and noted.
func parseAllowed(data []byte) (s signers) {
	number := 0
	for line := range bytes.Lines(data) {
		number++
		text := strings.TrimLeft(strings.TrimRight(string(line), "\r\n"), " \t\r")
		if text == "" || text[0] == '#' {
			continue
		}
		a, err := parseSigner(text)
		if err != nil {
			s.faults = append(s.faults, fmt.Sprintf("line %d: %v", number, err))
			continue
		}
		s.all = append(s.all, a)
	}
	return s
}

func parseSigner(text string) (a allowed, err error) {
	rest, ok := "", false
	if a.principals, rest, ok = cutPrincipals(text); !ok {
		return a, errors.New("want principals, options if there are any, and a key")
	}
	if a.key, err = parseKey(rest); err == nil {
		return a, nil
	}
	options, rest, err := cutOptions(rest)
	if err != nil {
		return a, err
	}
	if a.key, err = parseKey(rest); err != nil {
		return a, err
	}
	return a, a.options(options)
}

const blanks = " \t\r\n"

// cutPrincipals cuts off the first word. A part of it may stand in quotes, with blanks; the word ends behind them.
func cutPrincipals(text string) (word, rest string, ok bool) {
	i := strings.IndexAny(text, blanks+`"`)
	if i < 0 {
		return "", "", false
	}
	if word, rest = text[:i], text[i+1:]; text[i] == '"' {
		inside, behind, closed := strings.Cut(rest, `"`)
		if !closed {
			return "", "", false
		}
		word, rest = word+inside, behind
	}
	return word, strings.TrimLeft(rest, blanks), word != ""
}

// cutOptions cuts off the options: up to a blank that is not in quotes.
func cutOptions(text string) (options, rest string, err error) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && strings.HasPrefix(text[i+1:], `"`):
			i++
		case text[i] == '"':
			quoted = !quoted
		case !quoted && (text[i] == ' ' || text[i] == '\t'):
			return text[:i], strings.TrimLeft(text[i:], " \t"), nil
		}
	}
	if quoted {
		return "", "", errors.New("its options have a quote that is not closed")
	}
	return text, "", nil
}

// parseKey parses a type and a key in base64; what is behind them is a comment.
func parseKey(text string) (ssh.PublicKey, error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(words) < 2 || strings.HasPrefix(text, " ") {
		return nil, errors.New("it has no key")
	}
	blob, err := base64.StdEncoding.DecodeString(words[1])
	if err != nil {
		return nil, errors.New("its key is not base64")
	}
	key, err := ssh.ParsePublicKey(blob)
	if err != nil || key.Type() != words[0] {
		return nil, fmt.Errorf("its key is not one of the type %q", words[0])
	}
	return key, nil
}

// options reads the options, which are separated by commas. Their names are in any case.
func (a *allowed) options(text string) (err error) {
	for text != "" {
		name, rest := text, ""
		if i := strings.IndexAny(text, "=,"); i >= 0 {
			name, rest = text[:i], text[i:]
		}
		value := ""
		if strings.HasPrefix(rest, "=") {
			if value, rest, err = dequote(rest[1:]); err != nil {
				return fmt.Errorf("its option %s: %w", name, err)
			}
			name += "="
		}
		if name != "" { // else it is a comma alone
			err = a.option(strings.ToLower(name), value)
		}
		if err != nil {
			return err
		}
		text = ""
		if rest != "" {
			if rest[0] != ',' || rest == "," {
				return fmt.Errorf("its options go on with %q", rest)
			}
			text = rest[1:]
		}
	}
	if !a.after.IsZero() && !a.before.IsZero() && !a.after.Before(a.before) {
		return errors.New("its valid-before is not after its valid-after")
	}
	return nil
}

func (a *allowed) option(name, value string) (err error) {
	twice := false
	switch name {
	case "cert-authority":
		a.authority = true
	case "namespaces=":
		twice, a.namespaces = a.namespaces != nil, &value
	case "valid-after=":
		twice = !a.after.IsZero()
		a.after, err = parseValidity(value)
	case "valid-before=":
		twice = !a.before.IsZero()
		a.before, err = parseValidity(value)
	default:
		return fmt.Errorf("its option %q is unknown", strings.TrimSuffix(name, "="))
	}
	if twice {
		return fmt.Errorf("its option %s stands twice", strings.TrimSuffix(name, "="))
	}
	return err
}

// dequote returns a value in quotes, in which \" is a quote, and what is behind it.
func dequote(text string) (value, rest string, err error) {
	if !strings.HasPrefix(text, `"`) {
		return "", "", errors.New("want a value in quotes")
	}
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '"':
			return value, text[i+1:], nil
		case text[i] == '\\' && strings.HasPrefix(text[i+1:], `"`):
			i++
		}
		value += text[i : i+1]
	}
	return "", "", errors.New("the quote is not closed")
}

// parseValidity parses YYYYMMDD, YYYYMMDDHHMM or YYYYMMDDHHMMSS, in local time or, with Z or UTC, in UTC. As in C a day that the month
// does not have is one of the next month.
func parseValidity(text string) (t time.Time, err error) {
	digits, zone := text, time.Local
	for _, suffix := range []string{"Z", "UTC"} {
		if n := len(text) - len(suffix); n > 0 && strings.EqualFold(text[n:], suffix) {
			digits, zone = text[:n], time.UTC
		}
	}
	bad := fmt.Errorf("want a time such as 20261231 or 202612312359Z, got %q", text)
	if (len(digits) != 8 && len(digits) != 12 && len(digits) != 14) || strings.Trim(digits, "0123456789") != "" {
		return t, bad
	}
	part := func(from, to, least, most int) (n int) {
		if len(digits) >= to {
			n, _ = strconv.Atoi(digits[from:to])
		}
		if len(digits) >= to && (n < least || n > most) {
			err = bad
		}
		return n
	}
	year, month, day := part(0, 4, 0, 9999), part(4, 6, 1, 12), part(6, 8, 1, 31)
	t = time.Date(year, time.Month(month), day, part(8, 10, 0, 23), part(10, 12, 0, 59), part(12, 14, 0, 61), 0, zone)
	if t.Unix() == 0 {
		err = bad
	}
	return t, err
}

// errNotAllowed is returned for a key that no line of the file has.
var errNotAllowed = errors.New("its key is not in the file of allowed signers")

// find returns the principals whose key it is at a time. If the policy names principals, it has to be that of one of them.
func (s signers) find(key ssh.PublicKey, at time.Time, wanted []string) (principals string, err error) {
	err = errNotAllowed
	if len(s.faults) > 0 {
		err = fmt.Errorf("%w, in which lines cannot be read: %s", errNotAllowed, strings.Join(s.faults, "; "))
	}
	at = at.Truncate(time.Second)
	for _, a := range s.all {
		if !bytes.Equal(a.key.Marshal(), key.Marshal()) {
			continue
		}
		switch {
		case a.authority:
			err = errors.New("its key is in the file of allowed signers as that of an authority only")
		case a.namespaces != nil && !matchesList(*a.namespaces, namespace):
			err = fmt.Errorf("its key is allowed for the namespaces %q only, not for %s", *a.namespaces, namespace)
		case at.Before(a.after):
			err = fmt.Errorf("its key is not valid before %s", a.after.Format(time.RFC3339))
		case !a.before.IsZero() && at.After(a.before):
			err = fmt.Errorf("its key is not valid after %s", a.before.Format(time.RFC3339))
		case len(wanted) > 0 && !slices.ContainsFunc(wanted, func(name string) bool { return matchesList(a.principals, name) }):
			err = fmt.Errorf("%s may not sign by the policy, which wants %s", a.principals, strings.Join(wanted, " or "))
		default:
			return a.principals, nil
		}
	}
	return "", err
}

// byByte returns a text with a character for each byte: ? is one byte.
func byByte(text string) string {
	var all []rune
	for _, b := range []byte(text) {
		all = append(all, rune(b))
	}
	return string(all)
}

// maxPattern is how long a pattern in a list may be for ssh-keygen; a list with a longer one matches nothing.
const maxPattern = 1022

// matchesList reports whether a text matches a list of patterns, separated by commas, in which only * and ? are wildcards. One that
// begins with ! excludes.
func matchesList(list, text string) (matches bool) {
	for one := range strings.SplitSeq(list, ",") {
		one, excludes := strings.CutPrefix(one, "!")
		if len(one) > maxPattern {
			return false
		}
		ok := pattern.Name(byByte(strings.ReplaceAll(one, `\`, `\\`)), byByte(text))
		if ok && excludes {
			return false
		}
		matches = matches || ok
	}
	return matches
}
