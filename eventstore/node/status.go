package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"

	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"reckon/eventstore/node/eventlog"
)

// failure is a refused call: the status and the trailers that clients translate into
// their own errors. Trailers hold names as they are; sendable encodes them.
type failure struct {
	code     codes.Code
	message  string
	trailers metadata.MD
	detail   proto.Message // of the status, for clients that read those; nil: none
}

func (f *failure) Error() string { return f.message }

var (
	errShuttingDown = &failure{code: codes.Unavailable, message: "the node is shutting down"}
	errTooBusy      = &failure{code: codes.Unavailable, message: "calls in progress hold all memory there is for events: try again"}

	errTooManySubscriptions = &failure{code: codes.ResourceExhausted, message: fmt.Sprintf("there are too many subscriptions: this node has at most %d, a connection %d, and a user what others leave; end some, or read several streams by one subscription to $all with a filter", maxSubscriptions, maxSubscriptionsPerConnection)}
	errTooManyWatchers      = &failure{code: codes.ResourceExhausted, message: fmt.Sprintf("there are too many calls that follow figures or health: this node has at most %d, and a connection %d; end some", maxStatsCalls, maxStatsCallsPerConnection)}
	errTooManyConsumers     = &failure{code: codes.ResourceExhausted, message: "this node has as many consumers of persistent subscriptions as it can, in all or of this user"}
)

func invalid(message string) *failure {
	return &failure{code: codes.InvalidArgument, message: message}
}

// failureOf translates an error of a call into its status and trailers, as they may be sent.
func failureOf(err error) *failure { return translate(err).sendable() }

func translate(err error) *failure {
	var (
		f         *failure
		revision  *eventlog.WrongExpectedRevisionError
		isDeleted *eventlog.StreamDeletedError
		denied    *eventlog.AccessDeniedError
		tooLarge  *eventlog.AppendTooLargeError
		malformed *eventlog.InvalidRequestError
		corrupt   *eventlog.CorruptError
		index     *eventlog.IndexError
		storage   *eventlog.StorageError
	)
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &revision):
		// clients of other languages parse this sentence
		message := fmt.Sprintf("the operation failed: WrongExpectedVersion. Stream: %s, Expected version: %s, Actual version: %d",
			inMessage(revision.Stream, maxNameInMessage), revision.Expected.LegacyNumber(), revision.Actual)
		return &failure{code: codes.FailedPrecondition, message: message, trailers: metadata.Pairs("exception", "wrong-expected-version",
			"stream-name", revision.Stream, "expected-version", revision.Expected.LegacyNumber(), "actual-version", strconv.FormatInt(revision.Actual, 10))}
	case errors.As(err, &isDeleted):
		return &failure{code: codes.FailedPrecondition, message: err.Error(), trailers: metadata.Pairs("exception", "stream-deleted", "stream-name", isDeleted.Stream)}
	case errors.As(err, &denied):
		return &failure{code: codes.PermissionDenied, message: err.Error(), trailers: metadata.Pairs("exception", "access-denied")}
	case errors.As(err, &tooLarge):
		return &failure{code: codes.InvalidArgument, message: err.Error(), trailers: metadata.Pairs("exception", "maximum-append-size-exceeded", "maximum-append-size", strconv.Itoa(tooLarge.LimitBytes))}
	case errors.As(err, &malformed):
		return invalid(err.Error())
	case errors.As(err, &corrupt):
		return &failure{code: codes.DataLoss, message: err.Error()}
	case errors.As(err, &index), errors.As(err, &storage):
		// the same append may be repeated once the node has started again
		return &failure{code: codes.Unavailable, message: err.Error()}
	case errors.Is(err, eventlog.ErrClosed):
		return errShuttingDown
	case errors.Is(err, context.DeadlineExceeded):
		return &failure{code: codes.DeadlineExceeded, message: err.Error()}
	case errors.Is(err, context.Canceled):
		return &failure{code: codes.Canceled, message: err.Error()}
	default:
		return &failure{code: codes.Internal, message: err.Error()}
	}
}

// statusError sets the trailers of a call and returns the status error for its handler to
// return. Errors that are a status already, those of the transport, are returned as they are.
func statusError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if _, isStatus := status.FromError(err); isStatus {
		return err
	}
	f := failureOf(err)
	if len(f.trailers) > 0 {
		_ = grpc.SetTrailer(ctx, f.trailers) // fails only outside a call
	}
	return f.status()
}

// status is the failure without its trailers.
func (f *failure) status() error {
	s := &rpcstatus.Status{Code: int32(f.code), Message: f.message}
	if f.detail != nil {
		if packed, err := anypb.New(f.detail); err == nil {
			s.Details = []*anypb.Any{packed}
		}
	}
	return status.ErrorProto(s)
}

// recoverStream answers a call that panics with INTERNAL, so that it does not end the process.
func recoverStream(logger *slog.Logger) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
		defer recoverAsInternal(logger, info.FullMethod, &err)
		return handler(srv, stream)
	}
}

func recoverAsInternal(logger *slog.Logger, method string, err *error) {
	if cause := recover(); cause != nil {
		logger.Error("call panicked", "method", method, "cause", cause, "stack", string(debug.Stack()))
		*err = status.Error(codes.Internal, "internal error; the node's log says more")
	}
}
