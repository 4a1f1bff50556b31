package faults

// Bind binds name, as a step does once it is in force.
func (s *Scope) Bind(name string, victims ...string) {
	s.run.bind([]bind{{name: name, victims: victims}})
}
