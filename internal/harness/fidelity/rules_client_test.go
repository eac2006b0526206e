//go:build fidelity

package fidelity

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// ruleRecorder records that the hook of a rule ran for a call. It blocks the call, so that no
// command of the table is ever run.
const ruleRecorder = `id=$(sed -n 's/.*"tool_use_id":"\([^"]*\)".*/\1/p')
echo "$2" >> "$1/$id"
exit 2
`

// TestRulesOfClaudeCode asks the client about every call in the table of rules. All calls with
// the same rules share a session.
func TestRulesOfClaudeCode(t *testing.T) {
	version := newest(t)
	cases, lines := readRules(t)
	var mutex sync.Mutex
	changed := 0
	t.Run("asking", func(t *testing.T) {
		for batch := range batches(cases) {
			t.Run("together", func(t *testing.T) {
				t.Parallel()
				answers := askRules(t, batch, version)
				mutex.Lock()
				defer mutex.Unlock()
				for i, c := range batch {
					if answers[i] == c.answers {
						continue
					}
					changed++
					lines[c.line] = strings.Replace(lines[c.line], c.answers, answers[i], 1)
					t.Logf("%s: %s, recorded is %s", c.text, answers[i], c.answers)
				}
			})
		}
	})
	if version == realclient.Version && os.Getenv("FSMTX_FIDELITY_UPDATE") != "" {
		require.NoError(t, os.WriteFile(rulesTable, []byte(strings.Join(lines, "\n")), 0o644))
	} else if version == realclient.Version {
		require.Zero(t, changed, "answers differ from the recorded ones")
	}
	t.Logf("claude %s: %d of %d calls are judged as recorded", version, len(cases)-changed, len(cases))
}

// batches yields the cases that have the same rules, at most a hundred at a time.
func batches(cases []ruleCase) func(yield func([]ruleCase) bool) {
	return func(yield func([]ruleCase) bool) {
		for len(cases) > 0 {
			n := 1
			for n < len(cases) && n < 100 && slices.Equal(cases[n].rules, cases[0].rules) {
				n++
			}
			if !yield(cases[:n]) {
				return
			}
			cases = cases[n:]
		}
	}
}

// askRules asks the client about calls with the same rules. Every call has one more hook,
// without a rule, which shows that the call was made.
func askRules(t *testing.T, cases []ruleCase, version string) []string {
	s, _ := sandboxOf(t, version)
	ran := s.Path("rules")
	require.NoError(t, os.Mkdir(ran, 0o755))
	writeFile(t, s.Path("bin/rule"), "#!/bin/sh\n"+ruleRecorder)
	all := cases[0]
	all.rules = append(slices.Clone(all.rules), "")
	s.Write("project/"+claudeSettings, all.settings(t, s.Project, func(i int) string { return fmt.Sprintf("rule %s %d", ran, i) }))
	var turns []Turn
	for i, c := range cases {
		tool, input := c.call(t, s.Project)
		turns = append(turns, Do(Call(fmt.Sprint("call", i), tool, input)))
	}
	r := s.Try(Script{Main: append(turns, Say("done"))}, "go")
	found, err := filepath.Glob(filepath.Join(ran, "*"))
	require.NoError(t, err)
	recorded := map[string]map[int]bool{}
	for _, path := range found {
		matched := map[int]bool{}
		for _, word := range ranIn(path) {
			var i int
			fmt.Sscan(word, &i)
			matched[i] = true
		}
		recorded[r.Name(filepath.Base(path))] = matched
	}
	var answers []string
	for i, c := range cases {
		matched := recorded[fmt.Sprint("call", i)]
		if !matched[len(c.rules)] {
			t.Errorf("the client did not make the call: %s\n%.200s", c.text, textOf(r, fmt.Sprint("call", i)))
		}
		delete(matched, len(c.rules))
		answers = append(answers, c.letters(matched))
	}
	return answers
}

// textOf returns the result of a call.
func textOf(r *realclient.Run, call string) string {
	result, _ := r.Result(call)
	return result.Text
}
