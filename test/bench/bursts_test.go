//go:build bench

package bench

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"reckon/domain/burst"
	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/projections"
)

var burstActivities = flag.Int("bursts.activities", 20_000, "activities of the account whose bursts are read")

const burstLimit = 20 * time.Millisecond // p99 of every query

// pastActivity is a run of an account with a long past: every other one of an agent that never pauses, so that its burst is half
// of everything, the others of ten agents in bursts of twenty.
func pastActivity(i int) event.Recorded {
	begin, _ := time.Parse(time.DateOnly, firstDay)
	id, actor := int64(i+1), "token:monitor"
	if i%2 == 0 {
		actor = fmt.Sprint("token:", i/40%10)
	}
	return event.Recorded{
		Stream: run.Stream(id), Position: event.Position{Commit: uint64(id) * 3000},
		Event:    run.Evaluated{Subject: run.Subject{RunID: id, Account: pastAccount, Expression: event.Inline(fmt.Sprintf("Integrate[x^%d, x]", i)), Source: event.SourceWeb}, Status: run.Success},
		Metadata: event.Metadata{At: begin.Add(time.Duration(i) * 25 * time.Second), Actor: actor, Source: event.SourceWeb, Agent: "notebook/2"},
	}
}

// BenchmarkBurstLists reports the p99 of each query of bursts as a share of its limit, for an account with -bursts.activities, and p50 and p99
// as multiples of those of a bare query, one row by its key, that is asked each time in turn: the machine's load is in both.
func BenchmarkBurstLists(b *testing.B) {
	onListDatabases(b, func(b *testing.B, db *bun.DB) {
		bursts := projections.New(db, nil).Bursts
		n := *burstActivities
		load(b, db, n, pastActivity, bursts.Projection())
		now, ctx := pastActivity(n-1).Metadata.At, b.Context()
		first, err := bursts.List(ctx, pastAccount, now, projections.Page{Limit: 200})
		if err != nil || len(first.Bursts) < 100 {
			b.Fatalf("%d bursts, %v", len(first.Bursts), err)
		}
		monitor, err := bursts.OfRun(ctx, pastAccount, 2)
		if err != nil || monitor == "" {
			b.Fatalf("%q, %v", monitor, err)
		}
		middle := fmt.Sprintf("%d.0", pastActivity(n/2).Metadata.At.UnixMilli())
		timeline := func(after string) func(int) error {
			return func(int) error {
				part, ok, err := bursts.Timeline(ctx, pastAccount, monitor, 200, after)
				if err == nil && (!ok || len(part.Activities) != 200) {
					err = fmt.Errorf("%d activities", len(part.Activities))
				}
				return err
			}
		}
		for _, q := range []struct {
			name string
			ask  func(i int) error
		}{
			{"list, first page", func(int) error {
				_, err := bursts.List(ctx, pastAccount, now, projections.Page{Limit: 200})
				return err
			}},
			{"list, a later page", func(i int) error {
				last := first.Bursts[i%len(first.Bursts)].Last
				_, err := bursts.List(ctx, pastAccount, now, projections.Page{Limit: 50, Before: fmt.Sprintf("%d.%d", last.AtMS, last.Position)})
				return err
			}},
			{"list of another account", func(int) error {
				_, err := bursts.List(ctx, "nobody", now, projections.Page{Limit: 50})
				return err
			}},
			{"timeline, first part", timeline("")},
			{"timeline, middle", timeline(middle)},
			{"locate a run", func(i int) error {
				id, err := bursts.OfRun(ctx, pastAccount, int64(i*7919%n+1))
				if err == nil && id == "" {
					err = fmt.Errorf("run %d is in no burst", i*7919%n+1)
				}
				return err
			}},
			{"locate no job", func(int) error {
				_, err := bursts.OfJob(ctx, pastAccount, "none")
				return err
			}},
		} {
			b.Run(q.name, func(b *testing.B) {
				var bare []time.Duration
				best, p50, p99 := quantilesAfter(b, func(i int) error {
					begin := time.Now()
					err := rowByKey(ctx, db, i*7919%n+1)
					bare = append(bare, time.Since(begin))
					return err
				}, q.ask)
				slices.Sort(bare)
				bare50, bare99 := bare[len(bare)/2], bare[len(bare)*99/100]
				b.ReportMetric(float64(p99)/float64(burstLimit), "p99/limit")
				b.ReportMetric(float64(p50)/float64(bare50), "p50/bare")
				b.ReportMetric(float64(p99)/float64(bare99), "p99/bare")
				b.Logf("%s: best %v, p50 %v, p99 %v of %d activities; a row by its key p50 %v, p99 %v", q.name, best, p50, p99, n, bare50, bare99)
			})
		}
	})
}

// rowByKey reads one activity by its key.
func rowByKey(ctx context.Context, db *bun.DB, runID int) error {
	var at int64
	return db.NewRaw("SELECT at_ms FROM burst_activities_v1 WHERE id = ?", burst.RunKey(int64(runID))).Scan(ctx, &at)
}
