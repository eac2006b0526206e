package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

func TestReadTasks(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want taskList
	}{
		"nothing":                    {"", taskList{}},
		"done and numbered past 999": {"- [x] [T001] a\n- [X] [T1000] b\n", taskList{tasks: 2}},
		"not tasks":                  {"- [ ] T001\n- [ ] [T01] a\n- [] [T001]\n* [ ] [T001]\n  - [ ] [T001] nested\n-[ ] [T001]\n", taskList{}},
		"below the task":             {"- [ ] [T001] a\n  - done when UT-1\n  - and UT-2\n- [ ] [T002] b\n", taskList{tasks: 2, tested: 1}},
		"a heading ends it":          {"- [ ] [T001] a\n# Index\nUT-1\n", taskList{tasks: 1}},
		"headings below it are its own": {"## Phase 1\n### Area\n- [ ] [T001] a\n#### Done\nUT-1\n- [ ] [T002] b\n### Index\nUT-2\n",
			taskList{tasks: 2, tested: 1, phases: 1}},
		"the task's heading is deeper": {"## Phase 1\n- [ ] [T001] a\n### Definition of Done\n- UT-1\n## Phase 2\n",
			taskList{tasks: 1, tested: 1, phases: 2}},
		"ids with an area": {"- [ ] [T001] UT-AUTH-01\n- [ ] [T002] E2E-web_login-3\n- [ ] [T003] UT-AUTH\n",
			taskList{tasks: 3, tested: 2}},
		"not before the first":       {"UT-1\n- [ ] [T001] a\n", taskList{tasks: 1}},
		"a hashtag is not a heading": {"- [ ] [T001] a\n  #tag UT-1\n", taskList{tasks: 1, tested: 1}},
		"each kind": {"- [ ] [T001] UT-1\n- [ ] [T002] (INT-22)\n- [ ] [T003] E2E-3.\n- [ ] [T004] UAT-4\n",
			taskList{tasks: 4, tested: 4}},
		"not ids":                       {"- [ ] [T001] OUTPUT-1 UT- UT-x ut-1 INT1\n", taskList{tasks: 1}},
		"phases":                        {"## Phase 1\n##  Phase two\n### Phase 3\n# Phase 4\n##Phase 5\n ## Phase 6\n", taskList{phases: 2}},
		"self-critique, in any writing": {"## SELF_critique\n", taskList{critique: true}},
		"self criticism":                {"selfcritique\n", taskList{}},
		"carriage returns":              {"## Phase 1\r\n- [ ] [T001] a\r\n  UT-1\r\n", taskList{tasks: 1, tested: 1, phases: 1}},
	} {
		assert.Equal(t, c.want, readTasks(c.text, defaults.testIDs), name)
	}
}

func TestPercentIsRoundedDown(t *testing.T) {
	assert.Equal(t, 79, taskList{tasks: 29, tested: 23}.percent())
	assert.Equal(t, 100, taskList{tasks: 7, tested: 7}.percent())
}

func TestMarkdown(t *testing.T) {
	root := worlds.Tree(t, "elsewhere/c.md", "cases/a.md", "cases/sub/B.MD", "cases/a.txt", "cases/dir.md/", "file", "link -> cases")
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	write("elsewhere/c.md", "c")
	write("cases/a.md", "\ufeff# UT-1\n")
	write("cases/sub/B.MD", "b")
	require.NoError(t, os.Symlink(filepath.Join(root, "elsewhere/c.md"), filepath.Join(root, "cases/c.md")))
	require.NoError(t, os.Symlink(root, filepath.Join(root, "cases/round")))
	require.NoError(t, files.Mkfifo(filepath.Join(root, "cases/pipe.md"), 0o600))
	for dir, want := range map[string][]string{
		"cases":         {"# UT-1\n", "c", "b"},
		"link":          {"# UT-1\n", "c", "b"},
		"none":          nil,
		"file":          nil,
		"file/and/more": nil,
	} {
		assert.Equal(t, want, must(markdown(filepath.Join(root, dir))), dir)
	}
}

// Sparse files make a tree larger than memory with a few commands.
func TestTheMarkdownOfATreeIsBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		path := filepath.Join(dir, fmt.Sprint(i, ".md"))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Truncate(path, maxDocument*3/4))
	}
	assert.Len(t, strings.Join(must(markdown(dir)), ""), maxDocument)
}

func TestTheNumberOfFilesOfATreeIsBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range maxDocuments + 1 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".md")), nil, 0o600))
	}
	assert.Len(t, must(markdown(dir)), maxDocuments)
}

func TestTasksAfterAByteOrderMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.md")
	require.NoError(t, os.WriteFile(path, []byte("\ufeff## Phase 1\r\n"), 0o600))
	assert.Equal(t, taskList{phases: 1}, readTasks(must(readText(path, maxDocument)), defaults.testIDs))
}

func TestCountIDs(t *testing.T) {
	texts := []string{"# UT-1\n## UT-2: x\ntext UT-3\n ## UT-4\n", "######UT-5\n####### UT-6\n## UT-x\n## **UT-7**\n## XUT-8\r\n### UT-9\r\n"}
	assert.Equal(t, 4, countIDs(texts, "UT"))
	assert.Equal(t, 0, countIDs(texts, "UAT"))
}

func TestCountSteps(t *testing.T) {
	for text, want := range map[string]int{
		"Given: a\nWhen: b\nThen: c\n":                  3,
		"**Given:** a **When:** b **Then:** c":          3,
		"**Given**: a\n__When__: b\n":                   2,
		"Given a\nWhen b\nThen c\n":                     3,
		"  Given a\n- When b\n* Then c\n1. Given d\n":   4,
		"**Given** a\n- **When** b\n> Then c\n":         3,
		"### Given\n":                                   1,
		"Given a user, When: b\n":                       2,
		"Forgiven: x\nWhenever\nThen: y\r\nGiven z\r\n": 2,
		"given a\nthey say Given that\n":                0,
		"Given: a Given: b\n":                           2,
		"":                                              0,
	} {
		assert.Equal(t, want, countSteps([]string{text}), text)
	}
}

func TestBlueprintElements(t *testing.T) {
	for name, texts := range map[string][]string{
		"component design": {
			"## Components\n- the parser, in src/parse/parser.go",
			"UserService (src/services/user.ts)",
			"module `internal/guard/frame.go`",
		},
		"data flow": {"## Data Flow\n", "data flows from A to B", "request -> controller -> store", "browser → API → database"},
		"interfaces": {"## Interfaces\n", "getUser(id: string): Promise<User>", "func Open(path string) error", "API contract",
			"Props: name, age", "run(x) -> y"},
		"files to create/modify": {"## Files to create\n", "Files to Create/Modify:", "New files:", "Create `src/a.ts`", "files to be changed"},
		"build sequence": {"## Build sequence\n", "Implementation order:", "Build order", "Implementation steps", "Phase 1: models",
			"Development plan", "Delivery order", "Construction phase"},
	} {
		has := func(text string) bool {
			all := readBlueprint(text)
			return all[slices.IndexFunc(all, func(e element) bool { return e.name == name })].found
		}
		for _, text := range texts {
			assert.True(t, has(text), "%s: %q", name, text)
		}
		assert.False(t, has("I looked around, and/or asked, and the design will be good (really: good). See notes.txt."), name)
	}
}

func TestAComponentWithoutAFileIsNotADesign(t *testing.T) {
	component := func(text string) bool { return readBlueprint(text)[0].found }
	assert.False(t, component("The service is a module of the data layer."))
	assert.False(t, component("See src/user.ts."))
	assert.True(t, component("The service is in src/user.ts."))
}

func TestCamelCase(t *testing.T) {
	for word, want := range map[string]bool{"UserService": true, "User": false, "USER": false, "userService": false,
		"src/UserService.ts": false, "HTTPServer": true, "It": false, "": false, "UserService.": true} {
		assert.Equal(t, want, isCamelCase(word), word)
	}
}

// TestMentionsWholePhrases: in singular or plural, and no longer word.
func TestMentionsWholePhrases(t *testing.T) {
	for text, want := range map[string]bool{
		"A new file": true, "Two new files.": true, "new files here": true, "A new filesystem": false, "New files2": false,
		"renew file": false, "a new filesystem and a new file": true, "": false,
	} {
		assert.Equal(t, want, mentions(plainWords(text), "new file"), text)
	}
}

// TestABlueprintIsReadToTheEnd: what is found in one line does not keep the reader from what
// is in a later one.
func TestABlueprintIsReadToTheEnd(t *testing.T) {
	lines := []string{"The UserService is in src/users.go.\n", "Create src/store.go.\n", "f(x int) returns y\n", "a -> b -> c\n"}
	slices.Reverse(lines)
	for range 2 {
		b := blueprint{path: regexp.MustCompile(filePath), signature: regexp.MustCompile(signature)}
		for _, line := range lines {
			b.read(line)
		}
		assert.True(t, b.anyPath && b.namedPath && b.changes && b.arrows, "%+v", b)
		slices.Reverse(lines)
	}
}

func TestTheFirstRowsOfH07ToH09(t *testing.T) {
	feature := map[string]string{"PLANNING_FEATURE_DIR": t.TempDir()}
	for id, agent := range map[string]string{"H07": techLead, "H08": architect, "H09": qaStrategist} {
		event := func(agent string) string {
			return fmt.Sprintf(`{"session_id":"s","cwd":"/","agent_type":%q,"last_assistant_message":"words"}`, agent)
		}
		other := explain(t, id, event(agents+"researcher"), feature)
		assert.Equal(t, 1, other.Row, id)
		assert.False(t, refuses(other.Verdict), id)
		assert.Equal(t, 2, explain(t, id, event(agent), feature).Row, id)
		assert.Equal(t, 2, explain(t, id, event(""), feature).Row, "%s: an event without an agent's name has matched the matcher", id)
		if id != "H08" {
			e := explain(t, id, event(agent), nil)
			assert.Equal(t, "No feature directory, cannot validate", e.Detail, id)
			assert.Equal(t, 1, e.Row, id)
		}
	}
}

func TestAnUnreadableDocumentIsNotAFailure(t *testing.T) {
	feature := t.TempDir()
	for _, name := range []string{"tasks.md", "test-cases/unit/a.md"} {
		path := filepath.Join(feature, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		createUnreadable(t, path)
	}
	for id, agent := range map[string]string{"H07": techLead, "H09": qaStrategist} {
		e := explain(t, id, fmt.Sprintf(`{"session_id":"s","cwd":"/","agent_type":%q}`, agent),
			map[string]string{"PLANNING_FEATURE_DIR": feature})
		assert.Equal(t, 0, e.Row, id)
		assert.Equal(t, "APPROVE", e.Word, id)
		assert.Contains(t, e.Detail, " unreadable: ", id)
	}
}

// createUnreadable creates a regular file that cannot be read. Root can read a file
// whatever its mode; for root it is a link to the memory of this process, where nothing is
// mapped at address 0.
func createUnreadable(t *testing.T, path string) {
	const memory = "/proc/self/mem"
	if os.Geteuid() != 0 {
		require.NoError(t, os.WriteFile(path, nil, 0))
		return
	}
	if !safefile.IsFile(memory) {
		t.Skip("root can read every file, and this system has no " + memory)
	}
	require.NoError(t, os.Symlink(memory, path))
}

func TestWithoutALastMessageTheTranscriptIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`{"type":"assistant","message":{"content":"## Found\n`+
		strings.Repeat("word ", 100)+`"}}`+"\n"), 0o600))
	for last, row := range map[string]int{"": 7, " \n": 7, "short": 5} {
		input := fmt.Sprintf(`{"session_id":"s","cwd":%q,"agent_type":"product-planning:x","last_assistant_message":%q,`+
			`"agent_transcript_path":"t.jsonl"}`,
			filepath.Dir(path), last)
		assert.Equal(t, row, explain(t, "H10", input, nil).Row, "%q", last)
	}
}
