package app

import (
	"fmt"
	"io"
	"time"

	"locktorture/cmd/torture/internal/periodic"
	"locktorture/workload/history/printable"
)

// reminderEvery is how often a verb that works for long says so.
const reminderEvery = 10 * time.Second

// remind says every reminderEvery what goes on, and for how long already, until
// stop is called. What is done by then is not spoken of.
func remind(w io.Writer, what string) (stop func()) {
	began := time.Now()
	return periodic.Start(reminderEvery, func() {
		fmt.Fprintf(w, "%s: for %.0f s\n", printable.Line(what), time.Since(began).Seconds())
	})
}
