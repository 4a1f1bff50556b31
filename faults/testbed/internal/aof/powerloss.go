// Package aof knows the append-only file of a Redis server that is not running.
package aof

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// aofTimestamp begins the line that Redis writes into its append-only file
// before the first command of each second.
const aofTimestamp = "#TS:"

// syncLag is how old a write can be, at most, that appendfsync everysec has not
// brought to the disk: the server syncs when the second of its clock has
// changed, and looks for that ten times a second (serverCron, hz 10).
const syncLag = time.Second + 100*time.Millisecond

// LoseUnsynced cuts from a dead server's append-only file what appendfsync
// everysec can have lost with the machine's power, and returns how many bytes
// that was: what was written in the server's last second, unless the server
// lived long enough afterwards to sync it. died is when it stopped, by its own
// clock. A mere kill loses at most what the server had not yet handed to the
// kernel.
func LoseUnsynced(dataDir string, died time.Time) (lost int, err error) {
	file, err := newestIncrement(dataDir)
	if err != nil {
		return 0, err
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	cut, second, dated := lastSecond(b)
	if age := died.Sub(second); !dated || age < 0 || age >= syncLag {
		return 0, nil // synced; or the clock was set back, and nothing tells the age of the last writes
	}
	if err := os.Truncate(file, int64(cut)); err != nil {
		return 0, fmt.Errorf("cut %s: %w", file, err)
	}
	return len(b) - cut, nil
}

// lastSecond finds where the writes of the last second in an append-only file
// begin, and which second that was.
func lastSecond(b []byte) (begin int, second time.Time, dated bool) {
	if i := bytes.LastIndex(b, []byte("\r\n"+aofTimestamp)); i >= 0 {
		begin = i + len("\r\n")
	}
	mark, found := bytes.CutPrefix(b[begin:], []byte(aofTimestamp))
	if !found {
		return 0, time.Time{}, false
	}
	line, _, _ := bytes.Cut(mark, []byte("\r\n"))
	unix, err := strconv.ParseInt(string(line), 10, 64)
	return begin, time.Unix(unix, 0), err == nil
}

// newestIncrement returns the file to which the server appended last: the one
// with the highest number in appendonly.aof.N.incr.aof.
func newestIncrement(dataDir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dataDir, "appendonlydir", "*.incr.aof"))
	if err != nil {
		return "", err
	}
	newest, highest := "", -1
	for _, file := range files {
		var number int
		if _, err := fmt.Sscanf(filepath.Base(file), "appendonly.aof.%d.incr.aof", &number); err == nil && number > highest {
			newest, highest = file, number
		}
	}
	if newest == "" {
		return "", errors.New("find its append-only file: there is none")
	}
	return newest, nil
}
