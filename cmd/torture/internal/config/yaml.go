package config

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"

	"locktorture/workload/history"
)

// A FileError is a mistake in a scenario file, named with its line.
type FileError struct {
	Path string
	Line int
	Msg  string
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.Path, e.Msg)
	}
	return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Msg)
}

// ReadFile lays the scenario file at path over c. Unknown and repeated keys
// are errors.
func (c *Config) ReadFile(path string) error {
	if info, err := os.Stat(path); err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0 {
		return fmt.Errorf("scenario file: %s is a pipe or a socket, which may never be written: want a file", path)
	}
	data, err := ReadAtMost(path, maxFile, "a scenario")
	if err != nil {
		return fmt.Errorf("scenario file: %w", err)
	}
	return c.readYAML(path, data)
}

// maxFile is how many bytes a scenario file may have: some hundred times what one
// with every setting has.
const maxFile = 1 << 20

// ReadAtMost reads a file that somebody names, which may be anything, such as /dev/zero: of
// more than limit bytes it is refused, as not being what is wanted.
func ReadAtMost(path string, limit int64, wanted string) (data []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err = io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s: longer than %d bytes: want %s", path, limit, wanted)
	}
	return data, err
}

func (c *Config) readYAML(path string, data []byte) error {
	var root yaml.Node
	if err := yaml.Load(data, &root, yaml.WithUniqueKeys()); err != nil {
		return &FileError{Path: path, Msg: history.OneLine(err.Error())}
	}
	if root.Kind != yaml.DocumentNode || len(root.Content) == 0 || root.Content[0].Kind != yaml.MappingNode {
		return &FileError{Path: path, Line: 1, Msg: "a scenario is a mapping of settings, such as `lock: redlock`"}
	}
	if err := knownKeys(root.Content[0], reflect.TypeOf(*c)); err != nil {
		err.Path = path
		return err
	}
	if err := root.Decode(c); err != nil {
		return &FileError{Path: path, Msg: history.OneLine(err.Error())}
	}
	c.markFile(path, root.Content[0], "")
	return nil
}

// knownKeys walks the mapping beside the struct that it is to fill, and names
// the first key that the struct lacks.
func knownKeys(n *yaml.Node, t reflect.Type) *FileError {
	switch {
	case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for _, item := range n.Content {
			if err := knownKeys(item, t.Elem()); err != nil {
				return err
			}
		}
		return nil
	case n.Kind == yaml.SequenceNode && t == reflect.TypeFor[Faults]():
		return knownKeys(n, reflect.TypeFor[Faults]().Field(1).Type)
	case n.Kind != yaml.MappingNode || t.Kind() != reflect.Struct:
		return nil
	}
	fields := yamlFields(t)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		field, ok := fields[key.Value]
		if !ok {
			return &FileError{Line: key.Line, Msg: fmt.Sprintf("unknown key %q%s", key.Value, DidYouMean(key.Value, keysOf(fields)))}
		}
		if err := knownKeys(value, field); err != nil {
			return err
		}
	}
	return nil
}

func yamlFields(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if strings.Contains(options, "inline") {
			maps.Copy(fields, yamlFields(f.Type))
			continue
		}
		if name == "" {
			name = strings.ToLower(f.Name)
		}
		fields[name] = f.Type
	}
	return fields
}
