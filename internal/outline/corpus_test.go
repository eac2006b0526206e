package outline_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/outline"
)

// leastFound is the share of the texts with a form whose steps are found. 0.9 is enough for a text that is added; of those here all
// are found.
const leastFound = 1.0

// Each file of the corpus is a text in a form that authors use, and what is right: its steps, with what is not a chain; "?" with the
// candidates where a person has to say what it means; nothing where there are no steps. Steps that are found are right, always.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("testdata/corpus/*.txtar")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 40)
	right, have := 0, 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		require.NoError(t, err)
		require.Len(t, archive.Files, 2, file)
		want := strings.TrimSpace(string(archive.Files[1].Data))
		o := outline.Markdown(archive.Files[0].Data, "")
		got := strings.TrimSpace(shown(o.Steps, ""))
		name := filepath.Base(file)
		if want != "" && want[0] != '?' {
			have++
		}
		switch {
		case got != "":
			if assert.Equal(t, want, got, name) {
				right++
			}
		case strings.HasPrefix(want, "?") || want == "":
			assert.Equal(t, want, strings.TrimSpace(candidates(o)), "%s: %s", name, o.Unsure)
		default:
			t.Logf("%s: not found: %s %s", name, o.Unsure, candidates(o))
		}
	}
	t.Logf("%d of %d texts with a form are found", right, have)
	assert.GreaterOrEqual(t, float64(right)/float64(have), leastFound)
}

// shown returns steps with what is not as in a chain.
func shown(steps []outline.Step, indent string) string {
	var all strings.Builder
	for i, s := range steps {
		all.WriteString(indent + s.Subject)
		if s.Status == "completed" {
			all.WriteString(" (done)")
		}
		if len(s.BlockedBy) != min(i, 1) || i > 0 && s.BlockedBy[0] != int64(i) {
			fmt.Fprintf(&all, " <- %v", s.BlockedBy)
		}
		if s.When != nil {
			fmt.Fprintf(&all, " when %s", s.When)
		}
		if s.Outcomes != nil {
			fmt.Fprintf(&all, " outcomes %s", s.Outcomes)
		}
		all.WriteString("\n" + shown(s.Do, indent+"  "))
	}
	return all.String()
}

// candidates returns what could be the steps of a text that is not sure.
func candidates(o outline.Outline) string {
	if o.Unsure == "" {
		return ""
	}
	all := "?"
	for _, l := range o.Tied {
		if all += " " + l.Form; l.Form == "" {
			all += l.What
		}
	}
	return all
}
