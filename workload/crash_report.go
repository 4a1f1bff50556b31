package workload

import (
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// ReadCrash reads what the Go runtime prints when a fatal error ends a program, such as a panic
// in a goroutine of the lock's own, which nobody can recover. It reports false when text is no
// such report.
func ReadCrash(text string) (e *PanicError, ok bool) {
	said, trace, found := strings.Cut(text, "\ngoroutine ")
	if !found {
		return nil, false
	}
	trace, _, _ = strings.Cut(trace, "\n\n") // the first is the one that crashed
	said, _, _ = strings.Cut(strings.TrimSpace(said), "\n")
	said = strings.TrimPrefix(strings.TrimPrefix(said, "panic: "), "fatal error: ")
	e = &PanicError{Value: said, Stack: []byte(text)}
	e.At, e.Lock = culprit(traced(trace))
	if e.At == "" {
		e.At = "code of the Go runtime"
	}
	return e, true
}

// traced reads the frames of a printed trace, the innermost first; who started
// the goroutine comes last.
func traced(trace string) (stack []runtime.Frame) {
	lines := strings.Split(trace, "\n")
	for i := 1; i+1 < len(lines); i++ {
		place, indented := strings.CutPrefix(lines[i+1], "\t")
		if !indented {
			continue
		}
		function, _, _ := strings.Cut(strings.TrimPrefix(lines[i], "created by "), " in goroutine")
		if strings.HasSuffix(function, ")") {
			function = function[:strings.LastIndexByte(function, '(')]
		}
		place, _, _ = strings.Cut(place, " ")
		colon := strings.LastIndexByte(place, ':')
		if colon < 0 {
			continue
		}
		line, _ := strconv.Atoi(place[colon+1:])
		stack = append(stack, runtime.Frame{Function: function, File: filepath.ToSlash(place[:colon]), Line: line})
	}
	return stack
}
