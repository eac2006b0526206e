package commented_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/jsonx/commented"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"[1, /* a */ 2,]":  "[1,         2 ]",
		"{\"a\": 1}\n// b": "{\"a\": 1}\n    \n",
		"{} // b":          "{}     \n",
		"{} // b\n":        "{}     \n",
		"{}":               "{}",
	} {
		given := []byte(text)
		plain, err := commented.Plain(given)
		require.NoError(t, err, text)
		assert.Equal(t, want, string(plain))
		assert.Equal(t, text, string(given), "it is not changed")
	}
	for _, text := range []string{"{} /* a", "{", "[1 2]", "// a", ""} {
		_, err := commented.Plain([]byte(text))
		require.Error(t, err, text)
	}
}
