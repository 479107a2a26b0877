package eventstore

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"reckon/commands"
)

type callOutcome int

const (
	outcomeFinal    callOutcome = iota // the server's considered answer
	outcomeConflict                    // the stream has moved on
	outcomeUnknown                     // not answered: nobody knows whether it happened
)

// classify maps an error of the client to what the caller may do: outcomeUnknown may be
// retried with the same event ids, outcomeConflict must be decided again, outcomeFinal is returned.
func classify(err error) callOutcome {
	var failure *esdb.Error
	if errors.As(err, &failure) {
		switch failure.Code() {
		case esdb.ErrorCodeWrongExpectedVersion:
			return outcomeConflict
		case esdb.ErrorUnavailable, esdb.ErrorCodeDeadlineExceeded, esdb.ErrorAborted,
			esdb.ErrorCodeNotLeader, esdb.ErrorCodeConnectionClosed:
			return outcomeUnknown
		case esdb.ErrorCodeStreamDeleted:
			return outcomeFinal
		}
	}
	if errors.Is(err, io.EOF) { // the server ended the call before its answer was read
		return outcomeUnknown
	}
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Aborted, codes.Canceled, codes.Internal, codes.ResourceExhausted:
		return outcomeUnknown
	}
	return outcomeFinal
}

// isUnavailable reports whether the error means that the client has lost its server.
func isUnavailable(err error) bool {
	var failure *esdb.Error
	if errors.As(err, &failure) {
		return failure.IsErrorCode(esdb.ErrorUnavailable) || failure.IsErrorCode(esdb.ErrorCodeConnectionClosed)
	}
	return status.Code(err) == codes.Unavailable
}

// commandError translates an error of the client: commands.ErrConflict, commands.ErrUnavailable or commands.ErrCancelled
// (wrapping the cause), ErrDeleted, or the error itself.
func commandError(ctx context.Context, err error) error {
	var failure *esdb.Error
	switch {
	case err == nil:
		return nil
	case classify(err) == outcomeConflict:
		return commands.ErrConflict
	case ctx.Err() != nil, errors.Is(err, errClosed), status.Code(err) == codes.DataLoss: // a damaged log answers when it is restored
		return commands.Unanswered(ctx, err)
	case errors.As(err, &failure) && failure.IsErrorCode(esdb.ErrorCodeStreamDeleted):
		return fmt.Errorf("%w: %w", ErrDeleted, err)
	}
	return err
}
