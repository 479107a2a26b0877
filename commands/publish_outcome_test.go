package commands_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/uuid"

	"reckon/commands"
	"reckon/domain"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
	"reckon/eventstore/memory"
)

// counted is an event that counts how often it is written and read as JSON.
type counted struct{ written *int }

// readings counts decodings: a decoder makes the value it fills, so the count has no other place.
var readings int

func (counted) EventName() string { return "test.counted" }

func (c counted) MarshalJSON() ([]byte, error) {
	*c.written++
	return []byte(`{"a":1}`), nil
}

func (c *counted) UnmarshalJSON([]byte) error {
	readings++
	return nil
}

// TestAnOutcomeIsEncodedOnce: what a job publishes is encoded when the job ends, and appended as it is, by the runner and by
// the reaction alike.
func TestAnOutcomeIsEncodedOnce(t *testing.T) {
	catalogue := maps.Clone(domain.Catalogue())
	catalogue["test.counted"] = event.Of(counted{})
	l := newLog(t)
	l.Store = memory.New(catalogue)
	j := newJobs(l)
	s := claim(t, j, submit(t, j, submission("1+1", "")).Job.Queued.JobID, "n")

	written := 0
	readings = 0
	publish, err := catalogue.Embed(counted{written: &written})
	if err != nil {
		t.Fatal(err)
	}
	state, err := j.FinishJob(t.Context(), intentOf(anna), job.Succeeded,
		job.Outcome{JobID: s.Queued.JobID, Nonce: "n", Publish: publish, PublishTo: run.Stream(s.Queued.RunID)})
	if err != nil {
		t.Fatal(err)
	}
	read, err := j.Read(t.Context(), state.Queued.JobID)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.PublishOutcome(t.Context(), commands.Intent{ID: uuid.New()}, read); err != nil { // as the reaction does
		t.Fatal(err)
	}
	if written != 1 || readings != 0 {
		t.Errorf("written %d times and read %d times, want once and never", written, readings)
	}
	history, err := l.Read(t.Context(), run.Stream(s.Queued.RunID))
	if err != nil || len(history.Events) != 1 || history.Events[0].Metadata.Version != 1 || readings != 1 {
		t.Errorf("%d events, %d readings, %v", len(history.Events), readings, err)
	}
}

// TestAnUnknownEventIsNotPublished: a binary that does not know an event, or its version, appends nothing.
func TestAnUnknownEventIsNotPublished(t *testing.T) {
	l := newLog(t)
	j := newJobs(l)
	for name, e := range map[string]event.Embedded{
		"unknown name":    {Name: "run.dreamt", Version: 1, Data: json.RawMessage(`{}`)},
		"unknown version": {Name: "run.evaluated", Version: 1000, Data: json.RawMessage(`{}`)},
	} {
		s := job.State{Status: job.Succeeded, Outcome: job.Outcome{Publish: []event.Embedded{e}, PublishTo: run.Stream(7)}}
		if err := j.PublishOutcome(t.Context(), intentOf(anna), s); err == nil {
			t.Errorf("%s: published", name)
		}
	}
	if got := l.names(run.Stream(7)); got != "" {
		t.Errorf("stream: %s", got)
	}
}
