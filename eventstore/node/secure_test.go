package node

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/gossip"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/persistent"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/serverfeatures"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"reckon/eventstore/node/access"
	"reckon/eventstore/node/eventlog"
	"reckon/eventstore/node/protos/monitoring"
	"reckon/eventstore/node/protos/operations"
	"reckon/eventstore/node/protos/streamsv2"
	"reckon/eventstore/node/protos/users"
	"reckon/internal/passwords"
)

// secured is a node with users, and how to reach it as one of them.
type secured struct {
	*Node
	dir   string
	users access.Directory
	conn  *grpc.ClientConn
}

const (
	nobody   = ""
	ordinary = "ann"
	other    = "bob"
	ops      = "ops"
	admin    = "admin"
)

// passwordOf is the password of a user of these tests.
func passwordOf(name string) string { return "password of " + name }

func startSecured(t testing.TB) *secured { return startPatient(t, defaultPatience) }

// startPatient is startSecured with other deadlines.
func startPatient(t testing.TB, p patience) *secured {
	t.Helper()
	dir := t.TempDir()
	n, err := Open(Config{Dir: dir, Stoppable: true, Secure: &Secure{Listen: "127.0.0.1:0", AdminPassword: passwordOf(admin), OpsPassword: passwordOf(ops)}, patience: p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, n) })
	s := &secured{Node: n, dir: dir, users: access.Directory{Store: logStore{n.log}, Hasher: passwords.NewHasher(passwords.Standard)}}
	for _, name := range []string{ordinary, other} {
		if err := s.users.Create(t.Context(), name, "", nil, passwordOf(name)); err != nil {
			t.Fatal(err)
		}
	}
	s.conn = s.dialTLS(t)
	return s
}

func (s *secured) dialTLS(t testing.TB) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(s.door.listener.Addr().String(), grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: s.authority(t)})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func (s *secured) authority(t testing.TB) *x509.CertPool {
	t.Helper()
	pem, err := os.ReadFile(filepath.Join(s.dir, tlsFolder, caFile))
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(pem) {
		t.Fatal("no CA", err)
	}
	return pool
}

func basic(name, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password))
}

// as returns a context of calls by a user.
func as(t testing.TB, name string) context.Context {
	if name == nobody {
		return testCtx(t)
	}
	return metadata.AppendToOutgoingContext(testCtx(t), "authorization", basic(name, passwordOf(name)))
}

// owner writes to the log as its owner.
func (s *secured) owner(t testing.TB, stream, eventType, data string) {
	t.Helper()
	event := eventlog.Proposed{ID: uuid.New(), Type: eventType, JSON: true, Data: []byte(data)}
	if _, err := s.log.Append(t.Context(), stream, eventlog.Any(), []eventlog.Proposed{event}); err != nil {
		t.Fatal(err)
	}
}

func (s *secured) acl(t testing.TB, stream, list string) {
	t.Helper()
	s.owner(t, eventlog.MetaStream(stream), eventlog.MetadataType, `{"$acl":`+list+`}`)
}

// call makes one call of an RPC, about a stream where it has one, and returns its error.
type call func(ctx context.Context, conn *grpc.ClientConn, stream string) error

func readRequestOf(stream string, subscribe bool) *streams.ReadReq {
	o := &streams.ReadReq_Options{
		UuidOption:   &streams.ReadReq_Options_UUIDOption{Content: &streams.ReadReq_Options_UUIDOption_String_{String_: &shared.Empty{}}},
		CountOption:  &streams.ReadReq_Options_Count{Count: 10},
		FilterOption: &streams.ReadReq_Options_NoFilter{NoFilter: &shared.Empty{}},
		StreamOption: &streams.ReadReq_Options_Stream{Stream: &streams.ReadReq_Options_StreamOptions{
			StreamIdentifier: streamToWire(stream), RevisionOption: &streams.ReadReq_Options_StreamOptions_Start{Start: &shared.Empty{}},
		}},
	}
	if stream == eventlog.AllStream {
		o.StreamOption = &streams.ReadReq_Options_All{All: &streams.ReadReq_Options_AllOptions{AllOption: &streams.ReadReq_Options_AllOptions_Start{Start: &shared.Empty{}}}}
	}
	if subscribe {
		o.CountOption = &streams.ReadReq_Options_Subscription{Subscription: &streams.ReadReq_Options_SubscriptionOptions{}}
	}
	return &streams.ReadReq{Options: o}
}

func readCall(ctx context.Context, conn *grpc.ClientConn, stream string) error {
	reading, err := streams.NewStreamsClient(conn).Read(ctx, readRequestOf(stream, false))
	if err != nil {
		return err
	}
	for {
		if _, err := reading.Recv(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func subscribeCall(ctx context.Context, conn *grpc.ClientConn, stream string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reading, err := streams.NewStreamsClient(conn).Read(ctx, readRequestOf(stream, true))
	if err != nil {
		return err
	}
	_, err = reading.Recv()
	return err
}

func appendCall(ctx context.Context, conn *grpc.ClientConn, stream string) error {
	call, err := streams.NewStreamsClient(conn).Append(ctx)
	if err != nil {
		return err
	}
	eventType, data := "noted", "1"
	if eventlog.IsMetaStream(stream) {
		eventType, data = eventlog.MetadataType, "{}"
	}
	for _, m := range []*streams.AppendReq{
		{Content: &streams.AppendReq_Options_{Options: &streams.AppendReq_Options{StreamIdentifier: streamToWire(stream), ExpectedStreamRevision: &streams.AppendReq_Options_Any{Any: &shared.Empty{}}}}},
		{Content: &streams.AppendReq_ProposedMessage_{ProposedMessage: &streams.AppendReq_ProposedMessage{
			Id: uuidToWire(uuid.New(), true), Metadata: map[string]string{"type": eventType, "content-type": "application/json"}, Data: []byte(data),
		}}},
	} {
		if err := call.Send(m); err != nil {
			break // the answer says why
		}
	}
	_, err = call.CloseAndRecv()
	return err
}

func batchCallOf(ctx context.Context, conn *grpc.ClientConn, stream string) error {
	call, err := streams.NewStreamsClient(conn).BatchAppend(ctx)
	if err != nil {
		return err
	}
	event := proposedInBatch("1")
	if eventlog.IsMetaStream(stream) {
		event.Metadata["type"], event.Data = eventlog.MetadataType, []byte("{}")
	}
	_ = call.Send(&streams.BatchAppendReq{CorrelationId: uuidToWire(uuid.New(), true), Options: optionsOf(stream), ProposedMessages: []*streams.BatchAppendReq_ProposedMessage{event}, IsFinal: true})
	_ = call.CloseSend()
	answer, err := call.Recv()
	if err != nil {
		return err
	}
	return status.ErrorProto(answer.GetError())
}

func deleteCall(ctx context.Context, conn *grpc.ClientConn, stream string) error {
	_, err := streams.NewStreamsClient(conn).Delete(ctx, &streams.DeleteReq{Options: &streams.DeleteReq_Options{StreamIdentifier: streamToWire(stream), ExpectedStreamRevision: &streams.DeleteReq_Options_Any{Any: &shared.Empty{}}}})
	return err
}

// tombstoneCall expects a revision that no stream has, so that it changes nothing.
func tombstoneCall(ctx context.Context, conn *grpc.ClientConn, stream string) error {
	_, err := streams.NewStreamsClient(conn).Tombstone(ctx, &streams.TombstoneReq{Options: &streams.TombstoneReq_Options{StreamIdentifier: streamToWire(stream), ExpectedStreamRevision: &streams.TombstoneReq_Options_Revision{Revision: 1 << 40}}})
	return err
}

func groupRead(ctx context.Context, conn *grpc.ClientConn, stream string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reading, err := persistent.NewPersistentSubscriptionsClient(conn).Read(ctx)
	if err != nil {
		return err
	}
	o := &persistent.ReadReq_Options{GroupName: "no such group", BufferSize: 10, UuidOption: &persistent.ReadReq_Options_UUIDOption{Content: &persistent.ReadReq_Options_UUIDOption_String_{String_: &shared.Empty{}}}}
	if stream == eventlog.AllStream {
		o.StreamOption = &persistent.ReadReq_Options_All{All: &shared.Empty{}}
	} else {
		o.StreamOption = &persistent.ReadReq_Options_StreamIdentifier{StreamIdentifier: streamToWire(stream)}
	}
	_ = reading.Send(&persistent.ReadReq{Content: &persistent.ReadReq_Options_{Options: o}})
	_, err = reading.Recv()
	return err
}

// rpcs has a call for every RPC that the node serves.
var rpcs = map[string]call{
	streams.Streams_Read_FullMethodName:        readCall,
	streams.Streams_Append_FullMethodName:      appendCall,
	streams.Streams_BatchAppend_FullMethodName: batchCallOf,
	streams.Streams_Delete_FullMethodName:      deleteCall,
	streams.Streams_Tombstone_FullMethodName:   tombstoneCall,
	serverfeatures.ServerFeatures_GetSupportedMethods_FullMethodName: func(ctx context.Context, conn *grpc.ClientConn, _ string) error {
		_, err := serverfeatures.NewServerFeaturesClient(conn).GetSupportedMethods(ctx, &shared.Empty{})
		return err
	},
	gossip.Gossip_Read_FullMethodName: func(ctx context.Context, conn *grpc.ClientConn, _ string) error {
		_, err := gossip.NewGossipClient(conn).Read(ctx, &shared.Empty{})
		return err
	},
	grpc_health_v1.Health_Check_FullMethodName: func(ctx context.Context, conn *grpc.ClientConn, _ string) error {
		_, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
		return err
	},
	grpc_health_v1.Health_List_FullMethodName: func(ctx context.Context, conn *grpc.ClientConn, _ string) error {
		_, err := grpc_health_v1.NewHealthClient(conn).List(ctx, &grpc_health_v1.HealthListRequest{})
		return err
	},
	grpc_health_v1.Health_Watch_FullMethodName: func(ctx context.Context, conn *grpc.ClientConn, _ string) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		watch, err := grpc_health_v1.NewHealthClient(conn).Watch(ctx, &grpc_health_v1.HealthCheckRequest{})
		if err == nil {
			_, err = watch.Recv()
		}
		return err
	},
	reflectionv1.ServerReflection_ServerReflectionInfo_FullMethodName:      reflectionCall(reflectionv1.ServerReflection_ServerReflectionInfo_FullMethodName),
	reflectionv1alpha.ServerReflection_ServerReflectionInfo_FullMethodName: reflectionCall(reflectionv1alpha.ServerReflection_ServerReflectionInfo_FullMethodName),

	streamsv2.StreamsService_AppendSession_FullMethodName: func(ctx context.Context, conn *grpc.ClientConn, stream string) error {
		_, err := session(ctx, streamsv2.NewStreamsServiceClient(conn), &streamsv2.AppendRequest{Stream: "other", Records: []*streamsv2.AppendRecord{record("", "x")}}, &streamsv2.AppendRequest{Stream: stream, Records: []*streamsv2.AppendRecord{record("", "x")}})
		return err
	},
	streamsv2.StreamsService_AppendRecords_FullMethodName: func(ctx context.Context, conn *grpc.ClientConn, stream string) error {
		_, err := streamsv2.NewStreamsServiceClient(conn).AppendRecords(ctx, &streamsv2.AppendRecordsRequest{Records: []*streamsv2.AppendRecord{record("other", "x"), record(stream, "x")}})
		return err
	},

	truncateParkedFullMethod: func(ctx context.Context, conn *grpc.ClientConn, _ string) error {
		return conn.Invoke(ctx, truncateParkedFullMethod, &persistent.ReplayParkedReq{}, &persistent.ReplayParkedResp{})
	},
	persistent.PersistentSubscriptions_Create_FullMethodName: func(ctx context.Context, conn *grpc.ClientConn, _ string) error {
		_, err := persistent.NewPersistentSubscriptionsClient(conn).Create(ctx, &persistent.CreateReq{})
		return err
	},
	persistent.PersistentSubscriptions_Update_FullMethodName: func(ctx context.Context, conn *grpc.ClientConn, _ string) error {
		_, err := persistent.NewPersistentSubscriptionsClient(conn).Update(ctx, &persistent.UpdateReq{})
		return err
	},
	persistent.PersistentSubscriptions_Delete_FullMethodName: func(ctx context.Context, conn *grpc.ClientConn, _ string) error {
		_, err := persistent.NewPersistentSubscriptionsClient(conn).Delete(ctx, &persistent.DeleteReq{})
		return err
	},
	persistent.PersistentSubscriptions_ReplayParked_FullMethodName: func(ctx context.Context, conn *grpc.ClientConn, _ string) error {
		_, err := persistent.NewPersistentSubscriptionsClient(conn).ReplayParked(ctx, &persistent.ReplayParkedReq{})
		return err
	},
	persistent.PersistentSubscriptions_RestartSubsystem_FullMethodName: func(ctx context.Context, conn *grpc.ClientConn, _ string) error {
		_, err := persistent.NewPersistentSubscriptionsClient(conn).RestartSubsystem(ctx, &shared.Empty{})
		return err
	},
	persistent.PersistentSubscriptions_GetInfo_FullMethodName: func(ctx context.Context, conn *grpc.ClientConn, _ string) error {
		_, err := persistent.NewPersistentSubscriptionsClient(conn).GetInfo(ctx, &persistent.GetInfoReq{})
		return err
	},
	persistent.PersistentSubscriptions_List_FullMethodName: func(ctx context.Context, conn *grpc.ClientConn, _ string) error {
		_, err := persistent.NewPersistentSubscriptionsClient(conn).List(ctx, &persistent.ListReq{})
		return err
	},
	persistent.PersistentSubscriptions_Read_FullMethodName: groupRead,

	// of the user whom the stream names
	users.Users_Create_FullMethodName: userCall(users.UsersClient.Create, func(u string) *users.CreateReq {
		return &users.CreateReq{Options: &users.CreateReq_Options{LoginName: u}}
	}),
	users.Users_Update_FullMethodName: userCall(users.UsersClient.Update, func(u string) *users.UpdateReq {
		return &users.UpdateReq{Options: &users.UpdateReq_Options{LoginName: u}}
	}),
	users.Users_Delete_FullMethodName: userCall(users.UsersClient.Delete, func(u string) *users.DeleteReq {
		return &users.DeleteReq{Options: &users.DeleteReq_Options{LoginName: u}}
	}),
	users.Users_Enable_FullMethodName: userCall(users.UsersClient.Enable, func(u string) *users.EnableReq {
		return &users.EnableReq{Options: &users.EnableReq_Options{LoginName: u}}
	}),
	users.Users_Disable_FullMethodName: userCall(users.UsersClient.Disable, func(u string) *users.DisableReq {
		return &users.DisableReq{Options: &users.DisableReq_Options{LoginName: u}}
	}),
	users.Users_ResetPassword_FullMethodName: userCall(users.UsersClient.ResetPassword, func(u string) *users.ResetPasswordReq {
		return &users.ResetPasswordReq{Options: &users.ResetPasswordReq_Options{LoginName: u}}
	}),
	users.Users_ChangePassword_FullMethodName: userCall(users.UsersClient.ChangePassword, func(u string) *users.ChangePasswordReq {
		return &users.ChangePasswordReq{Options: &users.ChangePasswordReq_Options{LoginName: u}}
	}),
	users.Users_Details_FullMethodName: func(ctx context.Context, conn *grpc.ClientConn, user string) error {
		_, err := detailsOf(ctx, conn, user)
		return err
	},

	operations.Operations_StartScavenge_FullMethodName:                  operationCall(operations.OperationsClient.StartScavenge, &operations.StartScavengeReq{}),
	operations.Operations_StopScavenge_FullMethodName:                   operationCall(operations.OperationsClient.StopScavenge, &operations.StopScavengeReq{}),
	operations.Operations_Shutdown_FullMethodName:                       operationCall(operations.OperationsClient.Shutdown, &emptypb.Empty{}),
	operations.Operations_MergeIndexes_FullMethodName:                   operationCall(operations.OperationsClient.MergeIndexes, &emptypb.Empty{}),
	operations.Operations_ResignNode_FullMethodName:                     operationCall(operations.OperationsClient.ResignNode, &emptypb.Empty{}),
	operations.Operations_SetNodePriority_FullMethodName:                operationCall(operations.OperationsClient.SetNodePriority, &operations.SetNodePriorityReq{}),
	operations.Operations_RestartPersistentSubscriptions_FullMethodName: operationCall(operations.OperationsClient.RestartPersistentSubscriptions, &emptypb.Empty{}),

	monitoring.Monitoring_Stats_FullMethodName: func(ctx context.Context, conn *grpc.ClientConn, _ string) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stats, err := monitoring.NewMonitoringClient(conn).Stats(ctx, &monitoring.StatsReq{})
		if err == nil {
			_, err = stats.Recv()
		}
		return err
	},
}

// reflectionCall asks for the list of services; the messages of both versions are the same.
func reflectionCall(method string) call {
	return func(ctx context.Context, conn *grpc.ClientConn, _ string) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		_, err := reflectCall(ctx, conn, method, &reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}})
		return err
	}
}

func reflectCall(ctx context.Context, conn *grpc.ClientConn, method string, req *reflectionv1.ServerReflectionRequest) (*reflectionv1.ServerReflectionResponse, error) {
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
	if err != nil {
		return nil, err
	}
	_ = stream.SendMsg(req) // the end says what went wrong
	answer := &reflectionv1.ServerReflectionResponse{}
	return answer, stream.RecvMsg(answer)
}

func userCall[Req, Resp any](f func(users.UsersClient, context.Context, *Req, ...grpc.CallOption) (*Resp, error), request func(user string) *Req) call {
	return func(ctx context.Context, conn *grpc.ClientConn, user string) error {
		_, err := f(users.NewUsersClient(conn), ctx, request(user))
		return err
	}
}

func operationCall[Req, Resp any](f func(operations.OperationsClient, context.Context, *Req, ...grpc.CallOption) (*Resp, error), request *Req) call {
	return func(ctx context.Context, conn *grpc.ClientConn, _ string) error {
		_, err := f(operations.NewOperationsClient(conn), ctx, request)
		return err
	}
}

// mayCall says whether the access rules let a call pass; what the handler then answers is its own matter.
func mayCall(err error) bool {
	return status.Code(err) != codes.PermissionDenied && status.Code(err) != codes.Unauthenticated
}

// TestAccessTable: every RPC by everybody on every kind of stream.
func TestAccessTable(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	s.acl(t, "anns", `{"$r":"ann","$w":["ann"],"$d":"ann","$mr":"ann","$mw":"ann"}`)
	s.acl(t, "$anns", `{"$r":"ann","$w":["ann"],"$d":"ann","$mr":"ann","$mw":"ann"}`)
	s.acl(t, "closed", `{"$r":[],"$w":[],"$d":[],"$mr":[],"$mw":[]}`)
	s.acl(t, "readable", `{"$w":"$admins","$d":"$admins","$mw":"$admins"}`)
	served := map[string]bool{}
	for service, info := range s.door.server.GetServiceInfo() {
		for _, m := range info.Methods {
			served["/"+service+"/"+m.Name] = true
		}
	}
	for method := range served {
		if rpcs[method] == nil {
			t.Errorf("%s is served and not tried here", method)
		}
		if _, ok := callRules[method]; !ok {
			t.Errorf("%s is served and has no rule", method)
		}
	}
	const everyone, signedIn, operators, admins, none = "nobody ann bob ops admin", "ann bob ops admin", "ops admin", "admin", ""
	forStreams := []struct {
		stream             string
		read, write, erase string
	}{
		{"plain", signedIn, signedIn, signedIn},
		{"anns", "ann admin", "ann admin", "ann admin"},
		{"$anns", "ann admin", "ann admin", "ann admin"},
		{"closed", admins, admins, admins},
		{"readable", signedIn, admins, admins},
		{"$system", admins, admins, admins},
		{"$users", admins, admins, admins},
		{"$user-ann", admins, admins, admins},
		{"$settings", admins, admins, admins},
		{"$$plain", signedIn, signedIn, none},
		{"$$anns", "ann admin", "ann admin", none},
		{"$$closed", admins, admins, none},
		{"$$readable", signedIn, admins, none},
		{"$$$user-ann", admins, admins, none},
		{"$$$settings", admins, admins, none},
		{"$$$$plain", admins, admins, none}, // the metadata of a metadata stream
		{"$$$$$plain", admins, admins, none},
		{"$$$all", admins, admins, none},
		{"$all", admins, none, none},
	}
	try := func(what, method, stream, allowed string) {
		for _, who := range []string{nobody, ordinary, other, ops, admin} {
			err := rpcs[method](as(t, who), s.conn, stream)
			name := who
			if who == nobody {
				name = "nobody"
			}
			want := slices.Contains(strings.Fields(allowed), name)
			if mayCall(err) != want {
				t.Errorf("%s of %q by %s: %v", what, stream, name, err)
			}
			if !want && status.Code(err) != codes.PermissionDenied {
				t.Errorf("%s of %q by %s: %v, want PERMISSION_DENIED", what, stream, name, err)
			}
		}
	}
	for _, row := range forStreams {
		try("reading", streams.Streams_Read_FullMethodName, row.stream, row.read)
		try("a group", persistent.PersistentSubscriptions_Read_FullMethodName, row.stream, row.read)
		try("tombstone", streams.Streams_Tombstone_FullMethodName, row.stream, row.erase)
	}
	for _, who := range []string{nobody, ordinary, other, ops, admin} {
		for _, row := range forStreams {
			if want := slices.Contains(strings.Fields(row.read), map[string]string{nobody: "nobody"}[who]+who); mayCall(subscribeCall(as(t, who), s.conn, row.stream)) != want {
				t.Errorf("subscription of %q by %q is not %v", row.stream, who, want)
			}
		}
	}
	for _, row := range forStreams {
		for _, who := range []string{nobody, ordinary, other, ops, admin} {
			want := slices.Contains(strings.Fields(row.write), map[string]string{nobody: "nobody"}[who]+who)
			if want && (eventlog.IsMetaStream(row.stream) || access.IsSecret(row.stream) || row.stream == access.SettingsStream) {
				continue // it would change who may
			}
			for _, method := range []string{streams.Streams_Append_FullMethodName, streams.Streams_BatchAppend_FullMethodName, streamsv2.StreamsService_AppendSession_FullMethodName, streamsv2.StreamsService_AppendRecords_FullMethodName} {
				err := rpcs[method](as(t, who), s.conn, row.stream)
				if mayCall(err) != want || !want && status.Code(err) != codes.PermissionDenied {
					t.Errorf("%s to %q by %q: %v, want %v", method, row.stream, who, err, want)
				}
			}
			want = slices.Contains(strings.Fields(row.erase), map[string]string{nobody: "nobody"}[who]+who)
			if want {
				continue // it would delete the list
			}
			if err := deleteCall(as(t, who), s.conn, row.stream); status.Code(err) != codes.PermissionDenied {
				t.Errorf("deletion of %q by %q: %v", row.stream, who, err)
			}
		}
	}
	if err := deleteCall(as(t, ordinary), s.conn, "plain"); err != nil {
		t.Error(err)
	}
	for method, allowed := range map[string]string{
		serverfeatures.ServerFeatures_GetSupportedMethods_FullMethodName: everyone, gossip.Gossip_Read_FullMethodName: everyone,
		persistent.PersistentSubscriptions_Create_FullMethodName: operators, persistent.PersistentSubscriptions_Update_FullMethodName: operators,
		persistent.PersistentSubscriptions_Delete_FullMethodName: operators, persistent.PersistentSubscriptions_ReplayParked_FullMethodName: operators,
		persistent.PersistentSubscriptions_RestartSubsystem_FullMethodName: operators, truncateParkedFullMethod: operators,
		grpc_health_v1.Health_Check_FullMethodName: everyone, grpc_health_v1.Health_List_FullMethodName: everyone, grpc_health_v1.Health_Watch_FullMethodName: everyone,
		reflectionv1.ServerReflection_ServerReflectionInfo_FullMethodName: operators, reflectionv1alpha.ServerReflection_ServerReflectionInfo_FullMethodName: operators,
		persistent.PersistentSubscriptions_GetInfo_FullMethodName: signedIn, persistent.PersistentSubscriptions_List_FullMethodName: signedIn,
		operations.Operations_StartScavenge_FullMethodName: operators, operations.Operations_StopScavenge_FullMethodName: operators,
		operations.Operations_MergeIndexes_FullMethodName: operators, operations.Operations_ResignNode_FullMethodName: operators,
		operations.Operations_SetNodePriority_FullMethodName: operators, operations.Operations_RestartPersistentSubscriptions_FullMethodName: operators,
		operations.Operations_Shutdown_FullMethodName: operators, monitoring.Monitoring_Stats_FullMethodName: operators,
	} {
		try(method, method, "", allowed)
	}
	for _, user := range []string{"", "nosuch", "ann"} { // a user cannot learn which others there are
		for method, own := range map[string]bool{
			users.Users_Create_FullMethodName: false, users.Users_Update_FullMethodName: false, users.Users_Enable_FullMethodName: false,
			users.Users_ResetPassword_FullMethodName: false, users.Users_Details_FullMethodName: true,
		} {
			allowed := admins
			if own && user == ordinary {
				allowed = "ann admin"
			}
			try(method, method, user, allowed)
		}
	}
	for _, method := range []string{users.Users_Delete_FullMethodName, users.Users_Disable_FullMethodName} {
		try(method, method, "nosuch", admins)
	}
	try("a new password", users.Users_ChangePassword_FullMethodName, ordinary, "ann admin")
}

// TestCheckedStreamsAreRead: whether a stream that is not written has events is told to its readers only.
func TestCheckedStreamsAreRead(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	s.acl(t, "closed", `{"$r":"$admins"}`)
	for who, want := range map[string]codes.Code{ordinary: codes.PermissionDenied, admin: codes.OK} {
		_, err := streamsv2.NewStreamsServiceClient(s.conn).AppendRecords(as(t, who), &streamsv2.AppendRecordsRequest{
			Records: []*streamsv2.AppendRecord{record("plain", "x")}, Checks: []*streamsv2.ConsistencyCheck{stateCheck("closed", -1)},
		})
		if status.Code(err) != want {
			t.Errorf("%s: %v", who, err)
		}
	}
}

// TestDeniedSaysSo: clients translate the trailer.
func TestDeniedSaysSo(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	var trailer metadata.MD
	_, err := streams.NewStreamsClient(s.conn).Delete(as(t, ordinary), &streams.DeleteReq{Options: &streams.DeleteReq_Options{StreamIdentifier: streamToWire("$x"), ExpectedStreamRevision: &streams.DeleteReq_Options_Any{}}}, grpc.Trailer(&trailer))
	if status.Code(err) != codes.PermissionDenied || !slices.Equal(trailer.Get("exception"), []string{"access-denied"}) {
		t.Errorf("%v, %v", err, trailer)
	}
	reading, err := streams.NewStreamsClient(s.conn).Read(as(t, ordinary), readRequestOf("$x", true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reading.Recv(); status.Code(err) != codes.PermissionDenied || !slices.Equal(reading.Trailer().Get("exception"), []string{"access-denied"}) {
		t.Errorf("%v, %v", err, reading.Trailer())
	}
}

// TestSettingsAndLists: a stream's own list comes before the settings, and those before the built-in defaults, key by key.
// TestConsumersAreNamed: who consumes is listed with their login.
func TestConsumersAreNamed(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	address := strings.Replace(s.SecureConnectionString(), "esdb://", "esdb://"+admin+":"+strings.ReplaceAll(passwordOf(admin), " ", "%20")+"@", 1)
	config, err := esdb.ParseConnectionString(address)
	if err != nil {
		t.Fatal(err)
	}
	client, err := esdb.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	if err := client.CreatePersistentSubscription(testCtx(t), "s", "g", esdb.PersistentStreamSubscriptionOptions{}); err != nil {
		t.Fatal(err)
	}
	consumer, err := client.SubscribeToPersistentSubscription(testCtx(t), "s", "g", esdb.SubscribeToPersistentSubscriptionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = consumer.Close() }()
	info, err := client.GetPersistentSubscriptionInfo(testCtx(t), "s", "g", esdb.GetPersistentSubscriptionOptions{})
	if err != nil || len(info.Connections) != 1 || info.Connections[0].Username != admin {
		t.Errorf("got %+v, %v", info, err)
	}
}

func TestSettingsAndLists(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	s.owner(t, access.SettingsStream, access.SettingsStream, `{"$userStreamAcl":{"$w":"ann"},"$systemStreamAcl":{"$r":"ann","$w":"ann","$d":"ann","$mr":"ann","$mw":"ann"}}`)
	s.acl(t, "bobs", `{"$w":["bob"]}`)
	s.acl(t, "like-system", `"$systemStreamAcl"`)
	s.acl(t, "$like-user", `"$userStreamAcl"`)
	s.acl(t, "group", `{"$r":"readers"}`)
	if err := s.users.SetGroups(t.Context(), other, []string{"readers"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what        call
		stream, who string
		want        bool
	}{
		{appendCall, "plain", ordinary, true}, {appendCall, "plain", other, false}, {readCall, "plain", other, true},
		{appendCall, "bobs", ordinary, false}, {appendCall, "bobs", other, true}, {readCall, "bobs", ordinary, true},
		{readCall, "$sys", ordinary, true}, {appendCall, "$sys", ordinary, true}, {readCall, "$sys", other, false}, {readCall, "$$$sys", ordinary, true},
		{readCall, "like-system", ordinary, true}, {readCall, "like-system", other, false},
		{readCall, "$like-user", other, true}, {appendCall, "$like-user", other, false},
		{readCall, "group", other, true}, {readCall, "group", ordinary, false},
		// what the defaults of system streams never open
		{readCall, "$all", ordinary, false}, {readCall, "$user-admin", ordinary, false}, {appendCall, "$user-ann", ordinary, false},
		{appendCall, "$users", ordinary, false}, {appendCall, "$$$user-ann", ordinary, false}, {appendCall, "$settings", ordinary, false}, {appendCall, "$$$settings", ordinary, false},
		{deleteCall, "$settings", ordinary, false},
	} {
		if err := c.what(as(t, c.who), s.conn, c.stream); mayCall(err) != c.want {
			t.Errorf("%q by %s: %v, want %v", c.stream, c.who, err, c.want)
		}
	}
	s.acl(t, "$all", `{"$r":"ann"}`)
	if err := readCall(as(t, ordinary), s.conn, "$all"); err != nil {
		t.Errorf("$all opened by its own list: %v", err)
	}
	if err := readCall(as(t, other), s.conn, "$all"); mayCall(err) {
		t.Error("$all is open to others")
	}
}

// TestGarbageGivesNoRights: what cannot be read as a list lets in $admins only.
func TestGarbageGivesNoRights(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	for i, metadata := range []string{
		``, `x`, `null`, `[]`, `"$userStreamAcl"`, `{"$acl":null}`, `{"$acl":true}`, `{"$acl":"$everybody"}`, `{"$acl":["$all"]}`, `{"$acl":{"$r":null}}`, `{"$acl":{"$r":{"a":1}}}`,
		`{"$acl":{"$r":[1]}}`, `{"$acl":{"$r":["$all",null,[]]}}`, `{"$acl":{"$r":"$admins"},"$acl":{"$r":"$all"}}`, `{"$acl":{"$r":"$admins","$r":"$all"}}`,
		"{\"$acl\":{\"$r\":\"\xff\"}}", `{"$acl":{"$r":7}}`, `{"$acl":{}`, `{"$acl":` + strings.Repeat("[", 20_000) + `}`,
	} {
		stream := fmt.Sprint("garbage-", i)
		s.owner(t, eventlog.MetaStream(stream), eventlog.MetadataType, metadata)
		for what, c := range map[string]call{"read": readCall, "append": appendCall, "read of metadata": func(ctx context.Context, conn *grpc.ClientConn, stream string) error {
			return readCall(ctx, conn, eventlog.MetaStream(stream))
		}} {
			if err := c(as(t, ordinary), s.conn, stream); mayCall(err) {
				t.Errorf("%s with %.40s: %v", what, metadata, err)
			}
			if err := c(as(t, admin), s.conn, stream); !mayCall(err) {
				t.Errorf("%s by admin with %.40s: %v", what, metadata, err)
			}
		}
	}
	// keys are exact
	s.owner(t, "$$upper", eventlog.MetadataType, `{"$ACL":{"$r":"$admins"}}`)
	if err := readCall(as(t, ordinary), s.conn, "upper"); err != nil {
		t.Errorf("a key that is none: %v", err)
	}
	s.owner(t, "$$typed", "not-metadata", `{"$acl":{"$r":"$all"}}`)
	if err := readCall(as(t, ordinary), s.conn, "typed"); mayCall(err) {
		t.Error("an event of another type gave a right")
	}
	s.owner(t, access.SettingsStream, "$settings", `{"$userStreamAcl":`)
	if err := readCall(as(t, ordinary), s.conn, "plain"); mayCall(err) {
		t.Error("settings that cannot be read give rights")
	}
}

// TestCredentials: exactly one Basic credential of an enabled user opens anything.
func TestCredentialsOfUsers(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	good := basic(ordinary, passwordOf(ordinary))
	for name, headers := range map[string][]string{
		"wrong password": {basic(ordinary, "wrong password")}, "unknown user": {basic("carol", passwordOf(ordinary))}, "empty": {""}, "no scheme": {strings.TrimPrefix(good, "Basic ")},
		"bearer": {"Bearer abc"}, "two": {good, good}, "two in one": {good + ", " + good}, "right and wrong": {basic(ordinary, "x"), good}, "no colon": {"Basic " + base64.StdEncoding.EncodeToString([]byte(ordinary))},
		"not base64": {"Basic ann:password"}, "bad end": {good + "="}, "spaces": {"Basic  " + strings.TrimPrefix(good, "Basic ")}, "huge": {"Basic " + strings.Repeat("A", 4096)},
		"a stream's name": {basic("$users", "password")}, "meta": {basic("ann\x00", passwordOf(ordinary))}, "another case": {basic("ANN", passwordOf(ordinary))},
		"not UTF-8": {"Basic " + base64.StdEncoding.EncodeToString([]byte("ann:\xff\xff"))},
	} {
		ctx := testCtx(t)
		for _, h := range headers {
			ctx = metadata.AppendToOutgoingContext(ctx, "authorization", h)
		}
		if err := readCall(ctx, s.conn, "plain"); status.Code(err) != codes.Unauthenticated {
			t.Errorf("%s: %v", name, err)
		}
	}
	// headers by which servers elsewhere take somebody's word
	smuggled := metadata.AppendToOutgoingContext(testCtx(t), "es-trustedauth", "admin", "x-forwarded-user", "admin", "proxy-authorization", basic(admin, passwordOf(admin)), "authorization-bin", basic(admin, passwordOf(admin)), ":authority", "admin")
	if err := readCall(smuggled, s.conn, "$system"); err == nil || status.Code(err) == codes.OK {
		t.Errorf("smuggled: %v", err)
	}
	for _, fine := range []string{good, "basic" + strings.TrimPrefix(good, "Basic")} {
		if err := readCall(metadata.AppendToOutgoingContext(testCtx(t), "authorization", fine), s.conn, "plain"); err != nil {
			t.Errorf("%s: %v", fine, err)
		}
	}
	// open calls do not look at credentials, and so tell nothing about them
	if _, err := serverfeatures.NewServerFeaturesClient(s.conn).GetSupportedMethods(metadata.AppendToOutgoingContext(testCtx(t), "authorization", "x"), &shared.Empty{}); err != nil {
		t.Error(err)
	}
	// an append that is refused is read to its end, so that the client hears why
	if err := appendCall(metadata.AppendToOutgoingContext(testCtx(t), "authorization", basic("nemo", "password")), s.conn, "plain"); status.Code(err) != codes.Unauthenticated {
		t.Error(err)
	}
}

// TestRecordsThatAreNoUsers: whoever the log does not name clearly is nobody.
func TestRecordsThatAreNoUsers(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	hash, err := s.users.Hasher.Hash(t.Context(), passwordOf("eve"))
	if err != nil {
		t.Fatal(err)
	}
	record := func(changes map[string]any) string {
		user := map[string]any{"loginName": "eve", "groups": []string{}, "disabled": false, "hash": hash}
		for k, v := range changes {
			user[k] = v
		}
		b, _ := json.Marshal(user)
		return string(b)
	}
	for name, data := range map[string]string{
		"another's": record(map[string]any{"loginName": "admin"}), "disabled": record(map[string]any{"disabled": true}), "no hash": record(map[string]any{"hash": ""}),
		"a foreign hash": record(map[string]any{"hash": "$2b$12$x"}), "a plain password": record(map[string]any{"hash": passwordOf("eve")}), "garbage": "{", "a list": "[]",
		"twice": strings.Replace(record(nil), "{", `{"disabled":true,`, 1), "groups are text": record(map[string]any{"groups": "$admins"}),
	} {
		s.owner(t, "$user-eve", "$UserUpdated", data)
		if err := readCall(as(t, "eve"), s.conn, "plain"); status.Code(err) != codes.Unauthenticated {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.owner(t, "$user-eve", "$UserUpdated", record(nil))
	if err := readCall(as(t, "eve"), s.conn, "plain"); err != nil {
		t.Errorf("a whole record: %v", err)
	}
	for _, login := range []string{"", "$admins", "a b", "a:b", "-x", "ä", strings.Repeat("a", 65), "a/b", "a\n"} {
		if err := s.users.Create(t.Context(), login, "", nil, "password"); !errors.Is(err, access.ErrInvalidLogin) {
			t.Errorf("login %q: %v", login, err)
		}
	}
	if err := s.users.Create(t.Context(), ordinary, "", nil, "password"); !errors.Is(err, access.ErrUserExists) {
		t.Errorf("a second ann: %v", err)
	}
}

// TestARightThatEndsEndsTheSubscription: whatever took it away, at once, and before the next event.
func TestARightThatEndsEndsTheSubscription(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(t *testing.T, s *secured)
		want codes.Code
	}{
		"the stream's list": {func(t *testing.T, s *secured) { s.acl(t, "feed", `{"$r":"$admins"}`) }, codes.PermissionDenied},
		"the settings": {func(t *testing.T, s *secured) {
			s.owner(t, "$settings", "$settings", `{"$userStreamAcl":{"$r":"bob"}}`)
		}, codes.PermissionDenied},
		"the password": {func(t *testing.T, s *secured) {
			if err := s.users.SetPassword(t.Context(), ordinary, "another password"); err != nil {
				t.Error(err)
			}
		}, codes.Unauthenticated},
		"disabled": {func(t *testing.T, s *secured) {
			if err := s.users.SetDisabled(t.Context(), ordinary, true); err != nil {
				t.Error(err)
			}
		}, codes.Unauthenticated},
		"deleted": {func(t *testing.T, s *secured) {
			if err := s.users.Delete(t.Context(), ordinary); err != nil {
				t.Error(err)
			}
		}, codes.Unauthenticated},
	} {
		t.Run(name, func(t *testing.T) {
			s := startSecured(t)
			s.owner(t, "feed", "noted", "1")
			reading, err := streams.NewStreamsClient(s.conn).Read(as(t, ordinary), readRequestOf("feed", true))
			if err != nil {
				t.Fatal(err)
			}
			for caughtUp := false; !caughtUp; {
				m, err := reading.Recv()
				if err != nil {
					t.Fatal(err)
				}
				caughtUp = m.GetCaughtUp() != nil
			}
			c.end(t, s)
			s.owner(t, "feed", "noted", "secret")
			m, err := reading.Recv()
			if status.Code(err) != c.want {
				t.Errorf("got %v, %v", m, err)
			}
			if err := readCall(as(t, ordinary), s.conn, "feed"); status.Code(err) != c.want {
				t.Errorf("the next call: %v", err)
			}
		})
	}
}

// TestLinksGiveNoRights: a link to what its reader may not read is an unresolvable one.
func TestLinksGiveNoRights(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	s.owner(t, "secret", "noted", `"the secret"`)
	s.acl(t, "secret", `{"$r":"$admins","$mr":"$admins"}`)
	for _, target := range []string{"0@secret", "0@$user-admin", "0@$$secret", "0@plain"} {
		s.owner(t, "links", eventlog.LinkType, target)
	}
	s.owner(t, "plain", "noted", `"plain"`)
	request := readRequestOf("links", false)
	request.GetOptions().ResolveLinks = true
	read := func(who string) (targets []string) {
		reading, err := streams.NewStreamsClient(s.conn).Read(as(t, who), request)
		if err != nil {
			t.Fatal(err)
		}
		for {
			m, err := reading.Recv()
			if errors.Is(err, io.EOF) {
				return targets
			}
			if err != nil {
				t.Fatal(err)
			}
			if m.GetEvent().GetLink() == nil {
				t.Errorf("the link is missing: %v", m)
			}
			targets = append(targets, string(m.GetEvent().GetEvent().GetStreamIdentifier().GetStreamName()))
		}
	}
	if got := strings.Join(read(ordinary), ","); got != ",,,plain" {
		t.Errorf("ann reads %q", got)
	}
	if got := strings.Join(read(admin), ","); got != "secret,$user-admin,$$secret,plain" {
		t.Errorf("admin reads %q", got)
	}
}

// TestIndexStreamsGiveNoRights: admins decide who reads an index stream, and a link in it leads nobody where they may not read.
func TestIndexStreamsGiveNoRights(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	s.owner(t, "a-secret", "noted", `"the secret"`)
	s.acl(t, "a-secret", `{"$r":"$admins"}`)
	s.owner(t, "a-plain", "noted", `"plain"`)
	request := readRequestOf("$ce-a", false)
	request.GetOptions().ResolveLinks = true
	read := func(who string) (targets []string, _ error) {
		reading, err := streams.NewStreamsClient(s.conn).Read(as(t, who), request)
		if err != nil {
			t.Fatal(err)
		}
		for {
			m, err := reading.Recv()
			if errors.Is(err, io.EOF) {
				return targets, nil
			}
			if err != nil {
				return nil, err
			}
			targets = append(targets, string(m.GetEvent().GetEvent().GetStreamIdentifier().GetStreamName()))
		}
	}
	if _, err := read(ordinary); status.Code(err) != codes.PermissionDenied {
		t.Errorf("an index stream without a list: %v", err)
	}
	if got, err := read(admin); err != nil || strings.Join(got, ",") != "a-secret,a-plain" {
		t.Errorf("admin reads %q, %v", got, err)
	}
	s.acl(t, "$ce-a", `{"$r":["ann","$admins"]}`)
	if got, err := read(ordinary); err != nil || strings.Join(got, ",") != ",a-plain" {
		t.Errorf("ann reads %q, %v", got, err)
	}
}

// TestHashesStayWithAdmins: who may read $all reads no hashes of passwords.
func TestHashesStayWithAdmins(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	s.acl(t, "$all", `{"$r":"ann"}`)
	request := readRequestOf(eventlog.AllStream, false)
	request.GetOptions().CountOption = &streams.ReadReq_Options_Count{Count: 1000}
	for who, want := range map[string]bool{ordinary: false, admin: true} {
		reading, err := streams.NewStreamsClient(s.conn).Read(as(t, who), request)
		if err != nil {
			t.Fatal(err)
		}
		events, hashes := 0, 0
		for {
			m, err := reading.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			events++
			if strings.Contains(string(m.GetEvent().GetEvent().GetData()), "argon2id") {
				hashes++
			}
		}
		if hashes > 0 != want || events < 9 {
			t.Errorf("%s: %d hashes in %d events", who, hashes, events)
		}
	}
}

// guessesOfOneAddress is how many wrong passwords an address has for all users, in ten minutes.
const guessesOfOneAddress = 200

// TestPasswordsOfUsersAreNotGuessed: after some wrong passwords of a user an address gets no more tries, the right one included; who
// is in stays in, and others come in until the address has guessed of many.
func TestPasswordsOfUsersAreNotGuessed(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	if err := readCall(as(t, ordinary), s.conn, "plain"); err != nil {
		t.Fatal(err)
	}
	wrong := metadata.AppendToOutgoingContext(testCtx(t), "authorization", basic(admin, "not it at all"))
	refused := func() string { return status.Convert(readCall(wrong, s.conn, "plain")).Message() }
	tries := 1
	for ; refused() != access.ErrTooManyGuesses.Error(); tries++ {
		if tries > 100 {
			t.Fatal("a hundred guesses")
		}
	}
	if tries < 10 {
		t.Errorf("refused after %d", tries)
	}
	if err := readCall(as(t, admin), s.conn, "plain"); status.Code(err) != codes.Unauthenticated {
		t.Errorf("the right password is told from wrong ones: %v", err)
	}
	for _, who := range []string{ops, other} {
		if err := readCall(as(t, who), s.conn, "plain"); err != nil {
			t.Errorf("%s, of the same address, is kept out: %v", who, err)
		}
	}
	for i := range guessesOfOneAddress {
		guess := metadata.AppendToOutgoingContext(testCtx(t), "authorization", basic(fmt.Sprint("user-", i), "not it at all"))
		if err := readCall(guess, s.conn, "plain"); status.Code(err) != codes.Unauthenticated {
			t.Fatal(err)
		}
	}
	if err := readCall(metadata.AppendToOutgoingContext(testCtx(t), "authorization", basic(ops, "not it")), s.conn, "plain"); status.Convert(err).Message() != access.ErrTooManyGuesses.Error() {
		t.Errorf("an address that guesses of many users: %v", err)
	}
	if err := readCall(as(t, ordinary), s.conn, "plain"); err != nil {
		t.Errorf("who is in is kept out: %v", err)
	}
}

// TestFirstPasswords: they are made once, private, and are the users'.
func TestFirstPasswords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() *Node {
		n, err := Open(Config{Dir: dir, Secure: &Secure{Listen: "127.0.0.1:0"}})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	n := open()
	file := filepath.Join(dir, FirstPasswordsFile)
	first, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	made, err := readFirstPasswords(file)
	if err != nil || len(made) != 2 || made["admin"] == made["ops"] || len(made["admin"]) < 24 {
		t.Fatalf("%v, %v", made, err)
	}
	for name, password := range made {
		c := dial(t, strings.Replace(n.SecureConnectionString(), "esdb://", "esdb://"+name+":"+password+"@", 1))
		if _, err := c.AppendToStream(testCtx(t), "plain", esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, note(`1`)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	users := access.Directory{Store: logStore{n.log}, Hasher: passwords.NewHasher(passwords.Standard)}
	if err := users.Delete(t.Context(), "ops"); err != nil {
		t.Fatal(err)
	}
	stop(t, n)
	n = open()
	defer stop(t, n)
	again, err := os.ReadFile(file)
	if err != nil || string(again) != string(first) {
		t.Errorf("the passwords changed: %v", err)
	}
	list, err := access.Directory{Store: logStore{n.log}}.List(t.Context())
	if err != nil || len(list) != 1 || list[0].LoginName != "admin" {
		t.Errorf("a deleted user is back: %v, %v", list, err)
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, _ error) error {
		info, err := d.Info()
		if err == nil && strings.Contains(path, tlsFolder) && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestFirstPasswordsAfterACrash: a start that ended before the users existed left their passwords, which the next one uses.
func TestFirstPasswordsAfterACrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := writePrivate(filepath.Join(dir, FirstPasswordsFile), []byte("admin:made before the crash\n")); err != nil {
		t.Fatal(err)
	}
	n, err := Open(Config{Dir: dir, Secure: &Secure{Listen: "127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, n)
	a := access.NewAuthenticator(n.log, passwords.NewHasher(passwords.Standard), time.Now)
	if _, err := a.Authenticate(t.Context(), []string{basic("admin", "made before the crash")}, "test"); err != nil {
		t.Error(err)
	}
	if made, err := readFirstPasswords(filepath.Join(dir, FirstPasswordsFile)); err != nil || made["ops"] == "" {
		t.Errorf("%v, %v", made, err)
	}
}

// TestCertificates: the node's own is renewed in time, for other names and with another CA; a given one is read again when it is replaced.
func TestCertificates(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	clock := func() time.Time { return now }
	logger := silent
	names := []string{"127.0.0.1", "localhost"}
	own, err := ownCertificates(dir, names, clock, logger)
	if err != nil {
		t.Fatal(err)
	}
	leaf := func(c *certificates) *x509.Certificate {
		pair, err := c.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		return pair.Leaf
	}
	first := leaf(own)
	now = now.Add(nodeLifetime / 2)
	if !leaf(own).Equal(first) {
		t.Error("renewed too early")
	}
	now = now.Add(nodeLifetime / 3)
	second := leaf(own)
	if second.Equal(first) || !second.NotAfter.After(now.Add(renewBefore)) {
		t.Error("not renewed")
	}
	again, err := ownCertificates(dir, names, clock, logger)
	if err != nil || !leaf(again).Equal(second) {
		t.Errorf("a start made another one: %v", err)
	}
	elsewhere, err := ownCertificates(dir, append(names, "node.example"), clock, logger)
	if err != nil || leaf(elsewhere).VerifyHostname("node.example") != nil {
		t.Errorf("another name: %v", err)
	}
	replaced := leaf(elsewhere)
	given, err := givenCertificates(filepath.Join(dir, tlsFolder, nodeFile), filepath.Join(dir, tlsFolder, nodeKeyFile), clock, logger)
	if err != nil || !leaf(given).Equal(replaced) {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, tlsFolder, nodeFile), []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !leaf(given).Equal(replaced) {
		t.Error("a torn file ended the certificate in use")
	}
	mended, err := ownCertificates(dir, names, clock, logger)
	if err != nil {
		t.Fatal(err)
	}
	if !leaf(given).Equal(leaf(mended)) { // at once, without a minute's wait
		t.Error("a replaced certificate is not served")
	}
}

// TestLostCA: a CA whose certificate is lost is made again of its key, so that clients who have the former one connect; one whose
// key is lost is replaced, and both are said.
func TestLostCA(t *testing.T) {
	t.Parallel()
	dir, clock, names := t.TempDir(), time.Now, []string{"127.0.0.1", "localhost"}
	var said bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&said, nil))
	served := func() *x509.Certificate {
		t.Helper()
		c, err := ownCertificates(dir, names, clock, logger)
		if err != nil {
			t.Fatal(err)
		}
		return c.now.Leaf
	}
	served()
	if said.Len() > 0 {
		t.Errorf("of a first start: %s", said.String())
	}
	file := func(name string) string { return filepath.Join(dir, tlsFolder, name) }
	former, err := os.ReadFile(file(caFile))
	if err != nil {
		t.Fatal(err)
	}
	known := x509.NewCertPool()
	known.AppendCertsFromPEM(former)
	verify := func(c *x509.Certificate) error {
		_, err := c.Verify(x509.VerifyOptions{Roots: known, DNSName: "localhost"})
		return err
	}
	for _, lost := range []struct {
		files    []string
		verifies bool
		says     string
	}{
		{[]string{caFile}, true, "made again of its key"},
		{[]string{caFile, nodeFile}, true, "made again of its key"},
		{[]string{caKeyFile}, false, "another CA was made"},
	} {
		said.Reset()
		for _, name := range lost.files {
			if err := os.Remove(file(name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := verify(served()); (err == nil) != lost.verifies {
			t.Errorf("%v: %v", lost.files, err)
		}
		if strings.Count(said.String(), "\n") != 1 || !strings.Contains(said.String(), lost.says) {
			t.Errorf("%v: %s", lost.files, said.String())
		}
	}
	if err := os.WriteFile(file(caKeyFile), []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ownCertificates(dir, names, clock, logger); err == nil {
		t.Error("a torn key was replaced")
	}
}

// TestTLSOnly: the port of users takes no plain connection and no old TLS, and its CA is its own.
func TestTLSOnly(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	address := s.door.listener.Addr().String()
	plain := dialInsecure(t, address)
	if err := readCall(as(t, admin), plain, "plain"); status.Code(err) != codes.Unavailable {
		t.Errorf("without TLS: %v", err)
	}
	if c, err := tls.Dial("tcp", address, &tls.Config{RootCAs: s.authority(t), MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10, NextProtos: []string{"h2"}}); err == nil { //nolint:gosec // an old client
		_ = c.Close()
		t.Error("TLS 1.1 is taken")
	}
	if c, err := tls.Dial("tcp", address, &tls.Config{}); err == nil {
		_ = c.Close()
		t.Error("the certificate is the system's")
	}
	if _, err := Open(Config{Dir: t.TempDir(), Listen: "127.0.0.1:0", Secure: &Secure{Listen: "127.0.0.1:0"}}); err == nil {
		t.Error("an open and a secured port at once")
	}
}

// TestStrangersSendLittle: a message is not taken into memory before its sender is known.
func TestStrangersSendLittle(t *testing.T) {
	t.Parallel()
	s := startSecured(t)
	large := streamToWire(strings.Repeat("x", 4<<20))
	remove := func(ctx context.Context) error {
		_, err := streams.NewStreamsClient(s.dialTLS(t)).Delete(ctx, &streams.DeleteReq{Options: &streams.DeleteReq_Options{StreamIdentifier: large, ExpectedStreamRevision: &streams.DeleteReq_Options_Any{Any: &shared.Empty{}}}})
		return err
	}
	if err := remove(testCtx(t)); status.Code(err) != codes.PermissionDenied {
		t.Errorf("a stranger: %v", err)
	}
	if err := readCall(as(t, ordinary), s.conn, "plain"); err != nil {
		t.Fatal(err)
	}
	// the connection of a user takes it, and the log refuses the name
	_, err := streams.NewStreamsClient(s.conn).Delete(as(t, ordinary), &streams.DeleteReq{Options: &streams.DeleteReq_Options{StreamIdentifier: large, ExpectedStreamRevision: &streams.DeleteReq_Options_Any{Any: &shared.Empty{}}}})
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("a user: %v", err)
	}
}

// TestPlacesOfConnections: strangers cannot keep others from connecting.
func TestPlacesOfConnections(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &places{Listener: inner, limit: 3}
	defer func() { _ = p.Close() }()
	var conns []*placedConn
	connect := func() *placedConn {
		client, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		c, err := p.Accept()
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c.(*placedConn))
		return c.(*placedConn)
	}
	isOpen := func(i int) bool { return !errors.Is(conns[i].SetDeadline(time.Time{}), net.ErrClosed) }
	keep := func(c *placedConn) {
		if kept, first := p.keep(c, nil); !kept || !first {
			t.Fatal(kept, first)
		}
	}
	first := connect()
	keep(first)
	connect()
	connect()
	fourth := connect() // the second, which is the oldest stranger, gives way
	if !isOpen(0) || isOpen(1) || !isOpen(2) || !isOpen(3) {
		t.Fatal(isOpen(0), isOpen(1), isOpen(2), isOpen(3))
	}
	keep(fourth)
	fifth := connect()
	keep(fifth) // the third gave way
	if isOpen(2) || p.taken != 3 || p.strange.Len() != 0 {
		t.Fatal(isOpen(2), p.taken, p.strange.Len())
	}
	sixth, err := net.Dial("tcp", inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sixth.Close() }()
	go func() { _, _ = p.Accept() }() // closes the sixth, and waits for the next until the listener is closed
	if _, err := sixth.Read(make([]byte, 1)); err == nil {
		t.Error("one more than there are places")
	}
	_ = first.Close()
	_ = first.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken != 2 {
		t.Errorf("%d taken", p.taken)
	}
}
