package audit

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reckon/commands"
	"reckon/domain"
	"reckon/domain/audit"
	"reckon/domain/audit/audittest"
	"reckon/domain/event"
	"reckon/domain/expression"
	"reckon/domain/run"
	"reckon/eventstore"
	"reckon/internal/blobs"
	"reckon/projections/auditor"
	"reckon/runners/adapter"
	"reckon/runners/checker"
	"reckon/runners/checker/checkertest"
	"reckon/runners/engine"
	"reckon/runners/engine/enginetest"
	"reckon/runners/fair"
)

// realChecker is the engine with its checker, as the service has it.
func realChecker(t *testing.T) func(context.Context, audit.Answered) (run.Check, error) {
	t.Helper()
	started, err := engine.Start(t.Context(), engine.Options{Environment: enginetest.Environment(t), Concurrency: 2})
	must(t, err)
	t.Cleanup(func() { _ = started.Close(context.WithoutCancel(t.Context())) }) // the test has ended
	checks := checkertest.Start(t, checker.Options{})
	asked := adapter.Checker{Engine: started, Checker: checks, Places: fair.NewPool(2)}
	return func(ctx context.Context, a audit.Answered) (run.Check, error) {
		tree, err := expression.Parse(a.Expression)
		if err != nil {
			tree = nil
		}
		return asked.Check(ctx, commands.CheckRequest{Account: a.Account, Code: a.Expression, Tree: tree, Answer: a.InputForm, Steps: commands.MaxCheckSteps, QueueWait: time.Minute})
	}
}

// answersChecked is the true log and runs whose answers were checked when somebody asked; what was found is in no receipt.
func answersChecked(verdicts ...run.Verdict) (l *audittest.Log, places []int) {
	l = audittest.True()
	for i, verdict := range verdicts {
		n := int64(i + 20) // reserved by the log, and not used
		code, answer := fmt.Sprintf("Integrate[x^%d, x]", i+2), fmt.Sprintf("x^%d/%d", i+3, i+3)
		e := run.Evaluated{Subject: l.Subject(n, code), Answer: event.Inline(answer), InputForm: event.Inline(answer), Checkable: true, Status: run.Success,
			Engine: run.Engine{Name: "woxi", Revision: "1"}, ExecutionMS: 3, EvaluatedAt: l.At()}
		l.Add(run.Stream(n), audittest.Alice, e, l.Seal(e, code, answer, ""))
		l.Add(run.Stream(n), audittest.Alice, run.Verified{RunID: n, Account: audittest.Alice, Check: run.Check{Verdict: verdict, Basis: run.BasisExact, Method: "integrate_residual"}})
		places = append(places, len(l.Events))
	}
	return l, places
}

// reverified audits a log and asks for its verdicts again.
func reverified(t *testing.T, ctx context.Context, l *audittest.Log, ask auditor.Reverify, progress func(auditor.Progress)) auditor.Report {
	t.Helper()
	folder := t.TempDir()
	i := &installation{folder: folder, log: l}
	disk := i.write(t, filepath.Join(folder, "log"), l.Stored(t))
	kept, err := blobs.OpenFolder(filepath.Join(folder, "blobs"))
	must(t, err)
	for _, content := range l.Blobs {
		_, err := kept.Put(t.Context(), content)
		must(t, err)
	}
	report, err := auditor.Run(ctx, auditor.Config{Source: sourceOf(disk.dir, disk.anchors(every)), Blobs: kept, Reverify: &ask, Progress: progress,
		Reader: audit.Reader{Catalogue: domain.Catalogue(), Unmarshal: eventstore.Unmarshal}})
	must(t, err)
	return report
}

// TestReverify: given answers with verdicts, when the real checker is asked again, then a verdict that was changed is found where it is,
// by nothing else; one that it does not reach again is not reproduced, and not contradicted; and true ones are no finding.
func TestReverify(t *testing.T) {
	t.Parallel()
	ask := auditor.Reverify{Check: realChecker(t), Timeout: time.Minute, Workers: 2}
	l, places := answersChecked(run.VerdictVerified, run.VerdictRefuted, run.VerdictVerified)
	report := reverified(t, t.Context(), l, ask, nil)
	var kinds []string
	for _, f := range report.Findings {
		kinds = append(kinds, fmt.Sprint(f.Kind, " ", f.Position))
		if f.Kind == audit.KindVerdict && (f.Stream != "run-21" || f.Revision != 2 || f.Severity != audit.Error || !strings.Contains(f.Found, "verified")) {
			t.Errorf("%+v", f)
		}
	}
	first := l.Index(l.Find("run.evaluated", 1)) + 1 // its text means nothing to the checker
	want := []string{fmt.Sprint(audit.KindVerdictNotReproduced, " ", first), fmt.Sprint(audit.KindVerdict, " ", places[1])}
	if !slices.Equal(kinds, want) || report.Reverified != 4 {
		t.Errorf("found %v of %d answers, want %v", kinds, report.Reverified, want)
	}
	without := ask
	without.From = uint64(places[1])
	if report := reverified(t, t.Context(), l, without, nil); report.Reverified != 1 || len(report.Findings) > 0 {
		t.Errorf("from a later position: %d, %v", report.Reverified, report.Findings)
	}
}

// TestReverifyIsBoundedAndResumed: an answer whose time is over is not reproduced; an audit that is stopped says where to go on, and both
// parts find what one would have.
func TestReverifyIsBoundedAndResumed(t *testing.T) {
	t.Parallel()
	l, places := answersChecked(run.VerdictRefuted, run.VerdictVerified, run.VerdictRefuted)
	ask := auditor.Reverify{Timeout: time.Millisecond, Workers: 1, From: uint64(places[0] - 2), Check: func(ctx context.Context, _ audit.Answered) (run.Check, error) {
		<-ctx.Done()
		return run.Check{}, ctx.Err()
	}}
	for _, f := range reverified(t, t.Context(), l, ask, nil).Findings {
		if f.Kind != audit.KindVerdictNotReproduced || f.Severity != audit.Warning {
			t.Errorf("out of time: %+v", f)
		}
	}
	ask.Timeout, ask.Check = time.Minute, realChecker(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	part := reverified(t, ctx, l, ask, func(p auditor.Progress) {
		if p.Reverified == 1 {
			stop()
		}
	})
	found := map[uint64]bool{}
	for _, f := range part.Findings {
		switch f.Kind {
		case audit.KindVerdict:
			found[f.Position] = true
		case audit.KindNotReverified:
			_, after, _ := strings.Cut(f.Found, "--reverify-from ")
			if _, err := fmt.Sscan(after, &ask.From); err != nil {
				t.Fatal(f.Found, err)
			}
		default:
			t.Errorf("%+v", f)
		}
	}
	if !found[uint64(places[0])] || len(found) != 1 || ask.From != uint64(places[1]-2) {
		t.Fatalf("the first part found %v and goes on at %d; the places are %v", found, ask.From, places)
	}
	for _, f := range reverified(t, t.Context(), l, ask, nil).Findings {
		if f.Kind == audit.KindVerdict {
			found[f.Position] = true
		}
	}
	if !found[uint64(places[2])] || len(found) != 2 {
		t.Errorf("both parts found %v; the places are %v", found, places)
	}
}
