package projections_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"reckon/domain/event"
	"reckon/domain/run"
	"reckon/projections"
	"reckon/projections/engine"
	"reckon/projections/projectiontest"
)

// plainRun is what a filter may ask of a run.
type plainRun struct {
	id         int64
	account    string
	expression string
	status     run.Status
	source     event.Source
	verdict    run.Verdict
	at         time.Time
}

var (
	plainTexts = []string{"Sin[x]", "sin[x]", "x^2 + 100%", "a_b", `c\d`, `say "x"`, "∞+π", "𝒳𝒴𝒵", "Integrate[x^2, x]", "x", "\x00nul", "\uffff\ufffe"}
	firstNoon  = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
)

// pastOf makes n runs, most of one account, whose times run on for ten days and are not always in the order of the log.
func pastOf(random *rand.Rand, n int) (past []plainRun, events []event.Recorded) {
	var l projectiontest.Log
	for i := range n {
		r := plainRun{
			id: int64(n - i + random.IntN(2)*n), account: alice, status: run.Success, source: event.SourceWeb,
			at: firstNoon.Add(time.Duration(i)*240*time.Hour/time.Duration(n) - time.Duration(random.IntN(4))*time.Hour),
		}
		for range 1 + random.IntN(3) {
			r.expression += plainTexts[random.IntN(len(plainTexts))] + " "
		}
		if i == 1 || i == n/2 {
			r.expression += "needle"
		}
		if i%97 == 0 {
			r.expression += "@@"
		}
		if i%13 == 0 {
			r.expression += "thread"
		}
		if random.IntN(8) == 0 {
			r.account = bob
		}
		s := subject(r.id, r.account, r.expression)
		switch random.IntN(4) {
		case 0:
			r.source = event.SourceMCP
		case 1:
			r.source = event.SourceJob
		}
		s.Source = r.source
		var e event.Event
		switch dice := random.IntN(20); dice {
		case 0:
			r.status, e = run.Timeout, run.TimedOut{Subject: s}
		case 1:
			r.status, e = run.Error, run.Failed{Subject: s}
		default:
			done := evaluated(s, "2")
			if dice < 4 {
				r.status = run.Unevaluated
			}
			if dice%3 != 0 {
				r.verdict = run.Verdicts()[dice%len(run.Verdicts())]
				done.Check = &run.Check{Verdict: r.verdict}
			}
			done.Status = r.status
			e = done
		}
		l.Add(run.Stream(r.id), r.at, e)
		past = append(past, r)
	}
	for i := range l.Events { // 3 MiB apart: a window of the index of trigrams has 41 runs
		l.Events[i].Position.Commit <<= 15
		l.Events[i].Position.Prepare <<= 15
	}
	slices.Reverse(past)
	return past, l.Events
}

// selects tells whether a run of Alice satisfies the filters of a query, but for its text.
func (r plainRun) selects(q projections.HistoryQuery) bool {
	day := r.at.UTC().Format(time.DateOnly)
	return r.account == alice && (q.Status == "" || r.status == q.Status) && (q.Source == "" || r.source == q.Source) && (q.Verdict == "" || r.verdict == q.Verdict) &&
		(q.From == "" || day >= q.From) && (q.To == "" || day <= q.To)
}

// plainAnswer is what the first page of a query is to answer, by a look at every run.
func plainAnswer(newestFirst []plainRun, q projections.HistoryQuery) (ids []int64, more, truncated bool) {
	text := strings.TrimSpace(q.Query)
	selected := 0
	var found []int64
	for _, r := range newestFirst {
		if !r.selects(q) {
			continue
		}
		selected++
		if text != "" && utf8.RuneCountInString(text) < 3 && selected > projections.HistoryScannedRuns {
			truncated = len(found) <= q.Offset+q.Limit
			break
		}
		if strings.Contains(r.expression, text) {
			found = append(found, r.id)
		}
	}
	found = found[min(q.Offset, len(found)):]
	return found[:min(q.Limit, len(found))], len(found) > q.Limit || truncated && (len(found) > 0 || q.Offset == 0), truncated
}

var historyRandom = flag.Int("history.random", 10, "combinations of any number of filters that are compared, beside every filter and every pair")

// TestHistoryFiltersAgainstPlainScan: every filter and every pair of filters, and all together at random, answer what a look at every
// run answers, in the same order; pages join without a gap.
func TestHistoryFiltersAgainstPlainScan(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(15, 2))
	past, events := pastOf(random, 6000)
	days := []string{"2026-08-01", "2026-08-04", "1969-12-31", "9999-12-31"}
	texts := []string{"needle", "x] I", "e", "  x^2  ", "_b"}
	alone := append([]string{"zz", "zzz", "Sin[x] Sin[x] Sin[x]", "%", `\`, `"x"`, "' OR 1", "I"}, plainTexts...)
	type set = func(*projections.HistoryQuery)
	var filters [][]set
	add := func(sets []set) { filters = append(filters, sets) }
	add(setsOf(run.Statuses(), func(q *projections.HistoryQuery, v run.Status) { q.Status = v }))
	add(setsOf(event.Sources(), func(q *projections.HistoryQuery, v event.Source) { q.Source = v }))
	add(setsOf(run.Verdicts(), func(q *projections.HistoryQuery, v run.Verdict) { q.Verdict = v }))
	add(setsOf(days, func(q *projections.HistoryQuery, v string) { q.From = v }))
	add(setsOf(days, func(q *projections.HistoryQuery, v string) { q.To = v }))
	add(setsOf(texts, func(q *projections.HistoryQuery, v string) { q.Query = v }))
	var queries []projections.HistoryQuery
	for i, one := range filters {
		for _, first := range one {
			var q projections.HistoryQuery
			first(&q)
			queries = append(queries, q)
			for _, other := range filters[i+1:] {
				for _, second := range other {
					pair := q
					second(&pair)
					queries = append(queries, pair)
				}
			}
		}
	}
	for _, text := range alone {
		queries = append(queries, projections.HistoryQuery{Query: text})
	}
	for range *historyRandom {
		var q projections.HistoryQuery
		for _, f := range filters {
			if random.IntN(2) == 0 {
				f[random.IntN(len(f))](&q)
			}
		}
		queries = append(queries, q)
	}
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		history := projections.New(db, nil).History
		applyAll(t, db, history.Projection(), events)
		for _, q := range queries {
			q.Limit = []int{1, 7, 50, 200}[random.IntN(4)]
			if random.IntN(4) == 0 {
				q.Offset = random.IntN(300)
			}
			checkAgainstPlain(t, history, past, q)
		}
		checkAgainstPlain(t, history, past, projections.HistoryQuery{Query: "thread", Offset: 300, Limit: 200}) // all of them
		for _, q := range []projections.HistoryQuery{{}, {Status: run.Timeout}, {Query: "Sin[x]", Verdict: "verified"}, {Query: "needle"}, {From: "2026-08-03", To: "2026-08-05"}} {
			q.Limit = 130
			checkPagesJoin(t, history, past, q)
		}
	})
}

func setsOf[V any](values []V, set func(*projections.HistoryQuery, V)) (sets []func(*projections.HistoryQuery)) {
	for _, v := range values {
		sets = append(sets, func(q *projections.HistoryQuery) { set(q, v) })
	}
	return sets
}

func applyAll(t *testing.T, db *bun.DB, p engine.Projection, events []event.Recorded) {
	t.Helper()
	if err := p.Create(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for part := range slices.Chunk(events, 1000) {
		err := engine.InTx(t.Context(), db, func(ctx context.Context, tx *engine.Tx) error {
			for _, r := range part {
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
}

func idsOf(page projections.HistoryPage) (ids []int64) {
	for _, r := range page.Rows {
		ids = append(ids, r.RunID)
	}
	return ids
}

func checkAgainstPlain(t *testing.T, history *projections.History, past []plainRun, q projections.HistoryQuery) {
	t.Helper()
	page, err := history.List(t.Context(), alice, q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	want, more, truncated := plainAnswer(past, q)
	if got := idsOf(page); !slices.Equal(got, want) || page.HasMore != more || page.SearchTruncated != truncated || (page.Next != "") != more {
		t.Errorf("%+v:\ngot  %v, more %t, next %q, truncated %t\nwant %v, more %t, truncated %t", q, got, page.HasMore, page.Next, page.SearchTruncated, want, more, truncated)
	}
}

// checkPagesJoin wants of all pages together what a look at every run finds, and of all but the last that they name the next. It returns
// how many pages were truncated.
func checkPagesJoin(t *testing.T, history *projections.History, past []plainRun, q projections.HistoryQuery) (truncated int) {
	t.Helper()
	var want, got []int64
	for _, r := range past {
		if r.selects(q) && strings.Contains(r.expression, strings.TrimSpace(q.Query)) {
			want = append(want, r.id)
		}
	}
	for {
		page, err := history.List(t.Context(), alice, q)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, idsOf(page)...)
		if page.SearchTruncated {
			truncated++
		}
		if page.HasMore != (page.Next != "") || page.Next == "" && page.SearchTruncated {
			t.Fatalf("%+v: more %t, next %q, truncated %t", q, page.HasMore, page.Next, page.SearchTruncated)
		}
		if q.Before = page.Next; q.Before == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v: pages hold %d runs, want %d, or another order", q, len(got), len(want))
	}
	return truncated
}

// TestShortTextsAreFoundBeyondTheSearchedRuns: pages of any limit together have every run with a text that no index finds, in runs that no
// page looks at all of.
func TestShortTextsAreFoundBeyondTheSearchedRuns(t *testing.T) {
	t.Parallel()
	past, events := pastOf(newRandom(), 13_000) // Alice's: two ends of a search and a rest
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		history := projections.New(db, nil).History
		applyAll(t, db, history.Projection(), events)
		for _, c := range []struct {
			limits    []int
			query     projections.HistoryQuery
			truncated bool
		}{
			{[]int{1, 7, 200}, projections.HistoryQuery{Query: "dl"}, true}, // of needle: the run before the oldest, and one in the middle
			{[]int{1, 200}, projections.HistoryQuery{Query: "zz"}, true},    // of none
			{[]int{200}, projections.HistoryQuery{Query: "@@"}, true},
			{[]int{1, 7, 40}, projections.HistoryQuery{Query: "@@"}, false}, // pages are full before the search ends
			{[]int{1, 7}, projections.HistoryQuery{Query: "dl", From: "2026-08-01"}, true},
			{[]int{200}, projections.HistoryQuery{Query: "@@", Source: event.SourceWeb}, true},
			{[]int{7}, projections.HistoryQuery{Query: "_b", Status: run.Timeout}, false},
		} {
			for _, limit := range c.limits {
				c.query.Limit = limit
				if truncated := checkPagesJoin(t, history, past, c.query); truncated > 0 != c.truncated {
					t.Errorf("%+v: %d truncated pages", c.query, truncated)
				}
			}
		}
	})
}

// TestPagesAreBoundedInBytes: a result is cut at 4,096 bytes, between characters; a page of long expressions ends early and the next
// goes on; one run alone is never left out.
func TestPagesAreBoundedInBytes(t *testing.T) {
	t.Parallel()
	long := func(n int, letter string) string { return strings.Repeat(letter, n) }
	projectiontest.Databases(t, projections.Open, func(t *testing.T, db *bun.DB) {
		history := projections.New(db, nil).History
		var l projectiontest.Log
		for id, e := range []struct{ expression, answer string }{
			{"1", long(4096, "r")}, {"2", long(4097, "r")}, {"3", long(4095, "r") + "é"}, {"4", long(1<<20, "∞")},
			{long(1<<20, "5"), "x"}, {long(600<<10, "6"), ""}, {long(500<<10, "7"), ""}, {"8", ""},
		} {
			l.Add(run.Stream(int64(id+1)), noon, evaluated(subject(int64(id+1), alice, e.expression), e.answer))
		}
		applyAll(t, db, history.Projection(), l.Events)
		type shown struct {
			ids  string
			more bool
		}
		var got []shown
		for q := (projections.HistoryQuery{Limit: 100}); ; {
			page, err := history.List(t.Context(), alice, q)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, shown{fmt.Sprint(idsOf(page)), page.HasMore})
			for _, r := range page.Rows {
				want := map[int64]int{2: 4096, 3: 4095, 4: 4095}[r.RunID]
				if r.ResultTruncated() != (want > 0) || want > 0 && (len(r.Result) != want || !utf8.ValidString(string(r.Result))) {
					t.Errorf("run %d: %d of %d bytes", r.RunID, len(r.Result), r.ResultBytes)
				}
			}
			if q.Before = page.Next; q.Before == "" {
				break
			}
		}
		if want := []shown{{"[8 7]", true}, {"[6]", true}, {"[5]", true}, {"[4 3 2 1]", false}}; !slices.Equal(got, want) {
			t.Errorf("pages %v, want %v", got, want)
		}
		page, err := history.List(t.Context(), alice, projections.HistoryQuery{Query: long(200, "5")})
		if err != nil || !slices.Equal(idsOf(page), []int64{5}) {
			t.Errorf("a text in a long expression: %v, %v", idsOf(page), err)
		}
	})
}
