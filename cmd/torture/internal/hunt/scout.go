package hunt

import (
	"context"
	"fmt"
	"time"

	"locktorture/cmd/torture/internal/simulate"
	"locktorture/workload/history"
)

const (
	// scoutShare is the share of a hunt that scouts may take, and scoutLimit how long
	// at most: a round in virtual time takes a fraction of a second, so that they have
	// seen hundreds by then.
	scoutShare = 0.12
	scoutLimit = 40 * time.Second
)

// scout has processes of this program search in virtual time for rounds that show something, to
// be played on real servers first. A hunt that is resumed has been scouted for.
func (h *Hunt) scout(ctx context.Context) {
	player := &simulate.Player{Lock: h.cfg.Lock, Nodes: h.report.Nodes, Fenced: h.base.Fenced}
	if h.cfg.Scouts == 0 || len(h.search.Log().Rounds) > 0 || player.Supports() != nil {
		return
	}
	job := simulate.Job{
		Lock: h.cfg.Lock.ID, Nodes: h.report.Nodes, Seed: h.cfg.Seed, Beyond: h.cfg.Beyond, Fenced: h.base.Fenced, Scout: true,
		Budget: min(scoutLimit, time.Duration(scoutShare*float64(h.cfg.Budget))),
	}
	h.setScouting(true)
	defer h.setScouting(false)
	rounds, told := 0, 0
	err := simulate.RunWorkers(ctx, job, h.cfg.Scouts, func(t simulate.RoundReport) {
		rounds++
		for _, f := range t.Found {
			if h.promising(f.ID) && h.exec.Fits(f.First) == nil {
				h.search.Suggest(f.First, f.Finding)
				told++
			}
		}
	})
	if err != nil && ctx.Err() == nil {
		h.cfg.Log("scouts in virtual time: " + history.OneLine(err.Error()))
	}
	h.cfg.Log(fmt.Sprintf("scouts played %d rounds in virtual time; %d of them are played on real servers first", rounds, told))
}

// promising reports whether what a scout found is looked for.
func (h *Hunt) promising(id string) bool { return h.cfg.Until == nil || h.cfg.Until(id) }

func (h *Hunt) setScouting(on bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.scouting = on
}
