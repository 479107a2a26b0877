package node

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"reckon/eventstore/node/eventlog"
)

// TestAppendsOfManyEventsAreRefused: events that are empty weigh nothing and cost the writer all the same.
func TestAppendsOfManyEventsAreRefused(t *testing.T) {
	t.Parallel()
	r := start(t)
	events := make([]esdb.EventData, maxAppendEvents+1)
	for i := range events {
		events[i] = esdb.EventData{EventID: uuid.New(), EventType: "t"}
	}
	if _, err := r.client.AppendToStream(testCtx(t), "many", esdb.AppendToStreamOptions{ExpectedRevision: esdb.NoStream{}}, events...); err == nil {
		t.Error("one event too many")
	}
	r.append(t, "many", esdb.NoStream{}, events[1:]...)
	batch := &streams.BatchAppendReq{CorrelationId: uuidToWire(uuid.New(), true), Options: optionsOf("batch"), IsFinal: true}
	for range maxAppendEvents + 1 {
		event := proposedInBatch("")
		event.Metadata["type"] = "t"
		batch.ProposedMessages = append(batch.ProposedMessages, event)
	}
	call := openBatchCall(t, r)
	for _, answer := range answers(t, call, batch) {
		if codes.Code(answer.GetError().GetCode()) != codes.InvalidArgument {
			t.Errorf("a batch: %v", answer)
		}
	}
}

// TestABatchThatWaitsKeepsNobody: a batch that waits for memory holds no lock: the call ends when the node closes.
func TestABatchThatWaitsKeepsNobody(t *testing.T) {
	t.Parallel()
	n := startSecured(t)
	memory := newBudget(1000, silent)
	memory.wait = time.Hour
	s := &streamsService{log: n.log, closing: make(chan struct{}), memory: memory, reads: newTurns(1), subscriptions: newQuota(1, 1, errTooManySubscriptions), logger: silent}
	held := memory.hold(t.Context())
	if err := held.reserve(t.Context(), 1000); err != nil {
		t.Fatal(err)
	}
	defer held.release()
	c := &batchCall{service: s, call: &fakeCall[streams.BatchAppendReq, streams.BatchAppendResp]{ctx: t.Context()}, open: map[uuid.UUID]*batch{}, slots: make(chan struct{}, 4), ended: make(chan struct{})}
	added := make(chan error, 1)
	go func() {
		added <- c.addChunk(&streams.BatchAppendReq{CorrelationId: uuidToWire(uuid.New(), true), Options: optionsOf("s"), ProposedMessages: []*streams.BatchAppendReq_ProposedMessage{proposedInBatch("1")}})
	}()
	for { // until the batch is open, and waits
		c.mu.Lock()
		open := len(c.open)
		c.mu.Unlock()
		if open == 1 {
			break
		}
		runtime.Gosched()
	}
	close(c.ended)
	c.releaseUnfinished() // would wait for the lock
	select {
	case err := <-added:
		t.Errorf("the batch did not wait: %v", err)
	default:
	}
	held.release()
	if err := <-added; err != nil {
		t.Error(err)
	}
	if !memory.bytes.TryAcquire(1000) {
		t.Error("a batch that ended holds memory")
	}
}

// TestTheStalledClientGivesWay: who needs memory gets that of the client that has stalled and holds most.
func TestTheStalledClientGivesWay(t *testing.T) {
	t.Parallel()
	b := newBudget(1000, silent)
	b.wait = time.Hour
	client := func(bytes int, stalled bool) (*holding, net.Conn) {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { _ = theirs.Close() })
		p := &places{limit: 10}
		conn := p.place(ours).(*placedConn)
		h := b.hold(peerContext(t.Context(), conn))
		if err := h.reserve(t.Context(), bytes); err != nil {
			t.Fatal(err)
		}
		if stalled {
			h.mu.Lock()
			h.waits = time.Now().Add(-time.Hour)
			h.mu.Unlock()
		}
		return h, theirs
	}
	small, smallConn := client(100, true)
	large, largeConn := client(300, true)
	_, busyConn := client(500, false)
	gone := make(chan struct{})
	go func() { // as its calls do when a connection is closed
		defer close(gone)
		_, _ = largeConn.Read(make([]byte, 1))
		large.release()
	}()
	next := b.hold(t.Context())
	if err := next.reserve(t.Context(), 300); err != nil {
		t.Fatal(err)
	}
	<-gone
	for name, conn := range map[string]net.Conn{"small": smallConn, "busy": busyConn} {
		_ = conn.SetReadDeadline(time.Now())
		if _, err := conn.Read(make([]byte, 1)); errors.Is(err, io.EOF) {
			t.Errorf("the %s client was disconnected", name)
		}
	}
	small.release()
	next.release()
}

// TestSubscriptionsAreCounted: of a connection, and in all.
func TestSubscriptionsAreCounted(t *testing.T) {
	t.Parallel()
	q := newQuota(3, 2, errTooManySubscriptions)
	conn := func() context.Context {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { _ = theirs.Close() })
		return peerContext(t.Context(), (&places{limit: 1}).place(ours).(*placedConn))
	}
	one, two := conn(), conn()
	take := func(ctx context.Context, want bool) func() {
		t.Helper()
		leave, err := q.take(ctx)
		if (err == nil) != want {
			t.Fatalf("%v, want %v", err, want)
		}
		return leave
	}
	leave := take(one, true)
	take(one, true)
	take(one, false)
	take(two, true)
	take(two, false) // all are taken
	leave()
	take(two, true)
	if q.taken != 3 || len(q.byConn) != 2 {
		t.Error(q.taken, q.byConn)
	}
}

// TestOneUserLeavesSubscriptions: whatever one user takes on however many connections, another and operators get some; all are given back.
func TestOneUserLeavesSubscriptions(t *testing.T) {
	t.Parallel()
	q := newQuota(maxSubscriptions, maxSubscriptionsPerConnection, errTooManySubscriptions)
	p := &places{limit: 1024}
	connect := func(of *share) context.Context {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { _ = theirs.Close() })
		c := p.place(ours).(*placedConn)
		if kept, _ := p.keep(c, of); !kept {
			t.Fatal("not kept")
		}
		return peerContext(t.Context(), c)
	}
	greedy, modest := &share{}, &share{}
	var leave []func()
	for range 10 {
		conn := connect(greedy)
		for range maxSubscriptionsPerConnection {
			if back, err := q.take(conn); err == nil {
				leave = append(leave, back)
			}
		}
	}
	if n := len(leave); n < forUsers(maxSubscriptions)*3/4 || n > forUsers(maxSubscriptions)*userShare/(userShare+1) {
		t.Errorf("one user has %d of %d", n, maxSubscriptions)
	}
	for _, of := range []*share{modest, nil} {
		conn := connect(of)
		for range 100 {
			back, err := q.take(conn)
			if err != nil {
				t.Fatal(err)
			}
			leave = append(leave, back)
		}
	}
	for _, back := range leave {
		back()
	}
	if q.taken != 0 || len(q.byConn) != 0 || len(q.byUser) != 0 {
		t.Error(q.taken, q.byConn, q.byUser)
	}
}

// TestSubscriptionsEndWithTheNode: with UNAVAILABLE, slow ones too.
func TestSubscriptionsEndWithTheNode(t *testing.T) {
	t.Parallel()
	n, err := Open(Config{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	large := eventlog.Proposed{Type: "t", Data: make([]byte, 500_000)}
	for range 4 {
		large.ID = uuid.New()
		if _, err := n.log.Append(t.Context(), "s", eventlog.Any(), []eventlog.Proposed{large}); err != nil {
			t.Fatal(err)
		}
	}
	conn := dialInsecure(t, n.listener.Addr().String())
	subscribe := func(stream string) streams.Streams_ReadClient {
		reading, err := streams.NewStreamsClient(conn).Read(testCtx(t), readRequestOf(stream, true))
		if err != nil {
			t.Fatal(err)
		}
		if m, err := reading.Recv(); err != nil || m.GetConfirmation() == nil {
			t.Fatal(m, err)
		}
		return reading
	}
	idle, slow := subscribe("empty"), subscribe("s")
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the slow one is not waited for
	if err := n.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for name, reading := range map[string]streams.Streams_ReadClient{"idle": idle, "slow": slow} {
		for {
			_, err := reading.Recv()
			if err == nil {
				continue
			}
			if status.Code(err) != codes.Unavailable {
				t.Errorf("%s: %v", name, err)
			}
			break
		}
	}
}

// TestAFilterThatTakesTooLongEnds: also when no single event takes long.
func TestAFilterThatTakesTooLongEnds(t *testing.T) {
	t.Parallel()
	f := &filter{}
	if err := f.compile("a", nil); err != nil {
		t.Fatal(err)
	}
	record := &eventlog.Record{Stream: "banana"}
	if ok, err := f.matches(record); !ok || err != nil {
		t.Fatal(ok, err)
	}
	f.spent = f.allowed + time.Hour
	if _, err := f.matches(record); err == nil {
		t.Error("it goes on")
	}
}
