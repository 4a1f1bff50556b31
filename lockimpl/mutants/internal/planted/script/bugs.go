// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package script

import "strings"

// Replace returns s with the text old replaced by text, wherever it occurs.
// It panics when s does not contain old.
func (s *Script) Replace(old, text string) *Script {
	if !strings.Contains(s.Source, old) {
		panic("script " + s.Name + " does not contain " + old)
	}
	return named(s.Name, strings.ReplaceAll(s.Source, old, text))
}
