package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/persistent"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"reckon/eventstore/node/eventlog"
	"reckon/eventstore/node/protos/streamsv2"
	"reckon/test/wait"
)

// fields are the fields of a message that its Go type does not know: numbers, and the fields of messages.
func fields(t testing.TB, b []byte) map[protowire.Number]any {
	t.Helper()
	all := map[protowire.Number]any{}
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatalf("%x is no field", b)
		}
		b = b[n:]
		switch kind {
		case protowire.VarintType:
			all[number], n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			var inner []byte
			inner, n = protowire.ConsumeBytes(b)
			all[number] = fields(t, inner)
		default:
			t.Fatalf("field %d is of kind %d", number, kind)
		}
		if n < 0 {
			t.Fatalf("%x is no value", b)
		}
		b = b[n:]
	}
	return all
}

// unknownOf returns the time in such a field of a message, and the other fields as text.
func unknownOf(t testing.TB, m proto.Message, timeField protowire.Number) (at time.Time, others string) {
	t.Helper()
	all := fields(t, m.ProtoReflect().GetUnknown())
	stamp, _ := all[timeField].(map[protowire.Number]any)
	delete(all, timeField)
	seconds, _ := stamp[1].(uint64)
	nanos, _ := stamp[2].(uint64)
	return time.Unix(int64(seconds), int64(nanos)), fmt.Sprint(all)
}

// subscribe follows what the options say, as a client that takes every message of the newest protocol.
func subscribeNewest(t testing.TB, r *running, o *streams.ReadReq_Options) streams.Streams_ReadClient {
	t.Helper()
	o.UuidOption = &streams.ReadReq_Options_UUIDOption{Content: &streams.ReadReq_Options_UUIDOption_String_{String_: &shared.Empty{}}}
	o.CountOption = &streams.ReadReq_Options_Subscription{Subscription: &streams.ReadReq_Options_SubscriptionOptions{}}
	o.ControlOption = &streams.ReadReq_Options_ControlOption{Compatibility: 2}
	call, err := streams.NewStreamsClient(dialInsecure(t, r.listener.Addr().String())).Read(testCtx(t), &streams.ReadReq{Options: o})
	if err != nil {
		t.Fatal(err)
	}
	return call
}

// messages describes what comes until it is caught up: events by their revision.
func messages(t testing.TB, call streams.Streams_ReadClient, after time.Time) (said []string) {
	t.Helper()
	state := func(word string, m proto.Message, timeField protowire.Number) {
		at, others := unknownOf(t, m, timeField)
		if at.Before(after.Truncate(time.Microsecond)) || at.After(time.Now()) {
			t.Errorf("%s at %s", word, at)
		}
		said = append(said, word+" "+others)
	}
	for {
		m, err := call.Recv()
		if err != nil {
			t.Fatal(err)
		}
		switch content := m.GetContent().(type) {
		case *streams.ReadResp_Event:
			said = append(said, fmt.Sprint(content.Event.GetEvent().GetStreamRevision()))
		case *streams.ReadResp_Checkpoint_:
			state("checkpoint", content.Checkpoint, 3)
		case *streams.ReadResp_FellBehind_:
			state("fell behind", content.FellBehind, 1)
		case *streams.ReadResp_CaughtUp_:
			state("caught up", content.CaughtUp, 1)
			return said
		}
	}
}

// Subscribers are told when they are live, since when, and from where they would go on.
func TestSubscriptionsSayHowFarTheyAre(t *testing.T) {
	t.Parallel()
	r, begun := start(t), time.Now()
	stream := func() *streams.ReadReq_Options {
		return &streams.ReadReq_Options{
			StreamOption: &streams.ReadReq_Options_Stream{Stream: &streams.ReadReq_Options_StreamOptions{
				StreamIdentifier: streamToWire("s"), RevisionOption: &streams.ReadReq_Options_StreamOptions_Start{Start: &shared.Empty{}},
			}},
			FilterOption: &streams.ReadReq_Options_NoFilter{NoFilter: &shared.Empty{}},
		}
	}
	all := func() *streams.ReadReq_Options {
		return &streams.ReadReq_Options{
			StreamOption: &streams.ReadReq_Options_All{All: &streams.ReadReq_Options_AllOptions{AllOption: &streams.ReadReq_Options_AllOptions_Start{Start: &shared.Empty{}}}},
			FilterOption: &streams.ReadReq_Options_Filter{Filter: &streams.ReadReq_Options_FilterOptions{
				Filter: &streams.ReadReq_Options_FilterOptions_StreamIdentifier{StreamIdentifier: &streams.ReadReq_Options_FilterOptions_Expression{Prefix: []string{"s"}}},
				Window: &streams.ReadReq_Options_FilterOptions_Max{Max: 32}, CheckpointIntervalMultiplier: 1000,
			}},
		}
	}
	ofStream := subscribeNewest(t, r, stream())
	if got := messages(t, ofStream, begun); !slices.Equal(got, []string{"caught up map[]"}) {
		t.Errorf("of a stream without events: %q", got)
	}
	result := r.append(t, "s", esdb.NoStream{}, note("0"), note("1"))
	if got, want := messages(t, subscribeNewest(t, r, stream()), begun), []string{"0", "1", "caught up map[2:1]"}; !slices.Equal(got, want) {
		t.Errorf("of a stream: %q, want %q", got, want)
	}
	at := fmt.Sprintf("caught up map[3:map[1:%d 2:%[1]d]]", result.CommitPosition)
	if got, want := messages(t, subscribeNewest(t, r, all()), begun), []string{"0", "1", "checkpoint map[]", at}; !slices.Equal(got, want) {
		t.Errorf("of $all: %q, want %q", got, want)
	}
	// one append of more than a live subscriber may be behind
	many := make([]esdb.EventData, 2*liveBufferEvents)
	for i := range many {
		many[i] = note("x")
	}
	r.append(t, "s", esdb.Any{}, many...)
	got := messages(t, ofStream, begun)
	behind := slices.IndexFunc(got, func(word string) bool { return strings.HasPrefix(word, "fell behind") })
	if behind < liveBufferEvents || got[behind] != fmt.Sprintf("fell behind map[2:%s]", got[behind-1]) || got[len(got)-1] != fmt.Sprintf("caught up map[2:%d]", 2*liveBufferEvents+1) {
		t.Errorf("of a subscriber that falls behind: %q", got)
	}
}

// A client that does not say that it takes FellBehind gets none: older ones fail at it.
func TestOlderClientsAreNotToldThatTheyFellBehind(t *testing.T) {
	t.Parallel()
	r := start(t)
	s := r.follow(t, "s", esdb.SubscribeToStreamOptions{From: esdb.Start{}})
	expect(t, s, "caught up")
	many := make([]esdb.EventData, 2*liveBufferEvents)
	want := make([]string, len(many), len(many)+1)
	for i := range many {
		want[i] = fmt.Sprint(i)
		many[i] = note(want[i])
	}
	r.append(t, "s", esdb.Any{}, many...)
	expect(t, s, append(want, "caught up")...)
}

// Who reads a secondary index of a newer server gets the events of a category or a type.
func TestSecondaryIndexes(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.append(t, "o-1", esdb.NoStream{}, note("a"))
	r.append(t, "p-1", esdb.NoStream{}, note("b"))
	other := note("c")
	other.EventType = "other"
	r.append(t, "o-x-2", esdb.NoStream{}, other)
	r.append(t, "o", esdb.NoStream{}, note("d"))
	for index, want := range map[string]string{"$idx-ce-o": "a c", "$idx-ce-o-x": "", "$idx-et-noted": "a b d", "$idx-et-other": "c", "$idx-et-o": "", "$idx-all": "a b c d", "$idx-mine": ""} {
		conn := streams.NewStreamsClient(dialInsecure(t, r.listener.Addr().String()))
		read, err := conn.Read(testCtx(t), &streams.ReadReq{Options: &streams.ReadReq_Options{
			StreamOption: &streams.ReadReq_Options_All{All: &streams.ReadReq_Options_AllOptions{AllOption: &streams.ReadReq_Options_AllOptions_Start{Start: &shared.Empty{}}}},
			FilterOption: &streams.ReadReq_Options_Filter{Filter: &streams.ReadReq_Options_FilterOptions{
				Filter: &streams.ReadReq_Options_FilterOptions_StreamIdentifier{StreamIdentifier: &streams.ReadReq_Options_FilterOptions_Expression{Prefix: []string{index}}},
				Window: &streams.ReadReq_Options_FilterOptions_Max{Max: 32}, CheckpointIntervalMultiplier: 1,
			}},
			CountOption: &streams.ReadReq_Options_Count{Count: 100},
			UuidOption:  &streams.ReadReq_Options_UUIDOption{Content: &streams.ReadReq_Options_UUIDOption_String_{String_: &shared.Empty{}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for {
			m, err := read.Recv()
			if err != nil {
				break
			}
			got = append(got, string(m.GetEvent().GetEvent().GetData()))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", index, got, want)
		}
	}
}

// Parked events that nobody wants any more are removed, all or up to one, also by a group that was started again.
func TestTruncateParked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := startIn(t, dir)
	r.append(t, "s", esdb.NoStream{}, notes("0", "1", "2", "3")...)
	r.createGroup(t, "s", "g", groupRules())
	sub := r.consume(t, "s", "g", 10)
	if err := sub.Nack("park", esdb.NackActionPark, receive(t, sub, 4)...); err != nil {
		t.Fatal(err)
	}
	parked := func() int64 {
		info, err := r.client.GetPersistentSubscriptionInfo(testCtx(t), "s", "g", esdb.GetPersistentSubscriptionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return info.Stats.ParkedMessagesCount
	}
	wait.Until(t, "four events are parked", func() bool { return parked() == 4 })
	truncate := func(o *persistent.ReplayParkedReq_Options) error {
		o.StreamOption = &persistent.ReplayParkedReq_Options_StreamIdentifier{StreamIdentifier: streamToWire("s")}
		return dialInsecure(t, r.listener.Addr().String()).Invoke(testCtx(t), truncateParkedFullMethod, &persistent.ReplayParkedReq{Options: o}, &persistent.ReplayParkedResp{})
	}
	if err := truncate(&persistent.ReplayParkedReq_Options{GroupName: "g", StopAtOption: &persistent.ReplayParkedReq_Options_StopAt{StopAt: 3}}); err != nil || parked() != 1 {
		t.Fatalf("%d are parked after all but the last were truncated: %v", parked(), err)
	}
	if err := truncate(&persistent.ReplayParkedReq_Options{GroupName: "g", StopAtOption: &persistent.ReplayParkedReq_Options_StopAt{StopAt: -1}}); status.Code(err) != codes.InvalidArgument {
		t.Error(err)
	}
	if err := truncate(&persistent.ReplayParkedReq_Options{GroupName: "no such group"}); status.Code(err) != codes.NotFound {
		t.Error(err)
	}
	if err := r.client.ReplayParkedMessages(testCtx(t), "s", "g", esdb.ReplayParkedMessagesOptions{}); err != nil {
		t.Fatal(err)
	}
	again := receive(t, sub, 1)
	if textsOf(again) != "3" {
		t.Errorf("replayed was %s", textsOf(again))
	}
	if err := sub.Nack("park", esdb.NackActionPark, again...); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "it is parked again", func() bool { return parked() == 1 })
	if err := truncate(&persistent.ReplayParkedReq_Options{GroupName: "g", StopAtOption: &persistent.ReplayParkedReq_Options_NoLimit{NoLimit: &shared.Empty{}}}); err != nil || parked() != 0 {
		t.Fatalf("%d are parked after all were truncated: %v", parked(), err)
	}
	stop(t, r.Node)
	if r = startIn(t, dir); parked() != 0 {
		t.Errorf("%d are parked after a restart", parked())
	}
}

func TestHealthService(t *testing.T) {
	t.Parallel()
	r := start(t)
	client := grpc_health_v1.NewHealthClient(dialInsecure(t, r.listener.Addr().String()))
	check := func(service string) (grpc_health_v1.HealthCheckResponse_ServingStatus, error) {
		answer, err := client.Check(testCtx(t), &grpc_health_v1.HealthCheckRequest{Service: service})
		return answer.GetStatus(), err
	}
	for _, service := range []string{"", streams.Streams_ServiceDesc.ServiceName, grpc_health_v1.Health_ServiceDesc.ServiceName} {
		if got, err := check(service); err != nil || got != grpc_health_v1.HealthCheckResponse_SERVING {
			t.Errorf("%q: %v, %v", service, got, err)
		}
	}
	if _, err := check("no.such.Service"); status.Code(err) != codes.NotFound {
		t.Error(err)
	}
	list, err := client.List(testCtx(t), &grpc_health_v1.HealthListRequest{})
	if err != nil || list.GetStatuses()[streams.Streams_ServiceDesc.ServiceName].GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("%v, %v", list, err)
	}
	next := func(watch grpc.ServerStreamingClient[grpc_health_v1.HealthCheckResponse]) grpc_health_v1.HealthCheckResponse_ServingStatus {
		answer, err := watch.Recv()
		if err != nil {
			t.Fatal(err)
		}
		return answer.GetStatus()
	}
	watch, err := client.Watch(testCtx(t), &grpc_health_v1.HealthCheckRequest{})
	if err != nil || next(watch) != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Fatal(err)
	}
	unknown, err := client.Watch(testCtx(t), &grpc_health_v1.HealthCheckRequest{Service: "no.such.Service"})
	if err != nil || next(unknown) != grpc_health_v1.HealthCheckResponse_SERVICE_UNKNOWN {
		t.Fatal(err)
	}
	stop(t, r.Node)
	if _, err := watch.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("a node that stops ends the watch with %v", err)
	}
}

// A node whose log takes no more appends says so to who asks and to who waits.
func TestHealthOfADamagedLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := startIn(t, dir)
	client := grpc_health_v1.NewHealthClient(dialInsecure(t, r.listener.Addr().String()))
	watch, err := client.Watch(testCtx(t), &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if first, err := watch.Recv(); err != nil || first.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Fatal(first, err)
	}
	r.append(t, "s", esdb.NoStream{}, note("to be damaged"))
	flipAt(t, dir, "to be damaged")
	read, err := r.client.ReadStream(testCtx(t), "s", esdb.ReadStreamOptions{From: esdb.Start{}}, 1)
	if err == nil {
		_, err = read.Recv()
	}
	if err == nil {
		t.Fatal("a damaged event was read")
	}
	if then, err := watch.Recv(); err != nil || then.GetStatus() != grpc_health_v1.HealthCheckResponse_NOT_SERVING {
		t.Error(then, err)
	}
	if answer, err := client.Check(testCtx(t), &grpc_health_v1.HealthCheckRequest{}); err != nil || answer.GetStatus() != grpc_health_v1.HealthCheckResponse_NOT_SERVING {
		t.Error(answer, err)
	}
}

// Tools that know nothing of the node learn its services and their messages.
func TestReflection(t *testing.T) {
	t.Parallel()
	r := start(t)
	conn := dialInsecure(t, r.listener.Addr().String())
	ctx, cancel := context.WithCancel(testCtx(t))
	defer cancel()
	answer, err := reflectCall(ctx, conn, reflectionv1.ServerReflection_ServerReflectionInfo_FullMethodName, &reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, service := range answer.GetListServicesResponse().GetService() {
		described, err := reflectCall(ctx, conn, reflectionv1.ServerReflection_ServerReflectionInfo_FullMethodName, &reflectionv1.ServerReflectionRequest{
			MessageRequest: &reflectionv1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: service.GetName()},
		})
		if err != nil || len(described.GetFileDescriptorResponse().GetFileDescriptorProto()) == 0 {
			t.Errorf("%s: %v, %v", service.GetName(), described.GetErrorResponse(), err)
		}
	}
	if n := len(answer.GetListServicesResponse().GetService()); n != len(r.server.GetServiceInfo()) {
		t.Errorf("%d services", n)
	}
}

// record is a record of an append to several streams.
func record(stream, data string) *streamsv2.AppendRecord {
	return &streamsv2.AppendRecord{
		RecordId: proto.String(uuid.NewString()), Stream: &stream, Data: []byte(data), Properties: map[string]*structpb.Value{"a": structpb.NewStringValue("<b>")},
		Schema: &streamsv2.SchemaInfo{Format: streamsv2.SchemaFormat_SCHEMA_FORMAT_JSON, Name: "noted"},
	}
}

func stateCheck(stream string, expected int64) *streamsv2.ConsistencyCheck {
	return &streamsv2.ConsistencyCheck{Type: &streamsv2.ConsistencyCheck_StreamState{StreamState: &streamsv2.ConsistencyCheck_StreamStateCheck{Stream: stream, ExpectedState: expected}}}
}

func session(ctx context.Context, client streamsv2.StreamsServiceClient, requests ...*streamsv2.AppendRequest) (*streamsv2.AppendSessionResponse, error) {
	call, err := client.AppendSession(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range requests {
		_ = call.Send(r) // the answer says what went wrong
	}
	return call.CloseAndRecv()
}

// detailOf checks an error's code, and returns its detail as text.
func detailOf(t testing.TB, err error, want codes.Code) string {
	t.Helper()
	if status.Code(err) != want {
		t.Errorf("got %v, want %v", err, want)
	}
	for _, detail := range status.Convert(err).Details() {
		return strings.ReplaceAll(fmt.Sprint(detail), "  ", " ") // the library varies the spaces
	}
	return ""
}

// An append to several streams is one for all who read, and says which stream is not as it expects.
func TestAppendSession(t *testing.T) {
	t.Parallel()
	r := start(t)
	client := streamsv2.NewStreamsServiceClient(dialInsecure(t, r.listener.Addr().String()))
	revision := func(n int64) *int64 { return &n }
	answer, err := session(testCtx(t), client,
		&streamsv2.AppendRequest{Stream: "a", Records: []*streamsv2.AppendRecord{record("", "a0"), record("", "a1")}, ExpectedRevision: revision(-1)},
		&streamsv2.AppendRequest{Stream: "b", Records: []*streamsv2.AppendRecord{record("", "b0")}})
	if err != nil || answer.GetPosition() != 4 || len(answer.GetOutput()) != 2 || answer.GetOutput()[0].GetStreamRevision() != 1 || answer.GetOutput()[1].GetStream() != "b" {
		t.Fatal(answer, err)
	}
	read, err := r.client.ReadStream(testCtx(t), "a", esdb.ReadStreamOptions{From: esdb.Start{}}, 10)
	events := drain(t, read, err)
	if len(events) != 2 || string(events[1].Event.Data) != "a1" || string(events[1].Event.UserMetadata) != `{"a":"<b>"}` || events[1].Event.EventType != "noted" || events[1].Event.ContentType != "application/json" {
		t.Errorf("%+v", events[len(events)-1].Event)
	}
	one := func(stream string, expected *int64) *streamsv2.AppendRequest {
		return &streamsv2.AppendRequest{Stream: stream, Records: []*streamsv2.AppendRecord{record("", "x")}, ExpectedRevision: expected}
	}
	_, err = session(testCtx(t), client, one("c", nil), one("a", revision(7)))
	if got := detailOf(t, err, codes.FailedPrecondition); got != `stream:"a" expected_revision:7 actual_revision:1` {
		t.Error(got)
	}
	_, err = session(testCtx(t), client, one("c", nil), one("c", nil))
	if got := detailOf(t, err, codes.Aborted); got != `stream:"c"` {
		t.Error(got)
	}
	_, err = session(testCtx(t), client)
	detailOf(t, err, codes.FailedPrecondition)
	_, err = session(testCtx(t), client, &streamsv2.AppendRequest{Stream: "c"})
	detailOf(t, err, codes.InvalidArgument)
	_, err = session(testCtx(t), client, one("c", revision(-3)))
	detailOf(t, err, codes.InvalidArgument)
	large := one("c", nil)
	large.Records[0].Data = make([]byte, eventlog.MaxAppendBytes)
	_, err = session(testCtx(t), client, one("d", nil), large)
	if got := detailOf(t, err, codes.InvalidArgument); !strings.HasPrefix(got, `stream:"c" record_id:"`) {
		t.Error(got)
	}
	large.Records[0].Data = large.Records[0].Data[:eventlog.MaxAppendBytes/2]
	_, err = session(testCtx(t), client, large, &streamsv2.AppendRequest{Stream: "d", Records: []*streamsv2.AppendRecord{large.Records[0], record("", "x")}})
	if got := detailOf(t, err, codes.Aborted); !strings.Contains(got, "max_size:1048576") {
		t.Error(got)
	}
	if _, err := r.client.TombstoneStream(testCtx(t), "gone", esdb.TombstoneStreamOptions{ExpectedRevision: esdb.Any{}}); err != nil {
		t.Fatal(err)
	}
	_, err = session(testCtx(t), client, one("gone", nil))
	if got := detailOf(t, err, codes.FailedPrecondition); got != `stream:"gone"` {
		t.Error(got)
	}
	for _, stream := range []string{"c", "d"} { // of what was refused, nothing was written
		if read, err := r.client.ReadStream(testCtx(t), stream, esdb.ReadStreamOptions{From: esdb.Start{}}, 1); err == nil {
			_, err = read.Recv()
			wantCode(t, stream, err, esdb.ErrorCodeResourceNotFound)
		}
	}
	awaitRoom(t, r.memory)
}

func TestAppendRecords(t *testing.T) {
	t.Parallel()
	r := start(t)
	client := streamsv2.NewStreamsServiceClient(dialInsecure(t, r.listener.Addr().String()))
	binary := record("b", "b0")
	binary.Schema.Format, binary.Schema.Id = streamsv2.SchemaFormat_SCHEMA_FORMAT_PROTOBUF, proto.String("v1")
	request := &streamsv2.AppendRecordsRequest{
		Records: []*streamsv2.AppendRecord{record("a", "a0"), binary, record("a", "a1")},
		Checks:  []*streamsv2.ConsistencyCheck{stateCheck("a", -1), stateCheck("other", -1)},
	}
	for range 2 { // the second is a repetition
		answer, err := client.AppendRecords(testCtx(t), request)
		if err != nil || answer.GetPosition() != 4 || len(answer.GetRevisions()) != 2 || answer.GetRevisions()[0].GetRevision() != 1 {
			t.Fatal(answer, err)
		}
	}
	read, err := r.client.ReadStream(testCtx(t), "b", esdb.ReadStreamOptions{From: esdb.Start{}}, 10)
	if events := drain(t, read, err); len(events) != 1 || string(events[0].Event.UserMetadata) != `{"$schema.format":"Protobuf","$schema.id":"v1","a":"<b>"}` || events[0].Event.ContentType != "application/octet-stream" {
		t.Errorf("%+v", events)
	}
	_, err = client.AppendRecords(testCtx(t), &streamsv2.AppendRecordsRequest{
		Records: []*streamsv2.AppendRecord{record("c", "x")}, Checks: []*streamsv2.ConsistencyCheck{stateCheck("b", 0), stateCheck("a", 0), stateCheck("c", -4)},
	})
	detail := detailOf(t, err, codes.FailedPrecondition)
	for _, want := range []string{`stream:"a"`, `actual_state:1`, `check_index:2`, `stream:"c"`} {
		if !strings.Contains(detail, want) {
			t.Errorf("%s lacks %s", detail, want)
		}
	}
	// the names of all streams that are not as expected may be more than an answer can say
	long := &streamsv2.AppendRecordsRequest{Records: []*streamsv2.AppendRecord{record("c", "x")}}
	for i := range 100 {
		long.Checks = append(long.Checks, stateCheck(fmt.Sprint(i, strings.Repeat("é", 2000)), -4))
	}
	_, err = client.AppendRecords(testCtx(t), long)
	if detail := detailOf(t, err, codes.FailedPrecondition); !strings.Contains(detail, "check_index") && !strings.Contains(detail, "0é") {
		t.Error(detail)
	}
	_, err = client.AppendRecords(testCtx(t), &streamsv2.AppendRecordsRequest{})
	detailOf(t, err, codes.InvalidArgument)
	_, err = client.AppendRecords(testCtx(t), &streamsv2.AppendRecordsRequest{Records: []*streamsv2.AppendRecord{record("c", "x")}, Checks: []*streamsv2.ConsistencyCheck{{}}})
	detailOf(t, err, codes.InvalidArgument)
	awaitRoom(t, r.memory)
}
