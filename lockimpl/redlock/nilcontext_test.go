package redlock_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

// Every exported method that takes a context does without one, or returns an error.
func TestNoContextIsNoPanic(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		locked, _ := w.Client(redlock.NewFactory(redlock.Config{FirstTime: true}))
		l := locked.(*redlock.Locker)
		s, err := l.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		sem, err := l.Semaphore("pool", 2)
		if err != nil {
			t.Fatal(err)
		}
		called := 0
		for _, of := range []any{l.Lock, l, get(t, l.Lock, "k", 5*time.Second), take(t, l, "l", 5*time.Second), sem, s} {
			v := reflect.ValueOf(of)
			for i := range v.NumMethod() {
				if takesContext(v.Method(i).Type()) {
					called++
					withoutContext(t, fmt.Sprintf("%T.%s", of, v.Type().Method(i).Name), v.Method(i))
				}
			}
		}
		if called < 30 {
			t.Errorf("%d methods take a context", called)
		}
	})
}

func takesContext(f reflect.Type) bool {
	return f.NumIn() > 0 && f.In(0) == reflect.TypeFor[context.Context]()
}

// needsNone are methods that need no context: they only bound a wait by it, or begin
// something that goes on without it.
var needsNone = map[string]bool{"Release": true, "Renew": true, "Close": true}

func withoutContext(t *testing.T, name string, f reflect.Value) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: panic: %v", name, p)
		}
	}()
	args := make([]reflect.Value, f.Type().NumIn())
	for i := range args {
		switch in := f.Type().In(i); {
		case i == 0:
			args[i] = reflect.Zero(in)
		case in == reflect.TypeFor[time.Duration]():
			args[i] = reflect.ValueOf(time.Second)
		case in.Kind() == reflect.String:
			args[i] = reflect.ValueOf("key")
		case in.Kind() == reflect.Slice:
			args[i] = reflect.ValueOf([]string{"a", "b"})
		default: // a function
			args[i] = reflect.MakeFunc(in, func([]reflect.Value) []reflect.Value {
				t.Errorf("%s: went on", name)
				return []reflect.Value{reflect.Zero(reflect.TypeFor[error]())}[:in.NumOut()]
			})
		}
	}
	out := f.Call(args)
	if len(out) == 0 {
		return
	}
	err, _ := out[len(out)-1].Interface().(error)
	if method := name[strings.LastIndexByte(name, '.')+1:]; (err == nil) != needsNone[method] {
		t.Errorf("%s without a context: %v", name, err)
	}
}
