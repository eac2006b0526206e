package outline_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/outline"
)

// TestWithdrawn: a sentence that says something of a step, or of the steps, takes back the gates of those that it names, wherever it
// stands; one that points at a step, or introduces them, does not.
func TestWithdrawn(t *testing.T) {
	const steps = "# Steps\n1. Write the plan to `plan.md`.\n2. Run `make e2e`. It must pass.\n3. Get the approval of the user.\n"
	text, err := os.ReadFile("testdata/withdrawing.txt")
	require.NoError(t, err)
	back := ""
	for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
		if strings.HasPrefix(line, "# ") {
			continue
		}
		if after, found := strings.CutPrefix(line, "="); found {
			back = after
			continue
		}
		said := strings.ReplaceAll(line, `\n`, "\n")
		for where, text := range map[string]string{
			"before":  said + "\n\n" + steps,
			"behind":  steps + "\n" + said + "\n",
			"section": steps + "\n## Notes\n\n" + said + "\n",
			"front":   "---\nname: x\ndescription: Releases the API. " + said + "\n---\n" + steps,
		} {
			if where == "front" && (strings.ContainsAny(line[:1], "#>|`<-") || line == "The steps are Anna's.") {
				continue // no text of a description, or one that only says what the steps are
			}
			o := outline.Markdown([]byte(text), "list")
			require.Len(t, o.Steps, 3, text)
			left := map[int64]bool{1: true, 2: true, 3: true}
			for _, h := range o.Hints {
				if h.Gate != "" {
					delete(left, h.Step)
				}
			}
			got := ""
			for id := int64(1); id <= 3; id++ {
				if left[id] {
					got += fmt.Sprintf(" %d", id)
				}
			}
			assert.Equal(t, back, got, "%s: %q", where, said)
		}
	}
}

// TestBeside: a sentence beside the steps takes back all that they demand, unless it is of a kind that cannot; of a description those do
// that forbid something. It is told with its line.
func TestBeside(t *testing.T) {
	const list = "# Steps\n1. Write the plan to `plan.md`.\n2. Run `make e2e`. It must pass.\n3. Get the approval of the user.\n"
	const headings = "# Release\n\nSAID\n\n## Step 1: Plan\nWrite the plan to `plan.md`.\n\n## Step 2: Test\nRun `make e2e`. It must pass.\n" +
		"\n## Step 3: Get the approval of the user\n"
	linesOf(t, "testdata/beside.txt", func(n int, right, said string) {
		texts := []string{said + "\n\n" + list, list + "\n" + said + "\n", list + "\n## Notes\n\n" + said + "\n",
			strings.ReplaceAll(headings, "SAID", said)}
		kind, isFront := strings.CutPrefix(right, "description: ")
		if isFront {
			texts = []string{"---\nname: x\ndescription: " + said + "\n---\n" + list, "---\ndescription: >\n  " + said + "\n---\n" + list}
		}
		for i, text := range texts {
			if strings.HasPrefix(said, "#") && i == 1 || kind == "nothing" && !isFront && i != n%4 && i != (n+1)%4 {
				continue // its title would be that of what follows the steps; and two places are enough
			}
			o := outline.Markdown([]byte(text), map[bool]string{true: "headings", false: "list"}[i == 3])
			require.NotEmpty(t, o.Steps, text)
			got := ""
			for _, h := range o.Hints {
				got += fmt.Sprint(h.Step)
			}
			isTold := slices.ContainsFunc(o.Left, func(l outline.Left) bool { return l.Why != "" })
			assert.Equal(t, map[string]string{"all": "123"}[kind], got, "%q", text)
			assert.Equal(t, kind != "all", isTold, "told: %q", text)
		}
	})
}

// TestTitlesAbove: a title above the steps may say that they are not done, or not always, and that is told.
func TestTitlesAbove(t *testing.T) {
	const steps = "\n1. Write the plan to `plan.md`.\n2. Run `make e2e`. It must pass.\n3. Get the approval of the user.\n"
	for title, want := range map[string]string{
		"# Release\n":                     "123",
		"# Major release\n":               "123",
		"# How to release\n":              "123",
		"# Release\n\n## Release steps\n": "123",
		"# How Anna releases\n":           "",
		"# Example\n":                     "",
		"# Draft: release\n":              "",
		"# Old release\n":                 "",
		"# Release (optional)\n":          "",
		"# Possible release\n":            "",
		"# Release\n\n## Steps (only for major releases)\n": "",
		"# Release\n\n## For large changes: the steps\n":    "",
		"# Release\n\n**For large changes**\n":              "",
		"# Release\n\n*Optional*\n":                         "",
		"# Release\n\n> Archived.\n":                        "",
		"# Release\n\n<!-- not in use -->\n":                "",
		"# Release\n\nChoose one:\n":                        "",
		"# Release\n\nDepending on the change:\n":           "",
	} {
		o := outline.Markdown([]byte(title+steps), "list")
		require.Len(t, o.Steps, 3, title)
		got := ""
		for _, h := range o.Hints {
			got += fmt.Sprint(h.Step)
		}
		assert.Equal(t, want, got, title)
		assert.Equal(t, want == "", slices.ContainsFunc(o.Left, func(l outline.Left) bool { return l.Why != "" }), "told: %s", title)
	}
}

// TestWithdrawnInSteps: a sentence in the text of a step may take back the gates of others, and an approval of its own.
func TestWithdrawnInSteps(t *testing.T) {
	for text, want := range map[string]string{
		"1. Run `make e2e`. It must pass.\n2. Get the approval of the user.\n":                                        "1 2",
		"1. Run `make e2e`. It must pass.\n2. Get the approval of the user. Skip this step for a small change.\n":     "1",
		"1. Run `make e2e`. It must pass.\n2. Get the approval of the user. Step 1 is optional.\n":                    "2",
		"1. Run `make e2e`. It must pass.\n2. Get the approval of the user.\n   If it is given, go back to step 1.\n": "1 2",
	} {
		var got []string
		for _, h := range outline.Markdown([]byte("## Steps\n\n"+text), "").Hints {
			if h.Gate != "" {
				got = append(got, fmt.Sprint(h.Step))
			}
		}
		assert.Equal(t, want, strings.Join(got, " "), text)
	}
}
