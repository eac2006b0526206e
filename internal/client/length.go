package client

import "unicode/utf16"

// Length returns the length of a text as the client counts it, in UTF-16 code units.
// The client replaces a long text of a hook by a preview or a file (fact 22, client
// 2.1.197).
func Length(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}
