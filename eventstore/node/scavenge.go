package node

import (
	"context"
	"encoding/json"
	"errors"
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
	next   uint64 // revision of ScavengeStream that was not looked at
}

// newScavenger starts a scavenger; every is the time between scavenges by schedule, 0 for none.
func newScavenger(n *Node, every time.Duration, clock func() time.Time) (*scavenger, error) {
	s := &scavenger{node: n}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	watch := n.log.Watch(ScavengeStream)
	info, err := streamInfoOf(n.log, ScavengeStream)
	if err != nil {
		watch.Close()
		s.cancel()
		return nil, err
	}
	s.next = uint64(info.Last + 1) // what was asked before this start is forgotten
	var first time.Duration
	if every > 0 {
		last, err := lastScheduled(s.ctx, n.log)
		if err != nil {
			watch.Close()
			s.cancel()
			return nil, err
		}
		first = max(0, last.Add(every).Sub(clock()))
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
		select {
		case <-s.ctx.Done():
			return
		case <-due:
			requests = []uuid.UUID{uuid.Nil}
			timer.Reset(every)
		case <-watch.C:
		}
		asked, err := s.requests()
		if err == nil && len(requests)+len(asked) > 0 {
			err = s.scavenge(append(requests, asked...))
		}
		if err != nil && s.ctx.Err() == nil && s.node.log.Err() == nil { // the log says itself why it takes no more
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

// scavenge scavenges once for all requests and appends the result for each.
func (s *scavenger) scavenge(requests []uuid.UUID) error {
	s.node.logger.Info("scavenging the event log")
	said := time.Now()
	report, failed := s.node.log.Scavenge(s.ctx, func(r eventlog.ScavengeReport) {
		if time.Since(said) >= scavengeLogEvery {
			said = time.Now()
			s.node.logger.Info("scavenging the event log", "position", r.Position, "removed", r.Removed, "freed bytes", r.Freed)
		}
	})
	if failed == nil {
		s.node.logger.Info("the event log was scavenged", "position", report.Position, "segments", report.Segments, "rewritten", report.Rewritten, "removed", report.Removed, "freed bytes", report.Freed)
	}
	if s.ctx.Err() != nil { // nobody waits for one by schedule, which the next start goes on with
		requests = slices.DeleteFunc(requests, func(id uuid.UUID) bool { return id == uuid.Nil })
	}
	if len(requests) == 0 {
		return failed
	}
	return errors.Join(failed, s.append(requests, report, failed))
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
