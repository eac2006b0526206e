package jsonx

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The expectations are the results of TextDecoder.
func TestDecode(t *testing.T) {
	for in, want := range map[string]string{
		"caf\xc3\xa9":      "café",
		"a\xffb":           "a\ufffdb",
		"\xf0\x9f\x8e":     "\ufffd",
		"\xf0\x9f\x8eA":    "\ufffdA",
		"\xe2\x82":         "\ufffd",
		"\xc0\x80":         "\ufffd\ufffd",
		"\xed\xa0\x80":     "\ufffd\ufffd\ufffd",
		"\xf0\x80\x80\x80": "\ufffd\ufffd\ufffd\ufffd",
		"\xe2\x82\xe2\x82": "\ufffd\ufffd",
		"\x80\x81":         "\ufffd\ufffd",
		"\xf4\x90\x80\x80": "\ufffd\ufffd\ufffd\ufffd",
		"":                 "",
		"\ufffd":           "\ufffd",
		"\xc3\xa9\xc3":     "é\ufffd",
	} {
		require.Equal(t, want, Decode([]byte(in)), "%q", in)
	}
}

func TestTrim(t *testing.T) {
	require.Equal(t, "a", Trim("\ufeff \t\r\n\u00a0a\u2028\ufeff"))
	require.Equal(t, "\u0085a", Trim(" \u0085a"))
}

func TestCompareCodeUnits(t *testing.T) {
	require.Negative(t, Compare("Z", "a"))
	require.Negative(t, Compare("😀", "\uffff"), "a surrogate sorts before the end of the basic plane")
	require.Zero(t, Compare("é", "é"))
}

func TestExcerpt(t *testing.T) {
	require.Equal(t, "missing", Excerpt(nil))
	require.Equal(t, `{"a":[1,2]}`, Excerpt([]byte("{\"a\":\n [1, 2]}")))
	require.Equal(t, `"`+strings.Repeat("é", 39)+"…", Excerpt(Quote(strings.Repeat("é", 50))))
}
