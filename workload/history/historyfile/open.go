package historyfile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"locktorture/workload/history"
)

// Name is the history's file name in a run directory.
const Name = "history.jsonl.zst"

// names are those that Open looks for in a directory, in this order.
var names = []string{Name, "history.jsonl", "history.jsonl.gz"}

// maxWindow bounds the memory that a compressed file can ask for. It suffices
// for all levels of zstd but its --ultra and --long ones.
const maxWindow = 8 << 20

// Open opens the history at path: a file, plain or compressed by zstd or gzip
// whatever its name, or a run directory that holds one. The path - means
// stdin, which is left open. Anything else, such as a pipe, which may never be written,
// is refused. The caller closes the closer when done reading.
func Open(path string, stdin io.Reader) (*history.Reader, io.Closer, error) {
	if path == "-" {
		return NewReader(stdin)
	}
	path, err := find(path)
	if err != nil {
		return nil, nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("open history: %w", err)
	}
	r, closer, err := NewReader(file)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open history %s: %w", path, err), file.Close())
	}
	return r, closers{closer, file}, nil
}

// find turns a run directory into the history within it.
func find(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("open history: %w", err)
	}
	if !info.IsDir() {
		return path, regular(path, info)
	}
	for _, name := range names {
		file := filepath.Join(path, name)
		if info, err := os.Stat(file); err == nil {
			return file, regular(file, info)
		}
	}
	return "", fmt.Errorf("open history: directory %s holds none of %s: %w", path, strings.Join(names, ", "), fs.ErrNotExist)
}

func regular(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("open history: %s is no file, but %s", path, info.Mode())
	}
	return nil
}

// NewReader reads a history from src, plain or compressed by zstd or gzip: its
// first bytes tell. Whatever src holds, memory stays bounded.
func NewReader(src io.Reader) (*history.Reader, io.Closer, error) {
	watched := &source{src: src}
	buffered := bufio.NewReaderSize(watched, 64<<10)
	plain, closer, err := decompress(buffered)
	if err != nil {
		return nil, nil, err
	}
	r, err := history.NewReader(&unpacked{plain, watched})
	if err != nil {
		return nil, nil, errors.Join(err, closer.Close())
	}
	return r, closer, nil
}

func decompress(src *bufio.Reader) (io.Reader, io.Closer, error) {
	magic, _ := src.Peek(4) // an error comes again on the first read
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		lazy := &lazyGzip{src: src}
		return lazy, closers{}, nil
	case isZstd(magic):
		dec, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, fmt.Errorf("read zstd: %w", err)
		}
		return dec, dec.IOReadCloser(), nil
	}
	return src, closers{}, nil
}

// isZstd knows a frame and a skippable frame by their magic numbers.
func isZstd(magic []byte) bool {
	return bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(magic) == 4 && magic[0]&0xf0 == 0x50 && bytes.Equal(magic[1:], []byte{0x2a, 0x4d, 0x18})
}

// A lazyGzip reads the gzip header with the first bytes, so that a file cut
// within it is met like one that is cut later.
type lazyGzip struct {
	src io.Reader
	gz  *gzip.Reader
}

func (l *lazyGzip) Read(p []byte) (n int, err error) {
	if l.gz == nil {
		if l.gz, err = gzip.NewReader(l.src); err != nil {
			return 0, err
		}
	}
	return l.gz.Read(p)
}

// A source remembers the error of the file itself.
type source struct {
	src io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.src.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// An unpacked stream tells a broken file, which is a FormatError, from one
// that could not be read.
type unpacked struct {
	io.Reader
	from *source
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return n, err
	case u.from.err != nil:
		return n, u.from.err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return n, io.ErrUnexpectedEOF
	}
	return n, &history.FormatError{Msg: "broken compression: " + err.Error()}
}

// closers closes in order.
type closers []io.Closer

func (c closers) Close() error {
	var errs []error
	for _, one := range c {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}
