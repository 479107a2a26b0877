//go:build bench

package bench

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"
)

const (
	liveWriters = 8
	liveBatch   = 100 // events of an append
)

// BenchmarkNodeSubscribe counts the events that all subscribers together receive, the bare log's beside them.
func BenchmarkNodeSubscribe(b *testing.B) {
	for _, live := range []struct{ subscribers, events int }{{1, 20_000}, {64, 4_000}} {
		b.Run(fmt.Sprintf("live/subscribers=%d", live.subscribers), func(b *testing.B) {
			compareSubscriptions(b, func(client *esdb.Client) float64 {
				return livePerSecond(b, client, live.subscribers, live.events)
			})
		})
	}
	b.Run("catch-up/all", func(b *testing.B) {
		compareSubscriptions(b, func(client *esdb.Client) float64 {
			return caughtUpPerSecond(b, func(ctx context.Context) (*esdb.Subscription, error) {
				return client.SubscribeToAll(ctx, esdb.SubscribeToAllOptions{From: esdb.Start{}})
			})
		})
	})
	b.Run("catch-up/stream", func(b *testing.B) {
		compareSubscriptions(b, func(client *esdb.Client) float64 {
			return caughtUpPerSecond(b, func(ctx context.Context) (*esdb.Subscription, error) {
				return client.SubscribeToStream(ctx, "bench-read", esdb.SubscribeToStreamOptions{From: esdb.Start{}})
			})
		})
	})
	b.Run("persistent", func(b *testing.B) { // every event is acknowledged; the peer is a subscription of the node without that
		for b.Loop() {
			client := connect(b, startNode(b))
			fillNode(b, client)
			var best, bestPlain float64
			for range nodeRounds {
				best = max(best, acknowledgedPerSecond(b, client))
				bestPlain = max(bestPlain, caughtUpPerSecond(b, func(ctx context.Context) (*esdb.Subscription, error) {
					return client.SubscribeToStream(ctx, "bench-read", esdb.SubscribeToStreamOptions{From: esdb.Start{}})
				}))
			}
			b.ReportMetric(best, "events/s")
			b.ReportMetric(best/bestPlain, "ratio-to-catch-up")
			b.ReportMetric(0, "ns/op")
		}
	})
}

func compareSubscriptions(b *testing.B, perSecond func(*esdb.Client) float64) {
	for b.Loop() {
		embedded, bare := connect(b, startNode(b)), connect(b, startBareLog(b))
		fillNode(b, embedded)
		var best, bestBare float64
		for range nodeRounds {
			bestBare = max(bestBare, perSecond(bare))
			best = max(best, perSecond(embedded))
		}
		b.ReportMetric(best, "events/s")
		b.ReportMetric(bestBare, "bare-events/s")
		b.ReportMetric(best/bestBare, "ratio")
		b.ReportMetric(0, "ns/op")
	}
}

// livePerSecond subscribes to the end of $all and appends.
func livePerSecond(b *testing.B, client *esdb.Client, subscribers, events int) float64 {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var receiving, appending sync.WaitGroup
	for range subscribers {
		s, err := client.SubscribeToAll(ctx, esdb.SubscribeToAllOptions{From: esdb.End{}})
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		receiving.Go(func() { receive(b, s, events) })
	}
	start := time.Now()
	for range liveWriters {
		appending.Go(func() {
			one, stream, last := clientAppends(client, liveBatch), "bench-"+uuid.NewString(), int64(-1)
			for range events / liveWriters / liveBatch {
				var err error
				if last, err = one(stream, last); err != nil {
					b.Error(err)
					cancel()
					return
				}
			}
		})
	}
	appending.Wait()
	receiving.Wait()
	return float64(subscribers*events) / time.Since(start).Seconds()
}

// caughtUpPerSecond subscribes to what was appended before.
func caughtUpPerSecond(b *testing.B, subscribe func(context.Context) (*esdb.Subscription, error)) float64 {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	start := time.Now()
	s, err := subscribe(ctx)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	receive(b, s, nodeReadEvents)
	return nodeReadEvents / time.Since(start).Seconds()
}

// receive receives that many events.
func receive(b *testing.B, s *esdb.Subscription, events int) {
	for n := 0; n < events; {
		e := s.Recv()
		if e.SubscriptionDropped != nil {
			b.Error(e.SubscriptionDropped.Error)
			return
		}
		if e.EventAppeared != nil {
			n++
		}
	}
}

// acknowledgedPerSecond lets one consumer of a group take the events of a stream and acknowledge each.
func acknowledgedPerSecond(b *testing.B, client *esdb.Client) float64 {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	group := uuid.NewString()
	if err := client.CreatePersistentSubscription(ctx, "bench-read", group, esdb.PersistentStreamSubscriptionOptions{StartFrom: esdb.Start{}}); err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	s, err := client.SubscribeToPersistentSubscription(ctx, "bench-read", group, esdb.SubscribeToPersistentSubscriptionOptions{BufferSize: 500})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for n := 0; n < nodeReadEvents; {
		e := s.Recv()
		if e.SubscriptionDropped != nil {
			b.Fatal(e.SubscriptionDropped.Error)
		}
		if e.EventAppeared == nil {
			continue
		}
		if err := s.Ack(e.EventAppeared.Event); err != nil {
			b.Fatal(err)
		}
		n++
	}
	took := time.Since(start)
	if err := client.DeletePersistentSubscription(ctx, "bench-read", group, esdb.DeletePersistentSubscriptionOptions{}); err != nil {
		b.Fatal(err)
	}
	return nodeReadEvents / took.Seconds()
}
