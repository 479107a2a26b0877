package node

import (
	"context"
	"strings"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/gossip"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/serverfeatures"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"

	"reckon/eventstore/node/protos/monitoring"
	"reckon/eventstore/node/protos/operations"
	"reckon/eventstore/node/protos/streamsv2"
	"reckon/eventstore/node/protos/users"
)

// featuresService lists the methods that clients may call. Services outside the list
// answer UNIMPLEMENTED.
type featuresService struct {
	serverfeatures.UnimplementedServerFeaturesServer
}

func (*featuresService) GetSupportedMethods(context.Context, *shared.Empty) (*serverfeatures.SupportedMethods, error) {
	const service = "event_store.client.streams.streams" // clients compare lower case
	methods := []*serverfeatures.SupportedMethod{
		{ServiceName: service, MethodName: "read", Features: []string{"position", "events"}},
		{ServiceName: service, MethodName: "append"},
		{ServiceName: service, MethodName: "delete"},
		{ServiceName: service, MethodName: "tombstone"},
		{ServiceName: service, MethodName: "batchappend", Features: []string{"deadline_duration"}},
	}
	for _, method := range []string{"create", "update", "delete", "read", "getinfo", "replayparked", "truncateparked", "list", "restartsubsystem"} {
		methods = append(methods, &serverfeatures.SupportedMethod{
			ServiceName: "event_store.client.persistent_subscriptions.persistentsubscriptions", MethodName: method, Features: []string{"stream", "all"},
		})
	}
	for _, service := range []grpc.ServiceDesc{
		streamsv2.StreamsService_ServiceDesc, users.Users_ServiceDesc, operations.Operations_ServiceDesc, monitoring.Monitoring_ServiceDesc,
		grpc_health_v1.Health_ServiceDesc, reflectionv1.ServerReflection_ServiceDesc, reflectionv1alpha.ServerReflection_ServiceDesc,
	} {
		name := strings.ToLower(service.ServiceName)
		for _, method := range service.Methods {
			methods = append(methods, &serverfeatures.SupportedMethod{ServiceName: name, MethodName: strings.ToLower(method.MethodName)})
		}
		for _, method := range service.Streams {
			methods = append(methods, &serverfeatures.SupportedMethod{ServiceName: name, MethodName: strings.ToLower(method.StreamName)})
		}
	}
	return &serverfeatures.SupportedMethods{EventStoreServerVersion: advertisedVersion, Methods: methods}, nil
}

// gossipService presents the node as the leader of a cluster of one.
type gossipService struct {
	gossip.UnimplementedGossipServer
	instance  uuid.UUID
	advertise endpoint
}

func (g *gossipService) Read(context.Context, *shared.Empty) (*gossip.ClusterInfo, error) {
	return &gossip.ClusterInfo{Members: []*gossip.MemberInfo{{
		InstanceId:   uuidToWire(g.instance, false),
		TimeStamp:    time.Now().UnixNano() / 100,
		State:        gossip.MemberInfo_Leader,
		IsAlive:      true,
		HttpEndPoint: &gossip.EndPoint{Address: g.advertise.host, Port: uint32(g.advertise.port)},
	}}}, nil
}
