//go:build !unix

package simulate

import "time"

// processorTime is not told here.
func processorTime() time.Duration { return 0 }
