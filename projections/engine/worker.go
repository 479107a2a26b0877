package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"reckon/domain/event"
)

const (
	// maxBatch is the most events in one transaction.
	maxBatch = 500
	// batchLinger is how long a batch that is not full waits for more while the projection is behind.
	batchLinger = 20 * time.Millisecond
	// saveAfterUnhandled is after how many events without a handler the checkpoint is written without rows.
	saveAfterUnhandled = 5000
	// idleSaveDelay is after how long without an event the checkpoint is written: processes
	// that only read the tables may wait for the position of an event without a handler.
	idleSaveDelay = 50 * time.Millisecond

	// maxAttempts is how often one event is tried before the projection halts or parks it.
	maxAttempts  = 5
	firstBackoff = 20 * time.Millisecond
	maxBackoff   = 2 * time.Second

	// standbyPollInterval is how often a projection in standby reads the checkpoint.
	// takeoverDelay is how long the checkpoint may stand still while the log is ahead of it
	// before this process takes the projection over.
	standbyPollInterval = 250 * time.Millisecond
	takeoverDelay       = 5 * time.Second
)

// ErrStopped is returned by Wait for a projection that is paused or halted.
var ErrStopped = errors.New("the projection is stopped")

var (
	errHalted          = errors.New("halted at an event that cannot be applied")
	errCutOff          = errors.New("cut off from the feed")
	errCheckpointMoved = errors.New("the checkpoint was moved on request")
)

// worker runs one projection. Fields that mu does not guard are used by its goroutine only.
type worker struct {
	Projection
	db      *bun.DB
	log     Log
	feed    *feed
	logID   string
	logger  *slog.Logger
	now     func() time.Time
	writing *sync.Mutex // held by the one writer on SQLite
	control chan func(context.Context) error
	moved   *wakeUp // sent when another process has moved a checkpoint

	saved         event.Position  // checkpoint that this process last wrote or read
	unsaved       int             // events since then that had no handler
	unknownCommit *event.Position // where the checkpoint is if the last commit, whose outcome is unknown, took place
	parked        map[string]bool // streams with something set aside
	readyFrom     event.Position  // head of the log when the process started or Boot began: the position from which it is ready

	lastSeenPosition event.Position // where a standby last saw the checkpoint move to

	mu       sync.Mutex
	position event.Position
	phase    Phase
	reason   string
	changed  chan struct{} // closed when position or phase changes
	meter    meter
}

// Phase is what a projection is doing.
type Phase string

const (
	Starting Phase = "starting" // the checkpoint is not read yet
	Running  Phase = "running"  // it applies events as they come
	Retrying Phase = "retrying" // the database or an event failed and is tried again
	Standby  Phase = "standby"  // another process runs it
	Paused   Phase = "paused"   // an operator stopped it
	Halted   Phase = "halted"   // it stopped at an event that it cannot apply
)

func (w *worker) run(ctx context.Context) error {
	for {
		err := w.runPhase(ctx)
		switch {
		case ctx.Err() != nil:
			return w.saveOnStop()
		case err == nil, errors.Is(err, errCutOff), errors.Is(err, errCheckpointMoved), errors.Is(err, errHalted):
		case errors.Is(err, errCheckpointTaken):
			w.logger.Info("projection stepped down: another process keeps it", "projection", w.id())
			w.setPhase(Standby, "")
		default:
			w.logger.Error("projection failed; trying again", "projection", w.id(), "error", err)
			w.setPhase(Retrying, err.Error())
			if err := w.serveRequests(ctx, maxBackoff); err != nil && ctx.Err() == nil {
				w.logger.Error("projection request failed", "projection", w.id(), "error", err)
			}
		}
	}
}

// saveOnStop saves the checkpoint of a process that ends, so that the next one
// reads fewer events again. It takes at most a second.
func (w *worker) saveOnStop() error {
	if w.unsaved == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := w.save(ctx, nil, w.currentPosition()); err != nil && !errors.Is(err, errCheckpointTaken) {
		return err
	}
	return nil
}

func (w *worker) runPhase(ctx context.Context) error {
	switch phase, _ := w.currentPhase(); phase {
	case Starting:
		return w.loadCheckpoint(ctx)
	case Paused, Halted:
		return w.serveRequests(ctx, 0)
	case Standby:
		return w.standby(ctx, true)
	}
	return w.follow(ctx)
}

// loadCheckpoint sets the position, the parked streams and the phase to what the
// database holds. A projection that was halted runs again: the process may be a
// newer one that can apply the event.
func (w *worker) loadCheckpoint(ctx context.Context) error {
	row, err := loadState(ctx, w.db, w.Projection, w.TableNames(w.db), w.logID)
	if err != nil {
		return err
	}
	streams, err := parkedStreams(ctx, w.db, w.Projection)
	if err != nil {
		return err
	}
	w.parked = make(map[string]bool, len(streams))
	for _, stream := range streams {
		w.parked[stream] = true
	}
	w.saved, w.unsaved, w.unknownCommit = positionOf(row), 0, nil
	w.setPosition(w.saved, 0)
	switch row.Phase {
	case phasePaused:
		w.setPhase(Paused, row.Reason)
	case phaseHalted:
		if err := setPhase(ctx, w.db, w.Projection, phaseRunning, ""); err != nil {
			return err
		}
		w.setPhase(Running, "")
	default:
		w.setPhase(Running, "")
	}
	return nil
}

// follow reads what the feed has passed already, then the feed.
func (w *worker) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := w.feed.join()
	defer w.feed.leave(m)
	if position := w.currentPosition(); position.Less(m.from) {
		missed := make(chan item, maxBatch)
		go readMissed(ctx, w.log.SubscribeAll(ctx, position, w.eventNames()...), m.from, missed)
		if err := w.consume(ctx, missed); err != nil {
			return err
		}
	}
	if err := w.consume(ctx, m.items); err != nil {
		return err
	}
	return errCutOff
}

// readMissed sends the events up to and including a position, then closes the channel.
func readMissed(ctx context.Context, events iter.Seq2[event.Recorded, error], upTo event.Position, to chan<- item) {
	defer close(to)
	for r, err := range events {
		it := item{r, err}
		failed := err != nil && r.Position == (event.Position{})
		if !failed && upTo.Less(r.Position) { // the feed brings it
			it = item{recorded: event.Recorded{Position: upTo}}
		}
		select {
		case to <- it:
		case <-ctx.Done():
			return
		}
		if !failed && !r.Position.Less(upTo) {
			return
		}
	}
}

// consume applies items in batches until the channel is closed.
func (w *worker) consume(ctx context.Context, items <-chan item) error {
	batch := make([]item, 0, maxBatch)
	for {
		var quiet <-chan time.Time
		if w.unsaved > 0 {
			quiet = time.After(idleSaveDelay)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-quiet:
			if err := w.save(ctx, nil, w.currentPosition()); err != nil {
				return err
			}
		case request := <-w.control:
			if err := request(ctx); err != nil {
				return err
			}
		case it, open := <-items:
			if !open {
				return nil
			}
			batch = w.fillBatch(append(batch[:0], it), items)
			if err := w.process(ctx, batch); err != nil {
				return err
			}
		}
	}
}

// fillBatch adds the items that have arrived. While the projection has not reached
// readyFrom it waits up to batchLinger for a full batch.
func (w *worker) fillBatch(batch []item, items <-chan item) []item {
	var linger <-chan time.Time
	for len(batch) < maxBatch {
		select {
		case it, open := <-items:
			if !open {
				return batch
			}
			batch = append(batch, it)
			continue
		default:
		}
		if !batch[len(batch)-1].recorded.Position.Less(w.readyFrom) {
			return batch
		}
		if linger == nil {
			linger = time.After(batchLinger)
		}
		select {
		case it, open := <-items:
			if !open {
				return batch
			}
			batch = append(batch, it)
		case <-linger:
			return batch
		}
	}
	return batch
}

// process applies a batch in one transaction; when that fails, event by event, so
// that one event that cannot be applied holds up no other.
func (w *worker) process(ctx context.Context, batch []item) error {
	batch = w.unseen(batch)
	if len(batch) == 0 {
		return nil
	}
	if last := batch[len(batch)-1]; last.err != nil && last.recorded.Position == (event.Position{}) {
		return last.err // the reading failed
	}
	err := w.apply(ctx, batch)
	if err == nil || errors.Is(err, errCheckpointTaken) || ctx.Err() != nil {
		return err
	}
	for _, it := range batch {
		if err := w.applyOne(ctx, it); err != nil {
			return err
		}
	}
	return nil
}

// unseen leaves out the events up to the present position, which come a second
// time after a cut-off from the feed.
func (w *worker) unseen(batch []item) []item {
	position := w.currentPosition()
	for i, it := range batch {
		if position.Less(it.recorded.Position) || it.recorded.Position == (event.Position{}) {
			return batch[i:]
		}
	}
	return nil
}

func (w *worker) apply(ctx context.Context, batch []item) error {
	last := batch[len(batch)-1].recorded.Position
	concerned := batch[:0:0]
	for _, it := range batch {
		if w.concerns(it) {
			concerned = append(concerned, it)
		}
	}
	arrived := w.saved.Less(w.readyFrom) && !last.Less(w.readyFrom) // one position may stand for many events
	if len(concerned) == 0 && w.unsaved+len(batch) < saveAfterUnhandled && !arrived {
		w.unsaved += len(batch)
		w.setPosition(last, len(batch))
		return nil
	}
	err := w.save(ctx, func(ctx context.Context, tx *Tx) error {
		for _, it := range concerned {
			if err := w.handle(ctx, tx, it); err != nil {
				return err
			}
		}
		return nil
	}, last)
	if err == nil {
		w.setPosition(last, len(batch))
	}
	return err
}

func (w *worker) handle(ctx context.Context, tx *Tx, it item) error {
	switch {
	case w.parked[it.recorded.Stream]:
		return insertParked(ctx, tx.tx, w.Projection, it, "behind a parked event of its stream", w.now())
	case it.err != nil:
		return it.err
	}
	return w.Apply(ctx, tx, it.recorded)
}

// save runs f and moves the checkpoint, in one transaction.
func (w *worker) save(ctx context.Context, f func(context.Context, *Tx) error, to event.Position) error {
	if w.db.Dialect().Name() == dialect.SQLite {
		w.writing.Lock()
		defer w.writing.Unlock()
	}
	if err := w.resolveUnknownCommit(ctx); err != nil {
		return err
	}
	w.unknownCommit = &to
	err := InTx(ctx, w.db, func(ctx context.Context, tx *Tx) error {
		if f != nil {
			if err := f(ctx, tx); err != nil {
				w.unknownCommit = nil // rolled back before anything was committed
				return err
			}
		}
		if err := moveCheckpoint(ctx, tx.tx, w.Projection, w.saved, to); err != nil {
			return err
		}
		return notifyOtherProcesses(ctx, tx.tx)
	})
	if err == nil || errors.Is(err, errCheckpointTaken) {
		w.unknownCommit = nil
	}
	if err == nil {
		w.saved, w.unsaved = to, 0
	}
	return err
}

// resolveUnknownCommit reads whether the last commit, whose outcome was not
// reported, took place.
func (w *worker) resolveUnknownCommit(ctx context.Context) error {
	if w.unknownCommit == nil {
		return nil
	}
	row := stateRow{Name: w.Name, Version: w.Version}
	if err := w.db.NewSelect().Model(&row).WherePK().Scan(ctx); err != nil {
		return err
	}
	if positionOf(row) == *w.unknownCommit {
		w.saved, w.unsaved = *w.unknownCommit, 0
	}
	w.unknownCommit = nil
	return nil
}

// applyOne applies one event, again with back-off while the database does not
// answer, and up to `attempts` times while it does; then it halts or parks.
func (w *worker) applyOne(ctx context.Context, it item) error {
	pause := backoff.ExponentialBackOff{InitialInterval: firstBackoff, Multiplier: 2, MaxInterval: maxBackoff}
	for attempt := 1; ; {
		err := w.apply(ctx, []item{it})
		if err == nil {
			w.setPhase(Running, "")
			return nil
		}
		if errors.Is(err, errCheckpointTaken) || ctx.Err() != nil {
			return err
		}
		if down := w.db.PingContext(ctx); down != nil {
			err = fmt.Errorf("the database does not answer: %w", down)
		} else if it.err != nil || attempt == maxAttempts {
			return w.haltOrPark(ctx, it, err)
		} else {
			attempt++
		}
		w.setPhase(Retrying, err.Error())
		if err := w.serveRequests(ctx, pause.NextBackOff()); err != nil {
			return err
		}
	}
}

// haltOrPark records that an event cannot be applied, in a transaction of its own:
// by the projection's policy it stops here, or the event is parked and the
// projection goes on. It returns errHalted in the first case.
func (w *worker) haltOrPark(ctx context.Context, it item, cause error) error {
	reason := fmt.Sprintf("%s at revision %d of %s: %v", eventNameOf(it), it.recorded.Revision, it.recorded.Stream, cause)
	if w.OnFailure != Park {
		w.logger.Error("projection halted", "projection", w.id(), "error", reason)
		w.setPhase(Halted, reason)
		return errors.Join(errHalted, setPhase(ctx, w.db, w.Projection, phaseHalted, reason))
	}
	w.logger.Error("projection parked an event", "projection", w.id(), "error", reason)
	err := w.save(ctx, func(ctx context.Context, tx *Tx) error {
		return insertParked(ctx, tx.tx, w.Projection, it, cause.Error(), w.now())
	}, it.recorded.Position)
	if err != nil {
		return err
	}
	w.parked[it.recorded.Stream] = true
	w.setPosition(it.recorded.Position, 1)
	w.setPhase(Running, "")
	return nil
}

// serveRequests waits for a request of an operator for d, without end when d is 0,
// and returns what the request returned.
func (w *worker) serveRequests(ctx context.Context, d time.Duration) error {
	var over <-chan time.Time
	if d > 0 {
		over = time.After(d)
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-over:
			if phase, _ := w.currentPhase(); phase == Retrying {
				w.setPhase(Running, "")
			}
			return nil
		case request := <-w.control:
			return request(ctx)
		}
	}
}

// standby follows the checkpoint that another process moves. With keeper it takes
// the projection over once the checkpoint has not moved for takeoverDelay although
// the log goes further and nobody paused it.
func (w *worker) standby(ctx context.Context, keeper bool) error {
	still := w.now()
	for {
		moved := w.moved.next()
		phase, err := w.readCheckpoint(ctx)
		if err != nil {
			return err
		}
		if keeper {
			idle, err := w.nothingToDo(ctx, phase)
			if err != nil {
				return err
			}
			if idle || w.lastSeenPosition != w.currentPosition() {
				still, w.lastSeenPosition = w.now(), w.currentPosition()
			}
			if w.now().Sub(still) >= takeoverDelay {
				w.setPhase(Starting, "")
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case request := <-w.control:
			return request(ctx)
		case <-moved:
		case <-time.After(standbyPollInterval):
		}
	}
}

// readCheckpoint sets the position to the one in the database and returns the phase there.
func (w *worker) readCheckpoint(ctx context.Context) (phase storedPhase, err error) {
	row := stateRow{Name: w.Name, Version: w.Version}
	if err := w.db.NewSelect().Model(&row).WherePK().Scan(ctx); err != nil {
		return "", err
	}
	w.saved, w.unsaved, w.unknownCommit = positionOf(row), 0, nil
	if w.saved != w.currentPosition() {
		w.setPosition(w.saved, 0)
	}
	return row.Phase, nil
}

// nothingToDo tells whether the projection is stopped on purpose or has reached the end of the log.
func (w *worker) nothingToDo(ctx context.Context, phase storedPhase) (bool, error) {
	if phase != phaseRunning {
		return true, nil
	}
	head, err := w.log.Head(ctx)
	return !w.currentPosition().Less(head), err
}

// watch follows another process's progress until the context ends.
func (w *worker) watch(ctx context.Context) {
	for ctx.Err() == nil {
		w.setPhase(Standby, "kept by another process")
		if err := w.standby(ctx, false); err != nil && ctx.Err() == nil && !errors.Is(err, errCheckpointMoved) {
			w.logger.Warn("cannot see how far a projection is", "projection", w.id(), "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(standbyPollInterval):
			}
		}
	}
}

// currentPosition returns the position up to which every event is applied.
func (w *worker) currentPosition() event.Position {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.position
}

func (w *worker) currentPhase() (Phase, string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.phase, w.reason
}

func (w *worker) setPosition(p event.Position, events int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.position = p
	w.meter.record(w.now(), p, events)
	w.signalChange()
}

func (w *worker) setPhase(phase Phase, reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.phase == phase && w.reason == reason {
		return
	}
	w.phase, w.reason = phase, reason
	w.signalChange()
}

// signalChange wakes everyone in wait. The caller holds mu.
func (w *worker) signalChange() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// wait returns nil when the projection has reached the position, ErrStopped when it
// is paused or halted, or the context's error.
func (w *worker) wait(ctx context.Context, p event.Position) error {
	for {
		w.mu.Lock()
		position, phase, changed := w.position, w.phase, w.changed
		w.mu.Unlock()
		switch {
		case !position.Less(p):
			return nil
		case phase == Paused || phase == Halted:
			return ErrStopped
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
