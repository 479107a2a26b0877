package eventstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"reckon/domain/event"
)

const (
	// maxInFlight is how many events of a topic are handled at the same time at most.
	maxInFlight = 64
	// A topic's checkpoint is saved at most once per saveInterval, and after
	// saveAfterSkipped events that are not the topic's. Events after the saved
	// checkpoint are handled again by the next start.
	saveInterval     = 200 * time.Millisecond
	saveAfterSkipped = 1000

	firstRedelivery = 50 * time.Millisecond
	maxRedelivery   = 5 * time.Second
)

// Checkpoints stores, per topic, the position up to which every event is acknowledged.
type Checkpoints interface {
	// Load returns the zero position for a topic that was never saved.
	Load(ctx context.Context, topic string) (event.Position, error)
	// Save stores a checkpoint; a position before the stored one changes nothing.
	Save(ctx context.Context, topic string, p event.Position) error
}

// Subscriber delivers the log to a watermill router. A topic is a list of event names.
//
// Messages of one stream are delivered in order, each after the one before was
// acknowledged; messages of different streams concurrently, at most 64 at a time. The
// checkpoint is the end of the contiguous acknowledged prefix: after a crash events may
// be delivered again, and none is skipped. A message that is not acknowledged is
// delivered again, after 50 ms at first and up to 5 s later.
type Subscriber struct {
	Log interface {
		SubscribeAll(ctx context.Context, after event.Position, only ...string) iter.Seq2[event.Recorded, error]
	}
	Topics      map[string][]string
	Checkpoints Checkpoints
	Logger      *slog.Logger

	closing   context.Context
	close     context.CancelFunc
	mu        sync.Mutex
	err       error // why the first subscription that ended by itself did
	running   sync.WaitGroup
	closeOnce sync.Once
	initOnce  sync.Once
}

var _ message.Subscriber = (*Subscriber)(nil)

type delivery struct {
	recorded event.Recorded
	err      error
}

type deliveryKey struct{}

// Recorded returns the event that a message of a Subscriber carries, or the error that
// decoding the event returned.
func (*Subscriber) Recorded(m *message.Message) (event.Recorded, error) {
	d, ours := m.Context().Value(deliveryKey{}).(delivery)
	if !ours {
		return event.Recorded{}, fmt.Errorf("message %s does not come from the log", m.UUID)
	}
	return d.recorded, d.err
}

// Err is why a subscription has ended by itself: the log refused to go on. It is nil while
// none has, and while the log only does not answer.
func (s *Subscriber) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *Subscriber) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

func (s *Subscriber) init() {
	s.initOnce.Do(func() { s.closing, s.close = context.WithCancel(context.Background()) })
}

// Subscribe delivers the topic's events after its checkpoint until the context ends or
// Close is called; then it closes the channel.
func (s *Subscriber) Subscribe(ctx context.Context, topic string) (<-chan *message.Message, error) {
	names, known := s.Topics[topic]
	if !known {
		return nil, fmt.Errorf("no topic %q", topic)
	}
	from, err := s.Checkpoints.Load(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("checkpoint of %s: %w", topic, err)
	}
	s.init()
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.closing, cancel)
	t := &topicSubscription{
		subscriber: s, topic: topic, names: names, out: make(chan *message.Message),
		slots: make(chan struct{}, maxInFlight), lastOfStream: map[string]chan struct{}{}, progress: newAcknowledgedPrefix(from),
	}
	s.running.Go(func() {
		defer stop()
		defer cancel()
		t.run(ctx, from)
	})
	return t.out, nil
}

// Close ends all subscriptions and returns when their checkpoints are saved.
func (s *Subscriber) Close() error {
	s.init()
	s.closeOnce.Do(s.close)
	s.running.Wait()
	return nil
}

// topicSubscription is one subscription.
type topicSubscription struct {
	subscriber   *Subscriber
	topic        string
	names        []string
	out          chan *message.Message
	slots        chan struct{}            // a token for each event in flight
	lastOfStream map[string]chan struct{} // stream → closed when its latest event is acknowledged
	progress     *acknowledgedPrefix
}

func (t *topicSubscription) run(ctx context.Context, from event.Position) {
	var handling, saving sync.WaitGroup
	stopSaving := make(chan struct{})
	saving.Go(func() { t.saveProgress(stopSaving) })
	for r, err := range t.subscriber.Log.SubscribeAll(ctx, from, t.names...) {
		if err != nil && r.Position == (event.Position{}) {
			if ctx.Err() == nil {
				t.subscriber.fail(err)
			}
			break
		}
		if !slices.Contains(t.names, eventName(r, err)) {
			t.progress.skip(r.Position)
			continue
		}
		select {
		case t.slots <- struct{}{}:
		case <-ctx.Done():
			continue // the sequence ends with the context
		}
		done := t.progress.begin(r.Position)
		before := t.lastOfStream[r.Stream]
		acknowledged := make(chan struct{})
		t.forgetAcknowledged()
		t.lastOfStream[r.Stream] = acknowledged
		handling.Go(func() {
			defer func() { <-t.slots }()
			if t.deliver(ctx, before, delivery{r, err}) {
				done()
				close(acknowledged)
			}
		})
	}
	handling.Wait()
	close(t.out)
	close(stopSaving)
	saving.Wait()
}

// forgetAcknowledged removes the streams whose last event is acknowledged from
// lastOfStream, once it holds 4×maxInFlight streams.
func (t *topicSubscription) forgetAcknowledged() {
	if len(t.lastOfStream) < 4*maxInFlight {
		return
	}
	for stream, acknowledged := range t.lastOfStream {
		select {
		case <-acknowledged:
			delete(t.lastOfStream, stream)
		default:
		}
	}
}

// deliver waits until the previous event of the stream is acknowledged, then sends this
// one until it is acknowledged. It returns false when the context ends first.
func (t *topicSubscription) deliver(ctx context.Context, before <-chan struct{}, d delivery) bool {
	if before != nil {
		select {
		case <-before:
		case <-ctx.Done():
			return false
		}
	}
	for pause := newBackoff(firstRedelivery, maxRedelivery); ; {
		msgCtx, cancel := context.WithCancel(context.WithValue(ctx, deliveryKey{}, d))
		msg := newMessage(msgCtx, d)
		acked := t.send(ctx, msg)
		cancel()
		if acked {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(pause.NextBackOff()):
		}
	}
}

func (t *topicSubscription) send(ctx context.Context, msg *message.Message) (acked bool) {
	select {
	case t.out <- msg:
	case <-ctx.Done():
		return false
	}
	select {
	case <-msg.Acked():
		return true
	case <-msg.Nacked():
		return false
	case <-ctx.Done():
		// A handler may still be running; an acknowledgement after this point is lost, and
		// the next start delivers the event again.
		return false
	}
}

func newMessage(ctx context.Context, d delivery) *message.Message {
	var payload []byte
	if d.recorded.Event != nil {
		payload, _ = event.Marshal(d.recorded.Event) // it came out of JSON; handlers read Recorded
	}
	msg := message.NewMessageWithContext(ctx, d.recorded.ID, payload)
	msg.Metadata.Set("event", eventName(d.recorded, d.err))
	msg.Metadata.Set("stream", d.recorded.Stream)
	msg.Metadata.Set("revision", strconv.FormatInt(int64(d.recorded.Revision), 10))
	return msg
}

func eventName(r event.Recorded, err error) string {
	var unreadable *DecodeError
	switch {
	case r.Event != nil:
		return r.Event.EventName()
	case errors.As(err, &unreadable):
		return unreadable.Name
	}
	return ""
}

// saveProgress writes the progress soon after it changes, and once more at the end.
func (t *topicSubscription) saveProgress(stop <-chan struct{}) {
	var saved event.Position
	write := func() {
		p := t.progress.current()
		if p == saved {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := t.subscriber.Checkpoints.Save(ctx, t.topic, p); err != nil {
			t.subscriber.Logger.Warn("progress of reactions not written; some events will be handled again", "topic", t.topic, "error", err)
			return
		}
		saved = p
	}
	for {
		select {
		case <-stop:
			write()
			return
		case <-t.progress.saveRequested:
		}
		write()
		select {
		case <-stop:
			write()
			return
		case <-time.After(saveInterval):
		}
	}
}

// acknowledgedPrefix finds the position up to which everything is acknowledged.
type acknowledgedPrefix struct {
	saveRequested chan struct{} // holds a token while a save is due

	mu         sync.Mutex
	position   event.Position
	unfinished []*handledEvent // in log order, the first not done
	skipped    int             // events passed since the last one handled
}

type handledEvent struct {
	position event.Position
	done     bool
}

func newAcknowledgedPrefix(from event.Position) *acknowledgedPrefix {
	return &acknowledgedPrefix{position: from, saveRequested: make(chan struct{}, 1)}
}

func (p *acknowledgedPrefix) current() event.Position {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.position
}

// skip records an event that is not the topic's. The checkpoint may move past it once
// every event before it is acknowledged.
func (p *acknowledgedPrefix) skip(to event.Position) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch n := len(p.unfinished); {
	case n == 0:
		p.position = to
		if p.skipped++; p.skipped >= saveAfterSkipped {
			p.requestSave()
		}
	case p.unfinished[n-1].done:
		p.unfinished[n-1].position = to
	default:
		p.unfinished = append(p.unfinished, &handledEvent{to, true})
	}
}

// begin records an event that is being handled. The checkpoint stays before it until
// done is called.
func (p *acknowledgedPrefix) begin(at event.Position) (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &handledEvent{position: at}
	p.unfinished = append(p.unfinished, s)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		s.done = true
		for len(p.unfinished) > 0 && p.unfinished[0].done {
			p.position = p.unfinished[0].position
			p.unfinished = p.unfinished[1:]
		}
		p.requestSave()
	}
}

func (p *acknowledgedPrefix) requestSave() {
	p.skipped = 0
	select {
	case p.saveRequested <- struct{}{}:
	default:
	}
}
