package frontmatter_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/frontmatter"
)

func TestSkillAsJSON(t *testing.T) {
	for _, c := range []struct{ yaml, want string }{
		{"name: a", `{"name":"a"}`},
		{"a: 1\nb: -1.5\nc: 0x10\nd: .inf", `{"a":1,"b":-1.5,"c":16,"d":".inf"}`},
		{"a: true\nb: no\nc: ~\nd:", `{"a":true,"b":"no","c":null,"d":null}`},
		{"a: [1, \"x\\n\"]\nb: {c: d}", `{"a":[1,"x\n"],"b":{"c":"d"}}`},
		{"a: 1\na: 2", `{"a":2}`},
		{"a: &x [1]\nb: *x", `{"a":[1],"b":[1]}`},
		{"a: |\n  two\n  lines", `{"a":"two\nlines\n"}`},
		{"1: x", `{"1":"x"}`},
	} {
		got, _, err := frontmatter.SkillJSON([]byte("---\n" + c.yaml + "\n---\nbody\n"))
		require.NoError(t, err, c.yaml)
		assert.Equal(t, c.want, string(got), c.yaml)
	}
}

func TestOffsetsInASkill(t *testing.T) {
	for _, head := range []string{"", "\ufeff"} {
		for _, line := range []string{"\n", "\r\n"} {
			document := head + strings.ReplaceAll("---\nname: a\nhooks:\n  Stop:\n    - hooks:\n        - command: x\nü: {ö: 2, é: 1}\n---\n",
				"\n", line)
			_, offsets, err := frontmatter.SkillJSON([]byte(document))
			require.NoError(t, err)
			for at, want := range map[jsontext.Pointer]string{
				"/name": "name:", "/hooks": "hooks:", "/hooks/Stop": "Stop:", "/hooks/Stop/0/hooks/0": "command: x",
				"/hooks/Stop/0/hooks/0/command": "command: x",
				"/ü/é":                          "é: 1",
			} {
				assert.True(t, strings.HasPrefix(document[offsets[at]:], want), "%q: %s is at %q", document, at, document[offsets[at]:])
			}
		}
	}
}

func TestSkillWithoutFrontmatterIsNotJSON(t *testing.T) {
	for _, document := range []string{"", "# a skill\n", "---\nname: a\n"} {
		got, _, err := frontmatter.SkillJSON([]byte(document))
		require.NoError(t, err)
		assert.Nil(t, got)
	}
}

func TestErrorOfAnInvalidSkillHasTheLine(t *testing.T) {
	_, _, err := frontmatter.SkillJSON([]byte("---\nname: a\nhooks:\n  x: [\n---\n"))
	require.ErrorIs(t, err, frontmatter.ErrSyntax)
	if line, ok := errors.AsType[*frontmatter.LineError](err); assert.True(t, ok, "%v", err) {
		assert.Contains(t, []int{4, 5}, line.Line, "%v", err)
	}
}

func TestErrorBelowBlankLinesHasTheLine(t *testing.T) {
	line := func(document string) int {
		_, _, err := frontmatter.SkillJSON([]byte(document))
		at, ok := errors.AsType[*frontmatter.LineError](err)
		require.True(t, ok, "%v", err)
		return at.Line
	}
	const text = "name: a\nhooks:\n  x: [\nb: c\n---\n"
	above := line("---\n" + text)
	assert.Equal(t, above+3, line("---\n\n \t\n\n"+text))
	assert.Equal(t, above+1, line("\ufeff---\r\n\r\n"+strings.ReplaceAll(text, "\n", "\r\n")))
}
