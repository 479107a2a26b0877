//go:build bench

package bench

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/domain"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/domain/slots"
	"reckon/eventstore"
	"reckon/eventstore/node"
	"reckon/projections"
	"reckon/projections/projectiontest"
	"reckon/runners"
	"reckon/runners/cluster"
	"reckon/test/processes/fleet"
)

// Jobs that compute nothing, submitted and finished over the real node and a real
// database, beside the appends of the same events alone: same store, same number
// of writers, in turns, the best round of each. The goal is a ratio of 0.3.

const (
	jobRounds   = 4
	jobsPer     = 400 // a round
	jobWriters  = 32
	jobAccounts = 50
	jobPollers  = 5000
	jobWakeUps  = 200
)

func openNode(b *testing.B) *eventstore.Store {
	b.Helper()
	n, err := node.Open(node.Config{Dir: b.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = n.Close(context.Background()) })
	store, err := eventstore.Connect(b.Context(), eventstore.Config{Connection: n.ConnectionString(), Catalogue: domain.Catalogue(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(store.Close)
	return store
}

// each calls f for every n below count, from so many goroutines.
func each(b *testing.B, count, writers int, f func(n int) error) time.Duration {
	b.Helper()
	begun := time.Now()
	todo := make(chan int, count)
	for n := range count {
		todo <- n
	}
	close(todo)
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for n := range todo {
				if err := f(n); err != nil {
					b.Error(err)
				}
			}
		})
	}
	group.Wait()
	return time.Since(begun)
}

// rawJob appends what a job leaves in the log: its slot, its three events and its run.
func rawJob(ctx context.Context, store *eventstore.Store, round, n int) error {
	s := job.Sample()
	s.JobID = uuid.NewString()
	propose := func(events ...event.Event) []event.Proposed {
		proposed := make([]event.Proposed, len(events))
		for i, e := range events {
			proposed[i] = event.Proposed{ID: uuid.NewString(), Event: e, Metadata: event.Metadata{At: time.Now(), Account: s.Account, Correlation: s.JobID}}
		}
		return proposed
	}
	stream := job.Stream(s.JobID)
	outcome := job.HasSucceeded{Outcome: job.Outcome{JobID: s.JobID, Output: event.Inline("ok")}}
	for _, a := range []struct {
		stream string
		at     event.Revision
		e      event.Event
	}{
		{fmt.Sprintf("slots-raw-%d-%d", round, n), event.NoStream, slots.Spent{SlotID: s.JobID, Day: "2026-08-01", Submission: s}},
		{stream, event.NoStream, job.WasQueued{Submission: s, SlotID: s.JobID, Day: "2026-08-01"}},
		{stream, 0, job.WasClaimed{JobID: s.JobID, Runner: s.JobID, Nonce: s.JobID, Attempt: 1}},
		{stream, 1, outcome},
		{"run-raw-" + s.JobID, event.NoStream, run.TimedOut{Subject: run.Subject{JobID: s.JobID}}},
	} {
		if _, err := store.Append(ctx, a.stream, a.at, propose(a.e)); err != nil {
			return err
		}
	}
	return nil
}

func BenchmarkJobs(b *testing.B) {
	store := openNode(b)
	f := fleet.New(b, store, projectiontest.Open(b, projections.Open, projectiontest.SQLite(b)))
	published, err := domain.Catalogue().Embed(run.TimedOut{Subject: run.Subject{}})
	if err != nil {
		b.Fatal(err)
	}
	p := f.Start(fleet.Options{Slots: jobWriters, Run: func(_ context.Context, w runners.Work) (runners.End, error) {
		return runners.End{Status: job.Succeeded, Outcome: job.Outcome{Publish: published, PublishTo: "run-of-" + w.JobID}}, nil
	}})
	var raw, jobs time.Duration
	for range b.N {
		for round := range jobRounds {
			took := each(b, jobsPer, jobWriters, func(n int) error { return rawJob(b.Context(), store, round*b.N, n+round*jobsPer) })
			if raw == 0 || took < raw {
				raw = took
			}
			took = each(b, jobsPer, jobWriters, func(n int) error {
				id, err := f.Submit(b.Context(), fmt.Sprint("account-", n%jobAccounts), "x", 16)
				if err != nil {
					return err
				}
				notified, stop := p.Subscription.NotifyJobEnded(id)
				defer stop()
				for {
					s, err := f.Jobs.Read(b.Context(), id)
					if err != nil || s.Terminal() {
						return err
					}
					<-notified
				}
			})
			if jobs == 0 || took < jobs {
				jobs = took
			}
		}
	}
	b.ReportMetric(jobsPer/jobs.Seconds(), "jobs/s")
	b.ReportMetric(jobsPer/raw.Seconds(), "raw_jobs/s")
	b.ReportMetric(raw.Seconds()/jobs.Seconds(), "ratio")
}

// BenchmarkLongPoll has 5,000 waiters on one subscription and ends jobs that some of them
// wait for: memory of a waiter, and the time from the begin of the append that
// ends a job to its waiter's wake-up, as a ratio to that append.
func BenchmarkLongPoll(b *testing.B) {
	store := openNode(b)
	subscription := cluster.NewSubscription()
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- subscription.Run(ctx, store, event.Position{}) }()
	b.Cleanup(func() { cancel(); <-ended })

	before := heap()
	ids := make([]string, jobPollers)
	woken := make([]chan time.Time, jobPollers)
	for i := range ids {
		ids[i], woken[i] = uuid.NewString(), make(chan time.Time, 1)
		notified, stop := subscription.NotifyJobEnded(ids[i])
		go func() {
			defer stop()
			select {
			case <-notified:
				woken[i] <- time.Now()
			case <-ctx.Done():
			}
		}()
	}
	b.ReportMetric(float64(heap()-before)/jobPollers, "bytes/waiter")

	var appends, wakes []time.Duration
	for n := range jobWakeUps {
		begun := time.Now()
		e := event.Proposed{ID: uuid.NewString(), Event: job.WasLost{JobID: ids[n]}}
		if _, err := store.Append(ctx, job.Stream(ids[n]), event.NoStream, []event.Proposed{e}); err != nil {
			b.Fatal(err)
		}
		appends = append(appends, time.Since(begun))
		wakes = append(wakes, (<-woken[n]).Sub(begun))
	}
	slices.Sort(appends)
	slices.Sort(wakes)
	p99 := func(of []time.Duration) float64 { return of[len(of)*99/100].Seconds() * 1e3 }
	p50 := func(of []time.Duration) float64 { return of[len(of)/2].Seconds() * 1e3 }
	b.ReportMetric(p50(appends), "append_p50_ms")
	b.ReportMetric(p50(wakes), "wake_p50_ms")
	b.ReportMetric(p99(wakes), "wake_p99_ms")
	b.ReportMetric(p99(wakes)/p99(appends), "wake_p99/append_p99")
}

// heap is memory in use, goroutine stacks included.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
