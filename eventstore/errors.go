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

type outcome int

const (
	final    outcome = iota // the server's considered answer
	conflict                // the stream has moved on
	again                   // not answered: nobody knows whether it happened
)

// verdict sorts a client's error by what may be done about it.
func verdict(err error) outcome {
	var failure *esdb.Error
	if errors.As(err, &failure) {
		switch failure.Code() {
		case esdb.ErrorCodeWrongExpectedVersion:
			return conflict
		case esdb.ErrorUnavailable, esdb.ErrorCodeDeadlineExceeded, esdb.ErrorAborted,
			esdb.ErrorCodeNotLeader, esdb.ErrorCodeConnectionClosed:
			return again
		case esdb.ErrorCodeStreamDeleted:
			return final
		}
	}
	if errors.Is(err, io.EOF) { // the server ended the call before its answer was read
		return again
	}
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Aborted, codes.Canceled, codes.Internal, codes.ResourceExhausted:
		return again
	}
	return final
}

// isUnavailable tells that the server behind the client has gone.
func isUnavailable(err error) bool {
	var failure *esdb.Error
	if errors.As(err, &failure) {
		return failure.IsErrorCode(esdb.ErrorUnavailable) || failure.IsErrorCode(esdb.ErrorCodeConnectionClosed)
	}
	return status.Code(err) == codes.Unavailable
}

// translate says in the terms of commands what the client said.
func translate(ctx context.Context, err error) error {
	var failure *esdb.Error
	switch {
	case err == nil:
		return nil
	case verdict(err) == conflict:
		return commands.ErrConflict
	case ctx.Err() != nil, errors.Is(err, errClosed):
		return fmt.Errorf("%w: %w", commands.ErrUnavailable, err)
	case errors.As(err, &failure) && failure.IsErrorCode(esdb.ErrorCodeStreamDeleted):
		return fmt.Errorf("%w: %w", ErrDeleted, err)
	}
	return err
}
