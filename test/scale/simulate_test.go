package scale

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// spread gives accounts to k clusters at random, as a hash of their ids does, and returns the busiest one's load.
func spread(loads []float64, k int, random *rand.Rand) float64 {
	clusters := make([]float64, k)
	for _, load := range loads {
		clusters[random.IntN(k)] += load
	}
	return slices.Max(clusters)
}

// heavyTailed are n loads of a Pareto distribution with exponent 1.2 (few accounts make most of the load), at most most each.
func heavyTailed(n int, most float64, random *rand.Rand) (loads []float64, total float64) {
	for range n {
		load := min(most, 0.001*math.Pow(1-random.Float64(), -1/1.2))
		loads, total = append(loads, load), total+load
	}
	return loads, total
}

// TestBusiestCluster: the bound is passed no more often than it says, and is at most twice what comes.
func TestBusiestCluster(t *testing.T) {
	t.Parallel()
	const spreads = 300
	for _, c := range []struct {
		accounts, clusters int
		most               float64
	}{{1_000, 2, 1}, {10_000, 4, 1}, {100_000, 16, 0.5}, {100_000, 64, 0.1}} {
		random := rand.New(rand.NewPCG(1, uint64(c.accounts)))
		loads, total := heavyTailed(c.accounts, c.most, random)
		bound := Busiest(total, c.most, c.clusters)
		var seen []float64
		passed := 0
		for range spreads {
			busiest := spread(loads, c.clusters, random)
			seen = append(seen, busiest)
			if busiest > bound {
				passed++
			}
		}
		slices.Sort(seen)
		high := seen[spreads*99/100]
		t.Logf("%d accounts on %d clusters: mean %.3g, 99th percentile %.3g, bound %.3g, passed %d of %d", c.accounts, c.clusters, total/float64(c.clusters), high, bound, passed, spreads)
		if float64(passed) > Overload*spreads || bound > 2*high {
			t.Errorf("%d accounts on %d clusters: bound %.3g passed %d times; the 99th percentile is %.3g", c.accounts, c.clusters, bound, passed, high)
		}
	}
}

// freeAt is when each worker comes free, in seconds.
type freeAt []float64

func (f freeAt) Len() int           { return len(f) }
func (f freeAt) Less(i, j int) bool { return f[i] < f[j] }
func (f freeAt) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *freeAt) Push(x any)        { *f = append(*f, x.(float64)) }
func (f *freeAt) Pop() any {
	last := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	return last
}

// queue returns the mean wait of n pieces of work that arrive at random for c workers; service times are lognormal.
func queue(perSecond, service, cv2 float64, c, n int, random *rand.Rand) float64 {
	sigma2 := math.Log(1 + cv2)
	mu := math.Log(service) - sigma2/2
	workers := make(freeAt, c)
	var now, waited float64
	for range n {
		now += random.ExpFloat64() / perSecond
		start := max(now, workers[0])
		waited += start - now
		workers[0] = start + math.Exp(mu+math.Sqrt(sigma2)*random.NormFloat64())
		heap.Fix(&workers, 0)
	}
	return waited / float64(n)
}

// TestWaiting: the predicted wait is no less than that of a simulated queue but for a tenth, and for one worker it is that wait.
func TestWaiting(t *testing.T) {
	t.Parallel()
	const service = 0.05
	for _, c := range []int{1, 4, 16, 64} {
		for _, use := range []float64{0.5, 0.7, 0.85} {
			for _, cv2 := range []float64{0.25, 1, 4} {
				random := rand.New(rand.NewPCG(2, uint64(c)))
				perSecond := use * float64(c) / service
				predicted, seen := MeanWait(perSecond, service, cv2, c), queue(perSecond, service, cv2, c, 400_000, random)
				t.Logf("%2d workers at %.2f, cv² %.2f: predicted %6.2f ms, simulated %6.2f ms", c, use, cv2, predicted*1000, seen*1000)
				if seen > 1.1*predicted+service/1000 || c == 1 && predicted > 1.1*seen {
					t.Errorf("%d workers at %.2f, cv² %.2f: predicted %.2f ms, simulated %.2f ms", c, use, cv2, predicted*1000, seen*1000)
				}
			}
		}
	}
}

// TestWorkers: with as many workers as the model names the simulated wait is kept, and with a tenth and two fewer it is not.
func TestWorkers(t *testing.T) {
	t.Parallel()
	const service, cv2, target = 0.05, 4, 5 * time.Millisecond
	for _, perSecond := range []float64{20, 200, 2000} {
		c := WorkersFor(perSecond, service, cv2, target)
		random := rand.New(rand.NewPCG(3, uint64(c)))
		less := c - c/10 - 2
		enough, fewer := queue(perSecond, service, cv2, c, 400_000, random), queue(perSecond, service, cv2, less, 400_000, random)
		t.Logf("%.0f a second: %d workers, simulated wait %.2f ms; with %d %.2f ms", perSecond, c, enough*1000, less, fewer*1000)
		if enough > target.Seconds() || fewer <= target.Seconds() {
			t.Errorf("%.0f a second: %d workers wait %.2f ms, %d %.2f ms; the goal is %v", perSecond, c, enough*1000, less, fewer*1000, target)
		}
	}
}
