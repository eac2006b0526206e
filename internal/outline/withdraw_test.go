package outline_test

import (
	"fmt"
	"os"
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
			"front":   "---\nname: x\ndescription: It is for a release. " + said + "\n---\n" + steps,
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
