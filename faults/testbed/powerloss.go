package testbed

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// aofTimestamp begins the line that Redis writes into its append-only file
// before the first command of each second.
const aofTimestamp = "#TS:"

// loseLastSecond cuts a dead server's append-only file where the last second in
// which it was written to begins, and returns how many bytes that was. It is
// what appendfsync everysec can lose with the machine's power; a mere kill
// loses at most what the server had not yet handed to the kernel.
func loseLastSecond(dataDir string) (lost int, err error) {
	file, err := newestIncrement(dataDir)
	if err != nil {
		return 0, err
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	cut := 0 // unless a second began within the file
	if i := bytes.LastIndex(b, []byte("\r\n"+aofTimestamp)); i >= 0 {
		cut = i + len("\r\n")
	}
	if err := os.Truncate(file, int64(cut)); err != nil {
		return 0, fmt.Errorf("cut %s: %w", file, err)
	}
	return len(b) - cut, nil
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
