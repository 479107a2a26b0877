package projections_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"reckon/domain"
	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/domain/session"
	"reckon/domain/token"
	"reckon/eventstore/memory"
	"reckon/projections"
	"reckon/projections/engine"
	"reckon/projections/projectiontest"
	"reckon/test/wait"
)

// blobs is a blob store with a few blobs.
type blobs map[string]string

func (b blobs) Get(_ context.Context, blob event.Blob) ([]byte, error) {
	content, there := b[blob.SHA256]
	if !there {
		return nil, fmt.Errorf("no blob %s", blob.SHA256)
	}
	return []byte(content), nil
}

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func subject(id int64, account, expression string) run.Subject {
	return run.Subject{RunID: id, Account: account, Expression: event.Inline(expression), Source: event.SourceWeb}
}

func evaluated(s run.Subject, answer string) run.Evaluated {
	return run.Evaluated{Subject: s, Answer: event.Inline(answer), Status: run.Success, ExecutionMS: 3}
}

// TestReactionsCheckpointBeyondTheLog: it is removed, so that the reaction starts anew; another reaction's and another log's stay.
func TestReactionsCheckpointBeyondTheLog(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		state, err := projections.NewReactionState(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		this, other := state.CheckpointsOf("this"), state.CheckpointsOf("other")
		at := func(p uint64) event.Position { return event.Position{Commit: p, Prepare: p} }
		if err := errors.Join(this.Save(t.Context(), "a", at(7)), this.Save(t.Context(), "b", at(5)), other.Save(t.Context(), "a", at(7))); err != nil {
			t.Fatal(err)
		}
		head := func(context.Context) (event.Position, error) { return at(5), nil }
		for name, want := range map[string]event.Position{"a": at(7), "b": {}, "never": {}} {
			if dropped, err := this.DropBeyond(t.Context(), name, head); err != nil || dropped != want {
				t.Errorf("%s: dropped %v, %v", name, dropped, err)
			}
		}
		for _, c := range []struct {
			of   *projections.ReactionCheckpoints
			name string
			want event.Position
		}{{this, "a", event.Position{}}, {this, "b", at(5)}, {other, "a", at(7)}} {
			if got, err := c.of.Load(t.Context(), c.name); err != nil || got != c.want {
				t.Errorf("%s is at %v, %v", c.name, got, err)
			}
		}
		// the log was migrated, and has been named "this" before
		for _, former := range [][]string{nil, {"never", "this"}} {
			if err := state.DropFormer(t.Context(), former); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := this.Load(t.Context(), "b"); err != nil || got != (event.Position{}) {
			t.Errorf("a checkpoint under a former name: %v, %v", got, err)
		}
		if got, err := other.Load(t.Context(), "a"); err != nil || got != at(7) {
			t.Errorf("a checkpoint of another log: %v, %v", got, err)
		}
	})
}

func TestHistoryRows(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x+", 20_000) + "1"
	store := blobs{"long": long}
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		history := projections.New(db, store).History
		all := func(ctx context.Context) (any, error) {
			page, err := history.List(ctx, "a", projections.HistoryQuery{})
			for i := range page.Rows {
				page.Rows[i].TextID = 0 // for searches only
			}
			return page.Rows, err
		}
		row := func(id, position int64, change func(*projections.HistoryRow)) projections.HistoryRow {
			r := projections.HistoryRow{
				RunID: id, Position: position, Account: "a", Expression: "1+1", Result: "2", Status: run.Success,
				Source: event.SourceWeb, ExecutionMS: 3, CreatedMS: noon.UnixMilli(), HasReceipt: true,
			}
			change(&r)
			r.ResultBytes = int64(len(r.Result))
			return r
		}
		nothing := func(*projections.HistoryRow) {}
		verified := run.Check{Verdict: "verified", Basis: "exact", Method: "integrate_residual", Automatic: true}
		automatic := evaluated(subject(1, "a", "1+1"), "2")
		automatic.Check = &verified
		checked := func(r *projections.HistoryRow) {
			r.Verdict, r.Basis, r.Method, r.Automatic = "verified", "exact", "integrate_residual", true
		}

		var l projectiontest.Log
		plain := l.Add("run-1", noon, evaluated(subject(1, "a", "1+1"), "2"))
		projectiontest.Given(t, db, history.Projection()).When(plain).Then(all, []projections.HistoryRow{row(1, 100, nothing)})

		l = projectiontest.Log{}
		everything := automatic
		everything.Status, everything.Warnings, everything.Plot = run.PlotOmitted, []string{"a \"b\"", "ä"}, &event.Blob{SHA256: "p"}
		everything.SessionID, everything.JobID, everything.Source = "s", "j", event.SourceJob
		projectiontest.Given(t, db, history.Projection()).
			When(l.Add("run-1", noon, everything, event.Metadata{Agent: "curl/8 \x00"})).
			Then(all, []projections.HistoryRow{row(1, 100, func(r *projections.HistoryRow) {
				checked(r)
				r.Status, r.Warnings, r.HasPlot = run.PlotOmitted, []string{"a \"b\"", "ä"}, true
				r.SessionID, r.JobID, r.Source, r.Agent = "s", "j", event.SourceJob, "curl/8 \x00"
			})})

		l = projectiontest.Log{}
		projectiontest.Given(t, db, history.Projection()).When(
			l.Add("run-1", noon, evaluated(subject(1, "a", "1+1"), "2")),
			l.Add("run-2", noon, run.TimedOut{Subject: subject(2, "a", "1+1"), BudgetMS: 3000}),
			l.Add("run-3", noon, run.Failed{Subject: subject(3, "a", "1+1"), Reason: "crashed", ExecutionMS: 40}),
			l.Add("run-4", noon, evaluated(subject(4, "b", "1+1"), "2")),
		).Then(all, []projections.HistoryRow{
			row(3, 300, func(r *projections.HistoryRow) {
				r.Status, r.Result, r.ExecutionMS, r.HasReceipt = run.Error, "", 40, false
			}),
			row(2, 200, func(r *projections.HistoryRow) {
				r.Status, r.Result, r.ExecutionMS, r.HasReceipt = run.Timeout, "", 3000, false
			}),
			row(1, 100, nothing),
		})

		// A verdict is never replaced by "nothing was learned", and a later verdict is.
		inconclusive := run.Verified{RunID: 1, Account: "a", Check: run.Check{Verdict: "inconclusive", Reason: "check_timed_out"}}
		refuted := run.Verified{RunID: 1, Account: "a", Check: run.Check{Verdict: "refuted", Basis: "numeric", Method: "m"}}
		l = projectiontest.Log{}
		projectiontest.Given(t, db, history.Projection(), l.Add("run-1", noon, automatic)).
			When(l.Add("run-1", noon, inconclusive)).Then(all, []projections.HistoryRow{row(1, 100, checked)})
		projectiontest.Given(t, db, history.Projection(), plain).
			When(l.Add("run-1", noon, inconclusive)).
			Then(all, []projections.HistoryRow{row(1, 100, func(r *projections.HistoryRow) { r.Verdict, r.Reason = "inconclusive", "check_timed_out" })})
		projectiontest.Given(t, db, history.Projection(), plain, l.Add("run-1", noon, inconclusive)).
			When(l.Add("run-1", noon, refuted)).
			Then(all, []projections.HistoryRow{row(1, 100, func(r *projections.HistoryRow) { r.Verdict, r.Basis, r.Method = "refuted", "numeric", "m" })})

		// Texts come back as they were, from a blob too.
		strange := "a\x00b\uffff\ufffe'\"\\%_?{}\u2028𝒳"
		l = projectiontest.Log{}
		inBlob := evaluated(run.Subject{RunID: 2, Account: "a", Expression: event.Text{Blob: &event.Blob{SHA256: "long"}}, Source: event.SourceWeb}, "2")
		projectiontest.Given(t, db, history.Projection()).When(
			l.Add("run-1", noon, evaluated(subject(1, "a", strange), strange)),
			l.Add("run-2", noon, inBlob),
		).Then(all, []projections.HistoryRow{
			row(2, 200, func(r *projections.HistoryRow) { r.Expression = projections.Text(long) }),
			row(1, 100, func(r *projections.HistoryRow) {
				r.Expression, r.Result = projections.Text(strange), projections.Text(strange)
			}),
		})
	})
}

func TestHistoryQueries(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		history := projections.New(db, blobs{}).History
		var l projectiontest.Log
		day := func(d, h, m, s, ms int) time.Time {
			return time.Date(2026, 8, d, h, m, s, ms*1e6, time.UTC)
		}
		first := evaluated(subject(9, "a", "Sin[x]"), "Sin[x]")
		first.Status = run.Unevaluated
		second := evaluated(subject(3, "a", "50% of sin[x]_"), "y")
		second.Source = event.SourceMCP
		second.Check = &run.Check{Verdict: "verified"}
		third := evaluated(subject(7, "a", "a'b; DROP TABLE h"), "z")
		third.Source = event.SourceJob
		l.Add("run-9", day(1, 0, 0, 0, 0), first)
		l.Add("run-3", day(1, 23, 59, 59, 999), second)
		l.Add("run-7", day(2, 0, 0, 0, 0), third)
		l.Add("run-5", day(3, 9, 0, 0, 0), run.TimedOut{Subject: subject(5, "a", "Σ∞")})
		l.Add("run-6", day(3, 9, 0, 0, 0), evaluated(subject(6, "b", "Sin[x]"), ""))
		l.Add("run-7", day(4, 0, 0, 0, 0), run.Verified{RunID: 7, Check: run.Check{Verdict: "inconclusive"}})
		projectiontest.Given(t, db, history.Projection()).When(l.Events...).
			Then(func(context.Context) (any, error) { return nil, nil }, nil)

		type q = projections.HistoryQuery
		for _, c := range []struct {
			query q
			want  []int64
			more  bool
		}{
			{q{}, []int64{5, 7, 3, 9}, false},
			{q{Limit: 2}, []int64{5, 7}, true},
			{q{Limit: 2, Offset: 2}, []int64{3, 9}, false},
			{q{Limit: 4}, []int64{5, 7, 3, 9}, false},
			{q{Offset: 9}, nil, false},
			{q{Status: "timeout"}, []int64{5}, false},
			{q{Status: "unevaluated"}, []int64{9}, false},
			{q{Status: "error"}, nil, false},
			{q{Source: "mcp"}, []int64{3}, false},
			{q{Source: "job"}, []int64{7}, false},
			{q{Query: "Sin"}, []int64{9}, false},
			{q{Query: "sin"}, []int64{3}, false},
			{q{Query: "  sin[x]_ \t"}, []int64{3}, false},
			{q{Query: "%"}, []int64{3}, false},
			{q{Query: "_"}, []int64{3}, false},
			{q{Query: "Sin_x"}, nil, false},
			{q{Query: "'"}, []int64{7}, false},
			{q{Query: "' OR 1=1 --"}, nil, false},
			{q{Query: "?"}, nil, false},
			{q{Query: "\\"}, nil, false},
			{q{Query: "∞"}, []int64{5}, false},
			{q{Query: "\x00"}, nil, false},
			{q{Query: strings.Repeat("∞", 200)}, nil, false},
			{q{From: "2026-08-02"}, []int64{5, 7}, false},
			{q{To: "2026-08-01"}, []int64{3, 9}, false},
			{q{From: "2026-08-01", To: "2026-08-01"}, []int64{3, 9}, false},
			{q{From: "2026-08-03", To: "2026-08-02"}, nil, false},
			{q{Verdict: "verified"}, []int64{3}, false},
			{q{Verdict: "inconclusive"}, []int64{7}, false},
			{q{Verdict: "refuted"}, nil, false},
			{q{Source: "mcp", Query: "of", Verdict: "verified", Status: "success", From: "2026-08-01", To: "2026-08-01"}, []int64{3}, false},
		} {
			page, err := history.List(t.Context(), "a", c.query)
			if err != nil {
				t.Errorf("%+v: %v", c.query, err)
				continue
			}
			var got []int64
			for _, r := range page.Rows {
				got = append(got, r.RunID)
			}
			if !reflect.DeepEqual(got, c.want) || page.HasMore != c.more {
				t.Errorf("%+v: runs %v, more %v; want %v, %v", c.query, got, page.HasMore, c.want, c.more)
			}
		}
		for parameter, bad := range map[string][]q{
			"limit":   {{Limit: 201}, {Limit: -1}},
			"offset":  {{Offset: -1}, {Offset: projections.HistoryMaxOffset + 1}},
			"before":  {{Before: "x"}, {Before: "-1"}, {Before: "1 OR 1=1"}},
			"status":  {{Status: "Success"}, {Status: "' OR ''='"}},
			"source":  {{Source: "cli"}},
			"verdict": {{Verdict: "none"}},
			"query":   {{Query: strings.Repeat("∞", 201)}, {Query: " \t "}},
			"from":    {{From: "2026-8-1"}, {From: "2026-02-30"}, {From: "yesterday"}, {From: "2026-08-01T00:00:00Z"}, {From: "' OR 1=1"}},
			"to":      {{To: "20260801"}},
		} {
			for _, query := range bad {
				var refused *projections.QueryError
				if _, err := history.List(t.Context(), "a", query); !errors.As(err, &refused) || refused.Parameter != parameter {
					t.Errorf("%+v: %v, want %s refused", query, err, parameter)
				}
			}
		}
		if page, err := history.List(t.Context(), "nobody", q{}); err != nil || page.Limit != 50 || len(page.Rows) != 0 {
			t.Errorf("an account without runs: %+v, %v", page, err)
		}
	})
}

func TestTokens(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		tokens := projections.New(db, blobs{}).Tokens
		var l projectiontest.Log
		minted := func(id, account string) event.Recorded {
			return l.Add(token.Stream(id), noon, token.Minted{TokenID: id, Account: account, Name: "laptop\x00", Last4: "x9Qz", ExpiresAt: "2027-01-01T00:00:00.000Z"})
		}
		row := func(id string, position int64) projections.TokenRow {
			return projections.TokenRow{TokenID: id, Position: position, Account: "a", Name: "laptop\x00", Last4: "x9Qz", CreatedMS: noon.UnixMilli(), ExpiresAt: "2027-01-01T00:00:00.000Z"}
		}
		events := []event.Recorded{minted("1", "a"), minted("2", "b"), minted("3", "a"), minted("4", "a"),
			l.Add(token.Stream("3"), noon, token.Revoked{TokenID: "3", Account: "a"})}
		projectiontest.Given(t, db, tokens.Projection()).When(events...).Then(func(ctx context.Context) (any, error) {
			rows, next, err := tokens.List(ctx, "a", projections.Page{Limit: 10})
			if next != "" {
				t.Errorf("next of the only page: %q", next)
			}
			return rows, err
		}, []projections.TokenRow{row("4", 400), row("1", 100)})
		rows, next, err := tokens.List(t.Context(), "a", projections.Page{Limit: 1})
		if err != nil || len(rows) != 1 || rows[0].TokenID != "4" || next == "" {
			t.Fatalf("first page %v, %q, %v", rows, next, err)
		}
		rows, next, err = tokens.List(t.Context(), "a", projections.Page{Limit: 1, Before: next})
		if err != nil || len(rows) != 1 || rows[0].TokenID != "1" || next != "" {
			t.Errorf("second page %v, %q, %v", rows, next, err)
		}
		var refused *projections.QueryError
		if _, _, err := tokens.List(t.Context(), "a", projections.Page{Limit: 1, Before: "1 OR 1=1"}); !errors.As(err, &refused) {
			t.Error(err)
		}
	})
}

func TestSessions(t *testing.T) {
	t.Parallel()
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		sessions := projections.New(db, blobs{}).Sessions
		list := func(ctx context.Context) (any, error) { return sessions.List(ctx, "a") }
		stream := session.Stream("a", "n")
		var l projectiontest.Log
		opened := func(epoch int) event.Recorded {
			return l.Add(stream, noon, session.Opened{Account: "a", SessionID: "n", Owner: "p", Address: "h:1", Epoch: epoch})
		}
		used := func(id int64) event.Recorded {
			s := subject(id, "a", "1+1")
			s.SessionID = "n"
			return l.Add(run.Stream(id), noon.Add(time.Duration(id)*time.Second), evaluated(s, "2"))
		}
		events := []event.Recorded{opened(1), used(1), used(2)}
		row := projections.SessionRow{
			Stream: stream, Position: 300, Account: "a", SessionID: "n", Epoch: 1, Owner: "p", Address: "h:1",
			CreatedMS: noon.UnixMilli(), LastUsedMS: noon.Add(2 * time.Second).UnixMilli(), Evaluations: 2,
		}
		projectiontest.Given(t, db, sessions.Projection()).When(events...).Then(list, []projections.SessionRow{row})
		events = append(events, l.Add(stream, noon, session.Expired{Account: "a", SessionID: "n", Epoch: 1, Reason: "idle"}))
		projectiontest.Given(t, db, sessions.Projection()).When(events...).Then(list, []projections.SessionRow(nil))
		events = append(events, opened(2))
		row.Position, row.Epoch, row.LastUsedMS, row.Evaluations = 500, 2, noon.UnixMilli(), 0
		projectiontest.Given(t, db, sessions.Projection()).When(events...).Then(list, []projections.SessionRow{row})
		events = append(events, l.Add(stream, noon, session.Cleared{Account: "a", SessionID: "n", Epoch: 2}))
		projectiontest.Given(t, db, sessions.Projection()).When(events...).Then(list, []projections.SessionRow(nil))
	})
}

// TestRebuild: dropping every table and booting gives the same rows, byte for
// byte, and both databases hold the same.
func TestRebuild(t *testing.T) {
	t.Parallel()
	store := memory.New(domain.Catalogue())
	last := fill(t, store, 500)
	dumps := map[string]string{}
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		models := projections.New(db, blobs{})
		e, err := engine.New(t.Context(), engine.Config{DB: db, Log: store, Logger: slog.New(slog.DiscardHandler)}, models.All()...)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), wait.Longest)
		ended := make(chan error, 1)
		go func() { ended <- e.Run(ctx) }()
		defer func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}()
		reach := func() string {
			for _, p := range models.All() {
				if err := e.Wait(ctx, p.Name, last); err != nil {
					t.Fatal(p.Name, err)
				}
			}
			return projectiontest.Dump(t, db, models.All()...)
		}
		before := reach()
		for _, p := range models.All() {
			if err := e.Boot(ctx, p.Name); err != nil {
				t.Fatal(err)
			}
		}
		if after := reach(); after != before {
			t.Errorf("before\n%s\nafter a boot\n%s", before, after)
		}
		page, err := models.History.List(ctx, "a", projections.HistoryQuery{Limit: 200})
		if err != nil || len(page.Rows) == 0 {
			t.Fatal(len(page.Rows), err)
		}
		dumps[t.Name()] = fmt.Sprintf("%+v", page.Rows)
	})
	var any string
	for name, dump := range dumps {
		if any != "" && any != dump {
			t.Errorf("%s answers otherwise than the other", name)
		}
		any = dump
	}
}

// fill writes a life of accounts into a log.
func fill(t testing.TB, store *memory.Store, runs int) event.Position {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var last event.Position
	write := func(stream string, events ...event.Event) {
		history, err := store.Read(t.Context(), stream)
		if err != nil {
			t.Fatal(err)
		}
		proposed := make([]event.Proposed, len(events))
		for i, e := range events {
			proposed[i] = event.Proposed{ID: uuid.NewString(), Event: e, Metadata: event.Metadata{At: noon.Add(time.Duration(random.IntN(1e9)) * time.Microsecond).Truncate(time.Millisecond)}}
		}
		appended, err := store.Append(t.Context(), stream, history.Revision, proposed)
		if err != nil {
			t.Fatal(err)
		}
		last = appended.Position
	}
	for id := range int64(runs) {
		account := string(rune('a' + random.IntN(3)))
		s := subject(id, account, fmt.Sprintf("Expand[(x+%d)^2]\x00", id))
		if random.IntN(3) == 0 {
			s.SessionID = "n"
			write(session.Stream(account, "n"), session.Opened{Account: account, SessionID: "n", Owner: "p", Epoch: int(id) + 1})
		}
		switch random.IntN(5) {
		case 0:
			write(run.Stream(id), run.TimedOut{Subject: s, BudgetMS: 3000})
		case 1:
			write(run.Stream(id), run.Failed{Subject: s, Reason: "crashed"})
		default:
			write(run.Stream(id), evaluated(s, "x"), run.Sealed{RunID: id})
			if random.IntN(2) == 0 {
				write(run.Stream(id), run.Verified{RunID: id, Account: account, Check: run.Check{Verdict: "verified", Method: "m"}})
			}
		}
		if random.IntN(10) == 0 {
			write(token.Stream(fmt.Sprint(id)), token.Minted{TokenID: fmt.Sprint(id), Account: account})
		}
		if s.SessionID != "" && random.IntN(2) == 0 {
			write(session.Stream(account, "n"), session.Expired{Account: account, SessionID: "n", Epoch: int(id) + 1, Reason: "idle"})
		}
	}
	return last
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "sqlite:", "mysql://x", "/path", "postgres://u:secret@127.0.0.1:1/x?connect_timeout=1"} {
		db, err := projections.Open(t.Context(), address)
		if err == nil {
			_ = db.Close()
			t.Errorf("%q was opened", address)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the password is in the message: %v", err)
		}
	}
}
