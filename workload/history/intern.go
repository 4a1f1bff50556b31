package history

import "encoding/binary"

const (
	internBits  = 12
	internBytes = 64 // longer strings are not kept
)

// An interner turns the same bytes into the same string, mostly without
// allocating. It is a cache with one entry a slot, so its size is fixed
// whatever a file holds.
type interner [1 << internBits]string

func (t *interner) get(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > internBytes {
		return string(b)
	}
	slot := &t[hash(b)>>(64-internBits)]
	if *slot != string(b) {
		*slot = string(b)
	}
	return *slot
}

// hash mixes the first and the last bytes of b, which is not empty. Names that
// differ in the middle alone share a slot: slower, never wrong.
func hash(b []byte) uint64 {
	const odd1, odd2 = 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f
	var head, tail uint64
	switch n := len(b); {
	case n >= 8:
		head, tail = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[n-8:])
	case n >= 4:
		head, tail = uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[n-4:]))
	default:
		head, tail = uint64(b[0])|uint64(b[n/2])<<8, uint64(b[n-1])|uint64(n)<<8
	}
	return (head*odd1 ^ tail) * odd2
}
