package burst_test

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"reckon/domain/burst"
	"reckon/domain/certificate"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/run"
)

const minute = 60_000

// agentOf is one of a few agents of two accounts.
func agentOf(n int) burst.Agent {
	return burst.Agent{Account: fmt.Sprint("account-", n%2), Credential: fmt.Sprint("token:", n), Source: event.SourceWeb, Client: "curl"}
}

// drawActivities draws activities of few agents, at times on both sides of the gap.
func drawActivities(t *rapid.T) []burst.Activity {
	drawn := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) burst.Activity {
		agent := agentOf(rapid.IntRange(0, 2).Draw(t, "agent"))
		at := int64(rapid.IntRange(-40, 40).Draw(t, "half gaps"))*burst.GapMS/2 + int64(rapid.IntRange(-1, 1).Draw(t, "ms"))
		a := burst.Activity{AtMS: at, AgentID: agent.ID(), Account: agent.Account, Source: agent.Source, Client: agent.Client,
			Type: rapid.SampledFrom(burst.Types()).Draw(t, "type"), Verdict: rapid.SampledFrom([]burst.Verdict{"", "verified", "refuted", "inconclusive"}).Draw(t, "verdict"),
			Failed: rapid.Bool().Draw(t, "failed")}
		if a.Type == burst.Evaluation {
			a.RunID = int64(rapid.IntRange(1, 9).Draw(t, "run"))
		}
		return a
	}), 1, 60).Draw(t, "activities")
	for i := range drawn {
		drawn[i].Position, drawn[i].Key, drawn[i].Label = int64(i+1), fmt.Sprintf("run-%d@0", i+1), fmt.Sprint("label ", i+1)
	}
	return drawn
}

// chains groups activities as the definition says and no faster: two of one agent are of one burst
// when they are within the gap of each other, or both of one burst with a third.
func chains(activities []burst.Activity) [][]burst.Activity {
	group := make([]int, len(activities))
	for i := range group {
		group[i] = i
	}
	for changed := true; changed; {
		changed = false
		for i, a := range activities {
			for j, b := range activities {
				if apart := max(a.AtMS-b.AtMS, b.AtMS-a.AtMS); a.AgentID == b.AgentID && apart <= burst.GapMS && group[j] < group[i] {
					group[i], changed = group[j], true
				}
			}
		}
	}
	members := map[int][]burst.Activity{}
	for i, a := range activities {
		members[group[i]] = append(members[group[i]], a)
	}
	var all [][]burst.Activity
	for _, m := range members {
		slices.SortFunc(m, func(a, b burst.Activity) int {
			return cmp.Or(cmp.Compare(a.AtMS, b.AtMS), cmp.Compare(a.Position, b.Position))
		})
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b []burst.Activity) int {
		return cmp.Or(cmp.Compare(a[0].AtMS, b[0].AtMS), cmp.Compare(a[0].Position, b[0].Position))
	})
	return all
}

func TestDeriveIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		activities := drawActivities(t)
		want := chains(activities)
		shuffled := rapid.Permutation(append(slices.Clone(activities), activities[0])).Draw(t, "order, one twice")
		got := burst.Derive(shuffled)
		if len(got) != len(want) {
			t.Fatalf("%d bursts, want %d", len(got), len(want))
		}
		ids := map[string]bool{}
		for i, b := range got {
			members := want[i]
			if !reflect.DeepEqual(b.Activities, members) {
				t.Fatalf("burst %d has\n%+v\nwant\n%+v", i, b.Activities, members)
			}
			first, last := members[0], members[len(members)-1]
			if b.First.AtMS != first.AtMS || b.Last.AtMS != last.AtMS || b.FirstKey != first.Key || b.Preview != first.Label || b.DurationMS() != last.AtMS-first.AtMS {
				t.Errorf("burst %d spans %+v to %+v from %s", i, b.First, b.Last, b.FirstKey)
			}
			if ids[b.ID()] {
				t.Errorf("two bursts have the id %s", b.ID())
			}
			ids[b.ID()] = true
			counts := map[string]int64{}
			runs := []int64{}
			for _, a := range members {
				counts[string(a.Type)]++
				counts[string(a.Verdict)]++
				if a.Failed {
					counts["failed"]++
				}
				if a.Type == burst.Evaluation {
					runs = append(runs, a.RunID)
				}
			}
			wantCounts := []int64{int64(len(members)), counts["evaluation"], counts["job_submitted"], counts["check"], counts["failed"], counts["verified"], counts["refuted"]}
			if is := []int64{b.Burst.Activities, b.Evaluations, b.Jobs, b.Checks, b.Failures, b.Verified, b.Refuted}; !slices.Equal(is, wantCounts) {
				t.Errorf("burst %d counts %v, want %v", i, is, wantCounts)
			}
			firstRun, lastRun := int64(0), int64(0)
			if len(runs) > 0 {
				firstRun, lastRun = runs[0], runs[len(runs)-1]
			}
			if b.FirstRun != firstRun || b.LastRun != lastRun {
				t.Errorf("burst %d has runs %d to %d, want %d to %d", i, b.FirstRun, b.LastRun, firstRun, lastRun)
			}
		}
	})
}

func TestJoinInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		activities := drawActivities(t)
		for i := range activities { // of one agent
			activities[i].AgentID, activities[i].Account = activities[0].AgentID, activities[0].Account
		}
		joined := func(order []burst.Activity) burst.Burst {
			b := burst.Of(order[0])
			for _, a := range order[1:] {
				b = b.Join(burst.Of(a))
			}
			return b
		}
		other := rapid.Permutation(activities).Draw(t, "order")
		cut := rapid.IntRange(1, len(other)).Draw(t, "cut")
		want := joined(activities)
		if got := joined(other); got != want {
			t.Fatalf("%+v\n%+v", got, want)
		}
		if cut < len(other) {
			if got := joined(other[cut:]).Join(joined(other[:cut])); got != want {
				t.Fatalf("%+v\n%+v", got, want)
			}
		}
	})
}

func TestAnAgentIsFourFields(t *testing.T) {
	agents := []burst.Agent{
		{"a", "b", "c", "d"}, {"a", "bc", "", "d"}, {"ab", "", "c", "d"}, {"a", "b", "cd", ""}, {"", "", "", ""}, {"a", "b", "c", "e"}, {"a", "b", "e", "d"}, {"a", "e", "c", "d"},
	}
	ids := map[string]bool{}
	for _, a := range agents {
		ids[a.ID()] = true
		if len(a.ID()) != 32 {
			t.Error(a.ID())
		}
	}
	if len(ids) != len(agents) {
		t.Errorf("%d agents have %d ids", len(agents), len(ids))
	}
}

// TestRead reads one event of every type, of one agent: two requests, a job and its certificate.
func TestRead(t *testing.T) {
	at := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	asked := event.Metadata{Actor: "token:t", Source: event.SourceMCP, Agent: "notebook/2"}
	runner := event.Metadata{Actor: "runner:r", Source: event.SourceJob, Agent: "notebook/2"}
	reaction := event.Metadata{Actor: "reaction:complete_submission", Requester: "token:t", Source: event.SourceMCP, Agent: "notebook/2"}
	agent := burst.Agent{Account: "a", Credential: "token:t", Source: event.SourceMCP, Client: "notebook/2"}
	subject := run.Subject{RunID: 1, Account: "a", Expression: event.Inline("1+1")}
	ofJob := run.Subject{RunID: 2, Account: "a", Expression: event.Inline("2+2"), JobID: "j", Source: event.SourceJob}
	long := strings.Repeat("é", 150)
	queued := job.WasQueued{Submission: job.Submission{JobID: "j", Account: "a", Kind: "evaluate", RunID: 2, Payload: event.Inline("2+2")}}
	proof := job.WasQueued{Submission: job.Submission{JobID: "p", Account: "a", Kind: "proof", CertificateID: "c", Payload: event.Inline("{}")}}
	ended := func(id, publish string) job.Outcome {
		return job.Outcome{JobID: id, PublishTo: publish, FinishedAt: event.Timestamp(at.Add(90 * time.Second))}
	}
	r := burst.NewReader("a")
	revisions := map[string]event.Revision{}
	position := uint64(0)
	add := func(stream string, m event.Metadata, e event.Event) {
		position++
		m.At = at.Add(time.Duration(position) * time.Second)
		r.Add(event.Recorded{Stream: stream, Revision: revisions[stream], Position: event.Position{Commit: position}, Event: e, Metadata: m})
		revisions[stream]++
	}
	other := asked
	other.Actor = "token:other"
	add("run-9", asked, run.Evaluated{Subject: run.Subject{RunID: 9, Account: "b"}})
	add("job-x", runner, job.HasSucceeded{Outcome: ended("x", "")}) // never submitted
	add("run-1", asked, run.Evaluated{Subject: subject, Status: run.Unevaluated, ExecutionMS: 7, Check: &run.Check{Verdict: run.VerdictVerified}})
	add("run-1", asked, run.Sealed{RunID: 1})
	add("run-1", asked, run.Verified{RunID: 1, Account: "a", Check: run.Check{Verdict: run.VerdictRefuted, Method: "m", ElapsedMS: 4}})
	add("run-3", asked, run.TimedOut{Subject: run.Subject{RunID: 3, Account: "a", Expression: event.Inline(long)}, BudgetMS: 3000})
	add("run-4", asked, run.Failed{Subject: run.Subject{RunID: 4, Account: "a", Expression: event.Text{Blob: &event.Blob{Bytes: 20_000}}}, ExecutionMS: 5})
	add("job-j", reaction, queued)
	add("job-j", runner, job.WasClaimed{JobID: "j"})
	add("job-j", runner, job.HasTimedOut{Outcome: ended("j", "run-2")})
	add("run-2", runner, run.TimedOut{Subject: ofJob, BudgetMS: 60_000})
	add("job-p", asked, proof)
	add("job-p", runner, job.WasLost{JobID: "p", FinishedAt: "soon"})
	add("certificate-c", runner, certificate.Issued{CertificateID: "c", JobID: "p", Account: "a", AboutRunID: 1, Verdict: certificate.Rejected, ElapsedMS: 9,
		Findings: certificate.Findings{Declarations: []certificate.Declaration{{Name: "A.b"}, {Name: "A.c"}}}})
	add("job-q", other, job.WasQueued{Submission: job.Submission{JobID: "q", Account: "a", Kind: "qsim"}})
	add("job-q", asked, job.WasCancelled{JobID: "q", FinishedAt: event.Timestamp(at)}) // by another agent, before it was submitted by its clock

	type short struct {
		key     string
		typ     burst.Type
		run     int64
		job     string
		label   string
		status  string
		ms      int64
		verdict string
		failed  bool
	}
	var got []short
	for _, a := range r.Activities() {
		got = append(got, short{a.Key, a.Type, a.RunID, a.JobID, a.Label, string(a.Status), a.DurationMS, string(a.Verdict), a.Failed})
		want := agent
		if a.JobID == "q" {
			want.Credential = "token:other"
		}
		if a.AgentID != want.ID() || a.Account != "a" || a.Source != event.SourceMCP || a.Client != "notebook/2" {
			t.Errorf("%s is of another agent: %+v", a.Key, a)
		}
	}
	want := []short{
		{"run-1@0", burst.Evaluation, 1, "", "1+1", "unevaluated", 7, "verified", false},
		{"run-1@2", burst.Check, 1, "", "m", "", 4, "refuted", false},
		{"run-3@0", burst.Evaluation, 3, "", strings.Repeat("é", 100), "timeout", 3000, "", true},
		{"run-4@0", burst.Evaluation, 4, "", "an expression of 20000 bytes", "error", 5, "", true},
		{"job-j@0", burst.JobSubmitted, 0, "j", "evaluate: 2+2", "queued", 0, "", false},
		{"job-j@2", burst.JobEnded, 0, "j", "evaluate: 2+2", "timeout", 90_000 - 8000, "", false},
		{"run-2@0", burst.Evaluation, 2, "j", "2+2", "timeout", 60_000, "", true},
		{"job-p@0", burst.JobSubmitted, 0, "p", "proof", "queued", 0, "", false},
		{"job-p@1", burst.JobEnded, 0, "p", "proof", "lost", 1000, "", true},
		{"certificate-c@0", burst.CertificateIssued, 1, "p", "A.b, A.c", "", 9, "rejected", false},
		{"job-q@0", burst.JobSubmitted, 0, "q", "qsim", "queued", 0, "", false},
		{"job-q@1", burst.JobEnded, 0, "q", "qsim", "cancelled", 0, "", false},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if got[0].key != burst.RunKey(1) || got[4].key != burst.JobKey("j") {
		t.Error("RunKey and JobKey name other events")
	}
}

// TestLateActivity joins two bursts, and moves the beginning of another: their ids stop deriving.
func TestLateActivity(t *testing.T) {
	of := func(position, atMS int64) burst.Activity {
		return burst.Activity{Key: fmt.Sprint(position), Position: position, AtMS: atMS, AgentID: "a"}
	}
	ids := func(activities ...burst.Activity) (ids []string) {
		for _, b := range burst.Derive(activities) {
			ids = append(ids, b.ID())
		}
		return ids
	}
	one, two := of(1, 0), of(2, 8*minute)
	apart := ids(one, two)
	if len(apart) != 2 {
		t.Fatalf("%d bursts", len(apart))
	}
	if joined := ids(one, two, of(3, 4*minute)); !slices.Equal(joined, apart[:1]) {
		t.Errorf("joined to %v, which was %v", joined, apart)
	}
	if moved := ids(one, two, of(3, -minute)); len(moved) != 2 || moved[0] == apart[0] || moved[1] != apart[1] {
		t.Errorf("an earlier activity left %v, which was %v", moved, apart)
	}
	if at := ids(one, of(2, 5*minute)); len(at) != 1 {
		t.Error("a gap of exactly five minutes ended a burst")
	}
	if over := ids(one, of(2, 5*minute+1)); len(over) != 2 {
		t.Error("a gap of more than five minutes did not end a burst")
	}
}
