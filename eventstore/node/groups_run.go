package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"sync"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/persistent"
	"github.com/google/uuid"

	"reckon/eventstore/node/eventlog"
	"reckon/eventstore/node/group"
)

const (
	checkpointType = "$SubscriptionCheckpoint"
	correlationKey = "$correlationId"
	// fillPages bounds what a consumer that joins waits for: the default buffer of 500 events is 25 pages of 20.
	fillPages = 32
)

// consumerGroup runs one group: one goroutine reads the log for it, another makes durable
// what it has parked and how far it is, and each consumer is a call of groups_read.go.
type consumerGroup struct {
	service *groupsService
	config  groupConfig
	filter  *filter
	read    chan struct{} // tells the reader that the group may want events
	write   chan struct{} // tells the writer that something is to be made durable
	done    chan struct{} // closed when the group is put away
	places  *quota        // of consumers
	filled  chan struct{} // closed when the buffer is full, the log at its end or unreadable, or fillPages were read
	running sync.WaitGroup
	started time.Time

	truncating sync.Mutex // held while the parked stream is truncated

	mu        sync.Mutex
	state     *group.Group
	consumers []*consumer
	ended     error // why the group was put away; nil while it runs
	halted    error // the damage at which it has stopped reading; nil while it reads
	reading   bool  // a page is being read
	counted   int   // of its unsettled events in the service's count
	shown     int64 // deliveries at the last info

	hasCheckpoints bool // the checkpoint stream exists; only the writer uses it
}

// start starts a group at its checkpoint.
func (s *groupsService) start(c groupConfig) (*consumerGroup, error) {
	filter, err := c.Filter.compile()
	if err != nil {
		return nil, err
	}
	g := &consumerGroup{
		service: s, config: c, filter: filter, started: time.Now(), places: newQuota(maxGroupConsumers, maxGroupConsumers, c.full()),
		read: make(chan struct{}, 1), write: make(chan struct{}, 1), done: make(chan struct{}), filled: make(chan struct{}),
	}
	after, err := g.loadCheckpoint()
	parked := eventlog.StreamInfo{Last: -1}
	if err == nil {
		parked, err = streamInfoOf(s.log, c.parkedStream())
	}
	if err != nil && damageIn(err) == nil {
		return nil, err
	}
	g.state = group.New(g.started, c.Settings.rules(), after, min(int64(parked.First), parked.Last+1))
	if err != nil { // nobody knows how far it was
		close(g.filled)
		g.halt(err)
		return g, nil
	}
	g.running.Go(g.readLog)
	g.running.Go(g.keep)
	return g, nil
}

// loadCheckpoint returns the number of the last event that the group has settled.
func (g *consumerGroup) loadCheckpoint() (int64, error) {
	view, err := g.service.log.View()
	if err != nil {
		return 0, err
	}
	defer view.Close()
	stream := g.config.checkpointStream()
	info, err := view.Stream(stream)
	if err != nil || !info.Exists() || info.Tombstoned {
		return g.config.After, err
	}
	g.hasCheckpoints = true
	records, err := view.ReadStream(context.Background(), stream, uint64(info.Last), uint64(info.Last), false, eventlog.Page{Records: 1, Bytes: pageBytes})
	if err != nil || len(records) == 0 {
		return g.config.After, err
	}
	var text string
	if err := json.Unmarshal(records[0].Data, &text); err == nil {
		if number, ok := g.config.parsePosition(text); ok {
			return number, nil
		}
	}
	g.service.logger.Warn("the checkpoint of a persistent subscription cannot be read: it starts anew", "subscription", g.config.id())
	return g.config.After, nil
}

// change acts on the state and wakes whoever has something to do after it.
func (g *consumerGroup) change(act func(state *group.Group, now time.Time)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.changeLocked(act)
}

func (g *consumerGroup) changeLocked(act func(state *group.Group, now time.Time)) {
	now := time.Now()
	act(g.state, now)
	if g.ended == nil {
		g.count(g.state.Unsettled())
	}
	for _, c := range g.consumers {
		if c.member.Waiting() {
			wake(c.wake)
		}
	}
	if _, events := g.state.Want(1); events > 0 || g.state.Replaying() {
		wake(g.read)
	}
	if len(g.state.Parking(1)) > 0 || g.due(now) {
		wake(g.write)
	}
	if g.isAtDamage() {
		consumers := g.consumers
		g.consumers = nil
		for _, c := range consumers {
			g.state.Leave(now, c.member)
			close(c.dropped)
		}
	}
}

// halt ends the group's reading at a damaged record. Its consumers are given what was read before, and then the error.
func (g *consumerGroup) halt(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.halted != nil {
		return
	}
	g.halted, g.reading = fmt.Errorf("persistent subscription %s has stopped: %w", g.config.inMessage(), err), false
	g.service.logger.Error("a persistent subscription has stopped at a damaged record", "subscription", g.config.id(), "position", damageIn(err).Position)
	g.changeLocked(func(*group.Group, time.Time) {})
}

// isAtDamage reports whether the group has stopped reading, and nothing that it has read is left for consumers.
func (g *consumerGroup) isAtDamage() bool {
	if g.halted == nil || g.ended != nil {
		return false
	}
	c := g.state.Counts()
	return c.Waiting+c.Retrying+c.Given == 0
}

// damageIn is the damaged record by which something failed; nil when it failed otherwise.
func damageIn(err error) *eventlog.CorruptError {
	var damage *eventlog.CorruptError
	errors.As(err, &damage)
	return damage
}

// due reports whether the writer has a checkpoint or a truncation to write.
func (g *consumerGroup) due(now time.Time) bool {
	_, checkpoint := g.state.Checkpoint(now, false)
	_, truncation := g.state.Truncation()
	return checkpoint || truncation
}

// count tells the service how many unsettled events the group holds.
func (g *consumerGroup) count(unsettled int) {
	g.service.unsettled.Add(int64(unsettled - g.counted))
	g.counted = unsettled
}

// wake leaves a signal for a goroutine; one is enough.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// room returns how many events the group may read now.
func (g *consumerGroup) room() int {
	if left := maxUnsettled - g.service.unsettled.Load(); left > groupRoom {
		return int(left)
	}
	return max(groupRoom-g.counted, 0)
}

// stop puts the group away: its consumers receive the reason, and with flush its progress is
// made durable.
func (g *consumerGroup) stop(reason error, flush bool) {
	g.mu.Lock()
	if g.ended != nil {
		g.mu.Unlock()
		return
	}
	g.ended = reason
	consumers := g.consumers
	g.consumers = nil
	g.changeLocked(func(state *group.Group, now time.Time) {
		for _, c := range consumers {
			state.Leave(now, c.member)
			close(c.dropped)
		}
	})
	g.mu.Unlock()
	close(g.done)
	g.running.Wait()
	if flush {
		if err := g.persist(true); err != nil && g.service.log.Err() == nil {
			g.service.logger.Warn("the last progress of a persistent subscription was not stored: it repeats some events", "subscription", g.config.id(), "error", err)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count(0)
}

// readLog feeds the group whenever it wants events and there are some.
func (g *consumerGroup) readLog() {
	watch := g.service.log.Watch(g.config.Stream)
	defer watch.Close()
	log := failureLog{group: g, what: "cannot read the log"}
	fill := sync.OnceFunc(func() { close(g.filled) })
	defer fill()
	pages := 0
	for more := true; ; {
		if pages++; pages > fillPages {
			fill()
		}
		g.mu.Lock()
		if g.halted != nil { // by a consumer's delivery
			g.mu.Unlock()
			return
		}
		after, events := g.state.Want(g.room())
		from, until, replays := g.state.WantParked(g.room())
		g.reading = replays > 0 || events > 0 && more
		g.mu.Unlock()
		var err error
		switch {
		case replays > 0:
			err = g.withRead(func(ctx context.Context, view *eventlog.View) error {
				return g.readParked(ctx, view, from, until, replays)
			})
		case events > 0 && more:
			err = g.withRead(func(ctx context.Context, view *eventlog.View) (err error) {
				more, err = g.readPage(ctx, view, after, events)
				return err
			})
		default:
			fill()
			select {
			case <-g.read:
			case <-watch.C:
				more = true
			case <-g.done:
				return
			}
		}
		if damageIn(err) != nil {
			g.halt(err)
			return
		}
		if log.note(err); err != nil {
			fill()
			if g.pause() {
				return
			}
		}
	}
}

// failureLog logs the first of a row of errors.
type failureLog struct {
	group *consumerGroup
	what  string
	since bool
}

func (f *failureLog) note(err error) {
	if err != nil && !f.since && f.group.service.log.Err() == nil { // the log itself says once that it takes no more
		f.group.service.logger.Error("persistent subscription "+f.what, "subscription", f.group.config.id(), "error", err)
	}
	f.since = err != nil
}

// pause waits before something that failed is tried again; true when the group is put away.
func (g *consumerGroup) pause() (ended bool) {
	select {
	case <-time.After(groupTick):
		return false
	case <-g.done:
		return true
	}
}

// withRead reads while at most maxGroupReads groups do.
func (g *consumerGroup) withRead(read func(context.Context, *eventlog.View) error) error {
	select {
	case g.service.reading <- struct{}{}:
	case <-g.done:
		return nil
	}
	defer func() { <-g.service.reading }()
	view, err := g.service.log.View()
	if err != nil {
		return err
	}
	defer view.Close()
	return read(context.Background(), view)
}

// readPage feeds events above a number, and reports whether there may be more.
func (g *consumerGroup) readPage(ctx context.Context, view *eventlog.View, after int64, events int) (more bool, err error) {
	page := group.Page{Last: after, AtEnd: true}
	if g.config.ofAll() {
		err = g.pageOfAll(ctx, view, &page, events)
	} else {
		err = g.pageOfStream(ctx, view, &page, events)
	}
	if err != nil {
		return true, err
	}
	g.change(func(state *group.Group, now time.Time) { state.Feed(now, page) })
	return !page.AtEnd, nil
}

func (g *consumerGroup) pageOfStream(ctx context.Context, view *eventlog.View, page *group.Page, events int) error {
	info, err := view.Stream(g.config.Stream)
	if err != nil || !info.Exists() || info.Tombstoned || info.Last <= page.Last {
		return err
	}
	records, err := view.ReadStream(ctx, g.config.Stream, max(uint64(page.Last+1), info.First), uint64(info.Last), false, eventlog.Page{Records: events, Bytes: pageBytes})
	if len(records) == 0 { // else a damaged record is met by the next page
		return err
	}
	for i := range records {
		r := &records[i]
		pin, err := g.pin(view, r)
		if err != nil {
			return err
		}
		page.Events = append(page.Events, group.Event{ID: r.ID, Number: int64(r.Revision), Before: int64(r.Revision) - 1, Pin: pin})
		page.Last = int64(r.Revision)
	}
	page.AtEnd = page.Last >= info.Last
	return nil
}

func (g *consumerGroup) pageOfAll(ctx context.Context, view *eventlog.View, page *group.Page, events int) error {
	if page.Last >= int64(view.Head()) {
		return nil
	}
	size := events
	if g.filter != nil {
		size = pageRecords
	}
	records, err := view.ReadAll(ctx, uint64(page.Last+1), false, eventlog.Page{Records: size, Bytes: pageBytes})
	if len(records) == 0 {
		return err
	}
	for i := range records {
		r := &records[i]
		if len(page.Events) == events {
			break
		}
		before := page.Last
		page.Last = int64(r.Position)
		if hiddenFromAll(r) {
			continue
		}
		// an event on which the filter takes too long is delivered: it must not be lost
		if wanted, err := g.filter.matches(r); err == nil && !wanted {
			page.Skipped++
			continue
		}
		pin, err := g.pin(view, r)
		if err != nil {
			return err
		}
		page.Events = append(page.Events, group.Event{ID: r.ID, Number: int64(r.Position), Before: before, Skipped: page.Skipped, Pin: pin})
		page.Skipped = 0
	}
	page.AtEnd = page.Last >= int64(view.Head())
	return nil
}

// readParked feeds parked events of revisions from ≤ r < until.
func (g *consumerGroup) readParked(ctx context.Context, view *eventlog.View, from, until int64, events int) error {
	info, err := view.Stream(g.config.parkedStream())
	if err != nil {
		return err
	}
	var records []eventlog.Record
	if first := max(uint64(from), info.First); info.Exists() && !info.Tombstoned && first < uint64(until) {
		if records, err = view.ReadStream(ctx, g.config.parkedStream(), first, uint64(until-1), false, eventlog.Page{Records: events, Bytes: pageBytes}); len(records) == 0 && err != nil {
			return err
		}
	}
	next := until
	parked := make([]group.Event, 0, len(records))
	for i := range records {
		r := &records[i]
		event := group.Event{ID: r.ID, Number: int64(r.Revision), Order: group.None}
		original, found, err := g.originalOf(view, r)
		if err != nil {
			return err
		}
		if found {
			if event.Order = int64(original.Revision); g.config.ofAll() {
				event.Order = int64(original.Position)
			}
			if event.Pin, err = g.pin(view, &original); err != nil {
				return err
			}
		}
		parked = append(parked, event)
		next = int64(r.Revision) + 1
	}
	g.change(func(state *group.Group, now time.Time) { state.FeedParked(now, parked, next) })
	return nil
}

// originalOf returns the event that was parked.
func (g *consumerGroup) originalOf(view *eventlog.View, parked *eventlog.Record) (eventlog.Record, bool, error) {
	stream, revision, ok := linkTarget(parked)
	if !ok {
		return eventlog.Record{}, false, nil
	}
	return view.Event(stream, revision)
}

// pin hashes what keeps events on one consumer: the stream, that of the target for a link, or
// the correlation in the metadata, that of the target where links are resolved.
func (g *consumerGroup) pin(view *eventlog.View, r *eventlog.Record) (uint32, error) {
	if groupStrategies[g.config.Settings.Strategy] != group.Pinned {
		return 0, nil
	}
	key, content := r.Stream, r
	if stream, revision, ok := linkTarget(r); ok {
		key = stream
		if g.config.Settings.ResolveLinks && g.config.Settings.Strategy == pinnedByCorrelation {
			target, found, err := view.Event(stream, revision)
			if err != nil {
				return 0, err
			}
			if found {
				content = &target
			}
		}
	}
	if g.config.Settings.Strategy == pinnedByCorrelation {
		var keys map[string]json.RawMessage
		var correlation string
		if json.Unmarshal(content.Metadata, &keys) == nil && json.Unmarshal(keys[correlationKey], &correlation) == nil {
			key = correlation
		}
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(key)) // never fails
	return h.Sum32(), nil
}

// keep passes the time to the group, and makes durable what it has parked and how far it is.
func (g *consumerGroup) keep() {
	tick := time.NewTicker(groupTick)
	defer tick.Stop()
	log := failureLog{group: g, what: "cannot store its progress"}
	for {
		select {
		case <-g.write:
		case <-tick.C:
			g.change(func(state *group.Group, now time.Time) { state.Tick(now) })
		case <-g.done:
			return
		}
		err := g.persist(false)
		if log.note(err); err != nil && g.pause() {
			return
		}
	}
}

// persist writes what is to be parked, the checkpoint, and the truncation of the parked stream.
func (g *consumerGroup) persist(final bool) error {
	if err := g.service.log.Err(); err != nil {
		return err // nothing can be made durable: what is to be parked need not be read again and again
	}
	for {
		g.mu.Lock()
		park := g.state.Parking(maxParkedPerAppend)
		g.mu.Unlock()
		if len(park) == 0 {
			break
		}
		if err := g.park(park); err != nil {
			return err
		}
	}
	if err := g.writeCheckpoint(final); err != nil {
		return err
	}
	return g.truncateParked()
}

// park appends links to the events to the parked stream, and then settles them.
func (g *consumerGroup) park(park []group.ToPark) error {
	var links []eventlog.Proposed
	err := g.withLinks(park, func(p group.ToPark, original string) error {
		metadata, err := json.Marshal(struct {
			Added  time.Time `json:"added"`
			Reason string    `json:"reason"`
			Number int64     `json:"subscriptionEventNumber"`
		}{time.Now().UTC(), p.Reason, p.Number})
		links = append(links, eventlog.Proposed{ID: uuid.New(), Type: eventlog.LinkType, Data: []byte(original), Metadata: metadata})
		return err
	})
	if err != nil {
		return err
	}
	if len(links) > 0 {
		if _, err := g.service.log.Append(context.Background(), g.config.parkedStream(), eventlog.Any(), links); err != nil {
			return err
		}
	}
	g.change(func(state *group.Group, _ time.Time) { state.Parked(len(park)) })
	return nil
}

// withLinks calls add with the revision@stream of each event to be parked. An event that is
// gone from the log is passed by.
func (g *consumerGroup) withLinks(park []group.ToPark, add func(p group.ToPark, original string) error) error {
	view, err := g.service.log.View()
	if err != nil {
		return err
	}
	defer view.Close()
	for _, p := range park {
		record, found, err := g.record(context.Background(), view, p.Source, p.Number)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		original := strconv.FormatUint(record.Revision, 10) + "@" + record.Stream
		if stream, revision, ok := linkTarget(&record); ok && p.Source == group.Parked {
			original = strconv.FormatUint(revision, 10) + "@" + stream
		}
		if err := add(p, original); err != nil {
			return err
		}
	}
	return nil
}

// record reads the record of a number; false when it no longer exists.
func (g *consumerGroup) record(ctx context.Context, view *eventlog.View, source group.Source, number int64) (eventlog.Record, bool, error) {
	var records []eventlog.Record
	var err error
	one := eventlog.Page{Records: 1, Bytes: pageBytes}
	switch n := uint64(number); {
	case source == group.Parked:
		records, err = view.ReadStream(ctx, g.config.parkedStream(), n, n, false, one)
	case g.config.ofAll():
		if records, err = view.ReadAll(ctx, n, false, one); len(records) == 1 && (records[0].Position != n || records[0].Redacted) {
			records = nil
		}
	default:
		records, err = view.ReadStream(ctx, g.config.Stream, n, n, false, one)
	}
	if err != nil || len(records) == 0 {
		return eventlog.Record{}, false, err
	}
	return records[0], true, nil
}

func (g *consumerGroup) writeCheckpoint(final bool) error {
	g.mu.Lock()
	mark, due := g.state.Checkpoint(time.Now(), final)
	g.mu.Unlock()
	if !due {
		return nil
	}
	stream := g.config.checkpointStream()
	if !g.hasCheckpoints {
		if err := g.keepNewest(stream); err != nil {
			return err
		}
		g.hasCheckpoints = true
	}
	event, err := groupEvent(checkpointType, g.config.position(mark.Number))
	if err != nil {
		return err
	}
	if _, err := g.service.log.Append(context.Background(), stream, eventlog.Any(), []eventlog.Proposed{event}); err != nil {
		return err
	}
	g.change(func(state *group.Group, now time.Time) { state.Checkpointed(now, mark) })
	return nil
}

// keepNewest lets scavenging remove older checkpoints.
func (g *consumerGroup) keepNewest(stream string) error {
	event, err := groupEvent(eventlog.MetadataType, map[string]int{"$maxCount": keptGroupCheckpoints})
	if err != nil {
		return err
	}
	_, err = g.service.log.Append(context.Background(), eventlog.MetaStream(stream), eventlog.Any(), []eventlog.Proposed{event})
	return err
}

// truncateParked hides parked events that were replayed and settled, or discarded.
func (g *consumerGroup) truncateParked() error {
	g.truncating.Lock()
	defer g.truncating.Unlock()
	g.mu.Lock()
	before, due := g.state.Truncation()
	g.mu.Unlock()
	if !due {
		return nil
	}
	if err := setTruncation(context.Background(), g.service.log, g.config.parkedStream(), before); err != nil {
		return err
	}
	g.change(func(state *group.Group, _ time.Time) { state.Truncated(before) })
	return nil
}

// info describes the group in the words of the protocol.
func (g *consumerGroup) info() (*persistent.SubscriptionInfo, error) {
	view, err := g.service.log.View()
	if err != nil {
		return nil, err
	}
	defer view.Close()
	known := int64(view.Head())
	if !g.config.ofAll() {
		stream, err := view.Stream(g.config.Stream)
		if err != nil {
			return nil, err
		}
		known = stream.Last
	}
	parked, err := view.Stream(g.config.parkedStream())
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	counts, s := g.state.Counts(), g.config.Settings
	total := g.state.Total()
	out := &persistent.SubscriptionInfo{
		EventSource: g.config.Stream, GroupName: g.config.Group, Status: groupStatus(counts, g.reading), StartFrom: g.config.Start,
		TotalItems: total, AveragePerSecond: perSecond(total, g.started), CountSinceLastMeasurement: total - g.shown,
		ReadBufferCount: int32(counts.Waiting), RetryBufferCount: int32(counts.Retrying), TotalInFlightMessages: int32(counts.Given),
		OutstandingMessagesCount: int32(counts.Given + counts.Parking), ParkedMessageCount: waitingParked(parked, g.state.ReplayedBefore()),
		ResolveLinkTos: s.ResolveLinks, ExtraStatistics: s.ExtraStatistics, MessageTimeoutMilliseconds: s.MessageTimeout, MaxRetryCount: s.MaxRetries,
		LiveBufferSize: s.LiveBuffer, BufferSize: s.HistoryBuffer, ReadBatchSize: s.ReadBatch, CheckPointAfterMilliseconds: s.CheckpointAfter,
		MinCheckPointCount: s.CheckpointMin, MaxCheckPointCount: s.CheckpointMax, NamedConsumerStrategy: s.Strategy, MaxSubscriberCount: s.MaxConsumers,
	}
	if counts.Live {
		out.LiveBufferCount, out.ReadBufferCount = int64(counts.Waiting), 0
	}
	if known >= 0 {
		out.LastKnownEventPosition = g.config.position(known)
	}
	if counts.Checkpoint > g.config.After {
		out.LastCheckpointedEventPosition = g.config.position(counts.Checkpoint)
	}
	if g.halted != nil {
		out.Status = fmt.Sprintf("Stopped: position %d is damaged", damageIn(g.halted).Position)
	}
	g.shown = total
	for _, c := range g.consumers {
		out.Connections = append(out.Connections, c.info())
	}
	return out, nil
}

// waitingParked counts the parked events that are not replayed.
func waitingParked(parked eventlog.StreamInfo, replayedBefore int64) int64 {
	if !parked.Exists() || parked.Tombstoned {
		return 0
	}
	return max(parked.Last+1-max(int64(parked.First), replayedBefore), 0)
}

func perSecond(total int64, since time.Time) int32 {
	return int32(float64(total) / max(time.Since(since).Seconds(), 1))
}

// groupStatus is the state of a group in the protocol's words.
func groupStatus(c group.Counts, reading bool) string {
	text := "Behind"
	switch {
	case c.Live && c.Replaying:
		return "ReplayingParkedMessages, Live"
	case c.Live:
		return "Live"
	case reading:
		text += ", OutstandingPageRequest"
	}
	if c.Replaying {
		text += ", ReplayingParkedMessages"
	}
	return text
}

var errGroupEventGone = errors.New("the event is gone")

// fetch reads what is sent for a delivery; errGroupEventGone when it no longer exists.
func (g *consumerGroup) fetch(ctx context.Context, d group.Delivery) (resolved, error) {
	view, err := g.service.log.View()
	if err != nil {
		return resolved{}, err
	}
	defer view.Close()
	record, found, err := g.record(ctx, view, d.Source, d.Number)
	if err != nil {
		return resolved{}, err
	}
	if !found {
		return resolved{}, errGroupEventGone
	}
	if d.Source == group.Log && !g.config.Settings.ResolveLinks {
		return resolved{event: &record}, nil
	}
	stream, revision, isLink := linkTarget(&record)
	if !isLink {
		return resolved{event: &record}, nil
	}
	target, found, err := view.Event(stream, revision)
	if inner, number, ok := linkTarget(&target); err == nil && found && ok && d.Source == group.Parked && g.config.Settings.ResolveLinks {
		// what was parked is a link itself
		target, found, err = view.Event(inner, number)
	}
	if err != nil {
		return resolved{}, fmt.Errorf("resolve a link: %w", err)
	}
	if !found {
		return resolved{link: &record}, nil
	}
	return resolved{event: &target, link: &record}, nil
}
