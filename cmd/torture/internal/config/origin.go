package config

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"
)

// origins say where the user set what: by key of the scenario file, as a flag
// (--rate), a variable (TORTURE_RATE) or a key of a file (night.yaml: load.rate).
// What nobody set is inherited from the built-in scenario.
type origins map[string]string

// loadPrefix begins the keys of what stands below load in a scenario file.
const loadPrefix = "load."

// Key is the setting's key in a scenario file.
func (s Setting) Key() string {
	key := strings.ReplaceAll(s.Name, "-", "_")
	if _, load := yamlFields(reflect.TypeFor[Load]())[key]; load {
		return loadPrefix + key
	}
	return key
}

// Apply sets s to what was given at origin.
func (c *Config) Apply(s Setting, value, origin string) error {
	if err := s.Set(c, value); err != nil {
		return &SettingError{origin, err}
	}
	c.mark(s.Key(), origin)
	return nil
}

// A SettingError is a value that cannot be read, with where it was given.
type SettingError struct {
	Origin string
	Err    error
}

func (e *SettingError) Error() string { return e.Origin + ": " + e.Err.Error() }

// Unwrap returns what is wrong with the value.
func (e *SettingError) Unwrap() error { return e.Err }

func (c *Config) mark(key, origin string) {
	if c.origins == nil {
		c.origins = origins{}
	}
	c.origins[key] = origin
}

// markFile notes the keys that a file sets.
func (c *Config) markFile(path string, root *yaml.Node, prefix string) {
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i].Value, root.Content[i+1]
		if prefix == "" && key == "load" && value.Kind == yaml.MappingNode {
			c.markFile(path, value, loadPrefix)
			continue
		}
		c.mark(prefix+key, path+": "+prefix+key)
	}
}

// isSet reports whether the user set a key.
func (c *Config) isSet(key string) bool { return c.origins[key] != "" }

// At names a key as the user set it, or else as the user can set it.
func (c *Config) At(key string) string {
	if origin := c.origins[key]; origin != "" {
		return origin
	}
	for _, s := range Settings {
		if s.Key() == key {
			return "--" + s.Name
		}
	}
	return key + ": in the scenario file"
}
