package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/persistent"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"

	"reckon/eventstore/node/eventlog"
	"reckon/test/wait"
)

// stalledFor returns what is reserved, and whether that is for answers alone which a client does not take.
func (b *budget) stalledFor() (bytes int64, stalled bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	stalled = len(b.holding) == 1
	for h := range b.holding {
		h.mu.Lock()
		bytes += h.bytes
		stalled = stalled && !h.waits.IsZero()
		h.mu.Unlock()
	}
	return bytes, stalled
}

// TestASlowSubscriberHoldsItsAnswersOnly: no page, however many events there are; then it gets all of them, once and in order.
func TestASlowSubscriberHoldsItsAnswersOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		events, size int
		stream       string
		filtered     bool
		most         int64 // held while the client takes nothing
	}{
		{"a stream", 1000, 1000, "s", false, queuedBytes},
		{"$all", 1000, 1000, eventlog.AllStream, false, queuedBytes},
		{"$all, filtered", 1000, 1000, eventlog.AllStream, true, queuedBytes},
		{"large events", 20, 200_000, "s", false, queuedBytes + 200_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := start(t)
			for i := range c.events {
				for _, stream := range []string{"s", "other"} {
					event := eventlog.Proposed{ID: uuid.New(), Type: "t", Data: append([]byte(fmt.Sprintf("%6d", i)), make([]byte, c.size-6)...)}
					if _, err := r.log.Append(t.Context(), stream, eventlog.Any(), []eventlog.Proposed{event}); err != nil {
						t.Fatal(err)
					}
					if c.stream != eventlog.AllStream {
						break
					}
				}
			}
			request := readRequestOf(c.stream, true)
			if c.filtered {
				request.Options.FilterOption = &streams.ReadReq_Options_Filter{Filter: &streams.ReadReq_Options_FilterOptions{
					Filter: &streams.ReadReq_Options_FilterOptions_StreamIdentifier{StreamIdentifier: &streams.ReadReq_Options_FilterOptions_Expression{Prefix: []string{"s"}}},
					Window: &streams.ReadReq_Options_FilterOptions_Max{Max: 32}, CheckpointIntervalMultiplier: 1,
				}}
			}
			reading, err := streams.NewStreamsClient(dialInsecure(t, r.listener.Addr().String())).Read(testCtx(t), request)
			if err != nil {
				t.Fatal(err)
			}
			for {
				bytes, stalled := r.memory.stalledFor()
				if most := c.most + subscriptionPageBytes + int64(c.size); bytes > most {
					t.Fatalf("%d bytes are held, at most %d", bytes, most)
				}
				if stalled && bytes == c.most {
					break
				}
				if err := reading.Context().Err(); err != nil {
					t.Fatalf("%v: %d bytes are held, want %d", err, bytes, c.most)
				}
				runtime.Gosched()
			}
			var position, checkpoint uint64
			for next := 0; next < c.events; {
				m, err := reading.Recv()
				if err != nil {
					t.Fatal(err)
				}
				if at := m.GetCheckpoint().GetCommitPosition(); at != 0 {
					if at <= checkpoint || at < position {
						t.Fatalf("checkpoint %d after %d, event %d", at, checkpoint, position)
					}
					checkpoint = at
				}
				event := m.GetEvent()
				if event == nil || string(event.GetEvent().GetStreamIdentifier().GetStreamName()) != "s" {
					continue
				}
				if want := []byte(fmt.Sprintf("%6d", next)); !bytes.HasPrefix(event.Event.Data, want) {
					t.Fatalf("event %.6s instead of %s", event.Event.Data, want)
				}
				if position = event.GetCommitPosition(); position <= checkpoint {
					t.Fatalf("event %d after checkpoint %d", position, checkpoint)
				}
				next++
			}
			if c.filtered && checkpoint == 0 {
				t.Error("no checkpoint")
			}
		})
	}
}

// TestOutbound: what is handed over counts until it is given back, and whoever waits can leave.
func TestOutbound(t *testing.T) {
	t.Parallel()
	memory := newBudget(1<<20, silent)
	held := memory.hold(t.Context())
	o := &outbound{held: held, written: make(chan struct{}, 1)}
	if room, err := o.await(t.Context(), 0, nil); !room || err != nil {
		t.Fatal(room, err)
	}
	page := memory.hold(t.Context())
	if err := page.reserve(t.Context(), 3*queuedBytes); err != nil {
		t.Fatal(err)
	}
	o.keep(page, 2*queuedBytes)
	answer := o.handOver(make([]byte, 2*queuedBytes))
	page.release()
	if held.bytes != 2*queuedBytes || !o.isFull() {
		t.Fatal(held.bytes, o.bytes.Load())
	}
	if room, err := o.await(t.Context(), 1, nil); room || err != nil {
		t.Error("after its time:", room, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := o.await(cancelled, 0, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	closing := make(chan struct{})
	close(closing)
	if _, err := o.await(t.Context(), 0, closing); !errors.Is(err, errShuttingDown) {
		t.Error(err)
	}
	waits := make(chan error)
	go func() {
		_, err := o.await(t.Context(), 0, nil)
		waits <- err
	}()
	answer.Free()
	if err := <-waits; err != nil {
		t.Error(err)
	}
	if o.bytes.Load() != 0 || held.bytes != 0 || !memory.bytes.TryAcquire(1<<20) {
		t.Error("something stays reserved:", o.bytes.Load(), held.bytes)
	}
}

// TestALinkToALargeEventIsCounted: the memory of an answer is reserved by what it resolves to, and comes back.
func TestALinkToALargeEventIsCounted(t *testing.T) {
	t.Parallel()
	r := start(t)
	events := []struct {
		stream, kind string
		data         []byte
	}{{"target", "t", make([]byte, 500_000)}, {"links", eventlog.LinkType, []byte("0@target")}}
	for _, e := range events {
		if _, err := r.log.Append(t.Context(), e.stream, eventlog.Any(), []eventlog.Proposed{{ID: uuid.New(), Type: e.kind, Data: e.data}}); err != nil {
			t.Fatal(err)
		}
	}
	request := readRequestOf("links", true)
	request.Options.ResolveLinks = true
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reading, err := streams.NewStreamsClient(dialInsecure(t, r.listener.Addr().String())).Read(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	awaitHeld(t, r, queuedBytes+500_000+int64(len("0@target")))
	for m := (&streams.ReadResp{}); m.GetEvent().GetEvent() == nil; {
		if m, err = reading.Recv(); err != nil {
			t.Fatal(err)
		}
	}
	awaitHeld(t, r, queuedBytes)
	cancel()
	awaitHeld(t, r, 0)
}

// awaitHeld waits until so much is reserved by all calls together.
func awaitHeld(t *testing.T, r *running, want int64) {
	t.Helper()
	wait.Until(t, fmt.Sprintf("%d bytes are held", want), func() bool {
		held, _ := r.memory.stalledFor()
		return held == want
	})
}

// TestAConsumerThatReadsNothingLeaves: when its group is deleted, though its client takes no answer.
func TestAConsumerThatReadsNothingLeaves(t *testing.T) {
	t.Parallel()
	r := start(t)
	const events = 200
	for range events {
		if _, err := r.log.Append(t.Context(), "s", eventlog.Any(), []eventlog.Proposed{{ID: uuid.New(), Type: "t", Data: make([]byte, 1000)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.client.CreatePersistentSubscription(testCtx(t), "s", "g", esdb.PersistentStreamSubscriptionOptions{StartFrom: esdb.Start{}}); err != nil {
		t.Fatal(err)
	}
	reading, err := persistent.NewPersistentSubscriptionsClient(r.raw(t)).Read(t.Context()) // it outlasts the wait below
	if err != nil {
		t.Fatal(err)
	}
	options := &persistent.ReadReq_Options{StreamOption: &persistent.ReadReq_Options_StreamIdentifier{StreamIdentifier: streamToWire("s")}, GroupName: "g", BufferSize: events}
	if err := reading.Send(&persistent.ReadReq{Content: &persistent.ReadReq_Options_{Options: options}}); err != nil {
		t.Fatal(err)
	}
	taken := func() int64 {
		info, err := r.client.GetPersistentSubscriptionInfo(testCtx(t), "s", "g", esdb.GetPersistentSubscriptionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(info.Connections) == 0 {
			return 0
		}
		return info.Connections[0].TotalItemsProcessed
	}
	// the window of a client is 64 KiB; it has taken all that go there, and to what waits in the node
	ctx := testCtx(t)
	for before, same := int64(0), 0; same < 20; {
		now := taken()
		if same++; now != before || now == 0 {
			before, same = now, 0
		}
		if ctx.Err() != nil {
			t.Fatal("it takes no events, or more and more")
		}
	}
	if n := taken(); n >= events {
		t.Fatalf("%d events were taken for a client that reads none", n)
	}
	if err := r.client.DeletePersistentSubscription(testCtx(t), "s", "g", esdb.DeletePersistentSubscriptionOptions{}); err != nil {
		t.Fatal(err)
	}
	for ctx = testCtx(t); r.groups.consumers.count() > 0; runtime.Gosched() {
		if ctx.Err() != nil {
			t.Fatal("the consumer stays")
		}
	}
}
