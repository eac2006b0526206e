package outline_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/outline"
)

// leastRight is the share of the corpus that was right when it was last changed. Raise it
// with the score; a lower score is a failure.
const leastRight = 1.0

// Each file of the corpus is a text in a style that authors use, and the steps that a person
// would write for it, which may be none. Its comment names the style.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("testdata/corpus/*.txtar")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 20, "styles")
	right, all := 0, 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		require.NoError(t, err)
		require.Len(t, archive.Files, 2, file)
		want := strings.FieldsFunc(string(archive.Files[1].Data), func(r rune) bool { return r == '\n' })
		got := outline.Markdown(archive.Files[0].Data).Steps
		r, n := score(want, got)
		if r < n {
			t.Logf("%s: %d of %d right: %s", filepath.Base(file), r, n, subjects(got))
		}
		right, all = right+r, all+n
	}
	t.Logf("%d of %d steps are right in %d styles (%.1f %%)", right, all, len(files), 100*float64(right)/float64(all))
	assert.GreaterOrEqual(t, float64(right)/float64(all), leastRight)
}

// score returns how many steps are right, and of how many: those wanted or those found,
// whichever are more. Nothing where nothing is wanted counts as one step.
func score(want []string, got []outline.Step) (right, all int) {
	if len(want) == 0 && len(got) == 0 {
		return 1, 1
	}
	i := 0
	for _, s := range got {
		for j := i; j < len(want); j++ {
			if want[j] == s.Subject {
				right, i = right+1, j+1
				break
			}
		}
	}
	return right, max(len(want), len(got))
}
