package frontmatter

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSkillSwitch(t *testing.T) {
	for text, want := range map[string]string{
		"true": "on", "\"true\"": "on", "Yes": "on", "1": "on", "false": "off", "'no'": "off", "0": "off", "": "", "maybe": "",
		"{a: b}": "",
	} {
		on, ok := SkillSwitch([]byte("---\nname: x\nquiet: "+text+"\n---\nquiet: true\n"), "quiet")
		got := map[bool]string{true: "on", false: "off"}[on]
		if !ok {
			got = ""
		}
		assert.Equal(t, want, got, text)
	}
	for _, document := range []string{"", "quiet: true", "---\nname: x\n---\n", "---\n- quiet\n---\n", "---\nquiet: true: x\n---\n",
		"---\nquiet: true\n\"a\n---\n"} {
		_, ok := SkillSwitch([]byte(document), "quiet")
		assert.False(t, ok, document)
	}
}

func TestRunsApart(t *testing.T) {
	for document, want := range map[string]bool{"context: fork": true, "context: 'fork'": true, "context: inline": false, "context:": false,
		"description: context": false, "name: x": false, "context: [fork]": false} {
		assert.Equal(t, want, RunsApart([]byte("---\n"+document+"\n---\ncontext: fork\n")), document)
	}
}

func TestSkillName(t *testing.T) {
	skillBomb := strings.TrimSuffix(bomb(9), "---\n")
	tests := []struct {
		name, document, want string
		err                  error
	}{
		{"empty file", "", "", nil},
		{"no frontmatter", "# Title\nname: x\n", "", nil},
		{"empty frontmatter", "---\n---\nname: x\n", "", nil},
		{"only a comment", "---\n# name: x\n---\n", "", nil},
		{"no name", "---\ndescription: x\n---\n", "", nil},
		{"not closed", "---\nname: x\n", "", nil},
		{"not closed by dots", "---\nname: x\n...\n", "", nil},
		{"closed at the end of the file", "---\nname: x\n---", "x", nil},
		{"a colon in the name", "---\nname: \"x: y\"\n---\n", "x: y", nil},
		{"a colon in a name without marks", "---\nname: x: y\n---\n", "x: y", nil},
		{"spaces after the dashes", "--- \t\nname: x\n--- \n", "x", nil},
		{"four dashes do not open", "----\nname: x\n---\n", "", nil},
		{"byte order mark", "\ufeff---\nname: x\n---\n", "x", nil},
		{"CRLF", "---\r\nname: x\r\n---\r\n", "x", nil},
		{"quoted", "---\nname: 'x y'\n---\n", "x y", nil},
		{"escaped", "---\nname: \"\\x78\"\n---\n", "x", nil},
		{"alias", "---\na: &a x\nname: *a\n---\n", "x", nil},
		{"number", "---\nname: 12\n---\n", "12", nil},
		{"null", "---\nname:\n---\n", "", nil},
		{"written twice", "---\nname: y\nname: x\n---\n", "x", nil},
		{"text before", "\n---\nname: x\n---\n", "", nil},
		{"colon in the description", "---\ndescription: use when: always\nname: x\n---\n", "x", nil},
		{"name of something else", "---\nother:\n  name: x\n---\n", "", nil},
		{"name of something else beside invalid YAML", "---\nother: a: b\n  name: x\n---\n", "", ErrSyntax},
		{"no name beside a colon", "---\ndescription: use when: always\nname:\n---\n", "", nil},
		{"CRLF and a colon", "---\r\ndescription: use when: always\r\nname: x\r\n---\r\n", "", ErrSyntax},
		{"a text behind quotation marks", "---\nname: x\ndescription: \"a\" and b\n---\n", "", ErrSyntax},
		{"quotation marks and a colon", "---\nname: x\ndescription: \"a\": b\n---\n", "x", nil},
		{"syntax in other values", "---\nname: x\na: @b\nc: `d`\ne: *f* g\nh: [i, j\nk: {l} m\nn: \"o\" \\d: p\nq: [r]\n---\n", "x", nil},
		{"tabs beside a colon", "---\nname: x\na: b: c\nd:\n\te: f\n\t\tg\n---\n", "x", nil},
		{"a line that is no member", "---\nname: x\nname\n---\n", "", ErrSyntax},
		{"dashes before it", "---\ndescription: a --- b\nname: x\n---\n", "", nil},
		{"dashes after it", "---\nname: x\ndescription: a --- b: c\n---\n", "x", nil},
		{"dashes in a comment", "---\n# ---- what it is ----\nname: x\n---\n", "", nil},
		{"empty lines", "---\n\n \nname: x\n\n---\n", "x", nil},
		{"a mark after the dashes", "---\ufeff\nname: x\n---\n", "x", nil},
		{"a next line after the dashes", "---\u0085\nname: x\n---\n", "", nil},
		{"underscores for a name", "---\nname: 1_2\n---\n", "1_2", nil},
		{"not closed list", "---\nname: [x\n---\n", "[x", nil},
		{"not closed quotation mark", "---\nname: \"x\n---\n", "", ErrSyntax},
		{"list", "---\n- name: x\n---\n", "", errNotMapping},
		{"text", "---\nname\n---\n", "", errNotMapping},
		{"alias bomb beside it", skillBomb + "name: x\n---\n", "", errAliases},
		{"alias bomb for a name", skillBomb + "name: *a9\n---\n", "", errAliases},
		{"deep", "---\nname: x\na:\n  b: " + strings.Repeat("[", 20000) + "\n---\n", "", ErrSyntax},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			name, err := SkillName([]byte(test.document))
			assert.Equal(t, test.want, name)
			require.ErrorIs(t, err, test.err)
		})
	}
}

// reads counts the bytes that are read from a reader.
type reads struct {
	io.Reader
	n int
}

func (r *reads) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.n += n
	return n, err
}

func TestReadSkillReadsNoMoreThanTheFrontmatterNeeds(t *testing.T) {
	body := strings.Repeat("long\n", 1<<16)
	opening := "---\n#" + strings.Repeat("x", firstRead-7) + "--"
	require.Len(t, opening, firstRead)
	long := "#" + strings.Repeat("x", 20000) + "\n"
	for name, c := range map[string]struct {
		document, want string
		most           int
	}{
		"short":                                     {"---\nname: x\n---\n" + body, "x", firstRead},
		"no frontmatter":                            {body, "", firstRead},
		"the last line of a read may grow":          {opening + "\nname: x\n---\n" + body, "x", 2 * firstRead},
		"the last line of a read may be the end":    {opening + "-\nname: x\n---\n" + body, "", 2 * firstRead},
		"the closing line ends the first read":      {"---\nname: x\n#" + strings.Repeat("x", firstRead-18) + "\n---\n" + body, "x", firstRead},
		"no line feed in the first read":            {"---" + strings.Repeat(" ", firstRead) + "\nname: x\n---\n" + body, "x", 2 * firstRead},
		"byte order mark":                           {"\ufeff" + opening + "\nname: x\n---\n" + body, "x", 2 * firstRead},
		"long":                                      {"---\n" + long + "name: x\n---\n" + body, "x", 8 * firstRead},
		"the file ends with the closing line":       {"---\n" + long + "name: x\n---", "x", 8 * firstRead},
		"over the bound":                            {"---\nname: x\n" + strings.Repeat("# long\n", 1<<14) + "---\n" + body, "", maxSkill},
		"the closing line is the last at the bound": {"---\nname: x\n#" + strings.Repeat("x", maxSkill-18) + "\n---\n", "x", maxSkill},
		"dashes in a value, and the closing line":   {"---\ndescription: a --- b\n" + long + "---\n" + body, "", 8 * firstRead},
	} {
		t.Run(name, func(t *testing.T) {
			r := &reads{Reader: strings.NewReader(c.document)}
			document, err := ReadSkill(iotest.OneByteReader(r))
			require.NoError(t, err)
			assert.LessOrEqual(t, r.n, c.most)
			given, err := SkillName(document)
			require.NoError(t, err)
			assert.Equal(t, c.want, given)
			assert.True(t, strings.HasPrefix(c.document, string(document)))
			if _, _, _, err := CutSkill([]byte(c.document)); err == nil && len(document) < maxSkill {
				_, _, _, err = CutSkill(document)
				require.NoError(t, err, "the closing line is read too")
			}
		})
	}
	failed := errors.New("failed")
	_, err := ReadSkill(io.MultiReader(strings.NewReader("---\nname: x\n---\n"), iotest.ErrReader(failed)))
	require.ErrorIs(t, err, failed)
}

func TestCutSkill(t *testing.T) {
	for document, want := range map[string][3]string{
		"---\nname: x\n---\nbody\n":             {"---\n", "name: x\n", "---\nbody\n"},
		"\ufeff--- \t\r\nname: x\r\n---  \r\nb": {"\ufeff--- \t\r\n", "name: x\r\n", "---  \r\nb"},
		"---\n---":                              {"---\n", "", "---"},
		"body\n---\nname: x\n---\n":             {"", "", "body\n---\nname: x\n---\n"},
		"\ufeffbody":                            {"\ufeff", "", "body"},
		"":                                      {},
	} {
		head, text, tail, err := CutSkill([]byte(document))
		require.NoError(t, err, "%q", document)
		assert.Equal(t, want, [3]string{string(head), string(text), string(tail)}, "%q", document)
		assert.Equal(t, strings.Contains(string(head), "---"), text != nil, "%q: text is nil only without a frontmatter", document)
	}
	_, _, _, err := CutSkill([]byte("\ufeff---\nname: x\n"))
	require.ErrorIs(t, err, errNotClosed)
}
