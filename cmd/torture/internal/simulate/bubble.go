package simulate

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// inBubble runs f in virtual time, until every goroutine that it started has
// ended.
//
// The way in is testing/synctest.Test with a zero testing.T: outside a test there
// is no other, and Go promises nothing of this one. SelfCheck tells whether it
// works in the Go release that built this program.
func inBubble(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil { // such as a deadlock of everything in the bubble
			err = fmt.Errorf("virtual time: %v", p)
		}
	}()
	entered := false
	synctest.Test(new(testing.T), func(*testing.T) {
		entered = true
		f()
	})
	if !entered {
		return errNoBubble
	}
	return nil
}

var errNoBubble = errors.New("virtual time: testing/synctest does not let a program in that is no test; build torture with Go 1.26, or run the locks on real servers (torture run, torture hunt)")

// checkedSpan is how long SelfCheck sleeps, in virtual time.
const checkedSpan = 24 * time.Hour

// SelfCheck reports whether this program can enter virtual time, and whether the
// clock in there does what it is relied on for: to pass at once while everybody
// waits, exactly as long as was asked for, with timers in the order of their
// times.
func SelfCheck() error {
	real := time.Now()
	var passed time.Duration
	var order []int
	err := inBubble(func() {
		began := time.Now()
		done := make(chan int)
		for i := range 3 {
			time.AfterFunc(time.Duration(3-i)*time.Nanosecond, func() { done <- i })
		}
		for range 3 {
			order = append(order, <-done)
		}
		time.Sleep(time.Until(began.Add(checkedSpan)))
		passed = time.Since(began)
	})
	switch {
	case err != nil:
		return err
	case passed != checkedSpan:
		return fmt.Errorf("virtual time: %v passed in place of %v", passed, checkedSpan)
	case fmt.Sprint(order) != "[2 1 0]":
		return fmt.Errorf("virtual time: timers fired in the order %v", order)
	case time.Since(real) > time.Minute:
		return fmt.Errorf("virtual time: a day of it took %v", time.Since(real))
	}
	return nil
}
