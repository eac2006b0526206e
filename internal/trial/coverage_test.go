package trial

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
)

// TestGatesOfEachLineAreCovered: the gates of a step that is done for each line are those of its copies, whether they name the line or not.
func TestGatesOfEachLineAreCovered(t *testing.T) {
	for name, members := range map[string]string{
		"with its line": `"produces": ["out/{item}.md"], "check": {"run": "test -s out/$FSMTX_ITEM"}, "approval": "Is {item} right?"`,
		"without":       `"produces": ["out.md"], "check": "true", "approval": "Is it right?"`,
	} {
		spec, err := fsmspec.ParseOf("x", []byte(`{"fsm": 2, "steps": [{"id": 1, "subject": "Look at it", "each": {"lines": "list.txt"}, `+
			members+`}, {"id": 2, "subject": "End", "blockedBy": [1]}]}`))
		require.NoError(t, err, name)
		var kinds []string
		for _, g := range cover(spec, nil).Gates {
			kinds = append(kinds, g.Step+" "+g.Subject+": "+g.Kind)
		}
		assert.ElementsMatch(t, []string{"1 Look at it: produces", "1 Look at it: check", "1 Look at it: approval"}, kinds, name)
	}
}
