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
	handleTimeout = time.Minute
	closeTimeout  = 10 * time.Second

	retries         = 4
	firstRetryAfter = 20 * time.Millisecond
	maxRetryAfter   = 5 * time.Second
)

// quieter keeps the router's own comings and goings for whoever debugs it.
var quieter = map[slog.Level]slog.Level{slog.LevelInfo: slog.LevelDebug}

// Parked is an event a reaction gave up on.
type Parked struct {
	Reaction  string
	Stream    string
	Revision  event.Revision
	EventID   string
	EventName string
	Reason    string
	ParkedAt  time.Time
}

// Parking keeps what reactions gave up on; it is durable when Park returns.
type Parking interface {
	Park(ctx context.Context, p Parked) error
}

// Messages is the log as a watermill subscriber: a reaction's name is its topic.
type Messages interface {
	message.Subscriber
	// Recorded is the event a message carries, or why it cannot be read.
	Recorded(m *message.Message) (event.Recorded, error)
}

// Deps is what reactions run on.
type Deps struct {
	List     []Reaction
	Messages Messages
	Parking  Parking
	Clock    commands.Clock
	Logger   *slog.Logger
}

// Run reacts until the context ends.
func Run(ctx context.Context, d Deps) error {
	router, err := message.NewRouter(message.RouterConfig{CloseTimeout: closeTimeout}, watermill.NewSlogLoggerWithLevelMapping(d.Logger, quieter))
	if err != nil {
		return err
	}
	for _, r := range d.List {
		handler := router.AddConsumerHandler(r.Name, r.Name, d.Messages, d.handler(r))
		handler.AddMiddleware(
			d.park(r), // outermost: sees what the retries could not mend
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

// park sets aside what failed for good. While the log or the parking itself is
// not available, or the process ends, the event is not acknowledged and comes again.
func (d Deps) park(r Reaction) message.HandlerMiddleware {
	return func(next message.HandlerFunc) message.HandlerFunc {
		return func(m *message.Message) ([]*message.Message, error) {
			ctx := m.Context()
			_, cause := next(m)
			if cause == nil || isUnavailable(cause) || ctx.Err() != nil {
				return nil, cause
			}
			recorded, _ := d.Messages.Recorded(m) // where it stands is known even when it cannot be read
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
