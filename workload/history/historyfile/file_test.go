package historyfile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"

	"locktorture/workload/history"
)

var testHeader = history.Header{Scenario: "s", Lock: "l", TTL: time.Second}

// event is the i-th of a history of reads.
func event(i int) history.Event {
	return history.Event{
		Index: i, Time: time.Duration(i) * 1000, Process: i / 2 % 7,
		Kind: history.Invoke + history.Kind(i%2), Op: history.Read, Key: fmt.Sprint("k", i/2%50), Value: fmt.Sprint("v", i/2),
	}
}

var endEvent = history.Event{Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Value: history.PhaseEnd}

// write makes a file of n reads and an end, a frame after every batch events.
func write(t *testing.T, path string, n, batch int) []history.Event {
	t.Helper()
	f, err := Create(path, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	var events []history.Event
	add := func(e history.Event) {
		events = append(events, e)
		f.Event(&e)
	}
	for i := range n {
		add(event(i))
		if i%batch == batch-1 {
			if err := f.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	last := endEvent
	last.Index, last.Time = n, time.Duration(n)*1000
	add(last)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return events
}

// readAll reads until the end of the history, or an error.
func readAll(r *history.Reader) (events []history.Event, err error) {
	for {
		var e history.Event
		switch err := r.Next(&e); {
		case err == nil:
			events = append(events, e)
		case errors.Is(err, io.EOF):
			return events, nil
		default:
			return events, err
		}
	}
}

func readFile(t *testing.T, path string) (events []history.Event, truncated bool) {
	t.Helper()
	r, closer, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	events, err = readAll(r)
	if err := errors.Join(err, closer.Close()); err != nil {
		t.Fatal(err)
	}
	return events, r.Truncated()
}

func TestRoundTrip(t *testing.T) {
	for _, name := range []string{"history.jsonl", Name} {
		dir := t.TempDir()
		want := write(t, filepath.Join(dir, name), 40_000, 15_000)
		got, truncated := readFile(t, dir)
		if !reflect.DeepEqual(got, want) || truncated {
			t.Errorf("%s: read %d events of %d, truncated %v", name, len(got), len(want), truncated)
		}
	}
}

func TestOpenFindsItsKind(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "history.jsonl")
	want := write(t, plain, 10, 10)
	text, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{"plain": text, "gzip": gzipped(t, text), "zstd": frames(t, text)} {
		r, closer, err := Open("-", bytes.NewReader(file))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := readAll(r)
		if err := errors.Join(err, closer.Close()); err != nil || !reflect.DeepEqual(got, want) || r.Truncated() {
			t.Errorf("%s: read %d events of %d, truncated %v, error %v", name, len(got), len(want), r.Truncated(), err)
		}
	}
	for _, path := range []string{filepath.Join(dir, "none"), t.TempDir()} {
		if _, _, err := Open(path, nil); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Open(%s): error %v, want one that says what does not exist", path, err)
		}
	}
}

func gzipped(t *testing.T, parts ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, part := range parts {
		w := gzip.NewWriter(&b)
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func frames(t *testing.T, parts ...[]byte) (file []byte) {
	t.Helper()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		file = enc.EncodeAll(part, file)
	}
	return file
}

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

func plainText(t *testing.T, n int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "history.jsonl")
	write(t, path, n, n)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
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
	zeros := make([]byte, 200<<20)
	var wide bytes.Buffer
	enc, err := zstd.NewWriter(&wide, zstd.WithWindowSize(64<<20), zstd.WithEncoderConcurrency(1))
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
		"zstd":        frames(t, header, zeros[:100<<20], zeros),
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
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
			t.Errorf("%s: reading allocated %d MiB", name, used>>20)
		}
		if err := closer.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestCreateKeepsOldHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	write(t, path, 1, 1)
	if _, err := Create(path, testHeader); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create over a history: error %v, want one that says that it exists", err)
	}
}

// TestFlushedEverySecond looks at the file a second after an event, in
// virtual time, while the writer is still open.
func TestFlushedEverySecond(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	synctest.Test(t, func(t *testing.T) {
		f, err := Create(path, testHeader)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			e := event(i)
			f.Event(&e)
			time.Sleep(time.Second)
			synctest.Wait()
			if events, truncated := readFile(t, path); len(events) != i+1 || !truncated {
				t.Errorf("after %d s the file has %d events, truncated %v", i+1, len(events), truncated)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

const childVariable = "HISTORYFILE_TEST_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childVariable); path != "" {
		recordForever(path)
	}
	os.Exit(m.Run())
}

// recordForever writes 100 events and then waits to be killed.
func recordForever(path string) {
	f, err := Create(path, testHeader)
	if err != nil {
		panic(err)
	}
	for i := range 100 {
		e := event(i)
		f.Event(&e)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(3) // the parent died first
}

// TestSurvivesKill kills a process that records, and reads what it left.
func TestSurvivesKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childVariable+"="+path)
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Process.Kill() }()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if info, err := os.Stat(path); err == nil && info.Size() > 400 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the child wrote no frame of events")
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the child ended with %v, want killed", err)
	}
	if events, truncated := readFile(t, path); len(events) != 100 || !truncated {
		t.Errorf("the file has %d events, truncated %v; want 100, truncated", len(events), truncated)
	}
}
