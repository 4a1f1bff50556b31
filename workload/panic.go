package workload

import (
	"fmt"
	"path"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

// A PanicError is a panic that ended a client's work.
type PanicError struct {
	Client string // whose work it was; empty for a goroutine of the lock's or the harness's own
	Value  any
	At     string // the function that panicked, of whose code it is, and where
	Lock   bool   // it is the lock's under test, and not the harness's
	Stack  []byte
}

func (e *PanicError) Error() string {
	who := "a goroutine"
	if e.Client != "" {
		who = "client " + e.Client
	}
	return fmt.Sprintf("%s panicked: %v, in %s", who, e.Value, e.At)
}

// Caught makes the error of a panic that was just recovered: it is called by
// the deferred function itself.
func Caught(client string, value any) *PanicError {
	e := &PanicError{Client: client, Value: value, Stack: debug.Stack()}
	pcs := make([]uintptr, 256)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	var stack []runtime.Frame // from the panic outwards
	for panicked, more := false, true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); panicked {
			stack = append(stack, f)
		}
		panicked = panicked || f.Function == "runtime.gopanic"
	}
	e.At, e.Lock = culprit(stack)
	return e
}

// culprit says whose code panicked, by the frames from the panic outwards: the owner of the
// innermost function of a lock or of the harness. A library belongs to its caller: the harness
// calls none between itself and a lock, so a library in between is the lock's. The standard
// library belongs to nobody.
func culprit(stack []runtime.Frame) (at string, lock bool) {
	foreign := ""
	for _, f := range stack {
		switch owner := ownerOf(f.Function); {
		case owner == ofStandard:
		case owner == ofLibrary:
			if foreign == "" {
				foreign = where(f)
			}
		case owner == ofLock:
			return where(f), true
		case foreign != "" && packageOf(f.Function) == ourPackage:
			return foreign, true
		default:
			return where(f), false
		}
	}
	return foreign, false
}

// The owners of a function.
const (
	ofStandard = iota
	ofLibrary
	ofLock
	ofHarness
)

// ourPackage is this package's path, and ourModule that of the module which it
// and the locks that come with it are part of.
var (
	ourPackage = reflect.TypeFor[worker]().PkgPath()
	ourModule  = path.Dir(ourPackage)
)

// harnessChild is the harness's own side of a lock in a child process.
const harnessChild = "/lockimpl/child"

func ownerOf(function string) int {
	pkg := packageOf(function)
	rest, ours := strings.CutPrefix(pkg, ourModule)
	switch {
	case ours && (rest == "/lockimpl" || strings.HasPrefix(rest, "/lockimpl/") && rest != harnessChild):
		return ofLock
	case ours && strings.HasSuffix(rest, "_test"), !ours && pkg != "" && inModule(pkg, program()), pkg == "main" && program() != ourModule:
		return ofLock // who uses the harness as a library brings a lock
	case ours && strings.HasPrefix(rest, "/"):
		return ofHarness
	case isStandard(pkg):
		return ofStandard
	}
	return ofLibrary
}

// isStandard says whether a package is one of the standard library: its path
// has no dot in its first part, and no module of this program claims it.
func isStandard(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return !strings.Contains(first, ".") && first != "main" && !slices.ContainsFunc(modules(), func(module string) bool { return inModule(pkg, module) })
}

func inModule(pkg, module string) bool {
	return module != "" && (pkg == module || strings.HasPrefix(pkg, module+"/"))
}

// program is the module whose program this is: ours, or that of a user.
func program() string {
	if p, ok := debug.ReadBuildInfo(); ok {
		return p.Main.Path
	}
	return ""
}

// modules are the paths of those that this program is built of.
var modules = sync.OnceValue(func() (paths []string) {
	if program, ok := debug.ReadBuildInfo(); ok {
		paths = append(paths, program.Main.Path)
		for _, m := range program.Deps {
			paths = append(paths, m.Path)
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return path == "" })
})

// packageOf cuts the package's path off a function's name.
func packageOf(function string) string {
	slash := strings.LastIndexByte(function, '/') + 1
	dot := strings.IndexByte(function[slash:], '.')
	if dot < 0 {
		return function
	}
	return strings.ReplaceAll(function[:slash+dot], "%2e", ".")
}

func where(f runtime.Frame) string {
	return fmt.Sprintf("%s (%s:%d)", path.Base(f.Function), path.Base(f.File), f.Line)
}
