package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"reckon/domain/event"
	"reckon/internal/database"
	"reckon/internal/tracing"
)

const (
	// maxBatch is the most events in one transaction, maxBootBatch while a projection has not
	// reached readyFrom. A chunk of events is not divided, so that a batch may be longer by one.
	maxBatch     = 500
	maxBootBatch = 2000
	// maxBatchBytes bounds the texts of the rows that a transaction holds in memory: with this many it ends.
	maxBatchBytes = 16 << 20
	// batchLinger is how long a batch that is not full waits for more while the projection is behind: a transaction costs as much as
	// hundreds of rows, and a busy machine reads few events in less.
	batchLinger = 250 * time.Millisecond
	// saveAfterUnhandled is after how many events without a handler the checkpoint is written without rows.
	saveAfterUnhandled = 5000
	// idleSaveDelay is after how long without an event the checkpoint is written: processes
	// that only read the tables may wait for the position of an event without a handler.
	idleSaveDelay = 50 * time.Millisecond

	// maxAttempts is how often one event is tried before the projection halts or parks it.
	maxAttempts  = 5
	firstBackoff = 20 * time.Millisecond
	maxBackoff   = 2 * time.Second

	// standbyPollInterval is how often a projection in standby reads the checkpoint, with all others of its process.
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
	db          *bun.DB
	log         Log
	feed        *feed
	logID       string
	logger      *slog.Logger
	processName string // of this process, for claims
	watching    bool   // this process only reads the tables
	tracer      *tracing.Tracer
	now         func() time.Time
	writer      *writer // of the process, for SQLite
	control     chan func(context.Context) error
	moved       *wakeUp // sent when another process has moved a checkpoint
	checkpoints *together[map[string]stateRow]
	writers     *together[map[string]claim]

	saved         event.Position  // checkpoint that this process last wrote or read
	unsaved       int             // events since then that had no handler
	unknownCommit *event.Position // where the checkpoint is if the last commit, whose outcome is unknown, took place
	parked        map[string]bool // streams with something set aside
	readyFrom     event.Position  // head of the log when the process started or Boot began: the position from which it is ready
	past          *member         // of the read of what the log held when the process started; nil once it is used
	unindexed     bool            // the table's indexes are made when the projection reaches readyFrom
	recents       recentMap       // rows of the last batches, until readyFrom

	lastSeenPosition event.Position // where a standby last saw the checkpoint move to
	claimReadAt      time.Time      // when a standby last looked who writes the projection

	claims atomic.Bool // it is known in the database that this process writes the projection

	mu       sync.Mutex
	position event.Position
	phase    Phase
	reason   string
	seen     seen          // in standby, and in a process that only watches
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

	Unwritten Phase = "unwritten" // no process runs it
)

// Phases lists them all.
func Phases() []Phase {
	return []Phase{Starting, Running, Retrying, Standby, Paused, Halted, Unwritten}
}

func (w *worker) run(ctx context.Context) error {
	for {
		err := w.runPhase(ctx)
		switch {
		case ctx.Err() != nil:
			return w.saveOnStop()
		case err == nil, errors.Is(err, errCutOff), errors.Is(err, errCheckpointMoved), errors.Is(err, errHalted):
		case errors.Is(err, errCheckpointTaken):
			w.logger.Info("projection stepped down: another process keeps it", "projection", w.id())
			w.stepDown()
		default:
			level := slog.LevelError
			if _, away := errors.AsType[partAway](err); away {
				level = slog.LevelWarn // nothing is wrong with the read model
			}
			w.logger.Log(ctx, level, "projection failed; trying again", "projection", w.id(), "error", err)
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
	at := w.currentPosition()
	if err := w.save(ctx, nil, &at); err != nil && !errors.Is(err, errCheckpointTaken) {
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
// newer one that can apply the event. One whose checkpoint is or once was beyond the log's
// end halts, and does not count as having applied anything.
func (w *worker) loadCheckpoint(ctx context.Context) error {
	row, err := loadState(ctx, w.db, w.Projection, w.TableNames(w.db), w.logID, w.readyFrom)
	if err != nil {
		return err
	}
	indexed, err := w.hasIndexes(ctx, w.db)
	if err != nil {
		return err
	}
	w.unindexed, w.recents = !indexed, nil
	if positionOf(row).Less(w.readyFrom) {
		w.recents = recentMap{}
	}
	if err := w.haltBeyondLog(ctx, &row); err != nil {
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
	if row.Phase == phaseBeyond {
		w.setBeyond(row.Reason)
		return nil
	}
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

// haltBeyondLog records in the database that the checkpoint is beyond the log's end. A projection that was
// paused is halted too: it would skip events once it is resumed.
func (w *worker) haltBeyondLog(ctx context.Context, row *stateRow) error {
	head, err := w.log.Head(ctx) // after the checkpoint was read, which moves only to what the log holds
	if err != nil || row.Phase == phaseBeyond || !head.Less(positionOf(*row)) {
		return err
	}
	beyond := &BeyondLogError{Projection: w.Name, Position: positionOf(*row), Head: head}
	w.logger.Error("projection halted", "projection", w.id(), "error", beyond)
	row.Phase, row.Reason = phaseBeyond, beyond.Error()
	return setPhase(ctx, w.db, w.Projection, row.Phase, row.Reason)
}

// notBeyond returns an error, which says what to do, for a projection that haltBeyondLog has halted.
func (w *worker) notBeyond(ctx context.Context) error {
	row := stateRow{Name: w.Name, Version: w.Version}
	err := w.db.NewSelect().Model(&row).WherePK().Scan(ctx)
	if err == nil && row.Phase == phaseBeyond {
		err = errors.New(row.Reason)
	}
	return err
}

// setBeyond halts a projection without a position in this log: nobody may take its tables for complete up to one.
func (w *worker) setBeyond(reason string) {
	w.setPhase(Halted, reason)
	w.setPosition(event.Position{}, 0)
}

// follow reads what the log held already, together with the projections that are behind as
// this one is, then what the feed has passed meanwhile, then the feed.
func (w *worker) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if past := w.past; past != nil {
		w.past = nil
		defer close(past.gone)
		if err := w.consume(ctx, past.items); err != nil {
			return err
		}
	}
	m := w.feed.join()
	defer w.feed.leave(m)
	if position := w.currentPosition(); position.Less(m.from) {
		own := &pastReader{log: w.log, from: position, upTo: m.from, names: w.EventNames(), members: []*member{newMember(position, pastBuffer)}}
		missed := own.members[0]
		go own.run(ctx)
		if err := w.consume(ctx, missed.items); err != nil {
			return err
		}
	}
	if err := w.consume(ctx, m.items); err != nil {
		return err
	}
	return errCutOff
}

// consume applies items in batches until the channel is closed.
func (w *worker) consume(ctx context.Context, items <-chan []item) error {
	var batch []item
	for {
		var quiet <-chan time.Time
		if w.unsaved > 0 {
			quiet = time.After(idleSaveDelay)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-quiet:
			at := w.currentPosition()
			if err := w.save(ctx, nil, &at); err != nil {
				return err
			}
		case request := <-w.control:
			if err := request(ctx); err != nil {
				return err
			}
		case arrived, open := <-items:
			if !open {
				return nil
			}
			batch = w.fillBatch(append(batch[:0], arrived...), items)
			if err := w.process(ctx, batch); err != nil {
				return err
			}
		}
	}
}

// fillBatch adds the items that have arrived. While the projection has not reached
// readyFrom it waits up to batchLinger for a full batch.
func (w *worker) fillBatch(batch []item, items <-chan []item) []item {
	var linger <-chan time.Time
	for {
		behind := batch[len(batch)-1].recorded.Position.Less(w.readyFrom)
		if len(batch) >= maxBootBatch || len(batch) >= maxBatch && !behind {
			return batch
		}
		select {
		case more, open := <-items:
			if !open {
				return batch
			}
			batch = append(batch, more...)
			continue
		default:
		}
		if !behind {
			return batch
		}
		if linger == nil {
			linger = time.After(batchLinger)
		}
		select {
		case more, open := <-items:
			if !open {
				return batch
			}
			batch = append(batch, more...)
		case <-linger:
			return batch
		}
	}
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
	err := w.applyAll(ctx, batch)
	if err == nil || errors.Is(err, errCheckpointTaken) || ctx.Err() != nil {
		return err
	}
	for _, it := range w.unseen(batch) {
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

// applyAll applies a batch in one transaction, or in several when its rows are large.
func (w *worker) applyAll(ctx context.Context, batch []item) error {
	for len(batch) > 0 {
		applied, err := w.apply(ctx, batch)
		if err != nil {
			return err
		}
		batch = batch[applied:]
	}
	return nil
}

// apply applies a batch, or the first events of it, and returns how many.
func (w *worker) apply(ctx context.Context, batch []item) (applied int, err error) {
	last := batch[len(batch)-1].recorded.Position
	concerned := make([]int, 0, len(batch))
	for i, it := range batch {
		if w.concerns(it) {
			concerned = append(concerned, i)
		}
	}
	arrived := w.saved.Less(w.readyFrom) && !last.Less(w.readyFrom) // one position may stand for many events
	if len(concerned) == 0 && w.unsaved+len(batch) < saveAfterUnhandled && !arrived {
		w.unsaved += len(batch)
		w.setPosition(last, len(batch))
		return len(batch), nil
	}
	applied = len(batch)
	ctx, span := w.beginBatch(ctx, batch, concerned)
	handled := 0
	defer func() { endBatch(span, w.Projection, handled, err) }()
	err = w.save(ctx, func(ctx context.Context, tx *Tx) error {
		for _, i := range concerned {
			if tx.bytes >= maxBatchBytes {
				applied, last = i, batch[i-1].recorded.Position
				return nil
			}
			if err := w.handle(ctx, tx, batch[i]); err != nil {
				return err
			}
			handled++
		}
		return nil
	}, &last)
	if err == nil {
		w.setPosition(last, applied)
	}
	return applied, err
}

// beginBatch begins the span of a batch, linked to the traces of its events. What the projection applies again while it is built anew has been traced
// when it was applied first.
func (w *worker) beginBatch(ctx context.Context, batch []item, concerned []int) (context.Context, tracing.Span) {
	if w.saved.Less(w.readyFrom) {
		return ctx, tracing.Span{}
	}
	return w.tracer.BeginLinked(ctx, tracing.Project, w.Name, func(yield func(string) bool) {
		for _, i := range concerned {
			if !yield(batch[i].recorded.Metadata.Traceparent) {
				return
			}
		}
	})
}

func endBatch(span tracing.Span, p Projection, handled int, err error) {
	span.Set(tracing.Text(tracing.Projection, p.Name), tracing.Int(tracing.ProjectionVersion, int64(p.Version)), tracing.Int(tracing.Events, int64(handled)))
	if err != nil {
		span.Fail()
	}
	span.End()
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

// save runs f and moves the checkpoint to what `to` is then, in one transaction. The one that
// reaches readyFrom makes the indexes of a table that has none.
func (w *worker) save(ctx context.Context, f func(context.Context, *Tx) error, to *event.Position) error {
	if err := w.resolveUnknownCommit(ctx); err != nil {
		return err
	}
	indexing := false
	if w.unindexed || w.recents != nil { // all keys of a table are read, or its indexes made
		ctx = database.Unlimited(ctx)
	}
	if w.unindexed && !to.Less(w.readyFrom) {
		if err := w.announceQuiet(ctx); err != nil {
			return err
		}
	}
	var committed *Tx
	err := w.inTx(ctx, func(ctx context.Context, tx *Tx) error {
		tx.recents, committed = w.recents, tx
		if to.Less(w.readyFrom) {
			if err := commitLater(ctx, tx.tx); err != nil {
				return err
			}
		}
		if f != nil {
			if err := f(ctx, tx); err != nil {
				return err // rolled back before anything was committed
			}
		}
		target := *to
		w.unknownCommit = &target
		if indexing = w.unindexed && !target.Less(w.readyFrom); indexing {
			if err := w.createIndexes(ctx, tx.tx); err != nil {
				return err
			}
		}
		if err := moveCheckpoint(ctx, tx.tx, w.Projection, w.saved, target); err != nil {
			return err
		}
		if target.Less(w.readyFrom) {
			return nil // who waits for a projection that is being built looks every standbyPollInterval; NOTIFY lets one transaction commit at a time
		}
		return notifyOtherProcesses(ctx, tx.tx)
	})
	if err == nil || errors.Is(err, errCheckpointTaken) {
		w.unknownCommit = nil
	}
	if err != nil {
		w.recents = nil
		return err
	}
	w.claimTaken(ctx)
	w.saved, w.unsaved = *to, 0
	w.unindexed = w.unindexed && !indexing
	w.remember(committed)
	return nil
}

// commitLater has PostgreSQL report the commit before it is on the disk. While a projection is built that loses nothing: rows and
// checkpoint of a transaction are lost together where the server crashes, and the one that ends the building waits for all before it.
func commitLater(ctx context.Context, tx bun.IDB) error {
	if tx.Dialect().Name() != dialect.PG {
		return nil
	}
	_, err := tx.ExecContext(ctx, "SET LOCAL synchronous_commit = off")
	return err
}

// remember keeps the rows of a committed transaction until the projection reaches readyFrom.
func (w *worker) remember(tx *Tx) {
	if !w.saved.Less(w.readyFrom) {
		w.recents = nil
		return
	}
	if w.recents == nil {
		w.recents = recentMap{}
	}
	tx.recents = w.recents
	for _, b := range tx.order {
		b.remember(tx)
	}
}

// inTx runs f in a transaction, on SQLite in the one of the process's writer.
func (w *worker) inTx(ctx context.Context, f func(context.Context, *Tx) error) error {
	if w.db.Dialect().Name() == dialect.SQLite {
		return w.writer.inTx(ctx, f)
	}
	return InTx(ctx, w.db, f)
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
		_, err := w.apply(ctx, []item{it})
		if err == nil {
			w.setPhase(Running, "")
			return nil
		}
		if errors.Is(err, errCheckpointTaken) || ctx.Err() != nil {
			return err
		}
		if _, away := errors.AsType[partAway](err); away {
			// not the event's fault: again until the database or the store of blobs is back
		} else if down := w.db.PingContext(ctx); down != nil {
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

// partAway is an error that names a part of the service that cannot be reached (database.UnavailableError, blobs.UnavailableError).
type partAway interface {
	error
	UnavailablePart() string
}

// haltOrPark records that an event cannot be applied, in a transaction of its own:
// by the projection's policy it stops here, or the event is parked and the
// projection goes on. It returns errHalted in the first case.
func (w *worker) haltOrPark(ctx context.Context, it item, cause error) error {
	reason := fmt.Sprintf("%s at revision %d of %s: %v", eventNameOf(it), it.recorded.Revision, it.recorded.Stream, cause)
	within := tracing.Join(ctx, it.recorded.Metadata.Traceparent)
	if w.OnFailure != Park {
		w.logger.ErrorContext(within, "projection halted", "projection", w.id(), "error", reason)
		w.setPhase(Halted, reason)
		return errors.Join(errHalted, setPhase(ctx, w.db, w.Projection, phaseHalted, reason))
	}
	w.logger.ErrorContext(within, "projection parked an event", "projection", w.id(), "error", reason)
	at := it.recorded.Position
	err := w.save(ctx, func(ctx context.Context, tx *Tx) error {
		return insertParked(ctx, tx.tx, w.Projection, it, cause.Error(), w.now())
	}, &at)
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
// the projection over once nobody's claim to write it is in force, or the checkpoint has
// not moved for takeoverDelay although the log goes further and nobody paused it.
func (w *worker) standby(ctx context.Context, keeper bool) error {
	entered := w.now()
	still := entered
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
			claimable := !w.seenClaim().inForce() && w.now().Sub(entered) >= takeoverDelay // whoever moved the checkpoint claims it in a moment
			if w.now().Sub(still) >= takeoverDelay || claimable {
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
		case <-time.After(untilNextLook()):
		}
	}
}

// readCheckpoint sets the position to the one in the database and returns the phase there.
func (w *worker) readCheckpoint(ctx context.Context) (phase storedPhase, err error) {
	rows, err := w.checkpoints.now(ctx)
	if err != nil {
		return "", err
	}
	row, found := rows[w.id()]
	if !found {
		return "", sql.ErrNoRows
	}
	w.saved, w.unsaved, w.unknownCommit = positionOf(row), 0, nil
	if err := w.look(ctx, row); err != nil {
		return "", err
	}
	if row.Phase == phaseBeyond {
		w.setBeyond(row.Reason)
		return row.Phase, nil
	}
	if phase, _ := w.currentPhase(); phase == Halted { // built again by another process
		w.setPhase(Standby, "")
	}
	if w.saved != w.currentPosition() {
		w.setPosition(w.saved, 0)
	}
	return row.Phase, nil
}

// look keeps what the database says of a projection that another process writes, and logs when none does any more.
func (w *worker) look(ctx context.Context, row stateRow) error {
	now := seen{phase: row.Phase, reason: row.Reason, claim: w.seenClaim()}
	if at := w.now(); at.Sub(w.claimReadAt) >= claimReadInterval {
		written := now.claim.inForce()
		claims, err := w.writers.now(ctx)
		if err != nil {
			return err
		}
		now.claim = claims[w.id()] // of nobody where there is none
		w.claimReadAt = at
		if written && !now.claim.inForce() {
			w.logger.Warn("no process writes a projection any more", "projection", w.id(), "reason", now.claim.nobody())
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen != now {
		w.seen = now
		w.signalChange()
	}
	return nil
}

func (w *worker) seenClaim() claim {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen.claim
}

// stepDown leaves the projection to the process that moved its checkpoint.
func (w *worker) stepDown() {
	w.claims.Store(false)
	w.claimReadAt = time.Time{}
	w.setPhase(Standby, "")
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
		if phase, _ := w.currentPhase(); phase != Halted {
			w.setPhase(Standby, "")
		}
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

// shown is the phase for people, the reason for it, and the process that writes the projection. The caller holds mu.
func (w *worker) shown() (phase Phase, reason, writer string) {
	if w.phase == Standby || w.watching {
		return w.seen.shown()
	}
	return w.phase, w.reason, w.processName
}

// paused tells whether an operator has stopped the projection, here or in another process.
func (w *worker) paused() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	phase, _, _ := w.shown()
	return phase == Paused
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
		position, changed := w.position, w.changed
		phase, _, _ := w.shown()
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
