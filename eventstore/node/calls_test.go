package node

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/gossip"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/serverfeatures"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"reckon/eventstore/node/eventlog"
	"reckon/eventstore/node/protos/monitoring"
	"reckon/eventstore/node/protos/operations"
	"reckon/eventstore/node/protos/streamsv2"
	"reckon/eventstore/node/protos/users"
	"reckon/test/wait"
)

// watchedGzip is gzip that notes whether anything was inflated. Clients and node of these tests share it,
// as all of a process share a compressor.
type watchedGzip struct {
	encoding.Compressor
	inflated atomic.Int64
}

func (w *watchedGzip) Decompress(r io.Reader) (io.Reader, error) {
	w.inflated.Add(1)
	return w.Compressor.Decompress(r)
}

var watched = func() *watchedGzip {
	w := &watchedGzip{Compressor: encoding.GetCompressor(gzip.Name)}
	encoding.RegisterCompressor(w)
	return w
}()

// servedMethods are the full names of all RPCs of the node, and whether each is unary.
func servedMethods() map[string]bool {
	unary := map[string]bool{}
	for _, service := range []grpc.ServiceDesc{
		streams.Streams_ServiceDesc, *groupsServiceDesc(), gossip.Gossip_ServiceDesc, streamsv2.StreamsService_ServiceDesc, grpc_health_v1.Health_ServiceDesc,
		reflectionv1.ServerReflection_ServiceDesc, reflectionv1alpha.ServerReflection_ServiceDesc,
		serverfeatures.ServerFeatures_ServiceDesc, users.Users_ServiceDesc, operations.Operations_ServiceDesc, monitoring.Monitoring_ServiceDesc,
	} {
		for _, m := range service.Methods {
			unary["/"+service.ServiceName+"/"+m.MethodName] = true
		}
		for _, s := range service.Streams {
			unary["/"+service.ServiceName+"/"+s.StreamName] = false
		}
	}
	return unary
}

// openStream begins a call by hand, which sends what the test sends and no more.
func openStream(ctx context.Context, t testing.TB, conn *grpc.ClientConn, method string, options ...grpc.CallOption) grpc.ClientStream {
	t.Helper()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method, options...)
	if err != nil {
		t.Fatal(method, err)
	}
	return stream
}

// ends receives until the call ends, and returns why.
func ends(stream grpc.ClientStream) error {
	for {
		if err := stream.RecvMsg(&emptypb.Empty{}); err != nil {
			return err
		}
	}
}

// TestCompressedRequestsAreRefused: on every port, for every RPC, whoever calls; nothing is inflated.
func TestCompressedRequestsAreRefused(t *testing.T) {
	t.Parallel()
	open, s := start(t), startSecured(t)
	socket := dialInsecure(t, s.ConnectionString())
	message := &streams.AppendReq{Content: &streams.AppendReq_ProposedMessage_{ProposedMessage: &streams.AppendReq_ProposedMessage{Data: make([]byte, 16<<20)}}}
	for port, caller := range map[string]struct {
		conn *grpc.ClientConn
		ctx  func() context.Context
	}{
		"loopback": {dialInsecure(t, open.listener.Addr().String()), func() context.Context { return testCtx(t) }},
		"socket":   {socket, func() context.Context { return testCtx(t) }},
		"users":    {s.conn, func() context.Context { return as(t, admin) }},
	} {
		if port == "users" { // a stranger's connection is closed for a message of this size
			if err := readCall(as(t, admin), s.conn, "any"); err != nil {
				t.Fatal(err)
			}
		}
		for method := range servedMethods() {
			stream := openStream(caller.ctx(), t, caller.conn, method, grpc.UseCompressor(gzip.Name))
			_ = stream.SendMsg(message) // the answer may have come before
			if err := ends(stream); status.Code(err) != codes.Unimplemented {
				t.Errorf("%s: %s: %v", port, method, err)
			}
			if header, _ := stream.Header(); strings.Join(header.Get("grpc-accept-encoding"), ",") != encoding.Identity {
				t.Errorf("%s: %s: accepted are %v", port, method, header)
			}
		}
	}
	stranger := s.dialTLS(t)
	for _, method := range []string{gossip.Gossip_Read_FullMethodName, serverfeatures.ServerFeatures_GetSupportedMethods_FullMethodName} {
		stream := openStream(testCtx(t), t, stranger, method, grpc.UseCompressor(gzip.Name))
		_ = stream.SendMsg(&emptypb.Empty{})
		if err := ends(stream); status.Code(err) != codes.Unimplemented {
			t.Errorf("a stranger: %s: %v", method, err)
		}
	}
	if n := watched.inflated.Load(); n != 0 {
		t.Errorf("%d messages were inflated", n)
	}
	awaitRoom(t, open.memory)
	awaitRoom(t, s.memory)
}

// TestCredentialsAreAskedForByTheHead: no RPC waits for a message of who has no right to it.
func TestCredentialsAreAskedForByTheHead(t *testing.T) {
	t.Parallel()
	s := startPatient(t, patience{request: time.Hour, refused: time.Millisecond, stranger: time.Hour})
	for method := range servedMethods() {
		if callRules[method].open {
			continue
		}
		for name, want := range map[string]codes.Code{nobody: codes.PermissionDenied, "Basic x": codes.Unauthenticated, basic(ordinary, "another password"): codes.Unauthenticated} {
			ctx := testCtx(t)
			if name != nobody {
				ctx = metadata.AppendToOutgoingContext(ctx, "authorization", name)
			}
			if name == basic(ordinary, "another password") && method != streams.Streams_Append_FullMethodName {
				continue // wrong passwords are counted
			}
			if err := ends(openStream(ctx, t, s.conn, method)); status.Code(err) != want {
				t.Errorf("%s by %q: %v", method, name, err)
			}
		}
	}
}

// TestRequestsAreAwaitedForATime: a call whose request does not come, or does not end, is ended, whoever made it.
func TestRequestsAreAwaitedForATime(t *testing.T) {
	t.Parallel()
	s := startPatient(t, patience{request: time.Second, refused: time.Hour, stranger: time.Hour})
	if err := readCall(as(t, admin), s.conn, "any"); err != nil {
		t.Fatal(err)
	}
	var waiting sync.WaitGroup
	defer waiting.Wait()
	late := func(what string, stream grpc.ClientStream, messages ...proto.Message) {
		waiting.Go(func() {
			for _, m := range messages {
				_ = stream.SendMsg(m) // the end says what went wrong
			}
			if err := ends(stream); status.Code(err) != codes.DeadlineExceeded {
				t.Errorf("%s: %v", what, err)
			}
		})
	}
	for method, unary := range servedMethods() {
		late(method+" without a message", openStream(as(t, admin), t, s.conn, method))
		if unary {
			late(method+" without an end", openStream(as(t, admin), t, s.conn, method), &emptypb.Empty{})
		}
	}
	late("half an append", openStream(as(t, admin), t, s.conn, streams.Streams_Append_FullMethodName), &streams.AppendReq{Content: &streams.AppendReq_Options_{Options: &streams.AppendReq_Options{
		StreamIdentifier: streamToWire("half"), ExpectedStreamRevision: &streams.AppendReq_Options_Any{Any: &shared.Empty{}},
	}}})
	for _, method := range []string{gossip.Gossip_Read_FullMethodName, serverfeatures.ServerFeatures_GetSupportedMethods_FullMethodName} {
		late("a stranger's "+method, openStream(testCtx(t), t, s.dialTLS(t), method))
	}
	// a call that goes on is not hurried after its first message
	batches, err := streams.NewStreamsClient(s.conn).BatchAppend(as(t, admin))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := batches.Send(&streams.BatchAppendReq{CorrelationId: uuidToWire(uuid.New(), true), Options: optionsOf("batch"), ProposedMessages: []*streams.BatchAppendReq_ProposedMessage{proposedInBatch("1")}, IsFinal: true}); err != nil {
			t.Fatal(err)
		}
		if answer, err := batches.Recv(); err != nil || answer.GetSuccess() == nil {
			t.Fatal(answer, err)
		}
		if err := ends(openStream(as(t, admin), t, s.conn, users.Users_Details_FullMethodName)); status.Code(err) != codes.DeadlineExceeded {
			t.Fatal(err) // so long was waited
		}
	}
}

// rawCalls is a client of HTTP/2 that sends what the test says and reads nothing by itself.
type rawCalls struct {
	net.Conn
	*http2.Framer
	next uint32
}

func rawConn(t testing.TB, conn net.Conn, settings ...http2.Setting) *rawCalls {
	t.Helper()
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	c := &rawCalls{conn, http2.NewFramer(conn, conn), 1}
	if err := c.WriteSettings(settings...); err != nil {
		t.Fatal(err)
	}
	return c
}

// call sends the head of a call.
func (c *rawCalls) call(method string, fields ...string) (uint32, error) {
	id := c.next
	c.next += 2
	var block []byte
	fields = append([]string{":method", "POST", ":scheme", "http", ":path", method, ":authority", "x", "content-type", "application/grpc", "te", "trailers"}, fields...)
	for i, text := range fields {
		if i%2 == 0 {
			block = append(block, 0) // literal field without indexing (RFC 7541, section 6.2.2)
		}
		block = append(append(block, byte(len(text))), text...)
	}
	return id, c.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndHeaders: true})
}

// settle waits until all heads were read and the refused were answered, which is before a ping is.
func (c *rawCalls) settle(t testing.TB) {
	t.Helper()
	if err := c.WritePing(false, [8]byte{}); err != nil {
		t.Fatal(err)
	}
	for {
		frame, err := c.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if ping, is := frame.(*http2.PingFrame); is && ping.IsAck() {
			return
		}
	}
}

func (s *secured) rawTLS(t testing.TB) *rawCalls {
	t.Helper()
	conn, err := tls.Dial("tcp", s.door.listener.Addr().String(), &tls.Config{RootCAs: s.authority(t), NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	return rawConn(t, conn)
}

// openCalls returns how many calls of a connection have begun and not ended.
func (i *inbound) openCalls() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.streams)
}

// onlyConn is the only connection of the port of users.
func (s *secured) onlyConn(t testing.TB) *placedConn {
	t.Helper()
	p := s.door.listener.(*places)
	var conn *placedConn
	wait.Until(t, "a connection", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.strange.Len() != 1 {
			return false
		}
		conn = p.strange.Front().Value.(*placedConn)
		return conn.inbound.Load() != nil
	})
	return conn
}

// TestStrangersHaveFewCalls: what a connection begins beyond, without a right password, is not read; it waits
// for a time, or for the password.
func TestStrangersHaveFewCalls(t *testing.T) {
	t.Parallel()
	for name, method := range map[string]string{"open": gossip.Gossip_Read_FullMethodName, "refused": streams.Streams_Append_FullMethodName} {
		t.Run(name, func(t *testing.T) {
			s := startPatient(t, patience{request: time.Hour, refused: time.Hour, stranger: 200 * time.Millisecond})
			raw := s.rawTLS(t)
			conn := s.onlyConn(t)
			for range 500 {
				if _, err := raw.call(method); err != nil {
					break // the node has closed it
				}
			}
			wait.Until(t, "the connection ends", func() bool {
				if n := conn.inbound.Load().openCalls(); n > maxStrangeCalls+1 { // the head of the last is not handed on
					t.Fatalf("%d calls", n)
				}
				select {
				case <-conn.gone:
					return true
				default:
					return false
				}
			})
			wait.Until(t, "no call is open", func() bool { return conn.inbound.Load().openCalls() == 0 })
			if n := s.calls.open.Load(); n != 0 {
				t.Errorf("%d calls of strangers are counted among those of users", n)
			}
		})
	}
	t.Run("unread", func(t *testing.T) {
		s := startPatient(t, patience{request: time.Hour, refused: time.Hour, stranger: 200 * time.Millisecond})
		raw := s.rawTLS(t)
		conn := s.onlyConn(t)
		id, err := raw.call(streams.Streams_Append_FullMethodName)
		if err != nil {
			t.Fatal(err)
		}
		_ = raw.WriteData(id, false, append(binary.BigEndian.AppendUint32([]byte{0}, 1<<20), make([]byte, 40<<10)...))
		wait.Until(t, "the connection ends", func() bool {
			if got := conn.received.Load(); got > maxStrangeUnread+connectionReadBytes+1<<10 {
				t.Fatalf("%d bytes were read", got)
			}
			select {
			case <-conn.gone:
				return true
			default:
				return false
			}
		})
	})
	t.Run("large", func(t *testing.T) {
		s := startPatient(t, patience{request: time.Hour, refused: time.Hour, stranger: time.Hour})
		raw := s.rawTLS(t)
		conn := s.onlyConn(t)
		id, err := raw.call(gossip.Gossip_Read_FullMethodName)
		if err != nil {
			t.Fatal(err)
		}
		_ = raw.WriteData(id, false, binary.BigEndian.AppendUint32([]byte{0}, maxStrangeMessage+1))
		<-conn.gone // it waits for no byte of it
	})
	t.Run("password", func(t *testing.T) {
		s := startPatient(t, patience{request: time.Hour, refused: time.Hour, stranger: time.Hour})
		raw := s.rawTLS(t)
		conn := s.onlyConn(t)
		for i := range 200 {
			if i == 1 {
				if _, err := raw.call(streams.Streams_BatchAppend_FullMethodName, "authorization", basic(ordinary, passwordOf(ordinary))); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := raw.call(gossip.Gossip_Read_FullMethodName); err != nil {
				t.Fatal(err)
			}
		}
		wait.Until(t, "all calls are open", func() bool { return conn.inbound.Load().openCalls() == 201 })
		_ = raw.Close()
		wait.Until(t, "no call is open", func() bool { return s.calls.open.Load() == 0 && conn.inbound.Load().openCalls() == 0 })
	})
}

// TestManyFirstCallsOfAUser: a client that makes many calls at once before its password was ever verified
// gets all answers.
func TestManyFirstCallsOfAUser(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	conn := s.dialTLS(t)
	const calls = 300
	answered := make(chan error, calls)
	for i := range calls {
		go func() { answered <- appendCall(as(t, ordinary), conn, fmt.Sprint("first-", i)) }()
	}
	for range calls {
		if err := <-answered; err != nil {
			t.Fatal(err)
		}
	}
}

// TestCallsOfAllConnectionsAreCounted: connections that have many leave room for one that has few.
func TestCallsOfAllConnectionsAreCounted(t *testing.T) {
	t.Parallel()
	n, err := Open(Config{Dir: t.TempDir(), Listen: "127.0.0.1:0", patience: patience{request: time.Hour, refused: time.Hour, stranger: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, n) })
	r := &running{n, dial(t, n.ConnectionString())}
	for range maxCalls/maxStreamsPerClient + 2 {
		tcp, err := net.Dial("tcp", r.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		raw := rawConn(t, tcp)
		for range maxStreamsPerClient {
			if _, err := raw.call(streams.Streams_BatchAppend_FullMethodName); err != nil {
				t.Fatal(err)
			}
		}
		raw.settle(t)
		wait.Until(t, "what is refused has ended", func() bool { return r.calls.open.Load() <= maxCalls })
	}
	if open := r.calls.open.Load(); open < maxCalls/2 {
		t.Errorf("%d calls are open", open)
	}
	r.append(t, "after", esdb.NoStream{}, esdb.EventData{EventID: uuid.New(), EventType: "t"})
}

// TestAnswersThatAreNotTakenAreCounted: an answer that gRPC holds for a client without a window has its
// memory reserved until the client is gone, of a stream and of a unary call.
func TestAnswersThatAreNotTakenAreCounted(t *testing.T) {
	t.Parallel()
	r := start(t)
	if _, err := r.log.Append(t.Context(), "large", eventlog.Any(), []eventlog.Proposed{{ID: uuid.New(), Type: "t", Data: make([]byte, 500_000)}}); err != nil {
		t.Fatal(err)
	}
	tcp, err := net.Dial("tcp", r.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	raw := rawConn(t, tcp, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	id, err := raw.call(streams.Streams_Read_FullMethodName)
	if err != nil {
		t.Fatal(err)
	}
	request, err := proto.Marshal(readRequestOf("large", false))
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.WriteData(id, true, append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(request))), request...)); err != nil {
		t.Fatal(err)
	}
	held := func() bool {
		const rest = maxHeldBytes - 500_000 + 1
		if !r.memory.bytes.TryAcquire(rest) {
			return true
		}
		r.memory.bytes.Release(rest)
		return false
	}
	wait.Until(t, "the answer is handed over", held)
	for range 200 { // the handler has long returned
		if !held() {
			t.Fatal("memory was given back while the answer is held")
		}
		wait.Pace(time.Millisecond)
	}
	if err := tcp.Close(); err != nil {
		t.Fatal(err)
	}
	awaitRoom(t, r.memory)
}
