package node

import (
	"context"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	"reckon/eventstore/node/eventlog"
)

// gRPC takes 64 KiB of a call's answers before it waits for a client that does not read
// (grpc-go, defaultWriteQuota; there is no option), and a server cannot see how much of that
// is left. So each call counts what it has handed over and what gRPC has given back, which is
// written, and waits by itself at queuedBytes.

// outbound counts the answers of one call that gRPC has not written.
type outbound struct {
	held    *holding // memory of answers that are larger than queuedBytes, and of what keepRoom keeps
	bytes   atomic.Int64
	written chan struct{} // a signal after bytes fell below queuedBytes
	large   int           // bytes in held for the next answer
}

// isFull reports whether the next answer must wait.
func (o *outbound) isFull() bool { return o != nil && o.bytes.Load() >= queuedBytes }

// await waits until an answer can be handed over, at most for a time; 0: for any. It reports
// whether one can, and returns an error when ctx ends, or errShuttingDown when closing is closed.
func (o *outbound) await(ctx context.Context, atMost time.Duration, closing <-chan struct{}) (bool, error) {
	if !o.isFull() {
		return true, nil
	}
	var late <-chan time.Time
	if atMost > 0 {
		timer := time.NewTimer(atMost)
		defer timer.Stop()
		late = timer.C
	}
	for o.isFull() {
		select {
		case <-o.written:
		case <-late:
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		case <-closing:
			return false, errShuttingDown
		}
	}
	return true, nil
}

// keepRoom reserves the memory of queuedBytes for as long as the call lasts.
func (o *outbound) keepRoom(ctx context.Context) error {
	if o == nil {
		return nil
	}
	return o.held.reserve(ctx, queuedBytes)
}

// keep takes over the memory that from has reserved for the next answer, until it is written.
func (o *outbound) keep(from *holding, sizeBytes int) {
	if o == nil {
		return
	}
	from.pass(o.held, sizeBytes)
	o.held.waitForClient()
	o.large = sizeBytes
}

// handOver returns an answer as gRPC gets it, and counts it until gRPC gives it back.
func (o *outbound) handOver(answer []byte) mem.BufferSlice {
	h := &handedOver{outbound: o, bytes: int64(len(answer)) + answerOverheadBytes, large: o.large, end: afterwards[:0]}
	o.large = 0
	o.bytes.Add(h.bytes)
	h.parts = [...]mem.Buffer{mem.SliceBuffer(answer), mem.NewBuffer(&h.end, h)}
	return h.parts[:]
}

// handedOver is one answer that gRPC has: its bytes, and behind them a buffer without any. It
// is the pool to which gRPC returns that buffer when the answer is written, or dropped.
type handedOver struct {
	outbound *outbound
	bytes    int64
	large    int
	end      []byte
	parts    [2]mem.Buffer
}

// afterwards backs the empty buffers: gRPC returns those only whose capacity is above a threshold, of 1 KiB.
var afterwards [2 << 10]byte

// Get is mem.BufferPool; gRPC takes no buffers from this one.
func (*handedOver) Get(length int) *[]byte { return mem.DefaultBufferPool().Get(length) }

// Put is mem.BufferPool.
func (h *handedOver) Put(*[]byte) {
	if h.large > 0 {
		h.outbound.held.giveBack(h.large)
	}
	if h.outbound.bytes.Add(-h.bytes) < queuedBytes {
		wake(h.outbound.written)
	}
}

// counted is a message whose encoded form is counted.
type counted struct {
	message  any
	outbound *outbound
}

type outboundKey struct{}

// outboundOf returns that of a call; nil for one that came over no connection.
func outboundOf(ctx context.Context) *outbound {
	o, _ := ctx.Value(outboundKey{}).(*outbound)
	return o
}

// countAnswers is the interceptor that counts the answers of calls. It comes before those that look at
// messages. A call has not ended before its answers are written, but for queuedBytes: what gRPC holds for
// a client that opens no window is counted as long as it is there.
func countAnswers(memory *budget, closing <-chan struct{}) grpc.StreamServerInterceptor {
	return func(server any, call grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		held := memory.hold(call.Context())
		defer held.close()
		o := &outbound{held: held, written: make(chan struct{}, 1)}
		ctx := eventlog.By(call.Context(), connOf(call.Context())) // of a user, where the guard knows one
		err := handler(server, &countedCall{ServerStream: call, ctx: context.WithValue(ctx, outboundKey{}, o), outbound: o})
		_, _ = o.await(call.Context(), 0, closing) // nobody is left to tell that it was in vain
		return err
	}
}

type countedCall struct {
	grpc.ServerStream
	ctx      context.Context
	outbound *outbound
}

// Context is grpc.ServerStream.
func (c *countedCall) Context() context.Context { return c.ctx }

// SendMsg is grpc.ServerStream.
func (c *countedCall) SendMsg(message any) error {
	if _, err := c.outbound.await(c.ctx, 0, nil); err != nil {
		return status.FromContextError(err).Err()
	}
	return c.ServerStream.SendMsg(&counted{message, c.outbound})
}
