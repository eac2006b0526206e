package facts

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"unicode/utf8"
)

// Tail keeps the end of what is written to it, which tells why a check failed, and digests
// all of it.
type Tail struct {
	kept [TailBytes]byte
	N    int64 // bytes written
	sum  hash.Hash
}

// TailBytes is more than lastLines shows.
const TailBytes = 64 << 10

// NewTail returns an empty tail.
func NewTail() *Tail { return &Tail{sum: sha256.New()} }

func (t *Tail) Write(b []byte) (int, error) {
	t.sum.Write(b)
	for rest := b[max(0, len(b)-TailBytes):]; len(rest) > 0; {
		skipped := len(b) - len(rest)
		n := copy(t.kept[(t.N+int64(skipped))%TailBytes:], rest)
		rest = rest[n:]
	}
	t.N += int64(len(b))
	return len(b), nil
}

// Text returns the last bytes. Its beginning may be in the middle of a line.
func (t *Tail) Text() string {
	if t.N <= TailBytes {
		return string(t.kept[:t.N])
	}
	at := t.N % TailBytes
	text := string(t.kept[at:]) + string(t.kept[:at])
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}

// Digest returns the SHA-256 of everything, in hexadecimal digits.
func (t *Tail) Digest() string { return hex.EncodeToString(t.sum.Sum(nil)) }
