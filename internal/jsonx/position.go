package jsonx

// stride is the distance in bytes between two marks of an [Index].
const stride = 1024

// Index converts byte offsets of a text into lines and columns. The first lookup scans
// the whole text, each later one at most 1 KiB, so that many lookups in one long line are
// cheap. An Index is not safe for concurrent use.
type Index struct {
	data  []byte
	marks []Position // marks[i] is the position of offset i*stride; nil before the first lookup
}

// NewIndex returns an index of data. The caller must not change data while it uses the
// index.
func NewIndex(data []byte) *Index { return &Index{data: data} }

// At returns the position of an offset. An offset beyond the end counts as the end.
func (x *Index) At(offset int) Position {
	if x.marks == nil {
		x.scan()
	}
	offset = max(0, min(offset, len(x.data)))
	i := min(offset/stride, len(x.marks)-1)
	return x.marks[i].after(x.data[i*stride : offset])
}

func (x *Index) scan() {
	p := Position{1, 1}
	x.marks = append(x.marks, p)
	for rest := x.data; len(rest) > stride; rest = rest[stride:] {
		p = p.after(rest[:stride])
		x.marks = append(x.marks, p)
	}
}

// PositionAt returns the position of one offset in data. For several offsets in the same
// data use an [Index].
func PositionAt(data []byte, offset int) Position {
	return Position{1, 1}.after(data[:max(0, min(offset, len(data)))])
}

// after advances p over text. It does not count the
// continuation bytes of a code point, so text may begin inside one.
func (p Position) after(text []byte) Position {
	for _, b := range text {
		switch {
		case b == '\n':
			p = Position{p.Line + 1, 1}
		case b&0xC0 != 0x80:
			p.Column++
		}
	}
	return p
}
