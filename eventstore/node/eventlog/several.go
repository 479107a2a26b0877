package eventlog

import (
	"context"
	"fmt"
)

// MaxAppendStreams is how many streams one append may write to and check together.
const MaxAppendStreams = 1024

// ProposedIn is an event for a stream.
type ProposedIn struct {
	Stream string
	Proposed
}

// Check is the state in which the writer of an append expects a stream, whether or not the append writes to it.
type Check struct {
	Stream   string
	Expected Expected
}

// FailedCheck is a stream that is not as an append to several streams needs it.
type FailedCheck struct {
	Check
	Index       int   // of the check in the append; -1 when it writes to the stream without one
	Actual      int64 // last revision, -1 for a stream without events
	Tombstoned  bool
	SoftDeleted bool
}

// ChecksError is returned for an append to several streams some of which are not as it expects them.
type ChecksError struct{ Failed []FailedCheck } // one at least, in the order of the append

func (e *ChecksError) Error() string {
	first := e.Failed[0]
	switch {
	case first.Tombstoned, first.SoftDeleted && first.Expected.Kind == ExpectStreamExists:
		return fmt.Sprintf("nothing was appended: stream %s is deleted (%d of the streams are not as expected)", Quoted(first.Stream), len(e.Failed))
	default:
		return fmt.Sprintf("nothing was appended: stream %s is at revision %d, expected %s (%d of the streams are not as expected): read them again and decide anew", Quoted(first.Stream), first.Actual, first.Expected, len(e.Failed))
	}
}

// Written is the last revision of a stream after an append.
type Written struct {
	Stream       string
	LastRevision int64
}

// several is an append to several streams.
type several struct {
	checks  []Check
	events  []ProposedIn
	streams int // that it writes to or checks
	written []Written
}

// AppendSeveral writes events to several streams, all or none, at consecutive positions in their order, when every check
// holds. A stream without a check is written in any state but tombstoned. It returns what was written to each stream, in the order
// of their first events, and the position of the last event. A repetition is recognised as by Append when it is one in every
// stream. Errors: *ChecksError, and those of Append but for the two that name one stream.
func (l *Log) AppendSeveral(ctx context.Context, checks []Check, events []ProposedIn) ([]Written, uint64, error) {
	streams, err := checkSeveral(checks, events)
	if err != nil {
		return nil, 0, err
	}
	s := &several{checks: checks, events: events, streams: streams}
	p, err := l.enqueue(&request{ctx: ctx, op: opAppendSeveral, several: s, done: make(chan outcome, 1)})
	if err != nil {
		return nil, 0, err
	}
	result, err := p.Wait(ctx)
	if err != nil {
		return nil, 0, err
	}
	return s.written, result.Position, nil
}

// checkSeveral returns how many streams the append has, or why it can never succeed.
func checkSeveral(checks []Check, events []ProposedIn) (streams int, err error) {
	if len(events) == 0 {
		return 0, &InvalidRequestError{"an append to several streams has no event"}
	}
	plain := make([]Proposed, len(events))
	distinct := map[string]bool{}
	for i := range events {
		plain[i] = events[i].Proposed
		if err := checkTarget(opAppend, events[i].Stream, Any()); err != nil {
			return 0, err
		}
		distinct[events[i].Stream] = true
	}
	checked := map[string]bool{}
	for _, c := range checks {
		if err := checkTarget(opAppend, c.Stream, c.Expected); err != nil {
			return 0, err
		}
		if checked[c.Stream] {
			return 0, &InvalidRequestError{"stream " + Quoted(c.Stream) + " is checked twice: say one state in which it is expected"}
		}
		checked[c.Stream], distinct[c.Stream] = true, true
	}
	if len(distinct) > MaxAppendStreams {
		return 0, &InvalidRequestError{fmt.Sprintf("the append has %d streams, and may have %d: append to them in parts", len(distinct), MaxAppendStreams)}
	}
	return len(distinct), checkEvents(plain)
}

// streamPart is what an append to several streams has for one of them.
type streamPart struct {
	failed  FailedCheck // what it is when it fails
	state   *streamState
	base    *streamState // of the stream whose metadata this is; else nil
	events  []Proposed
	hides   bool         // the stream, or the one whose metadata this is, was deleted: its old events stay hidden
	before  int64        // the first revision that is not hidden then
	keep    []byte       // of the metadata of a deleted stream
	meta    *streamState // of that metadata
	known   Result       // of the append that this one repeats
	isKnown bool
}

// appendSeveral decides an append to several streams. Nothing changes unless it is written.
func (w *writer) appendSeveral(r *request) (Result, error) {
	parts, byStream, err := w.partsOf(r.several)
	if err != nil {
		return Result{}, err
	}
	known, failed, err := w.judge(parts)
	switch {
	case err != nil:
		return Result{}, err
	case known:
		return r.several.finish(parts), nil
	case len(failed) > 0:
		return Result{}, &ChecksError{failed}
	}
	for _, p := range parts {
		if err := w.prepareRevival(p, byStream); err != nil {
			return Result{}, err
		}
	}
	for i := range r.several.events {
		e := &r.several.events[i]
		p := byStream[e.Stream]
		p.known = w.writeAll(e.Stream, p.state, []Proposed{e.Proposed})
	}
	result := r.several.finish(parts)
	for _, p := range parts {
		if len(p.events) > 0 {
			w.keepHidden(p)
		}
	}
	return result, nil
}

// partsOf returns the streams of an append, those that are written first.
func (w *writer) partsOf(s *several) (parts []*streamPart, byStream map[string]*streamPart, err error) {
	byStream = map[string]*streamPart{}
	of := func(stream string) (*streamPart, error) {
		p := byStream[stream]
		if p != nil {
			return p, nil
		}
		p = &streamPart{failed: FailedCheck{Check: Check{stream, Any()}, Index: -1}}
		if p.state, err = w.state(stream); err != nil {
			return nil, err
		}
		revived := p.state
		if IsMetaStream(stream) && !IsIndexStream(baseStream(stream)) {
			if p.base, err = w.state(baseStream(stream)); err != nil {
				return nil, err
			}
			revived = p.base
		}
		p.hides, p.before = revived.softDeleted(), revived.last+1
		p.failed.Actual, p.failed.Tombstoned, p.failed.SoftDeleted = p.state.last, p.state.tombstoned, p.state.softDeleted()
		parts, byStream[stream] = append(parts, p), p
		return p, nil
	}
	for i := range s.events {
		p, err := of(s.events[i].Stream)
		if err != nil {
			return nil, nil, err
		}
		p.events = append(p.events, s.events[i].Proposed)
	}
	for i, c := range s.checks {
		p, err := of(c.Stream)
		if err != nil {
			return nil, nil, err
		}
		p.failed.Check, p.failed.Index = c, i
	}
	return parts, byStream, nil
}

// judge compares every stream with what is expected. known is whether the append repeats one in every stream that it writes
// to: then it does not matter what became of the others.
func (w *writer) judge(parts []*streamPart) (known bool, failed []FailedCheck, err error) {
	known = true
	var repeated []FailedCheck // a repetition in one stream only is none
	for _, p := range parts {
		ok, err := w.judgePart(p)
		switch {
		case err != nil:
			return false, nil, err
		case !ok:
			failed = append(failed, p.failed)
		case p.isKnown:
			repeated = append(repeated, p.failed)
		}
		if len(p.events) > 0 {
			known = known && p.isKnown
		}
	}
	if len(failed) == 0 {
		failed = repeated
	}
	return known, failed, nil
}

func (w *writer) judgePart(p *streamPart) (ok bool, err error) {
	c := p.failed.Check
	v := evaluateExpected(p.state, c.Expected)
	if len(p.events) == 0 {
		return v != streamDeleted && v != wrongRevision && v != knownOrWrong, nil
	}
	p.known, p.isKnown, err = w.findRepeated(c, p.events, p.state, v)
	if isNotAsExpected(err) {
		return false, nil
	}
	return true, err
}

// prepareRevival reads what is kept of the metadata of a deleted stream that is written to, unless the append writes its metadata.
func (w *writer) prepareRevival(p *streamPart, byStream map[string]*streamPart) (err error) {
	own := byStream[MetaStream(p.failed.Stream)]
	if len(p.events) == 0 || !p.hides || p.base != nil {
		return nil
	}
	if own != nil && len(own.events) > 0 { // it keeps the old events hidden, too
		p.hides = false
		return nil
	}
	p.keep, p.meta, err = w.keptMetadata(p.failed.Stream, p.state)
	return err
}

// keepHidden writes the metadata that a stream needs after the events of the append.
func (w *writer) keepHidden(p *streamPart) {
	switch {
	case p.base != nil:
		w.adoptMetadata(p.failed.Stream, p.state, p.base, &p.events[len(p.events)-1], p.hides, p.before)
	case p.hides:
		w.writeMetadata(p.failed.Stream, p.state, p.meta, withTruncateBefore(p.keep, p.before))
	}
}

// finish notes what was written to each stream, and returns the result of the whole.
func (s *several) finish(parts []*streamPart) (whole Result) {
	s.written = s.written[:0]
	for _, p := range parts {
		if len(p.events) > 0 {
			s.written = append(s.written, Written{p.failed.Stream, p.known.LastRevision})
			whole.Position = max(whole.Position, p.known.Position)
		}
	}
	return whole
}

// streams is how many streams the request may change or look at.
func (r *request) streams() int {
	if r.several == nil {
		return 1
	}
	return r.several.streams
}
