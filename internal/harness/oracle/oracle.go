// Package oracle asks the program in Python that has the rules of workflows too.
package oracle

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
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

// Outcome is an outcome of a step, with its effects.
type Outcome struct {
	Name string `json:"-"`
	Back int64  `json:"back,omitzero"`
	Max  int    `json:"max,omitzero"`
	Then string `json:"then,omitzero"`
	Stop bool   `json:"stop,omitzero"`
}

// Outcomes are the outcomes of a step, as JSON an object with the names in their order.
type Outcomes []Outcome

// MarshalJSON returns the object.
func (all Outcomes) MarshalJSON() ([]byte, error) {
	object := []byte{'{'}
	for i, o := range all {
		effects, _ := json.Marshal(o) // numbers and texts
		if i > 0 {
			object = append(object, ',')
		}
		object = append(append(append(object, strconv.Quote(o.Name)...), ':'), effects...)
	}
	return append(object, '}'), nil
}
