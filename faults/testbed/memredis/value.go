package memredis

import (
	"cmp"
	"slices"
	"strconv"
)

// A kind is the type of what a key holds, by Redis' name.
type kind string

const (
	kindString kind = "string"
	kindHash   kind = "hash"
	kindZSet   kind = "zset"
	kindStream kind = "stream"
)

// An entry is what one key holds.
type entry struct {
	kind    kind
	text    string
	hash    map[string]string
	scores  map[string]float64
	stream  []streamEntry
	expires int64 // ms of the server's clock; 0: never
}

type streamEntry struct {
	ms, seq int64
	fields  []string
}

// isEmpty reports whether Redis would have removed the key.
func (e *entry) isEmpty() bool {
	return e.kind == kindHash && len(e.hash) == 0 || e.kind == kindZSet && len(e.scores) == 0
}

// A member of a sorted set.
type member struct {
	name  string
	score float64
}

// sorted lists a sorted set by score, then by name.
func (e *entry) sorted() []member {
	all := make([]member, 0, len(e.scores))
	for name, score := range e.scores {
		all = append(all, member{name, score})
	}
	slices.SortFunc(all, func(a, b member) int { return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.name, b.name)) })
	return all
}

// formatScore prints a score as Redis does.
func formatScore(f float64) string {
	switch {
	case f > maxFloat:
		return "inf"
	case f < -maxFloat:
		return "-inf"
	case f == float64(int64(f)) && f < 1e17 && f > -1e17:
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', 17, 64)
}

const maxFloat = 1.7976931348623157e308
