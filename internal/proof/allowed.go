package proof

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// signers are those that a file of allowed signers names, as ssh-keygen describes it.
type signers []allowed

type allowed struct {
	principals string // patterns, separated by commas
	key        ssh.PublicKey
	namespaces string // patterns, separated by commas; empty for every one
	after      time.Time
	before     time.Time // zero if it has no end
	authority  bool      // the key signs certificates, which are not read here
}

// parseAllowed parses a file of allowed signers. A line with a key of a type that cannot be read is left out: it cannot have signed.
func parseAllowed(data []byte) (all signers, err error) {
	number := 0
	for line := range bytes.Lines(data) {
		number++
		text := strings.TrimSpace(string(line))
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		space := strings.IndexAny(text, " \t")
		if space < 0 {
			return nil, fmt.Errorf("line %d: want a principal, options if there are any, and a key", number)
		}
		key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(strings.TrimSpace(text[space:])))
		if err != nil {
			continue
		}
		a := allowed{principals: text[:space], key: key}
		for _, o := range options {
			if err := a.option(o); err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
		}
		all = append(all, a)
	}
	return all, nil
}

func (a *allowed) option(text string) (err error) {
	name, value, _ := strings.Cut(text, "=")
	value = strings.Trim(value, `"`)
	switch strings.ToLower(name) {
	case "cert-authority":
		a.authority = true
	case "namespaces":
		a.namespaces = value
	case "valid-after":
		a.after, err = parseValidity(value)
	case "valid-before":
		a.before, err = parseValidity(value)
	default:
		err = fmt.Errorf("unknown option %q", name)
	}
	return err
}

// parseValidity parses YYYYMMDD, YYYYMMDDHHMM or YYYYMMDDHHMMSS, in local time or, with Z, in UTC.
func parseValidity(text string) (time.Time, error) {
	digits, utc := strings.CutSuffix(text, "Z")
	zone := time.Local
	if utc {
		zone = time.UTC
	}
	for _, form := range []string{"20060102", "200601021504", "20060102150405"} {
		if t, err := time.ParseInLocation(form, digits, zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("want a time such as 20261231 or 202612312359Z, got %q", text)
}

// errNotAllowed is returned for a key that no line of the file has.
var errNotAllowed = errors.New("its key is not in the file of allowed signers")

// find returns the principals whose key it is at a time. If the policy names principals, it has to be that of one of them.
func (all signers) find(key ssh.PublicKey, at time.Time, wanted []string) (principals string, err error) {
	err = errNotAllowed
	for _, a := range all {
		if !bytes.Equal(a.key.Marshal(), key.Marshal()) {
			continue
		}
		switch {
		case a.authority:
			err = errors.New("its key is in the file of allowed signers as that of an authority only")
		case a.namespaces != "" && !matchesList(a.namespaces, namespace):
			err = fmt.Errorf("its key is allowed for the namespaces %q only, not for %s", a.namespaces, namespace)
		case at.Before(a.after):
			err = fmt.Errorf("its key is not valid before %s", a.after.Format(time.RFC3339))
		case !a.before.IsZero() && !at.Before(a.before):
			err = fmt.Errorf("its key is not valid since %s", a.before.Format(time.RFC3339))
		case len(wanted) > 0 && !slices.ContainsFunc(wanted, func(name string) bool { return matchesList(a.principals, name) }):
			err = fmt.Errorf("%s may not sign by the policy, which wants %s", a.principals, strings.Join(wanted, " or "))
		default:
			return a.principals, nil
		}
	}
	return "", err
}

// matchesList reports whether a text matches a list of patterns, separated by commas. One that begins with ! excludes.
func matchesList(list, text string) (matches bool) {
	for pattern := range strings.SplitSeq(list, ",") {
		pattern, excludes := strings.CutPrefix(pattern, "!")
		if ok, _ := path.Match(pattern, text); ok && excludes {
			return false
		} else if ok {
			matches = true
		}
	}
	return matches
}
