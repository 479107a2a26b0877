//go:build bench

package bench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/projections"
	"reckon/projections/engine"
	"reckon/projections/pgtest"
	"reckon/projections/projectiontest"
	"reckon/test/apitest"
)

const (
	pageReaders    = 16
	pageRounds     = 4
	pageResult     = 1 << 20 // bytes of each run's result
	pageLimitBytes = 64 << 20
)

// BenchmarkLargestPages reads the largest page of a history whose results have 1 MiB each, with sixteen readers at once over HTTP, and
// measures what the process's memory grows by at most, as a share of 64 MiB. Server, clients and SQLite are one process.
func BenchmarkLargestPages(b *testing.B) {
	for name, address := range map[string]func(testing.TB) string{"sqlite": projectiontest.SQLite, "postgres": pgtest.Database} {
		b.Run(name, func(b *testing.B) {
			database := address(b)
			s := apitest.Start(b, apitest.Options{ReadModels: database, NoProjections: true})
			u := s.NewUser(b)
			fillPage(b, projectiontest.Open(b, projections.Open, database), u.ID)
			read := func() int64 {
				request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, s.URL+"/api/history?limit=200", http.NoBody)
				if err != nil {
					b.Error(err)
					return 0
				}
				request.Header.Set("Authorization", "Bearer "+u.Token)
				answer, err := s.Client().Do(request)
				if err != nil {
					b.Error(err)
					return 0
				}
				defer answer.Body.Close()
				n, err := io.Copy(io.Discard, answer.Body)
				if err != nil || answer.StatusCode != http.StatusOK {
					b.Error(answer.Status, err)
				}
				return n
			}
			size := read()
			for b.Loop() {
				debug.FreeOSMemory()
				before := residentBytes(b, os.Getpid())
				most, stop := highestResident(b)
				var group sync.WaitGroup
				for range pageReaders {
					group.Go(func() {
						for range pageRounds {
							read()
						}
					})
				}
				group.Wait()
				stop()
				grown := float64(*most - before)
				b.ReportMetric(float64(size)/(1<<20), "page-MiB")
				b.ReportMetric(float64(before)/(1<<20), "before-MiB")
				b.ReportMetric(grown/(1<<20), "grown-MiB")
				b.ReportMetric(grown/pageLimitBytes, "of-limit")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

func fillPage(b *testing.B, db *bun.DB, account string) {
	history := projections.New(db, nil).History.Projection()
	for i := range 200 {
		err := engine.InTx(b.Context(), db, func(ctx context.Context, tx *engine.Tx) error {
			s := run.Subject{RunID: int64(i + 1), Account: account, Expression: event.Inline(fmt.Sprintf("Range[%d]", i)), Source: event.SourceWeb}
			return history.Apply(ctx, tx, event.Recorded{
				Stream: run.Stream(s.RunID), Position: event.Position{Commit: uint64(i+1) * 1000}, Metadata: event.Metadata{At: time.UnixMilli(1_785_000_000_000)},
				Event: run.Evaluated{Subject: s, Answer: event.Inline(strings.Repeat("1, ", pageResult/3)), Status: run.Success},
			})
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// highestResident samples this process's memory until stop is called; then most is the highest.
func highestResident(b *testing.B) (most *int64, stop func()) {
	most = new(int64)
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			*most = max(*most, residentBytes(b, os.Getpid()))
			select {
			case <-ended:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return most, func() {
		close(ended)
		<-done
	}
}
