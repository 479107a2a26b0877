package node

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"

	"reckon/eventstore/node/access"
	"reckon/eventstore/node/eventlog"
)

// batch is one append whose events arrive in chunks.
type batch struct {
	correlation *shared.UUID
	options     *streams.BatchAppendReq_Options
	events      []eventlog.Proposed
	payload     int
	held        *holding
	refused     error
	deadline    time.Time // zero: none
}

// batchCall is one BatchAppend call: many appends over one connection, answered in any order.
type batchCall struct {
	service *streamsService
	call    streams.Streams_BatchAppendServer
	slots   chan struct{} // holds one token per batch that is open or unanswered
	ended   chan struct{} // closed when further chunks are refused
	sendMu  sync.Mutex
	waiting answering

	mu   sync.Mutex // never held while the call waits
	open map[uuid.UUID]*batch
}

// answering counts the batches that are submitted and not yet answered.
type answering struct {
	mu      sync.Mutex
	pending sync.WaitGroup
	ended   bool
}

// add reports whether one more may be submitted.
func (a *answering) add() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended {
		a.pending.Add(1)
	}
	return !a.ended
}

// wait refuses further ones, and waits for those there are.
func (a *answering) wait() {
	a.mu.Lock()
	a.ended = true
	a.mu.Unlock()
	a.pending.Wait()
}

// BatchAppend receives appends until the client half-closes or the node closes (clients
// keep such a call open for their whole life), and returns when all are answered.
func (s *streamsService) BatchAppend(call streams.Streams_BatchAppendServer) error {
	c := &batchCall{service: s, call: call, open: map[uuid.UUID]*batch{}, slots: make(chan struct{}, maxOpenBatches), ended: make(chan struct{})}
	received := make(chan error, 1)
	go func() { received <- c.receive() }()
	var err error
	select {
	case err = <-received:
	case <-s.closing:
		err = errShuttingDown
	case <-call.Context().Done(): // also when the caller's user ended
		err = call.Context().Err()
	}
	close(c.ended)
	c.releaseUnfinished()
	c.waiting.wait()
	return statusError(call.Context(), err)
}

func (c *batchCall) receive() (err error) {
	defer recoverAsInternal(c.service.logger, "BatchAppend", &err)
	for {
		chunk, err := c.call.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.addChunk(chunk); err != nil {
			return err
		}
	}
}

// releaseUnfinished releases the memory that unfinished batches hold; they can reserve no more.
func (c *batchCall) releaseUnfinished() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.open {
		b.held.close()
	}
}

// addChunk adds a chunk to its batch; the final chunk submits the batch.
func (c *batchCall) addChunk(chunk *streams.BatchAppendReq) error {
	id, err := uuidFromWire(chunk.GetCorrelationId())
	if err != nil {
		return err
	}
	b, err := c.take(id, chunk)
	if err != nil {
		return err
	}
	for _, message := range chunk.GetProposedMessages() {
		if b.refused != nil {
			break
		}
		var event eventlog.Proposed
		if event, b.refused = admitEvent(c.call.Context(), message, b.held, len(b.events), &b.payload); b.refused == nil {
			b.events = append(b.events, event)
		}
	}
	if b.refused != nil {
		b.events = nil
		b.held.release()
	}
	if !chunk.GetIsFinal() {
		return nil
	}
	c.mu.Lock()
	delete(c.open, id)
	c.mu.Unlock()
	if !c.waiting.add() {
		b.held.close()
		return errShuttingDown
	}
	c.submitAndAnswer(b)
	return nil
}

// take returns the batch of a chunk; for a first chunk a new one, once it has a slot.
func (c *batchCall) take(id uuid.UUID, chunk *streams.BatchAppendReq) (*batch, error) {
	c.mu.Lock()
	b, open := c.open[id], len(c.open)
	c.mu.Unlock()
	switch {
	case b != nil:
		return b, nil
	case open >= maxOpenBatches-1:
		return nil, invalid("too many unfinished batches in one call")
	}
	select {
	case c.slots <- struct{}{}:
	case <-c.ended:
		return nil, errShuttingDown
	case <-c.call.Context().Done():
		return nil, c.call.Context().Err()
	}
	b = newBatch(chunk, c.service.memory.hold(c.call.Context()))
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.ended:
		return nil, errShuttingDown // releaseUnfinished may not see this batch
	default:
	}
	c.open[id] = b
	return b, nil
}

func newBatch(first *streams.BatchAppendReq, held *holding) *batch {
	b := &batch{correlation: first.GetCorrelationId(), options: first.GetOptions(), held: held}
	switch deadline := b.options.GetDeadlineOption().(type) {
	case *streams.BatchAppendReq_Options_Deadline:
		// a duration that time.Duration cannot hold is no limit
		if d := deadline.Deadline; d.IsValid() && d.GetSeconds() < int64(time.Duration(1<<63-1)/time.Second) {
			b.deadline = time.Now().Add(d.AsDuration())
		}
	case *streams.BatchAppendReq_Options_Deadline_21_10_0:
		if t := deadline.Deadline_21_10_0; t.IsValid() {
			b.deadline = t.AsTime()
		}
	}
	if b.options == nil {
		b.refused = invalid("the first chunk of a batch must carry its options")
	}
	return b
}

// submitAndAnswer submits the batch to the log, in the order of final chunks, and answers
// in the background when it is durable or refused.
func (c *batchCall) submitAndAnswer(b *batch) {
	ctx, cancel := c.call.Context(), context.CancelFunc(func() {})
	if !b.deadline.IsZero() {
		ctx, cancel = context.WithDeadline(ctx, b.deadline)
	}
	b.held.working()
	pending, err := c.submitBatch(ctx, b)
	go func() {
		defer c.waiting.pending.Done()
		defer func() { <-c.slots }()
		defer cancel()
		var result eventlog.Result
		if err == nil {
			result, err = pending.Wait(ctx)
		}
		b.held.release()
		c.sendAnswer(b, result, err)
	}()
}

func (c *batchCall) submitBatch(ctx context.Context, b *batch) (*eventlog.Pending, error) {
	if err := ctx.Err(); err != nil { // a deadline that passed goes before what else is wrong
		return nil, err
	}
	if b.refused != nil {
		return nil, b.refused
	}
	expected, err := expectedOfBatch(b.options)
	if err != nil {
		return nil, err
	}
	stream := string(b.options.GetStreamIdentifier().GetStreamName())
	if err := authorizeStream(ctx, access.Write, stream); err != nil {
		return nil, err
	}
	return c.service.log.Submit(ctx, stream, expected, b.events)
}

func expectedOfBatch(o *streams.BatchAppendReq_Options) (eventlog.Expected, error) {
	switch e := o.GetExpectedStreamPosition().(type) {
	case *streams.BatchAppendReq_Options_StreamPosition:
		return expectRevision(e.StreamPosition)
	case *streams.BatchAppendReq_Options_NoStream:
		return eventlog.NoStream(), nil
	case *streams.BatchAppendReq_Options_Any:
		return eventlog.Any(), nil
	case *streams.BatchAppendReq_Options_StreamExists:
		return eventlog.StreamExists(), nil
	default:
		return eventlog.Expected{}, invalid("the expected revision is missing")
	}
}

// sendAnswer sends one response. It ignores an error: then the connection is gone and receive ends too.
func (c *batchCall) sendAnswer(b *batch, result eventlog.Result, err error) {
	response := &streams.BatchAppendResp{CorrelationId: b.correlation, StreamIdentifier: b.options.GetStreamIdentifier()}
	switch e := b.options.GetExpectedStreamPosition().(type) {
	case *streams.BatchAppendReq_Options_StreamPosition:
		response.ExpectedStreamPosition = &streams.BatchAppendResp_StreamPosition{StreamPosition: e.StreamPosition}
	case *streams.BatchAppendReq_Options_NoStream:
		response.ExpectedStreamPosition = &streams.BatchAppendResp_NoStream{NoStream: &emptypb.Empty{}}
	case *streams.BatchAppendReq_Options_Any:
		response.ExpectedStreamPosition = &streams.BatchAppendResp_Any{Any: &emptypb.Empty{}}
	case *streams.BatchAppendReq_Options_StreamExists:
		response.ExpectedStreamPosition = &streams.BatchAppendResp_StreamExists{StreamExists: &emptypb.Empty{}}
	}
	if err != nil {
		response.Result = &streams.BatchAppendResp_Error{Error: batchError(err)}
	} else {
		response.Result = &streams.BatchAppendResp_Success_{Success: batchSuccess(result)}
	}
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	_ = c.call.Send(response)
}

func batchSuccess(r eventlog.Result) *streams.BatchAppendResp_Success {
	success := &streams.BatchAppendResp_Success{
		CurrentRevisionOption: &streams.BatchAppendResp_Success_NoStream{NoStream: &emptypb.Empty{}},
		PositionOption:        &streams.BatchAppendResp_Success_NoPosition{NoPosition: &emptypb.Empty{}},
	}
	if r.LastRevision >= 0 {
		success.CurrentRevisionOption = &streams.BatchAppendResp_Success_CurrentRevision{CurrentRevision: uint64(r.LastRevision)}
	}
	if r.Position > 0 {
		success.PositionOption = &streams.BatchAppendResp_Success_Position{Position: &shared.AllStreamPosition{CommitPosition: r.Position, PreparePosition: r.Position}}
	}
	return success
}

// batchError returns a refusal as BatchAppend answers it: a status with exactly one detail.
func batchError(err error) *rpcstatus.Status {
	var (
		wrong     *eventlog.WrongExpectedRevisionError
		isDeleted *eventlog.StreamDeletedError
		denied    *eventlog.AccessDeniedError
		tooLarge  *eventlog.AppendTooLargeError
	)
	var code codes.Code
	var detail proto.Message
	switch {
	case errors.As(err, &wrong):
		code, detail = codes.AlreadyExists, batchWrongExpected(wrong)
	case errors.As(err, &isDeleted):
		code, detail = codes.NotFound, &shared.StreamDeleted{StreamIdentifier: streamToWire(isDeleted.Stream)}
	case errors.As(err, &denied):
		code, detail = codes.PermissionDenied, &shared.AccessDenied{}
	case errors.As(err, &tooLarge):
		code, detail = codes.InvalidArgument, &shared.MaximumAppendSizeExceeded{MaxAppendSize: uint32(tooLarge.LimitBytes)}
	case errors.Is(err, context.DeadlineExceeded):
		code, detail = codes.DeadlineExceeded, &shared.Timeout{}
	default:
		f := failureOf(err)
		code, detail = f.code, &shared.Unknown{}
		switch f.code {
		case codes.InvalidArgument:
			detail = &shared.BadRequest{Message: f.message}
		case codes.PermissionDenied:
			detail = &shared.AccessDenied{}
		}
	}
	status := &rpcstatus.Status{Code: int32(code), Message: err.Error()}
	if packed, err := anypb.New(detail); err == nil {
		status.Details = []*anypb.Any{packed}
	}
	return status
}

func batchWrongExpected(e *eventlog.WrongExpectedRevisionError) *shared.WrongExpectedVersion {
	w := &shared.WrongExpectedVersion{CurrentStreamRevisionOption: &shared.WrongExpectedVersion_CurrentNoStream{CurrentNoStream: &emptypb.Empty{}}}
	if e.Actual >= 0 {
		w.CurrentStreamRevisionOption = &shared.WrongExpectedVersion_CurrentStreamRevision{CurrentStreamRevision: uint64(e.Actual)}
	}
	switch e.Expected.Kind {
	case eventlog.ExpectAny:
		w.ExpectedStreamPositionOption = &shared.WrongExpectedVersion_ExpectedAny{ExpectedAny: &emptypb.Empty{}}
	case eventlog.ExpectNoStream:
		w.ExpectedStreamPositionOption = &shared.WrongExpectedVersion_ExpectedNoStream{ExpectedNoStream: &emptypb.Empty{}}
	case eventlog.ExpectStreamExists:
		w.ExpectedStreamPositionOption = &shared.WrongExpectedVersion_ExpectedStreamExists{ExpectedStreamExists: &emptypb.Empty{}}
	default:
		w.ExpectedStreamPositionOption = &shared.WrongExpectedVersion_ExpectedStreamPosition{ExpectedStreamPosition: e.Expected.Revision}
	}
	return w
}
