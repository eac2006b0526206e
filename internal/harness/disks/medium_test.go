//go:build disks && linux

package disks_test

import (
	"crypto/sha256"
	"maps"
	"slices"
	"sync"
)

// blockSize is the size of a sector of the device: a power cut keeps or loses whole
// blocks.
const blockSize = 4096

type block [blockSize]byte

// image is the content of a medium. A block that is absent is zero. Blocks are never
// changed in place, so that images can share them.
type image map[int64]*block

// write is a write that the device was sent. The data is a whole number of blocks.
type write struct {
	first  int64
	blocks []*block
}

func (w write) apply(to image) {
	for i, b := range w.blocks {
		to[w.first+int64(i)] = b
	}
}

// event is a write, or if that is nil, something that happened after the writes before.
type event struct {
	*write
	what string // flush, or a name that mark was given
}

const flush = "flush"

// medium is what a device keeps its blocks on. It records what happens to it while
// recording is set.
type medium struct {
	size int64

	mu        sync.Mutex
	content   image
	recording bool
	events    []event
}

// load replaces the content.
func (m *medium) load(content image) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.content, m.recording, m.events = maps.Clone(content), false, nil
}

// save returns a copy of the content.
func (m *medium) save() image {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.content)
}

func (m *medium) record() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recording, m.events = true, nil
}

// recorded ends the recording and returns it.
func (m *medium) recorded() []event {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recording = false
	return m.events
}

// mark records that something happened, or a flush.
func (m *medium) mark(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.recording {
		m.events = append(m.events, event{what: what})
	}
}

// ReadAt reads whole blocks.
func (m *medium) ReadAt(p []byte, off int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := 0; i < len(p); i += blockSize {
		if b := m.content[(off+int64(i))/blockSize]; b != nil {
			copy(p[i:], b[:])
		} else {
			clear(p[i:min(i+blockSize, len(p))])
		}
	}
}

// WriteAt writes whole blocks; the file systems and their tools write nothing else to
// a device with sectors of this size.
func (m *medium) WriteAt(p []byte, off int64) {
	w := write{first: off / blockSize}
	for i := 0; i < len(p); i += blockSize {
		b := new(block)
		copy(b[:], p[i:])
		w.blocks = append(w.blocks, b)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	w.apply(m.content)
	if m.recording {
		m.events = append(m.events, event{write: &w})
	}
}

// key is equal for images with the same content above the same base.
func key(above image) (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, n := range slices.Sorted(maps.Keys(above)) {
		var at [8]byte
		for i := range at {
			at[i] = byte(n >> (8 * i))
		}
		h.Write(at[:])
		h.Write(above[n][:])
	}
	return [sha256.Size]byte(h.Sum(nil))
}
