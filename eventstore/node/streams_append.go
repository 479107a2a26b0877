package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"

	"reckon/eventstore/node/eventlog"
)

// streamsService implements the Streams service.
type streamsService struct {
	streams.UnimplementedStreamsServer
	log           *eventlog.Log
	closing       <-chan struct{}
	memory        *budget
	reads         *turns
	subscriptions *quota
	logger        *slog.Logger
}

// Append writes the events of one client stream atomically.
func (s *streamsService) Append(call streams.Streams_AppendServer) error {
	held := s.memory.hold(call.Context())
	defer held.release()
	stream, expected, events, err := receiveAppend(call, held)
	if err != nil {
		return statusError(call.Context(), err)
	}
	held.working()
	result, err := s.log.Append(call.Context(), stream, expected, events)
	var wrong *eventlog.WrongExpectedRevisionError
	if errors.As(err, &wrong) {
		return call.SendAndClose(&streams.AppendResp{Result: wrongExpectedToWire(wrong)})
	}
	if err != nil {
		return statusError(call.Context(), err)
	}
	return call.SendAndClose(&streams.AppendResp{Result: &streams.AppendResp_Success_{Success: appendedToWire(result)}})
}

// receiveAppend reads the whole request, at most maxDrainBytes after it is refused: a
// client whose sending is interrupted does not report the reason.
func receiveAppend(call streams.Streams_AppendServer, held *holding) (stream string, expected eventlog.Expected, events []eventlog.Proposed, refused error) {
	first, err := call.Recv()
	if err != nil {
		return "", expected, nil, transportError(err)
	}
	options := first.GetOptions()
	if options == nil {
		refused = invalid("the first message of an append must carry its options")
	} else {
		stream = string(options.GetStreamIdentifier().GetStreamName())
		expected, refused = expectedOfAppend(options)
	}
	payload, drained := 0, 0
	for {
		message, err := call.Recv()
		if errors.Is(err, io.EOF) {
			return stream, expected, events, refused
		}
		if err != nil {
			return "", expected, nil, transportError(err)
		}
		if refused == nil {
			var event eventlog.Proposed
			if event, refused = receiveEvent(call.Context(), message.GetProposedMessage(), held, len(events), &payload); refused == nil {
				events = append(events, event)
				continue
			}
			events = nil
			held.release()
		}
		proposed := message.GetProposedMessage()
		if drained += len(proposed.GetData()) + len(proposed.GetCustomMetadata()) + 1; drained > maxDrainBytes {
			return "", expected, nil, refused
		}
	}
}

// receiveEvent returns one event of the append, or an error when the append exceeds
// maxAppendEvents or eventlog.MaxAppendBytes with it.
func receiveEvent(ctx context.Context, message *streams.AppendReq_ProposedMessage, held *holding, before int, payload *int) (eventlog.Proposed, error) {
	if message == nil {
		return eventlog.Proposed{}, invalid("a message of the append carries no event")
	}
	return admitEvent(ctx, message, held, before, payload)
}

// errTooManyEvents refuses an append that would keep the writer from others.
var errTooManyEvents = invalid(fmt.Sprintf("one append has at most %d events: append them in parts", maxAppendEvents))

// admitEvent checks and counts one more event of an append that has some.
func admitEvent(ctx context.Context, message proposedMessage, held *holding, before int, payload *int) (eventlog.Proposed, error) {
	if before >= maxAppendEvents {
		return eventlog.Proposed{}, errTooManyEvents
	}
	event, err := proposedFromWire(message)
	if err != nil {
		return event, err
	}
	if *payload += event.SizeBytes(); *payload > eventlog.MaxAppendBytes {
		return event, &eventlog.AppendTooLargeError{LimitBytes: eventlog.MaxAppendBytes}
	}
	err = held.reserve(ctx, event.SizeBytes()+eventOverheadBytes)
	held.waitForClient()
	return event, err
}

// transportError translates the error of a first Recv: a call that ends without a message is invalid.
func transportError(err error) error {
	if errors.Is(err, io.EOF) {
		return invalid("the call carries no request")
	}
	return err
}

func expectedOfAppend(o *streams.AppendReq_Options) (eventlog.Expected, error) {
	switch e := o.GetExpectedStreamRevision().(type) {
	case *streams.AppendReq_Options_Revision:
		return expectRevision(e.Revision)
	case *streams.AppendReq_Options_NoStream:
		return eventlog.NoStream(), nil
	case *streams.AppendReq_Options_Any:
		return eventlog.Any(), nil
	case *streams.AppendReq_Options_StreamExists:
		return eventlog.StreamExists(), nil
	default:
		return eventlog.Expected{}, invalid("the expected revision is missing")
	}
}

func expectRevision(revision uint64) (eventlog.Expected, error) {
	if revision > math.MaxInt64 {
		return eventlog.Expected{}, invalid("the expected revision is above 2^63-1")
	}
	return eventlog.Revision(revision), nil
}

func appendedToWire(r eventlog.Result) *streams.AppendResp_Success {
	success := &streams.AppendResp_Success{
		CurrentRevisionOption: &streams.AppendResp_Success_NoStream{NoStream: &shared.Empty{}},
		PositionOption:        &streams.AppendResp_Success_NoPosition{NoPosition: &shared.Empty{}},
	}
	if r.LastRevision >= 0 {
		success.CurrentRevisionOption = &streams.AppendResp_Success_CurrentRevision{CurrentRevision: uint64(r.LastRevision)}
	}
	if r.Position > 0 {
		success.PositionOption = &streams.AppendResp_Success_Position{Position: &streams.AppendResp_Position{CommitPosition: r.Position, PreparePosition: r.Position}}
	}
	return success
}

// wrongExpectedToWire sets the fields that current clients read and those of clients of version 20.6.0.
func wrongExpectedToWire(e *eventlog.WrongExpectedRevisionError) *streams.AppendResp_WrongExpectedVersion_ {
	w := &streams.AppendResp_WrongExpectedVersion{}
	if e.Actual < 0 {
		w.CurrentRevisionOption = &streams.AppendResp_WrongExpectedVersion_CurrentNoStream{CurrentNoStream: &shared.Empty{}}
		w.CurrentRevisionOption_20_6_0 = &streams.AppendResp_WrongExpectedVersion_NoStream_20_6_0{NoStream_20_6_0: &shared.Empty{}}
	} else {
		w.CurrentRevisionOption = &streams.AppendResp_WrongExpectedVersion_CurrentRevision{CurrentRevision: uint64(e.Actual)}
		w.CurrentRevisionOption_20_6_0 = &streams.AppendResp_WrongExpectedVersion_CurrentRevision_20_6_0{CurrentRevision_20_6_0: uint64(e.Actual)}
	}
	switch e.Expected.Kind {
	case eventlog.ExpectAny:
		w.ExpectedRevisionOption = &streams.AppendResp_WrongExpectedVersion_ExpectedAny{ExpectedAny: &shared.Empty{}}
		w.ExpectedRevisionOption_20_6_0 = &streams.AppendResp_WrongExpectedVersion_Any_20_6_0{Any_20_6_0: &shared.Empty{}}
	case eventlog.ExpectStreamExists:
		w.ExpectedRevisionOption = &streams.AppendResp_WrongExpectedVersion_ExpectedStreamExists{ExpectedStreamExists: &shared.Empty{}}
		w.ExpectedRevisionOption_20_6_0 = &streams.AppendResp_WrongExpectedVersion_StreamExists_20_6_0{StreamExists_20_6_0: &shared.Empty{}}
	case eventlog.ExpectNoStream:
		w.ExpectedRevisionOption = &streams.AppendResp_WrongExpectedVersion_ExpectedNoStream{ExpectedNoStream: &shared.Empty{}}
		w.ExpectedRevisionOption_20_6_0 = &streams.AppendResp_WrongExpectedVersion_ExpectedRevision_20_6_0{ExpectedRevision_20_6_0: math.MaxUint64}
	default:
		w.ExpectedRevisionOption = &streams.AppendResp_WrongExpectedVersion_ExpectedRevision{ExpectedRevision: e.Expected.Revision}
		w.ExpectedRevisionOption_20_6_0 = &streams.AppendResp_WrongExpectedVersion_ExpectedRevision_20_6_0{ExpectedRevision_20_6_0: e.Expected.Revision}
	}
	return &streams.AppendResp_WrongExpectedVersion_{WrongExpectedVersion: w}
}
