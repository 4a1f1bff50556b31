package checker_test

import (
	"context"
	"fmt"

	"locktorture/checker"
	"locktorture/workload/history"
)

// A history is judged without Redis. Here b is granted the key while a can still
// rely on it.
func ExampleCheck() {
	h, err := history.Parse(`
		header ttl 100ms
		 0ms a invoke acquire k
		 1ms a ok     acquire k until 100ms
		 2ms b invoke acquire k
		40ms b ok     acquire k until 140ms
		52ms b invoke release k
		53ms b ok     release k
		60ms nemesis ok phase end`)
	if err != nil {
		fmt.Println(err)
		return
	}
	report := checker.Check(context.Background(), h, checker.Options{})
	fmt.Println(report.Verdict, "exit", report.Exit)
	for _, f := range report.Violations {
		fmt.Println(f.ID, f.Name, f.Key, f.Owners, f.Witness)
		fmt.Println(f.Remedy)
	}
	// Output:
	// FAIL exit 1
	// S1 double grant k [a b] [1 3]
	// look and take in one step, compare the owner in each step that extends or releases, and see whether a node forgot the lock or ended it too early (see the faults); a fence at the store limits the damage.
}
