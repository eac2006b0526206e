package write

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/outline"
)

// TestKindsOfPublicSkills: sentences of the kinds that public skills have, each as the second of three steps, and behind the last "=" above
// them what is proposed: the step and the kind of the gate.
func TestKindsOfPublicSkills(t *testing.T) {
	p := corpusProject(t)
	text, err := os.ReadFile("testdata/kinds.txt")
	require.NoError(t, err)
	want := ""
	for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
		right, found := strings.CutPrefix(line, "=")
		switch {
		case strings.HasPrefix(line, "# "):
			continue
		case found:
			want = strings.TrimSpace(right)
			continue
		}
		o := outline.Markdown([]byte("1. Make the change in the code.\n2. "+line+"\n3. Post the result to the channel.\n"), "list")
		require.Len(t, o.Steps, 3, line)
		var got []string
		for _, h := range possible(p, o) {
			if h.Gate != "" {
				got = append(got, fmt.Sprint(h.Step, " ", kindOf(h.Gate)))
			}
		}
		assert.Equal(t, want, strings.Join(got, ", "), "%s", line)
	}
}
