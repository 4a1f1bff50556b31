// Package plant lists the bugs that can be planted in the lock, so that the
// checks which should notice them can be tested.
package plant

// Bugs are switched on one at a time. The zero value is the lock as it is.
type Bugs struct {
}
