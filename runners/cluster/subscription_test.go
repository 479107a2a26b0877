package cluster_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/domain"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/eventstore/memory"
	"reckon/runners/cluster"
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

// startHub runs a hub until the test's end.
func startHub(t *testing.T, log *memory.Store, listeners ...func(event.Recorded)) *cluster.Hub {
	hub := cluster.NewHub()
	for _, l := range listeners {
		hub.Listen(l)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- hub.Run(ctx, log, event.Position{}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return hub
}

func TestHubWakesWhoWaits(t *testing.T) {
	log := memory.New(domain.Catalogue())
	hub := startHub(t, log)
	one, stopOne := hub.Watch("j")
	two, stopTwo := hub.Watch("j")
	other, stopOther := hub.Watch("k")
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
		t.Error("woken after stop")
	default:
	}
}

// TestHubHasReachedWhereItBegan: a log on which nothing happens after a restart
// has been followed to its end, and nobody waits for more.
func TestHubHasReachedWhereItBegan(t *testing.T) {
	log := memory.New(domain.Catalogue())
	appendTo(t, log, run.Stream(7), run.TimedOut{Subject: run.Subject{RunID: 7}})
	head, err := log.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hub := cluster.NewHub()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _ = hub.Run(ctx, log, head) }()
	bounded, done := context.WithTimeout(t.Context(), time.Minute)
	defer done()
	if err := hub.Reach(bounded, head); err != nil {
		t.Error(err)
	}
}
