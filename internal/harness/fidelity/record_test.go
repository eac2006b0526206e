//go:build fidelity

package fidelity

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// writeAnswers records what an agent answered, in the order of the table.
func writeAnswers(t testing.TB, agent, version string, cases []fidelityCase, answers map[string]answer) {
	var b strings.Builder
	fmt.Fprintf(&b, "# version %s\n", version)
	_, before := readAnswers(t, agent)
	for _, c := range cases {
		text := before[c.name] // of a case that was not asked now
		if a, asked := answers[c.name]; asked {
			text = a.String()
		}
		fmt.Fprintf(&b, "%-32s %s\n", c.name, text)
	}
	require.NoError(t, os.WriteFile(answersPath(agent), []byte(b.String()), 0o644))
}
