// Package oracle asks the program in Python that has the rules of workflows too.
package oracle

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// Ask starts the script with Python and returns its answers, one for each question. Both are
// lines of JSON. Without python3 the test is skipped.
func Ask[Question, Answer any](t testing.TB, script string, questions []Question) []Answer {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed; the oracle is a program in Python")
	}
	c := exec.Command(python, script)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	go func() {
		defer in.Close()
		for _, q := range questions {
			if json.NewEncoder(in).Encode(q) != nil {
				return // the oracle ended; its answers are missing below
			}
		}
	}()
	decoder := json.NewDecoder(bufio.NewReader(out))
	answers := make([]Answer, len(questions))
	for i := range answers {
		require.NoError(t, decoder.Decode(&answers[i]), "the oracle's answer to question %d", i)
	}
	require.NoError(t, c.Wait())
	return answers
}
