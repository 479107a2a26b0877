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
}

// Deps is what reactions run on. All of it is required.
type Deps struct {
	List     []Reaction
	Messages Messages
	Parking  Parking
	Clock    commands.Clock
	Logger   *slog.Logger
}

// Run reacts until the context ends, and then returns nil. An error means that the
// subscription could not be made or ended by itself.
func Run(ctx context.Context, d Deps) error {
	router, err := message.NewRouter(message.RouterConfig{CloseTimeout: closeTimeout}, watermill.NewSlogLoggerWithLevelMapping(d.Logger, routerLevels))
	if err != nil {
		return err
	}
	for _, r := range d.List {
		handler := router.AddConsumerHandler(r.Name, r.Name, d.Messages, d.handler(r))
		handler.AddMiddleware(
			d.park(r), // outermost: it is called after the last retry
			middleware.Retry{
				MaxRetries: retries, InitialInterval: firstRetryAfter, MaxInterval: maxRetryAfter, Multiplier: 3,
				RandomizationFactor: 0.5, ResetContextOnRetry: true,
			}.Middleware,
			middleware.Recoverer,
		)
	}
	if len(d.List) == 0 {
		<-ctx.Done()
		return nil
	}
	if err := router.Run(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

func (d Deps) handler(r Reaction) message.NoPublishHandlerFunc {
	return func(m *message.Message) error {
		recorded, err := d.Messages.Recorded(m)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(m.Context(), handleTimeout)
		defer cancel()
		return r.Handle(ctx, recorded)
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
			if cause == nil || isUnavailable(cause) || ctx.Err() != nil {
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
			d.Logger.Error("reaction parked an event", "reaction", r.Name, "stream", parked.Stream, "revision", parked.Revision, "error", cause)
			return nil, nil
		}
	}
}

func isUnavailable(err error) bool { return errors.Is(err, commands.ErrUnavailable) }
