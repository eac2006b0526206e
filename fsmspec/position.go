package fsmspec

import "fmt"

// stride is how many bytes lie between two marks.
const stride = 1024

// positions turns offsets into lines and columns. It is made to be asked often:
// a file of one long line with a thousand problems must not be counted through
// a thousand times.
type positions struct {
	data  []byte
	marks []mark // marks[i] is the position of offset i*stride; nil until asked
}

type mark struct{ line, column int }

// of returns the position of an offset, which may be the end of the data.
func (p *positions) of(offset int) (line, column int) {
	if p.marks == nil {
		p.count()
	}
	i := min(offset/stride, len(p.marks)-1)
	m := p.marks[i].after(p.data[i*stride : offset])
	return m.line, m.column
}

// at is the position of an offset in words.
func (p *positions) at(offset int) string {
	line, column := p.of(offset)
	return fmt.Sprintf("%d:%d", line, column)
}

func (p *positions) count() {
	m := mark{1, 1}
	p.marks = append(p.marks, m)
	for rest := p.data; len(rest) > stride; rest = rest[stride:] {
		m = m.after(rest[:stride])
		p.marks = append(p.marks, m)
	}
}

// after returns the position that follows text, which begins at m. Bytes that
// only continue a code point do not count, so text may begin in the middle of one.
func (m mark) after(text []byte) mark {
	for _, b := range text {
		switch {
		case b == '\n':
			m = mark{m.line + 1, 1}
		case b&0xC0 != 0x80:
			m.column++
		}
	}
	return m
}
