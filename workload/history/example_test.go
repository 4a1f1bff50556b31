package history_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"locktorture/workload/history"
)

// A history is a header and one event a line. Anybody can write one: here two
// events of a client, as a program of yours would record them.
func ExampleWriter() {
	w, err := history.NewWriter(os.Stdout, history.Header{Scenario: "mine", Lock: "mine", Nodes: 1, Quorum: 1, TTL: 1e9})
	if err != nil {
		fmt.Println(err)
		return
	}
	e := history.Event{Index: 0, Time: 1000, Kind: history.Invoke, Op: history.Acquire, Key: "k", Owner: "a"}
	w.Event(&e)
	e.Index, e.Time, e.Kind, e.Fence = 1, 5000, history.OK, 7
	w.Event(&e)
	if err := w.Flush(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"type":"history","version":1,"scenario":"mine","lock":"mine","seed":0,"nodes":1,"quorum":1,"ttl_ns":1000000000,"drift_ns":0,"epsilon_ns":0,"fenced":false}
	// {"index":0,"time_ns":1000,"process":0,"kind":"invoke","op":"acquire","key":"k","owner":"a"}
	// {"index":1,"time_ns":5000,"process":0,"kind":"ok","op":"acquire","key":"k","owner":"a","fence":7}
}

// A Reader checks what it reads: a line that breaks the format is named.
func ExampleReader() {
	file := `{"type":"history","version":1,"ttl_ns":1000000000}
{"index":0,"time_ns":1000,"process":0,"kind":"invoke","op":"acquire","key":"k","owner":"a"}
{"index":2,"time_ns":5000,"process":0,"kind":"ok","op":"acquire","key":"k","owner":"a"}
`
	r, err := history.NewReader(strings.NewReader(file))
	if err != nil {
		fmt.Println(err)
		return
	}
	var e history.Event
	for err = r.Next(&e); err == nil; err = r.Next(&e) {
		fmt.Println(e.Owner, e.Kind, e.Op, e.Key)
	}
	if !errors.Is(err, io.EOF) {
		fmt.Println(err)
	}
	// Output:
	// a invoke acquire k
	// history line 3: index 2: want 1, indices count up from 0 without gaps
}

// A small history is written as people would tell it.
func ExampleParse() {
	h, err := history.Parse(`
		header ttl 100ms
		 0ms c0 invoke acquire k
		10ms c0 ok     acquire k until 100ms fence 3
		     nemesis ok fault pause-client target {"clients":["c0"]} instant`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range h.Events {
		fmt.Println(e.Time, e.Process, e.Kind, e.Op, e.Key+e.Target.String())
	}
	// Output:
	// 0s 0 invoke acquire k
	// 10ms 0 ok acquire k
	// 11ms -1 ok fault {"clients":["c0"]}
}
