package medium

import (
	"crypto/sha256"
	"maps"
	"slices"
	"sync"
	"time"
)

// blockSize is the size of a sector of the device: a power cut keeps or loses whole
// blocks.
const blockSize = 4096

// Block is the content of a sector.
type Block [blockSize]byte

// Image is the content of a medium. A block that is absent is zero. Blocks are never
// changed in place, so that images can share them.
type Image map[int64]*Block

// Sum is equal for images with the same content above the same base.
func (above Image) Sum() (sum [sha256.Size]byte) {
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

// Write is a write that the device was sent. The data is a whole number of blocks.
type Write struct {
	First  int64 // the number of the first block
	Blocks []*Block
}

// Apply makes the write in an image.
func (w Write) Apply(to Image) {
	for i, b := range w.Blocks {
		to[w.First+int64(i)] = b
	}
}

// Event is a write, or if that is nil, something that happened after the writes before.
type Event struct {
	*Write
	What string // Flush, or a name that Mark was given
}

// Flush is the event of a flush that has been answered.
const Flush = "flush"

// Medium is what a device keeps its blocks on. It records what happens to it between Record
// and Recorded. Its methods are safe for concurrent use.
type Medium struct {
	size int64 // in bytes

	mu        sync.Mutex
	content   Image
	recording bool
	events    []Event
	delay     time.Duration
}

// Empty returns a medium of a size in bytes, without content.
func Empty(size int64) *Medium { return &Medium{size: size, content: Image{}} }

// Load replaces the content, and ends a recording.
func (m *Medium) Load(content Image) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.content, m.recording, m.events = maps.Clone(content), false, nil
}

// Save returns a copy of the content.
func (m *Medium) Save() Image {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.content)
}

// Record begins a recording.
func (m *Medium) Record() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recording, m.events = true, nil
}

// Recorded ends the recording and returns it.
func (m *Medium) Recorded() []Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recording = false
	return m.events
}

// Mark records that something happened.
func (m *Medium) Mark(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.recording {
		m.events = append(m.events, Event{What: what})
	}
}

// Slow makes each flush take this long from now on.
func (m *Medium) Slow(flush time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.delay = flush
}

// flush returns when the flush has taken its time.
func (m *Medium) flush() {
	m.Mark(Flush)
	m.mu.Lock()
	delay := m.delay
	m.mu.Unlock()
	time.Sleep(delay)
}

// read reads whole blocks.
func (m *Medium) read(p []byte, off int64) {
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

// write writes whole blocks; the file systems and their tools write nothing else to
// a device with sectors of this size.
func (m *Medium) write(p []byte, off int64) {
	w := Write{First: off / blockSize}
	for i := 0; i < len(p); i += blockSize {
		b := new(Block)
		copy(b[:], p[i:])
		w.Blocks = append(w.Blocks, b)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	w.Apply(m.content)
	if m.recording {
		m.events = append(m.events, Event{Write: &w})
	}
}
