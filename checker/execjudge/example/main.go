// Command example is a judge of one's own: it reads a history as JSON lines
// from standard input and finds fault with every lease that was held for more
// than half of its TTL. It needs nothing of this module.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

type event struct {
	TTL     int64  `json:"ttl_ns"` // of the header
	Index   int    `json:"index"`
	Time    int64  `json:"time_ns"`
	Process int    `json:"process"`
	Kind    string `json:"kind"`
	Op      string `json:"op"`
	Key     string `json:"key"`
	Owner   string `json:"owner"`
}

type finding struct {
	Verdict string   `json:"verdict"`
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Key     string   `json:"key"`
	Owners  []string `json:"owners"`
	Witness []int    `json:"witness"`
	Text    string   `json:"text"`
}

func main() {
	in, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	in.Buffer(nil, 1<<20)
	var header event
	events, granted := 0, map[[2]string]event{}
	for first := true; in.Scan(); first = false {
		var e event
		if err := json.Unmarshal(in.Bytes(), &e); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if first {
			header = e
			continue
		}
		events++
		who := [2]string{e.Key, e.Owner}
		switch {
		case e.Op == "acquire" && e.Kind == "ok":
			granted[who] = e
		case e.Op == "release" && e.Kind == "invoke":
			g, held := granted[who]
			delete(granted, who)
			if t := e.Time - g.Time; held && t > header.TTL/2 {
				_ = out.Encode(finding{
					Verdict: "violation", ID: "X1", Name: "long hold", Key: e.Key, Owners: []string{e.Owner}, Witness: []int{g.Index, e.Index},
					Text: fmt.Sprintf("%s held %s for %.3f s, more than half of the TTL of %.3f s.", e.Owner, e.Key, float64(t)/1e9, float64(header.TTL)/1e9),
				})
			}
		}
	}
	if err := in.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_ = out.Encode(map[string]any{"done": true, "events": events})
}
