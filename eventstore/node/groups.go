package node

import (
	"context"
	"errors"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/persistent"
	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"

	"reckon/eventstore/node/eventlog"
)

// groupsService stores declarations of persistent subscriptions: a group can be created
// and deleted, durably, but not read. It is not advertised, and every other method
// answers UNIMPLEMENTED.
type groupsService struct {
	persistent.UnimplementedPersistentSubscriptionsServer
	log *eventlog.Log
}

const (
	groupDeclaredType = "$persistent-subscription-declared"
	maxGroupNameBytes = 1024
)

// groupStream names the stream that holds the declaration of one group. The declaration
// is appended expecting no stream, so that a group is created once.
func groupStream(stream, group string) string {
	return "$persistentsubscription-" + stream + "::" + group + "-declaration"
}

// Create stores the declaration of a group.
func (g *groupsService) Create(ctx context.Context, req *persistent.CreateReq) (*persistent.CreateResp, error) {
	options := req.GetOptions()
	stream, err := groupSource(options)
	if err != nil {
		return nil, statusError(ctx, err)
	}
	data, err := protojson.Marshal(options)
	if err != nil {
		return nil, statusError(ctx, invalid("the declaration of the group cannot be stored: "+err.Error()))
	}
	event := eventlog.Proposed{ID: uuid.New(), Type: groupDeclaredType, JSON: true, Data: data}
	_, err = g.log.Append(ctx, groupStream(stream, options.GetGroupName()), eventlog.NoStream(), []eventlog.Proposed{event})
	var exists *eventlog.WrongExpectedRevisionError
	if errors.As(err, &exists) {
		err = groupFailure(codes.AlreadyExists, "persistent-subscription-exists", stream, options.GetGroupName())
	}
	return &persistent.CreateResp{}, statusError(ctx, err)
}

// groupSource returns the stream that a group reads; AllStream for all events.
func groupSource(o *persistent.CreateReq_Options) (string, error) {
	stream := string(o.GetStream().GetStreamIdentifier().GetStreamName())
	if o.GetStreamOption() == nil { // clients of the first protocol
		stream = string(o.GetStreamIdentifier().GetStreamName()) //nolint:staticcheck // deprecated, and still sent
	}
	if o.GetAll() != nil {
		stream = eventlog.AllStream
	}
	return stream, checkGroup(stream, o.GetGroupName())
}

func checkGroup(stream, group string) error {
	if stream == "" || group == "" || len(group) > maxGroupNameBytes {
		return invalid("a group needs a stream and a name of at most 1024 bytes")
	}
	return nil
}

// Delete deletes the declaration of a group.
func (g *groupsService) Delete(ctx context.Context, req *persistent.DeleteReq) (*persistent.DeleteResp, error) {
	stream, group := string(req.GetOptions().GetStreamIdentifier().GetStreamName()), req.GetOptions().GetGroupName()
	if req.GetOptions().GetAll() != nil {
		stream = eventlog.AllStream
	}
	if err := checkGroup(stream, group); err != nil {
		return nil, statusError(ctx, err)
	}
	_, err := g.log.Delete(ctx, groupStream(stream, group), eventlog.StreamExists())
	var missing *eventlog.WrongExpectedRevisionError
	var deleted *eventlog.StreamDeletedError
	if errors.As(err, &missing) || errors.As(err, &deleted) {
		err = groupFailure(codes.NotFound, "persistent-subscription-does-not-exist", stream, group)
	}
	return &persistent.DeleteResp{}, statusError(ctx, err)
}

// Read answers UNIMPLEMENTED after it has received the request: a client whose sending is
// interrupted does not report the status.
func (g *groupsService) Read(call persistent.PersistentSubscriptions_ReadServer) error {
	if _, err := call.Recv(); err != nil {
		return statusError(call.Context(), transportError(err))
	}
	return statusError(call.Context(), &failure{code: codes.Unimplemented, message: "this node does not deliver persistent subscriptions: use a catch-up subscription"})
}

func groupFailure(code codes.Code, exception, stream, group string) error {
	return &failure{code, "persistent subscription " + stream + "::" + group + ": " + exception,
		metadata.Pairs("exception", exception, "stream-name", printable(stream), "group-name", printable(group))}
}
