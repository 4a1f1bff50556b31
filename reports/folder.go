package reports

import (
	"errors"
	"io/fs"
	"os"
)

// A folder shows the files and directories below a path, and nothing that a link
// in it leads to outside, nor a pipe or a device.
type folder string

// Open implements fs.FS.
func (f folder) Open(name string) (fs.File, error) {
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return nil, err
	}
	file, err := open(root, name)
	return file, errors.Join(err, root.Close())
}

func open(root *os.Root, name string) (fs.File, error) {
	gone := &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	s, err := root.Stat(name)
	if err != nil || !s.Mode().IsRegular() && !s.IsDir() {
		return nil, gone
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, gone
	}
	return file, nil
}
