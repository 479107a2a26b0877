//go:build bench

package bench

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain/account"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/scope"
	"reckon/domain/session"
	"reckon/domain/slots"
	"reckon/domain/token"
	"reckon/eventstore"
	"reckon/internal/access"
	"reckon/internal/auth"
	"reckon/writeapi"
)

// What a command costs by how much its streams hold already, over the real node in this process: time, and bytes
// allocated by client and node together, as ratios to the same command on a new stream. Sizes:
// RECKON_BENCH_PAST, such as 2000,100000.

const (
	writeRepeats = 200
	writeDay     = "2026-08-01"
)

// pastSizes are how many events a stream holds before it is measured: those of RECKON_BENCH_PAST, else the usual ones.
// The first is what the others are compared with.
func pastSizes(b *testing.B, usual ...int) []int {
	b.Helper()
	given := os.Getenv("RECKON_BENCH_PAST")
	if given == "" {
		return usual
	}
	sizes := usual[:1:1]
	for text := range strings.SplitSeq(given, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			b.Fatalf("RECKON_BENCH_PAST=%s: %q is not a number of events", given, text)
		}
		sizes = append(sizes, n)
	}
	return sizes
}

// cost is what a command costs at one size.
type cost struct {
	first, each time.Duration // of the first, which knows nothing of the stream; the median of later ones
	bytes       uint64        // allocated by a later one: the median
}

// measure runs the same command at every size, in turns, so that whatever else the machine does falls on all of them.
func measure(b *testing.B, commands []func() error) []cost {
	b.Helper()
	timed := func(command func() error) time.Duration {
		begun := time.Now()
		if err := command(); err != nil {
			b.Fatal(err)
		}
		return time.Since(begun)
	}
	costs, repeats := make([]cost, len(commands)), writeRepeats
	for i, command := range commands {
		if costs[i].first = timed(command); timed(command) > time.Second {
			repeats = 5 // it reads all of a long stream
		}
	}
	runtime.GC()
	times, bytes := make([][]time.Duration, len(commands)), make([][]uint64, len(commands))
	for range repeats {
		for i, command := range commands {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			times[i] = append(times[i], timed(command))
			runtime.ReadMemStats(&after)
			bytes[i] = append(bytes[i], after.TotalAlloc-before.TotalAlloc)
		}
	}
	for i := range costs {
		slices.Sort(times[i])
		slices.Sort(bytes[i])
		costs[i].each, costs[i].bytes = times[i][repeats/2], bytes[i][repeats/2]
	}
	return costs
}

// report prints a command's cost at every size, as a ratio to that of the first size.
func report(b *testing.B, what string, sizes []int, costs []cost) {
	base := costs[0]
	for i, c := range costs {
		b.Logf("%-14s %7d events: first %9.2f ms, then %7.2f ms (%6.1f x), %9d bytes (%6.1f x)", what, sizes[i],
			c.first.Seconds()*1e3, c.each.Seconds()*1e3, float64(c.each)/float64(base.each), c.bytes, float64(c.bytes)/float64(base.bytes))
	}
	last := costs[len(costs)-1]
	b.ReportMetric(float64(last.each)/float64(base.each), what+"-time-ratio/limit-2")
	b.ReportMetric(float64(last.bytes)/float64(base.bytes), what+"-bytes-ratio/limit-2")
}

// fill appends the events of a stream that has none.
func fill(b *testing.B, store *eventstore.Store, stream string, n int, nth func(i int) event.Event) {
	b.Helper()
	const batch = 200
	for from := 0; from < n; from += batch {
		var events []event.Event
		for i := from; i < min(n, from+batch); i++ {
			events = append(events, nth(i))
		}
		in := commands.Intent{ID: uuid.New(), At: time.Now()}
		if _, err := store.Append(context.Background(), stream, event.Revision(from)-1, in.Propose(stream, events)); err != nil {
			b.Fatal(err)
		}
	}
}

func accountIntent(id string) commands.Intent {
	at, _ := time.Parse(time.DateOnly, writeDay)
	return commands.Intent{ID: uuid.New(), At: at, Account: id, Actor: "session", Source: event.SourceWeb}
}

// BenchmarkSubmissionByDay: a job is submitted on a day on which so many slots are held.
func BenchmarkSubmissionByDay(b *testing.B) {
	sizes := pastSizes(b, 0, 2_000, 20_000, 100_000)
	store := openNode(b)
	jobs := &commands.Jobs{Store: store, Runs: commands.NewRunIDs(store, "bench")}
	plan := account.Plan{Name: "bench", JobsPerDay: 10_000_000, JobBudgetMS: 1000, ConcurrentJobs: 1}
	submit := func(accountID, key string) error {
		_, err := jobs.SubmitJob(context.Background(), accountIntent(accountID), commands.SubmitJob{
			Submission: job.Submission{Kind: "evaluate", Payload: event.Inline("Integrate[x^2, x]"), IdempotencyKey: key}, Plan: plan, Publishes: job.PublishesRun,
			Prepare: func(context.Context, commands.Intent, *job.Submission) error { return nil },
		})
		return err
	}
	var submissions, resubmissions []func() error
	for _, n := range sizes {
		accountID := uuid.NewString()
		fill(b, store, slots.Stream(accountID, writeDay), n, func(int) event.Event {
			return slots.Spent{SlotID: uuid.NewString(), Day: writeDay, Submission: job.Submission{
				JobID: uuid.NewString(), Account: accountID, Kind: "evaluate", Payload: event.Inline("Integrate[x^2, x]"), Plan: "bench", SubmittedAt: "2026-08-01T12:00:00.000Z"}}
		})
		submissions = append(submissions, func() error { return submit(accountID, uuid.NewString()) })
		resubmissions = append(resubmissions, func() error { return submit(accountID, "again") })
	}
	report(b, "submission", sizes, measure(b, submissions))
	report(b, "resubmission", sizes, measure(b, resubmissions))
}

// BenchmarkSessionByEpochs: a session that was opened so often before is opened and cleared.
func BenchmarkSessionByEpochs(b *testing.B) {
	sizes := pastSizes(b, 10, 10_000)
	store := openNode(b)
	var all []func() error
	for _, n := range sizes {
		accountID := uuid.NewString()
		fill(b, store, session.Stream(accountID, "n"), n, func(i int) event.Event {
			if i%2 == 0 {
				return session.Opened{Account: accountID, SessionID: "n", Owner: "p", Epoch: i/2 + 1}
			}
			return session.Cleared{Account: accountID, SessionID: "n", Epoch: i/2 + 1}
		})
		all = append(all, func() error {
			_, _, err := commands.Handle(context.Background(), store, session.Decider, session.Stream(accountID, "n"), accountIntent(accountID),
				session.Command(session.Open{Account: accountID, SessionID: "n", Owner: "p"}))
			if err == nil {
				_, _, _, err = commands.ClearSession(context.Background(), store, accountIntent(accountID), "n")
			}
			return err
		})
	}
	report(b, "session", sizes, measure(b, all))
}

// BenchmarkAuthenticationByPast: a request is authenticated whose token's and account's streams hold so many events each.
func BenchmarkAuthenticationByPast(b *testing.B) {
	sizes := pastSizes(b, 10, 10_000)
	store := openNode(b)
	authenticator := &auth.Authenticator{Credentials: writeapi.Credentials(store), Now: time.Now}
	var all []func() error
	for _, n := range sizes {
		secret, accountID := auth.MintToken(), uuid.NewString()
		fill(b, store, token.Stream(auth.TokenID(secret)), n, func(int) event.Event {
			return token.Minted{TokenID: auth.TokenID(secret), Account: accountID, Name: "n", Last4: "abcd"}
		})
		fill(b, store, account.Stream(accountID), n, func(i int) event.Event {
			if i == 0 {
				return account.Registered{Account: accountID, Plan: "free"}
			}
			return account.PlanChanged{Account: accountID, Plan: fmt.Sprint("plan", i)}
		})
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		request.Header.Set("Authorization", "Bearer "+secret)
		all = append(all, func() error {
			_, err := authenticator.Authenticate(request, access.Rule{Who: access.Scoped, Scope: scope.Evaluate})
			return err
		})
	}
	report(b, "authentication", sizes, measure(b, all))
}
