package node

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/persistent"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"reckon/eventstore/node/eventlog"
	"reckon/eventstore/node/protos/monitoring"
	"reckon/eventstore/node/protos/operations"
	"reckon/eventstore/node/protos/users"
)

// The handlers are called directly, without what recovers from panics in front of them,
// with whatever parses as a request.

func fuzzService(f *testing.F) *streamsService {
	log, err := eventlog.Open(eventlog.Options{Dir: f.TempDir()})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = log.Close() })
	s := &streamsService{log: log, closing: make(chan struct{}), memory: newBudget(maxHeldBytes, slog.New(slog.DiscardHandler)), reads: newTurns(1), subscriptions: newQuota(maxSubscriptions, maxSubscriptionsPerConnection, errTooManySubscriptions), logger: slog.New(slog.DiscardHandler)}
	for i := range 3 {
		event := eventlog.Proposed{ID: uuid.UUID{byte(i + 1)}, Type: "t", Data: []byte("1@s")}
		if i == 2 {
			event.Type = eventlog.LinkType
		}
		if _, err := log.Append(context.Background(), "s", eventlog.Any(), []eventlog.Proposed{event}); err != nil {
			f.Fatal(err)
		}
	}
	return s
}

// fakeCall is the stream of one call: the requests it will receive, and a limit to what it
// takes in reply. Subscriptions end when they have caught up.
type fakeCall[Req, Resp any] struct {
	grpc.ServerStream
	ctx      context.Context
	requests []*Req
	replies  int
}

var errEnough = errors.New("the client has seen enough")

func (c *fakeCall[Req, Resp]) Context() context.Context     { return c.ctx }
func (c *fakeCall[Req, Resp]) SetTrailer(metadata.MD)       {}
func (c *fakeCall[Req, Resp]) SendAndClose(r *Resp) error   { return c.Send(r) }
func (c *fakeCall[Req, Resp]) SetHeader(metadata.MD) error  { return nil }
func (c *fakeCall[Req, Resp]) SendHeader(metadata.MD) error { return nil }

func (c *fakeCall[Req, Resp]) Recv() (*Req, error) {
	if len(c.requests) == 0 {
		return nil, io.EOF
	}
	next := c.requests[0]
	c.requests = c.requests[1:]
	return next, nil
}

func (c *fakeCall[Req, Resp]) Send(r *Resp) error {
	if _, err := proto.Marshal(any(r).(proto.Message)); err != nil {
		return err
	}
	if response, ok := any(r).(*streams.ReadResp); ok && response.GetCaughtUp() != nil {
		return errEnough
	}
	if c.replies++; c.replies > 100 {
		return errEnough
	}
	return nil
}

// split reads a sequence of messages, each behind one byte that gives its length.
func split[M any, P interface {
	*M
	proto.Message
}](b []byte) []*M {
	var messages []*M
	for len(b) > 0 && len(messages) < 16 {
		n := min(int(b[0]), len(b)-1)
		m := new(M)
		if proto.Unmarshal(b[1:1+n], P(m)) == nil {
			messages = append(messages, m)
		}
		b = b[1+n:]
	}
	return messages
}

func join(messages ...proto.Message) []byte {
	var b []byte
	for _, m := range messages {
		encoded, err := proto.Marshal(m)
		if err != nil || len(encoded) > 255 {
			panic("a seed is too long")
		}
		b = append(append(b, byte(len(encoded))), encoded...)
	}
	return b
}

func FuzzRead(f *testing.F) {
	s := fuzzService(f)
	position := &streams.ReadReq_Options_AllOptions_Position{Position: &streams.ReadReq_Options_Position{CommitPosition: 2}}
	for _, o := range []*streams.ReadReq_Options{
		{StreamOption: streamOption("s"), CountOption: &streams.ReadReq_Options_Count{Count: 1 << 63}, ResolveLinks: true},
		{StreamOption: streamOption("s"), CountOption: &streams.ReadReq_Options_Subscription{}},
		{StreamOption: &streams.ReadReq_Options_All{All: &streams.ReadReq_Options_AllOptions{AllOption: position}}, CountOption: &streams.ReadReq_Options_Subscription{},
			FilterOption: &streams.ReadReq_Options_Filter{Filter: &streams.ReadReq_Options_FilterOptions{
				Filter: &streams.ReadReq_Options_FilterOptions_EventType{EventType: &streams.ReadReq_Options_FilterOptions_Expression{Regex: `^(?!\$)t`}},
				Window: &streams.ReadReq_Options_FilterOptions_Max{Max: 1}, CheckpointIntervalMultiplier: 1,
			}}},
		{StreamOption: &streams.ReadReq_Options_All{All: &streams.ReadReq_Options_AllOptions{AllOption: position}}, CountOption: &streams.ReadReq_Options_Count{Count: 7}, ReadDirection: streams.ReadReq_Options_Backwards},
		{},
	} {
		o.UuidOption = &streams.ReadReq_Options_UUIDOption{}
		seed, err := proto.Marshal(&streams.ReadReq{Options: o})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, b []byte) {
		var request streams.ReadReq
		if proto.Unmarshal(b, &request) == nil {
			_ = s.Read(&request, &fakeCall[streams.ReadReq, streams.ReadResp]{ctx: context.Background()})
		}
	})
}

func FuzzAppend(f *testing.F) {
	s := fuzzService(f)
	options := &streams.AppendReq{Content: &streams.AppendReq_Options_{Options: &streams.AppendReq_Options{
		StreamIdentifier: streamToWire("s"), ExpectedStreamRevision: &streams.AppendReq_Options_Any{Any: &shared.Empty{}},
	}}}
	metaOptions := &streams.AppendReq{Content: &streams.AppendReq_Options_{Options: &streams.AppendReq_Options{
		StreamIdentifier: streamToWire("$$s"), ExpectedStreamRevision: &streams.AppendReq_Options_Revision{Revision: 0},
	}}}
	event := &streams.AppendReq{Content: &streams.AppendReq_ProposedMessage_{ProposedMessage: &streams.AppendReq_ProposedMessage{
		Id: uuidToWire(uuid.UUID{9}, false), Metadata: map[string]string{"type": "$metadata", "content-type": "application/json"}, Data: []byte(`{"$tb":9223372036854775807}`),
	}}}
	f.Add(join(options, event))
	f.Add(join(metaOptions, event, event))
	f.Add(join(event, options))
	f.Add([]byte{})
	f.Fuzz(func(_ *testing.T, b []byte) {
		_ = s.Append(&fakeCall[streams.AppendReq, streams.AppendResp]{ctx: context.Background(), requests: split[streams.AppendReq](b)})
	})
}

func FuzzBatchAppend(f *testing.F) {
	s := fuzzService(f)
	chunk := &streams.BatchAppendReq{
		CorrelationId: uuidToWire(uuid.UUID{7}, true), Options: optionsOf("s"), ProposedMessages: []*streams.BatchAppendReq_ProposedMessage{proposedInBatch("x")},
	}
	last := &streams.BatchAppendReq{CorrelationId: uuidToWire(uuid.UUID{7}, true), IsFinal: true}
	f.Add(join(chunk, last))
	f.Add(join(last, chunk, chunk))
	f.Fuzz(func(t *testing.T, b []byte) {
		err := s.BatchAppend(&fakeCall[streams.BatchAppendReq, streams.BatchAppendResp]{ctx: context.Background(), requests: split[streams.BatchAppendReq](b)})
		// it receives in a goroutine of its own, which answers a panic so
		if status.Code(err) == codes.Internal {
			t.Fatal(err)
		}
	})
}

// FuzzUnary feeds Delete and Tombstone, and the calls of persistent subscriptions that are no streams.
func FuzzUnary(f *testing.F) {
	s := fuzzService(f)
	groups := fuzzGroups(f, s)
	ctx := context.Background()
	calls := []struct {
		seed proto.Message
		call func([]byte)
	}{
		{&streams.DeleteReq{Options: &streams.DeleteReq_Options{StreamIdentifier: streamToWire("s"), ExpectedStreamRevision: &streams.DeleteReq_Options_Any{}}}, unary(ctx, s.Delete)},
		{&streams.TombstoneReq{Options: &streams.TombstoneReq_Options{StreamIdentifier: streamToWire("x"), ExpectedStreamRevision: &streams.TombstoneReq_Options_NoStream{}}}, unary(ctx, s.Tombstone)},
		{&persistent.CreateReq{Options: &persistent.CreateReq_Options{GroupName: "new", Settings: fuzzSettings(), StreamOption: &persistent.CreateReq_Options_All{All: &persistent.CreateReq_AllOptions{
			FilterOption: &persistent.CreateReq_AllOptions_Filter{Filter: &persistent.CreateReq_AllOptions_FilterOptions{
				Filter: &persistent.CreateReq_AllOptions_FilterOptions_EventType{EventType: &persistent.CreateReq_AllOptions_FilterOptions_Expression{Regex: "^t"}},
			}},
		}}}}, unary(ctx, groups.Create)},
		{&persistent.UpdateReq{Options: &persistent.UpdateReq_Options{GroupName: "g", Settings: &persistent.UpdateReq_Settings{HistoryBufferSize: 9, ReadBatchSize: 2}, StreamOption: &persistent.UpdateReq_Options_Stream{
			Stream: &persistent.UpdateReq_StreamOptions{StreamIdentifier: streamToWire("s"), RevisionOption: &persistent.UpdateReq_StreamOptions_Revision{Revision: 1}},
		}}}, unary(ctx, groups.Update)},
		{&persistent.DeleteReq{Options: &persistent.DeleteReq_Options{GroupName: "new", StreamOption: &persistent.DeleteReq_Options_All{All: &shared.Empty{}}}}, unary(ctx, groups.Delete)},
		{&persistent.GetInfoReq{Options: &persistent.GetInfoReq_Options{GroupName: "g", StreamOption: &persistent.GetInfoReq_Options_StreamIdentifier{StreamIdentifier: streamToWire("s")}}}, unary(ctx, groups.GetInfo)},
		{&persistent.ListReq{Options: &persistent.ListReq_Options{ListOption: &persistent.ListReq_Options_ListAllSubscriptions{}}}, unary(ctx, groups.List)},
		{&persistent.ReplayParkedReq{Options: &persistent.ReplayParkedReq_Options{
			GroupName: "g", StreamOption: &persistent.ReplayParkedReq_Options_StreamIdentifier{StreamIdentifier: streamToWire("s")}, StopAtOption: &persistent.ReplayParkedReq_Options_StopAt{StopAt: 1},
		}}, unary(ctx, groups.ReplayParked)},
	}
	for kind, c := range calls {
		seed, err := proto.Marshal(c.seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(kind), seed)
	}
	f.Fuzz(func(_ *testing.T, kind byte, b []byte) { calls[int(kind)%len(calls)].call(b) })
}

// unary returns a function that calls a method with what parses as its request.
func unary[M, Resp any, P interface {
	*M
	proto.Message
}](ctx context.Context, call func(context.Context, P) (Resp, error)) func([]byte) {
	return func(b []byte) {
		if m := P(new(M)); proto.Unmarshal(b, m) == nil {
			_, _ = call(ctx, m)
		}
	}
}

func fuzzSettings() *persistent.CreateReq_Settings {
	return &persistent.CreateReq_Settings{HistoryBufferSize: 9, ReadBatchSize: 2, LiveBufferSize: 9, MaxRetryCount: 1, MaxCheckpointCount: 1, ResolveLinks: true}
}

// fuzzGroups is the service with a group g of stream s.
func fuzzGroups(f *testing.F, s *streamsService) *groupsService {
	groups := newGroupsService(s.log, s.closing, s.memory, s.logger)
	f.Cleanup(groups.close)
	stream := &persistent.CreateReq_Options_Stream{Stream: &persistent.CreateReq_StreamOptions{StreamIdentifier: streamToWire("s")}}
	if _, err := groups.Create(context.Background(), &persistent.CreateReq{Options: &persistent.CreateReq_Options{StreamOption: stream, GroupName: "g", Settings: fuzzSettings()}}); err != nil {
		f.Fatal(err)
	}
	return groups
}

// FuzzGroupRead feeds the consumer's side of a persistent subscription.
func FuzzGroupRead(f *testing.F) {
	groups := fuzzGroups(f, fuzzService(f))
	options := &persistent.ReadReq{Content: &persistent.ReadReq_Options_{Options: &persistent.ReadReq_Options{
		StreamOption: &persistent.ReadReq_Options_StreamIdentifier{StreamIdentifier: streamToWire("s")}, GroupName: "g", BufferSize: 2,
	}}}
	ids := []*shared.UUID{uuidToWire(uuid.UUID{1}, true), uuidToWire(uuid.UUID{2}, false)}
	ack := &persistent.ReadReq{Content: &persistent.ReadReq_Ack_{Ack: &persistent.ReadReq_Ack{Ids: ids}}}
	f.Add(join(options, ack))
	for action := range persistent.ReadReq_Nack_Action_name {
		f.Add(join(options, &persistent.ReadReq{Content: &persistent.ReadReq_Nack_{Nack: &persistent.ReadReq_Nack{Ids: ids, Action: persistent.ReadReq_Nack_Action(action), Reason: "no"}}}))
	}
	f.Add(join(ack, options))
	f.Add(join(options, options))
	f.Fuzz(func(t *testing.T, b []byte) {
		err := groups.Read(&fakeCall[persistent.ReadReq, persistent.ReadResp]{ctx: context.Background(), requests: split[persistent.ReadReq](b)})
		// it receives in a goroutine of its own, which answers a panic so
		if status.Code(err) == codes.Internal {
			t.Fatal(err)
		}
	})
}

// FuzzOperatorCalls feeds the calls of users, operations and monitoring.
func FuzzOperatorCalls(f *testing.F) {
	n, err := Open(Config{Dir: f.TempDir(), Stoppable: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { stop(f, n) })
	ctx := context.Background()
	operate := &operationsService{node: n, stoppable: true}
	watch := &monitoringService{node: n, calls: newQuota(1, 1, errTooManySubscriptions), dir: f.TempDir()}
	calls := []struct {
		seed proto.Message
		call func([]byte)
	}{
		{&users.CreateReq{Options: &users.CreateReq_Options{LoginName: "u", Password: "changeit", FullName: "U", Groups: []string{"$ops"}}}, unary(ctx, n.users.Create)},
		{&users.UpdateReq{Options: &users.UpdateReq_Options{LoginName: "u", FullName: "V", Groups: []string{"g"}}}, unary(ctx, n.users.Update)},
		{&users.ChangePasswordReq{Options: &users.ChangePasswordReq_Options{LoginName: "u", CurrentPassword: "changeit", NewPassword: "changed it"}}, unary(ctx, n.users.ChangePassword)},
		{&users.ResetPasswordReq{Options: &users.ResetPasswordReq_Options{LoginName: "u", NewPassword: "changeit"}}, unary(ctx, n.users.ResetPassword)},
		{&users.DisableReq{Options: &users.DisableReq_Options{LoginName: "u"}}, unary(ctx, n.users.Disable)},
		{&users.EnableReq{Options: &users.EnableReq_Options{LoginName: "u"}}, unary(ctx, n.users.Enable)},
		{&users.DetailsReq{Options: &users.DetailsReq_Options{LoginName: "u"}}, served(func(m *users.DetailsReq) error {
			return n.users.Details(m, &fakeCall[users.DetailsReq, users.DetailsResp]{ctx: ctx})
		})},
		{&users.DeleteReq{Options: &users.DeleteReq_Options{LoginName: "u"}}, unary(ctx, n.users.Delete)},
		{&operations.StartScavengeReq{Options: &operations.StartScavengeReq_Options{ThreadCount: 1}}, unary(ctx, operate.StartScavenge)},
		{&operations.StopScavengeReq{Options: &operations.StopScavengeReq_Options{ScavengeId: uuid.Nil.String()}}, unary(ctx, operate.StopScavenge)},
		{&operations.SetNodePriorityReq{Priority: -1}, unary(ctx, operate.SetNodePriority)},
		{&monitoring.StatsReq{UseMetadata: true, RefreshTimePeriodInMs: 1}, served(func(m *monitoring.StatsReq) error {
			return watch.Stats(m, &fakeCall[monitoring.StatsReq, monitoring.StatsResp]{ctx: ctx, replies: 100})
		})},
	}
	for kind, c := range calls {
		seed, err := proto.Marshal(c.seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(kind), seed)
	}
	f.Fuzz(func(_ *testing.T, kind byte, b []byte) { calls[int(kind)%len(calls)].call(b) })
}

// served is unary for a method that answers a stream.
func served[M any, P interface {
	*M
	proto.Message
}](call func(P) error) func([]byte) {
	return func(b []byte) {
		if m := P(new(M)); proto.Unmarshal(b, m) == nil {
			_ = call(m)
		}
	}
}

// FuzzFirstCall reads the beginning of connections of HTTP/2, however it is cut: what is found does not
// depend on that, but for what comes with the read that completes a head.
func FuzzFirstCall(f *testing.F) {
	preface, settings := "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	get := "\x00\x00\x03\x01\x05\x00\x00\x00\x01\x82\x84\x87" // :method GET, :path /, :scheme https (RFC 7541, appendix A)
	f.Add([]byte(preface+settings+get), 7)
	f.Add([]byte(preface+settings+strings.Replace(get, "\x82", "\x83", 1)), 1)
	f.Add([]byte(preface+"\x00\x00\x08\x01\x2d\x00\x00\x00\x01\x00\x00\x00\x00\x00\x01\x82\x84"), 30)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		whole, parts := &firstCall{}, &firstCall{}
		known := whole.feed(b)
		if len(b) > maxFirstCall {
			return
		}
		done := false
		for at, size := 0, max(1, cut%64); at < len(b) && !done; at += size {
			done = parts.feed(b[at:min(len(b), at+size)])
		}
		if known != done || whole.isPlain != parts.isPlain || whole.path != parts.path || whole.stream != parts.stream {
			t.Fatalf("%v, %+v in one piece; %v, %+v in parts", known, whole, done, parts)
		}
		if string(b) == preface+settings+get && (!whole.isPlain || whole.path != "/" || whole.stream != 1) {
			t.Fatalf("%+v", whole)
		}
	})
}
