package node

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"

	"reckon/eventstore/node/eventlog"
)

// startPoint is where a read or a subscription begins.
type startPoint uint8

const (
	fromStart startPoint = iota + 1
	fromEnd
	fromNumber
)

// readRequest holds the checked options of a Read call.
type readRequest struct {
	stream       string // empty for $all
	from         startPoint
	number       uint64 // revision or position, for fromNumber
	backwards    bool
	resolveLinks bool // resolve them
	subscribe    bool
	count        uint64
	filter       *filter
	idAsText     bool
	positions    bool // say where the stream begins and ends: older clients refuse such messages
	fallsBehind  bool // say when the subscription is no longer live: likewise
}

// Read answers reads and subscriptions of a stream or of $all.
func (s *streamsService) Read(req *streams.ReadReq, call streams.Streams_ReadServer) error {
	r, err := readFromWire(req.GetOptions())
	if err != nil {
		return statusError(call.Context(), err)
	}
	out := &reply{call: call, request: r, closing: s.closing, log: s.log, held: s.memory.hold(call.Context()), outbound: outboundOf(call.Context()), turn: turn{of: s.reads, owner: eventlog.OwnerOf(call.Context())}}
	defer out.held.release()
	defer out.turn.leave()
	if r.subscribe {
		leave, err := s.subscriptions.take(call.Context())
		if err != nil {
			return statusError(call.Context(), err)
		}
		defer leave()
		if err := out.outbound.keepRoom(call.Context()); err != nil {
			return statusError(call.Context(), err)
		}
	}
	switch {
	case r.subscribe && r.stream == "":
		err = s.subscribeAll(r, out)
	case r.subscribe:
		err = s.subscribeStream(r, out)
	case r.stream == "":
		err = s.readAll(r, out)
	default:
		err = s.readStream(r, out)
	}
	return statusError(call.Context(), err)
}

func readFromWire(o *streams.ReadReq_Options) (*readRequest, error) {
	compatibility := o.GetControlOption().GetCompatibility()
	r := &readRequest{resolveLinks: o.GetResolveLinks(), positions: compatibility >= 1, fallsBehind: compatibility >= 2}
	switch o.GetReadDirection() {
	case streams.ReadReq_Options_Forwards:
	case streams.ReadReq_Options_Backwards:
		r.backwards = true
	default:
		return nil, invalid("the read direction is unknown")
	}
	switch option := o.GetUuidOption(); {
	case option == nil:
		return nil, invalid("the form of ids is missing")
	case option.GetString_() != nil:
		r.idAsText = true
	}
	var err error
	if r.filter, err = filterFromWire(o); err != nil {
		return nil, err
	}
	switch count := o.GetCountOption().(type) {
	case *streams.ReadReq_Options_Count:
		r.count = count.Count
		if r.count == 0 {
			return nil, invalid("the count must be at least 1")
		}
	case *streams.ReadReq_Options_Subscription:
		r.subscribe = true
		if r.backwards {
			return nil, invalid("a subscription cannot go backwards")
		}
	default:
		return nil, invalid("the count is missing")
	}
	return r, r.setSource(o)
}

// alone reports whether one event of a stream is asked for.
func (r *readRequest) alone() bool { return r.count == 1 && r.stream != "" }

// setSource sets the stream ("" for $all) and the start of the read.
func (r *readRequest) setSource(o *streams.ReadReq_Options) error {
	switch source := o.GetStreamOption().(type) {
	case *streams.ReadReq_Options_All:
		switch from := source.All.GetAllOption().(type) {
		case *streams.ReadReq_Options_AllOptions_Position:
			r.from, r.number = fromNumber, from.Position.GetCommitPosition()
			if r.number == math.MaxUint64 {
				r.from = fromEnd
			}
		case *streams.ReadReq_Options_AllOptions_Start:
			r.from = fromStart
		case *streams.ReadReq_Options_AllOptions_End:
			r.from = fromEnd
		default:
			return invalid("the position is missing")
		}
	case *streams.ReadReq_Options_Stream:
		if r.filter != nil {
			return invalid("only reads of $all can be filtered")
		}
		return r.setStream(source.Stream)
	default:
		return invalid("the stream is missing")
	}
	return nil
}

func (r *readRequest) setStream(source *streams.ReadReq_Options_StreamOptions) error {
	r.stream = string(source.GetStreamIdentifier().GetStreamName())
	switch {
	case r.stream == "":
		return invalid("the stream name is empty")
	case len(r.stream) > eventlog.MaxStreamNameBytes:
		return invalid("the stream name is too long")
	case r.stream == eventlog.AllStream:
		return invalid("$all is not a stream: read it with the option all")
	}
	switch from := source.GetRevisionOption().(type) {
	case *streams.ReadReq_Options_StreamOptions_Revision:
		r.from, r.number = fromNumber, from.Revision
		if r.number == math.MaxUint64 {
			r.from = fromEnd
		}
	case *streams.ReadReq_Options_StreamOptions_Start:
		r.from = fromStart
	case *streams.ReadReq_Options_StreamOptions_End:
		r.from = fromEnd
	default:
		return invalid("the revision is missing")
	}
	return nil
}

// reply sends the messages of one Read call.
type reply struct {
	call     streams.Streams_ReadServer
	request  *readRequest
	closing  <-chan struct{}
	log      *eventlog.Log
	held     *holding // memory of the page that is being sent
	outbound *outbound
	turn     turn // for reading and encoding, while nothing is waited for
}

// page returns the bounds of a page, for which it reserves memory, and for a read what gRPC
// keeps of answers that the client does not take; and waits for a turn. The page must be sent, and held released.
func (o *reply) page(records int) (eventlog.Page, error) {
	o.turn.leave() // nobody else waits while this waits for memory
	page, beside := eventlog.Page{Records: min(records, pageRecords), Bytes: pageBytes}, queuedBytes
	if o.request.subscribe {
		page, beside = eventlog.Page{Records: min(records, subscriptionPageRecords), Bytes: subscriptionPageBytes}, 0
	}
	if err := o.held.reserve(o.call.Context(), page.Bytes+beside); err != nil {
		return page, err
	}
	return page, o.turn.take(o.call.Context(), page.Records)
}

// reserveBeyond reserves memory for what a page has beyond its bound, which is one record at most.
func (o *reply) reserveBeyond(page eventlog.Page, records []eventlog.Record) error {
	size := -page.Bytes
	for i := range records {
		size += len(records[i].Data) + len(records[i].Metadata)
	}
	if size <= 0 {
		return nil
	}
	o.turn.leave()
	return o.held.reserve(o.call.Context(), size)
}

// interrupted returns why the call must stop between two pages: its context's error, or
// errShuttingDown; nil otherwise.
func (o *reply) interrupted() error {
	select {
	case <-o.call.Context().Done():
		return o.call.Context().Err()
	case <-o.closing:
		return errShuttingDown
	default:
		return nil
	}
}

// resolved is an event, or a link event with its target.
type resolved struct {
	event *eventlog.Record // nil when the link's target does not exist
	link  *eventlog.Record // nil for an event that is no link, or that was not to be resolved
}

// resolve returns a record as the request wants it. Links are resolved one by one when
// they are sent: a page of links may have targets of any size.
func (o *reply) resolve(record *eventlog.Record) (resolved, error) {
	stream, revision, ok := linkTarget(record)
	if !o.request.resolveLinks || !ok {
		return resolved{event: record}, nil
	}
	view, err := o.log.View()
	if err != nil {
		return resolved{}, err
	}
	defer view.Close()
	target, found, err := view.Event(stream, revision)
	if err != nil || !found {
		return resolved{link: record}, err
	}
	return resolved{event: &target, link: record}, nil
}

// position returns the position of the record that was read: that of the link, for a resolved link.
func (e *resolved) position() uint64 {
	if e.link != nil {
		return e.link.Position
	}
	return e.event.Position
}

// linkTarget parses the revision@stream of a link. ok is false for other events and for
// links that do not parse, which are sent like other events.
func linkTarget(r *eventlog.Record) (stream string, revision uint64, ok bool) {
	if r.Type != eventlog.LinkType {
		return "", 0, false
	}
	number, stream, found := strings.Cut(string(r.Data), "@")
	revision, err := strconv.ParseUint(number, 10, 63)
	return stream, revision, found && err == nil && stream != "" && len(stream) <= eventlog.MaxStreamNameBytes
}

// send sends the records of a page one by one, and releases its memory. It waits, without a turn, while the
// client does not receive; for a subscriber at most pagePatience, after which it returns with
// fewer sent than there are. damage is what lies behind the records, and is returned when all are sent: for this the client
// is waited for without an end, for the node may be ending over it.
func (o *reply) send(records []eventlog.Record, damage error) (sent int, err error) {
	o.held.waitForClient()
	defer o.held.release()
	defer o.turn.leave()
	patience, closing := pagePatience, o.closing
	if damage != nil || !o.request.subscribe {
		patience, closing = 0, nil
	}
	for i := range records {
		if o.outbound.isFull() {
			o.turn.leave()
			if room, err := o.outbound.await(o.call.Context(), patience, closing); err != nil || !room {
				return i, err
			}
		}
		if err := o.turn.take(o.call.Context(), len(records)-i); err != nil {
			return i, err
		}
		if err := o.sendOne(&records[i]); err != nil {
			return i, err
		}
	}
	return len(records), damage
}

func (o *reply) sendOne(record *eventlog.Record) error {
	e, err := o.resolve(record)
	if err != nil {
		return err
	}
	message := &streams.ReadResp_ReadEvent{Position: &streams.ReadResp_ReadEvent_CommitPosition{CommitPosition: e.position()}}
	size := 0
	if e.link != nil {
		message.Link = recordToWire(e.link, o.request.idAsText)
		size += len(e.link.Data) + len(e.link.Metadata)
	}
	if e.event != nil {
		message.Event = recordToWire(e.event, o.request.idAsText)
		if o.request.alone() && e.event.Link != ([32]byte{}) {
			message.Event.Metadata[chainKey] = o.log.ID().String() + " " + hex.EncodeToString(e.event.Link[:])
		}
		size += len(e.event.Data) + len(e.event.Metadata)
	}
	if size > queuedBytes { // beyond what is reserved for answers in any case; gRPC may wait for the client with it
		o.turn.leave()
		if err := o.held.reserve(o.call.Context(), size); err != nil {
			return err
		}
		o.outbound.keep(o.held, size)
	}
	return o.call.Send(&streams.ReadResp{Content: &streams.ReadResp_Event{Event: message}})
}

// readStream sends the events of a stream that were visible when the call arrived.
func (s *streamsService) readStream(r *readRequest, out *reply) error {
	info, err := s.streamInfo(r.stream)
	switch {
	case err != nil:
		return err
	case info.Tombstoned:
		return &eventlog.StreamDeletedError{Stream: r.stream}
	case !info.Exists():
		return out.call.Send(&streams.ReadResp{Content: &streams.ReadResp_StreamNotFound_{
			StreamNotFound: &streams.ReadResp_StreamNotFound{StreamIdentifier: streamToWire(r.stream)},
		}})
	}
	if r.positions && r.beginsBefore(info.First) {
		if err := out.call.Send(&streams.ReadResp{Content: &streams.ReadResp_FirstStreamPosition{FirstStreamPosition: info.First}}); err != nil {
			return err
		}
	}
	if err := s.sendSpan(r, out, info); err != nil || !r.positions {
		return err
	}
	return out.call.Send(&streams.ReadResp{Content: &streams.ReadResp_LastStreamPosition{LastStreamPosition: uint64(info.Last)}})
}

// beginsBefore reports whether a read asks for revisions before the first that is visible.
func (r *readRequest) beginsBefore(first uint64) bool {
	return !r.backwards && first > 0 && (r.from == fromStart || r.from == fromNumber && r.number < first)
}

// sendSpan sends the events of a stream that a read asks for.
func (s *streamsService) sendSpan(r *readRequest, out *reply, info eventlog.StreamInfo) error {
	first, last, ok := r.span(info)
	for left := r.count; ok && left > 0 && first <= last; {
		if err := out.interrupted(); err != nil {
			return err
		}
		page, damage := s.streamPage(r, out, first, last, pageSize(left))
		if len(page) == 0 {
			return damage
		}
		if _, err := out.send(page, damage); err != nil {
			return err
		}
		left -= uint64(len(page))
		newest := page[len(page)-1].Revision
		if !r.backwards {
			first = newest + 1
		} else if newest == 0 {
			return nil
		} else {
			last = newest - 1
		}
	}
	return nil
}

// span returns the range of revisions that a read covers; ok is false when it is empty.
func (r *readRequest) span(info eventlog.StreamInfo) (first, last uint64, ok bool) {
	first, last = info.First, uint64(info.Last)
	switch {
	case !r.backwards && r.from == fromEnd, r.backwards && r.from == fromStart && first > 0:
		return 0, 0, false
	case !r.backwards && r.from == fromNumber:
		first = max(first, r.number)
	case r.backwards && r.from == fromStart:
		last = 0
	case r.backwards && r.from == fromNumber:
		last = min(last, r.number)
	}
	return first, last, first <= last
}

func pageSize(left uint64) int { return int(min(left, pageRecords)) }

func (s *streamsService) streamInfo(stream string) (eventlog.StreamInfo, error) {
	view, err := s.log.View()
	if err != nil {
		return eventlog.StreamInfo{}, err
	}
	defer view.Close()
	return view.Stream(stream)
}

// streamPage reads one page. With an error come the records before a damaged one, if any; they must be sent before
// the call fails with it. It closes its view before it returns, so that no snapshot is held while events are sent.
func (s *streamsService) streamPage(r *readRequest, out *reply, first, last uint64, records int) ([]eventlog.Record, error) {
	bounds, err := out.page(records)
	if err != nil {
		return nil, err
	}
	view, err := s.log.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	page, damage := view.ReadStream(out.call.Context(), r.stream, first, last, r.backwards, bounds)
	if err := out.reserveBeyond(bounds, page); err != nil {
		return nil, err
	}
	return page, damage
}

// readAll sends events of $all up to the head that the log had when the call arrived.
func (s *streamsService) readAll(r *readRequest, out *reply) error {
	end, err := s.head()
	if err != nil {
		return err
	}
	cursor := r.allCursor(end)
	for left := r.count; left > 0; {
		if err := out.interrupted(); err != nil {
			return err
		}
		page, damage := s.allPage(r, out, cursor, end, r.pageSize(left))
		if page.considered == 0 {
			return damage
		}
		if uint64(len(page.events)) >= left {
			page.events, damage = page.events[:left], nil // it lies behind what was asked for
		}
		if _, err := out.send(page.events, damage); err != nil {
			return err
		}
		left -= uint64(len(page.events))
		cursor = page.last
		if !r.backwards {
			cursor++
		}
	}
	return nil
}

func (s *streamsService) head() (uint64, error) {
	view, err := s.log.View()
	if err != nil {
		return 0, err
	}
	defer view.Close()
	return view.Head(), nil
}

// allCursor returns the first position of a forward read, or the position above the first
// of a backward read.
func (r *readRequest) allCursor(end uint64) uint64 {
	switch r.from {
	case fromStart:
		return 0
	case fromEnd:
		return end + 1
	default:
		return min(r.number, end+1)
	}
}

// pageSize returns how many records to read at once. A filtered read reads whole pages,
// because not every record matches.
func (r *readRequest) pageSize(left uint64) int {
	if r.filter != nil {
		return pageRecords
	}
	return pageSize(left)
}

// allPage is a page of $all after filtering.
type allPage struct {
	events     []eventlog.Record
	ordinals   []int  // of each event, among the records looked at; from 1
	considered int    // records looked at
	last       uint64 // position of the last of them
}

// cut leaves the first events only, as if no record behind them had been looked at.
func (p *allPage) cut(events int) {
	if events == len(p.events) {
		return
	}
	p.considered, p.last = 0, 0
	if p.events = p.events[:events]; events > 0 {
		p.considered, p.last = p.ordinals[events-1], p.events[events-1].Position
	}
}

// allPage reads and filters one page, as streamPage does.
func (s *streamsService) allPage(r *readRequest, out *reply, cursor, end uint64, records int) (allPage, error) {
	if r.filter.isCostly() { // before anything is held
		leave, err := takeMatching(out.call.Context(), out.closing)
		if err != nil {
			return allPage{}, err
		}
		defer leave()
	}
	bounds, err := out.page(records)
	if err != nil {
		return allPage{}, err
	}
	view, err := s.log.View()
	if err != nil {
		return allPage{}, err
	}
	defer view.Close()
	page, damage := view.ReadAll(out.call.Context(), cursor, r.backwards, bounds)
	if err := out.reserveBeyond(bounds, page); err != nil {
		return allPage{}, err
	}
	if r.filter.isCostly() { // it has a bound of its own
		out.turn.leave()
	}
	result := allPage{}
	wanted := page[:0]
	for i := range page {
		if !r.backwards && page[i].Position > end {
			damage = nil // it lies behind what was asked for
			break
		}
		result.considered++
		result.last = page[i].Position
		ok, err := r.filter.matches(&page[i])
		if err != nil {
			return allPage{}, err
		}
		if ok && !hiddenFromAll(&page[i]) {
			wanted = append(wanted, page[i])
			result.ordinals = append(result.ordinals, result.considered)
		}
	}
	result.events = wanted
	return result, damage
}
