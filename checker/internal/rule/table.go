package rule

// A Table is what a rule keeps for each key or owner, by its number.
type Table[T any] struct{ rows []*T }

// At is the row of number n, made if it is not there.
func (t *Table[T]) At(n int) *T {
	if n < len(t.rows) && t.rows[n] != nil {
		return t.rows[n]
	}
	return t.add(n)
}

func (t *Table[T]) add(n int) *T {
	if n >= len(t.rows) {
		t.rows = append(t.rows, make([]*T, n+1-len(t.rows))...)
	}
	t.rows[n] = new(T)
	return t.rows[n]
}

// Get is the row of number n, or nil.
func (t *Table[T]) Get(n int) *T {
	if n < len(t.rows) {
		return t.rows[n]
	}
	return nil
}
