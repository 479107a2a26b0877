package reactions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"

	"reckon/commands"
	"reckon/domain/event"
	"reckon/internal/tracing"
)

const (
	handleTimeout = time.Minute      // of one attempt at one event
	closeTimeout  = 10 * time.Second // for the handlers to return when Run ends

	// A failed event is tried again 4 times, 20 ms after the first attempt and three
	// times as long after each further one, at most 5 s, all randomised by half.
	retries         = 4
	firstRetryAfter = 20 * time.Millisecond
	maxRetryAfter   = 5 * time.Second
)

// routerLevels logs the router's starts and stops of handlers as debug messages.
var routerLevels = map[slog.Level]slog.Level{slog.LevelInfo: slog.LevelDebug}

// Parked is an event that a reaction could not handle.
type Parked struct {
	Reaction  string // the reaction's name
	Stream    string
	Revision  event.Revision
	EventID   string
	EventName string
	Reason    string // the error of the last attempt
	ParkedAt  time.Time
}

// Parking keeps the events that reactions could not handle, for an operator.
type Parking interface {
	// Park stores an event; it is durable when Park returns. Parking it again is
	// not an error.
	Park(ctx context.Context, p Parked) error
}

// Messages is the log as a watermill subscriber: a reaction's name is its topic.
type Messages interface {
	message.Subscriber
	// Recorded is the event of a message. With an error, that the event cannot be
	// read, its id, stream and revision are set all the same.
	Recorded(m *message.Message) (event.Recorded, error)
	// Err is why a subscription has ended by itself; nil while none has.
	Err() error
}

// Deps are the dependencies of a reaction. All but Tracer are required.
type Deps struct {
	Reaction Reaction
	Messages Messages
	Parking  Parking
	Clock    commands.Clock
	Logger   *slog.Logger
	Tracer   *tracing.Tracer // nil: no span is recorded
}

// errEnded means that a subscription ended without a request to stop.
var errEnded = errors.New("the subscription to the log has ended")

// Run reacts until the context ends, and then returns nil. An error means that the
// subscription could not be made or ended by itself; Run may then be called again, with a new
// Messages. There is one Run for each reaction, so that none stands still behind another.
func Run(ctx context.Context, d Deps) error {
	router, err := message.NewRouter(message.RouterConfig{CloseTimeout: closeTimeout}, watermill.NewSlogLoggerWithLevelMapping(d.Logger, routerLevels))
	if err != nil {
		return err
	}
	// Before the router runs: one that cannot subscribe leaves a goroutine behind.
	messages, err := d.Messages.Subscribe(ctx, d.Reaction.Name)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil // told to end while the checkpoint was read
	case err != nil:
		return err
	}
	handler := router.AddConsumerHandler(d.Reaction.Name, d.Reaction.Name, subscribed{messages, d.Messages}, d.handler(d.Reaction))
	handler.AddMiddleware(
		d.park(d.Reaction), // outermost: it is called after the last retry
		middleware.Retry{
			MaxRetries: retries, InitialInterval: firstRetryAfter, MaxInterval: maxRetryAfter, Multiplier: 3,
			RandomizationFactor: 0.5, ResetContextOnRetry: true,
		}.Middleware,
		middleware.Recoverer,
	)
	err = errors.Join(router.Run(ctx), d.Messages.Close()) // the router does not wait for the checkpoint
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	return errors.Join(errEnded, d.Messages.Err())
}

// subscribed is a subscriber whose one subscription is made.
type subscribed struct {
	messages <-chan *message.Message
	message.Subscriber
}

// Subscribe is message.Subscriber.
func (s subscribed) Subscribe(context.Context, string) (<-chan *message.Message, error) {
	return s.messages, nil
}

func (d Deps) handler(r Reaction) message.NoPublishHandlerFunc {
	return func(m *message.Message) error {
		recorded, err := d.Messages.Recorded(m)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(m.Context(), handleTimeout)
		defer cancel()
		ctx, span := d.Tracer.Begin(ctx, tracing.React, r.Name, recorded.Metadata.Traceparent)
		defer span.End()
		span.Set(tracing.Text(tracing.Reaction, r.Name), tracing.Text(tracing.EventName, m.Metadata.Get("event")))
		if within := tracing.Traceparent(ctx); within != "" {
			recorded.Metadata.Traceparent = within // what the reaction appends is below its span
		}
		err = r.Handle(ctx, recorded)
		if err != nil {
			span.Fail()
		}
		return err
	}
}

// park parks an event whose last attempt failed, and acknowledges it. While the log
// or the parking itself is not available, or when the process ends, the event is
// not acknowledged and is delivered again.
func (d Deps) park(r Reaction) message.HandlerMiddleware {
	return func(next message.HandlerFunc) message.HandlerFunc {
		return func(m *message.Message) ([]*message.Message, error) {
			ctx := m.Context()
			_, cause := next(m)
			if cause == nil || commands.IsAway(cause) || ctx.Err() != nil {
				return nil, cause
			}
			recorded, _ := d.Messages.Recorded(m) // id, stream and revision are set with an error too
			parked := Parked{
				Reaction: r.Name, Stream: recorded.Stream, Revision: recorded.Revision, EventID: recorded.ID,
				EventName: m.Metadata.Get("event"), Reason: cause.Error(), ParkedAt: d.Clock.Now().UTC(),
			}
			if err := d.Parking.Park(ctx, parked); err != nil {
				return nil, fmt.Errorf("parking %s of %s: %w", parked.EventID, r.Name, err)
			}
			d.Logger.ErrorContext(tracing.Join(ctx, recorded.Metadata.Traceparent), "reaction parked an event", "reaction", r.Name, "stream", parked.Stream, "revision", parked.Revision, "error", cause)
			return nil, nil
		}
	}
}
