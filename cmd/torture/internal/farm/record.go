package farm

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats.go/jetstream"
)

// putRecord stores a directory as an object.
func putRecord(ctx context.Context, to jetstream.ObjectStore, name, dir string) error {
	r, w := io.Pipe()
	go func() { w.CloseWithError(pack(w, dir)) }() // ends with the object, or with r
	_, err := to.Put(ctx, jetstream.ObjectMeta{Name: name}, r)
	return errors.Join(err, r.CloseWithError(err))
}

func pack(w io.Writer, dir string) error {
	z, err := zstd.NewWriter(w)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	return errors.Join(t.AddFS(os.DirFS(dir)), t.Close(), z.Close())
}

// getRecord makes dir of an object. Nothing is written outside of it.
func getRecord(ctx context.Context, from jetstream.ObjectStore, name, dir string) error {
	object, err := from.Get(ctx, name)
	if err != nil {
		return fmt.Errorf("fetch record %s: %w", name, err)
	}
	err = os.MkdirAll(dir, 0o700)
	if err == nil {
		err = unpack(object, dir)
	}
	if err = errors.Join(err, object.Close(), object.Error()); err != nil {
		return errors.Join(fmt.Errorf("fetch record %s: %w", name, err), os.RemoveAll(dir))
	}
	return nil
}

func unpack(r io.Reader, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	z, err := zstd.NewReader(r)
	if err != nil {
		return err
	}
	defer z.Close()
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case h.Typeflag == tar.TypeDir:
			err = root.MkdirAll(filepath.FromSlash(h.Name), 0o700)
		case h.Typeflag == tar.TypeReg:
			err = unpackFile(root, filepath.FromSlash(h.Name), t)
		}
		if err != nil {
			return err
		}
	}
}

func unpackFile(root *os.Root, name string, from io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}
