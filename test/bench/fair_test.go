//go:build bench

package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
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

// BenchmarkCoalition: 1+1 of one account over HTTP, beside 40 endless loops of 20 other accounts, each with a budget of a minute, which ask
// again whenever one is ended; beside the same alone. Half of the loops are in sessions. Goals: none is refused; the 99th percentile
// is below 2 s (p99/goal below 1).
func BenchmarkCoalition(b *testing.B) {
	const accounts, loops, requests = 20, 2, 200
	const goal = 2 * time.Second
	data := e2e.DataFolder(b)
	plans := e2e.GenerousPlans(b, data)
	content, err := os.ReadFile(plans)
	if err != nil {
		b.Fatal(err)
	}
	patient := strings.Replace(string(content), "evaluation_budget_ms = 3000", "evaluation_budget_ms = 60000", 1)
	if err := os.WriteFile(plans, []byte(patient), 0o600); err != nil {
		b.Fatal(err)
	}
	server := e2e.Start(b, data, "--config", plans)
	small := server.NewAccount("small@example.com")
	alone := evaluateFor(b, small, requests)
	ctx, stop := context.WithCancel(b.Context())
	var coalition sync.WaitGroup
	for i := range accounts {
		account := server.NewAccount(fmt.Sprintf("coalition-%d@example.com", i))
		for loop := range loops {
			coalition.Go(func() {
				for ctx.Err() == nil {
					body := map[string]string{"expression": "While[True]"}
					if loop == 1 {
						body["session_id"] = "s"
					}
					_ = account.JSON("POST", "/api/evaluate", body, nil)
				}
			})
		}
	}
	wait.Pace(time.Second) // all of them have asked
	beside := evaluateFor(b, small, requests)
	stop()
	server.Kill() // what still runs has a minute
	coalition.Wait()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(alone.p99), "p99-alone-ms")
	b.ReportMetric(ms(beside.p50), "p50-beside-ms")
	b.ReportMetric(ms(beside.p99), "p99-beside-ms")
	b.ReportMetric(ms(beside.worst), "worst-beside-ms")
	b.ReportMetric(float64(beside.p99)/float64(alone.p99), "p99-beside/alone")
	b.ReportMetric(float64(beside.p99)/float64(goal), "p99/goal")
	b.ReportMetric(float64(beside.refused), "refused")
	b.ReportMetric(float64(beside.asked), "asked")
}

// served is how one account's evaluations went.
type served struct {
	p50, p99, worst time.Duration // of those that were answered and of those that were refused
	asked, refused  int
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
	s.p50, s.p99, s.worst = median(took), took[len(took)*99/100], took[len(took)-1]
	return s
}
