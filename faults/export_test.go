package faults

import "time"

// Bind binds name, as a step does once it is in force.
func (s *Scope) Bind(name string, victims ...string) {
	s.run.bind([]bind{{name: name, victims: victims}})
}

// Wait has s as a step sees it that has looked for a victim for so long.
func (s *Scope) Wait(d time.Duration) { s.sought = d }
