package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/persistent"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"reckon/eventstore/node/eventlog"
	"reckon/eventstore/node/group"
	"reckon/test/wait"
)

// What every server does is in storetest.RunGroups; these tests are of this node: restarts,
// crashes, the wire, and its bounds.

func groupRules() esdb.PersistentSubscriptionSettings {
	s := esdb.SubscriptionSettingsDefault()
	s.MessageTimeout = int32(time.Hour / time.Millisecond)
	s.CheckpointLowerBound, s.CheckpointUpperBound = 1, 1
	return s
}

func (r *running) createGroup(t testing.TB, stream, name string, s esdb.PersistentSubscriptionSettings) {
	t.Helper()
	if err := r.client.CreatePersistentSubscription(testCtx(t), stream, name, esdb.PersistentStreamSubscriptionOptions{StartFrom: esdb.Start{}, Settings: &s}); err != nil {
		t.Fatal(err)
	}
}

func (r *running) consume(t testing.TB, stream, name string, buffer uint32) *esdb.PersistentSubscription {
	t.Helper()
	sub, err := r.client.SubscribeToPersistentSubscription(testCtx(t), stream, name, esdb.SubscribeToPersistentSubscriptionOptions{BufferSize: buffer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Close() })
	return sub
}

// receive returns the next n events.
func receive(t testing.TB, sub *esdb.PersistentSubscription, n int) []*esdb.ResolvedEvent {
	t.Helper()
	var events []*esdb.ResolvedEvent
	for len(events) < n {
		e := sub.Recv()
		if e.SubscriptionDropped != nil {
			t.Fatalf("dropped after %d events: %v", len(events), e.SubscriptionDropped.Error)
		}
		events = append(events, e.EventAppeared.Event)
	}
	return events
}

func textsOf(events []*esdb.ResolvedEvent) string {
	var texts []string
	for _, e := range events {
		texts = append(texts, string(e.Event.Data))
	}
	return strings.Join(texts, " ")
}

func notes(texts ...string) []esdb.EventData {
	var events []esdb.EventData
	for _, text := range texts {
		events = append(events, note(text))
	}
	return events
}

func TestGroupSurvivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := startIn(t, dir)
	s := groupRules()
	s.CheckpointUpperBound, s.CheckpointAfter = 1000, 0 // no checkpoint but the last one
	r.append(t, "s", esdb.NoStream{}, notes("0", "1", "2", "3", "4", "5")...)
	r.createGroup(t, "s", "g", s)
	r.createGroup(t, "s", "deleted", s)
	end := s
	if err := r.client.CreatePersistentSubscription(testCtx(t), "s", "end", esdb.PersistentStreamSubscriptionOptions{StartFrom: esdb.End{}, Settings: &end}); err != nil {
		t.Fatal(err)
	}
	if err := r.client.DeletePersistentSubscription(testCtx(t), "s", "deleted", esdb.DeletePersistentSubscriptionOptions{}); err != nil {
		t.Fatal(err)
	}
	sub := r.consume(t, "s", "g", 10)
	got := receive(t, sub, 6)
	if err := errors.Join(sub.Ack(got[0], got[1], got[4]), sub.Nack("park", esdb.NackActionPark, got[2])); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "one event is parked", func() bool {
		info, err := r.client.GetPersistentSubscriptionInfo(testCtx(t), "s", "g", esdb.GetPersistentSubscriptionOptions{})
		return err == nil && info.Stats.ParkedMessagesCount == 1
	})
	r.append(t, "s", esdb.Revision(5), notes("6")...)
	stop(t, r.Node)
	dropped := sub.Recv().SubscriptionDropped
	for dropped == nil {
		dropped = sub.Recv().SubscriptionDropped
	}
	if status.Code(dropped.Error) != codes.Unavailable {
		t.Errorf("a node that stops ends its consumers with %v", dropped.Error)
	}

	r = startIn(t, dir)
	sub = r.consume(t, "s", "g", 10)
	if texts := textsOf(receive(t, sub, 4)); texts != "3 4 5 6" {
		t.Errorf("after a restart came %s", texts)
	}
	if texts := textsOf(receive(t, r.consume(t, "s", "end", 10), 1)); texts != "6" {
		t.Errorf("a group that starts at the end received %s after a restart", texts)
	}
	if err := r.client.ReplayParkedMessages(testCtx(t), "s", "g", esdb.ReplayParkedMessagesOptions{}); err != nil {
		t.Fatal(err)
	}
	if texts := textsOf(receive(t, sub, 1)); texts != "2" {
		t.Errorf("parked before the restart was %s", texts)
	}
	_, err := r.client.SubscribeToPersistentSubscription(testCtx(t), "s", "deleted", esdb.SubscribeToPersistentSubscriptionOptions{})
	wantCode(t, "a deleted group after a restart", err, esdb.ErrorCodeResourceNotFound)
}

// A replayed event that is not settled when the node crashes is still parked.
func TestReplayedEventsStayParkedUntilTheyAreSettled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := startChild(t, dir)
	r := &running{client: dial(t, c.connection)}
	r.append(t, "s", esdb.NoStream{}, notes("0", "1", "2")...)
	r.createGroup(t, "s", "g", groupRules())
	sub := r.consume(t, "s", "g", 10)
	parkedCount := func(n int64) {
		wait.Until(t, fmt.Sprintf("%d events are parked", n), func() bool {
			info, err := r.client.GetPersistentSubscriptionInfo(testCtx(t), "s", "g", esdb.GetPersistentSubscriptionOptions{})
			return err == nil && info.Stats.ParkedMessagesCount == n
		})
	}
	if err := sub.Nack("park", esdb.NackActionPark, receive(t, sub, 3)...); err != nil {
		t.Fatal(err)
	}
	parkedCount(3)
	if err := r.client.ReplayParkedMessages(testCtx(t), "s", "g", esdb.ReplayParkedMessagesOptions{}); err != nil {
		t.Fatal(err)
	}
	got := receive(t, sub, 3)
	parkedCount(0)
	if err := sub.Ack(got[0]); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the parked stream is truncated", func() bool {
		read, err := r.client.ReadStream(testCtx(t), "$persistentsubscription-s::g-parked", esdb.ReadStreamOptions{From: esdb.Start{}}, 10)
		return len(drain(t, read, err)) == 2
	})
	c.kill()
	r = startIn(t, dir)
	parkedCount(2)
	if err := r.client.ReplayParkedMessages(testCtx(t), "s", "g", esdb.ReplayParkedMessagesOptions{}); err != nil {
		t.Fatal(err)
	}
	if texts := textsOf(receive(t, r.consume(t, "s", "g", 10), 2)); texts != "1 2" {
		t.Errorf("replayed after a crash: %s", texts)
	}
}

// TestKillNineUnderConsumers: whatever was appended is delivered until somebody has acknowledged it.
func TestKillNineUnderConsumers(t *testing.T) {
	t.Parallel()
	const rounds, perRound, streams = 3, 120, 4
	dir := t.TempDir()
	var mu sync.Mutex
	appended, settled := map[uuid.UUID]bool{}, map[uuid.UUID]bool{}
	ofGroup := func(client *esdb.Client, act func(*esdb.PersistentSubscription, *esdb.EventAppeared) error) {
		sub, err := client.SubscribeToPersistentSubscriptionToAll(context.Background(), "g", esdb.SubscribeToPersistentSubscriptionOptions{BufferSize: 7})
		if err != nil {
			return
		}
		defer func() { _ = sub.Close() }()
		for {
			e := sub.Recv()
			if e.SubscriptionDropped != nil || e.EventAppeared != nil && act(sub, e.EventAppeared) != nil {
				return
			}
		}
	}
	settle := func(sub *esdb.PersistentSubscription, e *esdb.EventAppeared) error {
		mu.Lock()
		settled[e.Event.OriginalEvent().EventID] = true
		mu.Unlock()
		return sub.Ack(e.Event)
	}
	for round := range rounds {
		c := startChild(t, dir)
		client := dial(t, c.connection)
		if round == 0 {
			s := groupRules()
			s.CheckpointUpperBound, s.ReadBatchSize, s.HistoryBufferSize = 5, 4, 9
			if err := client.CreatePersistentSubscriptionToAll(testCtx(t), "g", esdb.PersistentAllSubscriptionOptions{
				StartFrom: esdb.Start{}, Settings: &s, Filter: &esdb.SubscriptionFilter{Type: esdb.StreamFilterType, Prefixes: []string{"s"}},
			}); err != nil {
				t.Fatal(err)
			}
		}
		var wait sync.WaitGroup
		var count atomic.Int64
		enough := make(chan struct{})
		for n := range 3 {
			refusals, client := 0, dial(t, c.connection) // of its own: see dial
			wait.Go(func() {
				ofGroup(client, func(sub *esdb.PersistentSubscription, e *esdb.EventAppeared) error {
					// some are refused, by the first consumer of three; they come again
					if refusals++; n == 0 && refusals%3 == 0 {
						return sub.Nack("again", esdb.NackActionRetry, e.Event)
					}
					if count.Add(1) == perRound {
						close(enough)
					}
					return settle(sub, e)
				})
			})
		}
		for n := range streams {
			client := dial(t, c.connection) // of its own: see dial
			wait.Go(func() {
				for {
					e := note("x")
					if _, err := client.AppendToStream(context.Background(), fmt.Sprintf("s%d", n), esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, e); err != nil {
						return
					}
					mu.Lock()
					appended[e.EventID] = true
					mu.Unlock()
				}
			})
		}
		<-enough
		c.kill()
		wait.Wait()
	}
	r := startIn(t, dir)
	missing := func() int {
		mu.Lock()
		defer mu.Unlock()
		n := 0
		for id := range appended {
			if !settled[id] {
				n++
			}
		}
		return n
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	sub, err := r.client.SubscribeToPersistentSubscriptionToAll(ctx, "g", esdb.SubscribeToPersistentSubscriptionOptions{BufferSize: 50})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Close() }()
	go func() {
		for {
			e := sub.Recv()
			if e.SubscriptionDropped != nil || e.EventAppeared != nil && settle(sub, e.EventAppeared) != nil {
				return
			}
		}
	}()
	wait.Until(t, "everything that was appended has been acknowledged", func() bool { return missing() == 0 })
	if parked, err := r.client.GetPersistentSubscriptionInfoToAll(testCtx(t), "g", esdb.GetPersistentSubscriptionOptions{}); err != nil || parked.Stats.ParkedMessagesCount != 0 {
		t.Errorf("parked: %+v, %v", parked, err)
	}
}

func TestGroupTrailers(t *testing.T) {
	t.Parallel()
	r := start(t)
	groups := persistent.NewPersistentSubscriptionsClient(r.raw(t))
	ofStream := &persistent.CreateReq_Options{
		StreamOption: &persistent.CreateReq_Options_Stream{Stream: &persistent.CreateReq_StreamOptions{StreamIdentifier: streamToWire("ström")}}, GroupName: "g",
		Settings: &persistent.CreateReq_Settings{HistoryBufferSize: 500, ReadBatchSize: 20, LiveBufferSize: 500, MaxSubscriberCount: 1, MaxCheckpointCount: 10},
	}
	create := func(change func(*persistent.CreateReq_Settings)) func(...grpc.CallOption) error {
		return func(o ...grpc.CallOption) error {
			settings := &persistent.CreateReq_Settings{HistoryBufferSize: 500, ReadBatchSize: 20}
			change(settings)
			_, err := groups.Create(testCtx(t), &persistent.CreateReq{Options: &persistent.CreateReq_Options{StreamOption: ofStream.StreamOption, GroupName: "new", Settings: settings}}, o...)
			return err
		}
	}
	if _, err := groups.Create(testCtx(t), &persistent.CreateReq{Options: ofStream}); err != nil {
		t.Fatal(err)
	}
	read := func(name string, messages ...*persistent.ReadReq) func(...grpc.CallOption) error {
		return func(o ...grpc.CallOption) error {
			call, err := groups.Read(testCtx(t), o...)
			if err != nil {
				return err
			}
			options := &persistent.ReadReq_Options{StreamOption: &persistent.ReadReq_Options_StreamIdentifier{StreamIdentifier: streamToWire("ström")}, GroupName: name, BufferSize: 5}
			if len(messages) == 0 {
				messages = []*persistent.ReadReq{{Content: &persistent.ReadReq_Options_{Options: options}}}
			}
			for _, m := range messages {
				if err := call.Send(m); err != nil {
					break // Recv says why
				}
			}
			for {
				if _, err := call.Recv(); err != nil {
					return err
				}
			}
		}
	}
	held, err := groups.Read(testCtx(t))
	if err != nil {
		t.Fatal(err)
	}
	options := &persistent.ReadReq_Options{StreamOption: &persistent.ReadReq_Options_StreamIdentifier{StreamIdentifier: streamToWire("ström")}, GroupName: "g", BufferSize: 5}
	if err := held.Send(&persistent.ReadReq{Content: &persistent.ReadReq_Options_{Options: options}}); err != nil {
		t.Fatal(err)
	}
	confirmed, err := held.Recv()
	if err != nil || confirmed.GetSubscriptionConfirmation().GetSubscriptionId() != "ström::g" {
		t.Fatal(confirmed, err)
	}
	noBuffer := &persistent.ReadReq{Content: &persistent.ReadReq_Options_{Options: &persistent.ReadReq_Options{GroupName: "g"}}}
	for _, c := range []struct {
		what      string
		call      func(...grpc.CallOption) error
		code      codes.Code
		exception string
	}{
		{"created twice", func(o ...grpc.CallOption) error {
			_, err := groups.Create(testCtx(t), &persistent.CreateReq{Options: ofStream}, o...)
			return err
		}, codes.AlreadyExists, "persistent-subscription-exists"},
		{"a read batch as large as the buffer", create(func(s *persistent.CreateReq_Settings) { s.ReadBatchSize = 500 }), codes.Internal, "persistent-subscription-failed"},
		{"an unknown strategy", create(func(s *persistent.CreateReq_Settings) { s.ConsumerStrategy = "ByChance" }), codes.Internal, "persistent-subscription-failed"},
		{"a negative setting", create(func(s *persistent.CreateReq_Settings) { s.MaxRetryCount = -1 }), codes.Internal, "persistent-subscription-failed"},
		{"no settings", create(func(s *persistent.CreateReq_Settings) { s.Reset() }), codes.Internal, "persistent-subscription-failed"},
		{"a missing group is changed", func(o ...grpc.CallOption) error {
			_, err := groups.Update(testCtx(t), &persistent.UpdateReq{Options: &persistent.UpdateReq_Options{
				StreamOption: &persistent.UpdateReq_Options_Stream{Stream: &persistent.UpdateReq_StreamOptions{StreamIdentifier: streamToWire("ström")}}, GroupName: "no",
				Settings: &persistent.UpdateReq_Settings{HistoryBufferSize: 500, ReadBatchSize: 20},
			}}, o...)
			return err
		}, codes.NotFound, "persistent-subscription-does-not-exist"},
		{"a missing group is deleted", func(o ...grpc.CallOption) error {
			_, err := groups.Delete(testCtx(t), &persistent.DeleteReq{Options: &persistent.DeleteReq_Options{StreamOption: &persistent.DeleteReq_Options_StreamIdentifier{StreamIdentifier: streamToWire("ström")}, GroupName: "no"}}, o...)
			return err
		}, codes.NotFound, "persistent-subscription-does-not-exist"},
		{"a missing group is read", read("no"), codes.NotFound, "persistent-subscription-does-not-exist"},
		{"a full group is read", read("g"), codes.FailedPrecondition, "maximum-subscribers-reached"},
		{"nothing is sent", read("g", &persistent.ReadReq{}), codes.InvalidArgument, ""},
		{"no buffer", read("g", noBuffer), codes.InvalidArgument, ""},
		{"a consumer of a deleted group", func(o ...grpc.CallOption) error {
			_, err := groups.Delete(testCtx(t), &persistent.DeleteReq{Options: &persistent.DeleteReq_Options{StreamOption: &persistent.DeleteReq_Options_StreamIdentifier{StreamIdentifier: streamToWire("ström")}, GroupName: "g"}})
			if err != nil {
				t.Fatal(err)
			}
			_, err = held.Recv()
			*(o[0].(grpc.TrailerCallOption).TrailerAddr) = held.Trailer()
			return err
		}, codes.Canceled, "persistent-subscription-dropped"},
	} {
		var trailer metadata.MD
		err := c.call(grpc.Trailer(&trailer))
		if status.Code(err) != c.code {
			t.Errorf("%s: %v, expected %v", c.what, err, c.code)
			continue
		}
		if c.exception != "" && (len(trailer.Get("exception")) != 1 || trailer.Get("exception")[0] != c.exception || trailer.Get("stream-name")[0] != "str%C3%B6m" || len(trailer.Get("group-name")) != 1) {
			t.Errorf("%s: trailers %v", c.what, trailer)
		}
	}
}

// TestGroupOfTheFirstProtocol: Node's client names the stream outside the options that came later.
func TestGroupOfTheFirstProtocol(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.append(t, "s", esdb.NoStream{}, notes("0", "1")...)
	groups := persistent.NewPersistentSubscriptionsClient(r.raw(t))
	for name, revision := range map[string]uint64{"one": 1, "end": 1<<64 - 1} {
		if _, err := groups.Create(testCtx(t), &persistent.CreateReq{Options: &persistent.CreateReq_Options{
			StreamIdentifier: streamToWire("s"), GroupName: name, //nolint:staticcheck // what is tested
			Settings: &persistent.CreateReq_Settings{
				Revision: revision, HistoryBufferSize: 500, ReadBatchSize: 20, MaxRetryCount: 3, //nolint:staticcheck // what is tested
				MessageTimeout: &persistent.CreateReq_Settings_MessageTimeoutTicks{MessageTimeoutTicks: 300_000_000},
			},
		}}); err != nil {
			t.Fatal(err)
		}
	}
	r.append(t, "s", esdb.Revision(1), notes("2")...)
	if texts := textsOf(receive(t, r.consume(t, "s", "one", 5), 2)); texts != "1 2" {
		t.Errorf("from revision 1: %s", texts)
	}
	if texts := textsOf(receive(t, r.consume(t, "s", "end", 5), 1)); texts != "2" {
		t.Errorf("from the end: %s", texts)
	}
	info, err := r.client.GetPersistentSubscriptionInfo(testCtx(t), "s", "one", esdb.GetPersistentSubscriptionOptions{})
	if err != nil || info.Settings.MessageTimeout != 30_000 || info.Settings.ConsumerStrategyName != esdb.ConsumerStrategyDispatchToSingle {
		t.Errorf("%+v, %v", info.Settings, err)
	}
}

func TestPinnedByCorrelation(t *testing.T) {
	t.Parallel()
	r := start(t)
	groups := persistent.NewPersistentSubscriptionsClient(r.raw(t))
	if _, err := groups.Create(testCtx(t), &persistent.CreateReq{Options: &persistent.CreateReq_Options{
		StreamOption: &persistent.CreateReq_Options_Stream{Stream: &persistent.CreateReq_StreamOptions{StreamIdentifier: streamToWire("s")}}, GroupName: "g",
		Settings: &persistent.CreateReq_Settings{HistoryBufferSize: 500, ReadBatchSize: 20, ConsumerStrategy: pinnedByCorrelation, MessageTimeout: &persistent.CreateReq_Settings_MessageTimeoutMs{MessageTimeoutMs: 3_600_000}},
	}}); err != nil {
		t.Fatal(err)
	}
	const correlations, each = 10, 5
	a, b := r.consume(t, "s", "g", 100), r.consume(t, "s", "g", 100)
	var events []esdb.EventData
	for i := range correlations * each {
		e := note(fmt.Sprint(i % correlations))
		e.Metadata = fmt.Appendf(nil, `{"$correlationId":"c%d","other":1}`, i%correlations)
		events = append(events, e)
	}
	r.append(t, "s", esdb.NoStream{}, events...)
	type got struct {
		consumer int
		text     string
	}
	all := make(chan got, correlations*each)
	for i, sub := range []*esdb.PersistentSubscription{a, b} {
		go func() {
			for {
				e := sub.Recv().EventAppeared
				if e == nil {
					return
				}
				all <- got{i, string(e.Event.Event.Data)}
			}
		}()
	}
	home := map[string]int{}
	for range correlations * each {
		select {
		case g := <-all:
			if at, ok := home[g.text]; ok && at != g.consumer {
				t.Errorf("correlation %s went to both consumers", g.text)
			}
			home[g.text] = g.consumer
		case <-testCtx(t).Done():
			t.Fatal("events are missing")
		}
	}
}

// The content of events is bounded however many groups wait: none is held. A large event is
// sent all the same.
func TestGroupsHoldAtMostTheirShare(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.groups.unsettled.Add(maxUnsettled)
	var texts []string
	for i := range 4 * groupRoom {
		texts = append(texts, fmt.Sprint(i))
	}
	r.append(t, "s", esdb.NoStream{}, notes(texts...)...)
	r.createGroup(t, "s", "g", groupRules())
	g, err := r.groups.find(groupName{"s", "g"})
	if err != nil {
		t.Fatal(err)
	}
	held := func() int {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.state.Unsettled()
	}
	wait.Until(t, "the group holds its share", func() bool { return held() == groupRoom })
	sub := r.consume(t, "s", "g", 5)
	for i := range texts {
		got := receive(t, sub, 1)
		if textsOf(got) != texts[i] {
			t.Fatalf("%s came instead of %s", textsOf(got), texts[i])
		}
		if n := held(); n > groupRoom {
			t.Fatalf("the group holds %d events", n)
		}
		if err := sub.Ack(got...); err != nil {
			t.Fatal(err)
		}
	}
	large := note(`"` + strings.Repeat("x", 900_000) + `"`)
	r.append(t, "s", esdb.Any{}, large)
	if got := receive(t, sub, 1); len(got[0].Event.Data) != len(large.Data) {
		t.Errorf("%d bytes came", len(got[0].Event.Data))
	}
	if err := r.client.DeletePersistentSubscription(testCtx(t), "s", "g", esdb.DeletePersistentSubscriptionOptions{}); err != nil {
		t.Fatal(err)
	}
	if left := r.groups.unsettled.Load() - maxUnsettled; left != 0 {
		t.Errorf("%d events are counted after the group is gone", left)
	}
	wait.Until(t, "no consumer is counted", func() bool { return r.groups.consumers.count() == 0 })
}

// A consumer joins when the events wait that the log has: the order in which refused events come again must not depend on how
// fast it is read.
func TestConsumersJoinAGroupThatIsFilled(t *testing.T) {
	t.Parallel()
	r := start(t)
	for range maxGroupReads {
		r.groups.reading <- struct{}{}
	}
	texts := make([]string, 2*esdb.SubscriptionSettingsDefault().ReadBatchSize+1)
	for i := range texts {
		texts[i] = fmt.Sprint(i)
	}
	r.append(t, "s", esdb.NoStream{}, notes(texts...)...)
	r.createGroup(t, "s", "g", groupRules())
	g, err := r.groups.find(groupName{"s", "g"})
	if err != nil {
		t.Fatal(err)
	}
	gone, leave := context.WithCancel(testCtx(t))
	leave()
	if _, err := g.join(gone, 5); !errors.Is(err, context.Canceled) {
		t.Fatalf("a consumer that has gone joins a group that nothing was read for: %v", err)
	}
	for range maxGroupReads {
		<-r.groups.reading
	}
	c, err := g.join(testCtx(t), 5)
	if err != nil {
		t.Fatal(err)
	}
	defer g.leave(c)
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := g.state.Unsettled(); n != len(texts) {
		t.Errorf("%d of %d events wait when it has joined", n, len(texts))
	}
}

func TestGroupLimits(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.groups.mu.Lock()
	for i := range maxGroups {
		r.groups.groups[fmt.Sprint(i)] = nil
	}
	r.groups.mu.Unlock()
	err := r.client.CreatePersistentSubscription(testCtx(t), "s", "g", esdb.PersistentStreamSubscriptionOptions{})
	r.groups.mu.Lock()
	clear(r.groups.groups)
	r.groups.mu.Unlock()
	if err == nil || !strings.Contains(err.Error(), "as many persistent subscriptions as it can") {
		t.Errorf("one group too many: %v", err)
	}
	r.createGroup(t, "s", "g", groupRules())
	r.groups.consumers.mu.Lock()
	r.groups.consumers.taken += maxConsumers
	r.groups.consumers.mu.Unlock()
	_, err = r.client.SubscribeToPersistentSubscription(testCtx(t), "s", "g", esdb.SubscribeToPersistentSubscriptionOptions{})
	r.groups.consumers.mu.Lock()
	r.groups.consumers.taken -= maxConsumers
	r.groups.consumers.mu.Unlock()
	if err == nil || !strings.Contains(err.Error(), "as many consumers") {
		t.Errorf("one consumer too many: %v", err)
	}
	if _, err := idsFromWire(make([]*shared.UUID, maxGroupMessageIDs+1)); err == nil {
		t.Error("an acknowledgement of too many ids was taken")
	}
	for _, bad := range []groupName{{"s", ""}, {"", "g"}, {"$all", "g"}, {"\xff", "g"}, {strings.Repeat("s", eventlog.MaxStreamNameBytes-10), "g"}} {
		if bad.checkName(false) == nil {
			t.Errorf("the name %q was taken", bad)
		}
	}
}

// Two groups whose names have the same id share their streams: only one of them can exist.
func TestGroupsOfOneID(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.createGroup(t, "a", "b::c", groupRules())
	wantCode(t, "a group of the same id", r.client.CreatePersistentSubscription(testCtx(t), "a::b", "c", esdb.PersistentStreamSubscriptionOptions{}), esdb.ErrorCodeResourceAlreadyExists)
	_, err := r.client.SubscribeToPersistentSubscription(testCtx(t), "a::b", "c", esdb.SubscribeToPersistentSubscriptionOptions{})
	wantCode(t, "reading it", err, esdb.ErrorCodeResourceNotFound)
}

// The stream of configurations does not grow with what was created and deleted.
func TestGroupConfigurationIsShortened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := startIn(t, dir)
	r.createGroup(t, "s", "stays", groupRules())
	config, err := r.groups.find(groupName{"s", "stays"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 * groupConfigSlack {
		if err := appendGroupConfig(testCtx(t), r.log, config.config); err != nil {
			t.Fatal(err)
		}
	}
	r.createGroup(t, "s", "goes", groupRules())
	if err := r.client.DeletePersistentSubscription(testCtx(t), "s", "goes", esdb.DeletePersistentSubscriptionOptions{}); err != nil {
		t.Fatal(err)
	}
	info, err := streamInfoOf(r.log, groupConfigStream)
	if err != nil || uint64(info.Last) != info.First {
		t.Errorf("events %d to %d are left, %v", info.First, info.Last, err)
	}
	stop(t, r.Node)
	r = startIn(t, dir)
	list, err := r.client.ListAllPersistentSubscriptions(testCtx(t), esdb.ListPersistentSubscriptionsOptions{})
	if err != nil || len(list) != 1 || list[0].GroupName != "stays" {
		t.Errorf("%v, %v", list, err)
	}
}

// A configuration whose record is damaged stops persistent subscriptions, not the reads of others.
func TestGroupConfigurationThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := startIn(t, dir)
	r.append(t, "s", esdb.NoStream{}, note("goes on"))
	r.createGroup(t, "s", "g", groupRules())
	flipAt(t, dir, groupConfigStream+groupConfiguredKey)
	for range 2 {
		if err := r.client.RestartPersistentSubscriptionSubsystem(testCtx(t), esdb.RestartPersistentSubscriptionSubsystemOptions{}); err == nil || !strings.Contains(err.Error(), "damaged at position 3") {
			t.Errorf("restart: %v", err)
		}
	}
	if _, err := r.client.SubscribeToPersistentSubscription(testCtx(t), "s", "g", esdb.SubscribeToPersistentSubscriptionOptions{}); err == nil || !strings.Contains(err.Error(), "damaged at position 3") {
		t.Errorf("consumer: %v", err)
	}
	if _, err := r.client.ListAllPersistentSubscriptions(testCtx(t), esdb.ListPersistentSubscriptionsOptions{}); err == nil || !strings.Contains(err.Error(), "DataLoss") {
		t.Errorf("list: %v", err)
	}
	read, err := r.client.ReadStream(testCtx(t), "s", esdb.ReadStreamOptions{}, 1)
	if err == nil {
		_, err = read.Recv()
		read.Close()
	}
	if err != nil {
		t.Errorf("a read: %v", err)
	}
}

// A group of all events passes by its own checkpoints, and these do not make it write another.
func TestOwnCheckpointsDoNotCount(t *testing.T) {
	t.Parallel()
	r := start(t)
	s := groupRules()
	if err := r.client.CreatePersistentSubscriptionToAll(testCtx(t), "g", esdb.PersistentAllSubscriptionOptions{StartFrom: esdb.End{}, Settings: &s}); err != nil {
		t.Fatal(err)
	}
	g, err := r.groups.find(groupName{eventlog.AllStream, "g"})
	if err != nil {
		t.Fatal(err)
	}
	view, err := r.log.View()
	if err != nil {
		t.Fatal(err)
	}
	head := int64(view.Head())
	view.Close()
	r.append(t, "$persistentsubscription-$all::g-checkpoint", esdb.Any{}, note(`"C:1/P:1"`))
	r.append(t, "$persistentsubscription-$all::other-parked", esdb.Any{}, note("x"))
	page := group.Page{Last: head, AtEnd: true}
	if view, err = r.log.View(); err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	if err := g.pageOfAll(testCtx(t), view, &page, 10); err != nil || len(page.Events) > 0 || page.Skipped > 0 || page.Last != int64(view.Head()) {
		t.Errorf("%+v, %v", page, err)
	}
}

// What is gone from the stream is not waited for.
func TestGroupOfAStreamThatIsCutAndDeleted(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.append(t, "s", esdb.NoStream{}, notes("0", "1", "2", "3")...)
	meta := esdb.StreamMetadata{}
	meta.SetTruncateBefore(2)
	if _, err := r.client.SetStreamMetadata(testCtx(t), "s", esdb.AppendToStreamOptions{}, meta); err != nil {
		t.Fatal(err)
	}
	r.createGroup(t, "s", "g", groupRules())
	sub := r.consume(t, "s", "g", 10)
	got := receive(t, sub, 2)
	if texts := textsOf(got); texts != "2 3" {
		t.Errorf("of a truncated stream came %s", texts)
	}
	if err := sub.Ack(got...); err != nil {
		t.Fatal(err)
	}
	if _, err := r.client.DeleteStream(testCtx(t), "s", esdb.DeleteStreamOptions{}); err != nil {
		t.Fatal(err)
	}
	r.append(t, "s", esdb.Any{}, notes("again")...)
	if texts := textsOf(receive(t, sub, 1)); texts != "again" {
		t.Errorf("of a re-created stream came %s", texts)
	}
}

func TestMeasurements(t *testing.T) {
	t.Parallel()
	var took []time.Duration
	for i := range 200 {
		took = append(took, time.Duration(i+1)*time.Millisecond)
	}
	got := map[string]int64{}
	for _, m := range measurements(took) {
		got[m.GetKey()] = m.GetValue()
	}
	want := map[string]int64{
		"Mean": 100, "Median": 100, "Fastest": 1, "Quintile 1": 40, "Quintile 2": 80, "Quintile 3": 120, "Quintile 4": 160, "Quintile 5": 200,
		"90%": 180, "95%": 190, "99%": 198, "99.5%": 199, "99.9%": 200, "Highest": 200,
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if one := measurements(took[:1]); len(one) != len(want) {
		t.Errorf("%v", one)
	}
}

// Events that are no configuration, which an administrator can append, cost no group that is sound: each is named in the log and passed over.
func TestForeignGroupConfigurations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := startIn(t, dir)
	r.append(t, "s", esdb.NoStream{}, notes("0", "1")...)
	r.createGroup(t, "s", "g", groupRules())
	sound := groupConfig{groupName: groupName{"s", "other"}, After: -1, Settings: groupSettings{HistoryBuffer: 500, ReadBatch: 20, Strategy: "Pinned"}}
	spoilt := func(change func(*groupConfig)) string {
		c := sound
		change(&c)
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	foreign := []string{"junk", "[]", "null", "{}", "", `{"stream":7}`, `{"stream":"s","group":"g"}`,
		spoilt(func(c *groupConfig) { c.Group = "" }), spoilt(func(c *groupConfig) { c.Stream = strings.Repeat("s", 5000) }), spoilt(func(c *groupConfig) { c.After = -2 }),
		spoilt(func(c *groupConfig) { c.Settings.Strategy = "ByChance" }), spoilt(func(c *groupConfig) { c.Settings.ReadBatch = -1 }), spoilt(func(c *groupConfig) { c.Filter = &groupFilter{} }),
		spoilt(func(c *groupConfig) { c.Stream, c.Filter = "$all", &groupFilter{Regex: "("} })}
	for _, text := range foreign {
		e := note(text)
		e.EventType = groupConfiguredKey
		r.append(t, groupConfigStream, esdb.Any{}, e)
	}
	removal := note("junk")
	removal.EventType = groupRemovedKey
	r.append(t, groupConfigStream, esdb.Any{}, removal)
	if err := r.Close(testCtx(t)); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	n, err := Open(Config{Dir: dir, Listen: "127.0.0.1:0", Logger: slog.New(slog.NewTextHandler(&said, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if lines := said.String(); strings.Count(lines, "and is passed over") != maxNamedConfigs || !strings.Contains(lines, fmt.Sprintf("count=%d", len(foreign)+1-maxNamedConfigs)) || !strings.Contains(lines, "revision=1 ") {
		t.Errorf("the log says:\n%s", lines)
	}
	r = &running{n, dial(t, n.ConnectionString())}
	t.Cleanup(func() { stop(t, n) })
	for range 2 {
		if texts := textsOf(receive(t, r.consume(t, "s", "g", 10), 2)); texts != "0 1" {
			t.Errorf("the group that is sound: %s", texts)
		}
		all, err := r.client.ListAllPersistentSubscriptions(testCtx(t), esdb.ListPersistentSubscriptionsOptions{})
		if err != nil || len(all) != 1 {
			t.Errorf("%+v, %v", all, err)
		}
		if err := r.client.RestartPersistentSubscriptionSubsystem(testCtx(t), esdb.RestartPersistentSubscriptionSubsystemOptions{}); err != nil {
			t.Error(err)
		}
	}
	r.createGroup(t, "s", "another", groupRules())
}
