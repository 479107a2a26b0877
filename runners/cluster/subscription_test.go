package cluster_test

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"reckon/domain"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/eventstore/memory"
	"reckon/runners/cluster"
	"reckon/test/wait"
)

func appendTo(t *testing.T, log *memory.Store, stream string, events ...event.Event) {
	t.Helper()
	history, err := log.Read(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	proposed := make([]event.Proposed, len(events))
	for i, e := range events {
		proposed[i] = event.Proposed{ID: uuid.NewString(), Event: e}
	}
	if _, err := log.Append(t.Context(), stream, history.Revision, proposed); err != nil {
		t.Fatal(err)
	}
}

// startSubscription runs a subscription until the test's end.
func startSubscription(t *testing.T, log *memory.Store, listeners ...func(event.Recorded)) *cluster.Subscription {
	subscription := cluster.NewSubscription()
	for _, l := range listeners {
		subscription.Listen(l)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- subscription.Run(ctx, log, event.Position{}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return subscription
}

func TestSubscriptionNotifiesWaiters(t *testing.T) {
	t.Parallel()
	log := memory.New(domain.Catalogue())
	subscription := startSubscription(t, log)
	one, stopOne := subscription.NotifyJobEnded("j")
	two, stopTwo := subscription.NotifyJobEnded("j")
	other, stopOther := subscription.NotifyJobEnded("k")
	appendTo(t, log, job.Stream("j"), job.HasSucceeded{Outcome: job.Outcome{JobID: "j", PublishTo: run.Stream(7)}})
	<-one
	<-two
	stopTwo()
	appendTo(t, log, run.Stream(7), run.TimedOut{Subject: run.Subject{RunID: 7}})
	<-one // the run is there
	stopOne()
	appendTo(t, log, job.Stream("k"), job.WasCancelled{JobID: "k"})
	<-other
	stopOther()
	select {
	case <-two:
		t.Error("notified after stop")
	default:
	}
}

// TestSubscriptionHasReachedItsStart: a log on which nothing happens after a restart
// has been followed to its end, and nobody waits for more.
func TestSubscriptionHasReachedItsStart(t *testing.T) {
	t.Parallel()
	log := memory.New(domain.Catalogue())
	appendTo(t, log, run.Stream(7), run.TimedOut{Subject: run.Subject{RunID: 7}})
	head, err := log.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	subscription := cluster.NewSubscription()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _ = subscription.Run(ctx, log, head) }()
	bounded, done := context.WithTimeout(t.Context(), wait.Longest)
	defer done()
	if err := subscription.WaitUntilReached(bounded, head); err != nil {
		t.Error(err)
	}
}
