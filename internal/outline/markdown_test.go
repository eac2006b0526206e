package outline_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/outline"
)

// subjects returns the subjects of the steps on one line.
func subjects(steps []outline.Step) string {
	var list []string
	for _, s := range steps {
		list = append(list, s.Subject)
	}
	return strings.Join(list, " | ")
}

func TestMarkdown(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"numbered list", "# Release\n\nDo this:\n\n1. Run the tests\n2. Tag\n3) Publish\n", "Run the tests | Tag | Publish"},
		{"front matter", "---\nname: x\n1. not a step\n---\n1. Run\n2. Tag\n", "Run | Tag"},
		{"code block", "1. Run\n   ```\n   1. not a step\n   ```\n2. Tag\n", "Run | Tag"},
		{"two lists", "## Build\n1. Compile\n2. Link\n## Ship\n1. Sign\n", ""},
		{"nested list", "1. Run\n   1. unit\n   2. all\n2. Tag\n", "Run | Tag"},
		{"headings", "# Release\nText.\n## Step 1: Run the tests\nAll of them.\n### How\n## Step 2. Tag\n## Step 3 - Publish\n",
			"Run the tests | Tag | Publish"},
		{"headings of the first level", "# Step 1: Run\n# Step 2: Tag\n", "Run | Tag"},
		{"lazy numbers", "1. Run\n1. Tag\n1. Publish\n", "Run | Tag | Publish"},
		{"list in a list without indentation", "## Steps\n1. Run\n2. Look at:\n\nThese areas:\n1. unit\n2. all\n3. slow\n\n3. Tag\n",
			"Run | Look at | Tag"},
		{"unclosed code block", "1. Run\n2. Tag\n```\n3. not a step\n", "Run | Tag"},
		{"bullets", "# Release\n- [ ] Run\n- [x] Tag\n- [ ] Publish\n", "Run | Tag | Publish"},
		{"emphasis and links", "1. **Run the tests**: with `make`.\n2. Read [the guide](http://x)\n", "Run the tests | Read the guide"},
		{"CRLF", "1. Run\r\n2. Tag\r\n", "Run | Tag"},
		{"prose", "Just text.\n\nMore.\n", ""},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, subjects(outline.Markdown([]byte(c.text)).Steps)) })
	}
}

func TestDotsOfCodeEndNoSentence(t *testing.T) {
	text := "## Steps\n\n1. Run `docker build . -t app` and push. Then wait.\n2. Run `git add .`\n3. Build `a.b`.\n4. Copy it to ..\n" +
		"5. Check the diff.\n"
	steps := outline.Markdown([]byte(text)).Steps
	assert.Equal(t, "Run docker build . -t app and push | Run git add . | Build a.b | Copy it to .. | Check the diff", subjects(steps))
	assert.Equal(t, "Then wait.", steps[0].Description)
}

func TestAbbreviationsEndNoSentence(t *testing.T) {
	text := "## Steps\n\n1. Pick a name, e.g. `fix-login`. Keep it short.\n2. Ask Dr. Smith\n3. Compare A vs. B. Take one.\n" +
		"4. Tests prüfen, z. B. `make`. Danach weiter.\n5. Choose plan B. Then go.\n6. 建立檔案：\n"
	steps := outline.Markdown([]byte(text)).Steps
	assert.Equal(t, "Pick a name, e.g. fix-login | Ask Dr. Smith | Compare A vs. B | Tests prüfen, z. B. make | Choose plan B | 建立檔案",
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
`)).Steps
	require.Len(t, steps, 2)
	assert.Equal(t, "with make.\nAll of them:\n\n- unit\n- end to end", steps[0].Description)
	assert.Equal(t, "Tag", steps[1].Subject)
	assert.Equal(t, "Ask first.", steps[1].Description)
	assert.Equal(t, []int64{1}, steps[1].BlockedBy)

	long := strings.Repeat("word ", 20)
	steps = outline.Markdown([]byte("1. " + long + "\n2. Tag\n3. Publish\n")).Steps
	assert.LessOrEqual(t, len([]rune(steps[0].Subject)), 65)
	assert.Equal(t, strings.TrimSpace(long), steps[0].Description, "the description has the whole subject")
}

// The steps of any text are a valid workflow.
func TestStepsAreAValidWorkflow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"# T", "## H", "1. One", "2. **Two**: x", "10) ", "- b", "  - c", "   text", "", "```", "---", "1. \u200b", "# \xff",
			strings.Repeat("x", 90), "1. " + strings.Repeat("日", 90), "- [ ] ",
			"## Step 1: a", "## Step 2", "### 1.1 b", "## Phase B", "**Step 1: c**", "**2. d**", "Step 3: e", "## 第1步：f", "## Workflow", "## Notes",
			`<step name="g">`, "</step>", "<process>", "</process>", "| # | h |", "| --- | --- |", "| 1 | i |", "- [x] j", "k\n---", "l → m → n",
			"```dot", `"o" -> "p"`, "```mermaid", "flowchart TD", "q[r] --> s{t}", "<!--", "-->", "> 1. u", "0. v", "1. **", "## **",
		})).Draw(t, "lines"), "\n")
		steps := outline.Markdown([]byte(text)).Steps
		spec, err := fsmspec.Parse(outline.JSON(steps))
		require.NoError(t, err, "%s\n%s", text, outline.JSON(steps))
		require.Equal(t, len(steps), spec.Len())
	})
}

func TestTemplate(t *testing.T) {
	spec, err := fsmspec.Parse(outline.JSON(outline.Template()))
	require.NoError(t, err)
	require.Empty(t, spec.Warnings())
}
