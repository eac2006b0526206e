package write

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/outline"
)

// TestNamedElsewhere: a check is proposed only if no sentence elsewhere names what it runs, unless that is plainly an order to run it,
// or harmless. Where the sentence stands makes no difference.
func TestNamedElsewhere(t *testing.T) {
	const steps = "# Steps\n1. Code.\n2. Run `make test`; it must pass.\n"
	p := corpusProject(t)
	for file, want := range map[string]string{"forbidding": "", "harmless": `"check": "make test"`} {
		text, err := os.ReadFile("testdata/" + file + ".txt")
		require.NoError(t, err)
		for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
			if strings.HasPrefix(line, "# ") {
				continue
			}
			said := strings.ReplaceAll(line, `\n`, "\n")
			for where, text := range map[string]string{
				"before":  said + "\n\n" + steps,
				"behind":  steps + "\n" + said + "\n",
				"section": steps + "\n## Notes\n\n" + said + "\n",
			} {
				if where == "behind" && want != "" {
					continue // it may belong to the last step
				}
				o := outline.Markdown([]byte(text), "list")
				require.Len(t, o.Steps, 2, text)
				got := ""
				for _, h := range possible(p, o.Hints) {
					if strings.HasPrefix(h.Gate, `"check"`) {
						got += h.Gate
					}
				}
				assert.Equal(t, want, got, "%s: %q", where, said)
			}
		}
	}
}
