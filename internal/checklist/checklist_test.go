package checklist_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/checklist"
)

// TestBoxesInTheFormsOfPeople: each is one box, with its tick and its text.
func TestBoxesInTheFormsOfPeople(t *testing.T) {
	for line, want := range map[string]string{
		"- [ ] a": "a", "* [x] a": "+a", "+ [X] a": "+a", "1. [ ] a": "a", "2) [x] a": "+a", "- [] 2. a": "2. a", "- [  ] a": "a",
		"- [-] 2. a": "2. a", "- [~] a": "a", "- [/] a": "a", "- [>] a": "a", "- [ ]* 2.1 a": "2.1 a", "- [ ]a": "a", "- [х] a": "+a",
		"- [✓] a": "+a", "\ufeff- [ ] a": "a", "  - [x] a  ": "+a", "\t- [ ] a": "a", "> - [ ] a": "a", "> > * [x] a": "+a", "[ ] a": "a",
		"### [ ] a": "a", "## - [x] a": "+a", "**[ ] a**": "a", "- **[x]** a": "+a", "• [ ] a": "a", "a) [ ] b": "b", "а) [x] б": "+б",
		"一、[ ] 二": "二", "- 1. [ ] a": "a", "1.2 [ ] a": "a", "- [ ] Parse [x] boxes": "Parse [x] boxes", "- [ ]\u3000a": "a",
		"-\u00a0[ ] a": "a", "- \u200b[x] a": "+a", "- [\u00a0] a": "a",
		"١. [x] a": "+a", "- [ ] `[ ]` b": "`[ ]` b", "- [ ] a <!-- b --> <!-- c -->": "a",
		"- [ ] a `<!-- b -->`": "a `<!-- b -->`", "- [ ] a <!-- b --> c": "a <!-- b --> c",
		"- [ x ] a": "+a", "- [x ] a": "+a", "- [ X] a": "+a", "- [\t] a": "a", "- [ - ] a": "a", "- [✔️] a": "+a",
		"- [x][ref] a": "none", "- [x](url) a": "none", "- [1] a": "none",
		"- [P] is parallel": "none", "a [ ] b": "none", "- a": "none", "- [link] a": "none", "- `- [ ]` is a box": "none", "": "none",
		"<!-- - [ ] a -->": "none", "- ✅ a": "none", "`<input type=checkbox>`": "none", "<pre>- [ ] a</pre>": "none",
	} {
		list := checklist.Read(line)
		require.Empty(t, list.Faults, line)
		got := "none"
		for _, b := range list.Boxes {
			got = b.Text
			if b.Done {
				got = "+" + b.Text
			}
			require.Equal(t, b.Text, checklist.Read(b.Set(line, checklist.Tick)).Boxes[0].Text, line)
			require.True(t, checklist.Read(b.Set(line, checklist.Tick)).Boxes[0].Done, line)
			require.False(t, checklist.Read(b.Set(line, checklist.Open)).Boxes[0].Done, line)
		}
		require.Equal(t, want, got, line)
	}
}

// TestWhatCannotBeReadIsTold, with its line.
func TestWhatCannotBeReadIsTold(t *testing.T) {
	for text, want := range map[string]string{
		"- [!] a":                                "line 1: [!] is none of the boxes [ ], [x], [-], [~], [/] and [>]",
		"- [ ] a\n- [v] b":                       "line 2: [v] is none of the boxes",
		"- [ ] a\n  text\n\n- [o] b":             "line 4: [o] is none of the boxes",
		"- [todo] b\n- [ ] a":                    "line 1: [todo] is none of the boxes",
		"- [in progress] b\n- [ ] a":             "line 1: [in progress] is none of the boxes",
		"- [ ]: a":                               "line 1: [ ]: is not a box: leave the colon out",
		"- [ ] a\n- [*] b":                       "line 2: [*] is none of the boxes",
		"- [ ] a\n\n        - [ ] b\n":           "line 3: it is indented as code below a box",
		"1. [ ] a\n\n        - [ ] b":            "line 3: it is indented as code below a box",
		"- [ ] a\n\n  Text.\n\n         - [ ] b": "line 5: it is indented as code below a box",
		"- [ ] a\n```[tasklist]\n- [ ] b\n```":   "line 2: the boxes in a [tasklist] are not read",
		"- T001 [ ] Do it":                       "line 1: the box stands behind the text",
		"- **Do** [ ] it":                        "line 1: the box stands behind the text",
		"- [ ] a\n- `[ ]` b":                     "line 2: `[ ]` is code",
		"x\n- ☐ a":                               "line 2: write the box as [ ] or [x]",
		"- ［ ］ a":                                "line 1: write the box as",
		"- 【 】 a":                                "line 1: write the box as [ ] or [x]",
		"- ⬜ a":                                  "line 1: write the box as [ ] or [x]",
		"1. 🔲 a":                                 "line 1: write the box as [ ] or [x]",
		"- [ ] a\n- ✅ b":                         "line 2: write the mark as a box, [ ] or [x], or leave it out",
		"- [ ] a\n- ❌ b":                         "line 2: write the mark as a box",
		"- [ ] a\n- ✔️ b":                        "line 2: write the mark as a box",
		"- ~~[ ] a~~":                            "line 1: the box is struck through",
		"TODO: [ ] a":                            "line 1: the box stands behind the text",
		"- <input type=\"checkbox\"> a":          "line 1: a box in HTML",
		"<ul>\n<li>[ ] a</li>\n</ul>":            "line 2: a box in HTML",
		"<pre>\n- [ ] a\n":                       "line 1: the block of HTML that begins here does not end, and the box in line 2 is in it",
		"- Write it [x]":                         "line 1: the box stands behind the text",
		"1. Write it: [ ] today":                 "line 1: the box stands behind the text",
		"### Task 1 [ ]":                         "line 1: the box stands behind the text",
		"- [ ]":                                  "line 1: the box has no text",
		"- [ ] <!-- note --> <!-- b -->":         "line 1: the box has no text",
		"- [ ] <!-- a\nb -->":                    "line 1: the box has no text",
		"- [ ] d <!--":                           "line 1: the comment that begins here does not end",
		"[^1]: - [ ] x":                          "line 1: something stands before the item: write the box on a line of its own",
		": - [x] x":                              "line 1: something stands before the item",
		"Note: 1. [ ] x":                         "line 1: something stands before the item",
		"<div>- [ ] x</div>":                     "line 1: something stands before the item",
		"<!-- a --> - [ ] x":                     "line 1: something stands before the item",
		"- [ ] a\n```\n- [ ] b":                  "line 2: the code that begins here does not end, and the box in line 3 is in it",
		"<!--\n- [ ] a\n\n- [ ] b":               "line 1: the comment that begins here does not end, and the box in line 2 is in it",
		"---\n# Plan\n- [ ] a":                   "line 1: the frontmatter that begins here does not end",
		"---\n\n- [ ] a\n\n---\n- [ ] b":         "line 3: a box in the frontmatter",
		"- [ ] a\r- [ ] b":                       "line 1: its lines end with a carriage return alone",
		"- [ ] a\n*[ ] b":                        "line 2: may be a box",
		"- [ ] a\n- *[ ] b*":                     "line 2: may be a box",
		"- [ ] a\n**- [ ] b**":                   "line 2: may be a box",
		"- [ ] a\nDo it [ ]":                     "line 2: may be a box",
		"- [ ] a\nStep: [ ] do":                  "line 2: may be a box",
		"- [ ] a\n1: [ ] b":                      "line 2: may be a box",
		"- [ ] a\n① [ ] b":                       "line 2: may be a box",
		"- [ ] a\n- \"[ ] b\"":                   "line 2: may be a box",
		"- [ ] a\n- ([ ]) b":                     "line 2: may be a box",
		"- [ ] a\n- [--] b":                      "line 2: [--] is none of the boxes",
		"- [ ] a\n- [**x**] b":                   "line 2: [**x**] is none of the boxes",
		"[~] = waits\n\n- [ ] a":                 "line 1: it seems to explain a mark",
		"> [ ] new · [~] begun · [x] done":       "line 1: it seems to explain a mark",
		"- [ ] a\n- ( ) b":                       "line 2: write the box as [ ] or [x]",
		"- [ ] a\n- &#9744; b":                   "line 2: write the box as [ ] or [x]",
		"-\x00 \x00[\x00":                        "line 1: this is not text in UTF-8",
	} {
		list := checklist.Read(text)
		require.NotEmpty(t, list.Faults, text)
		require.True(t, strings.HasPrefix(list.Faults[0].String(), want), "%s: %s", text, list.Faults[0])
	}
}

// TestLinksBesideBoxesAreText: what is a link or a reference is none, nor what is in another section.
func TestLinksBesideBoxesAreText(t *testing.T) {
	for _, text := range []string{"- [todo](url) b", "- [todo][1] b", "- [Todo] b\n\n[todo]: url", "- [x](url) b",
		"## Legend\n- [o] open\n- `[ ]` b",
		"- Use [ ] for open ones", "- Use [x] for done ones", "## Other\n- [*] any", "| f | [x] |", "```[tasklist]\n### T\n```",
		"- 【注意】 b",
		"[x]: url", "Mark it with [x].", "Change [ ] to [x]", "Each is [ ] or [x].", "Tick a box [x] when it is done.", "Set it to [x]",
		"Mark a step as [x]", "`[ ]` is open", "arr[x] = 1", "- a[x]"} {
		list := checklist.Read("- [ ] a\n" + text + "\n")
		require.Empty(t, list.Faults, text)
		require.Len(t, list.Boxes, 1, text)
	}
}

// TestBoxesOfTablesAreTold: they are no items, and no reason to refuse the others.
func TestBoxesOfTablesAreTold(t *testing.T) {
	for text, want := range map[string]string{
		"| 1 | [ ] | a |": "line 1: a box in a table is not a list item",
		"| 1 | ☐ | a |\n| 2 | ☑ | a |\n| 3 | ✅ | a |":                    "lines 1–2: a box in a table is not a list item",
		"- [ ] a\n\n| - [ ] x | b |":                                     "line 3: a box in a table is not a list item",
		"| b | [] x |":                                                   "line 1: a box in a table is not a list item",
		"[ ] = open\n[x] = done\n\n- [ ] a":                              "lines 1–2: it explains a mark",
		"### Legend\n- [ ] New\n- [!] Bad\n## A\n- [ ] a":                "lines 2–3: it explains a mark",
		"## Status legend\n- [ ] New\n\n## 状态说明\n- [x] 做完了":              "lines 2, 5: it explains a mark",
		"- [ ] Open\n- [~] In progress\n- [x] **Done** tasks\n\n- [ ] a": "lines 1–3: it explains a mark",
		"- [ ] a\n## Patterns\n- [*] a word":                             "line 3: [*] is none of the boxes [ ], [x], [-], [~], [/] and [>]",
	} {
		list := checklist.Read(text)
		require.Empty(t, list.Faults, text)
		require.Equal(t, want, checklist.Told(list.Apart), text)
	}
}

// TestCodeAndCommentsHaveNoBoxes, whatever is around them.
func TestCodeAndCommentsHaveNoBoxes(t *testing.T) {
	text := strings.Join([]string{
		"---", "name: x", "---", "# Plan", "", "Tick `- [ ]` when done.", "```markdown", "- [ ] in code", "```", "- [ ] one", "  ~~~~",
		"  - [ ] code", "  ~~~", "  - [ ] code", "  ~~~~", "<!--", "- [ ] comment", "-->", "- [x] two", "  <!-- - [ ] comment -->",
		"> ```", "> - [ ] code", "> ```", "", "Text.", "", "    - [ ] indented code", "", "- ```", "  - [ ] code", "  ```",
		"- a <!-- begins", "- [ ] comment", "ends --> ", "- [ ] three", "", "     - [ ] four", "````", "```", "- [ ] code", "````",
		"1. [ ] five", "", "   - [ ] six", "", "       - [ ] seven", "", "  Text.", "",
		"<script>", "- [ ] code", "</script>", "- <pre>", "  - [ ] code", "  </pre>",
		"- [ ] a", "        - [ ] b", "", "## H",
		"    - [ ] code", "```", "- [ ] code", "```", "    - [ ] code", "- 1. [ ] c", "", "       - [ ] d",
	}, "\n")
	list := checklist.Read(text)
	require.Empty(t, list.Faults)
	var texts []string
	for _, b := range list.Boxes {
		texts = append(texts, b.Text+" "+strconv.Itoa(b.Line+1))
	}
	require.Equal(t, []string{"one 10", "two 19", "three 35", "four 37", "five 42",
		"six 44", "seven 46", "a 56", "b 57", "c 65", "d 67"}, texts)
}

// TestEveryBoxIsTakenWhateverIsBeside: lines that are boxes, between others, in the order of the text; only the mark changes.
func TestEveryBoxIsTakenWhateverIsBeside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lines, want []string
		for i := range rapid.IntRange(1, 12).Draw(t, "lines") {
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				lines = append(lines, rapid.SampledFrom([]string{"", "## A", "Text.", "- item", "1. item", "> quote", "| a | b |"}).Draw(t, "other"))
			case 1:
				lines = append(lines, "```", "- [ ] in code", "```")
			default:
				before := rapid.SampledFrom([]string{"- ", "* ", "  - ", "1. ", "### ", "> - ", "a. "}).Draw(t, "before")
				mark := rapid.SampledFrom([]string{" ", "x", "X", "-", "~", "/", "", ">"}).Draw(t, "mark")
				lines, want = append(lines, before+"["+mark+"] box "+strconv.Itoa(i)), append(want, "box "+strconv.Itoa(i))
			}
		}
		text := strings.Join(lines, rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end"))
		list := checklist.Read(text)
		require.Empty(t, list.Faults, text)
		var got []string
		all := checklist.Lines(text)
		for _, b := range list.Boxes {
			got = append(got, b.Text)
			all[b.Line] = b.Set(all[b.Line], b.Mark)
		}
		require.Equal(t, want, got, text)
	})
}

func TestUnticked(t *testing.T) {
	text := "# A\r\n\n- [x] a\n- [ ] b\n```\n- [x] code\n```\n1. [X] c"
	require.Equal(t, "# A\r\n\n- [ ] a\n- [ ] b\n```\n- [x] code\n```\n1. [ ] c", checklist.Unticked(text))
	require.Equal(t, checklist.Unticked(text), checklist.Unticked(checklist.Unticked(text)))
	require.Equal(t, "none", checklist.Unticked("none"))
}
