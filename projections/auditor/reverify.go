package auditor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"reckon/domain/audit"
	"reckon/domain/run"
)

// Reverify has the verdicts that a log has on answers decided once more.
type Reverify struct {
	// Check asks the checker. Its error says that nothing was decided, and why.
	Check   func(context.Context, audit.Answered) (run.Check, error)
	Timeout time.Duration // of one answer
	Workers int           // answers at a time
	From    uint64        // answers logged before this position are left out
}

var errAllRead = errors.New("all that was audited is read")

// reverification is one under way.
type reverification struct {
	Reverify
	verdicts *audit.Verdicts
	report   func(done int)

	mu       sync.Mutex
	open     []*underWay // answers that are asked about, in the order of the log
	asked    int
	kept     map[audit.Kind]int
	findings []audit.Finding
}

// underWay is an answer that is asked about.
type underWay struct {
	position uint64
	done     bool
}

// run reads the log up to a position once more and asks about each answer that has a verdict. Where the context ends it returns what was
// found so far, and a finding that says where to go on.
func (r *reverification) run(ctx context.Context, source Source, reader audit.Reader, workers int, upTo uint64) error {
	work := make(chan func())
	var running sync.WaitGroup
	for range max(1, r.Workers) {
		running.Go(func() {
			for one := range work {
				one()
			}
		})
	}
	last := r.From
	_, err := readAhead(ctx, source, reader, workers, func(it *audit.Item) error {
		if it.Position.Commit > upTo {
			return errAllRead
		}
		answer, has := r.verdicts.Answer(it)
		if !has || answer.Position < r.From {
			return nil
		}
		last = answer.Position
		place := &underWay{position: answer.Position}
		r.mu.Lock()
		r.open = append(r.open, place)
		r.mu.Unlock()
		select {
		case work <- func() { r.ask(ctx, answer, place) }:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	close(work)
	running.Wait()
	if ctx.Err() != nil {
		goOn := max(last, r.From)
		if len(r.open) > 0 {
			goOn = r.open[0].position
		}
		r.findings = append(r.findings, audit.Complete(audit.CheckReverify, audit.KindNotReverified, audit.Finding{Revision: -1}, "every verdict asked for again",
			fmt.Sprintf("%d answers asked about before it was stopped; go on with --reverify-from %d", r.asked, goOn)))
		return nil
	}
	if errors.Is(err, errAllRead) {
		err = nil
	}
	for kind, n := range r.kept {
		if n > maxDeferred {
			r.findings = append(r.findings, audit.Unlisted(kind, n-maxDeferred))
		}
	}
	return err
}

// ask asks about one answer.
func (r *reverification) ask(ctx context.Context, a audit.Answered, place *underWay) {
	again := run.Check{Verdict: run.VerdictInconclusive, Reason: run.ReasonAnswerNotUsable}
	if a.Missing != "" {
		a.Usable, again.Reason = true, run.InconclusiveReason("missing: "+a.Missing)
	} else if a.Usable {
		limited, cancel := context.WithTimeout(ctx, r.Timeout)
		var err error
		if again, err = r.Check(limited, a); err != nil {
			again = run.Check{Verdict: run.VerdictInconclusive, Reason: run.InconclusiveReason(err.Error())}
		}
		cancel()
	}
	if ctx.Err() != nil {
		return // what it says was not asked to the end
	}
	found := r.verdicts.Judge(a, again)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range found {
		if r.kept[f.Kind]++; r.kept[f.Kind] <= maxDeferred {
			r.findings = append(r.findings, f)
		}
	}
	place.done = true
	r.asked++
	for len(r.open) > 0 && r.open[0].done {
		r.open = r.open[1:]
	}
	r.report(r.asked)
}
