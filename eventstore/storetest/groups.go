package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"reckon/test/wait"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// RunGroups checks what the protocol promises of persistent subscriptions (groups of
// consumers), through the official client, on the server at an esdb:// address. It runs
// alike on the embedded node and on a real server, which may hold anything already.
func RunGroups(t *testing.T, address string) {
	client := connected(t, address)
	for _, c := range []struct {
		name string
		test func(*testing.T, *groupClient)
	}{
		{"a group is created once, and only an existing one is changed", groupLifecycle},
		{"settings that make no sense are refused", groupSettings},
		{"a group starts where it was told to", groupStarts},
		{"a consumer has at most its buffer", groupBuffer},
		{"a refused event comes again before newer ones", groupRetry},
		{"refused events come again behind those on their way, before newer ones", groupRetryOrder},
		{"an event refused too often is parked", groupRetriesEnd},
		{"a skipped event does not come again", groupSkip},
		{"parked events are links, and are replayed", groupPark},
		{"a replay stops where it was told to", groupReplayStops},
		{"an event that is not acknowledged in time comes again", groupTimeout},
		{"what a lost consumer had goes to another", groupLostConsumer},
		{"a group has at most its number of consumers", groupConsumersLimit},
		{"round robin takes turns", groupRoundRobin},
		{"dispatch to single stays with one", groupSingle},
		{"pinned keeps a stream with one consumer", groupPinned},
		{"links are resolved, and lost targets are not", groupLinks},
		{"a group of all events has a filter", groupOfAll},
		{"consumers of a changed or deleted group are dropped", groupDropped},
		{"a group goes on after its checkpoint", groupCheckpoint},
		{"information has the protocol's words", groupInfo},
		{"how long consumers had events is measured where it is asked for", groupMeasurements},
		{"a re-created group starts anew", groupAgain},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, &groupClient{client, "storetest-" + uuid.NewString()})
		})
	}
}

// connected is a client of the server at an esdb:// address until the test's end.
func connected(t *testing.T, address string) *esdb.Client {
	t.Helper()
	config, err := esdb.ParseConnectionString(address)
	check(t, err)
	config.Logger = esdb.NoopLogging()
	client, err := esdb.NewClient(config)
	check(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// groupClient is a client and the stream of one test.
type groupClient struct {
	*esdb.Client
	stream string
}

// rules are settings with which nothing happens by time.
func rules() esdb.PersistentSubscriptionSettings {
	s := esdb.SubscriptionSettingsDefault()
	s.MessageTimeout = int32(time.Hour / time.Millisecond)
	return s
}

func (g *groupClient) create(t *testing.T, name string, from esdb.StreamPosition, s esdb.PersistentSubscriptionSettings) {
	t.Helper()
	check(t, g.CreatePersistentSubscription(ctx(t), g.stream, name, esdb.PersistentStreamSubscriptionOptions{StartFrom: from, Settings: &s}))
}

// write appends events whose data are the numbers first, first+1 …
func (g *groupClient) write(t *testing.T, first, n int) {
	t.Helper()
	events := make([]esdb.EventData, n)
	for i := range events {
		events[i] = esdb.EventData{EventID: uuid.New(), EventType: "storetest-group", ContentType: esdb.ContentTypeJson, Data: []byte(fmt.Sprint(first + i))}
	}
	_, err := g.AppendToStream(ctx(t), g.stream, esdb.AppendToStreamOptions{}, events...)
	check(t, err)
}

// link appends links to events of the test's stream to another stream.
func (g *groupClient) link(t *testing.T, to string, targets ...string) {
	t.Helper()
	var events []esdb.EventData
	for _, target := range targets {
		events = append(events, esdb.EventData{EventID: uuid.New(), EventType: "$>", ContentType: esdb.ContentTypeBinary, Data: []byte(target)})
	}
	_, err := g.AppendToStream(ctx(t), to, esdb.AppendToStreamOptions{}, events...)
	check(t, err)
}

// groupConsumer is one subscription. What it receives arrives at events; the error that ended it at ended.
type groupConsumer struct {
	*esdb.PersistentSubscription
	events chan *esdb.EventAppeared
	ended  chan error
}

func (g *groupClient) join(t *testing.T, name string, buffer int) *groupConsumer {
	t.Helper()
	sub, err := g.SubscribeToPersistentSubscription(context.Background(), g.stream, name, esdb.SubscribeToPersistentSubscriptionOptions{BufferSize: uint32(buffer)})
	check(t, err)
	return consume(t, sub)
}

func consume(t *testing.T, sub *esdb.PersistentSubscription) *groupConsumer {
	c := &groupConsumer{sub, make(chan *esdb.EventAppeared, 10_000), make(chan error, 1)}
	t.Cleanup(func() { _ = sub.Close() })
	go func() {
		for {
			switch e := sub.Recv(); {
			case e.EventAppeared != nil:
				c.events <- e.EventAppeared
			case e.SubscriptionDropped != nil:
				c.ended <- e.SubscriptionDropped.Error
				return
			}
		}
	}()
	return c
}

// next waits for the next event.
func (c *groupConsumer) next(t *testing.T) *esdb.EventAppeared {
	t.Helper()
	select {
	case e := <-c.events:
		return e
	case err := <-c.ended:
		t.Fatalf("the subscription ended: %v", err)
	case <-ctx(t).Done():
		t.Fatal("no event came")
	}
	return nil
}

// expect waits for events with these data and repetitions.
func (c *groupConsumer) expect(t *testing.T, retries int, data ...string) []*esdb.ResolvedEvent {
	t.Helper()
	var events []*esdb.ResolvedEvent
	for _, d := range data {
		e := c.next(t)
		events = append(events, e.Event)
		if got := dataOf(e.Event); got != d || e.RetryCount != retries {
			t.Fatalf("event %q with %d repetitions came, expected %q with %d", got, e.RetryCount, d, retries)
		}
	}
	return events
}

func dataOf(e *esdb.ResolvedEvent) string {
	if e.Event == nil {
		return "link only"
	}
	return string(e.Event.Data)
}

func (c *groupConsumer) wantEnd(t *testing.T, code codes.Code) {
	t.Helper()
	select {
	case err := <-c.ended:
		if status.Code(err) != code {
			t.Errorf("the subscription ended with %v, expected %v", err, code)
		}
	case <-ctx(t).Done():
		t.Error("the subscription did not end")
	}
}

func (g *groupClient) about(t *testing.T, name string) *esdb.PersistentSubscriptionInfo {
	t.Helper()
	info, err := g.GetPersistentSubscriptionInfo(ctx(t), g.stream, name, esdb.GetPersistentSubscriptionOptions{})
	check(t, err)
	return info
}

func wantCode(t *testing.T, what string, err error, code esdb.ErrorCode) {
	t.Helper()
	if e, ok := esdb.FromError(err); ok || e.Code() != code {
		t.Errorf("%s: %v, expected code %v", what, err, code)
	}
}

func groupLifecycle(t *testing.T, g *groupClient) {
	g.create(t, "a", esdb.Start{}, rules())
	wantCode(t, "created twice", g.CreatePersistentSubscription(ctx(t), g.stream, "a", esdb.PersistentStreamSubscriptionOptions{}), esdb.ErrorCodeResourceAlreadyExists)
	g.create(t, "b", esdb.Start{}, rules())
	list, err := g.ListPersistentSubscriptionsForStream(ctx(t), g.stream, esdb.ListPersistentSubscriptionsOptions{})
	check(t, err)
	equal(t, "groups of the stream", len(list), 2)
	check(t, g.DeletePersistentSubscription(ctx(t), g.stream, "a", esdb.DeletePersistentSubscriptionOptions{}))
	for what, err := range map[string]error{
		"deleted twice":    g.DeletePersistentSubscription(ctx(t), g.stream, "a", esdb.DeletePersistentSubscriptionOptions{}),
		"changed":          g.UpdatePersistentSubscription(ctx(t), g.stream, "a", esdb.PersistentStreamSubscriptionOptions{}),
		"replayed":         g.ReplayParkedMessages(ctx(t), g.stream, "a", esdb.ReplayParkedMessagesOptions{}),
		"consumed":         second(g.SubscribeToPersistentSubscription(ctx(t), g.stream, "a", esdb.SubscribeToPersistentSubscriptionOptions{})),
		"described":        second(g.GetPersistentSubscriptionInfo(ctx(t), g.stream, "a", esdb.GetPersistentSubscriptionOptions{})),
		"listed of nobody": second(g.ListPersistentSubscriptionsForStream(ctx(t), "storetest-"+uuid.NewString(), esdb.ListPersistentSubscriptionsOptions{})),
	} {
		wantCode(t, what, err, esdb.ErrorCodeResourceNotFound)
	}
}

func second[T any](_ T, err error) error { return err }

func groupSettings(t *testing.T, g *groupClient) {
	s := rules()
	s.ReadBatchSize = s.HistoryBufferSize
	if g.CreatePersistentSubscription(ctx(t), g.stream, "g", esdb.PersistentStreamSubscriptionOptions{Settings: &s}) == nil {
		t.Error("a read batch as large as the history buffer was taken")
	}
	if second(g.GetPersistentSubscriptionInfo(ctx(t), g.stream, "g", esdb.GetPersistentSubscriptionOptions{})) == nil {
		t.Error("a refused group exists")
	}
}

func groupStarts(t *testing.T, g *groupClient) {
	g.write(t, 0, 5)
	g.create(t, "start", esdb.Start{}, rules())
	g.create(t, "three", esdb.Revision(3), rules())
	g.create(t, "end", esdb.End{}, rules())
	g.create(t, "later", esdb.Revision(6), rules())
	g.write(t, 5, 2)
	g.join(t, "start", 10).expect(t, 0, "0", "1", "2", "3", "4", "5", "6")
	g.join(t, "three", 10).expect(t, 0, "3", "4", "5", "6")
	g.join(t, "end", 10).expect(t, 0, "5", "6")
	g.join(t, "later", 10).expect(t, 0, "6")
}

func groupBuffer(t *testing.T, g *groupClient) {
	g.write(t, 0, 6)
	g.create(t, "g", esdb.Start{}, rules())
	c := g.join(t, "g", 2)
	got := c.expect(t, 0, "0", "1")
	info := g.about(t, "g")
	equal(t, "in flight", info.Connections[0].InFlightMessages, int64(2))
	equal(t, "slots", info.Connections[0].AvailableSlots, int64(0))
	check(t, c.Ack(got[1]))
	more := c.expect(t, 0, "2")
	check(t, c.Ack(got[0], more[0]))
	c.expect(t, 0, "3", "4")
	equal(t, "events beyond the buffer", len(c.events), 0)
}

func groupRetry(t *testing.T, g *groupClient) {
	g.write(t, 0, 4)
	g.create(t, "g", esdb.Start{}, rules())
	c := g.join(t, "g", 2)
	got := c.expect(t, 0, "0", "1")
	check(t, c.Nack("again", esdb.NackActionRetry, got[0]))
	again := c.expect(t, 1, "0")
	check(t, c.Nack("again", esdb.NackActionUnknown, again[0]))
	again = c.expect(t, 2, "0")
	check(t, c.Ack(again[0], got[1]))
	c.expect(t, 0, "2", "3")
}

// groupRetryOrder refuses events one by one as they come, as the official Node.js client's suite does: twenty to be skipped,
// twenty to come again. A server has given a consumer as many as its buffer takes, so that what is refused comes again behind
// those; with these numbers all have come again before the last event comes.
func groupRetryOrder(t *testing.T, g *groupClient) {
	const skipped, refused = 20, 20
	const last = 1 + skipped + refused
	g.write(t, 0, last+1)
	for _, buffer := range []int{1, 10} {
		name := fmt.Sprint("buffer-", buffer)
		g.create(t, name, esdb.Start{}, rules())
		c := g.join(t, name, buffer)
		var got, want []string
		for queue, next := []string{}, 0; ; { // what a server has given, first given first
			for ; len(queue) < buffer && next <= last; next++ {
				queue = append(queue, fmt.Sprint(next))
			}
			event := queue[0]
			want, queue = append(want, event), queue[1:]
			number, again := 0, strings.HasSuffix(event, " again")
			if _, err := fmt.Sscan(event, &number); err != nil {
				t.Fatal(err)
			}
			if number == last {
				break
			}
			if !again && (number == 0 || number > skipped) {
				queue = append(queue, event+" again")
			}
		}
		for len(got) < len(want) {
			e := c.next(t)
			event := dataOf(e.Event)
			if e.RetryCount > 0 {
				event += " again"
			}
			got = append(got, event)
			number := e.Event.OriginalEvent().EventNumber
			switch {
			case e.RetryCount > 0 || number == last:
				check(t, c.Ack(e.Event))
			case number == 0 || number > skipped:
				check(t, c.Nack("again", esdb.NackActionRetry, e.Event))
			default:
				check(t, c.Nack("no", esdb.NackActionSkip, e.Event))
			}
		}
		equal(t, fmt.Sprintf("order of deliveries with a buffer of %d", buffer), strings.Join(got, ", "), strings.Join(want, ", "))
	}
}

func groupRetriesEnd(t *testing.T, g *groupClient) {
	s := rules()
	s.MaxRetryCount = 1
	g.write(t, 0, 2)
	g.create(t, "g", esdb.Start{}, s)
	c := g.join(t, "g", 1)
	for retries := range 2 {
		check(t, c.Nack("no", esdb.NackActionRetry, c.expect(t, retries, "0")[0]))
	}
	c.expect(t, 0, "1")
	wait.Until(t, "the event is parked", func() bool { return g.about(t, "g").Stats.ParkedMessagesCount == 1 })
}

func groupSkip(t *testing.T, g *groupClient) {
	g.write(t, 0, 2)
	g.create(t, "g", esdb.Start{}, rules())
	c := g.join(t, "g", 1)
	check(t, c.Nack("no", esdb.NackActionSkip, c.expect(t, 0, "0")[0]))
	c.expect(t, 0, "1")
	equal(t, "parked", g.about(t, "g").Stats.ParkedMessagesCount, int64(0))
}

// parkAll parks as many events as the consumer is to receive.
func (g *groupClient) parkAll(t *testing.T, c *groupConsumer, n int) {
	t.Helper()
	for i := range n {
		check(t, c.Nack("because", esdb.NackActionPark, c.expect(t, 0, fmt.Sprint(i))[0]))
	}
	wait.Until(t, "all are parked", func() bool { return g.about(t, "g").Stats.ParkedMessagesCount == int64(n) })
}

func groupPark(t *testing.T, g *groupClient) {
	g.write(t, 0, 3)
	g.create(t, "g", esdb.Start{}, rules())
	c := g.join(t, "g", 5)
	g.parkAll(t, c, 3)
	parked := g.read(t, "$persistentsubscription-"+g.stream+"::g-parked")
	equal(t, "parked events", len(parked), 3)
	link := parked[1].OriginalEvent()
	equal(t, "type of a parked event", link.EventType, "$>")
	equal(t, "data of a parked event", string(link.Data), "1@"+g.stream)
	var metadata struct {
		Added  string `json:"added"`
		Reason string `json:"reason"`
	}
	check(t, json.Unmarshal(link.UserMetadata, &metadata))
	if !strings.Contains(metadata.Reason, "because") || metadata.Added == "" {
		t.Errorf("metadata of a parked event: %s", link.UserMetadata)
	}
	check(t, g.ReplayParkedMessages(ctx(t), g.stream, "g", esdb.ReplayParkedMessagesOptions{}))
	check(t, c.Ack(c.expect(t, 0, "0", "1", "2")...))
	wait.Until(t, "nothing is parked", func() bool { return g.about(t, "g").Stats.ParkedMessagesCount == 0 })
	check(t, g.ReplayParkedMessages(ctx(t), g.stream, "g", esdb.ReplayParkedMessagesOptions{}))
	g.write(t, 3, 1)
	c.expect(t, 0, "3")
}

func (g *groupClient) read(t *testing.T, stream string) []*esdb.ResolvedEvent {
	t.Helper()
	r, err := g.ReadStream(ctx(t), stream, esdb.ReadStreamOptions{Direction: esdb.Forwards, From: esdb.Start{}}, 1000)
	check(t, err)
	defer r.Close()
	var events []*esdb.ResolvedEvent
	for {
		e, err := r.Recv()
		if errors.Is(err, io.EOF) {
			return events
		}
		check(t, err)
		events = append(events, e)
	}
}

func groupReplayStops(t *testing.T, g *groupClient) {
	g.write(t, 0, 4)
	g.create(t, "g", esdb.Start{}, rules())
	c := g.join(t, "g", 5)
	g.parkAll(t, c, 4)
	check(t, g.ReplayParkedMessages(ctx(t), g.stream, "g", esdb.ReplayParkedMessagesOptions{StopAt: 2}))
	check(t, c.Ack(c.expect(t, 0, "0", "1")...))
	wait.Until(t, "two are parked", func() bool { return g.about(t, "g").Stats.ParkedMessagesCount == 2 })
	g.write(t, 4, 1)
	c.expect(t, 0, "4")
}

func groupTimeout(t *testing.T, g *groupClient) {
	s := rules()
	s.MessageTimeout = 100
	g.write(t, 0, 1)
	g.create(t, "g", esdb.Start{}, s)
	c := g.join(t, "g", 1)
	c.expect(t, 0, "0")
	c.expect(t, 1, "0")
	check(t, c.Ack(c.expect(t, 2, "0")...))
}

func groupLostConsumer(t *testing.T, g *groupClient) {
	g.write(t, 0, 3)
	g.create(t, "g", esdb.Start{}, rules())
	lost := g.join(t, "g", 2)
	lost.expect(t, 0, "0", "1")
	other := g.join(t, "g", 5)
	other.expect(t, 0, "2")
	check(t, lost.Close())
	seen := []string{}
	for range 2 {
		e := other.next(t)
		seen = append(seen, dataOf(e.Event))
	}
	slices.Sort(seen)
	equal(t, "events of the lost consumer", strings.Join(seen, " "), "0 1")
}

func groupConsumersLimit(t *testing.T, g *groupClient) {
	s := rules()
	s.MaxSubscriberCount = 1
	g.create(t, "g", esdb.Start{}, s)
	g.join(t, "g", 1)
	if second(g.SubscribeToPersistentSubscription(ctx(t), g.stream, "g", esdb.SubscribeToPersistentSubscriptionOptions{})) == nil {
		t.Error("a second consumer was taken")
	}
}

// counts receives n events with any number of consumers and says how many each has had.
func counts(t *testing.T, n int, consumers ...*groupConsumer) []int {
	t.Helper()
	got := make([]int, len(consumers))
	wait.Until(t, fmt.Sprintf("%d events came", n), func() bool {
		total := 0
		for i, c := range consumers {
			got[i] = len(c.events)
			total += got[i]
		}
		return total == n
	})
	return got
}

func groupRoundRobin(t *testing.T, g *groupClient) {
	s := rules()
	s.ConsumerStrategyName = esdb.ConsumerStrategyRoundRobin
	g.create(t, "g", esdb.Start{}, s)
	a, b := g.join(t, "g", 10), g.join(t, "g", 10)
	g.write(t, 0, 6)
	got := counts(t, 6, a, b)
	equal(t, "events of each", fmt.Sprint(got), "[3 3]")
}

func groupSingle(t *testing.T, g *groupClient) {
	s := rules()
	s.ConsumerStrategyName = esdb.ConsumerStrategyDispatchToSingle
	g.create(t, "g", esdb.Start{}, s)
	a, b := g.join(t, "g", 4), g.join(t, "g", 4)
	g.write(t, 0, 4)
	got := counts(t, 4, a, b)
	equal(t, "events of the one", max(got[0], got[1]), 4)
	g.write(t, 4, 2)
	got = counts(t, 6, a, b)
	equal(t, "events of the other", min(got[0], got[1]), 2)
}

func groupPinned(t *testing.T, g *groupClient) {
	const streams, each = 12, 4
	s := rules()
	s.ConsumerStrategyName, s.ResolveLinkTos = esdb.ConsumerStrategyPinned, true
	index := g.stream
	g.create(t, "g", esdb.Start{}, s)
	consumers := []*groupConsumer{g.join(t, "g", 100), g.join(t, "g", 100), g.join(t, "g", 100)}
	for i := range streams {
		source := &groupClient{g.Client, fmt.Sprintf("%s-%d", index, i)}
		source.write(t, 0, each)
	}
	for n := range each {
		for i := range streams {
			g.link(t, index, fmt.Sprintf("%d@%s-%d", n, index, i))
		}
	}
	counts(t, streams*each, consumers...)
	home := map[string]int{}
	last := map[string]uint64{}
	for i, c := range consumers {
		for range len(c.events) {
			e := c.next(t).Event.Event
			if at, ok := home[e.StreamID]; ok && at != i {
				t.Errorf("stream %s went to consumers %d and %d", e.StreamID, at, i)
			}
			if n, ok := last[e.StreamID]; ok && e.EventNumber != n+1 {
				t.Errorf("stream %s: %d came after %d", e.StreamID, e.EventNumber, n)
			}
			home[e.StreamID], last[e.StreamID] = i, e.EventNumber
		}
	}
}

func groupLinks(t *testing.T, g *groupClient) {
	target := &groupClient{g.Client, g.stream + "-target"}
	target.write(t, 0, 2)
	g.link(t, g.stream, "1@"+target.stream, "7@"+target.stream, "0@"+target.stream)
	resolving := rules()
	resolving.ResolveLinkTos = true
	g.create(t, "resolved", esdb.Start{}, resolving)
	g.create(t, "plain", esdb.Start{}, rules())
	c := g.join(t, "resolved", 2)
	got := c.expect(t, 0, "1", "link only")
	equal(t, "stream of the link", got[0].Link.StreamID, g.stream)
	equal(t, "stream of the event", got[0].Event.StreamID, target.stream)
	equal(t, "link without a target", string(got[1].Link.Data), "7@"+target.stream)
	check(t, c.Ack(got...))
	c.expect(t, 0, "0")
	plain := g.join(t, "plain", 5).expect(t, 0, "1@"+target.stream)
	equal(t, "type of a link", plain[0].Event.EventType, "$>")
}

func groupOfAll(t *testing.T, g *groupClient) {
	group := g.stream
	s := rules()
	check(t, g.CreatePersistentSubscriptionToAll(ctx(t), group, esdb.PersistentAllSubscriptionOptions{
		StartFrom: esdb.Start{}, Settings: &s, Filter: &esdb.SubscriptionFilter{Type: esdb.StreamFilterType, Prefixes: []string{g.stream}},
	}))
	t.Cleanup(func() {
		_ = g.DeletePersistentSubscriptionToAll(context.Background(), group, esdb.DeletePersistentSubscriptionOptions{})
	})
	g.write(t, 0, 3)
	(&groupClient{g.Client, "other-" + g.stream}).write(t, 100, 3)
	g.write(t, 3, 2)
	sub, err := g.SubscribeToPersistentSubscriptionToAll(context.Background(), group, esdb.SubscribeToPersistentSubscriptionOptions{BufferSize: 10})
	check(t, err)
	c := consume(t, sub)
	got := c.expect(t, 0, "0", "1", "2", "3", "4")
	check(t, c.Nack("park", esdb.NackActionPark, got[2]))
	check(t, c.Ack(got[0], got[1], got[3], got[4]))
	info := func() *esdb.PersistentSubscriptionInfo {
		i, err := g.GetPersistentSubscriptionInfoToAll(ctx(t), group, esdb.GetPersistentSubscriptionOptions{})
		check(t, err)
		return i
	}
	wait.Until(t, "the event is parked", func() bool { return info().Stats.ParkedMessagesCount == 1 })
	if _, ok := info().Settings.StartFrom.(esdb.Start); !ok {
		t.Errorf("start of the group: %v", info().Settings.StartFrom)
	}
	check(t, g.ReplayParkedMessagesToAll(ctx(t), group, esdb.ReplayParkedMessagesOptions{}))
	check(t, c.Ack(c.expect(t, 0, "2")...))
	wantCode(t, "created twice", g.CreatePersistentSubscriptionToAll(ctx(t), group, esdb.PersistentAllSubscriptionOptions{}), esdb.ErrorCodeResourceAlreadyExists)
}

func groupDropped(t *testing.T, g *groupClient) {
	g.write(t, 0, 2)
	s := rules()
	g.create(t, "g", esdb.Start{}, s)
	c := g.join(t, "g", 1)
	c.expect(t, 0, "0")
	s.MaxRetryCount = 3
	check(t, g.UpdatePersistentSubscription(ctx(t), g.stream, "g", esdb.PersistentStreamSubscriptionOptions{Settings: &s, StartFrom: esdb.Start{}}))
	c.wantEnd(t, codes.Canceled)
	equal(t, "changed setting", g.about(t, "g").Settings.MaxRetryCount, int32(3))
	c = g.join(t, "g", 1)
	check(t, c.Ack(c.expect(t, 0, "0")...))
	c.expect(t, 0, "1")
	check(t, g.DeletePersistentSubscription(ctx(t), g.stream, "g", esdb.DeletePersistentSubscriptionOptions{}))
	c.wantEnd(t, codes.Canceled)
}

// checkpointed waits for a checkpoint.
func (g *groupClient) checkpointed(t *testing.T, revision uint64) {
	t.Helper()
	wait.Until(t, fmt.Sprintf("checkpoint %d", revision), func() bool {
		at := g.about(t, "g").Stats.LastCheckpointedEventRevision
		return at != nil && *at == revision
	})
}

func groupCheckpoint(t *testing.T, g *groupClient) {
	s := rules()
	s.CheckpointLowerBound, s.CheckpointUpperBound = 1, 1
	g.write(t, 0, 5)
	g.create(t, "g", esdb.Start{}, s)
	c := g.join(t, "g", 10)
	got := c.expect(t, 0, "0", "1", "2", "3", "4")
	check(t, c.Ack(got[0], got[1], got[3]))
	g.checkpointed(t, 1)
	stored := g.read(t, "$persistentsubscription-"+g.stream+"::g-checkpoint")
	newest := stored[len(stored)-1].OriginalEvent()
	equal(t, "type of a checkpoint", newest.EventType, "$SubscriptionCheckpoint")
	equal(t, "data of a checkpoint", string(newest.Data), `"1"`)
	// the group is loaded anew, and what is above the checkpoint comes again
	check(t, g.UpdatePersistentSubscription(ctx(t), g.stream, "g", esdb.PersistentStreamSubscriptionOptions{Settings: &s, StartFrom: esdb.Start{}}))
	c.wantEnd(t, codes.Canceled)
	c = g.join(t, "g", 10)
	check(t, c.Ack(c.expect(t, 0, "2", "3", "4")...))
	g.checkpointed(t, 4)
}

func groupInfo(t *testing.T, g *groupClient) {
	g.write(t, 0, 3)
	s := rules()
	s.CheckpointLowerBound, s.CheckpointUpperBound = 1, 1
	s.HistoryBufferSize, s.LiveBufferSize, s.ReadBatchSize = 301, 302, 33
	g.create(t, "g", esdb.End{}, s)
	info := g.about(t, "g")
	equal(t, "source", info.EventSource, g.stream)
	equal(t, "name", info.GroupName, "g")
	if _, ok := info.Settings.StartFrom.(esdb.End); !ok {
		t.Errorf("start of the group: %v", info.Settings.StartFrom)
	}
	if info.Stats.LastCheckpointedEventRevision != nil {
		t.Errorf("a new group has checkpoint %d", *info.Stats.LastCheckpointedEventRevision)
	}
	equal(t, "history buffer", info.Settings.HistoryBufferSize, s.HistoryBufferSize)
	equal(t, "live buffer", info.Settings.LiveBufferSize, s.LiveBufferSize)
	equal(t, "read batch", info.Settings.ReadBatchSize, s.ReadBatchSize)
	equal(t, "strategy", info.Settings.ConsumerStrategyName, esdb.ConsumerStrategyRoundRobin)
	equal(t, "message timeout", info.Settings.MessageTimeout, s.MessageTimeout)
	wait.Until(t, "the group is live", func() bool { return g.about(t, "g").Status == "Live" })
	c := g.join(t, "g", 5)
	g.write(t, 3, 1)
	check(t, c.Ack(c.expect(t, 0, "3")...))
	g.checkpointed(t, 3)
	info = g.about(t, "g")
	equal(t, "last known revision", *info.Stats.LastKnownEventRevision, uint64(3))
	equal(t, "connections", len(info.Connections), 1)
	equal(t, "its events", info.Connections[0].TotalItemsProcessed, int64(1))
	equal(t, "measurements that nobody asked for", len(info.Connections[0].ExtraStatistics), 0)
}

func groupMeasurements(t *testing.T, g *groupClient) {
	g.write(t, 0, 3)
	s := rules()
	s.ExtraStatistics = true
	g.create(t, "g", esdb.Start{}, s)
	c := g.join(t, "g", 5)
	check(t, c.Ack(c.expect(t, 0, "0", "1", "2")...))
	measured := func() []esdb.PersistentSubscriptionMeasurement { return g.about(t, "g").Connections[0].ExtraStatistics }
	wait.Until(t, "acknowledgements are measured", func() bool { return len(measured()) > 0 })
	var keys []string
	for _, m := range measured() {
		keys = append(keys, m.Key)
	}
	// clients of other languages know these keys, some of them in lower case
	equal(t, "keys", strings.Join(keys, ", "), "Mean, Median, Fastest, Quintile 1, Quintile 2, Quintile 3, Quintile 4, Quintile 5, 90%, 95%, 99%, 99.5%, 99.9%, Highest")
}

func groupAgain(t *testing.T, g *groupClient) {
	s := rules()
	s.CheckpointLowerBound, s.CheckpointUpperBound = 1, 1
	g.write(t, 0, 3)
	g.create(t, "g", esdb.Start{}, s)
	c := g.join(t, "g", 5)
	got := c.expect(t, 0, "0", "1", "2")
	check(t, c.Ack(got[0], got[1]))
	g.checkpointed(t, 1)
	check(t, c.Nack("park", esdb.NackActionPark, got[2]))
	wait.Until(t, "the event is parked", func() bool { return g.about(t, "g").Stats.ParkedMessagesCount == 1 })
	check(t, g.DeletePersistentSubscription(ctx(t), g.stream, "g", esdb.DeletePersistentSubscriptionOptions{}))
	g.create(t, "g", esdb.Start{}, s)
	g.join(t, "g", 5).expect(t, 0, "0", "1", "2")
	equal(t, "parked", g.about(t, "g").Stats.ParkedMessagesCount, int64(0))
}
