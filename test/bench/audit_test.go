//go:build bench

package bench

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"flag"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"reckon/domain"
	"reckon/domain/account"
	"reckon/domain/audit"
	"reckon/domain/audit/audittest"
	"reckon/domain/event"
	"reckon/domain/job"
	"reckon/domain/keys"
	"reckon/domain/run"
	"reckon/eventstore"
	"reckon/eventstore/node/eventlog"
	"reckon/projections/auditor"
)

var (
	auditEvents = flag.Int("audit.events", 20_000, "events of the log that is audited")
	auditRounds = flag.Int("audit.rounds", 3, "how often each is measured; the best counts")
)

const (
	auditJobEvery  = 20 // every so many runs one comes from a job
	auditRatioGoal = 2.0
	auditHeldGoal  = 64.0 // bytes of heap an event
)

// BenchmarkAudit measures an audit of a log's folder, as a ratio to reading it with all its checksums and links and verifying the
// signature of each receipt, on as many cores: in turns, by the time of the cores, which what else the machine does changes least,
// and by the clock.
func BenchmarkAudit(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "log")
	public := auditLog(b, dir)
	for b.Loop() {
		var audited, bare duration
		var counts audit.Counts
		var heap uint64
		for range *auditRounds {
			audited.keepBest(measured(b, func() {
				report, err := auditor.Run(b.Context(), auditor.Config{Source: auditor.Folder{Dir: dir}, Reader: audit.Reader{Catalogue: domain.Catalogue(), Unmarshal: eventstore.Unmarshal}})
				if err != nil {
					b.Fatal(err)
				}
				for _, f := range report.Findings {
					if f.Severity != audit.Note {
						b.Fatal(f)
					}
				}
				counts = report.Counts
			}))
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			heap = memory.HeapSys
			bare.keepBest(measured(b, func() {
				if verified := bareSignatures(b, dir, public); verified != counts.Signatures {
					b.Fatalf("%d signatures, the audit has %d", verified, counts.Signatures)
				}
			}))
		}
		ratio, clock := audited.cpu.Seconds()/bare.cpu.Seconds(), audited.wall.Seconds()/bare.wall.Seconds()
		b.ReportMetric(ratio, "ratio")
		b.ReportMetric(clock, "clock_ratio")
		b.ReportMetric(float64(counts.Events)/audited.cpu.Seconds(), "audited_events/core_s")
		b.ReportMetric(float64(counts.Events)/bare.cpu.Seconds(), "bare_events/core_s")
		b.ReportMetric(float64(heap)/(1<<20), "heap_MiB")
		b.Logf("%d events, %d signatures: ratio %.2f by cores, %.2f by the clock (goal at most %.1f)", counts.Events, counts.Signatures, ratio, clock, auditRatioGoal)
	}
}

// BenchmarkAuditState measures what an auditor holds of the log that BenchmarkAudit audits, when nothing else is alive: bytes of heap an event.
func BenchmarkAuditState(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "log")
	auditLog(b, dir)
	reader := audit.Reader{Catalogue: domain.Catalogue(), Unmarshal: eventstore.Unmarshal}
	for b.Loop() {
		before := liveHeap()
		auditing, events := audit.New(audit.Config{}), 0
		if _, err := (auditor.Folder{Dir: dir}).Read(b.Context(), func(s audit.Stored) error {
			it, err := reader.Prepare(b.Context(), s)
			if err == nil {
				auditing.Take(it)
				events++
			}
			return err
		}); err != nil {
			b.Fatal(err)
		}
		held := (liveHeap() - before) / float64(events)
		if found := auditing.Found(); found > 0 { // it is alive up to here
			b.Fatalf("%d findings", found)
		}
		b.ReportMetric(held, "held_B/event")
		b.ReportMetric(held/auditHeldGoal, "ratio")
		b.Logf("%d events: %.1f bytes of heap an event are held (goal at most %.0f)", events, held, auditHeldGoal)
	}
}

func liveHeap() float64 {
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return float64(memory.HeapAlloc)
}

// bareSignatures reads the log and verifies the signatures of its receipts.
func bareSignatures(b *testing.B, dir string, public ed25519.PublicKey) (verified int64) {
	b.Helper()
	type sealed struct {
		Canonical event.Text `json:"canonical"`
		Signature string     `json:"signature"`
	}
	work := make(chan []byte, 1024)
	var running sync.WaitGroup
	var mu sync.Mutex
	for range runtime.GOMAXPROCS(0) {
		running.Go(func() {
			n := int64(0)
			for data := range work {
				var e sealed
				if err := json.Unmarshal(data, &e); err != nil {
					b.Error(err)
				}
				signature, err := base64.StdEncoding.DecodeString(e.Signature)
				if err == nil && ed25519.Verify(public, []byte(e.Canonical.Inline), signature) {
					n++
				}
			}
			mu.Lock()
			verified += n
			mu.Unlock()
		})
	}
	_, err := eventlog.ReadFolder(b.Context(), dir, nil, func(r *eventlog.Record) error {
		if r.Type == "receipt.sealed" {
			work <- append([]byte(nil), r.Data...)
		}
		return nil
	})
	close(work)
	running.Wait()
	if err != nil {
		b.Fatal(err)
	}
	return verified
}

// auditLog writes a log of runs with their receipts, some of them from jobs.
func auditLog(b *testing.B, dir string) ed25519.PublicKey {
	b.Helper()
	log, err := eventlog.Open(eventlog.Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	l, signing := audittest.New("the key of the bench"), audittest.Signing{}
	written := 0
	var last *eventlog.Pending
	flush := func() {
		for _, s := range l.Stored(b) {
			p, err := log.Submit(b.Context(), s.Stream, eventlog.Any(), []eventlog.Proposed{{ID: uuid.MustParse(s.ID), Type: s.Name, JSON: true, Data: s.Data, Metadata: s.Metadata}})
			if err != nil {
				b.Fatal(err)
			}
			last = p
			written++
		}
		l.Events = l.Events[:0]
	}
	l.AddName()
	l.PublishKey(l.Signer)
	l.Add("keys", "", keys.Activated{KID: l.KID, At: l.At()})
	l.Add("account-"+audittest.Alice, audittest.Alice, account.Registered{Account: audittest.Alice, Plan: "free"})
	for n := int64(1); written < *auditEvents; n++ {
		if n%run.BlockSize == 1 {
			l.Add("runids", "", run.Reserved{Process: audittest.Process})
		}
		auditRun(l, n)
		signing.Take(l.Events)
		if n%auditJobEvery == 0 || written+len(l.Events) >= *auditEvents {
			signing.Sign(l)
		}
		flush()
	}
	if _, err := last.Wait(context.WithoutCancel(b.Context())); err != nil {
		b.Fatal(err)
	}
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
	public, _ := l.Signer.Public().(ed25519.PublicKey)
	return public
}

// auditRun adds a run; one of many is a job's.
func auditRun(l *audittest.Log, n int64) {
	const expression, answer = "Integrate[x^2 Sin[x] + Exp[-x], {x, 0, 1}]", "2*Cos[1] + 2*Sin[1] - 1 - 1/E"
	subject := l.Subject(n, expression)
	e := run.Evaluated{Subject: subject, Answer: event.Inline(answer), InputForm: event.Inline(answer), Checkable: true, Status: run.Success,
		Engine: run.Engine{Name: "woxi", Revision: "1"}, ExecutionMS: 3, EvaluatedAt: l.At()}
	stream := run.Stream(n)
	if n%auditJobEvery != 0 {
		l.Add(stream, audittest.Alice, e, l.Seal(e, expression, answer, ""))
		return
	}
	l.Now = l.Now.Add(time.Minute)
	e.EvaluatedAt = l.At()
	id := l.NewID()
	e.JobID, e.Source = id, event.SourceJob
	l.Submit(job.Submission{JobID: id, Kind: "evaluate", Payload: event.Inline(expression), RunID: n})
	nonce := l.Claim(id, 1)
	sealed := l.Seal(e, expression, answer, "")
	l.Add(job.Stream(id), audittest.Alice, job.HasSucceeded{Outcome: job.Outcome{JobID: id, Nonce: nonce,
		Publish: audittest.Embed(e, sealed), PublishTo: stream, FinishedAt: l.At()}})
	l.Add(stream, audittest.Alice, e, sealed)
}
