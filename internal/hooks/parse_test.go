package hooks

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

func TestMistakesAreReportedWithLineAndColumn(t *testing.T) {
	for _, c := range []struct{ text, strict, comments string }{
		{`{"a": 1}`, "", ""},
		{"{ // ä\n\"a\": 1,}", "1:3: invalid character '/' at start of string (expecting '\"')", ""},
		{"{ /* ä */ \"a\": tru}", "1:3: invalid character '/' at start of string (expecting '\"')", "1:16: invalid literal: tru"},
		{"{\"ä\": x}", "1:7: invalid character 'x' at start of value", "1:7: invalid literal: x"},
		{"{\"ä\":\n [1", "2:4: unexpected end of file", "2:4: "},
		{" []", "1:2: got an array, want an object", "1:2: got an array, want an object"},
		{"// ä\n7", "1:1: invalid character '/' at start of value", "2:1: got a number, want an object"},
		{"{} // é", "1:4: unexpected text after the JSON value", ""},
		{"{} /* é", "1:4: unexpected text after the JSON value", "1:4: parsing comment: unexpected EOF"},
		{"\ufeff{\"a\": 1}", "", "1:1: invalid character"},
		{"\ufeff\ufeff{}", "1:2: invalid character", "1:1: invalid character"},
		{"{} {}", "1:4: unexpected text after the JSON value", "1:4: "},
		{"", "1:1: unexpected end of file", "1:1: "},
	} {
		for d, want := range map[*dialect.Dialect]string{new(dialect.Claude()): c.strict, new(dialect.LLxprt()): c.comments} {
			_, err := parseFile(*d, []byte(c.text))
			if want == "" {
				require.NoError(t, err, "%s: %q", d.Name, c.text)
				continue
			}
			require.ErrorAs(t, err, new(*jsonx.SyntaxError))
			require.ErrorContains(t, err, want, "%s: %q", d.Name, c.text)
		}
	}
}

func TestValuesKeepTheirOffsets(t *testing.T) {
	text := "{ /* ä */ \"hooks\": {\"a\": 1,}, // é\n}"
	value, err := parseFile(dialect.LLxprt(), []byte(text))
	require.NoError(t, err)
	require.Len(t, value, len(text))
	require.Equal(t, `{"a": 1 }`, string(hooksOf(value)))
}

// A named pipe and a file that does not parse are skipped and reported by Find; Given returns
// an error for them.
func TestUnusableFileIsSkippedAndReported(t *testing.T) {
	project := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(project, ".llxprt"), 0o755))
	path := filepath.Join(project, ".llxprt", "settings.json")
	finder := Finder{Dialect: dialect.LLxprt(), Where: Where{Home: t.TempDir(), Project: project,
		Getenv: func(string) string { return "/does/not/exist" }}}

	require.NoError(t, files.Mkfifo(path, 0o600)) // opening it for reading would block
	found := finder.Find()
	require.Len(t, found.Trouble, 1)
	require.ErrorIs(t, found.Trouble[0], safefile.ErrNotRegular)
	require.Empty(t, found.Sources)

	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path, []byte("{\n  \"é\": }"), 0o600))
	found = finder.Find()
	require.Len(t, found.Trouble, 1)
	require.ErrorContains(t, found.Trouble[0], path+":2:8: ")
	_, err := finder.Given([]string{path, path + ".missing"})
	require.ErrorContains(t, err, path+":2:8: ")
	require.ErrorIs(t, err, os.ErrNotExist)
}
