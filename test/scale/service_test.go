package scale

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"testing"

	"reckon/domain/job"
	"reckon/test/binary"
	"reckon/test/e2e"
	"reckon/test/wait"
)

// counted is what `reckon node stats --json` says of a log.
type counted struct {
	Events       float64 `json:"events"`
	PayloadBytes float64 `json:"payload_bytes"`
	SegmentBytes float64 `json:"segment_bytes"`
	Types        []struct {
		Name   string  `json:"name"`
		Events float64 `json:"events"`
		Bytes  float64 `json:"bytes"`
	} `json:"largest_types"`
}

// ofWork are the types of events that evaluations and jobs write; the others are an installation's: keys, accounts, checkpoints.
var ofWork = []string{"run.evaluated", "receipt.sealed", "slots.spent", "job.queued", "job.claimed", "job.succeeded"}

func (c counted) work() Cost {
	var sum Cost
	for _, of := range c.Types {
		for _, name := range ofWork {
			if of.Name == name {
				sum.Events, sum.Bytes = sum.Events+of.Events, sum.Bytes+of.Bytes
			}
		}
	}
	return sum
}

func count(t *testing.T, s *e2e.Server) counted {
	t.Helper()
	folder := filepath.Join(s.Data, "eventstore")
	stats, err := exec.Command(binary.Reckon(t), "node", "stats", "--json", "--largest", "100", "--data", folder).Output()
	var c counted
	if err := errors.Join(err, json.Unmarshal(stats, &c)); err != nil {
		t.Fatalf("%v: %s", err, stats)
	}
	return c
}

// TestCostsAreWhatTheServiceWrites: the events of evaluations and jobs exactly, and their bytes within a tenth, as the real
// service writes them; then of a mixture, and of the files.
func TestCostsAreWhatTheServiceWrites(t *testing.T) {
	t.Parallel()
	data := e2e.DataFolder(t)
	server := e2e.Start(t, data, "--config", e2e.GenerousPlans(t, data))
	a := server.NewAccount("anna@example.com")
	evaluate := func(n int) {
		for i := range n {
			if err := a.JSON("POST", "/api/evaluate", map[string]any{"expression": fmt.Sprintf("Integrate[x^%d Sin[x], x]", 1+i%3)}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	compute := func(n int) {
		for i := range n {
			var submitted, ended struct {
				JobID  string     `json:"job_id"`
				Status job.Status `json:"status"`
				RunID  int64      `json:"run_id"`
			}
			if err := a.JSON("POST", "/api/jobs", map[string]any{"expression": fmt.Sprintf("Factor[x^%d - 1]", 6+i%3)}, &submitted); err != nil {
				t.Fatal(err)
			}
			for ended.Status != job.Succeeded {
				if err := a.JSON("GET", "/api/jobs/"+submitted.JobID+"?wait_ms=25000", nil, &ended); err != nil {
					t.Fatal(err)
				}
			}
			wait.Until(t, "the receipt of the run is served", func() bool { // its run is appended after its end
				return a.JSON("GET", fmt.Sprintf("/api/receipts/%d", ended.RunID), nil, nil) == nil
			})
		}
	}
	expect := func(what string, before, after counted, want Cost) {
		t.Helper()
		b, e := before.work(), after.work()
		events, bytes := e.Events-b.Events, e.Bytes-b.Bytes
		t.Logf("%s: %.0f events, %.0f bytes; the model says %.0f and %.0f", what, events, bytes, want.Events, want.Bytes)
		if events != want.Events || math.Abs(bytes-want.Bytes) > want.Bytes/10 {
			t.Errorf("%s: %.0f events and %.0f bytes, the model says %.0f and %.0f", what, events, bytes, want.Events, want.Bytes)
		}
	}
	began := count(t, server)
	evaluate(20)
	evaluated := count(t, server)
	expect("20 evaluations", began, evaluated, Cost{Events: 20 * Measured.Evaluation.Events, Bytes: 20 * Measured.Evaluation.Bytes})
	compute(10)
	computed := count(t, server)
	expect("10 jobs", evaluated, computed, Cost{Events: 10 * Measured.Job.Events, Bytes: 10 * Measured.Job.Bytes})
	evaluate(7)
	compute(3)
	evaluate(4)
	mixed := count(t, server)
	expect("11 evaluations and 3 jobs", computed, mixed, Cost{
		Events: 11*Measured.Evaluation.Events + 3*Measured.Job.Events, Bytes: 11*Measured.Evaluation.Bytes + 3*Measured.Job.Bytes,
	})
	written := mixed.SegmentBytes - began.SegmentBytes - (mixed.PayloadBytes - began.PayloadBytes)
	if each := written / (mixed.Events - began.Events); math.Abs(each-RecordOverhead) > RecordOverhead/5 {
		t.Errorf("a record has %.0f bytes besides its payload, the model says %d", each, RecordOverhead)
	}
}
