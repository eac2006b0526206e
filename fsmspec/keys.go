package fsmspec

// few is up to how many keys a search one by one is faster than a map.
const few = 16

// keys are those of one object, and where each was first seen.
type keys struct {
	list  [few]key
	n     int
	index map[string]int // offsets of the keys that list has no room for
}

type key struct {
	name string
	at   int
}

// add notes a key. If it was there before, it returns where.
func (k *keys) add(name string, at int) (first int, twice bool) {
	for _, one := range k.list[:k.n] {
		if one.name == name {
			return one.at, true
		}
	}
	if k.n < few {
		k.list[k.n] = key{name, at}
		k.n++
		return 0, false
	}
	if first, twice = k.index[name]; twice {
		return first, true
	}
	if k.index == nil {
		k.index = make(map[string]int)
	}
	k.index[name] = at
	return 0, false
}
