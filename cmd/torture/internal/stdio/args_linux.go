package stdio

import "unsafe"

// overwrite puts as much of shown as there is room for in the place of arg, which
// is one of os.Args: on Linux its bytes are the process's own argument list.
func overwrite(arg, shown string) {
	place := unsafe.Slice(unsafe.StringData(arg), len(arg))
	for i := range place {
		place[i] = ' '
	}
	copy(place, shown)
}
