package measure

import "time"

// The bounds of what bench and capacity may be asked for: they end.
const (
	MaxSlice   = 30 * time.Second
	MaxRepeats = 50
)

const (
	// Patience is how long a contender waits for a key: longer than any slice.
	Patience = time.Minute
	// ConnectTime is what the first request of every worker may take.
	ConnectTime = 5 * time.Second
)
