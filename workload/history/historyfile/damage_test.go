package historyfile

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"locktorture/workload/history"
)

// TestCutAnywhere cuts compressed files at every byte. Each complete frame
// before the cut is read, and the cut is a truncation, never an error.
func TestCutAnywhere(t *testing.T) {
	text := plainText(t, 60)
	headerEnd := bytes.IndexByte(text, '\n') + 1
	third := headerEnd + bytes.LastIndexByte(text[headerEnd:len(text)/2], '\n') + 1
	parts := [][]byte{text[:headerEnd], text[headerEnd:third], text[third:]}
	for name, pack := range map[string]func(*testing.T, ...[]byte) []byte{"gzip": gzipped, "zstd": frames} {
		whole := pack(t, parts...)
		first, second := len(pack(t, parts[0])), len(pack(t, parts[:2]...))
		inSecond := bytes.Count(parts[1], []byte("\n"))
		for n := range len(whole) {
			r, closer, err := NewReader(bytes.NewReader(whole[:n]))
			var format *history.FormatError
			if n < first && errors.As(err, &format) {
				if n > 4 && !strings.Contains(format.Msg, "breaks off") {
					t.Fatalf("%s cut at byte %d: %v, want it to say that the file breaks off", name, n, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s cut at byte %d: %v", name, n, err)
			}
			events, err := readAll(r)
			if err := errors.Join(err, closer.Close()); err != nil {
				t.Fatalf("%s cut at byte %d: %v", name, n, err)
			}
			if !r.Truncated() {
				t.Fatalf("%s cut at byte %d of %d is not truncated", name, n, len(whole))
			}
			if n >= second && len(events) < inSecond {
				t.Fatalf("%s cut at byte %d: %d events, the frames before hold %d", name, n, len(events), inSecond)
			}
		}
	}
}

// TestBrokenCompression flips each byte of the last frame: the reader tells,
// by a FormatError, or reads exactly what was written.
func TestBrokenCompression(t *testing.T) {
	text := plainText(t, 30)
	header := bytes.IndexByte(text, '\n') + 1
	for name, pack := range map[string]func(*testing.T, ...[]byte) []byte{"gzip": gzipped, "zstd": frames} {
		whole := pack(t, text[:header], text[header:])
		told := 0
		for at := len(pack(t, text[:header])); at < len(whole); at++ {
			broken := bytes.Clone(whole)
			broken[at] ^= 0x15
			r, _, err := NewReader(bytes.NewReader(broken))
			if err != nil {
				t.Fatalf("%s broken at byte %d: %v before the broken frame", name, at, err)
			}
			events, err := readAll(r)
			var format *history.FormatError
			switch {
			case errors.As(err, &format) && format.Line > 1:
				told++
			case err != nil:
				t.Fatalf("%s broken at byte %d: %v, want a FormatError with its line", name, at, err)
			case !r.Truncated() && len(events) != 31:
				t.Fatalf("%s broken at byte %d: %d events pass as a complete history", name, at, len(events))
			}
		}
		if told == 0 {
			t.Errorf("%s: no flipped byte was told", name)
		}
	}
}

// TestBombs reads files that unpack to much more than their size.
func TestBombs(t *testing.T) {
	header, err := history.AppendHeader(nil, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 20<<20)
	var wide bytes.Buffer
	enc, err := zstd.NewWriter(&wide, zstd.WithWindowSize(16<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := enc.Write(zeros); err != nil {
		t.Fatal(err)
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	bombs := map[string][]byte{
		"gzip":        gzipped(t, header, zeros),
		"zstd":        frames(t, header, zeros),
		"wide window": append(frames(t, header), wide.Bytes()...),
	}
	for name, bomb := range bombs {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, closer, err := NewReader(bytes.NewReader(bomb))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err = readAll(r)
		runtime.ReadMemStats(&after)
		var format *history.FormatError
		if !errors.As(err, &format) || format.Line != 2 {
			t.Errorf("%s: error %v, want a FormatError for line 2", name, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 24<<20 {
			t.Errorf("%s: reading allocated %d MiB", name, used>>20)
		}
		if err := closer.Close(); err != nil {
			t.Error(err)
		}
	}
}
