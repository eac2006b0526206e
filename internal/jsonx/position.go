package jsonx

// stride is the distance in bytes between two marks of an [Index].
const stride = 1024

// Index converts byte offsets of a text into lines and columns. The first lookup
// scans the text once; each later one costs at most 1 KiB of scanning, so that
// many problems in one long line stay cheap. An Index is not safe for concurrent
// use.
type Index struct {
	data  []byte
	marks []Position // marks[i] is the position of offset i*stride; nil until asked
}

// NewIndex returns an index of data, which must not change while it is used.
func NewIndex(data []byte) *Index { return &Index{data: data} }

// At returns the position of an offset. An offset beyond the end is the end.
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

// PositionAt returns the position of one offset of data. For many offsets of the
// same data use an [Index].
func PositionAt(data []byte, offset int) Position {
	return Position{1, 1}.after(data[:max(0, min(offset, len(data)))])
}

// after returns the position that follows text, which begins at p. Continuation
// bytes of a code point are not counted, so text may begin inside one.
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
