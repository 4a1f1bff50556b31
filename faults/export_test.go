package faults

// Bind binds name, as a step does once it is in force.
func (t *Target) Bind(name string, victims ...string) {
	t.shared().bind([]bind{{name: name, victims: victims}})
}
