package fsmspec_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Every way in which a file can stop being JSON: where, and what was expected.
func TestMalformed(t *testing.T) {
	const open = "; the object that begins at 1:2 is not closed"
	for _, c := range []struct{ name, file, want string }{
		{"empty", ``, `1:1 - unexpected end of file: expected an array of tasks`},
		{"blank", " \n ", `2:2 - unexpected end of file: expected an array of tasks`},
		{"comment", `// tasks`, `1:1 - expected an array of tasks, found a comment, which JSON does not have`},
		{"block comment", `[/* tasks */]`, `1:2 /0 expected a value or ']', found a comment, which JSON does not have`},
		{"bracket missing", `]`, `1:1 - expected an array of tasks, found ']'`},
		{"text after the array", "[]\n[]", `2:1 - expected the end of the file, found '['`},
		{"NUL after the array", "[]\x00", `1:3 - expected the end of the file, found the character U+0000`},

		{"array not closed", `[`, `1:2 - unexpected end of file: expected a value or ']'; the array that begins at 1:1 is not closed`},
		{"array not closed after a value", `[[]`, `1:4 - unexpected end of file: expected ',' or ']' after the previous value; the array that begins at 1:1 is not closed`},
		{"array cut after a comma", `[[], `, `1:6 - unexpected end of file: expected a value after ','; the array that begins at 1:1 is not closed`},
		{"array without a comma", "[[]\n []]", `2:2 - expected ',' or ']' after the previous value, found '['`},
		{"array with a colon", `[[]: []]`, `1:4 - expected ',' or ']' after the previous value, found ':'`},
		{"array closed by a brace", `[[]}`, `1:4 - expected ',' or ']' after the previous value, found '}'`},
		{"array with a comma too many", `[[],]`, `1:5 - expected a value after ',', found ']'`},
		{"array with a leading comma", `[,[]]`, `1:2 - expected a value or ']', found ','`},

		{"object not closed", `[{`, `1:3 /0 unexpected end of file: expected a key in double quotes or '}'` + open},
		{"object cut after a key", `[{"id"`, `1:7 /0/id unexpected end of file: expected ':' after the key` + open},
		{"object cut after a colon", `[{"id":`, `1:8 /0/id unexpected end of file: expected a value after ':'` + open},
		{"object cut after a value", `[{"id":1`, `1:9 /0 unexpected end of file: expected ',' or '}' after the previous value` + open},
		{"object cut after a comma", `[{"id":1,`, `1:10 /0 unexpected end of file: expected a key in double quotes after ','` + open},
		{"object without a comma", "[{\"id\": 1\n  \"subject\": \"A\"}]", `2:3 /0 expected ',' or '}' after the previous value, found '"'`},
		{"object without a colon", `[{"id" 1}]`, `1:8 /0/id expected ':' after the key, found '1'`},
		{"object without a value", `[{"id": }]`, `1:9 /0/id expected a value after ':', found '}'`},
		{"object closed by a bracket", `[{"id": 1]`, `1:10 - expected ',' or '}' after the previous value, found ']'`},
		{"object with a comma too many", `[{"id": 1,}]`, `1:11 /0 expected a key in double quotes after ',', found '}'`},
		{"key bare", `[{id: 1}]`, `1:3 /0 expected a key in double quotes or '}', found 'i'`},
		{"key a number", `[{1: 1}]`, `1:3 /0 expected a key in double quotes or '}', found '1'`},
		{"key in single quotes", `[{'id': 1}]`, `1:3 /0 expected a key in double quotes or '}', found a single quote (a string is written in double quotes)`},

		{"word", `[{"id": one}]`, `1:9 /0/id expected a value after ':', found the word "one" (a string is written in double quotes)`},
		{"word near a literal", `[{"id": True}]`, `1:9 /0/id expected a value after ':', found the word "True" (did you mean true?)`},
		{"word cut", `[{"id": nul`, `1:12 /0/id unexpected end of file: expected the rest of "nul"` + open},
		{"literal with a tail", `[{"x": nullx}]`, `1:12 /0 expected ',' or '}' after the previous value, found 'x'`},
		{"string in single quotes", `[{"x": 'y'}]`, `1:8 /0/x expected a value after ':', found a single quote (a string is written in double quotes)`},
		{"no break space", "[{\"x\":\u00a01}]", `1:7 /0/x expected a value after ':', found the character U+00A0`},
		{"invalid UTF-8 outside strings", "[{\"x\":\xff}]", `1:7 /0/x expected a value after ':', found the byte 0xff, which is no UTF-8`},
		{"byte order mark inside", "[\uFEFF]", `1:2 /0 expected a value or ']', found a byte order mark`},

		{"string not closed", "[{\"x\":\n  \"yz", `2:6 /0/x unexpected end of file: expected '"' to close the string that begins at 2:3`},
		{"string cut in an escape", `[{"x": "\`, `1:10 /0/x unexpected end of file: expected '"' to close the string that begins at 1:8`},
		{"string cut in digits", `[{"x": "\u12`, `1:13 /0/x unexpected end of file: expected '"' to close the string that begins at 1:8`},
		{"key not closed", `[{"x: 1}]`, `1:10 /0 unexpected end of file: expected '"' to close the string that begins at 1:3`},
		{"line break in a string", "[{\"x\": \"a\nb\"}]", `1:10 /0/x line break in the string that begins at 1:8: expected '"' before it, or \n in its place`},
		{"tab in a string", "[{\"x\": \"a\tb\"}]", `1:10 /0/x control character U+0009 in the string that begins at 1:8: write it as \u0009`},
		{"unknown escape", `[{"x": "\\\x"}]`, `1:11 /0/x invalid escape: expected one of " \ / b f n r t u after \, found 'x' in the string that begins at 1:8`},
		{"short escape", `[{"x": "\u12g4"}]`, `1:9 /0/x invalid escape: expected four hexadecimal digits after \u, found 'g' in the string that begins at 1:8`},

		{"number with a leading zero", `[{"x": 01}]`, `1:9 /0 expected ',' or '}' after the previous value, found '1' (a number may not begin with 0)`},
		{"number with a plus", `[{"x": +1}]`, `1:8 /0/x expected a value after ':', found '+'`},
		{"number a lone minus", `[{"x": -}]`, `1:9 /0/x expected a digit after '-', found '}'`},
		{"number without a fraction", `[{"x": 1.}]`, `1:10 /0/x expected a digit after the decimal point, found '}'`},
		{"number without an exponent", `[{"x": 1e+}]`, `1:11 /0/x expected a digit in the exponent, found '}'`},
		{"number cut", `[{"x": 1.`, `1:10 /0/x unexpected end of file: expected a digit after the decimal point` + open},
		{"number with two points", `[{"x": 1.5.5}]`, `1:11 /0 expected ',' or '}' after the previous value, found '.'`},
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
		`3:13 /2 entry 3: malformed JSON: expected ',' or '}' after the previous value, found '"'`,
	}, lines(err.Problems), "no missing field where the task is cut off, no reference to what may follow")
	assert.Equal(t, []string{`1:46 /0/x task 1 ("A"): unknown field "x" is ignored`}, lines(err.Warnings))
}

func TestNothingIsSaidOfANumberThatIsCutInTwo(t *testing.T) {
	assert.Len(t, refused(t, `[{"id": 01}]`).Problems, 1)
}
