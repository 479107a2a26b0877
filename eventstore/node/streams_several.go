package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"reckon/eventstore/node/access"
	"reckon/eventstore/node/eventlog"
	"reckon/eventstore/node/protos/streamerrors"
	"reckon/eventstore/node/protos/streamsv2"
)

// severalService implements the second version of the Streams service, which appends to several streams at once.
type severalService struct {
	streamsv2.UnimplementedStreamsServiceServer
	log    *eventlog.Log
	memory *budget
}

// severalAppend is an append that is being received.
type severalAppend struct {
	ctx     context.Context
	held    *holding
	checks  []eventlog.Check
	events  []eventlog.ProposedIn
	payload int
}

// Properties by which newer servers tell what the event's content type cannot.
const (
	schemaFormatKey = "$schema.format"
	schemaIDKey     = "$schema.id"
)

// schemaFormats are the formats but JSON, as newer servers write them.
var schemaFormats = map[streamsv2.SchemaFormat]string{
	streamsv2.SchemaFormat_SCHEMA_FORMAT_PROTOBUF: "Protobuf", streamsv2.SchemaFormat_SCHEMA_FORMAT_AVRO: "Avro", streamsv2.SchemaFormat_SCHEMA_FORMAT_BYTES: "Bytes",
}

// AppendSession is streamsv2.StreamsServiceServer: a request for each stream.
func (s *severalService) AppendSession(call streamsv2.StreamsService_AppendSessionServer) error {
	a := &severalAppend{ctx: call.Context(), held: s.memory.hold(call.Context())}
	defer a.held.release()
	written, position, err := s.session(a, call)
	if err != nil {
		return statusError(call.Context(), sessionFailure(err))
	}
	answer := &streamsv2.AppendSessionResponse{Position: int64(position)}
	for _, w := range written {
		answer.Output = append(answer.Output, &streamsv2.AppendResponse{Stream: w.Stream, StreamRevision: w.LastRevision})
	}
	return call.SendAndClose(answer)
}

func (s *severalService) session(a *severalAppend, call streamsv2.StreamsService_AppendSessionServer) ([]eventlog.Written, uint64, error) {
	if err := a.receive(call); err != nil {
		return nil, 0, err
	}
	if len(a.checks) == 0 {
		return nil, 0, &failure{code: codes.FailedPrecondition, message: "the session has no request: send one for each stream"}
	}
	return s.append(a)
}

// receive reads all requests of a session, at most maxDrainBytes after one is refused: a client whose sending is interrupted
// does not report the reason.
func (a *severalAppend) receive(call streamsv2.StreamsService_AppendSessionServer) (refused error) {
	for drained := 0; drained <= maxDrainBytes; {
		request, err := call.Recv()
		if errors.Is(err, io.EOF) {
			return refused
		}
		if err != nil {
			return err
		}
		if refused == nil {
			refused = a.addRequest(request)
		}
		if refused != nil {
			a.events = nil
			a.held.release()
			drained += proto.Size(request) + 1
		}
	}
	return refused
}

func (a *severalAppend) addRequest(r *streamsv2.AppendRequest) error {
	for _, c := range a.checks {
		if c.Stream == r.GetStream() {
			return &failure{
				code:    codes.Aborted,
				message: fmt.Sprintf("stream %s has two requests in one session: send its records in one", inMessage(r.GetStream(), maxNameInDetails)),
				detail:  &streamerrors.StreamAlreadyInAppendSessionErrorDetails{Stream: r.GetStream()},
			}
		}
	}
	if len(a.checks) >= eventlog.MaxAppendStreams {
		return invalid(fmt.Sprintf("a session has at most %d streams: append to them in parts", eventlog.MaxAppendStreams))
	}
	if len(r.GetRecords()) == 0 {
		return invalid("a request of the session has no record")
	}
	expected, err := expectedOfState(r.GetExpectedRevision(), r.ExpectedRevision != nil)
	if err != nil {
		return err
	}
	a.checks = append(a.checks, eventlog.Check{Stream: r.GetStream(), Expected: expected})
	return a.addRecords(r.GetRecords(), func(*streamsv2.AppendRecord) string { return r.GetStream() })
}

// AppendRecords is streamsv2.StreamsServiceServer: records of several streams, and what is expected of these and others.
func (s *severalService) AppendRecords(ctx context.Context, req *streamsv2.AppendRecordsRequest) (*streamsv2.AppendRecordsResponse, error) {
	a := &severalAppend{ctx: ctx, held: s.memory.hold(ctx)}
	defer a.held.release()
	written, position, err := s.records(a, req)
	if err != nil {
		return nil, statusError(ctx, recordsFailure(err))
	}
	answer := &streamsv2.AppendRecordsResponse{Position: int64(position)}
	for _, w := range written {
		answer.Revisions = append(answer.Revisions, &streamsv2.StreamRevision{Stream: w.Stream, Revision: w.LastRevision})
	}
	return answer, nil
}

func (s *severalService) records(a *severalAppend, req *streamsv2.AppendRecordsRequest) ([]eventlog.Written, uint64, error) {
	if err := a.addRecords(req.GetRecords(), (*streamsv2.AppendRecord).GetStream); err != nil {
		return nil, 0, err
	}
	for _, check := range req.GetChecks() {
		state := check.GetStreamState()
		if state == nil {
			return nil, 0, invalid("a check is none of a stream's state, which is the only kind that this node has")
		}
		expected, err := expectedOfState(state.GetExpectedState(), true)
		if err != nil {
			return nil, 0, err
		}
		a.checks = append(a.checks, eventlog.Check{Stream: state.GetStream(), Expected: expected})
	}
	return s.append(a)
}

// append appends what was received, if the caller may write to each of the streams, and read those that are only checked.
func (s *severalService) append(a *severalAppend) ([]eventlog.Written, uint64, error) {
	authorized := map[string]bool{}
	authorize := func(action access.Action, stream string) error {
		if authorized[stream] {
			return nil
		}
		authorized[stream] = true
		return authorizeStream(a.ctx, action, stream)
	}
	for i := range a.events {
		if err := authorize(access.Write, a.events[i].Stream); err != nil {
			return nil, 0, err
		}
	}
	for _, c := range a.checks {
		if err := authorize(access.Read, c.Stream); err != nil {
			return nil, 0, err
		}
	}
	a.held.working()
	return s.log.AppendSeveral(a.ctx, a.checks, a.events)
}

func (a *severalAppend) addRecords(records []*streamsv2.AppendRecord, streamOf func(*streamsv2.AppendRecord) string) error {
	for _, record := range records {
		if len(a.events) >= maxAppendEvents {
			return errTooManyEvents
		}
		event, err := proposedFromRecord(record)
		if err != nil {
			return err
		}
		stream, size := streamOf(record), event.SizeBytes()
		if size > eventlog.MaxAppendBytes {
			return recordTooLarge(stream, event.ID, size)
		}
		if a.payload += size; a.payload > eventlog.MaxAppendBytes {
			return appendTooLarge(a.payload)
		}
		if err := a.held.reserve(a.ctx, size+eventOverheadBytes); err != nil {
			return err
		}
		a.held.waitForClient()
		a.events = append(a.events, eventlog.ProposedIn{Stream: stream, Proposed: event})
	}
	return nil
}

func proposedFromRecord(r *streamsv2.AppendRecord) (eventlog.Proposed, error) {
	schema := r.GetSchema()
	format, known := schemaFormats[schema.GetFormat()]
	isJSON := schema.GetFormat() == streamsv2.SchemaFormat_SCHEMA_FORMAT_JSON
	if !known && !isJSON || schema.GetName() == "" {
		return eventlog.Proposed{}, invalid("a record lacks the format or the name of its schema")
	}
	id := uuid.New()
	if r.RecordId != nil {
		var err error
		if id, err = uuid.Parse(r.GetRecordId()); err != nil || len(r.GetRecordId()) > maxUUIDTextSize {
			return eventlog.Proposed{}, invalid("the id of a record is not a UUID")
		}
	}
	properties := make(map[string]any, len(r.GetProperties())+2)
	for key, value := range r.GetProperties() {
		properties[key] = value.AsInterface()
	}
	if !isJSON {
		properties[schemaFormatKey] = format
	}
	if schema.Id != nil {
		properties[schemaIDKey] = schema.GetId()
	}
	metadata, err := metadataOf(properties)
	return eventlog.Proposed{ID: id, Type: schema.GetName(), JSON: isJSON, Data: r.GetData(), Metadata: metadata}, err
}

// metadataOf is the metadata in which older clients find a record's properties; empty where there are none.
func metadataOf(properties map[string]any) ([]byte, error) {
	if len(properties) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(properties); err != nil {
		return nil, invalid("the properties of a record are no JSON: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// expectedOfState returns the state in which a stream is expected; any, where the request says none.
func expectedOfState(state int64, said bool) (eventlog.Expected, error) {
	switch {
	case !said, state == int64(streamsv2.ExpectedRevisionConstants_EXPECTED_REVISION_CONSTANTS_ANY):
		return eventlog.Any(), nil
	case state == int64(streamsv2.ExpectedRevisionConstants_EXPECTED_REVISION_CONSTANTS_NO_STREAM):
		return eventlog.NoStream(), nil
	case state == int64(streamsv2.ExpectedRevisionConstants_EXPECTED_REVISION_CONSTANTS_EXISTS):
		return eventlog.StreamExists(), nil
	case state >= 0:
		return eventlog.Revision(uint64(state)), nil
	}
	return eventlog.Expected{}, invalid("the expected state of a stream is a revision, -1 (no stream), -2 (any) or -4 (exists)")
}

// stateOf is the number of an expectation in the protocol.
func stateOf(e eventlog.Expected) int64 {
	switch e.Kind {
	case eventlog.ExpectNoStream:
		return int64(streamsv2.ExpectedRevisionConstants_EXPECTED_REVISION_CONSTANTS_NO_STREAM)
	case eventlog.ExpectStreamExists:
		return int64(streamsv2.ExpectedRevisionConstants_EXPECTED_REVISION_CONSTANTS_EXISTS)
	case eventlog.ExpectRevision:
		return int64(e.Revision)
	default:
		return int64(streamsv2.ExpectedRevisionConstants_EXPECTED_REVISION_CONSTANTS_ANY)
	}
}

// Details of statuses go out in a trailer, and so are bounded as trailers.go says.
const (
	maxNameInDetails = 128
	maxDetailBytes   = 4200 // the first violation always fits
)

func recordTooLarge(stream string, id uuid.UUID, size int) error {
	return &failure{
		code:    codes.InvalidArgument,
		message: fmt.Sprintf("record %s has %d bytes, and may have %d: store large bytes elsewhere and append their hash", id, size, eventlog.MaxAppendBytes),
		detail: &streamerrors.AppendRecordSizeExceededErrorDetails{
			Stream: stream, RecordId: id.String(), Size: int32(min(size, math.MaxInt32)), MaxSize: eventlog.MaxAppendBytes,
		},
	}
}

func appendTooLarge(size int) error {
	return &failure{
		code:    codes.Aborted,
		message: fmt.Sprintf("the records of one append have more than %d bytes: append them in parts", eventlog.MaxAppendBytes),
		detail:  &streamerrors.AppendTransactionSizeExceededErrorDetails{Size: int32(min(size, math.MaxInt32)), MaxSize: eventlog.MaxAppendBytes},
	}
}

// sessionFailure is an error of AppendSession as clients know it: it names the first stream that is not as expected.
func sessionFailure(err error) error {
	var checks *eventlog.ChecksError
	if !errors.As(err, &checks) {
		return err
	}
	first, name := checks.Failed[0], inMessage(checks.Failed[0].Stream, maxNameInDetails)
	if first.Tombstoned {
		return &failure{
			code:    codes.FailedPrecondition,
			message: fmt.Sprintf("nothing was appended: stream %s was closed for ever", name),
			detail:  &streamerrors.StreamTombstonedErrorDetails{Stream: first.Stream},
		}
	}
	return &failure{
		code:    codes.FailedPrecondition,
		message: fmt.Sprintf("nothing was appended because of a revision conflict on stream %s. Expected revision: %d. Actual revision: %d.", name, stateOf(first.Expected), first.Actual),
		detail:  &streamerrors.StreamRevisionConflictErrorDetails{Stream: first.Stream, ExpectedRevision: stateOf(first.Expected), ActualRevision: first.Actual},
	}
}

// recordsFailure is an error of AppendRecords as clients know it: it names the streams that are not as expected, as many as a
// trailer has room for.
func recordsFailure(err error) error {
	var checks *eventlog.ChecksError
	if !errors.As(err, &checks) {
		return err
	}
	detail := &streamerrors.AppendConsistencyViolationErrorDetails{}
	size := 0
	for _, f := range checks.Failed {
		violation := &streamerrors.ConsistencyViolation{CheckIndex: int32(f.Index), Type: &streamerrors.ConsistencyViolation_StreamState{
			StreamState: &streamerrors.ConsistencyViolation_StreamStateViolation{Stream: f.Stream, ExpectedState: stateOf(f.Expected), ActualState: actualState(f)},
		}}
		if size += proto.Size(violation); size > maxDetailBytes {
			break
		}
		detail.Violations = append(detail.Violations, violation)
	}
	return &failure{
		code:    codes.FailedPrecondition,
		message: fmt.Sprintf("nothing was appended: %d of the streams are not as expected, the first is %s", len(checks.Failed), inMessage(checks.Failed[0].Stream, maxNameInDetails)),
		detail:  detail,
	}
}

// actualState is the state of a stream in the protocol.
func actualState(f eventlog.FailedCheck) int64 {
	const softDeleted, tombstoned = -10, -100
	switch {
	case f.Tombstoned:
		return tombstoned
	case f.SoftDeleted:
		return softDeleted
	}
	return f.Actual
}
