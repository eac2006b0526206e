//go:build unix

package safefile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestReadAttribute: its size may change between two calls.
func TestReadAttribute(t *testing.T) {
	for name, c := range map[string]struct {
		answers []any // a size or an error, to each call
		want    int
		err     error
	}{
		"none":            {[]any{0}, 0, nil},
		"of three bytes":  {[]any{3, 3}, 3, nil},
		"shorter by now":  {[]any{3, 0}, 0, nil},
		"longer by now":   {[]any{3, unix.ERANGE, 5, 5}, 5, nil},
		"gone":            {[]any{unix.ENODATA}, 0, unix.ENODATA},
		"gone in between": {[]any{3, unix.ENODATA}, 0, unix.ENODATA},
	} {
		data, err := readAttribute(func(buf []byte) (int, error) {
			answer := c.answers[0]
			c.answers = c.answers[1:]
			if err, ok := answer.(unix.Errno); ok {
				return -1, err
			}
			for i := range buf {
				buf[i] = 'x'
			}
			return answer.(int), nil
		})
		require.ErrorIs(t, err, c.err, name)
		require.Equal(t, strings.Repeat("x", c.want), string(data), name)
		require.Empty(t, c.answers, name)
	}
}
