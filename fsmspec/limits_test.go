package fsmspec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
)

// many returns a file of n tasks, each but the first blocked by the one before.
func many(n int) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = fmt.Sprintf(`  {"id": %d, "subject": "Task %d", "activeForm": "Doing it", "description": "Some words on what to do.", `+
			`"metadata": {"phase": "build", "weight": 1.50}`, i+1, i+1)
		if i > 0 {
			entries[i] += fmt.Sprintf(`, "blockedBy": [%d]`, i)
		}
		entries[i] += "}"
	}
	return "[\n" + strings.Join(entries, ",\n") + "\n]\n"
}

func TestLimitOfBytes(t *testing.T) {
	file := many(1)
	file += strings.Repeat(" ", fsmspec.MaxBytes-len(file))
	assert.Equal(t, 1, parsed(t, file).Len())
	assert.Equal(t, []string{"1:1 - the file is larger than 8388608 bytes (8 MiB), which is the limit"}, lines(refused(t, file+" ").Problems))
}

func TestLimitOfTasks(t *testing.T) {
	assert.Equal(t, fsmspec.MaxTasks, parsed(t, many(fsmspec.MaxTasks)).Len())
	assert.Equal(t, []string{"1002:3 /1000 a file may hold at most 1000 tasks"}, lines(refused(t, many(fsmspec.MaxTasks+1)).Problems))
	assert.Len(t, refused(t, many(3*fsmspec.MaxTasks)).Problems, 1, "what follows is not checked")

	file := strings.Replace(many(fsmspec.MaxTasks+1), `"id": 1,`, `"id": 1, "blocks": [1001],`, 1)
	assert.Len(t, refused(t, file).Problems, 1, "nor are references to it")
}

func TestTasksPastTheLimitMustBeJSON(t *testing.T) {
	file := strings.TrimSuffix(many(fsmspec.MaxTasks+2), "]\n")
	problems := refused(t, file).Problems
	require.Len(t, problems, 2)
	assert.Contains(t, problems[1].Message, "unexpected end of file")
}

func nested(levels int) string {
	// The array, the task and metadata are three levels.
	inside := levels - 3
	return `[{"id": 1, "subject": "A", "metadata": {"k": ` + strings.Repeat("[", inside) + strings.Repeat("]", inside) + `}}]`
}

func TestLimitOfNesting(t *testing.T) {
	spec := parsed(t, strings.Replace(nested(fsmspec.MaxDepth), "[]", "[1.50]", 1))
	assert.Contains(t, must(spec.Plan("c", fsmspec.Snapshot{}, fsmspec.Policy{})).Creations()[0].Metadata, "1.50")

	want := fmt.Sprintf("1:143 /0/metadata/k%s task 1 (\"A\"): nested deeper than 100 levels", strings.Repeat("/0", 97))
	assert.Equal(t, []string{want}, lines(refused(t, nested(fsmspec.MaxDepth+1)).Problems))
	assert.Equal(t, []string{want}, lines(refused(t, nested(fsmspec.MaxDepth+50)).Problems), "once for each value that is nested too deep")
}

func TestNestingPastAllBounds(t *testing.T) {
	problems := refused(t, strings.Repeat("[", 100_000)).Problems
	text := problems[len(problems)-1].Message
	assert.Contains(t, text, "exceeded max depth")

	problems = refused(t, `[{"id": 1, "subject": "A", "metadata": `+strings.Repeat(`{"k":`, 20_000)).Problems
	assert.Equal(t, `task 1 ("A"): nested deeper than 100 levels`, problems[0].Message)
}

func TestLimitOfProblems(t *testing.T) {
	file := `[{"id": 1, "subject": "A", "blocks": [` + strings.Repeat("0,", fsmspec.MaxProblems-1) + `0]}]`
	assert.Len(t, refused(t, file).Problems, fsmspec.MaxProblems)

	file = `[{"id": 1, "subject": "A", "blocks": [` + strings.Repeat("0,", fsmspec.MaxProblems+4) + `0]}]`
	problems := refused(t, file).Problems
	require.Len(t, problems, fsmspec.MaxProblems+1)
	assert.Equal(t, "and 5 more, which are not listed", problems[fsmspec.MaxProblems].Message)

	problems = refused(t, strings.TrimSuffix(file, "]")).Problems
	assert.Contains(t, problems[fsmspec.MaxProblems].Message, "unexpected end of file", "a syntax error is always listed")
}

// The pointer of each problem contains the key, which is a quarter of the largest file.
func TestProblemsWithLongPointersAreBounded(t *testing.T) {
	const key = fsmspec.MaxBytes / 4
	problems := refused(t, `[{"`+strings.Repeat("k", key)+`": {`+strings.Repeat(`"a":1,`, 1000)+`"a":1}}]`).Problems
	size := 0
	for _, p := range problems {
		size += len(p.Pointer)
	}
	assert.Less(t, size, fsmspec.MaxBytes+2*key)
	assert.Contains(t, problems[len(problems)-1].Message, "more, which are not listed")
}

// The file has 999 problems on one line of a megabyte.
func TestManyProblemsOnALongLine(t *testing.T) {
	entry := `{"id": 1, "subject": "` + strings.Repeat("é", 500) + `"}`
	file := "[" + strings.Repeat(entry+",", 999) + entry + "]"
	problems := refused(t, file).Problems
	require.Len(t, problems, 999)
	columns := len([]rune(entry)) + 1
	for i, p := range problems {
		require.Equal(t, len(`[{"id": `)+1+(i+1)*columns, p.Column)
	}
}
