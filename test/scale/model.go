// Package scale is the capacity model of docs/scale.md: what a load of evaluations and jobs costs in events, bytes,
// appends and processor time, how many clusters it is spread over, and how many workers compute it.
//
// Its tests compare it with the real service (events and bytes) and with simulations (spread over clusters, waiting for
// workers). It plans; nothing of the service depends on it.
package scale

import (
	"math"
	"time"
)

// Cost is what one piece of work leaves in the log.
type Cost struct {
	Appends float64 // requests to the log
	Events  float64
	Bytes   float64 // of data and metadata
}

// Overhead of an event in the embedded node's files, in bytes (docs/bench/node.md, "Size").
const (
	RecordOverhead = 184 // length, checksum, chain hash, names, times
	IndexOverhead  = 61
)

// OnDisk returns the bytes that a piece of work takes in one replica of the log.
func (c Cost) OnDisk() float64 { return c.Bytes + c.Events*(RecordOverhead+IndexOverhead) }

// Costs of one piece of work of each kind; TestCostsAreWhatTheServiceWrites measures them.
type Costs struct {
	Evaluation Cost
	Job        Cost // an evaluate job that succeeds, its run and its receipt included
}

// Measured are the costs of an answer of some dozen bytes, checked and sealed. An answer's and an output's own bytes come on top.
var Measured = Costs{
	Evaluation: Cost{Appends: 1, Events: 2, Bytes: 1_950},
	Job:        Cost{Appends: 5, Events: 6, Bytes: 6_400},
}

// Load is what a population of accounts asks for.
type Load struct {
	Accounts          float64
	EvaluationsPerDay float64 // of an account, on average
	JobsPerDay        float64
	PeakOverMean      float64 // how many times the day's average the busiest minute has
	// MaxPerSecond is the most that one account can ask for: the plan's limits bound it.
	MaxPerSecond   float64
	ComputeSeconds float64 // processor time of one evaluation, check included
	JobSeconds     float64 // processor time of one job
	CV2            float64 // squared coefficient of variation of each of the two
}

// Limits of the parts.
type Limits struct {
	AppendsPerSecond   float64 // that one cluster accepts
	ProjectedPerSecond float64 // events that one projector applies
	Headroom           float64 // part of a limit that is planned for, in (0, 1]
	MeanWait           time.Duration
	Replicas           float64 // of the log
}

// Plan is what a load needs.
type Plan struct {
	AppendsPerSecond, EventsPerSecond float64 // at the peak, of all clusters
	Clusters                          int
	BusiestCluster                    float64 // appends/s that no cluster passes, but with probability Overload
	ProjectorUse                      float64 // part of its limit at which the busiest cluster's projector works
	Workers                           int     // in the busiest cluster
	TerabytesPerYear                  float64 // all replicas of all clusters
}

// Overload is the accepted probability that the accounts' spread gives some cluster more than Plan.BusiestCluster.
const Overload = 0.01

const secondsPerDay = 24 * 60 * 60

// For returns the plan for a load.
func For(load Load, costs Costs, limits Limits) Plan {
	perDay := func(of func(Cost) float64) float64 {
		return load.Accounts * (load.EvaluationsPerDay*of(costs.Evaluation) + load.JobsPerDay*of(costs.Job))
	}
	appends := perDay(func(c Cost) float64 { return c.Appends })
	events := perDay(func(c Cost) float64 { return c.Events })
	atPeak := load.PeakOverMean / secondsPerDay
	p := Plan{
		AppendsPerSecond: appends * atPeak, EventsPerSecond: events * atPeak,
		TerabytesPerYear: perDay(Cost.OnDisk) * 365 * limits.Replicas / 1e12,
	}
	usable := limits.AppendsPerSecond * limits.Headroom
	for p.Clusters = max(1, int(p.AppendsPerSecond/usable)); ; p.Clusters++ {
		p.BusiestCluster = Busiest(p.AppendsPerSecond, load.MaxPerSecond, p.Clusters)
		if p.BusiestCluster <= usable {
			break
		}
		if load.MaxPerSecond > usable { // one account alone can be more than a cluster takes
			p.Clusters, p.BusiestCluster = 0, math.Inf(1)
			return p
		}
	}
	p.ProjectorUse = p.BusiestCluster * events / appends / limits.ProjectedPerSecond
	share := p.BusiestCluster / p.AppendsPerSecond
	pieces := load.EvaluationsPerDay + load.JobsPerDay
	mean := (load.EvaluationsPerDay*load.ComputeSeconds + load.JobsPerDay*load.JobSeconds) / pieces
	square := (load.EvaluationsPerDay*load.ComputeSeconds*load.ComputeSeconds + load.JobsPerDay*load.JobSeconds*load.JobSeconds) / pieces * (1 + load.CV2)
	p.Workers = WorkersFor(load.Accounts*pieces*atPeak*share, mean, square/(mean*mean)-1, limits.MeanWait)
	return p
}

// Busiest bounds the load of the busiest of k clusters when accounts with a load of at most most each, total in all, are
// spread by a hash of their ids: it is passed with probability Overload at most.
//
// Bernstein's inequality (Boucheron, Lugosi, Massart: Concentration Inequalities, 2013, theorem 2.10) for one cluster, whose load is a sum
// of independent terms in [0, most] with variance at most total·most·(1/k)(1−1/k), and the union bound over k.
func Busiest(total, most float64, k int) float64 {
	if k == 1 {
		return total
	}
	mean := total / float64(k)
	variance := mean * most * (1 - 1/float64(k))
	logarithm := math.Log(float64(k) / Overload)
	third := most * logarithm / 3
	return min(total, mean+third+math.Sqrt(third*third+2*variance*logarithm))
}

// WorkersFor returns the least number of workers with which what arrives (perSecond, Poisson) waits no longer than meanWait
// on average, when one piece takes service seconds with squared coefficient of variation cv2.
func WorkersFor(perSecond, service, cv2 float64, meanWait time.Duration) int {
	for c := int(perSecond*service) + 1; ; c++ {
		if MeanWait(perSecond, service, cv2, c) <= meanWait.Seconds() {
			return c
		}
	}
}

// MeanWait is the mean time, in seconds, that a piece of work waits for one of c workers: the wait of M/M/c (Erlang's C)
// times (1+cv2)/2 (Allen and Cunneen's approximation; exact for one worker: Pollaczek and Khinchine). Infinite when c workers cannot do the work.
func MeanWait(perSecond, service, cv2 float64, c int) float64 {
	offered := perSecond * service
	if offered >= float64(c) {
		return math.Inf(1)
	}
	return erlangC(c, offered) * service / (float64(c) - offered) * (1 + cv2) / 2
}

// erlangC is the probability that all c servers are busy, by the recursion of Erlang's B, which does not overflow.
func erlangC(c int, offered float64) float64 {
	blocked := 1.0
	for n := 1; n <= c; n++ {
		blocked = offered * blocked / (float64(n) + offered*blocked)
	}
	use := offered / float64(c)
	return blocked / (1 - use + use*blocked)
}
