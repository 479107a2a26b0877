package node

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/persistent"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/google/uuid"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"reckon/eventstore/node/eventlog"
	"reckon/eventstore/node/group"
)

// consumer is one Read call.
type consumer struct {
	member  *group.Consumer
	wake    chan struct{} // there is something to take
	dropped chan struct{} // closed when the group was put away
	leave   func()        // gives its place back
	from    string        // its address
	name    string        // of the connection, as the client says
	user    string        // empty where users need no names
	since   time.Time
	shown   int64 // deliveries at the last info
}

func (c *consumer) info() *persistent.SubscriptionInfo_ConnectionInfo {
	total := c.member.Total()
	info := &persistent.SubscriptionInfo_ConnectionInfo{
		From: c.from, Username: c.user, ConnectionName: c.name, TotalItems: total, AverageItemsPerSecond: perSecond(total, c.since), CountSinceLastMeasurement: total - c.shown,
		AvailableSlots: int32(c.member.Free()), InFlightMessages: int32(c.member.Held()), ObservedMeasurements: measurements(c.member.Measured()),
	}
	c.shown = total
	return info
}

// measurements sums up how long events took, shortest first, in the keys that official clients know; in milliseconds. A share
// of them is by nearest rank: the smallest time that no less than this share of them is at most.
func measurements(took []time.Duration) []*persistent.SubscriptionInfo_Measurement {
	if len(took) == 0 {
		return nil
	}
	var sum time.Duration
	for _, t := range took {
		sum += t
	}
	share := func(perMille int) time.Duration { return took[(perMille*len(took)+999)/1000-1] }
	var out []*persistent.SubscriptionInfo_Measurement
	for _, m := range []struct {
		key  string
		time time.Duration
	}{
		{"Mean", sum / time.Duration(len(took))}, {"Median", share(500)}, {"Fastest", took[0]},
		{"Quintile 1", share(200)}, {"Quintile 2", share(400)}, {"Quintile 3", share(600)}, {"Quintile 4", share(800)}, {"Quintile 5", share(1000)},
		{"90%", share(900)}, {"95%", share(950)}, {"99%", share(990)}, {"99.5%", share(995)}, {"99.9%", share(999)}, {"Highest", took[len(took)-1]},
	} {
		out = append(out, &persistent.SubscriptionInfo_Measurement{Key: m.key, Value: m.time.Milliseconds()})
	}
	return out
}

// Read delivers events of a group to one consumer, and receives its acknowledgements.
func (s *groupsService) Read(call persistent.PersistentSubscriptions_ReadServer) error {
	return statusError(call.Context(), s.serveConsumer(call))
}

func (s *groupsService) serveConsumer(call persistent.PersistentSubscriptions_ReadServer) error {
	first, err := call.Recv()
	if err != nil {
		return transportError(err)
	}
	options := first.GetOptions()
	if options == nil {
		return invalid("the first message must carry the options")
	}
	if options.GetBufferSize() <= 0 {
		return invalid("the buffer size must be at least 1")
	}
	g, err := s.find(nameFromWire(options))
	if err != nil {
		return err
	}
	c, err := g.join(call.Context(), int(options.GetBufferSize()))
	if err != nil {
		return err
	}
	defer g.leave(c)
	// ends with the call: Recv returns when this function has
	received := make(chan error, 1)
	go func() {
		var err error
		defer func() { received <- err }()
		defer recoverAsInternal(s.logger, "PersistentSubscriptions.Read", &err)
		err = g.receive(call, c)
	}()
	confirmation := &persistent.ReadResp_SubscriptionConfirmation{SubscriptionId: g.config.id()}
	if err := call.Send(&persistent.ReadResp{Content: &persistent.ReadResp_SubscriptionConfirmation_{SubscriptionConfirmation: confirmation}}); err != nil {
		return err
	}
	idAsText := options.GetUuidOption().GetString_() != nil
	out := outboundOf(call.Context())
	for {
		// events are not taken for a client that reads none: after the message timeout they go to others
		full, ready := out.isFull(), c.wake
		if full {
			ready = out.written
		}
		select {
		case <-s.closing:
			return cmp.Or(g.reason(), error(errShuttingDown))
		case <-c.dropped:
			return g.reason()
		case <-call.Context().Done():
			return call.Context().Err()
		case err := <-received:
			return err
		case <-ready:
		}
		if full {
			continue
		}
		if err := g.sendOne(call, c, idAsText); err != nil {
			return err
		}
	}
}

// join adds a consumer to the group, once events wait for it: an event that it refuses comes again behind those that it was
// given, and how many these are does not depend on how fast the log is read.
func (g *consumerGroup) join(ctx context.Context, buffer int) (*consumer, error) {
	select {
	case <-g.filled:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c := &consumer{wake: make(chan struct{}, 1), dropped: make(chan struct{}), since: time.Now(), user: userOf(ctx)}
	if p, ok := peer.FromContext(ctx); ok {
		c.from = p.Addr.String()
	}
	if names := metadata.ValueFromIncomingContext(ctx, "connection-name"); len(names) > 0 {
		c.name = strings.ToValidUTF8(names[0][:min(len(names[0]), maxConnectionNameBytes)], "?")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended != nil {
		return nil, g.ended
	}
	if g.isAtDamage() {
		return nil, g.halted
	}
	if most := int(g.config.Settings.MaxConsumers); most > 0 && len(g.consumers) >= most {
		return nil, g.config.full()
	}
	leaveGroup, err := g.places.take(ctx)
	if err != nil {
		return nil, err
	}
	leaveAll, err := g.service.consumers.take(ctx)
	if err != nil {
		leaveGroup()
		return nil, err
	}
	c.leave = func() { leaveGroup(); leaveAll() }
	g.changeLocked(func(state *group.Group, now time.Time) {
		c.member = state.Join(now, buffer)
		g.consumers = append(g.consumers, c)
	})
	return c, nil
}

// leave removes a consumer, unless the group was put away before.
func (g *consumerGroup) leave(c *consumer) {
	c.leave()
	g.change(func(state *group.Group, now time.Time) {
		for i, other := range g.consumers {
			if other == c {
				g.consumers = append(g.consumers[:i:i], g.consumers[i+1:]...)
				state.Leave(now, c.member)
				return
			}
		}
	})
}

// reason is why a consumer was dropped: the group was put away, or stands at a damaged record.
func (g *consumerGroup) reason() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return cmp.Or(g.ended, g.halted)
}

// sendOne sends the next event for the consumer, and leaves a signal when there are more.
func (g *consumerGroup) sendOne(call persistent.PersistentSubscriptions_ReadServer, c *consumer, idAsText bool) error {
	g.mu.Lock()
	d, ok := g.state.Take(c.member)
	if c.member.Waiting() {
		wake(c.wake)
	}
	g.mu.Unlock()
	if !ok {
		return nil
	}
	event, err := g.fetch(call.Context(), d)
	if errors.Is(err, errGroupEventGone) {
		g.change(func(state *group.Group, now time.Time) { state.Gone(now, d) })
		return nil
	}
	if damageIn(err) != nil {
		g.halt(err)
	}
	if err != nil {
		return err
	}
	if size := event.sizeBytes(); size > smallEventBytes {
		// it is read again when there is room for it: what waits for room must not take any
		event = resolved{}
		held := g.service.memory.hold(call.Context())
		if err := held.reserve(call.Context(), 2*size); err != nil { // once as a record, once as a message
			return err
		}
		held.waitForClient()
		defer held.release()
		if event, err = g.fetch(call.Context(), d); err != nil {
			return err
		}
		outboundOf(call.Context()).keep(held, size)
	}
	return call.Send(groupEventToWire(event, d.Retries, idAsText))
}

// sizeBytes is the content of an event and its link.
func (e *resolved) sizeBytes() int {
	size := 0
	for _, r := range []*eventlog.Record{e.event, e.link} {
		if r != nil {
			size += len(r.Data) + len(r.Metadata)
		}
	}
	return size
}

// receive takes acknowledgements until the client ends its side of the call: nil then.
func (g *consumerGroup) receive(call persistent.PersistentSubscriptions_ReadServer, c *consumer) error {
	for {
		message, err := call.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := g.acknowledge(message, c); err != nil {
			return err
		}
	}
}

func (g *consumerGroup) acknowledge(message *persistent.ReadReq, c *consumer) error {
	switch content := message.GetContent().(type) {
	case *persistent.ReadReq_Ack_:
		ids, err := idsFromWire(content.Ack.GetIds())
		if err != nil {
			return err
		}
		g.change(func(state *group.Group, now time.Time) { state.Ack(now, c.member, ids) })
	case *persistent.ReadReq_Nack_:
		ids, err := idsFromWire(content.Nack.GetIds())
		if err != nil {
			return err
		}
		action, reason := group.Retry, content.Nack.GetReason()
		switch content.Nack.GetAction() {
		case persistent.ReadReq_Nack_Park:
			action = group.Park
		case persistent.ReadReq_Nack_Skip, persistent.ReadReq_Nack_Stop: // EventStoreDB does no more for Stop
			action = group.Skip
		}
		reason = reason[:min(len(reason), maxParkReasonBytes)]
		g.change(func(state *group.Group, now time.Time) { state.Nack(now, c.member, ids, action, reason) })
	default:
		return invalid("a message after the first must be an acknowledgement")
	}
	return nil
}

func idsFromWire(wire []*shared.UUID) ([]uuid.UUID, error) {
	if len(wire) > maxGroupMessageIDs {
		return nil, invalid("an acknowledgement has too many ids")
	}
	ids := make([]uuid.UUID, len(wire))
	for i, w := range wire {
		var err error
		if ids[i], err = uuidFromWire(w); err != nil {
			return nil, err
		}
	}
	return ids, nil
}
