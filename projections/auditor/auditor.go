package auditor

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"reckon/domain/audit"
	"reckon/domain/event"
	"reckon/eventstore/node/eventlog"
	"reckon/internal/blobs"
)

// Config configures Run. Source and Reader.Catalogue are required.
type Config struct {
	Source Source
	Blobs  event.BlobReader // nil: blobs are not looked at
	Reader audit.Reader
	// OutsideKeys is audit.Config.OutsideKeys.
	OutsideKeys map[string]ed25519.PublicKey
	Checkpoints []audit.Checkpoint // as audit.Config has them
	Witnesses   []audit.Witness    // likewise
	Contents    []audit.Content    // likewise
	// ReadModels is the address of a database whose read models are compared, row by row; it needs Blobs. Empty: none are.
	ReadModels string
	// Recheck judges a certificate's export once more, after the log was read; nil: none is. It needs Blobs.
	Recheck func(context.Context, audit.Certified) ([]audit.Finding, error)
	// Reverify has the verdicts on answers decided once more, after all else; nil: none is.
	Reverify *Reverify
	// Progress is called now and then; nil: nobody asks.
	Progress func(Progress)
	Workers  int // goroutines that decode and verify; 0: one for each core
}

// Progress is how far an audit is.
type Progress struct {
	Events   int64
	Position uint64
	Head     uint64 // 0: not known
	Findings int
	Elapsed  time.Duration
	// Reverified of ToReverify answers were asked about; ToReverify is 0 before that begins.
	Reverified, ToReverify int
}

// Report is the result of an audit.
type Report struct {
	LogID    string `json:"log_id"`   // by which read models know the log
	Position uint64 `json:"position"` // of the newest event that was judged
	Link     string `json:"link,omitempty"`
	Chained  bool   `json:"chained"`  // the hash chain was checked
	Anchored bool   `json:"anchored"` // an anchor was compared, or a kept checkpoint that is one
	// ReadModels: there were some to compare; Tables: they were compared.
	ReadModels bool `json:"read_models"`
	Tables     bool `json:"tables"`
	Rechecked  int  `json:"rechecked"` // certificates whose exports were judged once more
	// Reverified is how many answers the checker was asked about once more.
	Reverified int          `json:"reverified"`
	Counts     audit.Counts `json:"counts"`
	// Content is what the log says, wherever it lies: to be kept, and given as --content.
	Content audit.Content `json:"content"`
	// Transparency says how far the transparency log was signed and cosigned.
	Transparency audit.Transparency `json:"transparency"`
	Findings     []audit.Finding    `json:"findings"`
	Elapsed      time.Duration      `json:"elapsed_ns"`
}

// chunk is events that are decoded together.
type chunk struct {
	stored []audit.Stored
	items  []*audit.Item
	err    error
	ready  chan struct{}
}

const (
	chunkEvents = 256
	chunkBytes  = 256 << 10
	chunksAhead = 16
	workQueue   = 1024 // pieces of deferred work that wait
)

// Run audits a log. An error means that it could not be read to its end.
func Run(ctx context.Context, c Config) (report Report, err error) {
	begun := time.Now()
	var compared *tables
	if c.ReadModels != "" {
		if c.Blobs == nil {
			return report, errors.New("read models hold texts of blobs: name the folder of blobs to have them compared")
		}
		if compared, err = openTables(ctx, c.ReadModels, c.Blobs); err != nil {
			return report, err
		}
		defer func() { err = errors.Join(err, compared.Close()) }()
	}
	workers := c.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var head uint64
	head, err = c.Source.Head(ctx)
	if err != nil {
		return Report{}, err
	}
	reader := c.Reader
	if c.Blobs != nil {
		reader.Blobs = c.Blobs
		reader.NotFound = func(err error) bool { return errors.Is(err, blobs.ErrNotFound) }
		reader.Corrupt = func(err error) bool { return errors.Is(err, blobs.ErrCorrupt) }
	}
	deferred := newDeferred(workers)
	var certified []audit.Certified
	config := audit.Config{OutsideKeys: c.OutsideKeys, Checkpoints: c.Checkpoints, Witnesses: c.Witnesses, Contents: c.Contents, Defer: deferred.add}
	if c.Recheck != nil {
		config.Certified = func(one audit.Certified) { certified = append(certified, one) }
	}
	var verdicts *audit.Verdicts
	if c.Reverify != nil {
		verdicts = audit.NewVerdicts()
	}
	auditor := audit.New(config)
	var events int64
	var notCompared error // why the tables cannot be made again
	logID := ""
	logCopy := "" // name of the log to which this one was handed over, at its end
	begins := ""  // name of the first event
	judge := func(it *audit.Item) error {
		if events == 0 {
			begins = it.Name
		}
		auditor.Take(it)
		if compared != nil {
			compared.books.take(it)
		}
		if verdicts != nil {
			verdicts.Take(it)
		}
		if it.NamesLog() {
			logID, logCopy = it.ID, ""
		} else if id := it.LogCopy(); id != "" {
			logCopy = id
		}
		if compared != nil && notCompared == nil {
			switch err := compared.replay.Take(ctx, it.Recorded); {
			case err == nil:
			case reader.NotFound(err) || reader.Corrupt(err):
				notCompared = err // the check of blobs has a finding at the event; the rest of the audit stands
			default:
				return err
			}
		}
		if events++; events%chunkEvents == 0 && c.Progress != nil {
			c.Progress(Progress{Events: events, Position: it.Position.Commit, Head: head, Findings: int(deferred.count.Load()) + auditor.Found(), Elapsed: time.Since(begun)})
		}
		return nil
	}
	end, err := readAhead(ctx, c.Source, reader, workers, judge)
	late := deferred.wait()
	if err != nil {
		return Report{}, err
	}
	if notCompared == nil && slices.ContainsFunc(end.Findings, isUnread) {
		notCompared = errors.New("a part of the log, which cannot be read: tables that are right would differ")
	}
	judged, counts := auditor.End()
	findings := append([]audit.Finding{}, slices.Concat(judged, late, end.Findings)...) // never nil: JSON lists none
	anchored := end.Anchored || auditor.Transparency().Anchored > 0
	if end.Chained && !anchored {
		findings = append(findings, audit.Complete(audit.CheckChain, audit.KindNoAnchor, audit.Finding{Revision: -1}, "an anchor that is kept elsewhere", "none"))
	}
	if end.Chained && events > 0 && begins != eventlog.IdentityType {
		findings = append(findings, audit.Complete(audit.CheckChain, audit.KindIdentity, audit.Finding{Revision: -1, Position: 1}, eventlog.IdentityType+" as the first record", fmt.Sprintf("%.100q", begins)))
	}
	for _, one := range certified {
		found, err := c.Recheck(ctx, one)
		if err != nil {
			return Report{}, err
		}
		findings = append(findings, found...)
	}
	var tablesCompared bool
	if compared != nil {
		var differences []audit.Finding
		if notCompared == nil {
			differences, tablesCompared, err = compared.compare(ctx, logID, logCopy, counts.Position)
			if err != nil && (reader.NotFound(err) || reader.Corrupt(err)) {
				notCompared, err = err, nil
			}
		}
		if err := errors.Join(err, compared.Close()); err != nil { // its transaction is not to last as long as what follows
			return Report{}, err
		}
		if notCompared != nil {
			tablesCompared = false
			differences = []audit.Finding{audit.Complete(audit.CheckTables, audit.KindNotCompared, audit.Finding{Revision: -1}, "rows made of every text", notCompared.Error())}
		}
		findings = append(findings, differences...)
	}
	reverified := 0
	if verdicts != nil {
		begunAgain := time.Now()
		again := &reverification{Reverify: *c.Reverify, verdicts: verdicts, kept: map[audit.Kind]int{}, report: func(done int) {
			if c.Progress != nil {
				c.Progress(Progress{Events: events, Position: counts.Position, Head: head, Elapsed: time.Since(begunAgain), Reverified: done, ToReverify: verdicts.Runs()})
			}
		}}
		if err := again.run(ctx, c.Source, reader, workers, counts.Position); err != nil {
			return Report{}, err
		}
		findings, reverified = append(findings, again.findings...), again.asked
	}
	audit.Sort(findings)
	return Report{Reverified: reverified, Tables: tablesCompared, ReadModels: compared != nil, Rechecked: len(certified), LogID: logID, Position: counts.Position, Link: end.Link, Chained: end.Chained, Anchored: anchored,
		Counts: counts, Content: auditor.Content(), Transparency: auditor.Transparency(), Findings: findings, Elapsed: time.Since(begun)}, nil
}

// isUnread reports whether a finding says that the log was not read to its end.
func isUnread(f audit.Finding) bool {
	return f.Kind == audit.KindUnreadable || f.Kind == audit.KindExport
}

// ReadUsage counts what an account used, over the whole log. Nothing else that an audit would find is looked for. Errors: that of the
// source, and one for a log that is damaged, of which a part was counted.
func ReadUsage(ctx context.Context, source Source, reader audit.Reader, u *audit.Usage) error {
	end, err := readAhead(ctx, source, reader, runtime.GOMAXPROCS(0), func(it *audit.Item) error {
		u.Take(it)
		return nil
	})
	if err == nil && len(end.Findings) > 0 {
		err = fmt.Errorf("the log cannot be read to its end, so that nothing is counted; `reckon audit` says more: %s", end.Findings[0])
	}
	return err
}

// readAhead reads the source, prepares its events on several goroutines, and judges them in their order on this one.
func readAhead(ctx context.Context, source Source, reader audit.Reader, workers int, judge func(*audit.Item) error) (End, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ordered, work := make(chan *chunk, chunksAhead), make(chan *chunk, chunksAhead)
	var running sync.WaitGroup
	defer running.Wait()
	var end End
	var failed error
	running.Go(func() {
		defer close(ordered)
		defer close(work)
		next := &chunk{ready: make(chan struct{})}
		size := 0
		flush := func() error {
			if len(next.stored) == 0 {
				return nil
			}
			for _, to := range []chan *chunk{ordered, work} {
				select {
				case to <- next:
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
			next, size = &chunk{ready: make(chan struct{})}, 0
			return nil
		}
		end, failed = source.Read(ctx, func(s audit.Stored) error {
			next.stored = append(next.stored, s)
			if size += len(s.Data) + len(s.Metadata); len(next.stored) < chunkEvents && size < chunkBytes {
				return nil
			}
			return flush()
		})
		failed = errors.Join(failed, flush())
	})
	for range workers {
		running.Go(func() {
			for c := range work {
				c.items = make([]*audit.Item, len(c.stored))
				for i, s := range c.stored {
					if c.items[i], c.err = reader.Prepare(ctx, s); c.err != nil {
						break
					}
				}
				close(c.ready)
			}
		})
	}
	for c := range ordered {
		select {
		case <-c.ready:
		case <-ctx.Done():
			return End{}, context.Cause(ctx)
		}
		if c.err != nil {
			stop(c.err)
			return End{}, c.err
		}
		for _, it := range c.items {
			if err := judge(it); err != nil {
				stop(err)
				return End{}, err
			}
		}
	}
	return end, failed
}

// deferred runs work that needs no order.
type deferred struct {
	work    chan func() []audit.Finding
	running sync.WaitGroup
	count   atomic.Int64

	mu       sync.Mutex
	kept     map[audit.Kind]int
	findings []audit.Finding
}

// maxDeferred bounds what is kept of one kind: where a key was replaced, every receipt is a finding.
const maxDeferred = 1000

func newDeferred(workers int) *deferred {
	d := &deferred{work: make(chan func() []audit.Finding, workQueue), kept: map[audit.Kind]int{}}
	for range workers {
		d.running.Go(func() {
			for work := range d.work {
				found := work()
				if len(found) == 0 {
					continue
				}
				d.count.Add(int64(len(found)))
				d.mu.Lock()
				for _, f := range found {
					if d.kept[f.Kind]++; d.kept[f.Kind] <= maxDeferred {
						d.findings = append(d.findings, f)
					}
				}
				d.mu.Unlock()
			}
		})
	}
	return d
}

func (d *deferred) add(work func() []audit.Finding) { d.work <- work }

// wait ends the goroutines when all work is done.
func (d *deferred) wait() []audit.Finding {
	close(d.work)
	d.running.Wait()
	for kind, n := range d.kept {
		if n > maxDeferred {
			d.findings = append(d.findings, audit.Unlisted(kind, n-maxDeferred))
		}
	}
	return d.findings
}
