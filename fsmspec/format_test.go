package fsmspec_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
)

func TestYAMLIsRecognisedByItsKeys(t *testing.T) {
	for text, yaml := range map[string]bool{
		"name: x\nother-key: y\n":    true,
		"id: 1\n":                    true,
		"# a comment\n\nA_z-key: 1":  true,
		": x\n":                      false,
		"two words: x\n":             false,
		"1: x\n":                     false,
		"a.b\n":                      false,
		"one\ntwo\nthree\nfour: x\n": false, // only the first lines count
	} {
		invalid := refused(t, text)
		assert.Equal(t, yaml, strings.Contains(invalid.Problems[0].Message, "the file is YAML"), text)
	}
}

// TestCharactersThatDoNotShow has the ends of each range of characters, and their neighbours.
func TestCharactersThatDoNotShow(t *testing.T) {
	for r, want := range map[rune]string{
		'\u2028': "a line break", '\u2029': "a line break",
		0x1F: "the control character", 0x7F: "the control character", 0x9F: "the control character",
		' ': "", 0x7E: "", 0xA0: "",
		'\u202A': "the invisible character", '\u202E': "the invisible character", '\u202C': "the invisible character",
		'\u2066': "the invisible character", '\u2069': "the invisible character", '\u2067': "the invisible character",
		'\u202F': "", '\u2065': "", '\u206A': "", '\u2030': "",
	} {
		for _, subject := range []string{string(r) + "a", "a" + string(r) + "b"} {
			spec := must(fsmspec.Parse([]byte(`[{"id": 1, "subject": "` + strings.ReplaceAll(subject, "\x1f", `\u001f`) + `"}]`)))
			if want == "" {
				assert.Empty(t, spec.Warnings(), "%U", r)
				continue
			}
			require.Len(t, spec.Warnings(), 1, "%U", r)
			assert.Contains(t, spec.Warnings()[0].Message, want, "%U", r)
		}
	}
}

func TestPathsWithADriveAreRefused(t *testing.T) {
	for drive, refused := range map[string]bool{"a": true, "z": true, "A": true, "Z": true, "@": false, "`": false, "[": false,
		"}": false, "1": false} {
		_, err := fsmspec.Parse([]byte(`[{"id": 1, "subject": "A", "produces": ["` + drive + `:"]}]`))
		assert.Equal(t, refused, err != nil, "%s: %v", drive, err)
	}
}

func TestTheLongestCommandIsAccepted(t *testing.T) {
	_, err := fsmspec.Parse([]byte(`[{"id": 1, "subject": "A", "check": "` + strings.Repeat("a", fsmspec.MaxCommandBytes) + `"}]`))
	require.NoError(t, err)
}

func TestStatusesAreWords(t *testing.T) {
	for i, word := range []string{"pending", "in_progress", "completed"} {
		assert.Equal(t, word, fsmspec.Status(i).String())
		text := must(fsmspec.Status(i).MarshalText())
		assert.Equal(t, word, string(text))
		value := fsmspec.Status(99)
		require.NoError(t, value.UnmarshalText(text))
		assert.Equal(t, fsmspec.Status(i), value)
	}
	for _, beyond := range []fsmspec.Status{-1, 3} {
		_, err := beyond.MarshalText()
		require.ErrorContains(t, err, "is not a status")
		assert.Contains(t, beyond.String(), "status(")
	}
	value := fsmspec.Pending + 1
	require.EqualError(t, value.UnmarshalText(nil), `unknown status "": want pending, in_progress or completed`)
	assert.Equal(t, fsmspec.Pending+1, value, "unchanged after an error")
}
