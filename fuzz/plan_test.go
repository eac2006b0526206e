package fuzz_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/checklist"
	"github.com/fsmtx/fsmtx/internal/outline"
	"github.com/fsmtx/fsmtx/internal/write"
)

// FuzzPlan reads any text as one that describes steps. Those that are found are a valid workflow, each from a line of the
// text, and what fsmtx new writes of them is valid. A plan to work by has a step for each of its lines.
func FuzzPlan(f *testing.F) {
	files := must(filepath.Glob("../internal/outline/testdata/corpus/*.txtar"))
	require.NotEmpty(f, files)
	for i, name := range files {
		f.Add(must(txtar.ParseFile(name)).Files[0].Data, byte(i))
	}
	for _, seed := range []string{
		"", "- [ ] a\n  - [x] b\n    text\n- [ ] c\r\n", "1. \xff\n2. \u2028b\x00", "# Step 1: A\n## Step 2: B\n```\n- [ ] c\n",
		"- [ ] <b>&\\[\n- [x]\n", "- **Step 1:**\n  a\n- **Step 2:**\n  b\n", "- [ ] **Step 1:**\n  a\n- [ ] **Step 2:**\n  b\n",
		"| Task | Done |\n|---|---|\n| a | [ ] |\n| b | [x] |\n", "```mermaid\ngraph TD\nA --> B{c}\nB -->|no| A\nB -->|yes| D\n```",
	} {
		f.Add([]byte(seed), byte(0))
	}
	forms := append([]string{""}, outline.Forms()...)
	f.Fuzz(func(t *testing.T, text []byte, form byte) {
		skipIfTooLong(t, text)
		lines := strings.Count(string(text), "\n") + 1
		o := outline.Markdown(text, forms[int(form)%len(forms)])
		for _, part := range append(o.Left, o.Tied...) {
			require.True(t, part.Line >= 1 && part.Line <= lines, "%v", part)
		}
		h := newHome(t)
		h.write("skill/SKILL.md", text)
		plan, err := write.ReadPlan(h.path("skill/SKILL.md"), forms[int(form)%len(forms)])
		if err == nil {
			require.Len(t, plan.Lines, must(fsmspec.Parse(plan.Data)).Len())
			boxes := map[string]int{}
			for _, b := range checklist.Read(string(text)).Boxes {
				boxes[b.Text]++
			}
			for _, line := range plan.Lines {
				boxes[line.Text]--
			}
			for line, left := range boxes {
				require.Zero(t, left, line)
			}
		}
		if len(o.Steps) == 0 {
			return
		}
		require.Empty(t, o.Unsure)
		_, err = fsmspec.Parse(outline.JSON(o.Steps, nil))
		require.NoError(t, err)
		checkLines(t, o.Steps, lines)
		if code, _, errs := h.run("new", h.path("skill"), "--form="+forms[int(form)%len(forms)]); code == 0 {
			code, out, errs := h.run("validate", h.path("skill"))
			require.Zero(t, code, "%s%s", out, errs)
		} else {
			require.NotContains(t, errs, "internal error")
		}
	})
}

func checkLines(t *testing.T, steps []outline.Step, lines int) {
	for _, s := range steps {
		require.True(t, s.Line >= 0 && s.Line <= lines, "step %d is from line %d of %d", s.ID, s.Line, lines)
		checkLines(t, s.Do, lines)
	}
}
