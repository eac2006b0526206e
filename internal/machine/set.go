package machine

import "math/bits"

// set is a set of indices of steps.
type set []uint64

func newSet(n int) set { return make(set, (n+63)/64) }

func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

func (s set) add(i int) { s[i/64] |= 1 << (i % 64) }

func (s set) addAll(o set) {
	for i, word := range o {
		s[i] |= word
	}
}

// within reports whether every element of s is in o.
func (s set) within(o set) bool {
	for i, word := range s {
		if word&^o[i] != 0 {
			return false
		}
	}
	return true
}

func (s set) meets(o set) bool {
	for i, word := range s {
		if word&o[i] != 0 {
			return true
		}
	}
	return false
}

func (s set) equal(o set) bool { return s.within(o) && o.within(s) }

func (s set) len() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}
