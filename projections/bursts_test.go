package projections_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"pgregory.net/rapid"

	"reckon/domain"
	"reckon/domain/burst"
	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/projections"
	"reckon/projections/engine"
	"reckon/projections/projectiontest"
	"reckon/test/sweep"
)

// drawLog draws a log of one account's runs, checks, jobs and certificates, by two agents, at times in any order on both sides of
// the gap. number keeps its streams apart from those of other logs.
func drawLog(t *rapid.T, number int) (account string, log []event.Recorded) {
	account = fmt.Sprint("account-", number)
	var l projectiontest.Log
	runs, jobs := []int64{}, []string{}
	for range rapid.IntRange(1, 25).Draw(t, "events") {
		at := noon.Add(time.Duration(rapid.IntRange(-12, 12).Draw(t, "half gaps"))*burst.GapMS/2*time.Millisecond + time.Duration(rapid.IntRange(-1, 1).Draw(t, "ms"))*time.Millisecond)
		by := event.Metadata{Actor: rapid.SampledFrom([]string{"token:a", "session:b"}).Draw(t, "actor"), Source: event.SourceWeb, Agent: "curl"}
		what := rapid.IntRange(0, 5).Draw(t, "what")
		switch id := int64(number)*100 + int64(len(l.Events)) + 1; {
		case what == 0 && len(runs) > 0:
			of := rapid.SampledFrom(runs).Draw(t, "run")
			l.Add(run.Stream(of), at, run.Verified{RunID: of, Account: account, Check: run.Check{Verdict: run.VerdictVerified, Method: "m"}}, by)
		case what == 1:
			jobID := fmt.Sprint("j", id)
			jobs = append(jobs, jobID)
			l.Add(job.Stream(jobID), at, job.WasQueued{Submission: job.Submission{JobID: jobID, Account: account, Kind: "proof"}}, by)
		case what == 2 && len(jobs) > 0:
			of := rapid.SampledFrom(jobs).Draw(t, "job")
			l.Add(job.Stream(of), at, job.HasFailed{Outcome: job.Outcome{JobID: of}}, event.Metadata{Actor: "runner:r", Source: event.SourceJob})
		case what == 3 && len(jobs) > 0:
			of := rapid.SampledFrom(jobs).Draw(t, "job")
			l.Add(certificate.Stream(fmt.Sprint("c", id)), at, certificate.Issued{CertificateID: fmt.Sprint("c", id), JobID: of, Account: account, Verdict: certificate.Verified}, event.Metadata{Actor: "runner:r"})
		case what == 4:
			runs = append(runs, id)
			l.Add(run.Stream(id), at, run.TimedOut{Subject: subject(id, account, "x\x00")}, by)
		default:
			runs = append(runs, id)
			ran := evaluated(subject(id, account, "1+1"), "2")
			if len(jobs) > 0 && what == 5 {
				ran.JobID = rapid.SampledFrom(jobs).Draw(t, "job")
			}
			l.Add(run.Stream(id), at, ran, by)
		}
	}
	return account, l.Events
}

// storedBurst is what the tables hold of a burst, and derivedBurst the same of one derived from scratch.
type storedBurst struct {
	bun.BaseModel `bun:"table:bursts_v1"`

	BurstID, AgentID, Account, Source, Client, Preview                          string
	StartedMS, StartPosition, EndedMS, EndPosition                              int64
	Activities, Evaluations, Jobs, Checks, Failures, Verified, Refuted          int64
	FirstRun, FirstRunMS, FirstRunPosition, LastRun, LastRunMS, LastRunPosition int64
}

func derivedBurst(b burst.Timeline) storedBurst {
	return storedBurst{
		BurstID: b.ID(), AgentID: b.AgentID, Account: b.Account, Source: string(b.Source), Client: b.Client, Preview: b.Preview,
		StartedMS: b.First.AtMS, StartPosition: b.First.Position, EndedMS: b.Last.AtMS, EndPosition: b.Last.Position,
		Activities: b.Burst.Activities, Evaluations: b.Evaluations, Jobs: b.Jobs, Checks: b.Checks, Failures: b.Failures, Verified: b.Verified, Refuted: b.Refuted,
		FirstRun: b.FirstRun, FirstRunMS: b.FirstRunAt.AtMS, FirstRunPosition: b.FirstRunAt.Position,
		LastRun: b.LastRun, LastRunMS: b.LastRunAt.AtMS, LastRunPosition: b.LastRunAt.Position,
	}
}

// TestBurstRowsAreTheDerivation: rows written event by event are those of deriving all bursts from the whole log, for 10,000 random
// logs on SQLite and 500 on PostgreSQL (60 in short mode), each applied twice and in batches of any size.
func TestBurstRowsAreTheDerivation(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		projection := projections.New(db, nil).Bursts.Projection()
		if err := projection.Create(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		rounds, together := sweep.Size(t, "RECKON_BURST_ROUNDS", 1, 4), 25 // of rapid's own 100; a transaction costs more than what is in it
		if db.Dialect().Name() == dialect.PG {
			rounds, together = 1, 5
		}
		number, late := 0, 0
		for range rounds {
			rapid.Check(t, func(rt *rapid.T) {
				var log []event.Recorded
				accounts := map[string]*burst.Reader{}
				for range together {
					number++ // also when rapid tries a log again: its streams are new
					account, events := drawLog(rt, number)
					log, accounts[account] = append(log, events...), burst.NewReader(account)
					for _, r := range events {
						accounts[account].Add(r)
					}
				}
				applied := log
				if rapid.Bool().Draw(rt, "each twice") {
					applied = nil
					for _, r := range log {
						applied = append(applied, r, r)
					}
				}
				for rest := applied; len(rest) > 0; {
					n := rapid.IntRange(1, len(rest)).Draw(rt, "batch")
					applyBursts(rt, db, projection, rest[:n])
					rest = rest[n:]
				}
				applyBursts(rt, db, projection, log)
				for account, reader := range accounts {
					late += compareBursts(rt, db, account, burst.Derive(reader.Activities()))
				}
			})
		}
		if late < number/4 {
			t.Errorf("of %d logs %d bursts began with an activity that came later: the logs show too little", number, late)
		}
	})
}

// compareBursts compares an account's rows with bursts, and counts those that begin with an activity that came later than another.
func compareBursts(t *rapid.T, db *bun.DB, account string, derived []burst.Timeline) (late int) {
	var want, got []storedBurst
	for _, b := range derived {
		want = append(want, derivedBurst(b))
		if b.FirstKey != firstInLog(b) {
			late++
		}
	}
	if err := db.NewSelect().Model(&got).Where("account = ?", account).Order("started_ms", "start_position").Scan(context.Background()); err != nil {
		t.Fatal(err)
	}
	for i := range got {
		got[i].Preview = unstored(t, got[i].Preview)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("the rows are\n%+v\nthe derivation is\n%+v", got, want)
	}
	return late
}

// firstInLog is the key of the burst's activity that the log has first.
func firstInLog(b burst.Timeline) string {
	return slices.MinFunc(b.Activities, func(a, c burst.Activity) int { return int(a.Position - c.Position) }).Key
}

// unstored is a text as it was before projections.Text stored it.
func unstored(t *rapid.T, stored string) string {
	var text projections.Text
	if err := text.Scan(stored); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func applyBursts(t rapid.TB, db *bun.DB, p engine.Projection, log []event.Recorded) {
	t.Helper()
	err := engine.InTx(context.Background(), db, func(ctx context.Context, tx *engine.Tx) error {
		for _, r := range log {
			if err := p.Apply(ctx, tx, r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestEveryActivityIsProjected: the read model has a handler for what the derivation reads.
func TestEveryActivityIsProjected(t *testing.T) {
	t.Parallel()
	for _, name := range burst.EventNames() {
		if _, declared := domain.Catalogue()[name]; !declared {
			t.Errorf("%s is declared nowhere", name)
		}
		if !slices.Contains(projections.New(nil, nil).Bursts.Projection().EventNames(), name) {
			t.Errorf("%s has no handler", name)
		}
	}
}

const second = time.Second

// burstLog is a log of runs of alice and of one of bob.
func burstLog(offsets ...time.Duration) *projectiontest.Log {
	var l projectiontest.Log
	for i, offset := range offsets {
		id := int64(i + 1)
		l.Add(run.Stream(id), noon.Add(offset), evaluated(subject(id, alice, fmt.Sprint("e", id)), "2"), event.Metadata{Actor: "token:t", Source: event.SourceWeb, Agent: "curl"})
	}
	l.Add(run.Stream(900), noon, evaluated(subject(900, bob, "b"), "2"), event.Metadata{Actor: "token:t", Source: event.SourceWeb, Agent: "curl"})
	return &l
}

func TestBurstsAreRead(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		bursts := projections.New(db, nil).Bursts
		apart, joined := burstLog(0, second, 480*second, 481*second, -time.Minute*24*60*8), burstLog(0, second, 480*second, 481*second, -time.Minute*24*60*8)
		joined.Add(run.Stream(6), noon.Add(240*second), evaluated(subject(6, alice, "late"), "2"), event.Metadata{Actor: "token:t", Source: event.SourceWeb, Agent: "curl"})
		type shown struct {
			ids       []string
			runs      [][]int64
			scanned   int
			located   []string
			truncated bool
		}
		read := func(ctx context.Context) (any, error) {
			var s shown
			for before := ""; ; {
				page, err := bursts.List(ctx, alice, noon.Add(time.Hour), projections.Page{Limit: 1, Before: before})
				if err != nil {
					return nil, err
				}
				s.scanned, s.truncated = page.Scanned, page.Truncated
				for _, b := range page.Bursts {
					s.ids = append(s.ids, b.FirstKey)
					var runs []int64
					for after := ""; ; {
						part, ok, err := bursts.Timeline(ctx, alice, b.ID(), 2, after)
						if err != nil || !ok {
							return nil, errors.Join(err, fmt.Errorf("burst %s: %v", b.ID(), ok))
						}
						if previous := part.Activities[0].AtMS; after == "" && part.Previous != previous {
							return nil, fmt.Errorf("a burst begins %d ms after %d", previous, part.Previous)
						}
						for _, a := range part.Activities {
							runs = append(runs, a.RunID)
						}
						if after = part.Next; after == "" {
							break
						}
					}
					s.runs = append(s.runs, runs)
					if part, _, err := bursts.Timeline(ctx, alice, b.ID(), 2, "1.0"); err != nil || part.Previous != b.First.AtMS {
						return nil, errors.Join(err, fmt.Errorf("after a time before its first activity a burst goes on from %d, not %d", part.Previous, b.First.AtMS))
					}
					if _, ok, err := bursts.Timeline(ctx, bob, b.ID(), 2, ""); ok || err != nil {
						return nil, errors.Join(err, errors.New("bob reads a burst of alice"))
					}
				}
				if before = page.Next; before == "" {
					break
				}
			}
			for _, id := range []int64{1, 4, 5, 900, 999} {
				of, err := bursts.OfRun(ctx, alice, id)
				if err != nil {
					return nil, err
				}
				s.located = append(s.located, of)
			}
			return s, nil
		}
		idOf := func(first int) string {
			return burst.Burst{AgentID: burst.Agent{Account: alice, Credential: "token:t", Source: event.SourceWeb, Client: "curl"}.ID(), FirstKey: burst.RunKey(int64(first))}.ID()
		}
		projectiontest.Given(t, db, bursts.Projection()).When(apart.Events...).Then(read,
			shown{[]string{burst.RunKey(3), burst.RunKey(1)}, [][]int64{{3, 4}, {1, 2}}, 4, []string{idOf(1), idOf(3), idOf(5), "", ""}, false})
		projectiontest.Given(t, db, bursts.Projection()).When(joined.Events...).Then(read,
			shown{[]string{burst.RunKey(1)}, [][]int64{{1, 2, 6, 3, 4}}, 5, []string{idOf(1), idOf(1), idOf(5), "", ""}, false})
		if _, ok, err := bursts.Timeline(t.Context(), alice, idOf(3), 2, ""); ok || err != nil {
			t.Errorf("a burst that was joined to another still derives: %v", err)
		}
	})
}

// TestTheWindowCutsNoBurst: the newest activities select bursts, and each is whole.
func TestTheWindowCutsNoBurst(t *testing.T) {
	t.Parallel()
	sweep.Only(t, "5,000 activities one by one, and nothing at the same time")
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		bursts := projections.New(db, nil).Bursts
		offsets := []time.Duration{-100 * time.Minute, -50 * time.Minute}
		for i := range projections.BurstActivities {
			offsets = append(offsets, time.Duration(i-40)*time.Minute)
		}
		l := burstLog(offsets...)
		list := func(now time.Time) func(context.Context) (any, error) {
			return func(ctx context.Context) (any, error) {
				page, err := bursts.List(ctx, alice, now, projections.Page{Limit: 200})
				counts := []int64{int64(page.Scanned), 0}
				if page.Truncated {
					counts[1] = 1
				}
				for _, b := range page.Bursts {
					counts = append(counts, b.Evaluations)
				}
				return append(counts, page.Since.UnixMilli()), err
			}
		}
		if err := bursts.Projection().Create(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		applyBursts(t, db, bursts.Projection(), l.Events)
		last := noon.Add(time.Duration(projections.BurstActivities-41) * time.Minute)
		for name, c := range map[string]struct {
			now  time.Time
			want []int64
		}{
			// 5,002 activities: the two that stand alone are not among the newest 5,000, which are one burst.
			"over the number": {last, []int64{5000, 1, 5000, noon.Add(-40 * time.Minute).UnixMilli()}},
			// Seven days before now lies within the burst, which is whole.
			"a moment within a burst": {noon.Add(7*24*time.Hour + time.Hour), []int64{4900, 0, 5000, noon.Add(time.Hour).UnixMilli()}},
			"after everything":        {last.Add(7*24*time.Hour + time.Millisecond), []int64{0, 0, last.Add(time.Millisecond).UnixMilli()}},
		} {
			got, err := list(c.now)(t.Context())
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
			}
		}
	})
}

func TestBadPagesOfBursts(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		bursts := projections.New(db, nil).Bursts
		if err := bursts.Projection().Create(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		huge := strconv.Itoa(math.MaxInt64)
		for _, c := range []struct {
			limit  int
			cursor string
			valid  bool
		}{{1, "", true}, {200, "-5.7", true}, {1, huge + "." + huge, true}, {0, "", false}, {201, "", false}, {1, "5", false}, {1, "5.", false}, {1, "5.-1", false}, {1, "5.1.1", false}, {1, huge + "0.1", false}} {
			_, listed := bursts.List(t.Context(), alice, noon, projections.Page{Limit: c.limit, Before: c.cursor})
			_, ok, read := bursts.Timeline(t.Context(), alice, "none", c.limit, c.cursor)
			for _, err := range []error{listed, read} {
				if refused := (*projections.QueryError)(nil); errors.As(err, &refused) == c.valid || ok {
					t.Errorf("limit %d, cursor %q: %v", c.limit, c.cursor, err)
				}
			}
		}
	})
}
