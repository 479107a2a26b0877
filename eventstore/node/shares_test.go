package node

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/persistent"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc"
	"pgregory.net/rapid"

	"reckon/eventstore/node/eventlog"
	"reckon/test/wait"
)

// TestOneUserLeavesCallsForOthers: a user who opens all the calls that they get leaves some to another user, and more to operators.
func TestOneUserLeavesCallsForOthers(t *testing.T) {
	t.Parallel()
	s := startPatient(t, patience{request: time.Hour, refused: time.Hour, stranger: time.Hour})
	var written strings.Builder
	s.calls.logger = slog.New(slog.NewTextHandler(&written, nil))
	door := s.door.listener.(*places)
	for range maxCalls/maxStreamsPerClient + 2 {
		raw := s.rawTLS(t)
		if _, err := raw.call(streams.Streams_BatchAppend_FullMethodName, "authorization", basic(ordinary, passwordOf(ordinary))); err != nil {
			t.Fatal(err)
		}
		wait.Until(t, "the password is verified", func() bool {
			door.mu.Lock()
			defer door.mu.Unlock()
			return door.strange.Len() == 0
		})
		for range maxStreamsPerClient - 1 {
			if _, err := raw.call(streams.Streams_BatchAppend_FullMethodName, "authorization", basic(ordinary, passwordOf(ordinary))); err != nil {
				t.Fatal(err)
			}
		}
		raw.settle(t)
	}
	const limit = maxCalls - maxCalls/keptForOperators
	wait.Until(t, "what is refused has ended", func() bool { return s.calls.open.Load() <= limit*userShare/(userShare+1) })
	if all := s.calls.open.Load(); all < limit*3/4 {
		t.Errorf("%d calls of one user, of %d", all, limit)
	}
	for _, who := range []string{other, ops, admin} {
		conn := s.dialTLS(t)
		for i := range 20 {
			if err := appendCall(as(t, who), conn, fmt.Sprint(who, i)); err != nil {
				t.Fatalf("%s: %v", who, err)
			}
		}
	}
	if lines := strings.Count(written.String(), "\n"); lines != 1 || !strings.Contains(written.String(), "user="+ordinary) {
		t.Errorf("told: %s", written.String())
	}
}

// TestOneUserLeavesConsumersOfAGroup: one who connects as many consumers to a group as they get leaves some to another user, and to operators.
func TestOneUserLeavesConsumersOfAGroup(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	s.owner(t, "s", "t", "{}")
	stream := &persistent.CreateReq_Options_Stream{Stream: &persistent.CreateReq_StreamOptions{StreamIdentifier: streamToWire("s")}}
	if _, err := persistent.NewPersistentSubscriptionsClient(s.conn).Create(as(t, admin), &persistent.CreateReq{Options: &persistent.CreateReq_Options{StreamOption: stream, GroupName: "g", Settings: fuzzSettings()}}); err != nil {
		t.Fatal(err)
	}
	join := func(who string, conn grpc.ClientConnInterface) error {
		call, err := persistent.NewPersistentSubscriptionsClient(conn).Read(as(t, who))
		if err != nil {
			t.Fatal(err)
		}
		if err := call.Send(&persistent.ReadReq{Content: &persistent.ReadReq_Options_{Options: &persistent.ReadReq_Options{
			StreamOption: &persistent.ReadReq_Options_StreamIdentifier{StreamIdentifier: streamToWire("s")}, GroupName: "g", BufferSize: 2,
			UuidOption: &persistent.ReadReq_Options_UUIDOption{Content: &persistent.ReadReq_Options_UUIDOption_Structured{Structured: &shared.Empty{}}},
		}}}); err != nil {
			t.Fatal(err)
		}
		_, err = call.Recv()
		return err
	}
	greedy, joined := s.dialTLS(t), 0
	for err := error(nil); joined < maxGroupConsumers; joined++ {
		if err = join(ordinary, greedy); err != nil {
			if !strings.Contains(err.Error(), "as many consumers as it may have") {
				t.Fatal(err)
			}
			break
		}
	}
	if limit := forUsers(maxGroupConsumers); joined < limit*3/4 || joined > limit*userShare/(userShare+1) {
		t.Errorf("%d consumers of one user, of %d", joined, limit)
	}
	for _, who := range []string{other, ops, admin} {
		conn := s.dialTLS(t)
		for range 20 {
			if err := join(who, conn); err != nil {
				t.Fatalf("%s: %v", who, err)
			}
		}
	}
}

// TestOneUsersExpressionsTakeHalf: while calls of a user try regular expressions on half of the processors the user's others wait, and nobody else's.
func TestOneUsersExpressionsTakeHalf(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	s.owner(t, "s", "t", "{}")
	s.owner(t, eventlog.MetaStream(eventlog.AllStream), eventlog.MetadataType, `{"$acl":{"$r":"$all"}}`)
	read := func(ctx context.Context, conn *grpc.ClientConn, filter *streams.ReadReq_Options_FilterOptions) error {
		options := &streams.ReadReq_Options{
			StreamOption: &streams.ReadReq_Options_All{All: &streams.ReadReq_Options_AllOptions{AllOption: &streams.ReadReq_Options_AllOptions_Start{Start: &shared.Empty{}}}},
			CountOption:  &streams.ReadReq_Options_Count{Count: 1}, FilterOption: &streams.ReadReq_Options_Filter{Filter: filter},
			UuidOption: &streams.ReadReq_Options_UUIDOption{Content: &streams.ReadReq_Options_UUIDOption_Structured{Structured: &shared.Empty{}}},
		}
		call, err := streams.NewStreamsClient(conn).Read(ctx, &streams.ReadReq{Options: options})
		if err == nil {
			_, err = call.Recv()
		}
		return err
	}
	by := func(e *streams.ReadReq_Options_FilterOptions_Expression) *streams.ReadReq_Options_FilterOptions {
		return &streams.ReadReq_Options_FilterOptions{Filter: &streams.ReadReq_Options_FilterOptions_StreamIdentifier{StreamIdentifier: e},
			Window: &streams.ReadReq_Options_FilterOptions_Max{Max: 32}, CheckpointIntervalMultiplier: 1}
	}
	expression := by(&streams.ReadReq_Options_FilterOptions_Expression{Regex: "^s$"})
	conn := s.dialTLS(t)
	conn.Connect()
	placed := s.onlyConn(t)
	if err := read(as(t, ordinary), conn, expression); err != nil {
		t.Fatal(err)
	}
	busy := placed.of.Load()
	for range cap(busy.matching) {
		busy.matching <- struct{}{}
	}
	waited, open := make(chan error, 1), s.calls.open.Load()
	go func(ctx context.Context) { waited <- read(ctx, conn, expression) }(as(t, ordinary))
	wait.Until(t, "the call is open", func() bool { return s.calls.open.Load() > open || len(waited) > 0 })
	if err := read(as(t, ordinary), conn, by(&streams.ReadReq_Options_FilterOptions_Expression{Prefix: []string{"s"}})); err != nil {
		t.Errorf("a prefix: %v", err)
	}
	for _, who := range []string{other, admin} {
		if err := read(as(t, who), s.dialTLS(t), expression); err != nil {
			t.Errorf("%s: %v", who, err)
		}
	}
	select {
	case err := <-waited:
		t.Fatalf("it did not wait: %v", err)
	default:
	}
	<-busy.matching
	if err := <-waited; err != nil {
		t.Error(err)
	}
}

// TestSharesOfUsers: whatever users take, and however many of them there are, one who has nothing gets something, and what is kept for
// operators is left (rapid).
func TestSharesOfUsers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c callCount
		users := make([]share, 1+rapid.IntRange(1, 12).Draw(t, "greedy users"))
		for range rapid.IntRange(0, 20_000).Draw(t, "calls") {
			of := &users[rapid.IntRange(1, len(users)-1).Draw(t, "user")]
			if c.begun(of); !c.hasRoom(1, of) {
				c.ended(of)
			}
		}
		if open := c.open.Load(); open > int64(forUsers(maxCalls)) {
			t.Fatalf("%d are open", open)
		}
		if c.begun(&users[0]); !c.hasRoom(1, &users[0]) {
			t.Fatalf("nothing is left of %d", c.open.Load())
		}
		if c.begun(nil); !c.hasRoom(maxCalls/keptForOperators/2, nil) {
			t.Fatal("nothing is left for operators")
		}
	})
}

// TestOneUserLeavesConnections: one who keeps all connections that they get leaves some to another user, and more to operators.
func TestOneUserLeavesConnections(t *testing.T) {
	t.Parallel()
	const limit = 1024
	p := &places{limit: limit}
	connect := func() *placedConn {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { _, _ = ours.Close(), theirs.Close() })
		return p.place(ours).(*placedConn)
	}
	greedy, modest := &share{}, &share{}
	var kept []*placedConn
	for range limit {
		c := connect()
		if is, _ := p.keep(c, greedy); !is {
			_ = c.Close()
			break
		}
		kept = append(kept, c)
	}
	if len(kept) < forUsers(limit)*3/4 || len(kept) > forUsers(limit)*userShare/(userShare+1) {
		t.Errorf("one user keeps %d of %d", len(kept), limit)
	}
	for range 20 {
		if is, first := p.keep(connect(), modest); !is || !first {
			t.Fatal("another user has no connection")
		}
	}
	for range limit / keptForOperators {
		if is, _ := p.keep(connect(), nil); !is {
			t.Fatal("an operator has no connection")
		}
	}
	for _, c := range kept {
		_ = c.Close()
	}
	if greedy.connections != 0 || modest.connections != 20 {
		t.Errorf("%d and %d are counted", greedy.connections, modest.connections)
	}
}

// TestConnectionsOfAUserWhoIsDisabledEnd: also of calls that nothing is sent on; those of others stay.
func TestConnectionsOfAUserWhoIsDisabledEnd(t *testing.T) {
	t.Parallel()
	s := startPatient(t, patience{request: time.Hour, refused: 10 * time.Millisecond, stranger: time.Hour})
	idle, others := s.rawTLS(t), s.dialTLS(t)
	if _, err := idle.call(streams.Streams_BatchAppend_FullMethodName, "authorization", basic(ordinary, passwordOf(ordinary))); err != nil {
		t.Fatal(err)
	}
	if err := readCall(as(t, other), others, "plain"); err != nil {
		t.Fatal(err)
	}
	door := s.door.listener.(*places)
	wait.Until(t, "passwords are verified", func() bool {
		door.mu.Lock()
		defer door.mu.Unlock()
		return door.strange.Len() == 0 && door.taken >= 2
	})
	before := door.open()
	if err := s.users.SetDisabled(t.Context(), ordinary, true); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := idle.ReadFrame(); err != nil {
			break // the node has closed it
		}
	}
	wait.Until(t, "it has left", func() bool { return door.open() == before-1 })
	if err := readCall(as(t, other), others, "plain"); err != nil {
		t.Error(err)
	}
}
