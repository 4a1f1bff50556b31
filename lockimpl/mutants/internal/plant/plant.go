// Package plant makes the copy of the lock that has the switches for planted
// bugs: the lock's own source, under other import paths, with one patch.
package plant

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

const (
	header = "// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.\n\n"

	lockPath = "locktorture/lockimpl/redlock/internal/"
	copyPath = "locktorture/lockimpl/mutants/internal/planted/"

	lockPackage = "\npackage redlock\n"
	copyPackage = "\npackage planted\n"
)

// Copy returns the files of the copy by their paths. The lock's internal
// packages are public in it, to the mutants alone, since it is internal itself.
func Copy(lock fs.FS, patch string) (map[string]string, error) {
	files, err := sources(lock)
	if err != nil {
		return nil, err
	}
	if err := apply(files, patch); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for name, text := range files {
		out[strings.TrimPrefix(name, "internal/")] = rewrite(name, text)
	}
	return out, nil
}

// sources reads the files of the lock that do something: no tests, no pages.
func sources(lock fs.FS) (map[string]string, error) {
	files := map[string]string{}
	err := fs.WalkDir(lock, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !isSource(name) {
			return err
		}
		text, err := fs.ReadFile(lock, name)
		files[name] = string(text)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the lock: %w", err)
	}
	return files, nil
}

func isSource(name string) bool {
	switch path.Ext(name) {
	case ".lua":
		return true
	case ".go":
		return !strings.HasSuffix(name, "_test.go") && name != "doc.go"
	}
	return false
}

// rewrite gives a file of the lock the copy's package and import paths.
func rewrite(name, text string) string {
	if path.Ext(name) != ".go" {
		return text
	}
	text = strings.ReplaceAll("\n"+text, lockPackage, copyPackage)[1:]
	return header + strings.ReplaceAll(text, lockPath, copyPath)
}

// restore undoes rewrite, and the move of the internal packages.
func restore(name, text string) (string, string) {
	if path.Dir(name) != "." {
		name = "internal/" + name
	}
	if path.Ext(name) == ".go" {
		text = strings.ReplaceAll("\n"+strings.TrimPrefix(text, header), copyPackage, lockPackage)[1:]
		text = strings.ReplaceAll(text, copyPath, lockPath)
	}
	return name, text
}
