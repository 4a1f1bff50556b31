package historyfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"locktorture/workload/history"
)

// TestSlowDisk records much more than the buffers hold while nobody reads, and
// then lets the reader come: nothing is lost, and the buffers stay bounded.
func TestSlowDisk(t *testing.T) {
	const n = 300_000 // more than a batch and the buffers hold
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	f, err := start(w, false, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		for i := range n {
			e := event(i)
			f.Event(&e)
		}
		ended <- f.Close()
	}()
	for full := false; !full; time.Sleep(time.Millisecond) {
		f.mu.Lock()
		full = len(f.pending) >= maxPending
		f.mu.Unlock()
	}
	reader, closer, err := NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	events, err := readAll(reader)
	if err := errors.Join(err, closer.Close()); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, syscall.EINVAL) { // a pipe cannot be synced
		t.Errorf("Close returned %v, want nothing but the refused sync", err)
	}
	if held := cap(f.pending) + cap(f.spare); held > 4*maxPending {
		t.Errorf("the buffers grew to %d MiB", held>>20)
	}
	if len(events) != n {
		t.Errorf("read %d events of %d", len(events), n)
	}
}

// TestAfterAStall shows that the memory which a stall of the disk took is given
// back once the disk keeps up again.
func TestAfterAStall(t *testing.T) {
	f, err := Create(filepath.Join(t.TempDir(), Name), testHeader)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	held := func() int {
		f.out.Lock()
		defer f.out.Unlock()
		f.mu.Lock()
		defer f.mu.Unlock()
		return cap(f.pending) + cap(f.spare)
	}
	f.out.Lock() // as long as a write is under way
	n := 0
	for f.mu.Lock(); len(f.pending) < maxPending/2; f.mu.Lock() {
		f.mu.Unlock()
		e := event(n)
		f.Event(&e)
		n++
	}
	f.mu.Unlock()
	f.out.Unlock()
	for range 2 {
		if err := f.Flush(); err != nil {
			t.Fatal(err)
		}
		e := event(n)
		f.Event(&e)
		n++
	}
	if held := held(); held > 2*keptBytes {
		t.Errorf("%d KiB of buffers after the stall", held>>10)
	}
}

// TestHangingDisk takes nothing any more. Whoever waits for it goes on when it is
// given up, and Close ends with the reason.
func TestHangingDisk(t *testing.T) {
	r, w, err := os.Pipe() // nobody reads
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := start(w, false, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan struct{})
	go func() {
		defer close(waiting)
		for i := 0; f.Err() == nil; i++ {
			e := event(i)
			f.Event(&e)
		}
	}()
	for full := false; !full; time.Sleep(time.Millisecond) {
		f.mu.Lock()
		full = len(f.pending) >= maxPending
		f.mu.Unlock()
	}
	if f.Stalled() <= 0 {
		t.Error("the disk is not said to be taking anything")
	}
	why := errors.New("the disk hangs")
	f.GiveUp(why)
	<-waiting
	if err := f.Close(); !errors.Is(err, why) {
		t.Errorf("Close returned %v, want %v", err, why)
	}
}

func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("needs /dev/full: %v", err)
	}
	if _, err := start(full, true, testHeader); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("start returned %v, want no space left", err)
	}
}

func TestErrorSticks(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	f, err := Create(path, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	e := event(0)
	f.Event(&e)
	if err := f.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.dst.Close(); err != nil {
		t.Fatal(err)
	}
	e = event(1)
	f.Event(&e)
	if err := f.Flush(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Flush returned %v, want that the file is closed", err)
	}
	rec := history.NewRecorder(f)
	if err := rec.Err(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the recorder's error is %v, want that the file is closed", err)
	}
	for range 2 {
		if err := f.Close(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("Close returned %v, want the first error", err)
		}
	}
	if events, truncated := readFile(t, path); len(events) != 1 || !truncated {
		t.Errorf("the file has %d events, truncated %v; want the flushed one", len(events), truncated)
	}
}

func TestEventAfterClose(t *testing.T) {
	f, err := Create(filepath.Join(t.TempDir(), Name), testHeader)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	e := event(0)
	f.Event(&e)
	if err := f.Err(); err == nil || !strings.Contains(err.Error(), "event 0 came after") {
		t.Errorf("Err is %v, want one that names the late event", err)
	}
}

// TestUnreadableSource tells a source that fails from a file that is broken.
func TestUnreadableSource(t *testing.T) {
	gone := errors.New("the network is gone")
	text := plainText(t, 3)
	for _, file := range [][]byte{text, gzipped(t, text)[:20], frames(t, text)[:20]} {
		r, _, err := NewReader(io.MultiReader(strings.NewReader(string(file)), failing{gone}))
		if err == nil {
			_, err = readAll(r)
		}
		if !errors.Is(err, gone) {
			t.Errorf("error %v, want %v", err, gone)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
