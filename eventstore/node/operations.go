package node

import (
	"context"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/emptypb"

	"reckon/eventstore/node/protos/operations"
)

// operationsService is what operators do with a node.
type operationsService struct {
	operations.UnimplementedOperationsServer
	node      *Node
	stoppable bool
}

// StartScavenge is operations.OperationsServer. While a scavenge runs it names that one.
func (s *operationsService) StartScavenge(ctx context.Context, req *operations.StartScavengeReq) (*operations.ScavengeResp, error) {
	switch o := req.GetOptions(); {
	case o.GetThreadCount() < 0:
		return nil, statusError(ctx, invalid("a scavenge has no negative number of threads; here it has one"))
	case o.GetStartFromChunk() != 0:
		return nil, statusError(ctx, invalid("a scavenge begins with the oldest segment here: start from chunk 0"))
	}
	id, begun, err := s.node.cleaner.start()
	if err != nil {
		return nil, statusError(ctx, err)
	}
	result := operations.ScavengeResp_InProgress
	if begun {
		result = operations.ScavengeResp_Started
	}
	return &operations.ScavengeResp{ScavengeId: id.String(), ScavengeResult: result}, nil
}

// StopScavenge is operations.OperationsServer. It returns when the scavenge has ended.
func (s *operationsService) StopScavenge(ctx context.Context, req *operations.StopScavengeReq) (*operations.ScavengeResp, error) {
	id, err := uuid.Parse(req.GetOptions().GetScavengeId())
	known := false
	if err == nil { // what is no id is none of a scavenge
		known, err = s.node.cleaner.stop(ctx, id)
		if err != nil {
			return nil, statusError(ctx, err)
		}
	}
	if !known {
		asked := req.GetOptions().GetScavengeId()
		return nil, statusError(ctx, &failure{code: codes.NotFound, message: "there is no scavenge of this id", trailers: metadata.Pairs("exception", "scavenge-not-found", "scavenge-id", asked)})
	}
	return &operations.ScavengeResp{ScavengeId: id.String(), ScavengeResult: operations.ScavengeResp_Stopped}, nil
}

// Shutdown is operations.OperationsServer. A node within another process ends with that only.
func (s *operationsService) Shutdown(ctx context.Context, _ *emptypb.Empty) (*emptypb.Empty, error) {
	if !s.stoppable {
		return nil, statusError(ctx, denied("this node is part of a process that clients do not stop: stop the process"))
	}
	s.node.logger.Info("a client asked the node to stop", "user", userOf(ctx), "client", addressOf(ctx))
	s.node.ending()
	return &emptypb.Empty{}, nil
}

// MergeIndexes is operations.OperationsServer. The index merges its tables by itself, all the time.
func (*operationsService) MergeIndexes(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

// ResignNode is operations.OperationsServer. In a cluster of one the same node is elected again.
func (*operationsService) ResignNode(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

// SetNodePriority is operations.OperationsServer. Gossip shows the priority until the node ends.
func (s *operationsService) SetNodePriority(_ context.Context, req *operations.SetNodePriorityReq) (*emptypb.Empty, error) {
	s.node.priority.Store(req.GetPriority())
	return &emptypb.Empty{}, nil
}

// RestartPersistentSubscriptions is operations.OperationsServer.
func (s *operationsService) RestartPersistentSubscriptions(ctx context.Context, _ *emptypb.Empty) (*emptypb.Empty, error) {
	_, err := s.node.groups.RestartSubsystem(ctx, &shared.Empty{})
	return &emptypb.Empty{}, err
}
