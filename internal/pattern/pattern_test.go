package pattern_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/pattern"
)

var word = pattern.New(`^[a-z]+$`)

func TestAPatternIsCompiledOnce(t *testing.T) {
	first := word.Regexp()
	require.True(t, first.MatchString("word"))
	require.False(t, first.MatchString("2 words"))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if word.Regexp() != first {
				t.Error("compiled again")
			}
		})
	}
	all.Wait()
}

func TestATextThatIsNoPatternPanicsWhenItIsUsed(t *testing.T) {
	wrong := pattern.New(`(`)
	require.Panics(t, func() { wrong.Regexp() })
}
