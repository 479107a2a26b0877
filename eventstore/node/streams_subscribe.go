package node

import (
	"math"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"

	"reckon/eventstore/node/eventlog"
)

// A subscription reads the log page by page and waits at the end until a write to its
// stream. It never holds more than one page in memory, and none while its client takes nothing.

// pageStep sends one page and returns how many records it covered, and whether that was the end.
type pageStep func() (records int, atEnd bool, err error)

// follow runs next until the call or the node ends. It calls caughtUp whenever the
// subscriber reaches the end of the log, first after the start and again after it was
// more than liveBufferEvents behind: then, too, it tells clients that know of that. reached is how far the subscriber is.
func (o *reply) follow(watch *eventlog.Watch, next pageStep, reached func() progress, caughtUp func() error) error {
	live, burst := false, 0
	for {
		if err := o.interrupted(); err != nil {
			return err
		}
		if err := o.awaitClient(); err != nil {
			return err
		}
		records, atEnd, err := next()
		if err != nil {
			return err
		}
		if burst += records; live && burst > liveBufferEvents {
			live = false
			if err := o.sendFellBehind(reached()); err != nil {
				return err
			}
		}
		if !atEnd {
			continue
		}
		if !live {
			if err := caughtUp(); err != nil {
				return err
			}
		}
		live, burst = true, 0
		select {
		case <-watch.C:
		case <-o.call.Context().Done():
			return o.call.Context().Err()
		case <-o.closing:
			return errShuttingDown
		}
	}
}

// awaitClient waits until the client takes answers. Nothing is held meanwhile but those.
func (o *reply) awaitClient() error {
	if !o.outbound.isFull() {
		return nil
	}
	o.outbound.held.waitForClient()
	defer o.outbound.held.working()
	_, err := o.outbound.await(o.call.Context(), 0, o.closing)
	return err
}

func (o *reply) sendConfirmation() error {
	return o.call.Send(&streams.ReadResp{Content: &streams.ReadResp_Confirmation{
		Confirmation: &streams.ReadResp_SubscriptionConfirmation{SubscriptionId: uuid.NewString()},
	}})
}

// sendFellBehind says that the subscriber is no longer live, to a client that takes such a message.
func (o *reply) sendFellBehind(at progress) error {
	if !o.request.fallsBehind {
		return nil
	}
	return o.call.Send(fellBehindAt(at, time.Now()))
}

// subscribeStream follows the visible events of one stream.
func (s *streamsService) subscribeStream(r *readRequest, out *reply) error {
	watch := s.log.Watch(r.stream)
	defer watch.Close()
	before, err := s.streamInfo(r.stream)
	if err != nil {
		return err
	}
	next, err := s.subscriptionStart(r)
	if err != nil {
		return err
	}
	if err := out.sendConfirmation(); err != nil {
		return err
	}
	if before.Tombstoned { // what was tombstoned before is not shown: only who follows already gets the tombstone, behind what came before it
		return &eventlog.StreamDeletedError{Stream: r.stream}
	}
	reached := func() progress { return progressBefore(next, false) }
	caughtUp := func() error { return out.call.Send(caughtUpAt(reached(), time.Now())) }
	return out.follow(watch, func() (int, bool, error) { return s.streamStep(r, out, &next) }, reached, caughtUp)
}

// subscriptionStart returns the first revision to deliver: the one after the revision
// that the request names.
func (s *streamsService) subscriptionStart(r *readRequest) (uint64, error) {
	switch {
	case r.from == fromStart:
		return 0, nil
	case r.from == fromNumber && r.number < math.MaxInt64:
		return r.number + 1, nil
	case r.from == fromNumber:
		return math.MaxInt64, nil
	}
	info, err := s.streamInfo(r.stream)
	return uint64(info.Last + 1), err
}

func (s *streamsService) streamStep(r *readRequest, out *reply, next *uint64) (int, bool, error) {
	info, err := s.streamInfo(r.stream)
	if err != nil {
		return 0, false, err
	}
	last := uint64(info.Last)
	if info.Tombstoned {
		// the tombstone itself is delivered, then the subscription fails
		last = eventlog.TombstoneRevision
	} else if info.Last < 0 {
		return 0, true, nil
	}
	page, damage := s.streamPage(r, out, max(*next, info.First), last, subscriptionPageRecords)
	sent, err := out.send(page, damage)
	if err != nil {
		return 0, false, err
	}
	if sent > 0 {
		*next = page[sent-1].Revision + 1
	}
	atEnd := len(page) == 0 || *next > last
	if atEnd && info.Tombstoned {
		return 0, false, &eventlog.StreamDeletedError{Stream: r.stream}
	}
	return sent, atEnd, nil
}

// subscribeAll follows $all.
func (s *streamsService) subscribeAll(r *readRequest, out *reply) error {
	watch := s.log.Watch(eventlog.AllStream)
	defer watch.Close()
	end, err := s.head()
	if err != nil {
		return err
	}
	a := &allSubscription{service: s, request: r, out: out, next: r.number + 1}
	switch {
	case r.from == fromStart:
		a.next = 0
	case r.from == fromEnd:
		a.next = end + 1
	}
	if err := out.sendConfirmation(); err != nil {
		return err
	}
	return out.follow(watch, a.step, a.reached, a.caughtUp)
}

// allSubscription is the state of one subscription to $all.
type allSubscription struct {
	service    *streamsService
	request    *readRequest
	out        *reply
	next       uint64 // position of the next record to consider
	considered int    // records since the last checkpoint of an interval
	reported   uint64 // newest position of an event sent
	checkpoint uint64 // newest checkpoint sent
}

func (a *allSubscription) step() (int, bool, error) {
	size := subscriptionPageRecords
	if a.request.filter != nil {
		size = a.request.filter.window
	}
	page, damage := a.service.allPage(a.request, a.out, a.next, math.MaxUint64, size)
	if page.considered == 0 {
		a.out.held.release()
		a.out.turn.leave()
		return 0, true, damage
	}
	sent, err := a.out.send(page.events, damage)
	if err != nil {
		return 0, false, err
	}
	if page.cut(sent); page.considered == 0 {
		return 0, false, nil
	}
	if sent > 0 {
		a.reported = max(a.reported, page.events[sent-1].Position)
	}
	a.next = page.last + 1
	if err := a.countConsidered(page.considered); err != nil {
		return 0, false, err
	}
	end, err := a.service.head()
	return page.considered, a.next > end, err
}

// countConsidered counts records towards the filter's interval and sends a checkpoint when it is full.
func (a *allSubscription) countConsidered(records int) error {
	filter := a.request.filter
	if filter == nil {
		return nil
	}
	if a.considered += records; a.considered < filter.interval {
		return nil
	}
	a.considered %= filter.interval
	return a.sendCheckpoint()
}

// sendCheckpoint sends the position before next as a checkpoint, unless the client has
// received that position or a later one.
func (a *allSubscription) sendCheckpoint() error {
	position := a.next - 1
	if a.next == 0 || position <= a.checkpoint || position < a.reported {
		return nil
	}
	a.checkpoint = position
	return a.out.call.Send(checkpointAt(position, time.Now()))
}

func (a *allSubscription) reached() progress { return progressBefore(a.next, true) }

func (a *allSubscription) caughtUp() error {
	if a.request.filter != nil {
		end, err := a.service.head()
		if err != nil {
			return err
		}
		// a start beyond the end has nothing to report
		if a.next <= end+1 {
			if err := a.sendCheckpoint(); err != nil {
				return err
			}
		}
	}
	return a.out.call.Send(caughtUpAt(a.reached(), time.Now()))
}
