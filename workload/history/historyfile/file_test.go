package historyfile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
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
		want := write(t, filepath.Join(dir, name), 12_000, 11_000)
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
