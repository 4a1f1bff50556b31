package historyfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"locktorture/workload/history"
)

// TestRefusedInEveryForm refuses the same line whatever form it comes in: a
// plain file, a compressed one, standard input.
func TestRefusedInEveryForm(t *testing.T) {
	header, err := history.AppendHeader(nil, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	first := `{"index":0,"time_ns":5,"process":0,"kind":"invoke","op":"acquire","key":"k","owner":"a"}` + "\n"
	for _, c := range []struct{ text, want string }{
		{string(header) + first + `{"index":1,"time_ns":6,"process":0,"kind":"ok","op":"acquire","key":"k","owner":"a","fence":0}` + "\n", "line 3: field fence: 0 is refused"},
		{string(header) + first + `{"index":1,"time_ns":6,"process":1,"kind":"invoke","op":"acquire","key":"k"}` + "\n", "line 3: acquire of process 1 has no owner"},
		{string(header) + first + "{\"index\":1,\"time_ns\":6,\"process\":1,\"kind\":\"invoke\",\"op\":\"read\",\"key\":\"\xfe\"}\n", "line 3: field key: not UTF-8"},
		{strings.Replace(string(header), `"version":1`, `"version":1,"version":1`, 1) + first, "line 1: broken header: field version is given twice"},
		{string(header) + first + strings.Repeat("\n", 3<<20), "line 3: empty lines from here on"},
	} {
		for name, packed := range map[string][]byte{
			"history.jsonl": []byte(c.text), "history.jsonl.gz": gzipped(t, []byte(c.text)), "history.jsonl.zst": frames(t, []byte(c.text)),
		} {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, packed, 0o600); err != nil {
				t.Fatal(err)
			}
			_, fromFile := openAll(path, nil)
			_, fromStdin := openAll("-", bytes.NewReader(packed))
			for where, err := range map[string]error{name: fromFile, "standard input, " + name: fromStdin} {
				var format *history.FormatError
				if !errors.As(err, &format) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: error %v, want %q", where, err, c.want)
				}
			}
		}
	}
}

func openAll(path string, stdin io.Reader) ([]history.Event, error) {
	r, closer, err := Open(path, stdin)
	if err != nil {
		return nil, err
	}
	events, err := readAll(r)
	return events, errors.Join(err, closer.Close())
}

// TestNewlines reads next to nothing of gigabytes of newlines in a small file.
func TestNewlines(t *testing.T) {
	header, err := history.AppendHeader(nil, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	var small bytes.Buffer
	enc, err := zstd.NewWriter(&small, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	newlines := bytes.Repeat([]byte("\n"), 64<<20)
	if _, err := enc.Write(append(header, newlines...)); err != nil {
		t.Fatal(err)
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	endless := &counted{Reader: io.MultiReader(bytes.NewReader(header), newlineReader{})}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for name, src := range map[string]io.Reader{"zstd": &small, "endless": endless} {
		r, _, err := NewReader(src)
		if err != nil {
			t.Fatal(err)
		}
		_, err = readAll(r)
		var format *history.FormatError
		if !errors.As(err, &format) || format.Line != 2 || !strings.Contains(format.Msg, "empty lines") {
			t.Errorf("%s: error %v, want a FormatError for line 2", name, err)
		}
	}
	runtime.ReadMemStats(&after)
	if endless.n > 2<<20 {
		t.Errorf("read %d bytes of an endless file of newlines", endless.n)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 24<<20 {
		t.Errorf("reading allocated %d MiB", used>>20)
	}
}

// A newlineReader is a file of newlines that never ends.
type newlineReader struct{}

func (newlineReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}

// counted counts the bytes that were read.
type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}
