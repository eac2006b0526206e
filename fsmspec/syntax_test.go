package fsmspec_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Each way in which a file can stop being JSON, with the position and the message.
func TestMalformed(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"empty", ``, `1:1 - the file is empty: write an array of tasks, such as [{"id": 1, "subject": "Set up"}]`},
		{"blank", " \n ", `2:2 - the file is empty: write an array of tasks, such as [{"id": 1, "subject": "Set up"}]`},
		{"code block", "```json\n[]\n```\n", "1:1 - the file is a Markdown code block: remove the line before the array and the line after it"},
		{"YAML list", "# steps\n- id: 1\n  subject: a\n", "1:1 - the file is YAML, and has to be JSON"},
		{"YAML mapping", "tasks:\n  - id: 1\n", "1:2 - the file is YAML, and has to be JSON"},
		{"Markdown", "---\nname: a\n---\n# A\n", "1:2 - the file is Markdown with a frontmatter, or several YAML documents, and not a workflow"},
		{"YAML document", "---\n- id: 1\n", "1:2 - the file is YAML, and has to be JSON"},
		{"prose", "Here are the tasks:\n[]", "1:1 - invalid character 'H' at start of value: strings need double quotes"},
		{"single quotes", "{'fsm': 2}", `1:2 - invalid character '\'' at start of value: strings need double quotes`},
		{"comment", `// tasks`, `1:1 - invalid character '/' at start of value: JSON has no comments: remove this one`},
		{"block comment", `[/* tasks */]`, `1:2 /0 invalid character '/' at start of value: JSON has no comments: remove this one`},
		{"bracket missing", `]`, `1:1 - invalid character ']' at start of value`},
		{"text after the array", "[]\n[]", `2:1 - unexpected text after the JSON value`},
		{"NUL after the array", "[]\x00", `1:3 - unexpected text after the JSON value`},

		{"array not closed", `[`, `1:2 - unexpected end of file: the [ at 1:1 is not closed`},
		{"array not closed after a value", `[[]`, `1:4 - unexpected end of file: the [ at 1:1 is not closed`},
		{"array cut after a comma", `[[], `, `1:6 - unexpected end of file: the [ at 1:1 is not closed`},
		{"array without a comma", "[[]\n []]",
			`2:2 - invalid character '[' after array element (expecting ',' or ']'): a comma is missing before it`},
		{"array with a colon", `[[]: []]`, `1:4 - invalid character ':' after array element (expecting ',' or ']')`},
		{"array closed by a brace", `[[]}`,
			`1:4 - invalid character '}' after array element (expecting ',' or ']'): remove it, or close the array before it with ]`},
		{"array with a comma too many", `[[],]`, `1:4 - invalid character ',' at start of value: a trailing comma: remove it`},
		{"array with a leading comma", `[,[]]`, `1:2 - invalid character ',' at start of value`},

		{"object not closed", `[{`, `1:3 /0 unexpected end of file: the { at 1:2 is not closed`},
		{"object cut after a key", `[{"id"`, `1:7 /0/id unexpected end of file: the { at 1:2 is not closed`},
		{"object cut after a colon", `[{"id":`, `1:8 /0/id unexpected end of file: the { at 1:2 is not closed`},
		{"object cut after a value", `[{"id":1`, `1:9 /0 unexpected end of file: the { at 1:2 is not closed`},
		{"object cut after a comma", `[{"id":1,`, `1:10 /0 unexpected end of file: the { at 1:2 is not closed`},
		{"object without a comma", "[{\"id\": 1\n  \"subject\": \"A\"}]",
			`2:3 /0 invalid character '"' after object value (expecting ',' or '}'): a comma is missing before it`},
		{"object without a colon", `[{"id" 1}]`, `1:8 /0/id invalid character '1' after object name (expecting ':')`},
		{"object without a value", `[{"id": }]`, `1:9 /0/id missing value after object name`},
		{"object closed by a bracket", `[{"id": 1]`,
			`1:10 - invalid character ']' after object value (expecting ',' or '}'): remove it, or close the object before it with }`},
		{"object with a comma too many", `[{"id": 1,}]`, `1:10 /0 invalid character ',' at start of value: a trailing comma: remove it`},
		{"key bare", `[{id: 1}]`, `1:3 /0 invalid character 'i' at start of value: strings need double quotes`},
		{"key a number", `[{1: 1}]`, `1:3 /0 object member name must be a string`},
		{"key in single quotes", `[{'id': 1}]`, `1:3 /0 invalid character '\'' at start of value: strings need double quotes`},

		{"word", `[{"id": one}]`, `1:9 /0/id invalid character 'o' at start of value: strings need double quotes`},
		{"word near a literal", `[{"id": True}]`, `1:9 /0/id invalid character 'T' at start of value: strings need double quotes`},
		{"word cut", `[{"id": nul`, `1:12 /0/id unexpected end of file: the { at 1:2 is not closed`},
		{"literal with a tail", `[{"x": nullx}]`, `1:12 /0 invalid character 'x' after object value (expecting ',' or '}')`},
		{"string in single quotes", `[{"x": 'y'}]`, `1:8 /0/x invalid character '\'' at start of value: strings need double quotes`},
		{"no break space", "[{\"x\":\u00a01}]", `1:7 /0/x invalid character '\u00a0' at start of value`},
		{"invalid UTF-8 outside strings", "[{\"x\":\xff}]", `1:7 /0/x invalid character '\xff' at start of value`},
		{"byte order mark inside", "[\uFEFF]", `1:2 /0 invalid character '\ufeff' at start of value: remove the byte order mark`},

		{"string not closed", "[{\"x\":\n  \"yz", `2:6 /0/x unexpected end of file: the string that begins at 2:3 is not closed`},
		{"string cut in an escape", `[{"x": "\`, `1:9 /0/x unexpected end of file: the string that begins at 1:8 is not closed`},
		{"string cut in digits", `[{"x": "\u12`, `1:9 /0/x unexpected end of file: the string that begins at 1:8 is not closed`},
		{"key not closed", `[{"x: 1}]`, `1:10 /0 unexpected end of file: the string that begins at 1:3 is not closed`},
		{"line break in a string", "[{\"x\": \"a\nb\"}]",
			`1:10 /0/x invalid character '\n' in string (expecting non-control character): the string is not closed in its line: ` +
				`close it with a quote, or write the line break as \n`},
		{"tab in a string", "[{\"x\": \"a\tb\"}]",
			`1:10 /0/x invalid character '\t' in string (expecting non-control character): in a string, write a tab as \t`},
		{"unknown escape", `[{"x": "\\\x"}]`, "1:11 /0/x invalid escape sequence `\\x` in string: " +
			`write / between the parts of a path, and a backslash as \\`},
		{"short escape", `[{"x": "\u12g4"}]`, "1:9 /0/x invalid escape sequence `\\u12g4` in string"},

		{"number with a leading zero", `[{"x": 01}]`,
			`1:9 /0 invalid character '1' after object value (expecting ',' or '}'): a number cannot begin with 0`},
		{"number with a plus", `[{"x": +1}]`, `1:8 /0/x invalid character '+' at start of value`},
		{"number a lone minus", `[{"x": -}]`, `1:9 /0/x invalid character '}' in number (expecting digit)`},
		{"number without a fraction", `[{"x": 1.}]`, `1:10 /0/x invalid character '}' in number (expecting digit)`},
		{"number without an exponent", `[{"x": 1e+}]`, `1:11 /0/x invalid character '}' in number (expecting digit)`},
		{"number cut", `[{"x": 1.`, `1:8 /0/x unexpected end of file: the { at 1:2 is not closed`},
		{"number with two points", `[{"x": 1.5.5}]`, `1:11 /0 invalid character '.' after object value (expecting ',' or '}')`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := lines(refused(t, c.file).Problems)
			last := got[len(got)-1]
			last = strings.Replace(last, "entry 1: ", "", 1)
			last = strings.Replace(last, "task 1: ", "", 1)
			place, message, _ := strings.Cut(c.want, " ")
			pointer, message, _ := strings.Cut(message, " ")
			assert.Equal(t, place+" "+pointer+" malformed JSON: "+message, last)
		})
	}
}

func TestProblemsBeforeASyntaxError(t *testing.T) {
	err := refused(t, `[{"id": 1, "subject": "A", "blockedBy": [2], "x": 1},
 {"id": 1, "subject": " "},
 {"id": "2" "subject": 7`)
	assert.Equal(t, []string{
		`2:9 /1/id task 1 (" "): duplicate id 1, used at 1:9 ("A") and again at 2:9`,
		`2:23 /1/subject task 1 (" "): subject is blank`,
		`3:9 /2/id entry 3: id must be a positive integer, not the string "2" (write 2 without the quotes)`,
		`3:13 /2 entry 3: malformed JSON: invalid character '"' after object value (expecting ',' or '}'): a comma is missing before it`,
	}, lines(err.Problems), "a task that is cut off has no missing fields, and the task that is referred to may follow")
	assert.Equal(t, []string{`1:46 /0/x task 1 ("A"): unknown field "x" is ignored`}, lines(err.Warnings))
}

func TestNumberWithALeadingZeroIsReportedOnce(t *testing.T) {
	assert.Len(t, refused(t, `[{"id": 01}]`).Problems, 1)
}
