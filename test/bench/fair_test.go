//go:build bench

package bench

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"reckon/test/e2e"
	"reckon/test/wait"
)

// BenchmarkFairWorkers: the median of a small account's 1+1 over HTTP while another account asks for everything, beside the
// same without. The other account either burns processors (While[True]) or only holds workers (Pause[20]); the server's
// defaults are two workers a processor and a wait of 10 s. Goals: no 1+1 is refused; with Pause[20] its median stays within 2 of
// that without.
func BenchmarkFairWorkers(b *testing.B) {
	const clients, requests = 8, 100
	server := startService(b)
	for _, flooded := range []string{"Pause[20]", "While[True]"} {
		b.Run(flooded, func(b *testing.B) {
			flood, small := server.NewAccount("flood"+flooded[:1]+"@example.com"), server.NewAccount("small"+flooded[:1]+"@example.com")
			before := evaluateFor(b, small, requests)
			stop := make(chan struct{})
			var flooding sync.WaitGroup
			for range clients {
				flooding.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						_ = flood.JSON("POST", "/api/evaluate", map[string]string{"expression": flooded}, nil)
					}
				})
			}
			wait.Pace(time.Second) // the flood has begun to wait
			during := evaluateFor(b, small, requests)
			close(stop)
			flooding.Wait()
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(ms(before.p50), "p50-alone-ms")
			b.ReportMetric(ms(during.p50), "p50-flooded-ms")
			b.ReportMetric(float64(during.p50)/float64(before.p50), "p50-flooded/alone")
			b.ReportMetric(ms(during.worst), "worst-flooded-ms")
			b.ReportMetric(float64(during.refused), "refused")
			b.ReportMetric(float64(during.asked), "asked")
		})
	}
}

// served is how one account's evaluations went.
type served struct {
	p50, worst     time.Duration // of those that were answered and of those that were refused
	asked, refused int
}

// evaluateFor evaluates 1+1 so often, one after the other, or as often as it can in a minute.
func evaluateFor(b *testing.B, account *e2e.Account, requests int) served {
	b.Helper()
	var took []time.Duration
	var s served
	for begun := time.Now(); s.asked < requests && time.Since(begun) < time.Minute; s.asked++ {
		sent := time.Now()
		err := account.JSON("POST", "/api/evaluate", map[string]string{"expression": "1+1"}, nil)
		took = append(took, time.Since(sent))
		var status *e2e.StatusError
		switch {
		case errors.As(err, &status) && status.Code == "saturated":
			s.refused++
		case err != nil:
			b.Fatal(err)
		}
	}
	slices.Sort(took)
	s.p50, s.worst = median(took), took[len(took)-1]
	return s
}
