package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/gossip"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/serverfeatures"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"reckon/eventstore/node/eventlog"
)

// These tests speak the protocol itself, where clients of other languages differ from the
// Go client.

func (r *running) raw(t testing.TB, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	c, err := grpc.NewClient(r.listener.Addr().String(), append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

var empty = &emptypb.Empty{}

func proposedInBatch(text string) *streams.BatchAppendReq_ProposedMessage {
	return &streams.BatchAppendReq_ProposedMessage{
		Id:       &shared.UUID{Value: &shared.UUID_String_{String_: uuid.NewString()}},
		Metadata: map[string]string{"type": "noted", "content-type": "application/json"},
		Data:     []byte(text),
	}
}

func optionsOf(stream string) *streams.BatchAppendReq_Options {
	return &streams.BatchAppendReq_Options{
		StreamIdentifier:       streamToWire(stream),
		ExpectedStreamPosition: &streams.BatchAppendReq_Options_Any{Any: empty},
	}
}

func openBatchCall(t testing.TB, r *running) streams.Streams_BatchAppendClient {
	t.Helper()
	call, err := streams.NewStreamsClient(r.raw(t)).BatchAppend(testCtx(t))
	if err != nil {
		t.Fatal(err)
	}
	return call
}

// answers sends the chunks, half-closes, and returns the responses by correlation.
func answers(t testing.TB, call streams.Streams_BatchAppendClient, chunks ...*streams.BatchAppendReq) map[uuid.UUID]*streams.BatchAppendResp {
	t.Helper()
	for _, chunk := range chunks {
		if err := call.Send(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if err := call.CloseSend(); err != nil {
		t.Fatal(err)
	}
	got := map[uuid.UUID]*streams.BatchAppendResp{}
	for {
		response, err := call.Recv()
		if errors.Is(err, io.EOF) {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		id, err := uuidFromWire(response.GetCorrelationId())
		if err != nil {
			t.Fatal(err)
		}
		got[id] = response
	}
}

func TestBatchAppend(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.append(t, "exists", esdb.NoStream{}, note("0"))
	r.append(t, "dead", esdb.NoStream{}, note("0"))
	if _, err := r.client.TombstoneStream(testCtx(t), "dead", esdb.TombstoneStreamOptions{ExpectedRevision: esdb.Any{}}); err != nil {
		t.Fatal(err)
	}
	ids := map[string]uuid.UUID{}
	batch := func(name string, o *streams.BatchAppendReq_Options, final bool, events ...*streams.BatchAppendReq_ProposedMessage) *streams.BatchAppendReq {
		if ids[name] == uuid.Nil {
			ids[name] = uuid.New()
		}
		return &streams.BatchAppendReq{CorrelationId: uuidToWire(ids[name], false), Options: o, ProposedMessages: events, IsFinal: final}
	}
	conflicting := optionsOf("exists")
	conflicting.ExpectedStreamPosition = &streams.BatchAppendReq_Options_NoStream{NoStream: empty}
	late := optionsOf("late")
	late.DeadlineOption = &streams.BatchAppendReq_Options_Deadline_21_10_0{Deadline_21_10_0: timestamppb.New(time.Unix(1, 0))}
	lateAndMany := optionsOf("late and many")
	lateAndMany.DeadlineOption = late.GetDeadlineOption()
	patient := optionsOf("patient")
	patient.DeadlineOption = &streams.BatchAppendReq_Options_Deadline{Deadline: &durationpb.Duration{Seconds: 315_576_000_000}}
	large := proposedInBatch("")
	large.Data = make([]byte, eventlog.MaxAppendBytes)
	got := answers(t, openBatchCall(t, r),
		batch("chunks", optionsOf("chunks"), false, proposedInBatch("a")),
		batch("one", optionsOf("one"), true, proposedInBatch("x"), proposedInBatch("y")),
		batch("chunks", nil, false, proposedInBatch("b")),
		batch("conflict", conflicting, true, proposedInBatch("z")),
		batch("deleted", optionsOf("dead"), true, proposedInBatch("z")),
		batch("denied", optionsOf("$all"), true, proposedInBatch("z")),
		batch("large", optionsOf("large"), true, large),
		batch("many", optionsOf("many"), true, slices.Repeat([]*streams.BatchAppendReq_ProposedMessage{proposedInBatch("z")}, maxAppendEvents+1)...),
		batch("late", late, true, proposedInBatch("z")),
		batch("late and many", lateAndMany, true, slices.Repeat([]*streams.BatchAppendReq_ProposedMessage{proposedInBatch("z")}, maxAppendEvents+1)...),
		batch("patient", patient, true, proposedInBatch("z")),
		batch("no options", nil, true, proposedInBatch("z")),
		batch("chunks", nil, true, proposedInBatch("c")),
		batch("never finished", optionsOf("unfinished"), false, proposedInBatch("z")),
	)
	for name, want := range map[string]codes.Code{
		"chunks": codes.OK, "one": codes.OK, "patient": codes.OK, "conflict": codes.AlreadyExists, "deleted": codes.NotFound,
		"denied": codes.PermissionDenied, "large": codes.InvalidArgument, "many": codes.InvalidArgument, "late": codes.DeadlineExceeded, "late and many": codes.DeadlineExceeded, "no options": codes.InvalidArgument,
	} {
		response := got[ids[name]]
		if response == nil || codes.Code(response.GetError().GetCode()) != want {
			t.Errorf("%s: got %v, want %v", name, response, want)
		} else if want != codes.OK && len(response.GetError().GetDetails()) != 1 {
			t.Errorf("%s: %d details", name, len(response.GetError().GetDetails()))
		}
	}
	for name, want := range map[string]proto.Message{"large": &shared.MaximumAppendSizeExceeded{}, "many": &shared.BadRequest{}} {
		if detail := got[ids[name]].GetError().GetDetails(); len(detail) != 1 || !detail[0].MessageIs(want) {
			t.Errorf("%s: the detail is %v", name, detail)
		}
	}
	if len(got) != len(ids)-1 {
		t.Errorf("%d answers", len(got))
	}
	if success := got[ids["chunks"]].GetSuccess(); success.GetCurrentRevision() != 2 || success.GetPosition().GetCommitPosition() == 0 {
		t.Errorf("got %v", success)
	}
	detail, err := got[ids["conflict"]].GetError().GetDetails()[0].UnmarshalNew()
	if conflict, ok := detail.(*shared.WrongExpectedVersion); err != nil || !ok || conflict.GetExpectedNoStream() == nil || conflict.GetCurrentStreamRevision() != 0 {
		t.Errorf("got %v", detail)
	}
	if s := r.read(t, "chunks", esdb.ReadStreamOptions{From: esdb.Start{}}, 10); s != "abc" {
		t.Errorf("chunks hold %q", s)
	}
	wantCode(t, "the batch that never finished", r.readError(t, "unfinished"), esdb.ErrorCodeResourceNotFound)
}

func TestBatchesOfOneStreamKeepTheirOrder(t *testing.T) {
	t.Parallel()
	r := start(t)
	call := openBatchCall(t, r)
	const total = 3 * maxOpenBatches
	var chunks []*streams.BatchAppendReq
	for range total {
		chunks = append(chunks, &streams.BatchAppendReq{CorrelationId: uuidToWire(uuid.New(), true), Options: optionsOf("s"), ProposedMessages: []*streams.BatchAppendReq_ProposedMessage{proposedInBatch(".")}, IsFinal: true})
	}
	received := make(chan map[uuid.UUID]*streams.BatchAppendResp, 1)
	go func() { received <- answers(t, call, chunks...) }()
	got := <-received
	for i, chunk := range chunks {
		id, err := uuidFromWire(chunk.GetCorrelationId())
		if err != nil || got[id].GetSuccess().GetCurrentRevision() != uint64(i) {
			t.Fatalf("batch %d: %v", i, got[id])
		}
	}
}

func TestTooManyUnfinishedBatches(t *testing.T) {
	t.Parallel()
	r := start(t)
	call := openBatchCall(t, r)
	for range 2 * maxOpenBatches {
		if call.Send(&streams.BatchAppendReq{CorrelationId: uuidToWire(uuid.New(), false), Options: optionsOf("s")}) != nil {
			break
		}
	}
	if _, err := call.Recv(); status.Code(err) != codes.InvalidArgument {
		t.Errorf("got %v", err)
	}
}

// A client that keeps its call open for ever does not keep the node from closing.
func TestCloseEndsOpenBatchCalls(t *testing.T) {
	t.Parallel()
	r := start(t)
	call := openBatchCall(t, r)
	chunk := &streams.BatchAppendReq{CorrelationId: uuidToWire(uuid.New(), false), Options: optionsOf("s"), ProposedMessages: []*streams.BatchAppendReq_ProposedMessage{proposedInBatch("x")}, IsFinal: true}
	if err := call.Send(chunk); err != nil {
		t.Fatal(err)
	}
	if response, err := call.Recv(); err != nil || response.GetSuccess() == nil {
		t.Fatal(response, err)
	}
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := call.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("got %v", err)
	}
}

func TestTrailers(t *testing.T) {
	t.Parallel()
	r := start(t)
	client := streams.NewStreamsClient(r.raw(t))
	r.append(t, "süß", esdb.NoStream{}, note("0"))
	deletion := &streams.DeleteReq{Options: &streams.DeleteReq_Options{
		StreamIdentifier: streamToWire("süß"), ExpectedStreamRevision: &streams.DeleteReq_Options_Revision{Revision: 7},
	}}
	var trailer metadata.MD
	_, err := client.Delete(testCtx(t), deletion, grpc.Trailer(&trailer))
	for key, want := range map[string]string{"exception": "wrong-expected-version", "stream-name": "s%C3%BC%C3%9F", "expected-version": "7", "actual-version": "0"} {
		if got := trailer.Get(key); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %v, want %q", key, got, want)
		}
	}
	if status.Code(err) != codes.FailedPrecondition {
		t.Error(err)
	}
	tombstone := &streams.TombstoneReq{Options: &streams.TombstoneReq_Options{StreamIdentifier: streamToWire("dead"), ExpectedStreamRevision: &streams.TombstoneReq_Options_Any{Any: &shared.Empty{}}}}
	if _, err := client.Tombstone(testCtx(t), tombstone); err != nil {
		t.Fatal(err)
	}
	_, err = client.Tombstone(testCtx(t), tombstone, grpc.Trailer(&trailer))
	if status.Code(err) != codes.FailedPrecondition || trailer.Get("exception")[0] != "stream-deleted" || trailer.Get("stream-name")[0] != "dead" {
		t.Errorf("%v %v", err, trailer)
	}

	call, err := client.Append(testCtx(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range []*streams.AppendReq{
		{Content: &streams.AppendReq_Options_{Options: &streams.AppendReq_Options{StreamIdentifier: streamToWire("s"), ExpectedStreamRevision: &streams.AppendReq_Options_Any{Any: &shared.Empty{}}}}},
		{Content: &streams.AppendReq_ProposedMessage_{ProposedMessage: &streams.AppendReq_ProposedMessage{Id: uuidToWire(uuid.New(), true), Metadata: map[string]string{"type": "t"}}}},
	} {
		if err := call.Send(message); err != nil {
			t.Fatal(err)
		}
	}
	_, err = call.CloseAndRecv()
	if status.Code(err) != codes.InvalidArgument || call.Trailer().Get("exception")[0] != "missing-required-metadata-property" {
		t.Errorf("%v %v", err, call.Trailer())
	}
}

// appendRaw sends one Append call as the messages stand.
func appendRaw(t testing.TB, r *running, messages ...*streams.AppendReq) (*streams.AppendResp, error) {
	t.Helper()
	call, err := streams.NewStreamsClient(r.raw(t)).Append(testCtx(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range messages {
		if err := call.Send(message); err != nil {
			break
		}
	}
	return call.CloseAndRecv()
}

func TestEmptyAppend(t *testing.T) {
	t.Parallel()
	r := start(t)
	options := func(o *streams.AppendReq_Options) *streams.AppendReq {
		o.StreamIdentifier = streamToWire("s")
		return &streams.AppendReq{Content: &streams.AppendReq_Options_{Options: o}}
	}
	response, err := appendRaw(t, r, options(&streams.AppendReq_Options{ExpectedStreamRevision: &streams.AppendReq_Options_NoStream{NoStream: &shared.Empty{}}}))
	if err != nil || response.GetSuccess().GetNoStream() == nil {
		t.Errorf("%v %v", response, err)
	}
	response, err = appendRaw(t, r, options(&streams.AppendReq_Options{ExpectedStreamRevision: &streams.AppendReq_Options_Revision{Revision: 4}}))
	w := response.GetWrongExpectedVersion()
	if err != nil || w.GetCurrentNoStream() == nil || w.GetExpectedRevision() != 4 || w.GetNoStream_20_6_0() == nil || w.GetExpectedRevision_20_6_0() != 4 {
		t.Errorf("%v %v", response, err)
	}
	r.append(t, "s", esdb.NoStream{}, note("0"))
	response, err = appendRaw(t, r, options(&streams.AppendReq_Options{ExpectedStreamRevision: &streams.AppendReq_Options_NoStream{NoStream: &shared.Empty{}}}))
	w = response.GetWrongExpectedVersion()
	if err != nil || w.GetExpectedNoStream() == nil || w.GetExpectedRevision_20_6_0() != math.MaxUint64 {
		t.Errorf("%v %v", response, err)
	}
	if _, err = appendRaw(t, r, options(&streams.AppendReq_Options{})); status.Code(err) != codes.InvalidArgument {
		t.Errorf("no expectation: %v", err)
	}
	if _, err = appendRaw(t, r); status.Code(err) != codes.InvalidArgument {
		t.Errorf("no message: %v", err)
	}
}

func TestRefusedReads(t *testing.T) {
	t.Parallel()
	r := start(t)
	client := streams.NewStreamsClient(r.raw(t))
	good := func() *streams.ReadReq_Options {
		return &streams.ReadReq_Options{
			StreamOption: &streams.ReadReq_Options_All{All: &streams.ReadReq_Options_AllOptions{AllOption: &streams.ReadReq_Options_AllOptions_Start{Start: &shared.Empty{}}}},
			CountOption:  &streams.ReadReq_Options_Count{Count: 10},
			UuidOption:   &streams.ReadReq_Options_UUIDOption{},
		}
	}
	filtered := func(f *streams.ReadReq_Options_FilterOptions) func(*streams.ReadReq_Options) {
		return func(o *streams.ReadReq_Options) {
			o.FilterOption = &streams.ReadReq_Options_Filter{Filter: f}
		}
	}
	byType := func(regex string) *streams.ReadReq_Options_FilterOptions {
		return &streams.ReadReq_Options_FilterOptions{Filter: &streams.ReadReq_Options_FilterOptions_EventType{EventType: &streams.ReadReq_Options_FilterOptions_Expression{Regex: regex}}}
	}
	for name, change := range map[string]func(*streams.ReadReq_Options){
		"no count":        func(o *streams.ReadReq_Options) { o.CountOption = nil },
		"count 0":         func(o *streams.ReadReq_Options) { o.CountOption = &streams.ReadReq_Options_Count{} },
		"no stream":       func(o *streams.ReadReq_Options) { o.StreamOption = nil },
		"no form of ids":  func(o *streams.ReadReq_Options) { o.UuidOption = nil },
		"bad direction":   func(o *streams.ReadReq_Options) { o.ReadDirection = 7 },
		"broken regex":    filtered(byType("(")),
		"long regex":      filtered(byType(strings.Repeat("a", maxRegexBytes+1))),
		"empty filter":    filtered(&streams.ReadReq_Options_FilterOptions{}),
		"window 0":        filtered(&streams.ReadReq_Options_FilterOptions{Filter: byType("a").Filter, Window: &streams.ReadReq_Options_FilterOptions_Max{}}),
		"filtered stream": func(o *streams.ReadReq_Options) { filtered(byType("a"))(o); o.StreamOption = streamOption("s") },
		"$all as stream":  func(o *streams.ReadReq_Options) { o.StreamOption = streamOption("$all") },
		"nameless stream": func(o *streams.ReadReq_Options) { o.StreamOption = streamOption("") },
		"backwards subscription": func(o *streams.ReadReq_Options) {
			o.CountOption = &streams.ReadReq_Options_Subscription{}
			o.ReadDirection = streams.ReadReq_Options_Backwards
		},
		"multiplier 0": func(o *streams.ReadReq_Options) {
			filtered(byType("a"))(o)
			o.CountOption = &streams.ReadReq_Options_Subscription{}
		},
	} {
		o := good()
		change(o)
		call, err := client.Read(testCtx(t), &streams.ReadReq{Options: o})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := call.Recv(); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func streamOption(name string) *streams.ReadReq_Options_Stream {
	return &streams.ReadReq_Options_Stream{Stream: &streams.ReadReq_Options_StreamOptions{
		StreamIdentifier: streamToWire(name), RevisionOption: &streams.ReadReq_Options_StreamOptions_Start{Start: &shared.Empty{}},
	}}
}

// A pattern that backtracks for ever ends its own read, and nothing else.
func TestHostileRegex(t *testing.T) {
	t.Parallel()
	r := start(t)
	e := note("x")
	e.EventType = strings.Repeat("a", 64) + "!"
	r.append(t, "s", esdb.NoStream{}, e)
	s, err := r.client.SubscribeToAll(testCtx(t), esdb.SubscribeToAllOptions{
		From: esdb.Start{}, Filter: &esdb.SubscriptionFilter{Type: esdb.EventFilterType, Regex: `^(a+)+$`}, MaxSearchWindow: 32, CheckpointInterval: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if got := s.Recv(); got.SubscriptionDropped == nil || status.Code(got.SubscriptionDropped.Error) != codes.InvalidArgument {
		t.Errorf("got %+v", got)
	}
	r.append(t, "s", esdb.Any{}, note("alive"))
}

func TestIDsInTheFormAskedFor(t *testing.T) {
	t.Parallel()
	r := start(t)
	e := note("x")
	r.append(t, "s", esdb.NoStream{}, e)
	for _, asText := range []bool{false, true} {
		form := &streams.ReadReq_Options_UUIDOption{Content: &streams.ReadReq_Options_UUIDOption_Structured{Structured: &shared.Empty{}}}
		if asText {
			form = &streams.ReadReq_Options_UUIDOption{Content: &streams.ReadReq_Options_UUIDOption_String_{String_: &shared.Empty{}}}
		}
		call, err := streams.NewStreamsClient(r.raw(t)).Read(testCtx(t), &streams.ReadReq{Options: &streams.ReadReq_Options{
			StreamOption: streamOption("s"), CountOption: &streams.ReadReq_Options_Count{Count: math.MaxUint64}, UuidOption: form,
		}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := call.Recv()
		if err != nil {
			t.Fatal(err)
		}
		wire := got.GetEvent().GetEvent()
		if id, err := uuidFromWire(wire.GetId()); err != nil || id != e.EventID || (wire.GetId().GetString_() != "") != asText {
			t.Errorf("got %v, %v", wire.GetId(), err)
		}
		if got.GetEvent().GetCommitPosition() != wire.GetCommitPosition() || wire.GetMetadata()["created"] == "" {
			t.Errorf("got %v", got)
		}
		if _, err := call.Recv(); !errors.Is(err, io.EOF) {
			t.Errorf("after the events: %v", err)
		}
	}
}

// Clients that say so are told where a stream begins, when they asked for what is before that, and where it ends. Others get
// events only: the Go client panics on anything else.
func TestStreamPositions(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.append(t, "s", esdb.NoStream{}, note("0"), note("1"), note("2"), note("3"))
	r.append(t, "whole", esdb.NoStream{}, note("0"))
	truncated := esdb.StreamMetadata{}
	truncated.SetTruncateBefore(2)
	if _, err := r.client.SetStreamMetadata(testCtx(t), "s", esdb.AppendToStreamOptions{}, truncated); err != nil {
		t.Fatal(err)
	}
	at := func(stream string, revision uint64) *streams.ReadReq_Options_Stream {
		o := streamOption(stream)
		o.Stream.RevisionOption = &streams.ReadReq_Options_StreamOptions_Revision{Revision: revision}
		return o
	}
	end := streamOption("s")
	end.Stream.RevisionOption = &streams.ReadReq_Options_StreamOptions_End{End: &shared.Empty{}}
	for _, c := range []struct {
		what          string
		from          *streams.ReadReq_Options_Stream
		direction     streams.ReadReq_Options_ReadDirection
		count         uint64
		compatibility uint32
		want          string
	}{
		{"truncated", streamOption("s"), streams.ReadReq_Options_Forwards, math.MaxUint64, 1, "first 2, event 2, event 3, last 3"},
		{"truncated, an older client", streamOption("s"), streams.ReadReq_Options_Forwards, math.MaxUint64, 0, "event 2, event 3"},
		{"from before the first", at("s", 1), streams.ReadReq_Options_Forwards, math.MaxUint64, 1, "first 2, event 2, event 3, last 3"},
		{"from the first", at("s", 2), streams.ReadReq_Options_Forwards, math.MaxUint64, 1, "event 2, event 3, last 3"},
		{"behind the last", at("s", 9), streams.ReadReq_Options_Forwards, math.MaxUint64, 1, "last 3"},
		{"a part", streamOption("s"), streams.ReadReq_Options_Forwards, 1, 1, "first 2, event 2, last 3"},
		{"backwards", end, streams.ReadReq_Options_Backwards, math.MaxUint64, 1, "event 3, event 2, last 3"},
		{"from the end", end, streams.ReadReq_Options_Forwards, 1, 1, "last 3"},
		{"a whole stream", streamOption("whole"), streams.ReadReq_Options_Forwards, math.MaxUint64, 1, "event 0, last 0"},
		{"a whole stream backwards", at("whole", 0), streams.ReadReq_Options_Backwards, math.MaxUint64, 1, "event 0, last 0"},
		{"an absent stream", streamOption("absent"), streams.ReadReq_Options_Forwards, 1, 1, "not found"},
	} {
		call, err := streams.NewStreamsClient(r.raw(t)).Read(testCtx(t), &streams.ReadReq{Options: &streams.ReadReq_Options{
			StreamOption: c.from, ReadDirection: c.direction, CountOption: &streams.ReadReq_Options_Count{Count: c.count},
			FilterOption:  &streams.ReadReq_Options_NoFilter{NoFilter: &shared.Empty{}},
			UuidOption:    &streams.ReadReq_Options_UUIDOption{Content: &streams.ReadReq_Options_UUIDOption_String_{String_: &shared.Empty{}}},
			ControlOption: &streams.ReadReq_Options_ControlOption{Compatibility: c.compatibility},
		}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for {
			response, err := call.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
			switch m := response.GetContent().(type) {
			case *streams.ReadResp_FirstStreamPosition:
				got = append(got, fmt.Sprint("first ", m.FirstStreamPosition))
			case *streams.ReadResp_LastStreamPosition:
				got = append(got, fmt.Sprint("last ", m.LastStreamPosition))
			case *streams.ReadResp_Event:
				got = append(got, fmt.Sprint("event ", m.Event.GetEvent().GetStreamRevision()))
			case *streams.ReadResp_StreamNotFound_:
				got = append(got, "not found")
			default:
				t.Errorf("%s: %v", c.what, response)
			}
		}
		if said := strings.Join(got, ", "); said != c.want {
			t.Errorf("%s: got %s, want %s", c.what, said, c.want)
		}
	}
}

func TestGossipAndFeatures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n, err := Open(Config{Dir: dir, Listen: "127.0.0.1:0", AdvertiseHost: "node.example", AdvertisePort: 4711})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, n) })
	conn := (&running{Node: n}).raw(t)
	info, err := gossip.NewGossipClient(conn).Read(testCtx(t), &shared.Empty{})
	if err != nil || len(info.GetMembers()) != 1 {
		t.Fatal(info, err)
	}
	me := info.GetMembers()[0]
	if me.GetState() != gossip.MemberInfo_Leader || !me.GetIsAlive() || me.GetHttpEndPoint().GetAddress() != "node.example" || me.GetHttpEndPoint().GetPort() != 4711 {
		t.Errorf("got %v", me)
	}
	features, err := serverfeatures.NewServerFeaturesClient(conn).GetSupportedMethods(testCtx(t), &shared.Empty{})
	if err != nil || features.GetEventStoreServerVersion() != "24.10.0" {
		t.Fatal(features, err)
	}
	advertised := map[string]bool{}
	for _, m := range features.GetMethods() {
		advertised[m.GetServiceName()+"/"+m.GetMethodName()] = true
	}
	for service, info := range n.server.GetServiceInfo() {
		for _, m := range info.Methods {
			name := strings.ToLower(service + "/" + m.Name)
			// clients ask for these before they ask what is supported
			if first := strings.Contains(name, "gossip") || strings.Contains(name, "serverfeatures"); advertised[name] == first {
				t.Errorf("%s is served, and advertised: %v", name, advertised[name])
			}
			delete(advertised, name)
		}
	}
	if len(advertised) > 0 {
		t.Errorf("advertised and not served: %v", advertised)
	}
}

// One call that is refused for lack of memory must not take the memory of the next.
func TestBudgetIsGivenBack(t *testing.T) {
	t.Parallel()
	b := newBudget(10_000, slog.New(slog.DiscardHandler))
	first := b.hold(context.Background())
	if err := first.reserve(context.Background(), 9_000); err != nil {
		t.Fatal(err)
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	second := b.hold(context.Background())
	if err := second.reserve(done, 9_000); !errors.Is(err, errTooBusy) {
		t.Fatalf("got %v", err)
	}
	second.release()
	first.release()
	if err := second.reserve(context.Background(), 20_000); err != nil {
		t.Fatal(err)
	}
}
