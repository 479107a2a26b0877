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
	// inFlight is how many events of a topic may be handled at the same time.
	inFlight = 64
	// saveAfter is how long a topic's progress may stay unwritten, and savePassed
	// how many events that are not its own: what was not written is handled again.
	saveAfter  = 200 * time.Millisecond
	savePassed = 1000

	firstRedelivery = 50 * time.Millisecond
	maxRedelivery   = 5 * time.Second
)

// Checkpoints keeps how far a topic has got: every event up to there is acknowledged.
type Checkpoints interface {
	Load(ctx context.Context, topic string) (event.Position, error)
	// Save never moves a checkpoint back.
	Save(ctx context.Context, topic string, p event.Position) error
}

// Subscriber hands the log to a watermill router. A topic is a list of event names.
//
// Messages of one stream come in order, each after the one before was
// acknowledged; messages of different streams come concurrently. The checkpoint
// is the contiguous acknowledged prefix, so that a crash repeats and never skips.
// What is not acknowledged comes again.
type Subscriber struct {
	Log interface {
		SubscribeAll(ctx context.Context, after event.Position, only ...string) iter.Seq2[event.Recorded, error]
	}
	Topics      map[string][]string
	Checkpoints Checkpoints
	Logger      *slog.Logger

	closing   context.Context
	close     context.CancelFunc
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

// Recorded is the event a message of a Subscriber carries, or why it cannot be read.
func (*Subscriber) Recorded(m *message.Message) (event.Recorded, error) {
	d, ours := m.Context().Value(deliveryKey{}).(delivery)
	if !ours {
		return event.Recorded{}, fmt.Errorf("message %s does not come from the log", m.UUID)
	}
	return d.recorded, d.err
}

func (s *Subscriber) init() {
	s.initOnce.Do(func() { s.closing, s.close = context.WithCancel(context.Background()) })
}

// Subscribe sends the topic's events after its checkpoint.
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
	t := &tail{
		subscriber: s, topic: topic, names: names, out: make(chan *message.Message),
		free: make(chan struct{}, inFlight), last: map[string]chan struct{}{}, progress: newPrefix(from),
	}
	s.running.Go(func() {
		defer stop()
		defer cancel()
		t.run(ctx, from)
	})
	return t.out, nil
}

// Close ends all subscriptions and writes their progress.
func (s *Subscriber) Close() error {
	s.init()
	s.closeOnce.Do(s.close)
	s.running.Wait()
	return nil
}

// tail is one subscription.
type tail struct {
	subscriber *Subscriber
	topic      string
	names      []string
	out        chan *message.Message
	free       chan struct{}            // a token for each event in flight
	last       map[string]chan struct{} // stream → closed when its latest event is acknowledged
	progress   *prefix
}

func (t *tail) run(ctx context.Context, from event.Position) {
	var handling, saving sync.WaitGroup
	stopSaving := make(chan struct{})
	saving.Go(func() { t.save(stopSaving) })
	for r, err := range t.subscriber.Log.SubscribeAll(ctx, from, t.names...) {
		if err != nil && r.Position == (event.Position{}) {
			if ctx.Err() == nil {
				t.subscriber.Logger.Error("reactions cannot follow the log", "topic", t.topic, "error", err)
			}
			break
		}
		if !slices.Contains(t.names, eventName(r, err)) {
			t.progress.pass(r.Position)
			continue
		}
		select {
		case t.free <- struct{}{}:
		case <-ctx.Done():
			continue // the sequence ends with the context
		}
		done := t.progress.begin(r.Position)
		before := t.last[r.Stream]
		acknowledged := make(chan struct{})
		t.forget()
		t.last[r.Stream] = acknowledged
		handling.Go(func() {
			defer func() { <-t.free }()
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

// forget drops the streams whose last event is acknowledged, now and then.
func (t *tail) forget() {
	if len(t.last) < 4*inFlight {
		return
	}
	for stream, acknowledged := range t.last {
		select {
		case <-acknowledged:
			delete(t.last, stream)
		default:
		}
	}
}

// deliver sends an event, after the one before of its stream, until it is acknowledged.
func (t *tail) deliver(ctx context.Context, before <-chan struct{}, d delivery) bool {
	if before != nil {
		select {
		case <-before:
		case <-ctx.Done():
			return false
		}
	}
	for pause := doubling(firstRedelivery, maxRedelivery); ; {
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

func (t *tail) send(ctx context.Context, msg *message.Message) (acked bool) {
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
		// A handler may still be at it; what it acknowledges from now on is handled again.
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

// save writes the progress soon after it changes, and once more at the end.
func (t *tail) save(stop <-chan struct{}) {
	var saved event.Position
	write := func() {
		p := t.progress.at()
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
		case <-t.progress.changed:
		}
		write()
		select {
		case <-stop:
			write()
			return
		case <-time.After(saveAfter):
		}
	}
}

// prefix finds the position up to which everything is acknowledged.
type prefix struct {
	changed chan struct{} // holds a token when there is something worth writing

	mu       sync.Mutex
	position event.Position
	open     []*step // in log order, the first not done
	passed   int     // events passed since the last one handled
}

type step struct {
	position event.Position
	done     bool
}

func newPrefix(from event.Position) *prefix {
	return &prefix{position: from, changed: make(chan struct{}, 1)}
}

func (p *prefix) at() event.Position {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.position
}

// pass moves over an event nobody handles.
func (p *prefix) pass(to event.Position) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch n := len(p.open); {
	case n == 0:
		p.position = to
		if p.passed++; p.passed >= savePassed {
			p.worth()
		}
	case p.open[n-1].done:
		p.open[n-1].position = to
	default:
		p.open = append(p.open, &step{to, true})
	}
}

// begin waits for an event to be done; nothing is acknowledged past it before.
func (p *prefix) begin(at event.Position) (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &step{position: at}
	p.open = append(p.open, s)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		s.done = true
		for len(p.open) > 0 && p.open[0].done {
			p.position = p.open[0].position
			p.open = p.open[1:]
		}
		p.worth()
	}
}

func (p *prefix) worth() {
	p.passed = 0
	select {
	case p.changed <- struct{}{}:
	default:
	}
}
