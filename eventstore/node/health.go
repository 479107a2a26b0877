package node

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// healthService is grpc.health.v1, by which load balancers and gRPC's own clients ask whether a server serves: here,
// whether the log takes appends. Everybody may ask, as at /health/live.
type healthService struct {
	grpc_health_v1.UnimplementedHealthServer
	node  *Node
	calls *quota

	served func() map[string]grpc.ServiceInfo // the services that may be asked for by name
}

// Check is grpc_health_v1.HealthServer.
func (s *healthService) Check(ctx context.Context, req *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	if !s.knows(req.GetService()) {
		return nil, statusError(ctx, &failure{code: codes.NotFound, message: "this node has no such service: ask for one that it has, or with an empty name for the node"})
	}
	return &grpc_health_v1.HealthCheckResponse{Status: s.status()}, nil
}

// List is grpc_health_v1.HealthServer.
func (s *healthService) List(context.Context, *grpc_health_v1.HealthListRequest) (*grpc_health_v1.HealthListResponse, error) {
	answer := &grpc_health_v1.HealthCheckResponse{Status: s.status()}
	all := map[string]*grpc_health_v1.HealthCheckResponse{"": answer}
	for name := range s.served() {
		all[name] = answer
	}
	return &grpc_health_v1.HealthListResponse{Statuses: all}, nil
}

// Watch is grpc_health_v1.HealthServer: the state at once, and when it changes, which it does once.
func (s *healthService) Watch(req *grpc_health_v1.HealthCheckRequest, call grpc_health_v1.Health_WatchServer) error {
	ctx := call.Context()
	leave, err := s.calls.take(ctx)
	if err != nil {
		return statusError(ctx, err)
	}
	defer leave()
	status, failed := s.status(), s.node.log.Failed()
	if !s.knows(req.GetService()) {
		status, failed = grpc_health_v1.HealthCheckResponse_SERVICE_UNKNOWN, nil
	}
	for {
		if err := call.Send(&grpc_health_v1.HealthCheckResponse{Status: status}); err != nil {
			return err
		}
		if status == grpc_health_v1.HealthCheckResponse_NOT_SERVING {
			failed = nil // it stays so
		}
		select {
		case <-failed:
			status = grpc_health_v1.HealthCheckResponse_NOT_SERVING
		case <-s.node.closing:
			return statusError(ctx, errShuttingDown)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// knows reports whether the node has a service; the empty name is the node's.
func (s *healthService) knows(service string) bool {
	_, served := s.served()[service]
	return service == "" || served
}

func (s *healthService) status() grpc_health_v1.HealthCheckResponse_ServingStatus {
	if s.node.takesAppends() {
		return grpc_health_v1.HealthCheckResponse_SERVING
	}
	return grpc_health_v1.HealthCheckResponse_NOT_SERVING
}
