package frontmatter

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// must returns the value of a call that has to succeed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestParseFindsTheFrontmatter(t *testing.T) {
	for name, text := range map[string]string{
		"plain":                           "---\nphase: A\n---\nbody\n",
		"closed by dots":                  "---\nphase: A\n...\nphase: B\n",
		"byte order mark":                 "\ufeff---\nphase: A\n---\n",
		"byte order mark, hostile body":   "\ufeff---\nphase: A\n---\nkey: [a\n",
		"CRLF":                            "---\r\nphase: A\r\nmode: x\r\n---\r\nbody\r\n",
		"CRLF, hostile body":              "---\r\nphase: A\r\n---\r\nkey: [a\r\n\t: x\r\n---\r\n",
		"CRLF, text before":               "No: YAML: at all\r\n---\r\nphase: A\r\n---\r\n",
		"spaces after dashes":             "---  \nphase: A\n--- \t\n",
		"empty lines before":              "\n\n---\nphase: A\n---\n",
		"text before":                     "# Title\n\nSome words\n---\nphase: A\n---\n",
		"hostile body":                    "---\nphase: A\n---\nkey: [a\n\t- x: : y\n---\nmore: {\n",
		"no final newline":                "---\nphase: A\n---",
		"no frontmatter":                  "phase: A\nmode: x\n",
		"byte order mark, no frontmatter": "\ufeffphase: A\n",
		"never closed":                    "---\nphase: A\n",
		"comment":                         "---\nphase: A # first\n---\n",
		"quoted":                          "---\nphase: \"A\"\n---\n",
		"alias":                           "---\nbase: &b A\nphase: *b\n---\n",
		"written twice":                   "---\nphase: B\nphase: A\n---\n",
		"long body":                       "---\nphase: A\n---\n" + strings.Repeat("x", 2*MaxBytes),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f.md")
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			phase, ok := must(Read(path)).At("phase").Text()
			assert.True(t, ok)
			assert.Equal(t, "A", phase)
		})
	}
}

func TestParseErrors(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"broken":           {"---\nphase: [x\n---\n", ErrSyntax},
		"text behind it":   {"---\n{phase: x} y\n---\n", ErrSyntax},
		"a line before it": {"---\n phase: x\ny\n---\n", ErrSyntax},
		"empty":            {"", errNotMapping},
		"empty between":    {"---\n---\n", errNotMapping},
		"a list":           {"---\n- a\n---\n", errNotMapping},
		"a text":           {"just words\n", errNotMapping},
		"too long":         {"---\nphase: A\n" + strings.Repeat("# x\n", MaxBytes/4) + "---\n", errTooLarge},
		"never closed":     {"---\nphase: A\n" + strings.Repeat("x: y\n", MaxBytes/5), errTooLarge},
		"alias bomb":       {bomb(9), errAliases},
		"alias to itself":  {"---\na: &a [*a]\n---\n", errAliases},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f.md")
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
			_, err := Read(path)
			assert.ErrorIs(t, err, c.want)
		})
	}
}

func TestBoundsAreExact(t *testing.T) {
	text := "phase: A\n#"
	text += strings.Repeat("x", MaxBytes-len(text))
	_, err := Parse([]byte(text))
	require.NoError(t, err)
	_, err = Parse([]byte(text + "x"))
	require.ErrorIs(t, err, errTooLarge)
	require.EqualError(t, err, fmt.Sprintf("frontmatter is larger than %d KiB", MaxBytes>>10))

	// The mapping, its key and the sequence count too.
	items := strings.Repeat("x,", maxNodes-3)
	_, err = Parse([]byte("a: [" + items + "]\n"))
	require.NoError(t, err)
	_, err = Parse([]byte("a: [" + items + "x]\n"))
	require.ErrorIs(t, err, errAliases)
}

// bomb returns a document of n lines that expands to 9 to the power of n nodes.
func bomb(n int) string {
	text := "---\na0: &a0 x\n"
	for i := range n {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), ", "))
	}
	return text + "---\n"
}

func TestAliasesWithinTheBound(t *testing.T) {
	v := must(Parse([]byte(bomb(2))))
	assert.Len(t, v.At("a2").Items(), 9)
	assert.Equal(t, "x", v.At("a2").Items()[0].Items()[8].String())
}

func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	pipe, link, file := filepath.Join(dir, "pipe"), filepath.Join(dir, "link"), filepath.Join(dir, "file")
	require.NoError(t, files.Mkfifo(pipe, 0o600))
	require.NoError(t, os.WriteFile(file, []byte("phase: A\n"), 0o600))
	require.NoError(t, os.Symlink(file, link))
	_, err := Read(pipe)
	assert.ErrorIs(t, err, safefile.ErrNotRegular)
	_, err = Read(dir)
	assert.ErrorIs(t, err, safefile.ErrNotRegular)
	_, err = Read(filepath.Join(dir, "none"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Read(link)
	assert.NoError(t, err)
}

func TestReadYAMLParsesTheWholeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	require.NoError(t, os.WriteFile(path, []byte("a: 1\n# ---\nb: {c: two}\n"), 0o600))
	assert.Equal(t, "two", must(ReadYAML(path)).At("b", "c").String())
}

func TestValuesKeepTheirTypes(t *testing.T) {
	v := must(Parse([]byte("s: x\nq: \"7\"\ni: 7\nn: -7\nf: 0.5\nw: 2.0\ninf: .inf\nt: true\nyes: yes\nqt: \"true\"\nnull: ~\nl: [a, " +
		"{b: c}]\nm:\n  k: v\n  2: two\n  [x]: complex\n")))
	text := func(name string) any { s, ok := v.At(name).Text(); return []any{s, ok} }
	assert.Equal(t, []any{"x", true}, text("s"))
	assert.Equal(t, []any{"7", true}, text("i"))
	assert.Equal(t, []any{"true", true}, text("t"))
	assert.Equal(t, []any{"", false}, text("null"))
	assert.Equal(t, []any{"", false}, text("l"))
	assert.Equal(t, []any{"", false}, text("missing"))

	for name, want := range map[string]int{"i": 7, "n": -7} {
		n, ok := v.At(name).Int()
		assert.True(t, ok, name)
		assert.Equal(t, want, n)
	}
	for _, name := range []string{"s", "q", "f", "w", "t", "l", "missing"} {
		_, ok := v.At(name).Int()
		assert.False(t, ok, name)
	}
	for name, want := range map[string]float64{"f": 0.5, "i": 7, "w": 2} {
		x, ok := v.At(name).Number()
		assert.True(t, ok, name)
		assert.Equal(t, want, x)
	}
	for _, name := range []string{"inf", "q", "missing"} {
		_, ok := v.At(name).Number()
		assert.False(t, ok, name)
	}
	on, ok := v.At("t").Bool()
	assert.True(t, ok && on)
	for _, name := range []string{"yes", "qt", "i", "missing"} {
		_, ok := v.At(name).Bool()
		assert.False(t, ok, name)
	}
	assert.Equal(t, "[a, {b: c}]", v.At("l").String())
	for name, want := range map[string]bool{"null": true, "missing": true, "s": false, "l": false, "m": false} {
		assert.Equal(t, want, v.At(name).Null(), name)
	}
	var keys []string
	for _, m := range v.At("m").Members() {
		keys = append(keys, m.Key)
	}
	assert.Equal(t, []string{"k", "2"}, keys, "in the order of the file, scalar keys only")
	assert.Nil(t, v.At("s").Members())
	assert.Nil(t, v.At("m").Items())
	assert.Equal(t, Value{}, v.At("m", "k", "deeper"))
}

func TestLongValuesAreCut(t *testing.T) {
	for yaml, end := range map[string]string{
		"v: [" + strings.Repeat("abcdefgh, ", 10000) + "z]\n":   "h…]",
		"v: {" + manyMembers(5000) + "}\n":                      ": abcdefgh…}",
		"v: [[" + strings.Repeat("abcdefgh, ", 10000) + "z]]\n": "h…]]",
	} {
		v := must(Parse([]byte(yaml)))
		text := v.At("v").String()
		assert.Less(t, len(text), MaxText+100)
		assert.Greater(t, len(text), MaxText)
		assert.Equal(t, 1, strings.Count(text, "…"))
		assert.True(t, strings.HasSuffix(text, end), text[len(text)-20:])
	}
	assert.Empty(t, Value{}.String())
	for length, want := range map[int]string{MaxText - 1: "a, z]", MaxText: "a…]"} {
		v := must(Parse([]byte("v: [" + strings.Repeat("a", length) + ", z]\n")))
		assert.True(t, strings.HasSuffix(v.At("v").String(), want), length)
	}
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: abcdefgh, ", i)
	}
	return b.String()
}
