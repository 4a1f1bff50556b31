package measure

import (
	"context"
	"fmt"
	"strconv"
)

// Totals are what servers have done so far, and what they hold.
type Totals struct {
	Commands    float64 // see Servers.Commands
	In, Out     float64 // bytes that clients sent, and that were sent to them
	Connections float64 // open now
	Memory      float64 // bytes in use now
}

// Totals sums up the first n servers. The question itself adds some bytes, and a
// connection to each.
func (s *Servers) Totals(ctx context.Context, n int) (t Totals, err error) {
	t.Commands = s.Commands(ctx, n)
	for i, a := range s.Admins[:n] {
		for section, fields := range map[string]map[string]*float64{
			"stats":   {"total_net_input_bytes": &t.In, "total_net_output_bytes": &t.Out},
			"clients": {"connected_clients": &t.Connections},
			"memory":  {"used_memory": &t.Memory},
		} {
			text, err := a.Info(ctx, section).Result()
			if err != nil {
				return t, fmt.Errorf("ask %s for %s: %w", s.Bed.Nodes()[i].Addr(), section, err)
			}
			for name, sum := range fields {
				v, err := strconv.ParseFloat(infoField(text, name), 64)
				if err != nil {
					return t, fmt.Errorf("%s does not tell its %s", s.Bed.Nodes()[i].Addr(), name)
				}
				*sum += v
			}
		}
	}
	return t, nil
}
