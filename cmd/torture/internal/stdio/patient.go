package stdio

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"
)

// A Pipe is a named pipe, or whatever else is no file. It is opened by the first
// read, since opening one waits for its writer; it is closed with the process.
type Pipe struct {
	Name string
	Wait time.Duration // for a writer to open it; then reading it is an error
	file *os.File
}

// Read implements io.Reader.
func (p *Pipe) Read(b []byte) (n int, err error) {
	if p.file == nil {
		if p.file, err = p.open(); err != nil {
			return 0, err
		}
	}
	return p.file.Read(b)
}

// open cannot be broken off: where nobody comes, the goroutine that waits ends with the
// process.
func (p *Pipe) open() (*os.File, error) {
	type opened struct {
		file *os.File
		err  error
	}
	done := make(chan opened, 1)
	go func() {
		file, err := os.Open(p.Name)
		done <- opened{file, err}
	}()
	select {
	case o := <-done:
		return o.file, o.err
	case <-time.After(p.Wait):
		return nil, fmt.Errorf("nobody opened the pipe to write within %v", p.Wait)
	}
}

// Patient reads from src until ctx ends, and then returns ctx's error. A read of
// standard input cannot be broken off: what waits for it is a goroutine of its
// own, begun with the first read, which ends with src, or else with the process.
func Patient(ctx context.Context, src io.Reader) io.Reader {
	return &patientReader{start: func() io.Reader {
		out, in := io.Pipe()
		context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
		go func() {
			_, err := io.Copy(in, src)
			in.CloseWithError(err)
		}()
		return out
	}}
}

type patientReader struct {
	start func() io.Reader
	out   io.Reader
}

func (r *patientReader) Read(p []byte) (int, error) {
	if r.out == nil {
		r.out = r.start()
	}
	return r.out.Read(p)
}
