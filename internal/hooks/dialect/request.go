package dialect

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Requests is what settings allow hooks of type http. A nil list allows everything.
type Requests struct {
	URLs []string // patterns, in which * matches any text
	Env  []string // the variables that headers may use
}

// with returns the list with what a settings file adds to it: the lists of several files are joined.
func with(list []string, file jsonx.Object, name string) []string {
	if file.Get(name).Kind() != '[' {
		return list
	}
	return append(append([]string{}, list...), file.Strings(name)...) // not nil, which allows everything
}

// Allow reports whether a hook may send a request to a URL.
func (r Requests) Allow(url string) bool {
	return r.URLs == nil || slices.ContainsFunc(r.URLs, func(pattern string) bool { return allows(pattern, url) })
}

// allows compares a pattern with a URL part by part, as Claude Code 2.1.329 does: a pattern without a path
// allows every path, and one with * in its host and without a port every port.
func allows(pattern, url string) bool {
	split := regexp.MustCompile(`^([^:/?#]+):/*([^/?#]*?)(?::([0-9]*|\*))?([/?#].*)?$`)
	pattern, url = strings.TrimSpace(pattern), strings.TrimSpace(url)
	url, _, _ = strings.Cut(url, "#")
	want, got := split.FindStringSubmatch(pattern), split.FindStringSubmatch(url)
	if want == nil || got == nil {
		return pattern == "*"
	}
	port := func(part []string) string {
		return cmp.Or(part[3], map[string]string{"http": "80", "https": "443"}[strings.ToLower(part[1])])
	}
	anyPort := want[3] == "*" || want[3] == "" && strings.Contains(want[2], "*")
	return glob(strings.ToLower(want[1]), strings.ToLower(got[1])) && glob(strings.ToLower(want[2]), strings.ToLower(got[2])) &&
		(anyPort || port(want) == port(got)) && (want[4] == "" || glob(want[4], cmp.Or(got[4], "/")))
}

func glob(pattern, text string) bool {
	return regexp.MustCompile(`(?s)^` + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `.*`) + `$`).MatchString(text)
}

// special matches a URL of a scheme for which JavaScript wants a host.
const special = `^(?i:https?|wss?|ftp):`

// isURL reports whether JavaScript accepts a text as a URL.
func isURL(text string) bool {
	text = strings.TrimFunc(text, func(c rune) bool { return c <= ' ' })
	if !regexp.MustCompile(special).MatchString(text) {
		return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`).MatchString(text)
	}
	host := `(?:\[[0-9A-Fa-f:.]+\]|[^/\\?#:@\s<>\[\]^|]+)`
	m := regexp.MustCompile(special + `[/\\]*(?:[^/\\?#]*@)?` + host + `(?::([0-9]*))?(?:[/\\?#]|$)`).FindStringSubmatch(text)
	if m == nil {
		return false
	}
	_, err := strconv.ParseUint(cmp.Or(m[1], "0"), 10, 16)
	return err == nil
}
