package outline_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/outline"
)

// linesOf calls each with the lines of a file of testdata, their numbers, and what stands behind the last "=" above them.
func linesOf(t *testing.T, file string, each func(n int, right, line string)) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	right := ""
	for n, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		after, found := strings.CutPrefix(line, "=")
		switch {
		case strings.HasPrefix(line, "# "):
		case found:
			right = strings.TrimSpace(after)
		default:
			each(n, right, strings.ReplaceAll(line, `\n`, "\n"))
		}
	}
}

// gatesOf returns the gates that are proposed, each as the id of its step and its kind.
func gatesOf(t *testing.T, text string) string {
	t.Helper()
	o := outline.Markdown([]byte(text), "list")
	require.NotEmpty(t, o.Steps, text)
	var all []string
	for _, h := range o.Hints {
		if kind, _, _ := strings.Cut(strings.TrimPrefix(h.Gate, `"`), `"`); kind != "" {
			all = append(all, fmt.Sprint(h.Step, " ", kind))
		}
	}
	return strings.Join(all, ", ")
}

// TestPlaceOfApprovals: an approval is proposed where the text has it, before what cannot be undone, or not at all. The sentences stand
// in the line of the step, below it and in an item of it, in turn.
func TestPlaceOfApprovals(t *testing.T) {
	linesOf(t, "testdata/approvals.txt", func(n int, right, said string) {
		push, plan, _ := strings.Cut(right, ",")
		between := []string{". ", ".\n   ", "\n   - ", ".\n\n   "}[n%4]
		for act, where := range map[string]string{
			"Push the tag to the server": strings.TrimPrefix(push, "push"), "Write the plan": strings.TrimPrefix(plan, " plan"),
		} {
			want := map[string]string{" before": "2 approval", " end": "3 approval"}[where]
			text := "# Steps\n1. Write the notes.\n2. Tag the commit.\n3. " + act + between + said + "\n4. Write the summary.\n"
			if got := gatesOf(t, text); got != want {
				t.Errorf("want %q, got %q: %q", want, got, text)
			}
		}
	})
}

// TestNobodyToAsk: where a text says that nobody can be asked, it proposes no approval; where it says that nothing is done, nothing. Each
// sentence stands at two of six places.
func TestNobodyToAsk(t *testing.T) {
	const steps = "# Steps\n1. Write the plan. Ask the user for approval.\n2. Run `make test`. It must pass.\n3. Write the notes.\n"
	linesOf(t, "testdata/alone.txt", func(n int, right, said string) {
		places := []string{
			said + "\n\n" + steps,
			steps + "\n" + said + "\n",
			steps + "\n## Notes\n\n" + said + "\n",
			strings.Replace(steps, "notes.", "notes. "+said, 1),
			strings.Replace(steps, "approval.", "approval.\n   - "+said, 1),
			"---\nname: x\ndescription: Releases the API. " + said + "\n---\n" + steps,
		}
		for _, at := range []int{n % 3, n%3 + 3} {
			if strings.ContainsAny(said[:1], "#><") && at >= 3 {
				continue
			}
			got := gatesOf(t, places[at])
			if right == "" && got != "" || right == "check" && strings.Contains(got, "approval") ||
				right == "approval check" && !strings.HasPrefix(got, "1 approval, 2 check") {
				t.Errorf("want \"%s\", got %q: %q", right, got, places[at])
			}
		}
	})
}
