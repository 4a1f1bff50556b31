// Package queueing predicts what a lock service does under load: a closed network
// of stations by mean value analysis, and requests that wait for keys by a small
// discrete-event simulation. reports/README.md states the method and its limits.
package queueing

import (
	"cmp"
	"math"
	"slices"
)

// A Station is what requests queue for: processors that share a line.
type Station struct {
	Demand  float64 // seconds of service for each request
	Servers int     // processors; 1 when 0
	Stretch float64 // of the wait, for a request that is over with the q-th of n such stations; 1 when 0
}

// A Mean is what mean value analysis says of a number of requests under way.
type Mean struct {
	Rate     float64 // requests per second
	Response float64 // seconds in the stations, without thinking
}

// MVA solves the closed network of the stations for 1 to n requests that think
// between two rounds: exact for single servers. Several servers are one that is so
// many times as fast, and a delay for the rest of the demand.
// Sources: M. Reiser, S. Lavenberg, Mean-Value Analysis of Closed Multichain Queuing
// Networks, JACM 1980; A. Seidmann, P. Schweitzer, S. Shalev-Oren, 1987 (servers).
func MVA(stations []Station, think float64, n int) []Mean {
	queue := make([]float64, len(stations))
	delay := 0.0
	for _, s := range stations {
		delay += s.Demand * (1 - 1/float64(max(s.Servers, 1)))
	}
	out := make([]Mean, n)
	residence := make([]float64, len(stations))
	for k := 1; k <= n; k++ {
		response := delay
		for i, s := range stations {
			residence[i] = s.Demand / float64(max(s.Servers, 1)) * (1 + queue[i])
			response += residence[i] * cmp.Or(s.Stretch, 1)
		}
		rate := float64(k) / (think + response)
		for i := range queue {
			queue[i] = rate * residence[i]
		}
		out[k-1] = Mean{rate, response}
	}
	return out
}

// Saturation is the rate at which the first of the stations is in use all the time.
// Source: P. Denning, J. Buzen, The Operational Analysis of Queueing Network Models, 1978.
func Saturation(stations []Station) float64 {
	rate := math.Inf(1)
	for _, s := range stations {
		rate = min(rate, float64(max(s.Servers, 1))/s.Demand)
	}
	return rate
}

// Fork is by how much the q-th of n replies is later than one of them on average,
// where their times are exponential and independent: H(n) − H(n−q).
// Source: H. David, H. Nagaraja, Order Statistics, section 4.6.
func Fork(q, n int) (factor float64) {
	for i := n - q + 1; i <= n; i++ {
		factor += 1 / float64(i)
	}
	return factor
}

// Quorum is the q-th smallest delay: a round trip to so many nodes is over when q
// have replied.
func Quorum(q int, delays []float64) float64 {
	return slices.Sorted(slices.Values(delays))[q-1]
}
