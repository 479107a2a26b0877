package node

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"reckon/eventstore/node/eventlog"
)

// The stream by which a running node is asked to scavenge its log, and says what it did. It
// keeps its newest events only.
const (
	ScavengeStream        = "$scavenges"
	ScavengeRequestedType = "$scavengeRequested" // appended by whoever asks; its id is that of the request
	ScavengeEndedType     = "$scavengeEnded"     // appended by the node: a ScavengeResult
)

// keptScavenges is $maxCount of ScavengeStream.
const keptScavenges = 100

// ScavengeResult is the JSON of a ScavengeEndedType event.
type ScavengeResult struct {
	Request uuid.UUID `json:"request"` // the event that asked; zero for one by schedule
	eventlog.ScavengeReport
	Error string `json:"error,omitempty"`
}

// minScavengeEvery is the shortest time between scavenges by schedule.
const minScavengeEvery = time.Minute

// scavengeLogEvery is the time between two lines about a scavenge that goes on.
const scavengeLogEvery = 10 * time.Second

// scavenger scavenges the log when it is asked to, and by schedule.
type scavenger struct {
	node   *Node
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup
	next   uint64            // revision of ScavengeStream that was not looked at
	starts chan *scavengeRun // those of start, which the loop has not begun

	mu      sync.Mutex
	current *scavengeRun // nil while there is none
}

// scavengeRun is a scavenge that runs, or is about to.
type scavengeRun struct {
	ctx      context.Context
	cancel   context.CancelCauseFunc
	requests []uuid.UUID   // the first names the run; zero for one by schedule
	ended    chan struct{} // closed when the results are in the log
}

// errScavengeStopped is the cause of the end of a scavenge that a client stopped.
var errScavengeStopped = errors.New("a client stopped the scavenge")

// newScavenger starts a scavenger; every is the time between scavenges by schedule, 0 for none.
func newScavenger(n *Node, every time.Duration, clock func() time.Time) (*scavenger, error) {
	s := &scavenger{node: n, starts: make(chan *scavengeRun, 1)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	watch := n.log.Watch(ScavengeStream)
	info, err := streamInfoOf(n.log, ScavengeStream)
	s.next = uint64(info.Last + 1) // what was asked before this start is forgotten
	var first time.Duration
	if err == nil && every > 0 {
		var last time.Time
		last, err = lastScheduled(s.ctx, n.log)
		first = max(0, last.Add(every).Sub(clock()))
	}
	if damageIn(err) != nil { // the log takes no more appends, and none of it is scavenged
		s.next, every, err = math.MaxUint64, 0, nil
	}
	if err != nil {
		watch.Close()
		s.cancel()
		return nil, err
	}
	s.done.Go(func() {
		defer watch.Close()
		s.run(watch, min(first, every), every)
	})
	return s, nil
}

// close stops a scavenge that runs, and waits for its end.
func (s *scavenger) close() {
	s.cancel()
	s.done.Wait()
}

// lastScheduled returns when the newest scavenge by schedule ended, by the log; for a log that has
// none, when it was made. So a node that is started again and again scavenges as often as one that runs on.
func lastScheduled(ctx context.Context, log *eventlog.Log) (time.Time, error) {
	view, err := log.View()
	if err != nil {
		return time.Time{}, err
	}
	defer view.Close()
	info, err := view.Stream(ScavengeStream)
	for before := uint64(info.Last + 1); err == nil && info.Exists() && before > info.First; {
		var records []eventlog.Record
		if records, err = view.ReadStream(ctx, ScavengeStream, info.First, before-1, true, eventlog.Page{Records: pageRecords, Bytes: pageBytes}); err != nil || len(records) == 0 {
			break
		}
		for i := range records {
			var result ScavengeResult
			if records[i].Type == ScavengeEndedType && json.Unmarshal(records[i].Data, &result) == nil && result.Request == uuid.Nil {
				return eventlog.TimeOf(records[i].CreatedTicks), nil
			}
		}
		before = records[len(records)-1].Revision
	}
	if err != nil {
		return time.Time{}, err
	}
	made, err := view.ReadAll(ctx, 0, false, eventlog.Page{Records: 1, Bytes: pageBytes})
	if err != nil || len(made) == 0 {
		return time.Time{}, err
	}
	return eventlog.TimeOf(made[0].CreatedTicks), nil
}

// run scavenges when asked to, and, if every is not 0, after first and then every so often.
func (s *scavenger) run(watch *eventlog.Watch, first, every time.Duration) {
	var due <-chan time.Time
	var timer *time.Timer
	if every > 0 {
		timer = time.NewTimer(first)
		defer timer.Stop()
		due = timer.C
	}
	for {
		var requests []uuid.UUID
		var begun *scavengeRun
		select {
		case <-s.ctx.Done():
			return
		case <-due:
			requests = []uuid.UUID{uuid.Nil}
			timer.Reset(every)
		case <-watch.C:
		case begun = <-s.starts:
		}
		asked, err := s.requests()
		if run := s.begin(begun, append(requests, asked...)); run != nil {
			err = errors.Join(err, s.scavenge(run))
		}
		if err != nil && !errors.Is(err, errScavengeStopped) && s.ctx.Err() == nil && s.node.log.Err() == nil { // the log says itself why it takes no more
			s.node.logger.Error("the log was not scavenged", "error", err)
		}
	}
}

// requests returns the ids of the requests that were appended since the last look.
func (s *scavenger) requests() (ids []uuid.UUID, err error) {
	view, err := s.node.log.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	info, err := view.Stream(ScavengeStream)
	if err != nil {
		return nil, err
	}
	for info.Exists() && s.next <= uint64(info.Last) {
		records, err := view.ReadStream(s.ctx, ScavengeStream, max(s.next, info.First), uint64(info.Last), false, eventlog.Page{Records: pageRecords, Bytes: pageBytes})
		if err != nil || len(records) == 0 {
			return ids, err
		}
		for i := range records {
			if records[i].Type == ScavengeRequestedType {
				ids = append(ids, records[i].ID)
			}
		}
		s.next = records[len(records)-1].Revision + 1
	}
	return ids, nil
}

// start begins a scavenge and returns its id; while one runs, the id of that.
func (s *scavenger) start() (id uuid.UUID, begun bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return uuid.Nil, false, errShuttingDown
	}
	if s.current != nil {
		return s.current.requests[0], false, nil
	}
	s.current = s.newRun([]uuid.UUID{uuid.New()})
	s.starts <- s.current // there is room: current is nil only when the loop has taken the last one
	return s.current.requests[0], true, nil
}

func (s *scavenger) newRun(requests []uuid.UUID) *scavengeRun {
	run := &scavengeRun{requests: requests, ended: make(chan struct{})}
	run.ctx, run.cancel = context.WithCancelCause(s.ctx)
	return run
}

// begin returns the run that answers requests: the one that start has begun, or a new one; nil where
// there is nothing to do, or the loop has still to take the one that answers them.
func (s *scavenger) begin(begun *scavengeRun, requests []uuid.UUID) *scavengeRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.current != nil: // begun, or in starts
		s.current.requests = append(s.current.requests, requests...)
	case len(requests) > 0:
		s.current = s.newRun(requests)
		return s.current
	}
	return begun
}

// stop stops the scavenge with an id, and waits for its end. It reports whether there is or was one: for
// one that has ended by itself, there is nothing to stop.
func (s *scavenger) stop(ctx context.Context, id uuid.UUID) (known bool, err error) {
	s.mu.Lock()
	run := s.current
	known = run != nil && slices.Contains(run.requests, id)
	s.mu.Unlock()
	if !known {
		return s.hasEnded(ctx, id)
	}
	run.cancel(errScavengeStopped)
	select {
	case <-run.ended:
		return true, nil
	case <-s.ctx.Done():
		return true, errShuttingDown
	case <-ctx.Done():
		return true, ctx.Err()
	}
}

// hasEnded reports whether the results that are kept have one for an id.
func (s *scavenger) hasEnded(ctx context.Context, id uuid.UUID) (bool, error) {
	if id == uuid.Nil {
		return false, nil // by schedule
	}
	view, err := s.node.log.View()
	if err != nil {
		return false, err
	}
	defer view.Close()
	info, err := view.Stream(ScavengeStream)
	if err != nil || !info.Exists() {
		return false, err
	}
	records, err := view.ReadStream(ctx, ScavengeStream, info.First, uint64(info.Last), true, eventlog.Page{Records: keptScavenges, Bytes: pageBytes})
	return slices.ContainsFunc(records, func(r eventlog.Record) bool {
		var result ScavengeResult
		return r.Type == ScavengeEndedType && json.Unmarshal(r.Data, &result) == nil && result.Request == id
	}), err
}

// scavenge scavenges once for all requests of a run and appends the result for each.
func (s *scavenger) scavenge(run *scavengeRun) error {
	s.node.logger.Info("scavenging the event log")
	said := time.Now()
	report, failed := s.node.log.Scavenge(run.ctx, func(r eventlog.ScavengeReport) {
		if time.Since(said) >= scavengeLogEvery {
			said = time.Now()
			s.node.logger.Info("scavenging the event log", "position", r.Position, "removed", r.Removed, "freed bytes", r.Freed)
		}
	})
	switch {
	case failed == nil:
		s.node.logger.Info("the event log was scavenged", "position", report.Position, "segments", report.Segments, "rewritten", report.Rewritten, "removed", report.Removed, "freed bytes", report.Freed)
	case errors.Is(context.Cause(run.ctx), errScavengeStopped):
		failed = errScavengeStopped
		s.node.logger.Info("a client stopped the scavenge of the event log", "position", report.Position)
	}
	s.mu.Lock()
	requests := slices.Clone(run.requests)
	s.mu.Unlock()
	if s.ctx.Err() != nil { // nobody waits for one by schedule, which the next start goes on with
		requests = slices.DeleteFunc(requests, func(id uuid.UUID) bool { return id == uuid.Nil })
	}
	var err error
	if len(requests) > 0 {
		err = s.append(requests, report, failed)
	}
	run.cancel(nil)
	s.mu.Lock()
	s.current = nil
	s.mu.Unlock()
	close(run.ended)
	return errors.Join(failed, err)
}

func (s *scavenger) append(requests []uuid.UUID, report eventlog.ScavengeReport, failed error) error {
	metadata, err := groupEvent(eventlog.MetadataType, map[string]int{"$maxCount": keptScavenges})
	if err != nil {
		return err
	}
	ctx := context.Background() // also of one that was stopped
	if _, err := s.node.log.Append(ctx, eventlog.MetaStream(ScavengeStream), eventlog.NoStream(), []eventlog.Proposed{metadata}); err != nil && !isConflict(err) {
		return err
	}
	events := make([]eventlog.Proposed, len(requests))
	for i, request := range requests {
		result := ScavengeResult{Request: request, ScavengeReport: report}
		if failed != nil {
			result.Error = failed.Error()
		}
		data, _ := json.Marshal(result) // plain values always encode
		events[i] = eventlog.Proposed{ID: uuid.New(), Type: ScavengeEndedType, JSON: true, Data: data}
	}
	_, err = s.node.log.Append(ctx, ScavengeStream, eventlog.Any(), events)
	return err
}

func isConflict(err error) bool {
	var conflict *eventlog.WrongExpectedRevisionError
	return errors.As(err, &conflict)
}
