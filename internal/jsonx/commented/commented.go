// Package commented reads JSON with comments and trailing commas.
package commented

import (
	"slices"

	"github.com/tailscale/hujson"
)

// Parse parses JSON with comments and trailing commas. The text may end in a comment
// without the end of its line, which hujson alone refuses.
func Parse(text []byte) (hujson.Value, error) {
	root, err := hujson.Parse(slices.Clone(text))
	if err != nil {
		if ended, again := hujson.Parse(append(slices.Clone(text), '\n')); again == nil {
			return ended, nil
		}
	}
	return root, err
}

// Plain returns JSON with comments and trailing commas as JSON: they become spaces, so that
// every value keeps its offset.
func Plain(text []byte) ([]byte, error) {
	root, err := Parse(text)
	if err != nil {
		return nil, err
	}
	root.Standardize()
	return root.Pack(), nil
}
