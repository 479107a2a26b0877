package node

import (
	"fmt"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"reckon/eventstore/node/eventlog"
)

// next returns what the subscription delivers next, as a word: the data of an event,
// "caught up", "checkpoint" or "dropped".
func next(t testing.TB, s *esdb.Subscription) (string, *esdb.SubscriptionEvent) {
	t.Helper()
	e := s.Recv()
	switch {
	case e.EventAppeared != nil && e.EventAppeared.Event != nil:
		return string(e.EventAppeared.Event.Data), e
	case e.EventAppeared != nil:
		return "?", e
	case e.CaughtUp != nil:
		return "caught up", e
	case e.CheckPointReached != nil:
		return "checkpoint", e
	case e.SubscriptionDropped != nil:
		return "dropped", e
	}
	t.Fatalf("got %+v", e)
	return "", nil
}

func expect(t testing.TB, s *esdb.Subscription, words ...string) {
	t.Helper()
	for _, want := range words {
		if got, e := next(t, s); got != want {
			t.Fatalf("got %q, want %q (%+v)", got, want, e.SubscriptionDropped)
		}
	}
}

func (r *running) follow(t testing.TB, stream string, o esdb.SubscribeToStreamOptions) *esdb.Subscription {
	t.Helper()
	s, err := r.client.SubscribeToStream(testCtx(t), stream, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func (r *running) followAll(t testing.TB, o esdb.SubscribeToAllOptions) *esdb.Subscription {
	t.Helper()
	s, err := r.client.SubscribeToAll(testCtx(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestSubscribeToStream(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.append(t, "s", esdb.NoStream{}, note("0"), note("1"))
	fromStart := r.follow(t, "s", esdb.SubscribeToStreamOptions{From: esdb.Start{}})
	afterFirst := r.follow(t, "s", esdb.SubscribeToStreamOptions{From: esdb.Revision(0)})
	fromEnd := r.follow(t, "s", esdb.SubscribeToStreamOptions{From: esdb.End{}})
	ahead := r.follow(t, "s", esdb.SubscribeToStreamOptions{From: esdb.Revision(2)})
	expect(t, fromStart, "0", "1", "caught up")
	expect(t, afterFirst, "1", "caught up")
	expect(t, fromEnd, "caught up")
	expect(t, ahead, "caught up")
	r.append(t, "other", esdb.NoStream{}, note("x"))
	r.append(t, "s", esdb.Revision(1), note("2"), note("3"))
	expect(t, fromStart, "2", "3")
	expect(t, afterFirst, "2", "3")
	expect(t, fromEnd, "2", "3")
	expect(t, ahead, "3")
}

func TestSubscribeBeforeTheStreamExists(t *testing.T) {
	t.Parallel()
	r := start(t)
	for _, from := range []esdb.StreamPosition{esdb.Start{}, esdb.End{}} {
		stream := uuid.NewString()
		s := r.follow(t, stream, esdb.SubscribeToStreamOptions{From: from})
		expect(t, s, "caught up")
		r.append(t, stream, esdb.NoStream{}, note("0"))
		expect(t, s, "0")
	}
}

func TestSubscriptionThroughDeletionAndTombstone(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.append(t, "s", esdb.NoStream{}, note("0"), note("1"))
	if _, err := r.client.DeleteStream(testCtx(t), "s", esdb.DeleteStreamOptions{ExpectedRevision: esdb.Any{}}); err != nil {
		t.Fatal(err)
	}
	s := r.follow(t, "s", esdb.SubscribeToStreamOptions{From: esdb.Start{}})
	expect(t, s, "caught up")
	r.append(t, "s", esdb.NoStream{}, note("2"))
	expect(t, s, "2")
	if _, err := r.client.TombstoneStream(testCtx(t), "s", esdb.TombstoneStreamOptions{ExpectedRevision: esdb.Any{}}); err != nil {
		t.Fatal(err)
	}
	_, buried := next(t, s)
	if buried.EventAppeared == nil || buried.EventAppeared.Event.EventType != eventlog.TombstoneType {
		t.Fatalf("got %+v", buried)
	}
	_, dropped := next(t, s)
	if dropped.SubscriptionDropped == nil || status.Code(dropped.SubscriptionDropped.Error) != codes.FailedPrecondition {
		t.Fatalf("got %+v", dropped.SubscriptionDropped)
	}
	for _, from := range []esdb.StreamPosition{esdb.Start{}, esdb.Revision(1), esdb.End{}} {
		expect(t, r.follow(t, "s", esdb.SubscribeToStreamOptions{From: from}), "dropped") // no event is shown that reads refuse
	}
}

func TestSubscriptionSeesOnlyTheVisiblePart(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.append(t, "s", esdb.NoStream{}, note("0"), note("1"), note("2"))
	metadata := esdb.StreamMetadata{}
	metadata.SetMaxCount(1)
	if _, err := r.client.SetStreamMetadata(testCtx(t), "s", esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, metadata); err != nil {
		t.Fatal(err)
	}
	s := r.follow(t, "s", esdb.SubscribeToStreamOptions{From: esdb.Start{}})
	expect(t, s, "2", "caught up")
	r.append(t, "s", esdb.Any{}, note("3"))
	expect(t, s, "3")
}

func TestSubscribeToStreamOfLinks(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.append(t, "target", esdb.NoStream{}, note("T"))
	r.append(t, "links", esdb.NoStream{}, esdb.EventData{EventID: uuid.New(), EventType: eventlog.LinkType, ContentType: esdb.ContentTypeBinary, Data: []byte("0@target")})
	s := r.follow(t, "links", esdb.SubscribeToStreamOptions{From: esdb.Start{}, ResolveLinkTos: true})
	word, e := next(t, s)
	if word != "T" || e.EventAppeared.Link == nil || e.EventAppeared.OriginalEvent().StreamID != "links" {
		t.Fatalf("got %q %+v", word, e.EventAppeared)
	}
}

func TestSubscribeToAll(t *testing.T) {
	t.Parallel()
	r := start(t)
	first := r.append(t, "s", esdb.NoStream{}, note("0"))
	r.append(t, "s", esdb.Any{}, note("1"))
	after := r.followAll(t, esdb.SubscribeToAllOptions{From: esdb.Position{Commit: first.CommitPosition, Prepare: first.PreparePosition}})
	expect(t, after, "1", "caught up")
	fromEnd := r.followAll(t, esdb.SubscribeToAllOptions{From: esdb.End{}})
	expect(t, fromEnd, "caught up")
	fromStart := r.followAll(t, esdb.SubscribeToAllOptions{From: esdb.Start{}})
	if _, e := next(t, fromStart); e.EventAppeared == nil || e.EventAppeared.Event.EventType != eventlog.IdentityType {
		t.Fatalf("$all begins with %+v", e)
	}
	expect(t, fromStart, "0", "1", "caught up")
	r.append(t, "t", esdb.Any{}, note("2"))
	for _, s := range []*esdb.Subscription{after, fromEnd, fromStart} {
		expect(t, s, "2")
	}
}

// A subscriber that does not read holds one page on the server and is told again when it
// has caught up; it misses nothing.
func TestSlowSubscriber(t *testing.T) {
	t.Parallel()
	r := start(t)
	s := r.followAll(t, esdb.SubscribeToAllOptions{From: esdb.End{}})
	expect(t, s, "caught up")
	large := make([]byte, 200<<10)
	const total = 8 * liveBufferEvents
	for i := range total {
		e := note("")
		e.Data = fmt.Appendf(large[:0:0], "%d,%s", i, large)
		r.append(t, "s", esdb.Any{}, e)
	}
	caughtUpAgain := 0
	for i := 0; i < total; {
		word, e := next(t, s)
		if word == "caught up" {
			caughtUpAgain++
			continue
		}
		if e.EventAppeared == nil || e.EventAppeared.Event.EventNumber != uint64(i) {
			t.Fatalf("event %d: got %+v, dropped %+v", i, e, e.SubscriptionDropped)
		}
		i++
	}
	for caughtUpAgain == 0 {
		expect(t, s, "caught up")
		caughtUpAgain++
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	r := start(t)
	typed := func(eventType string) esdb.EventData {
		e := note(eventType)
		e.EventType = eventType
		return e
	}
	r.append(t, "order-1", esdb.NoStream{}, typed("placed"), typed("paid"))
	r.append(t, "user-1", esdb.NoStream{}, typed("named"), typed("$internal"))
	r.append(t, "order-2", esdb.NoStream{}, typed("placed"))
	for _, c := range []struct {
		name   string
		filter esdb.SubscriptionFilter
		want   []string
	}{
		{"type prefix", esdb.SubscriptionFilter{Type: esdb.EventFilterType, Prefixes: []string{"pl", "na"}}, []string{"placed", "named", "placed"}},
		{"stream prefix", esdb.SubscriptionFilter{Type: esdb.StreamFilterType, Prefixes: []string{"user-"}}, []string{"named", "$internal"}},
		{"stream regex is searched", esdb.SubscriptionFilter{Type: esdb.StreamFilterType, Regex: "r-[2]"}, []string{"placed"}},
		{"no system events", *esdb.ExcludeSystemEventsFilter(), []string{"placed", "paid", "named", "placed"}},
		{"look-ahead, as other clients send", esdb.SubscriptionFilter{Type: esdb.EventFilterType, Regex: `^(?!\$|p).*`}, []string{"named"}},
	} {
		s := r.followAll(t, esdb.SubscribeToAllOptions{From: esdb.Start{}, Filter: &c.filter, MaxSearchWindow: 1, CheckpointInterval: 1})
		got := []string{}
		for {
			word, e := next(t, s)
			if e.CaughtUp != nil {
				break
			}
			if e.EventAppeared != nil {
				got = append(got, word)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestFilterCheckpoints(t *testing.T) {
	t.Parallel()
	r := start(t)
	for range 10 {
		r.append(t, "skipped", esdb.Any{}, note("skipped"))
	}
	wanted := note("wanted")
	wanted.EventType = "wanted"
	w := r.append(t, "s", esdb.NoStream{}, wanted)
	s := r.followAll(t, esdb.SubscribeToAllOptions{
		From: esdb.Start{}, Filter: &esdb.SubscriptionFilter{Type: esdb.EventFilterType, Prefixes: []string{"wanted"}}, MaxSearchWindow: 2, CheckpointInterval: 2,
	})
	var last uint64
	checkpoints, events := 0, 0
	for {
		_, e := next(t, s)
		if e.CaughtUp != nil {
			break
		}
		if e.CheckPointReached != nil {
			checkpoints++
			if e.CheckPointReached.Commit <= last && e.CheckPointReached.Commit != w.CommitPosition {
				t.Errorf("checkpoint %d after %d", e.CheckPointReached.Commit, last)
			}
			last = e.CheckPointReached.Commit
		}
		if e.EventAppeared != nil {
			events++
			last = e.EventAppeared.Event.Position.Commit
		}
	}
	if checkpoints < 3 || events != 1 || last != w.CommitPosition {
		t.Errorf("%d checkpoints, %d events, last position %d, log ends at %d", checkpoints, events, last, w.CommitPosition)
	}
	// live: one checkpoint per interval of considered events
	for range 4 {
		r.append(t, "skipped", esdb.Any{}, note("skipped"))
	}
	word, e := next(t, s)
	if word != "checkpoint" || e.CheckPointReached.Commit <= last {
		t.Fatalf("live: got %q", word)
	}
	// resuming after a checkpoint misses nothing
	r.append(t, "s", esdb.Any{}, func() esdb.EventData { e := note("again"); e.EventType = "wanted"; return e }())
	resumed := r.followAll(t, esdb.SubscribeToAllOptions{
		From: *e.CheckPointReached, Filter: &esdb.SubscriptionFilter{Type: esdb.EventFilterType, Prefixes: []string{"wanted"}}, MaxSearchWindow: 2, CheckpointInterval: 2,
	})
	expect(t, resumed, "again")
}
