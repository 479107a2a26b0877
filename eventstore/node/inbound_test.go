package node

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"reckon/eventstore/node/eventlog"
	"reckon/test/need"
	"reckon/test/sweep"
	"reckon/test/wait"
)

// encoded is a message that was encoded before, so that many clients can send one in the
// memory of one.
type encoded struct{ bytes []byte }

type encodedCodec struct{ encoding.CodecV2 }

func (c encodedCodec) Marshal(message any) (mem.BufferSlice, error) {
	if e, ok := message.(*encoded); ok {
		return mem.BufferSlice{mem.SliceBuffer(e.bytes)}, nil
	}
	return c.CodecV2.Marshal(message)
}

// largeAppend is the message of an event with so many bytes.
func largeAppend(t testing.TB, size int) *encoded {
	t.Helper()
	b, err := proto.Marshal(&streams.AppendReq{Content: &streams.AppendReq_ProposedMessage_{ProposedMessage: &streams.AppendReq_ProposedMessage{
		Id: uuidToWire(uuid.New(), false), Metadata: map[string]string{"type": "t", "content-type": "application/octet-stream"}, Data: make([]byte, size),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return &encoded{b}
}

// dialEncoded connects to a node with a connection of its own.
func dialEncoded(t testing.TB, address string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(encodedCodec{encoding.GetCodecV2(grpcproto.Name)})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// sendAppend appends one encoded message, and returns how the call ended.
func sendAppend(ctx context.Context, conn *grpc.ClientConn, stream string, message *encoded) error {
	call, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true}, streams.Streams_Append_FullMethodName)
	if err != nil {
		return err
	}
	options := &streams.AppendReq{Content: &streams.AppendReq_Options_{Options: &streams.AppendReq_Options{
		StreamIdentifier:       &shared.StreamIdentifier{StreamName: []byte(stream)},
		ExpectedStreamRevision: &streams.AppendReq_Options_Any{Any: &shared.Empty{}},
	}}}
	if err := call.SendMsg(options); err == nil {
		if err = call.SendMsg(message); err == nil {
			_ = call.CloseSend() // RecvMsg says what went wrong
		}
	}
	return call.RecvMsg(&streams.AppendResp{})
}

// TestLargeMessagesOfManyShareTheMemory: 200 connections send 16 MiB at once to a node in a
// process of its own, whose memory stays near the budget.
func TestLargeMessagesOfManyShareTheMemory(t *testing.T) {
	t.Parallel()
	const limitBytes = memoryFactor << 30                       // a budget of 256 MiB, and garbage
	clients := sweep.Size(t, "RECKON_LARGE_MESSAGES", 100, 200) // 100 of 16 MiB are more than limitBytes
	c := startChild(t, t.TempDir())
	u, err := url.Parse(c.connection)
	if err != nil {
		t.Fatal(err)
	}
	message := largeAppend(t, 16<<20)
	ctx, cancel := context.WithTimeout(t.Context(), wait.Longest)
	defer cancel()
	var sending sync.WaitGroup
	refused := make(chan error, clients)
	for i := range clients {
		conn := dialEncoded(t, u.Host)
		sending.Go(func() { refused <- sendAppend(ctx, conn, fmt.Sprint("s", i), message) })
	}
	sending.Wait()
	close(refused)
	answered := map[codes.Code]int{}
	for err := range refused {
		answered[status.Code(err)]++
	}
	if answered[codes.InvalidArgument] == 0 || answered[codes.InvalidArgument]+answered[codes.Unavailable] != clients {
		t.Errorf("refused with %v: too large, or too busy", answered)
	}
	file := need.Proc(t, "%d/status", c.command.Process.Pid)
	var kilobytes int64
	_, rest, _ := strings.Cut(file, "VmHWM:")
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MiB at most, %v", kilobytes>>10, answered)
	if kilobytes<<10 > limitBytes {
		t.Errorf("the node took %d MiB", kilobytes>>10)
	}
	if err := sendAppend(ctx, dialEncoded(t, u.Host), "after", largeAppend(t, 1000)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestRoomForMessagesComesBack: whatever becomes of a call, nothing stays reserved.
func TestRoomForMessagesComesBack(t *testing.T) {
	t.Parallel()
	r := start(t)
	address := r.listener.Addr().String()
	small, large := largeAppend(t, 500_000), largeAppend(t, 4<<20)
	if err := sendAppend(testCtx(t), dialEncoded(t, address), "s", small); err != nil {
		t.Error(err)
	}
	if err := sendAppend(testCtx(t), dialEncoded(t, address), "s", large); status.Code(err) != codes.InvalidArgument {
		t.Error(err)
	}
	if err := sendAppend(testCtx(t), dialEncoded(t, address), "s", &encoded{make([]byte, maxMessageBytes+1)}); status.Code(err) != codes.ResourceExhausted && status.Code(err) != codes.Internal {
		t.Error(err)
	}
	if err := sendAppend(testCtx(t), dialEncoded(t, address), "s", &encoded{bytes.Repeat([]byte{0xff}, 3<<20)}); err == nil {
		t.Error("a message that cannot be decoded")
	}
	// messages of which only the beginning comes, and then: an end, a reset, no connection
	for _, ending := range []func(*http2.Framer, net.Conn) error{
		func(f *http2.Framer, _ net.Conn) error { return f.WriteData(1, true, nil) },
		func(f *http2.Framer, _ net.Conn) error { return f.WriteRSTStream(1, http2.ErrCodeCancel) },
		func(_ *http2.Framer, c net.Conn) error { return c.Close() },
	} {
		conn, framer := rawAppend(t, address)
		head := binary.BigEndian.AppendUint32([]byte{0}, 9<<20)
		if err := framer.WriteData(1, false, append(head, 1, 2, 3)); err != nil {
			t.Fatal(err)
		}
		wait.Until(t, "the request has its room", func() bool {
			if !r.memory.bytes.TryAcquire(maxHeldBytes) {
				return true
			}
			r.memory.bytes.Release(maxHeldBytes)
			return false
		})
		if err := ending(framer, conn); err != nil {
			t.Fatal(err)
		}
		awaitRoom(t, r.memory)
	}
	awaitRoom(t, r.memory)
}

// TestStrangersReserveNothing: what a connection declares before a password was verified takes
// no room from users; afterwards it does, also within a message.
func TestStrangersReserveNothing(t *testing.T) {
	t.Parallel()
	memory := newBudget(maxHeldBytes, silent)
	ours, theirs := net.Pipe()
	t.Cleanup(func() { _ = theirs.Close() })
	conn := (&places{limit: 1}).place(ours).(*placedConn)
	i := newInbound(memory, &callCount{}, conn, time.Minute)
	i.begin(frameHeaders, 0, 1)
	if err := i.data(1, append(binary.BigEndian.AppendUint32([]byte{0}, 16<<20), 1, 2, 3)); err != nil {
		t.Fatal(err)
	}
	awaitRoom(t, memory)
	conn.verified.Store(true)
	if err := i.data(1, []byte{4}); err != nil {
		t.Fatal(err)
	}
	if memory.bytes.TryAcquire(maxHeldBytes - 2*16<<20 + 1) {
		t.Error("no room was reserved for a user's message")
	}
	i.close()
	awaitRoom(t, memory)
}

// awaitRoom waits until nothing is reserved.
func awaitRoom(t testing.TB, b *budget) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait.Longest)
	defer cancel()
	if err := b.bytes.Acquire(ctx, maxHeldBytes); err != nil {
		t.Fatal("something stays reserved")
	}
	b.bytes.Release(maxHeldBytes)
}

// rawAppend opens an append by hand, as stream 1 of a connection.
func rawAppend(t testing.TB, address string) (net.Conn, *http2.Framer) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := conn.Write([]byte(http2.ClientPreface)); err != nil {
		t.Fatal(err)
	}
	framer := http2.NewFramer(conn, conn)
	if err := framer.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	var block []byte
	for _, field := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", streams.Streams_Append_FullMethodName}, {":authority", "x"}, {"content-type", "application/grpc"}, {"te", "trailers"}} {
		// literal field without indexing (RFC 7541, section 6.2.2)
		block = append(append(append(block, 0, byte(len(field[0]))), field[0]...), byte(len(field[1])))
		block = append(block, field[1]...)
	}
	if err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndHeaders: true}); err != nil {
		t.Fatal(err)
	}
	return conn, framer
}

// TestFramesAreReadHoweverTheyAreCut: the bytes of messages are found in frames that are padded,
// of other kinds between, and cut anywhere.
func TestFramesAreReadHoweverTheyAreCut(t *testing.T) {
	t.Parallel()
	var wire bytes.Buffer
	wire.WriteString(http2.ClientPreface)
	framer := http2.NewFramer(&wire, nil)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	message := func(n int) []byte {
		return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(n)), make([]byte, n)...)
	}
	check(framer.WriteSettings())
	check(framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{1, 2, 3}, EndHeaders: true}))
	check(framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: []byte{1}, EndHeaders: true, PadLength: 9}))
	first, second := message(70), message(300)
	check(framer.WriteDataPadded(1, false, first[:3], make([]byte, 20)))
	check(framer.WritePing(false, [8]byte{}))
	check(framer.WriteDataPadded(3, false, second[:200], nil))
	check(framer.WriteDataPadded(1, false, first[3:40], make([]byte, 255)))
	check(framer.WriteData(3, false, nil))
	check(framer.WriteData(7, false, []byte{0, 255, 255})) // of no call
	check(framer.WriteData(1, true, first[40:]))
	check(framer.WriteData(3, false, second[200:]))
	check(framer.WriteData(3, false, append(message(0), message(40)...)))
	for cut := 1; cut <= wire.Len(); cut++ {
		memory := newBudget(1<<20, silent)
		i := newInbound(memory, &callCount{}, nil, time.Minute)
		f := frames{skip: http2Preface, begin: i.begin, data: i.data, end: i.end}
		for b := wire.Bytes(); len(b) > 0; b = b[min(cut, len(b)):] {
			check(f.feed(b[:min(cut, len(b))]))
		}
		if f.got != 0 || f.left != 0 || len(i.streams) != 2 {
			t.Fatalf("cut after %d: %+v", cut, f)
		}
		for id, s := range i.streams {
			if s.got != 0 || s.left != 0 || s.arrives != nil {
				t.Errorf("cut after %d: call %d: %+v", cut, id, s)
			}
		}
		if cut < 40 && (i.take(70) == nil || i.take(300) == nil) {
			t.Errorf("cut after %d: no room was reserved for a message that was not whole", cut)
		}
		i.answered(frameHeaders, flagEndStream, 1)
		i.answered(frameReset, 0, 3)
		if len(i.streams) != 0 {
			t.Error("calls that ended are kept")
		}
	}
	if eventlog.MaxAppendBytes*inboundCopies > maxHeldBytes/16 {
		t.Error("sixteen appends of the largest size have no room")
	}
}
