package outline_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/checklist"
	"github.com/fsmtx/fsmtx/internal/outline"
)

// subjects returns the subjects of the steps on one line.
func subjects(steps []outline.Step) string {
	return strings.ReplaceAll(strings.TrimSpace(shown(steps, "")), "\n", " | ")
}

func TestDotsOfCodeEndNoSentence(t *testing.T) {
	text := "## Steps\n\n1. Run `docker build . -t app` and push. Then wait.\n2. Run `git add .`\n3. Build `a.b`.\n4. Copy it to ..\n" +
		"5. Check the diff.\n"
	steps := outline.Markdown([]byte(text), "").Steps
	assert.Equal(t, "Run `docker build . -t app` and push | Run `git add .` | Build `a.b` | Copy it to .. | Check the diff", subjects(steps))
	assert.Equal(t, "Then wait.", steps[0].Description)
}

// TestALabelAloneOnItsLine: the title is in the next line.
func TestALabelAloneOnItsLine(t *testing.T) {
	for bullet, want := range map[string]string{"- ": "Do foo | Do bar", "- [ ] ": "Step 1: Do foo | Step 2: Do bar"} {
		text := bullet + "**Step 1:**\n  Do foo\n" + bullet + "**Step 2:**\n  Do bar\n"
		assert.Equal(t, want, subjects(outline.Markdown([]byte(text), "").Steps), text)
	}
}

func TestAbbreviationsEndNoSentence(t *testing.T) {
	text := "## Steps\n\n1. Pick a name, e.g. `fix-login`. Keep it short.\n2. Ask Dr. Smith\n3. Compare A vs. B. Take one.\n" +
		"4. Tests prüfen, z. B. `make`. Danach weiter.\n5. Choose plan B. Then go.\n6. 建立檔案：\n"
	steps := outline.Markdown([]byte(text), "").Steps
	assert.Equal(t, "Pick a name, e.g. `fix-login` | Ask Dr. Smith | Compare A vs. B | Tests prüfen, z. B. `make` | Choose plan B | "+
		"建立檔案",
		subjects(steps))
}

func TestDescriptions(t *testing.T) {
	steps := outline.Markdown([]byte(`# Release

1. **Run the tests**: with make.
   All of them:

   - unit
   - end to end
2. Tag. Ask first.

This is not part of the list.
`), "").Steps
	require.Len(t, steps, 2)
	assert.Equal(t, "with make.\nAll of them:\n\n- unit\n- end to end", steps[0].Description)
	assert.Equal(t, "Tag", steps[1].Subject)
	assert.Equal(t, "Ask first.", steps[1].Description)
	assert.Equal(t, []int64{1}, steps[1].BlockedBy)

	long := strings.Repeat("word ", 20)
	steps = outline.Markdown([]byte("## Steps\n1. "+long+"\n2. Tag\n3. Publish\n"), "").Steps
	assert.LessOrEqual(t, len([]rune(steps[0].Subject)), 65)
	assert.Equal(t, strings.TrimSpace(long), steps[0].Description, "the description has the whole subject")
}

// The steps of any text are a valid workflow.
func TestStepsAreAValidWorkflow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"# T", "## H", "1. One", "2. **Two**: x", "10) ", "- b", "  - c", "   text", "", "```", "---", "1. \u200b", "# \xff",
			strings.Repeat("x", 90), "1. " + strings.Repeat("日", 90), "- [ ] ", "- [ ] T1 k", "- [x] T2 l", "  - [ ] T3 m", "2. [ ] n",
			"## Step 1: a", "## Step 2", "### 1.1 b", "## Phase B", "**Step 1: c**", "**2. d**", "Step 3: e", "## GATE 1", "## Workflow",
			"| # | step |", "| --- | --- |", "| 1 | i |", "- [x] j", "k\n---", "```dot", `"o" -> "p"`, `"p" -> "o" [label="q"]`, "```mermaid",
			"flowchart TD", "q[r] --> s{t}", "s -- u --> q", "s -->|v| w", "w --> x", "<!--", "-->", "> 1. u", "0. v", "1. **", "## **",
		})).Draw(t, "lines"), "\n")
		form := rapid.SampledFrom(append(outline.Forms(), "")).Draw(t, "form")
		steps := outline.Markdown([]byte(text), form).Steps
		spec, err := fsmspec.Parse(outline.JSON(steps, nil))
		require.NoError(t, err, "%s\n%s", text, outline.JSON(steps, nil))
		require.Equal(t, strings.Count(shown(steps, ""), "\n"), spec.Len())
	})
}

func TestTemplate(t *testing.T) {
	spec, err := fsmspec.Parse(outline.JSON(outline.Template(), nil))
	require.NoError(t, err)
	require.Empty(t, spec.Warnings())
}

// TestTextBetweenTasks: what stands at the margin between the tasks of a section belongs to them.
func TestTextBetweenTasks(t *testing.T) {
	text := "# Feature Plan\n\n### Task 1: A\n\nGoal.\n\n- [ ] **Step 1: Test**\n\n```go\nx\n```\n\n- [ ] **Step 2: Run**\n\nRun it.\n\n" +
		"### Task 2: B\n\n- [ ] **Step 1: Test**\n- [ ] **Step 2: Run**\n"
	steps := outline.Markdown([]byte(text), "").Steps
	assert.Equal(t, "A\n  Step 1: Test\n  Step 2: Run\nB\n  Step 1: Test\n  Step 2: Run\n", shown(steps, ""))
	assert.Equal(t, "Goal.", steps[0].Description)
	assert.Equal(t, "```go\nx\n```", steps[0].Do[0].Description)
	assert.Equal(t, "Run it.", steps[0].Do[1].Description)
}

// TestNoChainOfAGraph: a graph whose ways cannot be told is not made a chain, not even when it is asked for.
func TestNoChainOfAGraph(t *testing.T) {
	text := []byte("```mermaid\ngraph TD\nA{Bug?} -->|yes| C[Fix]\nA -->|no| B{Wish?}\nB -->|yes| C\nB -->|no| D[Ask]\n```\n")
	for _, form := range []string{"", "graph", "graph:3"} {
		o := outline.Markdown(text, form)
		assert.Empty(t, o.Steps, form)
		assert.NotEmpty(t, o.Unsure, form)
	}
}

// TestFormsAskedFor: a person decides where it is not sure.
func TestFormsAskedFor(t *testing.T) {
	text := []byte("## A\n1. Open\n2. Draw\n## B\n1. Open\n2. Print\n\n## Checklist\n- [ ] Clean\n- [ ] Dry\n")
	for form, want := range map[string]string{"": "", "list": "", "list:2": "Open | Draw", "list:5": "Open | Print", "tasks": "Clean | Dry",
		"list:3": "", "graph": ""} {
		o := outline.Markdown(text, form)
		assert.Equal(t, want, subjects(o.Steps), form)
		assert.Equal(t, want == "", o.Unsure != "", form)
	}
}

// TestWhatIsLeftOutIsSaid, with lines that are counted in the file, with its frontmatter.
func TestWhatIsLeftOutIsSaid(t *testing.T) {
	o := outline.Markdown([]byte("---\nname: x\n---\n# T\n\n## Why\n\n1. One\n2. Other\n\n## Workflow\n\n1. Open it\n2. Close it\n"), "")
	assert.Equal(t, "Open it | Close it", subjects(o.Steps))
	assert.Equal(t, 13, o.Steps[0].Line)
	assert.Equal(t, []outline.Left{{Line: 6, What: "Why"}, {Line: 8, What: `a numbered list (2, the first is "One")`,
		Why: `nothing says that what is under "Why" is the steps`, Form: "list:8"}}, o.Left)
}

// TestAllOrNothing: whatever else a text has between them, all of its steps are taken or none.
func TestAllOrNothing(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		style := rapid.SampledFrom([]string{"- [ ] T%03d Build part %d\n", "- [x] 1.%d Build part %d\n", "## Step %d: Build part %d\n",
			"### Phase %d - Build part %d\n", "**Step %d: Build part %d**\n\n",
			"- [ ] **Task %d:** Build part %d\n", "%d. Build part %d\n"}).Draw(t, "style")
		n := rapid.IntRange(2, 12).Draw(t, "steps")
		text := "# Plan\n\n"
		for i := 1; i <= n; i++ {
			text += fmt.Sprintf(style, i, i)
			text += rapid.SampledFrom([]string{"", "", "\n## Notes\n\n", "\nText.\n\n", "\n1. Look\n2. Listen\n\n", "\n- a\n- b\n\n",
				"\n```\n- [ ] T9 no\n```\n\n",
				"\n> ## Step 1: no\n\n", "\n**Files:** `a.go`\n\n", "\n- [ ] Sweep\n\n",
				"\n| # | Step |\n|---|---|\n| 1 | Look |\n| 2 | Listen |\n\n"}).Draw(t, "noise")
		}
		o := outline.Markdown([]byte(text), "")
		if got := strings.Count(shown(o.Steps, ""), "Build part"); got != 0 {
			require.Equal(t, n, got, "%s\n%s", text, shown(o.Steps, ""))
			found++
		} else {
			require.Empty(t, o.Steps, "%s\n%s", text, shown(o.Steps, ""))
		}
	})
	require.Positive(t, found)
}

// TestWhereTheStepsAre: by the heading above a list, and of steps that are there twice the longer text, or the last.
func TestWhereTheStepsAre(t *testing.T) {
	for heading, want := range map[string]bool{"Workflow": true, "Steps": true, "Example workflow": true, "Example": false, "Notes": false,
		"Workflow rules": false, "1. Example": false} {
		o := outline.Markdown([]byte("# T\n\n## "+heading+"\n\n1. Open it\n2. Close it\n"), "")
		assert.Equal(t, want, len(o.Steps) == 2, heading)
	}
	short, long := "## Step 1: Open it\n\n## Step 2: Close it\n\n", "## Phase 1: Open it\n\nUse it.\n\n## Phase 2: Close it\n\nText.\n\n"
	for text, line := range map[string]int{short: 3, short + short: 7, short + long: 7, long + short: 3} {
		o := outline.Markdown([]byte("# T\n\n"+text), "")
		if assert.Len(t, o.Steps, 2, "%s: %s", text, o.Unsure) {
			assert.Equal(t, line, o.Steps[0].Line, text)
		}
	}
}

// TestNamedTasksHaveEveryBox: of the section that a person names, each box is a step, with its parts, or a line is told.
func TestNamedTasksHaveEveryBox(t *testing.T) {
	const text = "# Tasks\n- [ ] 1.8 A\n- [ ] 1.9 B\n-[ ] 1.10 C\n- [ ] 2.2 D\n[ ] 2.3 E\n> - [ ] 2.4 F\n- [ x ] 4 G\n"
	o := outline.Markdown([]byte(text), "tasks:2")
	assert.Equal(t, "1.8 A\n1.9 B\n1.10 C\n2.2 D\n2.3 E\n2.4 F\n4 G (done)\n", shown(o.Steps, ""))
	for _, line := range []string{"- [!] 3 X", "- \u2611 5 Z", "- [todo] 6 Y", "- [ ]: 7 V"} {
		o = outline.Markdown([]byte(text+line+"\n"), "tasks:2")
		assert.Contains(t, o.Unsure, "line 9: ", line)
		assert.Empty(t, o.Steps, line)
	}
	o = outline.Markdown([]byte("# Tasks\n- [ ] A\n  - [ ] B\n    - [ ] C\n  - [ ] D\n- [ ] E\n"), "")
	assert.Equal(t, "A\n  B\n    C\n  D\nE\n", shown(o.Steps, ""))
}

// TestNothingIsLostBesideSteps: what stands beside a list is told, a column of a table is in its step, and a number that is missing is.
func TestNothingIsLostBesideSteps(t *testing.T) {
	for _, said := range []string{"- Gamma\n- Delta", "Then publish it with care.", "- y\n7) x", "> Mind the gap."} {
		o := outline.Markdown([]byte("# Steps\n1. Alpha\n2. Beta\n\n"+said+"\n"), "list:2")
		require.Len(t, o.Steps, 2)
		require.NotEmpty(t, o.Left, said)
		assert.Equal(t, 5, o.Left[0].Line, said)
	}
	o := outline.Markdown([]byte("# Steps\n1. Alpha\n2. Beta <!-- b -->\n\n---\n\n## End\n\n---\n"), "")
	require.Len(t, o.Left, 1) // a line that is drawn is nothing
	assert.Equal(t, "End", o.Left[0].What)
	assert.Equal(t, "Beta", o.Steps[1].Subject)
	o = outline.Markdown([]byte("# Steps\n\nBefore all, log in.\n\n1. Alpha\n2. Beta\n"), "")
	require.Len(t, o.Left, 1)
	assert.Equal(t, "Before all, log in", o.Left[0].What)
	o = outline.Markdown([]byte("# Steps\n1. Alpha\n2. Beta\n   - [ ] box\n3. Gamma\n"), "")
	require.Len(t, o.Left, 1)
	assert.Equal(t, "boxes that are no steps, but text of one (line 4)", o.Left[0].What)
	const table = "# Steps\n| # | Step | How |\n|---|---|---|\n| 1 | Alpha | with a hammer |\n| 2 | Beta | slowly |\n"
	o = outline.Markdown([]byte(table), "")
	require.Len(t, o.Steps, 2)
	assert.Equal(t, "How: with a hammer", o.Steps[0].Description)
	o = outline.Markdown([]byte(table+"| 4 | Delta | |\n"), "")
	require.Len(t, o.Tied, 1)
	assert.Equal(t, "4 comes after 2", o.Tied[0].Why)
}

// TestTheTextOfABoxIsItsSubject, as it is written, but for the marks of emphasis.
func TestTheTextOfABoxIsItsSubject(t *testing.T) {
	for text, want := range map[string]string{
		"T002 [SKIP] Drop the old table":           "",
		"V1 API: delete":                           "",
		"S3 bucket: empty":                         "",
		"JIRA-123 fix login":                       "",
		"T010 (after T009) [x](http://y.z/a_b) go": "",
		"T003 [P] [US1] Write [DEFERRED] it":       "",
		"3.14 is pi":                               "",
		"2. Wire":                                  "",
		"Step 3 of docs":                           "",
		"UTF-8 check":                              "",
		"&lt;b&gt;":                                "",
		"Keep it. Then go.":                        "",
		"Lint `src/**/*.ts`":                       "",
		"Call `__init__` and __init__":             "",
		"Edit src/**/*.ts and **/*.go, **/*.js and a/**": "",
		"2**3 and 4**5":                       "",
		"**open and `open":                    "",
		"**Step 1: Write** the test":          "Step 1: Write the test",
		"Call __it now__, **`a`** and **b**.": "Call it now, `a` and b.",
		"用**粗体**写 `**x**`":                    "用粗体写 `**x**`",
		"a ``b ` **c**`` **d**":               "a ``b ` **c**`` d",
	} {
		steps := outlinePlan("- [ ] " + text)
		require.Len(t, steps, 1)
		assert.Equal(t, cmp.Or(want, text), steps[0].Subject)
		assert.Empty(t, steps[0].Description)
		o := outline.Markdown([]byte("- [ ] "+text+"\n- [ ] Other\n"), "tasks")
		require.Len(t, o.Steps, 2, o.Unsure)
		assert.Equal(t, cmp.Or(want, text), o.Steps[0].Subject)
	}
	assert.Equal(t, "2.2 Test (optional)", outlinePlan("- [ ]* 2.2 Test")[0].Subject)
	long := "First write the table of all that is there. Then read [it](a.md) again, and again, and again."
	step := outlinePlan("- [ ] " + long)[0]
	assert.Equal(t, "First write the table of all that is there.", step.Subject)
	assert.Equal(t, "Then read [it](a.md) again, and again, and again.", step.Description)
	step = outlinePlan("- [ ] 4. Checkpoint - ensure all tests pass, ask the user if questions arise.")[0] // 4. is no sentence
	assert.Equal(t, "4. Checkpoint - ensure all tests pass, ask the user if questions…", step.Subject)
}

// A box may be a heading: its text is below it, once.
func TestBoxesThatAreHeadings(t *testing.T) {
	for _, text := range []string{"# P\n\n## [ ] one\ntext\n\n## [ ] two\n",
		"# P\n\n## [ ] one\ntext\n## [ ] two"} {
		steps := outlinePlan(text)
		require.Len(t, steps, 2)
		assert.Equal(t, "two", steps[1].Subject)
		assert.Equal(t, 1, strings.Count(steps[0].Description, "text"))
	}
	const parts = "## [ ] one\ntext\n### [ ] two\n- [ ] three\n## [ ] four\n"
	steps := outlinePlan(parts)
	require.Len(t, steps, 4) // the boxes below a heading are its parts
	assert.Equal(t, "three | two | one | four", subjects(steps))
	assert.Equal(t, "text", steps[2].Description)
	assert.Equal(t, "one |   two |     three | four", subjects(outline.Markdown([]byte(parts), "").Steps))
}

func outlinePlan(text string) []outline.Step {
	list := checklist.Read(text)
	return outline.Plan(text, list, list.Boxes)
}

// No word of a box is lost, whatever it is, but what emphasises it.
func TestNoWordOfABoxIsLost(t *testing.T) {
	bare := func(text string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || r == '*' || r == '_' {
				return -1
			}
			return r
		}, text)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"T001", "[P]", "(x)", "**", "`", "``", "__", "a", "word", ". ", " ", "S3",
			"1.", "2.1 ", ":", "[l](t)", "日本", "/", "*", "\u200d", "\ufffe", ";", "&gt;",
			"https://example.com/a/long/path/that/goes/on/and/on"}),
			1, 20).Draw(t, "parts"), "")
		text = "a" + strings.ReplaceAll(text, "\ufffe", "") // a box needs a word
		for _, step := range append(outlinePlan("- [ ] "+text), outline.Markdown([]byte("- [ ] "+text+"\n- [ ] b\n"), "tasks").Steps[:1]...) {
			if !strings.Contains(bare(step.Description), bare(text)) {
				require.Equal(t, bare(text), bare(step.Subject+step.Description))
			}
		}
	})
}

// TestFormsThatAreNotRead: steps in a form that is not read are told with their line, as what they are, and beside others as left out.
func TestFormsThatAreNotRead(t *testing.T) {
	const words = ": steps are read by their numbers, not by words such as first and then"
	const letters = ": only digits are read"
	for _, c := range [][2]string{
		{"- Prepare:\n  1. Test it.\n  2. Rest.\n", `2: a numbered list below a bullet (2, the first is "Test it"): only one of its own is read`},
		{"First test it; then push it.\n", `1: "First test it; then push it"` + words},
		{"First test it.\n\nThen push it.\n", `1: "First test it"` + words},
		{"A. Test it.\nB. Push it.\n", `1: steps with letters (the first is "A. Test it")` + letters},
		{"a) Test it.\n\nb) Push it.\n", `1: steps with letters (the first is "a) Test it")` + letters},
		{"I. Test it.\nII. Push it.\n", `1: steps with letters (the first is "I. Test it")` + letters},
		{"## Steps\n\n- Test it.\n- Push it.\n", `3: a list without numbers (2, the first is "Test it"): only a numbered one is read`},
		{"Then again. A. Smith and B. Jones.\n", ""},
		{"## Examples\n\nFirst test it; then push it.\n\nA. Test it.\nB. Push it.\n", ""},
		{"- Prepare\n- Test\n", ""},
	} {
		text, want := c[0], c[1]
		o := outline.Markdown([]byte(text), "")
		require.Empty(t, o.Steps, text)
		told := ""
		for _, l := range o.Tied {
			told += fmt.Sprintf("%d: %s", l.Line, l)
		}
		assert.Equal(t, want, told, text)
		assert.Equal(t, want != "", o.Unsure != "", text)
		o = outline.Markdown([]byte("# All\n\n"+text+"\n## Steps\n\n1. Sing it.\n2. Rest.\n"), "")
		if want != "" {
			require.Len(t, o.Steps, 2, text)
			_, what, _ := strings.Cut(want, ": ")
			assert.True(t, slices.ContainsFunc(o.Left, func(l outline.Left) bool { return l.String() == what }), text)
		}
	}
}
