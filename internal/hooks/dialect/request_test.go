package dialect

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
)

func TestPatternsOfURLs(t *testing.T) {
	for _, c := range []struct {
		pattern, url string
		allowed      bool
	}{
		{"*", "http://a/b", true},
		{"http://a", "http://a/b?c", true},
		{"http://a/", "http://a/b", false},
		{"http://a/", "http://a", true},
		{"http://a/*", "http://a/b/c", true},
		{"https://a/*", "http://a/b", false},
		{"http://a:80/b", "http://A/b", true},
		{"http://a:81/b", "http://a/b", false},
		{"http://*.a/b", "http://x.a:81/b", true},
		{"http://127.0.0.1:*", "http://127.0.0.1:81/b", true},
		{"http://127.0.0.1:*", "http://127.0.0.11:81/b", false},
		{"a/*", "http://a/b", false},
		{"HTTP://a:*/B", "http://a:81/b", false},
		{"*://a:*/*", "http://a:81/b", true},
		{"http://127.0.0.*/*", "http://127.0.0.1:81/b", true},
		{"http://*", "http://a:81/b", true},
		{"http://a/b", "http://a/b?x=1", false},
		{"http://a/b?*", "http://a/b?x=1", true},
		{"http://a/b", "http://a/b#x", true},
		{"http://a/b.c", "http://a/bbc", false},
		{"http://a/b/", "http://a/b", false},
		{" http://a/b ", "http://a/b", true},
		{"**", "http://a/b", false},
		{"", "http://a/b", false},
		{"http://a:8*", "http://a:81/b", false},
		{"http:a:*", "http://a:81/b", true},
		{"http://a/b*", "http://a/b%6fc", true},
	} {
		assert.Equal(t, c.allowed, Requests{URLs: []string{c.pattern}}.Allow(c.url), "%s allows %s", c.pattern, c.url)
	}
	assert.True(t, Requests{}.Allow("http://a/"))
	assert.False(t, Requests{URLs: []string{}}.Allow("http://a/"))
}

// TestWhatRequestsAreAllowed lists of several files are joined. A list that is empty allows nothing, and none at all allows everything.
func TestWhatRequestsAreAllowed(t *testing.T) {
	for want, files := range map[*Requests][]string{
		{}: {`{}`, `{"allowedHttpHookUrls": "*", "httpHookAllowedEnvVars": null}`},
		{URLs: []string{"http://a", "http://b"}, Env: []string{"A",
			"B"}}: {`{"allowedHttpHookUrls": ["http://a"], "httpHookAllowedEnvVars": ["A"]}`, `{}`,
			`{"allowedHttpHookUrls": ["http://b"], "httpHookAllowedEnvVars": ["B"]}`},
		{URLs: []string{}, Env: []string{}}: {`{"allowedHttpHookUrls": [], "httpHookAllowedEnvVars": []}`},
	} {
		var contents []jsontext.Value
		for _, file := range files {
			contents = append(contents, jsontext.Value(file))
		}
		assert.Equal(t, *want, Claude().Switches(contents...).Requests)
	}
}
