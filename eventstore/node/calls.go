package node

import (
	"context"
	"errors"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
	"google.golang.org/protobuf/proto"
)

// Every call, unary ones too, is served as a stream, so that one chain of interceptors has it before a
// message of it is read: a compressed request and one without credentials are refused by their head.

// openCall is one call of a connection. It is the context by which gRPC reads and writes it.
type openCall struct {
	context.Context
	cancel     context.CancelCauseFunc
	inbound    *inbound
	stream     *inboundStream // of a connection without a verified password, else nil
	compressed string         // the encoding that the head names

	mu      sync.Mutex
	decoded *arriving // the message that the call has
	ended   bool
}

type callKey struct{}

// callOf returns the call of a context; nil for one that came through no connection of the node.
func callOf(ctx context.Context) *openCall {
	c, _ := ctx.Value(callKey{}).(*openCall)
	return c
}

// Value is context.Context.
func (c *openCall) Value(key any) any {
	if key == (callKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// errSilent is the cause with which a call ends whose request does not come.
var errSilent = errors.New("the request, or the rest of it, did not come in time")

// Err is context.Context. gRPC answers with DEADLINE_EXCEEDED where it is that of a deadline.
func (c *openCall) Err() error {
	err := c.Context.Err()
	if err != nil && errors.Is(context.Cause(c.Context), errSilent) {
		return context.DeadlineExceeded
	}
	return err
}

// late ends a call whose request does not come.
func (c *openCall) late() { c.cancel(errSilent) }

var errTooManyCalls = status.Error(codes.ResourceExhausted, "there are too many open calls of this connection, of its user or of all users: try again when some have ended")

// beginCall is tap.ServerInHandle: gRPC calls it with the head of each call, on the reader of the connection,
// before it takes memory for the call.
func beginCall(ctx context.Context, info *tap.Info) (context.Context, error) {
	c := &openCall{}
	if conn := connOf(ctx); conn != nil {
		c.inbound = conn.inbound.Load()
	}
	if c.inbound != nil {
		if !c.inbound.hasRoom() {
			return nil, errTooManyCalls
		}
		c.stream = c.inbound.strangers(callRules[info.FullMethodName].open)
	}
	c.Context, c.cancel = context.WithCancelCause(ctx)
	return c, nil
}

// callStats tells calls what gRPC has read of them.
type callStats struct{}

// TagConn is stats.Handler.
func (callStats) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn is stats.Handler.
func (callStats) HandleConn(context.Context, stats.ConnStats) {}

// TagRPC is stats.Handler.
func (callStats) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC is stats.Handler.
func (callStats) HandleRPC(ctx context.Context, event stats.RPCStats) {
	c := callOf(ctx)
	if c == nil {
		return
	}
	switch of := event.(type) {
	case *stats.InHeader:
		c.compressed = of.Compression
	case *stats.InPayload:
		c.received(of.CompressedLength)
	case *stats.End:
		c.decodes(nil, true)
	}
}

// received hands the room of a message on to the call that has decoded it. The half for its bytes as they
// came is given back then, the other with the next message of the call or its end.
func (c *openCall) received(length int) {
	if c.inbound == nil {
		return
	}
	if c.stream != nil {
		c.inbound.consumed(c.stream, length+messageHead)
	}
	a := c.inbound.take(length)
	if a != nil {
		a.held.giveBack(a.room / inboundCopies)
	}
	c.decodes(a, false)
}

// decodes notes the message that the call has now, and gives back the room of the one before.
func (c *openCall) decodes(a *arriving, end bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.decoded != nil {
		c.decoded.held.release()
	}
	if c.decoded = a; c.ended && a != nil {
		a.held.release()
	}
	c.ended = c.ended || end
}

// registrar registers services whose calls all go through the interceptors.
type registrar struct {
	server *grpc.Server
	chain  []grpc.StreamServerInterceptor
}

// RegisterService is grpc.ServiceRegistrar.
func (r registrar) RegisterService(service *grpc.ServiceDesc, implementation any) {
	streamed := grpc.ServiceDesc{ServiceName: service.ServiceName, HandlerType: service.HandlerType, Metadata: service.Metadata}
	for _, unary := range service.Methods {
		streamed.Streams = append(streamed.Streams, grpc.StreamDesc{StreamName: unary.MethodName, Handler: unaryAsStream(unary)})
	}
	streamed.Streams = append(streamed.Streams, service.Streams...)
	for i := range streamed.Streams {
		s := &streamed.Streams[i]
		info := &grpc.StreamServerInfo{FullMethod: "/" + service.ServiceName + "/" + s.StreamName, IsClientStream: s.ClientStreams, IsServerStream: s.ServerStreams}
		for _, each := range r.chain {
			inner := s.Handler
			s.Handler = func(server any, stream grpc.ServerStream) error { return each(server, stream, info, inner) }
		}
	}
	r.server.RegisterService(&streamed, implementation)
}

// GetServiceInfo is reflection.ServiceInfoProvider.
func (r registrar) GetServiceInfo() map[string]grpc.ServiceInfo { return r.server.GetServiceInfo() }

// isUnary reports whether a call has one message in each direction.
func isUnary(info *grpc.StreamServerInfo) bool { return !info.IsClientStream && !info.IsServerStream }

// unaryAsStream handles a unary call as a stream of one message in each direction. A large answer has room
// reserved until it is written.
func unaryAsStream(unary grpc.MethodDesc) grpc.StreamHandler {
	return func(server any, stream grpc.ServerStream) error {
		ctx := stream.Context()
		answer, err := unary.Handler(server, ctx, stream.RecvMsg, nil)
		if err != nil {
			return err
		}
		if o := outboundOf(ctx); o != nil {
			if size := proto.Size(answer.(proto.Message)); size > queuedBytes {
				if err := o.held.reserve(ctx, size); err != nil {
					return statusError(ctx, err)
				}
				o.held.waitForClient()
				o.large = size
			}
		}
		return stream.SendMsg(answer)
	}
}

// refuseCompressed is the interceptor that refuses a call whose messages may be compressed: room is reserved
// by the length that a message declares, and gRPC would inflate it. What the node accepts is in the answer,
// as github.com/grpc/grpc/blob/master/doc/compression.md asks.
func refuseCompressed(server any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if c := callOf(stream.Context()); c != nil && c.compressed != "" && c.compressed != encoding.Identity {
		_ = stream.SetHeader(metadata.Pairs("grpc-accept-encoding", encoding.Identity)) // fails only when it was sent
		const most = 64
		return statusError(stream.Context(), &failure{code: codes.Unimplemented, message: "requests compressed with " + inMessage(c.compressed, most) + " are not accepted; send them as they are"})
	}
	return handler(server, stream)
}

// awaitRequest returns the interceptor that ends a call whose first message, or the rest of whose request
// where the answer waits for it, does not come for so long.
func awaitRequest(wait time.Duration) grpc.StreamServerInterceptor {
	return func(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		c := callOf(stream.Context())
		if c == nil {
			return handler(server, stream)
		}
		err := handler(server, &awaitedCall{ServerStream: stream, call: c, wait: wait, whole: !info.IsServerStream})
		if errors.Is(context.Cause(c), errSilent) {
			return status.Error(codes.DeadlineExceeded, errSilent.Error())
		}
		return err
	}
}

type awaitedCall struct {
	grpc.ServerStream
	call  *openCall
	wait  time.Duration
	whole bool        // every message is awaited
	late  *time.Timer // nil before the first message was awaited
}

// RecvMsg is grpc.ServerStream.
func (a *awaitedCall) RecvMsg(message any) error {
	switch {
	case a.late == nil:
		a.late = time.AfterFunc(a.wait, a.call.late)
	case !a.whole:
		return a.ServerStream.RecvMsg(message)
	default:
		a.late.Reset(a.wait)
	}
	defer a.late.Stop()
	return a.ServerStream.RecvMsg(message)
}
